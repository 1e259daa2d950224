"""Signatures of JSON records that are recognized and not read as lines of a log."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple


def always(_value: Mapping[str, Any]) -> bool:
    """Accepts any record with the keys of its signature."""
    return True


class Signature(NamedTuple):
    """Recognizes the first record of a file that is refused by name.

    Attributes:
        words: name with its article, as "a trajectory of SWE-agent".
        keys: keys that the record must have, named in the sentence.
        fits: further condition, for keys that other records have too.
        remedy: one or two sentences in place of the words about formats that are not read yet.
    """

    words: str
    keys: tuple[str, ...]
    fits: Callable[[Mapping[str, Any]], bool] = always
    remedy: str = ""
