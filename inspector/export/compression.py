"""Files whose names end in .gz or .zst are written compressed, as whoever reads that name expects."""

from __future__ import annotations

import contextlib
import gzip
from collections.abc import Generator
from typing import BinaryIO, cast

import zstandard

ENDINGS = (".gz", ".zst")
"""Endings of names that ask for it."""


def without_ending(name: str) -> str:
    """A file's name without the ending that asks for compression."""
    return next((name[: -len(ending)] for ending in ENDINGS if name.lower().endswith(ending)), name)


@contextlib.contextmanager
def compressing(file: BinaryIO, name: str) -> Generator[BinaryIO]:
    """What to write into so that a file holds what its name says; plain bytes where that is no archive.

    Args:
        file: open, and still so afterwards.
        name: of the file.
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
    file.flush()  # what does not fit on the disk is said here, not when the file is closed
