"""One causal chain: shown alone in the table and kept in step while it grows, and walked step by step."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QObject, QTimer, Signal

from inspector.analysis import Changes
from inspector.analysis.views.causes.chain import may_grow
from inspector.document.document import CaptureDocument
from inspector.filters import DisplayFilter, compile_filter
from inspector.ui import budgets


def chain_filter(messages: Iterable[int]) -> DisplayFilter:
    """The display filter that shows these messages and nothing else."""
    return compile_filter(f"no in {{{', '.join(str(message + 1) for message in messages)}}}")


class ChainAlone(QObject):
    """The filter that shows one chain and nothing else.

    Whoever puts it in force says so to nobody here: it counts as given up once another filter is.

    Signals:
        grown(DisplayFilter, DisplayFilter): the chain has changed; what showed it before, and what shows it now.

    Attributes:
        message: whose chain it is; None before the first.
        filter: what shows it.
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
        self._timer.timeout.connect(self._look_again)

    def begin(self, message: int) -> DisplayFilter:
        """Keep the chain of a message from now on, and say what shows it."""
        self.message, self._members = message, self._found(message)
        self.filter = chain_filter(sorted(self._members))
        return self.filter

    def apply_changes(self, changes: Changes, in_force: DisplayFilter) -> None:
        """Take in a flush while some filter is in force. O(messages that came or changed)."""
        if self.filter is not in_force or self.message is None:
            self.stop()
        elif not self._timer.isActive() and may_grow(self._document.analysis, self.message, self._members, changes):
            self._timer.start()

    def stop(self) -> None:
        """Give the chain up."""
        self._timer.stop()
        self.message = self.filter = None

    def _found(self, message: int) -> set[int]:
        return {step.message for step in self._document.chain(message)}

    def _look_again(self) -> None:
        before, message = self.filter, self.message
        if before is None or message is None:
            return
        members = self._found(message)
        if members != self._members:
            self._members = members
            self.filter = chain_filter(sorted(members))
            self.grown.emit(before, self.filter)


class ChainWalk:
    """A walk along one chain: it stays on the chain it began on, though each message on the way has its own.

    Where that chain ends and the message reached goes on by itself, the walk goes on with it.
    """

    def __init__(self, document: CaptureDocument) -> None:
        self._document = document
        self._origin: int | None = None
        self._at: int | None = None

    def next(self, current: int, step: int, origin: int | None = None) -> int | None:
        """The message after (1) or before (-1) the current one; None at the end.

        Args:
            current: the message selected.
            step: 1 or -1.
            origin: whose chain is shown alone, so that it is the one to be walked.
        """
        begun = origin if origin is not None else self._origin if current == self._at else current
        found = None
        for start in dict.fromkeys((current if begun is None else begun, current)):
            self._origin = start
            found = self._beside(start, current, step)
            if found is not None or origin is not None:
                break
        self._at = current if found is None else found
        return found

    def _beside(self, origin: int, current: int, step: int) -> int | None:
        chain = [link.message for link in self._document.chain(origin)]
        if current not in chain:
            return None
        place = chain.index(current) + step
        return chain[place] if 0 <= place < len(chain) else None
