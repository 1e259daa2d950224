"""Figures of a document's sub-sessions, kept between questions: token sums and merged contexts."""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from inspector.msp.merged import MergedContext, MergedContexts
from inspector.msp.merged_layers import Count
from inspector.msp.objects import Message, Subsession
from inspector.msp.rules import Rules
from inspector.tokens.text_counts import TextCounts

if TYPE_CHECKING:
    from inspector.msp.document import SessionDocument

_STEP = 200
"""Messages between two checks of the clock."""
_STEP_S = 0.02
"""Seconds of work between two yields."""


@dataclass(slots=True)
class _Tally:
    """Token sum of one sub-session.

    Attributes:
        tokens: of counted messages.
        done: number of messages read.
        last: the last of them, to detect changed messages.
        missing: their texts without a count yet.
    """

    tokens: int = 0
    done: int = 0
    last: object = None
    missing: list[str] = field(default_factory=list)


class SessionFigures:
    """Token sums and merged contexts of a document.

    Attributes:
        counts: token counts of texts.
    """

    def __init__(self, document: SessionDocument) -> None:
        self._document = document
        self.counts = TextCounts()
        self._tallies: dict[str, _Tally] = {}
        self._summed: object = None
        self._contexts: tuple[object, MergedContexts] | None = None
        self._counted_version = 0
        self._last: tuple[object, MergedContext] | None = None

    # Token sums

    def sum_of(self, sub: Subsession) -> tuple[int, bool]:
        """Returns tokens of a sub-session's own messages so far, and True if complete."""
        tally = self._tally(sub)
        return tally.tokens, tally.done == len(sub.messages) and not tally.missing

    def sum_steps(self, *, counted: bool) -> Generator[None]:
        """Sums tokens of messages of all sub-sessions; queues uncounted texts if `counted`."""
        state = self._document.revision, self.counts.version, counted
        if state == self._summed:
            return
        until = time.perf_counter() + _STEP_S
        for sub in self._document.subsessions:
            tally, messages = self._tally(sub), sub.messages
            texts, tally.missing = tally.missing, []
            for text in texts:
                self._add_text(tally, text, counted=counted)
            while tally.done < len(messages):
                self._add_messages(tally, messages[tally.done : tally.done + _STEP], counted=counted)
                if time.perf_counter() >= until:
                    yield
                    until = time.perf_counter() + _STEP_S
        self._summed = state

    def _tally(self, sub: Subsession) -> _Tally:
        tally, messages = self._tallies.get(sub.key), sub.messages
        is_valid = tally is not None and tally.done <= len(messages)
        if tally is not None and is_valid and tally.done:
            is_valid = messages[tally.done - 1].data is tally.last
        if tally is None or not is_valid:
            tally = self._tallies[sub.key] = _Tally()
        return tally

    def _add_messages(self, tally: _Tally, messages: Sequence[Message], *, counted: bool) -> None:
        for message in messages:
            self._add_text(tally, message.content, counted=counted)
            tally.done += 1
            tally.last = message.data

    def _add_text(self, tally: _Tally, text: str, *, counted: bool) -> None:
        found = self.counts.count_of_text(text, wanted=counted)
        if found is None:
            tally.missing.append(text)
        else:
            tally.tokens += found

    # Merged contexts

    def merge_steps(self, sub: Subsession, rules: Rules, *, counted: bool) -> Generator[None, None, MergedContext]:
        """Returns the merged context of a sub-session. Uncounted texts have 0 tokens, and are queued if `counted`."""
        contexts = self._contexts_for(rules, counted=counted)
        yield from contexts.prepare(sub)
        state = sub, rules, counted, self._document.revision, self._counted_version
        if self._last is None or self._last[0] != state:
            self._last = state, contexts.compute(sub)
        return self._last[1]

    def _contexts_for(self, rules: Rules, *, counted: bool) -> MergedContexts:
        key = rules, counted, self._document.structure
        if self._contexts is None or self._contexts[0] != key:
            self._contexts = key, MergedContexts(rules, self._counter(counted=counted), self._document.known)
        elif self._counted_version != self.counts.version:
            self._contexts[1].recount()
        self._counted_version = self.counts.version
        return self._contexts[1]

    def _counter(self, *, counted: bool) -> Count:
        return lambda text: self.counts.count_of_text(text, wanted=counted) or 0
