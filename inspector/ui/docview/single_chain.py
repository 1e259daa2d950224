"""Causal chains: a filter that shows one chain and follows its growth, and stepping along a chain."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QObject, QTimer, Signal

from inspector.analysis import AnalysisChanges
from inspector.analysis.views.causes.chain import may_change_chain
from inspector.document.document import CaptureDocument
from inspector.filters import DisplayFilter, compile_filter
from inspector.ui import budgets


def chain_filter(messages: Iterable[int]) -> DisplayFilter:
    """Returns the display filter that matches exactly these messages."""
    return compile_filter(f"no in {{{', '.join(str(message + 1) for message in messages)}}}")


class ChainAlone(QObject):
    """The filter that shows one chain and no other message.

    It needs no call when another filter replaces it: `apply_changes` compares the filters.

    Signals:
        grown(DisplayFilter, DisplayFilter): the chain has changed; its old and new filter.

    Attributes:
        message: a message of the chain; None without a chain.
        filter: the filter of the chain, or None.
    """

    grown = Signal(object, object)

    def __init__(self, document: CaptureDocument, parent: QObject) -> None:
        super().__init__(parent)
        self._document = document
        self._members: set[int] = set()
        self.message: int | None = None
        self.filter: DisplayFilter | None = None
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(budgets.current.chain_ms)
        self._timer.timeout.connect(self._update_members)

    def begin(self, message: int) -> DisplayFilter:
        """Follows the chain of a message and returns its filter."""
        self.message, self._members = message, self._find_members(message)
        self.filter = chain_filter(sorted(self._members))
        return self.filter

    def apply_changes(self, changes: AnalysisChanges, in_force: DisplayFilter) -> None:
        """Handles a flush under the active filter. O(new and changed messages)."""
        if self.filter is not in_force or self.message is None:
            self.stop()
        elif not self._timer.isActive() and may_change_chain(
            self._document.analysis, self.message, self._members, changes
        ):
            self._timer.start()

    def stop(self) -> None:
        """Drops the chain."""
        self._timer.stop()
        self.message = self.filter = None

    def _find_members(self, message: int) -> set[int]:
        return {step.message for step in self._document.chain(message)}

    def _update_members(self) -> None:
        before, message = self.filter, self.message
        if before is None or message is None:
            return
        members = self._find_members(message)
        if members != self._members:
            self._members = members
            self.filter = chain_filter(sorted(members))
            self.grown.emit(before, self.filter)


class ChainWalk:
    """Steps along one chain. It stays on the chain where it began, although each message has a chain of its own.

    At the end of that chain it continues on the chain of the message reached.
    """

    def __init__(self, document: CaptureDocument) -> None:
        self._document = document
        self._origin: int | None = None
        self._current: int | None = None

    def next(self, current: int, step: int, origin: int | None = None) -> int | None:
        """Returns the message after (1) or before (-1) the current one; None at the end.

        Args:
            current: the selected message.
            step: 1 or -1.
            origin: the message of the shown chain; None if no chain is shown.
        """
        begun = origin if origin is not None else self._origin if current == self._current else current
        found = None
        for start in dict.fromkeys((current if begun is None else begun, current)):
            self._origin = start
            found = self._neighbour(start, current, step)
            if found is not None or origin is not None:
                break
        self._current = current if found is None else found
        return found

    def _neighbour(self, origin: int, current: int, step: int) -> int | None:
        chain = [link.message for link in self._document.chain(origin)]
        if current not in chain:
            return None
        place = chain.index(current) + step
        return chain[place] if 0 <= place < len(chain) else None
