"""A text for each node of a tree, in twelve bytes beside its own: as an object each takes sixty more."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any, overload


class NodeTexts(Sequence[str]):
    """Texts by number, "" for none, in UTF-8 one behind another. What stood in the place of another stays, unread."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._starts = array("Q")
        self._lengths = array("I")

    def __len__(self) -> int:
        return len(self._starts)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        start = self._starts[index]
        return self._data[start : start + self._lengths[index]].decode("utf-8", "surrogatepass")

    def __setitem__(self, place: int, text: str) -> None:
        written = text.encode("utf-8", "surrogatepass")
        self._starts[place] = len(self._data)
        self._lengths[place] = len(written)
        self._data += written

    def append(self, text: str) -> None:
        """Add a text."""
        written = text.encode("utf-8", "surrogatepass")
        self._starts.append(len(self._data))
        self._lengths.append(len(written))
        self._data += written
