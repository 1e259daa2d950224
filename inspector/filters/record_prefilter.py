"""What the bytes of a record say beforehand about a value in its payload: where its key is not, neither is the value.

Looking for a key takes a hundredth of decoding the record, and most records have no such key.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.filters.full_text import TextFinder
from inspector.filters.records import Mask
from inspector.store.columns.flags import Flag
from inspector.store.messages.adjacent_reads import Stretch, is_ascending, stretches
from inspector.store.messages.capture import Capture
from inspector.store.messages.payload_values import OPEN_JSON

Rows = NDArray[np.integer[Any]]

_WORTH_READING = 64
"""Messages are read ahead where one in so many is wanted."""


def in_stretches(ask: Callable[[Stretch, Rows], Mask], capture: Capture, rows: Rows) -> Mask:
    """What lines that lie together are told, and whose they are, for messages in any order."""
    ascending, at = rows if is_ascending(rows) else np.sort(rows), 0
    parts = [np.zeros(0, np.bool_)]
    for lines in stretches(capture, ascending):
        parts.append(ask(lines, ascending[at : at + len(lines.starts)]))
        at += len(lines.starts)
    found = np.concatenate(parts)
    return found if ascending is rows else found[np.searchsorted(ascending, rows)]


class TextHint:
    """Which messages hold one of some texts, wherever it stands in their lines; upper and lower case differ.

    Args:
        texts: at least one.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._finders = [TextFinder(text, match_case=True) for text in texts]

    def likely(self, capture: Capture, rows: NDArray[np.integer[Any]]) -> Mask:
        """(k,) bool, false where a message surely holds none."""
        derived = capture.columns["flags"][rows] & Flag.DERIVED.value != 0  # says what its line has not
        return derived | in_stretches(lambda lines, _: self.among(lines), capture, rows)

    def among(self, lines: Stretch) -> Mask:
        """(k,) bool, the same for lines that lie together."""
        return np.logical_or.reduce([finder.among(*lines) for finder in self._finders])


def key_hint(path: tuple[str, ...]) -> TextHint | None:
    """Where a value at a path below payloads may be, whatever it is; None where any line may have it."""
    if OPEN_JSON in path:  # what is in a text is written in other ways
        path = path[: path.index(OPEN_JSON)]
    keys = [f'"{step}"' for step in path if not step.isdecimal()]  # a number may be a place in an array
    return TextHint(keys[-1:]) if keys else None


@contextmanager
def read_together(capture: Capture, rows: NDArray[np.integer[Any]]) -> Generator[None]:
    """While messages are decoded one after the other: read them in large pieces where they lie close together."""
    first, last = (int(rows.min()), int(rows.max())) if len(rows) else (0, 0)
    if last - first < len(rows) * _WORTH_READING:
        with capture.records.read_ahead(first, last + 1 if len(rows) else 0):
            yield
    else:
        yield
