"""Token counts of sub-sessions: counted in a worker process, summed in slices."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np
from PySide6.QtCore import QObject, QTimer, Signal

from inspector.tokens.counter import count_many
from inspector.tokens.worker import CountingProcess, LineBatch
from inspector.ui import budgets

if TYPE_CHECKING:
    from inspector.msp.objects import Message, Subsession

_BATCH_TEXTS, _BATCH_CHARACTERS = 4_000, 1 << 19
_MAX_BATCHES = 2  # a second batch waits in the pipe, so that the process never idles between two polls
_MAX_RESTARTS = 3
_NOTHING = np.empty(0, np.int64)
NOT_COUNTED = "Token counting is off. Turn it on in Settings > Display."
GIVEN_UP = "Token counting stopped: its process ended three times."


class TokenCounts(QObject):
    """Cache of token counts, filled by a worker process.

    Signals:
        came(): counts arrived, or counting was given up.

    Attributes:
        error: the reason why counting stopped, or "".
    """

    came = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        # by hash of the text, so that texts are not kept for their counts; Python caches the hash of a str
        self._known: dict[int, int] = {}
        self._waiting: dict[int, str] = {}
        self._batches: list[list[int]] = []
        self._process: CountingProcess | None = None
        self._wanted = True
        self._deaths = 0
        self._idle_since = 0.0
        self.error = ""
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._go_on)
        holder: list[CountingProcess | None] = [None]  # outlives this object during its destruction
        self._holder = holder
        self.destroyed.connect(lambda: _end(holder))

    # Queries

    def count_of_text(self, text: str) -> int | None:
        """Returns the tokens of a text, or None and queues it."""
        if not text:
            return 0
        key = hash(text)
        found = self._known.get(key)
        if found is None and not self.reason and key not in self._waiting:
            self._waiting[key] = text
            if not self._timer.isActive():
                self._timer.start(budgets.current.counting_start_ms)
        return found

    def or_nothing(self, text: str) -> int:
        """Returns the known tokens of a text, else 0."""
        return self.count_of_text(text) or 0

    @property
    def counting(self) -> bool:
        """True while counts are missing."""
        return bool(self._waiting) and not self.reason

    @property
    def reason(self) -> str:
        """The reason for missing counts as a sentence, or ""."""
        return self.error or ("" if self._wanted else NOT_COUNTED)

    def set_wanted(self, wanted: bool) -> None:
        """Enables or disables counting. Known counts stay."""
        if wanted != self._wanted:
            self._wanted = wanted
            if not wanted:
                self.stop()
                self._waiting.clear()
            self.came.emit()

    def count_here(self) -> None:
        """Counts the queue in this process at once, for screenshots and tests."""
        if self._waiting:
            keys, texts = list(self._waiting), list(self._waiting.values())
            self._known.update(zip(keys, count_many(texts), strict=True))
            self._waiting.clear()
            self.came.emit()

    def stop(self) -> None:
        """Ends the process. Its unfinished batches stay in the queue for the next one."""
        self._timer.stop()
        self._batches.clear()
        self._process = None
        _end(self._holder)

    # Counting

    def _go_on(self) -> None:
        process = self._process or self._start()
        if process is None:
            return
        self._timer.setInterval(budgets.current.background_ms)
        try:
            came = self._take(process)
            self._send_batches(process)
        except (EOFError, OSError):  # the process has ended
            self._on_process_ended()
            return
        now = time.monotonic()
        if self._batches or not process.is_ready:
            self._idle_since = now
        elif now - self._idle_since >= budgets.current.counter_idle_s:
            self.stop()
        if came:
            self.came.emit()

    def _start(self) -> CountingProcess | None:
        try:
            self._process = CountingProcess()
        except OSError as error:
            self._give_up(f"Tokens cannot be counted: the process did not start, {error.strerror}.")
            return None
        self._holder[0] = self._process
        return self._process

    def _take(self, process: CountingProcess) -> bool:
        came = False
        while process.connection.poll():
            counts = process.receive_counts()
            if counts is not None:
                keys = self._batches.pop(0)
                self._known.update(zip(keys, counts.texts, strict=True))
                for key in keys:
                    self._waiting.pop(key, None)
                came = True
        return came

    def _send_batches(self, process: CountingProcess) -> None:
        while process.is_ready and len(self._batches) < _MAX_BATCHES:
            keys = list(self._batch())
            if not keys:
                return
            texts = tuple(self._waiting[key] for key in keys)
            none = np.empty(0, np.uint16)
            process.request_counts(LineBatch("", (0, 0), _NOTHING, _NOTHING, none, (), none, texts=texts))
            self._batches.append(keys)

    def _batch(self) -> Iterator[int]:
        """Yields the next batch in the order of requests."""
        # A batch stays in the queue until its counts arrive, in case the process ends.
        given = {key for keys in self._batches for key in keys}
        characters = texts = 0
        for key, text in self._waiting.items():
            if key in given:
                continue
            yield key
            characters, texts = characters + len(text), texts + 1
            if texts >= _BATCH_TEXTS or characters >= _BATCH_CHARACTERS:
                return

    def _on_process_ended(self) -> None:
        self._deaths += 1
        self.stop()
        # A text that ends the process would end every further one.
        if self._deaths >= _MAX_RESTARTS:
            self._give_up(GIVEN_UP)
        elif self._waiting:
            self._timer.start(budgets.current.background_ms)

    def _give_up(self, sentence: str) -> None:
        self.error = sentence
        self._timer.stop()
        self._waiting.clear()
        self.came.emit()


def _end(holder: list[CountingProcess | None]) -> None:
    process, holder[0] = holder[0], None
    if process is not None:
        # The process may have ended on its own.
        with contextlib.suppress(OSError):
            process.end_process()


_STEP = 200
"""Messages between two checks of the clock."""


class Counter(Protocol):
    """Returns token counts of texts."""

    @property
    def reason(self) -> str:
        """The reason for missing counts, or ""."""
        ...

    def count_of_text(self, text: str) -> int | None:
        """Returns the tokens of a text, or None if unknown."""
        ...


@dataclass(slots=True)
class Tally:
    """Sums of one sub-session.

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


class Tallies:
    """The tallies of a document."""

    def __init__(self, counts: Counter) -> None:
        self._counts = counts
        self._by_key: dict[str, Tally] = {}
        self._place = 0

    @property
    def counts_on(self) -> bool:
        """True if missing counts will follow."""
        return not self._counts.reason

    def sum_of(self, sub: Subsession) -> tuple[int, bool]:
        """Returns tokens of a sub-session so far, and True if complete."""
        tally = self._valid(sub)
        return tally.tokens, tally.done == len(sub.messages) and not tally.missing

    def begin(self) -> None:
        """Starts again after new messages or counts."""
        self._place = 0

    def go_on(self, subs: Sequence[Subsession], until: float) -> bool:
        """Reads messages until a deadline of `time.perf_counter`. Returns True if all were read."""
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
        found = self._counts.count_of_text(text)
        if found is None:
            tally.missing.append(text)
        else:
            tally.tokens += found
