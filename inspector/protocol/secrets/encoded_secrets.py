"""Masks secrets in percent-encoded text and behind HTML entities: `%22token%22%3A%22...%22`, `&quot;token&quot;`.

Each encoded run is decoded, masked with every other rule, and the spans are mapped back to the text as written.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from itertools import groupby
from operator import itemgetter

from inspector.protocol.secrets.spans import replace_spans

ENCODED_QUOTES = r"(?:%(?:25){0,3}2[27]|&(?:quot|apos|#0{0,4}3[49]|#x0{0,4}2[27]);)"
"""Quotation marks in percent encoding, up to four times, and as HTML entities; RE2 uses it, too."""
_SIGN = re.compile(rf"(?i)%(?:25){{0,3}}(?:2[27]|3[ad]|40)|&(?:lt|gt);|{ENCODED_QUOTES}")
_ENCODED = re.compile(
    r"%(?:0[9aAdD]|[2-6][0-9a-fA-F]|7[0-9a-eA-E])|&(?:quot|apos|lt|gt|amp|#0{0,4}3[49]|#[xX]0{0,4}2[27]);"
    r"|(?:(?<=[:,])|(?<=%3[aA])|(?<=%2[cC]))\+"  # the blank of a form
)
_LONGEST_RUN = 65_536
_LONGEST_BEFORE = 300
"""Characters examined before the first encoded sign, more than a name has."""
_MOST_LEVELS = 4
_IN_ADDRESS, _IN_PAGE = (
    (re.compile(rf"[^{ends}]{{0,{_LONGEST_RUN}}}"), re.compile(rf"[^{ends}]{{0,{_LONGEST_BEFORE}}}\Z"))
    for ends in (r"\s\"\\<>", r"\r\n\"\\<>")
)


def mask_encoded(text: str, mask: Callable[[str], str], mask_decoded: Callable[[str], str]) -> str:
    """Masks secrets that the other rules find once a text is decoded.

    Args:
        text: any text.
        mask: returns the replacement of a secret.
        mask_decoded: masks decoded text with the other rules, a dot for each character.
    """
    return replace_spans(text, _spans(text, mask_decoded), mask)


def _spans(text: str, mask_decoded: Callable[[str], str]) -> Iterator[tuple[int, int]]:
    done = 0
    for sign in _SIGN.finditer(text):
        if sign.start() < done:
            continue
        after, before = _IN_ADDRESS if sign[0][0] == "%" else _IN_PAGE
        first = max(done, sign.start() - _LONGEST_BEFORE)
        found = before.search(text[first : sign.start()])
        start = first + (found.start() if found else 0)
        following = after.match(text, sign.start())
        done = max(following.end() if following else 0, sign.end())
        decoded, places = _decoded(text[start:done])
        masked = mask_decoded(decoded)
        if masked == decoded or len(masked) != len(decoded):
            continue
        hidden = [number for number, (old, new) in enumerate(zip(decoded, masked, strict=True)) if old != new]
        for _, group in groupby(enumerate(hidden), lambda one: one[1] - one[0]):
            numbers = list(map(itemgetter(1), group))
            yield start + places[numbers[0]], start + places[numbers[-1] + 1]


def _decoded(text: str) -> tuple[str, list[int]]:
    """Decodes a run, encoded several times perhaps.

    Returns:
        The decoded text, and for each of its characters the offset in the run; the last offset is the run's length.
    """
    places = list(range(len(text) + 1))
    for _ in range(_MOST_LEVELS):
        parts, kept, done = list[str](), list[int](), 0
        for found in _ENCODED.finditer(text):
            parts += (text[done : found.start()], _character(found[0]))
            kept += places[done : found.start() + 1]
            done = found.end()
        if not parts:
            break
        text, places = "".join((*parts, text[done:])), kept + places[done:]
        if _SIGN.search(text) is None:
            break
    return text, places


def _character(encoded: str) -> str:
    if encoded == "+":
        return " "
    return chr(int(encoded[1:], 16)) if encoded[0] == "%" else html.unescape(encoded)
