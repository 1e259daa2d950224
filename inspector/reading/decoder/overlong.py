"""Lines, and elements of an array, of more than 128 MB: no frame is that long, and one whole would take as much memory.

RULE: such a line or element is one unreadable message. Of its bytes only the head is read, to say what it is, and the
head stands for it in exports; Raw shows its ends, and saving it writes all of it.
"""

from __future__ import annotations

from inspector.reading.decoder.block_reader import BlockReader
from inspector.store.columns.block import Block
from inspector.store.columns.flags import Flag
from inspector.store.files.source_files import SourceFile

_HEAD = 1 << 12
_MOST = (1 << 32) - 1  # what the column of lengths can hold


def read_overlong(source: SourceFile, place: int, start: int, stop: int, before: bytes = b"") -> Block:
    """A block of the lines before it and of one overlong line.

    Args:
        source: the file.
        place: its number in the capture.
        start, stop: where the line lies, its end included where it has one.
        before: whole lines that lie right before it.
    """
    head = source.read(start, _HEAD)
    block = BlockReader(place, source.reading).read(before + head, start - len(before))
    if len(block) and int(block.columns["offset"][-1]) == start:
        _call_unreadable(block, stop - start - (source.read(stop - 1, 1) == b"\n"))
    block.stop = stop
    return block


def read_element(place: int, head: bytes, start: int, stop: int) -> Block:
    """A block of one overlong element of an array.

    Args:
        place: its file's number in the capture.
        head: its first bytes.
        start, stop: where it lies.
    """
    block = BlockReader(place).read_spans(head, [(0, len(head))], start)
    if len(block):
        _call_unreadable(block, stop - start)
    block.stop = stop
    return block


def _call_unreadable(block: Block, length: int) -> None:
    """Have the last record of a block be an unreadable one of so many bytes."""
    columns = block.columns
    columns["part"][-1] = 0
    columns["length"][-1] = columns["size"][-1] = min(length, _MOST)
    if not columns["flags"][-1] & Flag.UNREADABLE:
        columns["flags"][-1] = int(Flag.UNREADABLE)
