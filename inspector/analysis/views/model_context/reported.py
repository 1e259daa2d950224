"""Reads a participant's own reports of its context size: `participant/status`, else usage of model calls.

Reports are never mixed with estimates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis
from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.passes.tokens.reported_usage import NOT_REPORTED
from inspector.analysis.views.model_context.context_owners import Reader
from inspector.formats import registry


@dataclass(frozen=True, slots=True)
class Reported:
    """One report.

    Attributes:
        message: the status message.
        tokens, max_tokens, messages: reported values; None if missing.
    """

    message: int
    tokens: int | None
    max_tokens: int | None
    messages: int | None
    is_call: bool = False
    """True if it comes from a model call's usage."""

    @property
    def words(self) -> str:
        """The values, as part of a sentence."""
        parts: list[str] = []
        if self.tokens is not None:
            parts.append(f"{self.tokens:,}{f' of {self.max_tokens:,}' if self.max_tokens else ''} tokens")
        if self.messages is not None:
            parts.append(f"{self.messages:,} messages in context")
        return ", ".join(parts) or "its status without figures"


class Reports(NamedTuple):
    """All reports of a participant, oldest first.

    Attributes:
        messages: (n,) int64, messages with a number of tokens.
        tokens: (n,) int64, reported tokens.
        limit: last reported maximum of the context, or None.
    """

    messages: NDArray[np.int64]
    tokens: NDArray[np.int64]
    limit: int | None


NO_REPORTS = Reports(np.zeros(0, np.int64), np.zeros(0, np.int64), None)


def reported_at(analysis: Analysis, reader: Reader, message: int) -> Reported | None:
    """Returns the last report of a reader up to a message; None without one among its last 1,000.

    Reports before it left or restarted concern another process and are ignored.
    """
    found = analysis.participants.all.get((reader.space, reader.name)) if reader.name is not None else None
    rows = found.status_rows if found is not None else []
    row = next((row for row in reversed(rows) if row <= message), None)
    if not rows:
        return _called_at(analysis, reader, message)
    if row is None or found is None or any(row < end <= message for end in found.ended):
        return None
    payload = analysis.capture.records.payload(row)
    tokens, most, messages = (_figure(payload.get(key)) for key in ("tokens", "max_tokens", "messages_in_context"))
    return Reported(row, tokens, most, messages)


def _called_at(analysis: Analysis, reader: Reader, message: int) -> Reported | None:
    """Returns the report of the last model call of a reader."""
    calls, given = _inputs_of(analysis, reader)
    last = int(np.searchsorted(calls, message, side="right")) - 1
    return Reported(int(calls[last]), int(given[last]), None, None, is_call=True) if last >= 0 else None


def called_with(analysis: Analysis, answer: int) -> Reported | None:
    """Returns the input tokens that an answer of a model API reports."""
    row = np.array([answer], np.int64)
    given = [int(analysis.usage.numbers_at(name, row)[0]) for name in GIVEN]
    return None if given[0] == NOT_REPORTED else Reported(answer, sum(given), None, None, is_call=True)


def reports_of(analysis: Analysis, reader: Reader, read: dict[int, Reported | None]) -> Reports:
    """Returns all reports of a reader.

    Args:
        read: cache of statuses by message; new ones are added.
    """
    found = analysis.participants.all.get((reader.space, reader.name)) if reader.name is not None else None
    rows = found.status_rows if found is not None else []
    for row in rows:
        if row not in read:
            read[row] = reported_at(analysis, reader, row)
    statuses = [one for row in rows if (one := read[row]) is not None]
    if not rows:
        return Reports(*_inputs_of(analysis, reader), None)
    known = [(one.message, one.tokens) for one in statuses if one.tokens is not None]
    messages, tokens = np.array(known, np.int64).reshape(-1, 2).T
    return Reports(messages, tokens, next((one.max_tokens for one in reversed(statuses) if one.max_tokens), None))


def calls_of(analysis: Analysis, reader: Reader) -> NDArray[np.int64]:
    """Returns the messages that report model calls of a reader, ascending."""
    calls, columns, strings = analysis.usage.reports(), analysis.capture.columns, analysis.capture.strings
    senders, groups = columns["sender"][calls], registry.groups()
    own = senders == (strings.find(reader.name or "") or -1)
    if reader.name in groups.main_agents:
        # Some programs report the calls of their agent themselves.
        programs = [code for name in groups.programs if (code := strings.find(name))]
        own |= np.isin(senders, programs) & (analysis.contexts.nodes_of(calls) == MAIN)
    return calls[own & (columns["space"][calls] == reader.space)]


def _inputs_of(analysis: Analysis, reader: Reader) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Returns the messages that report model input of a reader, and its tokens. No model is given 0 tokens."""
    calls = calls_of(analysis, reader)
    given = _given(analysis, calls)
    return calls[given > 0], given[given > 0]


def _given(analysis: Analysis, calls: NDArray[np.int64]) -> NDArray[np.int64]:
    """(n,) total input tokens of each call, cached ones included."""
    return np.stack([analysis.usage.numbers_at(name, calls) for name in GIVEN]).sum(axis=0)


GIVEN = ("input", "cache_read", "cache_write")
"""Fields of a usage report that are model input."""


def _figure(value: object) -> int | None:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 2**53:
        return int(value)
    return None
