"""A part of a dialog or page that is scrolled where all of it has no room."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QFrame, QScrollArea, QVBoxLayout, QWidget
from typing_extensions import override

_KEYS = Qt.Key


class ScrolledPart(QScrollArea):
    """It is scrolled where the screen is too small for all of it; else nobody sees that it can be.

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
    def keyPressEvent(self, arg__1: QKeyEvent) -> None:
        """Arrows go between what it holds, which is brought into sight."""
        if arg__1.key() in (_KEYS.Key_Up, _KEYS.Key_Down, _KEYS.Key_Left, _KEYS.Key_Right):
            arg__1.ignore()
        else:
            super().keyPressEvent(arg__1)

    @override
    def minimumSizeHint(self) -> QSize:
        # Nothing is scrolled sideways: what it holds has its width beside the scroll bar too.
        bar = self.verticalScrollBar().sizeHint().width()
        return QSize(self.lines.minimumSize().width() + bar, super().minimumSizeHint().height())

    def height_for(self, width: int) -> int:
        """What all of it needs at a width."""
        lines = self.lines
        return lines.totalHeightForWidth(width) if lines.hasHeightForWidth() else lines.totalSizeHint().height()
