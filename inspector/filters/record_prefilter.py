"""Skips records without the text or key that a condition needs, and reads dense ones together.

The search for a key takes a hundredth of the time to decode the record, and most records lack the key.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.filters.block_search import Mask
from inspector.filters.full_text import TextFinder
from inspector.store.columns.flags import Flag
from inspector.store.messages.adjacent_reads import LineRange, is_ascending, read_line_ranges
from inspector.store.messages.capture import Capture
from inspector.store.messages.payload_values import OPEN_JSON

Rows = NDArray[np.integer[Any]]

_WORTH_READING = 64
"""Minimum density for reading ahead: one wanted message in 64."""


def in_stretches(ask: Callable[[LineRange, Rows], Mask], capture: Capture, rows: Rows) -> Mask:
    """Applies `ask` to stretches of adjacent lines, for messages in any order."""
    ascending, at = rows if is_ascending(rows) else np.sort(rows), 0
    parts = [np.zeros(0, np.bool_)]
    for lines in read_line_ranges(capture, ascending):
        parts.append(ask(lines, ascending[at : at + len(lines.starts)]))
        at += len(lines.starts)
    found = np.concatenate(parts)
    return found if ascending is rows else found[np.searchsorted(ascending, rows)]


class TextHint:
    """Finds messages whose lines may contain one of some texts; case-sensitive.

    Args:
        texts: at least one.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._finders = [TextFinder(text, match_case=True) for text in texts]

    def possible_matches(self, capture: Capture, rows: NDArray[np.integer[Any]]) -> Mask:
        """Returns (k,) bool, False if a message cannot contain any of the texts."""
        # a derived message has content that is not in its line
        derived = capture.columns["flags"][rows] & Flag.DERIVED.value != 0
        return derived | in_stretches(lambda lines, _: self.match_lines(lines), capture, rows)

    def match_lines(self, lines: LineRange) -> Mask:
        """Returns the same for k adjacent lines."""
        return np.logical_or.reduce([finder.may_match(*lines) for finder in self._finders])


def key_hint(path: tuple[str, ...]) -> TextHint | None:
    """Returns a hint for a path below payloads; None if any line may have the value."""
    if OPEN_JSON in path:  # escaping differs in a text inside a text
        path = path[: path.index(OPEN_JSON)]
    keys = [f'"{step}"' for step in path if not step.isdecimal()]  # a number may be an array index
    # The last key alone: it is mostly the rarest, and each key is one more pass.
    return TextHint(keys[-1:]) if keys else None


@contextmanager
def read_together(capture: Capture, rows: NDArray[np.integer[Any]]) -> Generator[None]:
    """Reads records ahead in large blocks if `rows` are dense, while the caller decodes them one by one."""
    first, last = (int(rows.min()), int(rows.max())) if len(rows) else (0, 0)
    # Sparse rows are cheaper to read one by one than in blocks with their gaps.
    if last - first < len(rows) * _WORTH_READING:
        with capture.records.prefetch(first, last + 1 if len(rows) else 0):
            yield
    else:
        yield
