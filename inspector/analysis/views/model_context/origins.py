"""Where a result in a model's context came from: the answer of the server behind it, and what became of that.

Clients cut long results, and put words of their own around them. Told where the agent's own traffic and that of its
server stand in one document (`analysis.views.account.same_calls`).
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
    """What became of a result on its way to the model, by its text."""

    WHOLE = "whole"
    CUT = "cut"
    """A part of it is there, and nothing else but a remark of a line."""
    ALTERED = "altered"


class Origin(NamedTuple):
    """The answer that a result is of.

    Attributes:
        message: the answer, in another source.
        change: what became of it.
        is_certain: an id says that they are of one call.
    """

    message: int
    change: Change
    is_certain: bool


_REMARK = 300
_LEAST_SHARED = 40
"""Characters at its beginning that tell a cut text from another one."""


def origin_of(analysis: Analysis, message: int) -> Origin | None:
    """The answer of a server behind a result that a model was given; None where none is known."""
    capture, links = analysis.capture, analysis.correlation.columns
    first, copied = (found[0] for found in capture.repeats(np.array([message])))
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
    """How many characters two texts begin alike with."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[:middle] == other[:middle] else (low, middle - 1)
    return low


def _text(analysis: Analysis, row: int) -> str:
    return counted_text(kinds.RESPONSE, analysis.capture.records.payload(row))
