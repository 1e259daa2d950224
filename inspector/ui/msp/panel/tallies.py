"""Tokens of each sub-session's own messages, added up in slices and only further, never anew. No Qt."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from inspector.msp.objects import Message, Subsession

_STEP = 200
"""Messages between two looks at the clock."""


class Counter(Protocol):
    """Knows what texts cost."""

    @property
    def reason(self) -> str:
        """Why nothing more is counted; "" where something is."""
        ...

    def of(self, text: str) -> int | None:
        """Tokens of a text; None while they are not known."""
        ...


@dataclass(slots=True)
class Tally:
    """What is known of one sub-session.

    Attributes:
        tokens: of the messages that are counted.
        done: messages looked at.
        last: the last of them, so that it is noticed when they are others.
        missing: their contents that were not counted when they were looked at.
    """

    tokens: int = 0
    done: int = 0
    last: object = None
    missing: list[str] = field(default_factory=list)


class Tallies:
    """The tallies of a document."""

    def __init__(self, counts: Counter) -> None:
        self._counts = counts
        self._by_key: dict[str, Tally] = {}
        self._place = 0

    @property
    def counts_on(self) -> bool:
        """Whether what is missing is still to come."""
        return not self._counts.reason

    def of(self, sub: Subsession) -> tuple[int, bool]:
        """Tokens of a sub-session so far, and whether that is all."""
        tally = self._valid(sub)
        return tally.tokens, tally.done == len(sub.messages) and not tally.missing

    def begin(self) -> None:
        """Look at all of them anew: messages came, or counts."""
        self._place = 0

    def go_on(self, subs: Sequence[Subsession], until: float) -> bool:
        """Look at more messages until a moment, by `time.perf_counter`; whether all have been looked at."""
        while self._place < len(subs):
            sub = subs[self._place]
            tally = self._valid(sub)
            self._resolve(tally)
            messages = sub.messages
            while tally.done < len(messages):
                self._take(tally, messages[tally.done : tally.done + _STEP])
                if time.perf_counter() >= until:
                    return False
            self._place += 1
            if time.perf_counter() >= until:
                return self._place >= len(subs)
        return True

    def _valid(self, sub: Subsession) -> Tally:
        tally = self._by_key.get(sub.key)
        messages = sub.messages
        stands = tally is not None and tally.done <= len(messages)
        if tally is not None and stands and tally.done:
            stands = messages[tally.done - 1].data is tally.last
        if tally is None or not stands:
            tally = self._by_key[sub.key] = Tally()
        return tally

    def _resolve(self, tally: Tally) -> None:
        if tally.missing:
            texts, tally.missing = tally.missing, []
            for text in texts:
                self._add(tally, text)

    def _take(self, tally: Tally, messages: Sequence[Message]) -> None:
        for message in messages:
            self._add(tally, message.content)
            tally.done += 1
            tally.last = message.data

    def _add(self, tally: Tally, text: str) -> None:
        found = self._counts.of(text)
        if found is None:
            tally.missing.append(text)
        else:
            tally.tokens += found
