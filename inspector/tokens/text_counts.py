"""Token counts of texts: a worker process counts them while its owner polls."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from inspector.base.workers.pool import Answer
from inspector.tokens.counter import count_many
from inspector.tokens.worker import MAX_DEATHS, LineBatch, counting_pool

_BATCH_TEXTS, _BATCH_CHARACTERS = 4_000, 1 << 19
_NOTHING = np.empty(0, np.int64)
_IDLE_S = 10.0
"""Seconds without a text until `poll` ends the process."""
GIVEN_UP = "Token counting stopped: its process ended three times."


class TextCounts:
    """Cache of token counts, filled by a worker process.

    Attributes:
        error: the reason why counting stopped, or "".
        version: rises when counts arrive.
    """

    def __init__(self) -> None:
        # by hash of the text, so that texts are not kept for their counts; Python caches the hash of a str
        self._known: dict[int, int] = {}
        self._waiting: dict[int, str] = {}
        self._given: set[int] = set()
        self._pool = counting_pool(idle_s=_IDLE_S)
        self._errors = 0
        self.error = ""
        self.version = 0

    def count_of_text(self, text: str, *, wanted: bool = True) -> int | None:
        """Returns the tokens of a text; None if unknown, and queues it if `wanted`."""
        if not text:
            return 0
        key = hash(text)
        found = self._known.get(key)
        if found is None and wanted and not self.error:
            self._waiting.setdefault(key, text)
        return found

    @property
    def is_counting(self) -> bool:
        """Counts are missing and will arrive."""
        return bool(self._waiting) and not self.error

    @property
    def is_idle(self) -> bool:
        """No count is missing and no process runs, so that polling may end."""
        return not self.is_counting and not self._pool.pids

    def count_here(self) -> None:
        """Counts the queue in this process."""
        if self._waiting:
            keys, texts = list(self._waiting), list(self._waiting.values())
            self._known.update(zip(keys, count_many(texts), strict=True))
            self._waiting.clear()
            self.version += 1

    def forget_pending(self) -> None:
        """Clears the queue and ends the process. Known counts stay."""
        self.end()
        self._waiting.clear()

    def end(self) -> None:
        """Ends the process. Its unfinished batches stay in the queue for the next one."""
        self._given.clear()
        self._pool.end()

    def poll(self) -> None:
        """Collects counts and sends batches; starts the process if there are texts, and ends an idle one."""
        if self._waiting:
            self._pool.start()
        came = False
        while answers := self._pool.poll():
            for answer in answers:
                came |= self._take(answer)
        failure = self._pool.failure
        # A text that ends the process would end every further one.
        if self._errors >= MAX_DEATHS or (failure is not None and self._pool.deaths):
            self._give_up(GIVEN_UP)
        elif failure is not None:
            self._give_up(f"Tokens cannot be counted: the process did not start, {failure.strerror}.")
        elif self._waiting:
            self._send_batches()
        self.version += came

    def _take(self, answer: Answer[list[int]]) -> bool:
        """Stores counts; texts without them stay in the queue. Returns True if they are there."""
        self._given.difference_update(answer.key)
        if answer.error is not None:
            self._errors += answer.was_running
            return False
        self._known.update(zip(answer.key, answer.value.texts, strict=True))
        for key in answer.key:
            self._waiting.pop(key, None)
        return True

    def _send_batches(self) -> None:
        while self._pool.room and (keys := list(self._batch())):
            texts = tuple(self._waiting[key] for key in keys)
            none = np.empty(0, np.uint16)
            self._given.update(keys)
            self._pool.request(keys, LineBatch("", (0, 0), _NOTHING, _NOTHING, none, (), none, texts=texts))

    def _batch(self) -> Iterator[int]:
        """Yields the next batch in the order of requests."""
        # A batch stays in the queue until its counts arrive, in case the process ends.
        characters = texts = 0
        for key, text in self._waiting.items():
            if key in self._given:
                continue
            yield key
            characters, texts = characters + len(text), texts + 1
            if texts >= _BATCH_TEXTS or characters >= _BATCH_CHARACTERS:
                return

    def _give_up(self, sentence: str) -> None:
        self.error = sentence
        self.forget_pending()
        self.version += 1
