"""Stores one text per number in a few bytes beyond its length; a str object takes sixty more."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from itertools import accumulate, chain
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

_WRITE_BATCH = 1024  # texts buffered before a write
_MAX_NARROW_BYTES = 1 << 32


class TextColumn(Sequence[str]):
    """Texts by number, "" for none, joined in UTF-8; texts that replace earlier ones are stored in a dict.

    New texts are buffered and written in batches, which takes a fifth of the time of single writes.
    """

    def __init__(self) -> None:
        self._data = bytearray()
        self._ends = array("I")
        self._waiting: list[str] = []
        self._replaced: dict[int, str] = {}

    def __len__(self) -> int:
        return len(self._ends) + len(self._waiting)

    def __iter__(self) -> Iterator[str]:
        return map(self.__getitem__, range(len(self)))

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        written = len(self._ends)
        if index < 0:
            index += written + len(self._waiting)
        if index >= written:
            return self._waiting[index - written]
        if index in self._replaced:
            return self._replaced[index]
        start = self._ends[index - 1] if index else 0
        return self._data[start : self._ends[index]].decode("utf-8", "surrogatepass")

    def __setitem__(self, place: int, text: str) -> None:
        written = len(self._ends)
        if place >= written:
            self._waiting[place - written] = text
        else:
            # In place it would move all later texts.
            self._replaced[place] = text

    def append(self, text: str) -> None:
        self._waiting.append(text)
        if len(self._waiting) >= _WRITE_BATCH:
            self._write()

    def written(self) -> tuple[bytes, NDArray[np.int64]]:
        """Returns all texts joined in UTF-8, and (n,) their ends."""
        self._write()
        if self._replaced:
            plain = TextColumn()
            # A copy without replaced texts has all of them in the joined data.
            plain._waiting = [*self]
            return plain.written()
        return bytes(self._data), np.array(self._ends, np.int64)

    def with_prefix(self, start: str, first: int = 0) -> NDArray[np.bool_]:
        """Returns flags of texts that begin with `start`, from number `first` on; one per text."""
        self._write()
        before = self._ends[first - 1] if first else 0
        ends = np.array(self._ends[first:], np.int64) - before
        begins = np.concatenate(([0], ends))[:-1]
        wanted = start.encode("utf-8", "surrogatepass")
        found = ends - begins >= len(wanted)
        data = np.frombuffer(self._data[before:], np.uint8)
        for place, byte in enumerate(wanted):
            found[found] = data[begins[found] + place] == byte
        # Replaced texts are not in the joined data: check them one by one.
        for number in self._replaced if len(self._replaced) < len(found) else range(first, len(self)):
            if number >= first and number in self._replaced:
                found[number - first] = self._replaced[number].startswith(start)
        return found

    def _write(self) -> None:
        """Appends the buffered texts to the others."""
        written = [text.encode("utf-8", "surrogatepass") for text in self._waiting]
        ends = accumulate(chain((len(self._data),), map(len, written)))
        next(ends)
        self._data += b"".join(written)
        if len(self._data) >= _MAX_NARROW_BYTES and self._ends.typecode == "I":
            # 4 bytes per text are enough until all texts together exceed 4 GiB.
            self._ends = array("Q", self._ends)
        self._ends.extend(ends)
        self._waiting.clear()
