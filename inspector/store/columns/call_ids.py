"""Hashes of the ids of calls, which tell generic ids (`call_1`) from those that occur once (`toolu_01Vd3fXk9...`)."""

from __future__ import annotations

import re

from inspector.store.columns.hashes import hash_text

_UNIQUE = re.compile(r"(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z0-9]{8,}")
"""A run of letters and digits, such as a program draws at random."""
_GENERIC = re.compile(r"[A-Za-z]+\d+")
"""A word with a number."""


def hash_call_id(identifier: str) -> int:
    """Returns a hash of a call's id, which `is_generic` reads."""
    # The lowest bit holds the kind of id, so that no second column is needed.
    return hash_text(identifier) & ~1 | int(not _is_counted(identifier)) or 2


def is_generic(told: int) -> bool:
    """Returns True if conversations may have equal ids of this kind: a server that counts its calls gives them."""
    return not told & 1


def _is_counted(identifier: str) -> bool:
    return all(_GENERIC.fullmatch(run[0]) for run in _UNIQUE.finditer(identifier))
