"""Codes of rows of the context tree: nodes from 0 up; below 0 in turn a space, its main context, and a source."""

from __future__ import annotations


def root_code(place: int) -> int:
    """Returns the code of a space's row, by its index."""
    return -1 - 3 * place


def main_code(place: int) -> int:
    """Returns the code of a space's main context, by the space's index."""
    return -2 - 3 * place


def source_code(place: int) -> int:
    """Returns the code of a source's row, by its index in the capture."""
    return -3 - 3 * place


def is_root(code: int) -> bool:
    """Returns True for the code of a space's row."""
    # A remainder is never negative in Python: -1 % 3 is 2.
    return code < 0 and code % 3 == 2


def is_source(code: int) -> bool:
    """Returns True for the code of a source's row."""
    return code < 0 and code % 3 == 0


def place_of(code: int) -> int:
    """Returns the index of a code's space; for a source's row the index of the source."""
    return (-1 - code) // 3
