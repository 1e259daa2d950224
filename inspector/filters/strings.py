r"""Quotes and unquotes strings of the filter language.

Either quote opens a string. `\n \t \r \" \' \\ \/` and `\uXXXX` have their JSON meaning. Any other backslash is
literal, so a regular expression (`"\d+\.log"`) needs no doubling. Surrogate pairs become one character. A lone
surrogate, possible in real traffic (docs/protocols.md 16), is kept.
"""

from __future__ import annotations

import re
import unicodedata

_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "'": "'", "\\": "\\", "/": "/"}
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|([ntr\"'\\/]))")
_NAMED_ESCAPES = {"\n": "\\n", "\t": "\\t", "\r": "\\r", '"': '\\"', "\\": "\\\\"}
_INVISIBLE = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))


def unescape(body: str) -> tuple[str, list[int]]:
    """Resolves the escapes of a string without its quotes.

    Returns:
        The value, and the offset in `body` of each of its characters, with one more entry for the end.
    """
    characters: list[str] = []
    offsets: list[int] = []
    at = 0
    while at < len(body):
        found = _ESCAPE.match(body, at) if body[at] == "\\" else None
        if found is None:
            character, width = body[at], 1
        else:
            character = chr(int(found[1], 16)) if found[1] else _ESCAPES[found[2]]
            width = len(found[0])
        # Two escapes of a surrogate pair are one character, as in JSON.
        if characters and "\udc00" <= character <= "\udfff" and "\ud800" <= characters[-1] <= "\udbff":
            high = ord(characters[-1]) - 0xD800
            characters[-1] = chr(0x10000 + (high << 10) + ord(character) - 0xDC00)
        else:
            characters.append(character)
            offsets.append(at)
        at += width
    return "".join(characters), [*offsets, len(body)]


def quote(value: str) -> str:
    """Quotes a value for `unescape`; escapes invisible and direction-changing characters."""
    return '"' + "".join(map(_escaped, value)) + '"'


def _escaped(character: str) -> str:
    named = _NAMED_ESCAPES.get(character)
    if named is not None:
        return named
    if character.isprintable() or unicodedata.category(character) not in _INVISIBLE:
        return character
    # `surrogatepass` keeps lone surrogates, which occur in real traffic.
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))
