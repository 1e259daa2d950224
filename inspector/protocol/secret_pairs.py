"""Secrets in the text of JSON, however deeply it is escaped: `"token": "..."`, `"name": "API_KEY", "value": "..."`.

Text that is cut, or stands among other text, is no JSON that could be decoded: so pairs are found where they stand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from inspector.protocol.secret_keys import is_secret_key, may_be_number, names_secret

_KEY = re.compile(
    r'(?<!\\)(?P<quote>\\{0,255}")(?P<key>(?:[\w.\- /$@#]|\\{1,64}u[0-9a-fA-F]{4}){1,200})(?P=quote)\s*:\s*'
    # a list, or an object whose first members say what sort of secret it holds
    r"(?P<open>\[\s*|\{[^{}]{0,200}?(?P=quote)(?:value|raw)(?P=quote)\s*:\s*(?=(?P=quote)))?"
)
_ESCAPED = re.compile(r"\\+u([0-9a-fA-F]{4})")
_NUMBER = re.compile(r"-?\d[\d.eE+\-]*")
_COMMA = re.compile(r"\s{0,64},\s{0,64}")
_BETWEEN = 400
"""Characters of what else an object may say between its name and its value."""
_NEAR = 2 * _BETWEEN
"""So far from a value its object's name is looked for."""
_VALUE = re.compile(r'(?<!\\)(?P<quote>\\{0,255}")[Vv]alue(?P=quote)\s*:\s*(?=(?P=quote))')
_NAMED = re.compile(
    r'(?<!\\)(?P<quote>\\{0,255}")(?:[Nn]ame|[Kk]ey)(?P=quote)\s*:\s*'
    r"(?P=quote)(?P<name>[A-Za-z0-9_.\- ]{1,100})(?P=quote)"
)
_FOLLOWED = re.compile(r"\s*,")


def mask_pairs(text: str, mask: Callable[[str], str]) -> str:
    """A text with the values of pairs replaced that are secrets.

    Args:
        text: any text.
        mask: what becomes of a secret.
    """
    return _mask_named(_mask_keyed(text, mask), mask)


def _mask_keyed(text: str, mask: Callable[[str], str]) -> str:
    """Mask the values of `"key": ...` where the key is a secret's."""
    parts: list[str] = []
    done = 0
    for match in _KEY.finditer(text):
        key = _ESCAPED.sub(lambda found: chr(int(found[1], 16)), match["key"])
        if match.start() < done or not is_secret_key(key):
            continue
        place, quote = match.end(), match["quote"]
        while text.startswith(quote, place):
            start = place + len(quote)
            end = _string_end(text, start, quote)
            parts += (text[done:start], mask(text[start:end]) if end > start else "")
            done, place = end, end + len(quote)
            if match["open"] is None or match["open"][0] == "{":
                break
            comma = _COMMA.match(text, place)
            place = comma.end() if comma else len(text)
        number = _NUMBER.match(text, match.end())
        if number and not may_be_number(key):
            parts += (text[done : number.start()], mask(number[0]))
            done = number.end()
    return "".join((*parts, text[done:])) if parts else text


def _mask_named(text: str, mask: Callable[[str], str]) -> str:
    """Mask what stands under `value` in an object that is called as a secret is."""
    parts: list[str] = []
    done = 0
    for match in _VALUE.finditer(text) if "alue" in text else ():
        quote, start = match["quote"], match.end() + len(match["quote"])
        if match.start() >= done and (_is_named_before(text, match) or _is_named_after(text, start, quote)):
            end = _string_end(text, start, quote)
            parts += (text[done:start], mask(text[start:end]) if end > start else "")
            done = end
    return "".join((*parts, text[done:])) if parts else text


def _is_named_before(text: str, value: re.Match[str]) -> bool:
    near = text[max(0, value.start() - _NEAR) : value.start()]
    near = near[max(map(near.rfind, "{}")) + 1 :]  # of this object alone, which also makes it short mostly
    for named in _named_in(near, value["quote"]):
        comma = _FOLLOWED.match(near, named.end())
        if comma and len(near) - comma.end() <= _BETWEEN:
            return True
    return False


def _is_named_after(text: str, start: int, quote: str) -> bool:
    near = text[start : start + _NEAR]
    near = near[_string_end(near, 0, quote) + len(quote) :]
    near = near[: min((place for place in map(near.find, "{}") if place >= 0), default=None)]
    comma = _FOLLOWED.match(near)
    return comma is not None and any(
        0 <= named.start() - comma.end() <= _BETWEEN for named in _named_in(near, quote)
    )  # fmt: skip


def _named_in(near: str, quote: str) -> Iterator[re.Match[str]]:
    """What names a secret in the text around a value, with quotes escaped as often as those of the value."""
    if "ame" in near or "ey" in near:
        for named in _NAMED.finditer(near):
            if named["quote"] == quote and names_secret(named["name"]):
                yield named


def _string_end(text: str, start: int, quote: str) -> int:
    """Where the string that starts at `start` ends: at the first quote escaped as often as its opening one.

    Each level of JSON in JSON doubles backslashes: where quotes are written with e of them, a backslash that is
    content is written as 2 (e + 1).
    """
    escapes = len(quote) - 1
    place = start
    while (place := text.find('"', place)) >= 0:
        before = place
        while before > start and text[before - 1] == "\\":
            before -= 1
        if (place - before - escapes) % (2 * (escapes + 1)) == 0 and place - before >= escapes:
            return place - escapes
        place += 1
    return len(text)
