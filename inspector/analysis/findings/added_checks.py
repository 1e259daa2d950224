"""Checks that plug-ins add: functions over plain messages, each a topic of its own inside a guard."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from inspector.analysis.findings.batch import Batch
from inspector.analysis.findings.check import Check
from inspector.analysis.findings.store import MAX_DETAIL_CHARS
from inspector.analysis.passes.plain_messages import Message, plain_message
from inspector.formats.guards import BLOCK_S, GarbageError, Guard

_MESSAGES = 1_000
"""Messages of one call."""


class Reported(Protocol):
    """One problem: the number of its message, from 1, and a detail."""

    @property
    def number(self) -> int: ...
    @property
    def detail(self) -> str: ...


@dataclass(frozen=True, slots=True)
class AddedCheck:
    """A check of a plug-in.

    Attributes:
        check: its declaration.
        find: returns the problems of new messages; keeps state in the dict.
        kinds: kinds of the messages that it receives; () for all.
        guard: calls `find`.
    """

    check: Check
    find: Callable[[Sequence[Message], dict[str, Any]], Iterable[Reported]]
    kinds: tuple[str, ...]
    guard: Guard


class _Problem(NamedTuple):
    row: int
    detail: str


class AddedTopic:
    """Runs one added check over the messages of a document, each once."""

    def __init__(self, added: AddedCheck) -> None:
        self._added = added
        self._memory: dict[str, Any] = {}

    def feed(self, batch: Batch) -> None:
        """Checks the new messages; O(messages of its kinds) in Python."""
        if self._added.guard.is_off:
            return
        rows = np.arange(batch.start, batch.stop)
        if self._added.kinds:
            codes = [code for kind in self._added.kinds if (code := batch.code(kind)) >= 0]
            rows = rows[np.isin(batch.new("kind"), codes)]
        for first in range(0, len(rows), _MESSAGES):
            self._check(batch, rows[first : first + _MESSAGES].tolist())

    def _check(self, batch: Batch, rows: list[int]) -> None:
        added, stop = self._added, rows[-1] + 1

        def checked(answer: object) -> list[_Problem]:
            if not isinstance(answer, Iterable) or isinstance(answer, str | bytes):
                raise GarbageError(f"it returned {type(answer).__name__[:60]} in place of problems")
            problems: list[_Problem] = []
            for one in answer:
                problems.append(_checked_problem(one, stop))
                if len(problems) > stop:
                    raise GarbageError("it returned more problems than there are messages")
            return problems

        with batch.capture.records.prefetch(rows[0], stop):
            messages = [plain_message(batch.capture, batch.passes.correlation, row) for row in rows]
            found = added.guard.call(BLOCK_S, added.find, messages, self._memory, checked=checked)
        details = dict(found or ())  # one finding of a check for each message, the last one
        new = [row for row in sorted(details) if not batch.findings.has(added.check, np.array([row]))[0]]
        batch.findings.add(added.check, new, details=[details[row] for row in new])


def _checked_problem(one: object, stop: int) -> _Problem:
    number, detail = getattr(one, "number", None), getattr(one, "detail", None)
    if type(number) is not int or not isinstance(detail, str):
        raise GarbageError(f"it returned {type(one).__name__[:60]} in place of a Problem")
    if not 1 <= number <= stop:
        raise GarbageError(f"it returned a problem of message {number}, which it has not seen")
    # Half of a surrogate pair could not be shown.
    return _Problem(number - 1, detail[: 4 * MAX_DETAIL_CHARS].encode("utf-8", "replace").decode())
