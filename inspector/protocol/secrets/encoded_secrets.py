"""Masks secrets in percent-encoded text and behind HTML entities: `%22token%22%3A%22...%22`, `&quot;token&quot;`.

Each encoded run is decoded, masked with every other rule, and the spans are mapped back to the text as written.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from operator import itemgetter

from inspector.protocol.secrets.spans import replace_spans

AMPERSANDS = r"&(?:(?:amp|#0{0,4}38|#x0{0,4}26);){0,3}"
"""Start of an HTML entity, encoded up to four times; RE2 uses it, too."""
_PERCENT = r"%(?:25){0,3}"
ENCODED_QUOTES = (
    rf"(?:{_PERCENT}2[27]|{AMPERSANDS}(?:quot|apos|#0{{0,4}}3[49]|#x0{{0,4}}2[27]);"
    rf"|{_PERCENT}26(?:amp{_PERCENT}3b){{0,3}}(?:quot|apos|{_PERCENT}23(?:0{{0,4}}3[49]|x0{{0,4}}2[27])){_PERCENT}3b)"
)
"""Quotation marks in percent encoding, up to four times, as HTML entities, and both; RE2 uses it, too."""
_SIGN = re.compile(rf"(?i)%(?:25){{0,3}}(?:2[27]|3[ad]|40)|{AMPERSANDS}(?:lt|gt);|{ENCODED_QUOTES}")
_ENCODED = re.compile(
    r"%(?:0[9aAdD]|[2-6][0-9a-fA-F]|7[0-9a-eA-E])|&(?:quot|apos|lt|gt|amp|#0{0,4}3[489]|#[xX]0{0,4}2[267]);"
    r"|(?:(?<=[:,])|(?<=%3[aA])|(?<=%2[cC]))\+"  # the blank of a form
)
_STEP = 65_536
"""Longest secret with its name as encoded, and half of the characters that are decoded at once."""
_NAME_BEFORE = 1_024
"""Characters at the start of a decoded part that may be the rest of a name; the part before has it whole."""
_LONGEST_BEFORE = 300
"""Characters examined before the first encoded sign, more than a name has."""
_MOST_LEVELS = 4
_IN_ADDRESS, _IN_PAGE = (
    (re.compile(rf"[^{ends}]*+"), re.compile(rf"[^{ends}]{{0,{_LONGEST_BEFORE}}}\Z"))
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
        yield from _joined(_in_run(text[start:done], start, mask_decoded))


def _in_run(run: str, start: int, mask_decoded: Callable[[str], str]) -> Iterator[tuple[int, int]]:
    """Yields the spans in a run, decoded in parts that overlap by half."""
    for first in range(0, max(len(run) - _STEP, 1), _STEP):
        decoded, places = _decoded(run[first : first + 2 * _STEP])
        masked = mask_decoded(decoded)
        if masked == decoded or len(masked) != len(decoded):
            continue
        hidden = [number for number, (old, new) in enumerate(zip(decoded, masked, strict=True)) if old != new]
        for _, group in groupby(enumerate(hidden), lambda one: one[1] - one[0]):
            numbers = list(map(itemgetter(1), group))
            if first == 0 or places[numbers[0]] >= _NAME_BEFORE:
                yield start + first + places[numbers[0]], start + first + places[numbers[-1] + 1]


def _joined(spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Joins spans that overlap."""
    start = end = 0
    for first, last in sorted(spans):
        if first > end:
            yield start, end
            start = first
        end = max(end, last)
    yield start, end


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
