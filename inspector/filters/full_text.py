r"""Search in the text of a whole record, letter case aside.

The text is the record's bytes as UTF-8 (what is no UTF-8 is replaced) with JSON's string escapes resolved, so that
`"café"` finds `caf\u00e9`, and a quotation mark in the needle finds the one that JSON wrote as `\"`.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_ESCAPES = re.compile(r'\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\["\\/bfnrt]')
_NAMED = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def _resolved(escape: re.Match[str]) -> str:
    text = escape[0]
    if text[1] != "u":
        return _NAMED.get(text[1], text[1])
    code = int(text[2:6], 16)
    if len(text) > 6:
        return chr(0x10000 + ((code - 0xD800) << 10) + int(text[8:], 16) - 0xDC00)
    return chr(code)


def record_text(record: bytes) -> str:
    """The text of a record, in which a search looks; cost is a few passes over the bytes."""
    text = record.decode("utf-8", "replace")
    return _ESCAPES.sub(_resolved, text) if "\\" in text else text


def text_finder(needle: str) -> Callable[[bytes], bool]:
    """A test whether the text of a record contains the needle, letter case aside."""
    folded = needle.casefold()
    lowered = folded.encode() if folded.isascii() else None

    def found(record: bytes) -> bool:
        if lowered is not None and record.isascii() and b"\\" not in record:
            return lowered in record.lower()
        return folded in record_text(record).casefold()

    return found
