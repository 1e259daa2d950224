"""Reads lines and array elements above 128 MB by their head, as one unreadable message each.

RULE: such a line or element is one unreadable message. No real frame is that long, and a whole one would take as much
memory. Only the head is read, to describe it, and exports use the head in its place. Raw shows both ends, and saving
writes all of it.
"""

from __future__ import annotations

from inspector.reading.decoder.block_reader import BlockReader
from inspector.store.columns.block import Block
from inspector.store.columns.flags import Flag
from inspector.store.files.source_files import SourceFile

_HEAD_BYTES = 1 << 12
_MAX_LENGTH = (1 << 32) - 1  # limit of the column of lengths


def read_overlong(source: SourceFile, place: int, start: int, stop: int, before: bytes = b"") -> Block:
    """Returns a block of an overlong line and the lines before it.

    Args:
        source: the file.
        place: its number in the capture.
        start, stop: span of the line, with its line end if there is one.
        before: whole lines directly before it.
    """
    head = source.read(start, _HEAD_BYTES)
    block = BlockReader(place, source.chosen_format).read_lines(before + head, start - len(before))
    if len(block) and int(block.columns["offset"][-1]) == start:
        _mark_unreadable(block, stop - start - (source.read(stop - 1, 1) == b"\n"))
    block.stop = stop
    return block


def read_element(place: int, head: bytes, start: int, stop: int) -> Block:
    """Returns a block of one overlong array element.

    Args:
        place: its file's number in the capture.
        head: its first bytes.
        start, stop: its span.
    """
    block = BlockReader(place).read_spans(head, [(0, len(head))], start)
    if len(block):
        _mark_unreadable(block, stop - start)
    block.stop = stop
    return block


def _mark_unreadable(block: Block, length: int) -> None:
    """Turns a block's last record into an unreadable one of the given length."""
    columns = block.columns
    columns["part"][-1] = 0
    columns["length"][-1] = columns["size"][-1] = min(length, _MAX_LENGTH)
    if not columns["flags"][-1] & Flag.UNREADABLE:
        columns["flags"][-1] = int(Flag.UNREADABLE)
