"""Numbers of rows: from 0 up a node of the context tree; below 0, by turns, a space and its main context."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


def root_code(place: int) -> int:
    """The row of the space with this place."""
    return -1 - 2 * place


def main_code(place: int) -> int:
    """The row of its main context."""
    return -2 - 2 * place


def is_root(code: int) -> bool:
    """Whether a code is the row of a space."""
    return code < 0 and code % 2 == 1


def place_of(code: int) -> int:
    """The place of the space a space's row or main row belongs to."""
    return (-1 - code) // 2


@dataclass(frozen=True, slots=True)
class Block:
    """Rows to insert before `row`."""

    row: int
    codes: Sequence[int]
    depths: Sequence[int]
