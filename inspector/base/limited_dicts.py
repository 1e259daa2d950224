"""Dictionaries with a limit, which evict the entry that was set least lately."""

from __future__ import annotations

from collections import OrderedDict
from typing import TypeVar

MAX_REMEMBERED = 10_000
K = TypeVar("K")
V = TypeVar("V")


def set_limited(held: OrderedDict[K, V], key: K, value: V, most: int = MAX_REMEMBERED) -> None:
    """Sets a value as the latest, and evicts the oldest above the limit."""
    held[key] = value
    held.move_to_end(key)
    if len(held) > most:
        held.popitem(last=False)
