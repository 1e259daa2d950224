"""Scroll area for parts of dialogs and pages that may not fit the screen."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QFrame, QScrollArea, QVBoxLayout, QWidget
from typing_extensions import override

_KEYS = Qt.Key


class ScrolledPart(QScrollArea):
    """A scroll area that looks like a plain widget unless its content does not fit.

    Attributes:
        lines: layout of the content.
    """

    def __init__(self, *, name: str, label: str, parent: QWidget) -> None:
        """Makes an empty area.

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
        """Scrolls to the focused widget."""
        if now is not None and self.isAncestorOf(now):
            self.ensureWidgetVisible(now)

    def scroll_where_needed(self, on: bool) -> None:
        """Enables the scroll bar if the content does not fit; a bar from a smaller size would otherwise stay."""
        policy = Qt.ScrollBarPolicy
        self.setVerticalScrollBarPolicy(policy.ScrollBarAsNeeded if on else policy.ScrollBarAlwaysOff)

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.widget() and event.type() is QEvent.Type.LayoutRequest:
            self.updateGeometry()  # a line was added or removed: the dialog adapts its height
        return super().eventFilter(watched, event)

    @override
    def keyPressEvent(self, arg__1: QKeyEvent) -> None:
        """Leaves arrow keys to the content instead of scrolling."""
        if arg__1.key() in (_KEYS.Key_Up, _KEYS.Key_Down, _KEYS.Key_Left, _KEYS.Key_Right):
            arg__1.ignore()
        else:
            super().keyPressEvent(arg__1)

    @override
    def minimumSizeHint(self) -> QSize:
        # Never scrolled sideways: the content keeps its width beside the scroll bar.
        bar = self.verticalScrollBar().sizeHint().width()
        return QSize(self.lines.minimumSize().width() + bar, super().minimumSizeHint().height())

    def height_for(self, width: int) -> int:
        """Returns the height of the whole content at a width."""
        lines = self.lines
        return lines.totalHeightForWidth(width) if lines.hasHeightForWidth() else lines.totalSizeHint().height()
