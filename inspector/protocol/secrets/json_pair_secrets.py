"""Masks secrets in JSON text at any depth of escapes: `"token": "..."`, `"name": "API_KEY", "value": "..."`.

Truncated or embedded JSON cannot be decoded, so pairs are found in place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from inspector.protocol.secrets.named_value_secrets import mask_named, string_end
from inspector.protocol.secrets.secret_keys import (
    VALUE_KEYS,
    is_plural_secret_key,
    is_secret_key,
    looks_random,
    may_be_number,
    may_name_place,
)

_HOLDERS = "|".join(VALUE_KEYS)
_KEY = re.compile(
    r'(?<!\\)(?P<quote>\\{0,255}")(?P<key>(?:[\w.\- /$@#]|\\{1,64}u[0-9a-fA-F]{4}){1,200})(?P=quote)\s*(?P<colon>:\s*)'
    # a list, or an object whose first members name the type of its secret, or a list of such
    r"(?P<open>(?:\[(?:\s|\\{1,64}[nrt]){0,64})?(?P<object>\{[^{}]{0,200}?(?P=quote)"
    rf"(?:{_HOLDERS})"
    r"(?P=quote)\s*:\s*)(?=(?P=quote))"
    r"|\[(?:\s|\\{1,64}[nrt]){0,200})?"
)
_ESCAPED = re.compile(r"\\+u([0-9a-fA-F]{4})")
_NUMBER = re.compile(r"-?\d[\d.eE+\-]*")
_BLANKS = r"(?:\s|\\{1,64}[nrt]){0,200}"
_COMMA = re.compile(rf"{_BLANKS},{_BLANKS}")
_NEXT = re.compile(
    rf"[^{{}}]{{0,1000}}\}}{_BLANKS},{_BLANKS}"
    r'\{[^{}]{0,200}?(?<!\\)(?P<quote>\\{0,255}")'
    rf"(?:{_HOLDERS})(?P=quote)\s*:\s*(?=(?P=quote))"
)
_MANY = re.compile(rf"(?P<open>[\[{{]){_BLANKS}")
_LONGEST = 600
"""Characters examined for randomness."""
_MEMBER = re.compile(r'(?P<quote>\\{0,255}")[^"\\]{1,200}(?P=quote)\s{0,64}:\s{0,64}(?=(?P=quote))')


def mask_pairs(text: str, mask: Callable[[str], str]) -> str:
    """Masks secret values of pairs in a text.

    Args:
        text: any text.
        mask: returns the replacement of a secret.
    """
    return mask_named(_mask_keyed(text, mask), mask)


def _mask_keyed(text: str, mask: Callable[[str], str]) -> str:
    """Masks the values of `"key": ...` under a secret's key."""
    parts: list[str] = []
    done = 0
    for match in _KEY.finditer(text):
        key = _ESCAPED.sub(lambda found: chr(int(found[1], 16)), match["key"])
        many = is_plural_secret_key(key)
        # A value masked before may contain further keys.
        if match.start() < done or not (many or is_secret_key(key)):
            continue
        strings = _spans_under_plural(text, match) if many else _spans_under_key(text, match)
        place = may_name_place(key)
        for start, end in strings:
            # A key such as `key_file` names a place, so only a random-looking value is masked.
            if place and not looks_random(text[start : min(end, start + _LONGEST)]):
                continue
            parts += (text[done:start], mask(text[start:end]) if end > start else "")
            done = end
        number = None if many else _NUMBER.match(text, match.end())
        if number and not may_be_number(key):
            parts += (text[done : number.start()], mask(number[0]))
            done = number.end()
    return "".join((*parts, text[done:])) if parts else text


def _spans_under_key(text: str, pair: re.Match[str]) -> Iterator[tuple[int, int]]:
    """Yields the spans of strings under a secret's key."""
    place, quote = pair.end(), pair["quote"]
    while text.startswith(quote, place):
        start = place + len(quote)
        end = string_end(text, start, quote)
        yield start, end
        # A single string, or an object with one: nothing follows.
        if not pair["open"] or pair["open"][0] == "{":
            return
        following = (_NEXT if pair["object"] else _COMMA).match(text, end + len(quote))
        if following is None:
            return
        place = following.end()


def _spans_under_plural(text: str, pair: re.Match[str]) -> Iterator[tuple[int, int]]:
    """Yields the spans of random-looking strings in a list or a flat object under a plural key."""
    quote = pair["quote"]
    opened = _MANY.match(text, pair.end("colon"))
    place = opened.end() if opened else len(text)
    while opened and text.startswith(quote, place):
        member = _MEMBER.match(text, place) if opened["open"] == "{" else None
        start = (member.end() if member else place) + len(quote)
        end = string_end(text, start, quote)
        if looks_random(text[start : min(end, start + _LONGEST)]):
            yield start, end
        comma = _COMMA.match(text, end + len(quote))
        if comma is None:
            return
        place = comma.end()
