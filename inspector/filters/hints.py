"""What the bytes of a record say beforehand about a value in its payload: where its key is not, neither is the value.

Looking for a key takes a hundredth of decoding the record, and most records have no such key.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.capture.capture import Capture
from inspector.capture.payload_values import OPEN_JSON
from inspector.capture.runs import Stretch, stretches
from inspector.filters.check import Term
from inspector.filters.fields import Field
from inspector.filters.full_text import TextFinder
from inspector.filters.long_records import search_long
from inspector.filters.own_text import found_in_own
from inspector.filters.records import Mask

Rows = NDArray[np.integer[Any]]

_MOST_TEXTS = 8
"""Values of a set that are looked for one by one."""
_LONG = 8 << 20
"""Bytes of a record that is searched window by window, as it and what a search makes of it would take much memory."""
_WORTH_READING = 64
"""Messages are read ahead where one in so many is wanted."""


def found_in(finder: TextFinder, capture: Capture, rows: NDArray[np.integer[Any]]) -> Mask:
    """Which messages hold what a finder looks for, those that lie together searched at once.

    Args:
        finder: looks for it.
        capture: where the records are.
        rows: (k,) integer, message indices in any order, at least one.
    """
    long = capture.columns["length"][rows] > _LONG
    found = np.zeros(len(rows), np.bool_)
    if not long.all():
        short = rows[~long]
        found[~long] = _in_stretches(lambda at, some: found_in_own(finder, capture, some, at), capture, short)
    for place in np.flatnonzero(long).tolist():
        *_, answer = search_long(finder, capture, int(rows[place]))
        found[place] = answer == 1
    return found


def _in_stretches(ask: Callable[[Stretch, Rows], Mask], capture: Capture, rows: Rows) -> Mask:
    """What lines that lie together are told, and whose they are, for messages in any order."""
    ascending, at = np.sort(rows), 0
    parts = [np.zeros(0, np.bool_)]
    for lines in stretches(capture, ascending):
        parts.append(ask(lines, ascending[at : at + len(lines.starts)]))
        at += len(lines.starts)
    found = np.concatenate(parts)
    return found if np.array_equal(ascending, rows) else found[np.searchsorted(ascending, rows)]


class PayloadHint:
    """Where a value of a payload may be, and equal to a text.

    Args:
        path: keys from the payload down to it.
        texts: one of which it must hold; None for whatever it is.
    """

    def __init__(self, path: tuple[str, ...], texts: tuple[str, ...] | None = None) -> None:
        if OPEN_JSON in path:  # what is in a text is written in other ways
            path, texts = path[: path.index(OPEN_JSON)], None
        keys = [f'"{step}"' for step in path if not step.isdecimal()]  # a number may be a place in an array
        self._keys = [TextFinder(key, match_case=True) for key in keys[-1:]]
        self._texts = [TextFinder(text, match_case=True) for text in texts or ()]

    def likely(self, capture: Capture, rows: NDArray[np.integer[Any]]) -> Mask:
        """(k,) bool, false where the value is surely absent or holds none of the texts."""
        return _in_stretches(lambda lines, _: self._among(lines), capture, rows)

    def _among(self, lines: Stretch) -> Mask:
        mask = np.ones(len(lines.starts), np.bool_)
        for finders in (self._texts, self._keys):
            if finders and mask.any():
                starts, ends = lines.starts[mask], lines.ends[mask]
                mask[mask] = np.logical_or.reduce([finder.among(lines.data, starts, ends) for finder in finders])
        return mask


def hint_of_field(field: Field) -> PayloadHint | None:
    """What is known of any value of a field; None where nothing is."""
    return PayloadHint(field.path) if field.path else None


def hint_of_term(term: Term) -> PayloadHint | None:
    """What is known where a term holds, before it is negated; None where nothing is."""
    if not term.field.path:
        return None
    operand: object = term.operand
    symbol = None if term.operator is None else term.operator.symbol
    texts: tuple[str, ...] | None = None
    if symbol in ("==", "contains") and isinstance(operand, str) and operand:
        texts = (operand,)
    elif symbol == "in" and isinstance(operand, tuple) and len(operand) <= _MOST_TEXTS:
        some = tuple(text for text in operand if isinstance(text, str) and text)
        texts = some if len(some) == len(operand) else None
    return PayloadHint(term.field.path, texts)


@contextmanager
def read_together(capture: Capture, rows: NDArray[np.integer[Any]]) -> Generator[None]:
    """While messages are decoded one after the other: read them in large pieces where they lie close together."""
    first, last = (int(rows.min()), int(rows.max())) if len(rows) else (0, 0)
    if last - first < len(rows) * _WORTH_READING:
        with capture.records.read_ahead(first, last + 1 if len(rows) else 0):
            yield
    else:
        yield
