"""Finds the server's answer behind a result in a model's context, and changes to it.

Clients shorten long results and add text. Works if the agent's traffic and its server's are in one document
(`analysis.views.account.same_calls`).
"""

from __future__ import annotations

import enum
from typing import NamedTuple

import numpy as np

from inspector.analysis import Analysis
from inspector.analysis.views.account.same_calls import same_calls
from inspector.protocol import kinds
from inspector.store.columns.hashes import NO_ROW
from inspector.tokens.counted_text import counted_text


class Change(enum.Enum):
    """Change of a result on its way to the model, by its text."""

    WHOLE = "whole"
    CUT = "cut"
    """Shortened, with at most a remark of one line added."""
    ALTERED = "altered"


class Origin(NamedTuple):
    """The server's answer of a result.

    Attributes:
        message: the answer, in another source.
        change: change to its text.
        is_certain: True if an id proves the match.
    """

    message: int
    change: Change
    is_certain: bool


_REMARK = 300
_LEAST_SHARED = 40
"""Equal characters at the start from which a text counts as shortened."""


def origin_of(analysis: Analysis, message: int) -> Origin | None:
    """Returns the server's answer behind a result that a model received."""
    capture, links = analysis.capture, analysis.correlation.columns
    first, copied = (found[0] for found in capture.repeated_messages(np.array([message])))
    row = int(first) if copied and first != NO_ROW else message
    call = int(links["cause"][row])
    if capture.string("kind", row) != kinds.RESPONSE or call == NO_ROW:
        return None
    for one in same_calls(analysis, call):
        answer = int(links["answer"][one.inner])
        if one.outer == call and answer != NO_ROW:
            return Origin(answer, _change(_text(analysis, answer), _text(analysis, row)), one.is_certain)
    return None


def _change(before: str, after: str) -> Change:
    if before.strip() == after.strip():
        return Change.WHOLE
    shared = _shared(before, after)
    is_cut = shared >= _LEAST_SHARED and shared < len(before) and len(after) - shared <= _REMARK
    return Change.CUT if is_cut else Change.ALTERED


def _shared(one: str, other: str) -> int:
    """Returns the length of the common prefix."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[:middle] == other[:middle] else (low, middle - 1)
    return low


def _text(analysis: Analysis, row: int) -> str:
    return counted_text(kinds.RESPONSE, analysis.capture.records.payload(row))
