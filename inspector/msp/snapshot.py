"""The files of a document as they are at one moment, to be written in another thread while it is edited on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from inspector.base.collector import no_collection
from inspector.msp.files import MspFile

_BOXES = frozenset((dict, list))
"""What a decoded value lies in."""


class Snapshot:
    """Copies of files, which no edit reaches; what becomes of them is taken over by `settle`.

    Attributes:
        files: of what there is.
        gone: of what is to be taken from the disk.
    """

    def __init__(self, files: Sequence[MspFile], gone: Sequence[MspFile] = ()) -> None:
        """Copy them. O(messages)."""
        with no_collection():
            self.files = [replace(file, value=_copied(file.value)) for file in files]
        self.gone = [replace(file) for file in gone]
        self._pairs = list(zip((*files, *gone), (*self.files, *self.gone), strict=True))

    @property
    def wrote_any(self) -> bool:
        """Whether what is on the disk is another one now."""
        return any(copy.digest != file.digest for file, copy in self._pairs)

    def settle(self) -> None:
        """Let the files know where and how they are on the disk now. In the thread of the edits."""
        for file, copy in self._pairs:
            file.path, file.stamp = copy.path, copy.stamp
            file.digest, file.compressed = copy.digest, copy.compressed


def _copied(value: Any) -> Any:
    """A decoded value with boxes of its own, however deep they lie in each other."""
    if type(value) not in _BOXES:
        return value
    whole = value.copy()
    waiting: list[Any] = [whole]
    while waiting:
        box = waiting.pop()
        for place, item in cast(Any, box.items() if type(box) is dict else enumerate(box)):
            if type(item) in _BOXES:
                box[place] = inner = item.copy()
                if not _BOXES.isdisjoint(map(type, inner.values() if type(inner) is dict else inner)):
                    waiting.append(inner)
    return whole
