"""A dialog of one width that is always as high as what it holds: lines of help and trouble come and go."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtWidgets import QApplication, QFrame, QScrollArea, QVBoxLayout, QWidget
from typing_extensions import override

from inspector.ui.dialogs.dialog import Dialog
from inspector.ui.theme import ThemeController

_LEAST = 96
"""Height of what gives way on a small screen, in pixels."""


class ScrolledPart(QScrollArea):
    """The part of a dialog that is scrolled where the screen is too small for all of it; else nobody sees that it can.

    Attributes:
        lines: its layout.
    """

    def __init__(self, *, name: str, label: str, parent: QWidget) -> None:
        """Make it empty.

        Args:
            name: object name.
            label: accessible name.
            parent: owner.
        """
        super().__init__(parent)
        self.setObjectName(name)
        self.setAccessibleName(label)
        self.setProperty("variant", "bare")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setWidgetResizable(True)
        content = QWidget(self)
        content.setObjectName(f"{name}Content")
        self.lines = QVBoxLayout(content)
        self.lines.setContentsMargins(0, 0, 0, 0)
        self.lines.setSpacing(0)
        self.setWidget(content)
        for surface in (content, self.viewport()):
            surface.setAutoFillBackground(False)
        app = QApplication.instance()
        if isinstance(app, QApplication):
            app.focusChanged.connect(self._show_focused)

    def _show_focused(self, _before: QWidget | None, now: QWidget | None) -> None:
        """What has the keyboard is in sight, however it came to have it."""
        if now is not None and self.isAncestorOf(now):
            self.ensureWidgetVisible(now)

    def scroll_where_needed(self, on: bool) -> None:
        """Whether all of it has no room; a scroll bar that came while there was less would not go by itself."""
        policy = Qt.ScrollBarPolicy
        self.setVerticalScrollBarPolicy(policy.ScrollBarAsNeeded if on else policy.ScrollBarAlwaysOff)

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.widget() and event.type() is QEvent.Type.LayoutRequest:
            self.updateGeometry()  # a line came or went: the dialog takes its height
        return super().eventFilter(watched, event)

    @override
    def minimumSizeHint(self) -> QSize:
        # Nothing is scrolled sideways: what it holds has its width beside the scroll bar too.
        bar = self.verticalScrollBar().sizeHint().width()
        return QSize(self.lines.minimumSize().width() + bar, super().minimumSizeHint().height())

    def height_for(self, width: int) -> int:
        """What all of it needs at a width."""
        lines = self.lines
        return lines.totalHeightForWidth(width) if lines.hasHeightForWidth() else lines.totalSizeHint().height()


class FittedDialog(Dialog):
    """Follows its layout's height."""

    def __init__(
        self, theme_controller: ThemeController, *, name: str, title: str, width: int, parent: QWidget | None
    ) -> None:
        """Make an empty dialog.

        Args:
            theme_controller: gives the zoom.
            name: object name.
            title: of the window; its accessible name too.
            width: in logical pixels at 100 % zoom.
            parent: owner; the dialog is modal to its window.
        """
        super().__init__(theme_controller, name=name, title=title, parent=parent)
        self._plain_width = width
        self.gives_way: QWidget | None = None

    def fit(self) -> None:
        """Take the width of the zoom and the height of the content."""
        most = self.most_size()
        width = min(round(self._plain_width * self._themes.theme.zoom), most.width())
        layout = self.layout()
        if layout is None:
            return
        if isinstance(self.gives_way, ScrolledPart):
            sides = layout.contentsMargins()
            self.gives_way.setFixedHeight(self.gives_way.height_for(width - sides.left() - sides.right()))
        height = layout.totalHeightForWidth(width) if layout.hasHeightForWidth() else layout.totalSizeHint().height()
        beyond = height - most.height()
        if beyond > 0 and self.gives_way is not None:
            was = self.gives_way.height()
            self.gives_way.setFixedHeight(max(_LEAST, was - beyond))
            height -= was - self.gives_way.height()
        if isinstance(self.gives_way, ScrolledPart):
            self.gives_way.scroll_where_needed(beyond > 0)
        self.setFixedSize(width, height)

    @override
    def event(self, event: QEvent) -> bool:
        done = super().event(event)
        if event.type() in (QEvent.Type.LayoutRequest, QEvent.Type.Show):
            self.fit()
        return done
