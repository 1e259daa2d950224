"""A scroll area in which what the user works with stays where it is while lines above it come and go."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from PySide6.QtCore import QCoreApplication, QEvent, QPoint, Qt
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QApplication, QFrame, QScrollArea, QWidget


class StillArea(QScrollArea):
    """Scrolls up and down only."""

    def __init__(self, name: str, title: str, body: QWidget, parent: QWidget) -> None:
        """Make the area.

        Args:
            name: object name.
            title: accessible name.
            body: what is scrolled.
            parent: owner.
        """
        super().__init__(parent)
        self._body = body
        self.setObjectName(name)
        self.setAccessibleName(title)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setWidget(body)

    @contextmanager
    def held(self) -> Generator[None]:
        """Change what is inside: what is under the pointer stays there, or else what has the keyboard."""
        part = self._used() if self.isVisible() else None
        before = self._top(part)
        yield
        if part is not None and part.isVisible():
            self._lay_out()
            bar = self.verticalScrollBar()
            bar.setValue(bar.value() + self._top(part) - before)

    def _lay_out(self) -> None:
        """At once, from the inside out: Qt would paint before the last of its rounds."""
        for part in (*reversed(self._body.findChildren(QWidget)), self._body):
            layout = part.layout()
            if layout is not None:
                layout.activate()
        QCoreApplication.sendEvent(self, QEvent(QEvent.Type.LayoutRequest))

    def _used(self) -> QWidget | None:
        body = self._body
        pointed = body.childAt(body.mapFromGlobal(QCursor.pos())) if self.viewport().underMouse() else None
        if pointed is not None and pointed.layout() is None:
            return pointed
        focus = QApplication.focusWidget()
        return focus if focus is not None and body.isAncestorOf(focus) else None

    def _top(self, part: QWidget | None) -> int:
        return 0 if part is None else part.mapTo(self, QPoint()).y()
