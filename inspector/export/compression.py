"""Compresses export files by extension: .gz or .zst."""

from __future__ import annotations

import contextlib
import gzip
from collections.abc import Generator
from typing import BinaryIO, cast

import zstandard

ENDINGS = (".gz", ".zst")
"""File extensions of compressed files."""


def without_ending(name: str) -> str:
    """Removes a compression extension from a file name."""
    return next((name[: -len(ending)] for ending in ENDINGS if name.lower().endswith(ending)), name)


@contextlib.contextmanager
def compressing(file: BinaryIO, name: str) -> Generator[BinaryIO]:
    """Yields a stream that compresses by the extension of `name`, or the file itself.

    Args:
        file: open for writing; stays open.
        name: file name.
    """
    ending = name[len(without_ending(name)) :].lower()
    if ending == ".gz":
        with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:
            yield cast("BinaryIO", packed)
    elif ending == ".zst":
        with zstandard.ZstdCompressor().stream_writer(file, closefd=False) as packed:
            yield cast("BinaryIO", packed)
    else:
        yield file
    file.flush()  # a full disk raises here, not at close
