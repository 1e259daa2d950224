"""A document held by the engine: its version, its subscribers and the figures kept between requests."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from inspector.analysis import AnalysisChanges
from inspector.analysis.passes.changed_rows import NO_ROWS, Rows
from inspector.document.document import CaptureDocument
from inspector.document.marks_file import MarksFile
from inspector.engine.idle_work import IdleWork
from inspector.engine.message_view import MessageView
from inspector.engine.update import Update
from inspector.filters.compile import DisplayFilter, compile_filter
from inspector.store.columns.flags import Flag

if TYPE_CHECKING:
    from inspector.engine.requests.run_comparisons import HeldComparison


class FollowsChanges(Protocol):
    """Figures that are updated from one request to the next.

    A class with a true `ignores_counts` is not notified of counted tokens, which come once a second in a long log.
    """

    def note_changed(self, changed: Rows, /) -> None:
        """Notes earlier messages that have changed; new messages are found by their number."""
        ...


KeptT = TypeVar("KeptT", bound=FollowsChanges)

_COMPILED = 32
"""Compiled filters kept, since each caches results for strings."""
_KEPT_S = 30.0
"""Seconds for which figures are kept after a request: longer than the pause of a visible panel."""
_MOST_KEPT = 64
"""Figures kept at most: a log at rest has no change that drops them."""
LONG_KEPT_S = 600.0
"""The same for figures that cost nothing with each change and take long to make."""


class OpenDocument:
    """A document and the engine's state about it.

    Attributes:
        number: its number in the engine.
        document: the document.
        version: rises with each change of messages, marks or settings.
        tree_moves: rises when contexts appear, move or change their type.
        marks_file: its file of marks, once a window has asked for it.
        idle_work: checks and counting, while nothing is asked.
        endings: called when the document closes.
        comparison: its last comparison with another run.
    """

    def __init__(self, number: int, document: CaptureDocument) -> None:
        self.number = number
        self.document = document
        self.version = self.tree_moves = 0
        self.idle_work = IdleWork(document)
        self.endings: list[Callable[[], object]] = []
        self.comparison: HeldComparison | None = None
        self._compiled = lru_cache(_COMPILED)(_compiled)
        self.marks_file: MarksFile | None = None
        self._subscribers: list[Callable[[Update], object]] = []
        self._views: dict[int, MessageView] = {}
        self._kept: dict[Hashable, tuple[FollowsChanges, float]] = {}  # figures, and the time until which they are kept
        self._looked_at = self._received = self._greetings = 0
        document.observers.append(self)

    def count_received(self) -> tuple[int, int]:
        """Counts messages from others, and greetings of a gateway among them. O(new messages)."""
        capture, new = self.document.capture, slice(self._looked_at, None)
        if self._looked_at < len(capture):
            received = (np.asarray(capture.columns["flags"][new]) & int(Flag.SENT)) == 0
            greeting = capture.strings.find("system/welcome")
            greetings = capture.foreign_rpc.kind_codes(new) == (-1 if greeting is None else greeting)
            self._looked_at = len(capture)
            self._received += int(np.count_nonzero(received))
            self._greetings += int(np.count_nonzero(greetings))
        return self._received, self._greetings

    def messages_changed(self, changes: AnalysisChanges) -> None:
        """Raises the version and notifies subscribers."""
        self.version += 1
        self.tree_moves += changes.tree_moved
        if changes.stop > changes.start or len(changes.changed):
            self.idle_work.note_changed()
        now_s = time.monotonic()
        # Figures that nobody asks for would cost time with each change.
        self._kept = {key: kept for key, kept in self._kept.items() if kept[1] > now_s}
        for figures, _ in self._kept.values():
            if not (changes.counts_only and getattr(figures, "ignores_counts", False)):
                figures.note_changed(changes.changed)
        if self._subscribers:
            changed = np.asarray(changes.changed, np.int64)
            update = Update(self.number, self.version, changes.start, changes.stop, changed, changes.tree_moved)
            for subscriber in list(self._subscribers):
                subscriber(update)

    def note_edited(self) -> None:
        """Raises the version after an edit that changed no message."""
        self.messages_changed(AnalysisChanges(len(self.document.capture), len(self.document.capture), NO_ROWS, False))

    def subscribe(self, subscriber: Callable[[Update], object]) -> Callable[[], None]:
        """Calls the subscriber after each change; returns a function that ends this."""
        self._subscribers.append(subscriber)
        return lambda: self._subscribers.remove(subscriber) if subscriber in self._subscribers else None

    def kept(self, key: Hashable, make: Callable[[], KeptT], keep_s: float = _KEPT_S) -> KeptT:
        """Returns figures kept since an earlier request, made on the first. A change drops them after `keep_s`."""
        found, _ = self._kept.get(key) or (make(), 0.0)
        self._kept[key] = found, time.monotonic() + keep_s
        if len(self._kept) > _MOST_KEPT:
            del self._kept[min(self._kept, key=lambda one: self._kept[one][1])]
        return found  # pyright: ignore[reportReturnType] - a key has figures of one type

    def view(self, number: int) -> MessageView:
        """Returns a view of the messages, made on the first request."""
        found = self._views.get(number)
        if found is None:
            found = self._views[number] = MessageView(self.document.analysis)
        return found

    def compiled(self, text: str, selected_context: str | None = None) -> DisplayFilter:
        """Compiles a filter, or returns a known one. Raises FilterError for an invalid one."""
        return self._compiled(text, selected_context if "$" in text else None)

    def end_comparison(self) -> None:
        """Closes the other run of the last comparison."""
        if self.comparison is not None:
            self.comparison.close()
            self.comparison = None

    def close(self) -> None:
        """Closes the document."""
        self.end_comparison()
        for end in self.endings:
            end()
        self._views.clear()
        self._subscribers.clear()
        self._kept.clear()
        self.document.close()


def _compiled(text: str, selected_context: Any) -> DisplayFilter:
    return compile_filter(text, selected_context=selected_context)
