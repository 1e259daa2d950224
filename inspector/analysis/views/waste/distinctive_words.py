"""Extracts distinctive words and passages of a text, to find them again elsewhere.

Works on words, so that quoting, indentation and key order make no difference. All sizes are bounded.
"""

from __future__ import annotations

import json
import re
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

MAX_CHARS = 60_000
"""Characters of a text that are read."""
MAX_WORDS = 2_000
"""Distinctive words kept per text, spread over it."""
# Texts of JSON within JSON come from tools, of any depth.
_DEPTH = 8
_WORD = re.compile(r"[^\W_]+(?:[-_./@:+][^\W_]+)*")
_PART = re.compile(r"[^\W_]+")
_STRONG_DIGITS, _WEAK_LETTERS = 3, 6
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\U00020000-\U0003ffff]+"
)
"""Thai, Lao, Burmese, Khmer, Kana and Han."""
_UNSPACED_SHARE = 0.25
PASSAGE_WORDS = 6
"""Consecutive words in a passage."""
_SAMPLING = 4  # one of four passages is kept, selected by hash, so the same ones on both sides
# Factors of a polynomial hash, so that the order of words counts.
_FACTORS = np.array([0x9E3779B97F4A7C15 ** (place + 1) % 2**64 for place in range(PASSAGE_WORDS)], np.uint64)


def flatten_json(value: Any, *, keys: bool) -> str:
    """Joins the texts of a JSON value; JSON inside a text is parsed as well.

    Args:
        value: decoded JSON.
        keys: True to include keys of objects.
    """
    pieces: list[str] = []
    _flatten(value, keys, pieces, _DEPTH)
    return " ".join(pieces)[:MAX_CHARS]


def _flatten(value: Any, keys: bool, pieces: list[str], depth: int) -> None:
    if isinstance(value, str):
        # Tools often return JSON as text, escaped once more by the protocol.
        decoded = _decoded(value) if depth else None
        if decoded is None:
            pieces.append(value)
        else:
            _flatten(decoded, keys, pieces, depth - 1)
    elif isinstance(value, dict) and depth:
        for key, member in value.items():
            if keys:
                pieces.append(str(key))
            _flatten(member, keys, pieces, depth - 1)
    elif isinstance(value, list) and depth:
        for item in value:
            _flatten(item, keys, pieces, depth - 1)
    elif value is not None and not isinstance(value, bool):
        pieces.append(str(value))


def _decoded(text: str) -> Any:
    """Parses JSON in a text, or returns None."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def distinctive_words(text: str) -> tuple[set[str], set[str]]:
    """Returns rare words, and longer common words. One rare word identifies a text.

    Rare words are ids, numbers from three digits, paths, and names with capitals; all are case-folded.
    """
    strong: set[str] = set()
    weak: set[str] = set()
    for word in dict.fromkeys(_WORD.findall(text[:MAX_CHARS])):
        parts = _PART.findall(word)
        if len(parts) > 1:
            strong.add(word.casefold())
        for part in parts:
            folded = part.casefold()
            digits = any(letter.isdigit() for letter in part)
            if digits:
                (strong if len(part) >= _STRONG_DIGITS else weak).add(folded)
            elif len(part) > _STRONG_DIGITS and part != folded:
                strong.add(folded)
            elif len(part) >= _WEAK_LETTERS:
                weak.add(folded)
    return strong, weak - strong


def is_unspaced(text: str) -> bool:
    """Returns True for scripts without spaces between words, as their words cannot be separated."""
    text = text[:MAX_CHARS]
    found = sum(map(len, _UNSPACED.findall(text)))
    return found > 0 and found >= _UNSPACED_SHARE * sum(map(str.isalpha, text))


def sample_words(words: set[str]) -> list[str]:
    """Returns a bounded sample of words, the same one each time."""
    # By checksum: the hash of a `str` differs from process to process.
    return sorted(words, key=lambda word: zlib.crc32(word.encode("utf-8", "surrogatepass")))[:MAX_WORDS]


def passage_hashes(text: str) -> tuple[NDArray[np.uint64], int]:
    """Returns hashes of a sample of passages, and the number of words. Equal passages have equal hashes."""
    words = _PART.findall(text[:MAX_CHARS])
    if len(words) < PASSAGE_WORDS:
        return np.empty(0, np.uint64), len(words)
    codes = np.array([zlib.crc32(word.encode("utf-8", "surrogatepass")) for word in words], np.uint64)
    count = len(codes) - PASSAGE_WORDS + 1
    made = np.zeros(count, np.uint64)
    for place in range(PASSAGE_WORDS):
        made = made + codes[place : place + count] * _FACTORS[place]
    # Mixes high bits into the low ones, which select the sample below.
    made ^= made >> np.uint64(29)
    return made[made % np.uint64(_SAMPLING) == 0], len(words)
