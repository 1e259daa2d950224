"""The list of entries: keys of its own beside those of every list."""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from typing_extensions import override

from inspector.ui.panels.list_view import Key, ListView


class EntriesView(ListView):
    """The list.

    Signals:
        step_asked(int): go to the next (1) or previous (-1) message that changes the context: ] and [.
        hold_asked(), compare_asked(), out_asked(): the switches of the head: H, C and O.
        order_asked(): the largest first, or the oldest: S.
    """

    step_asked = Signal(int)
    hold_asked = Signal()
    compare_asked = Signal()
    out_asked = Signal()
    order_asked = Signal()

    _kept: Literal["end", "selected"] | None = None
    _kept_at = 0

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        asks = {
            Qt.Key.Key_H: self.hold_asked, Qt.Key.Key_C: self.compare_asked, Qt.Key.Key_O: self.out_asked,
            Qt.Key.Key_S: self.order_asked,
        }  # fmt: skip
        modifiers = event.modifiers() & ~(Qt.KeyboardModifier.KeypadModifier | Qt.KeyboardModifier.ShiftModifier)
        key = Qt.Key(event.key())
        if event.text() in ("[", "]"):  # wherever a keyboard has them
            self.step_asked.emit(1 if event.text() == "]" else -1)
        elif not modifiers and key in asks:
            asks[key].emit()
        else:
            super().keyPressEvent(event)

    @property
    def at_end(self) -> bool:
        """Whether the last row is in sight."""
        bar = self.verticalScrollBar()
        return bar.value() >= bar.maximum()

    def scroll_to_end(self) -> None:
        """Bring the last row into sight."""
        self.executeDelayedItemsLayout()
        self.verticalScrollBar().setValue(self.verticalScrollBar().maximum())
        self._keep("end")

    @override
    def select(self, key: Key | None, *, into_view: bool = True) -> None:
        super().select(key, into_view=into_view)
        if key is not None and into_view:
            self._keep("selected")

    def _keep(self, what: Literal["end", "selected"]) -> None:
        """What was brought into sight stays there while the view gets another height, until the user scrolls."""
        self._kept, self._kept_at = what, self.verticalScrollBar().value()

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        kept = self._kept if self.verticalScrollBar().value() == self._kept_at else None
        super().resizeEvent(event)
        if kept == "end":
            self.scroll_to_end()
        elif kept is not None and self.currentIndex().isValid():
            self.scrollTo(self.currentIndex())
            self._keep(kept)
