"""Worker processes that read parts of a file into blocks of columns.

The main process only appends the blocks. A worker reads one file.
"""

from __future__ import annotations

import errno
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from inspector.base.gc_control import keep_freed_memory, no_collection
from inspector.base.workers.pool import WorkerPool
from inspector.formats import guards, registry
from inspector.reading.decoder import overlong_lines
from inspector.reading.decoder.block_reader import BlockReader
from inspector.reading.decoder.line_splitter import RUN_LINES
from inspector.reading.reassembly.derived_lines import DerivedLineSpool
from inspector.reading.reassembly.reassembler import Reassembler
from inspector.store.columns import hashes
from inspector.store.columns.block import Block
from inspector.store.files import long_lines
from inspector.store.files.source_files import SourceFile

_NICENESS = 5
"""Niceness of readers, below the window."""
_PROBE_BYTES = 1 << 16
"""Bytes used to estimate the line length."""


def read_part(source: SourceFile, place: int, start: int, stop: int) -> Block:
    """Reads the lines that begin in [start, stop), except for an unterminated one.

    Adjacent parts contain every line once, wherever they were cut.

    Args:
        source: the file.
        place: its number in the capture.
        start, stop: offsets in bytes.

    Returns:
        The block; its `stop` is the end of its last line, 0 if no line begins in the part.
    """
    begin = long_lines.find_line_end_before(source, start - 1, stop - 1) if start else 0
    if begin is None:
        return _empty_block(place)
    # Read with the end of its last line: a later join would copy all of it.
    end = long_lines.find_line_end_before(source, stop - 1, begin + long_lines.MAX_LINE_BYTES) or stop
    if source.read(end - 1, 1) == b"\n":
        return BlockReader(place, source.chosen_format).read_pieces(_pieces(source, begin, end), end)
    data = source.read(begin, end - begin)
    if not data.endswith(b"\n"):
        data = _complete_last_line(source, begin, data)
        if data and not data.endswith(b"\n"):
            return _with_overlong(source, place, begin, data)
    if not data:
        return _empty_block(place)
    return BlockReader(place, source.chosen_format).read_lines(data, begin)


def _pieces(source: SourceFile, start: int, stop: int) -> Iterator[tuple[bytes, int]]:
    """Yields whole lines with their offset, about one decoding run at a time.

    Stops early if the file was truncated.
    """
    beginning = source.read(start, min(_PROBE_BYTES, stop - start))
    # Estimated from the first bytes, so that a piece has about as many lines as one decoding run.
    size = max(_PROBE_BYTES, RUN_LINES * len(beginning) // max(1, beginning.count(b"\n")))
    while start < stop:
        data = source.read(start, min(size, stop - start))
        end = data.rfind(b"\n") + 1
        if end:
            yield data[:end], start
        elif len(data) < size:
            return
        # A single line longer than the piece.
        else:
            size *= 4
        start += end


def _with_overlong(source: SourceFile, place: int, offset: int, data: bytes) -> Block:
    """Returns the block of lines with an overlong last one."""
    whole = data[: data.rfind(b"\n") + 1]
    stop = long_lines.find_line_end(source, offset + len(data))
    if stop is None:
        return BlockReader(place, source.chosen_format).read_lines(whole, offset)
    return overlong_lines.read_overlong(source, place, offset + len(whole), stop, whole)


def _empty_block(place: int) -> Block:
    return BlockReader(place).read_lines(b"", 0)


def _complete_last_line(source: SourceFile, offset: int, data: bytes) -> bytes:
    """Returns the bytes up to the end of their last line; without that line if it has no end.

    For a line above MAX_LINE it returns only the beginning, unterminated.
    """
    begin = data.rfind(b"\n") + 1
    stop = long_lines.find_line_end_before(source, offset + len(data), offset + begin + long_lines.MAX_LINE_BYTES)
    if stop is None:
        return data
    rest = source.read(offset + len(data), stop - offset - len(data))
    return data + rest if rest.endswith(b"\n") else data[:begin]


def part_pool(source: SourceFile, place: int, *, in_order: bool = False, **options: Any) -> WorkerPool[int]:
    """Returns a pool that reads parts, from (start, stop) to an encoded block for `decode_block`.

    Args:
        source: the file; no part is read if the path names another file by now.
        place: the source's number in the capture.
        in_order: skip parts with lines that may depend on order, and report them (`Block.in_order`).
        options: of the pool.
    """
    how = place, source.chosen_format, in_order
    return WorkerPool(
        _part_reader, str(source.data_path), source.identity, how, hashes.run_seed(), name="read parts of a log",
        nice=_NICENESS, carried=registry.CARRIED, **options,
    )  # fmt: skip


def decode_block(data: bytes) -> Block:
    """Decodes a block from a worker. Decode late: the objects of many blocks fragment memory."""
    with no_collection():
        block: Block = pickle.loads(data)
    guards.note_trips(block.trips)
    return block


def _part_reader(
    path: str, identity: tuple[int, int], how: tuple[int, str | None, bool], seed: int
) -> Callable[[tuple[int, int]], bytes]:
    """Prepares a reading process. Raises OSError if the file has disappeared or was replaced."""
    hashes.set_seed(seed)
    memory = keep_freed_memory()
    source = SourceFile(Path(path))
    place, source.chosen_format, in_order = how
    reassembler = Reassembler(DerivedLineSpool(source.name)) if in_order else None
    if source.identity != identity:
        raise FileNotFoundError(errno.ENOENT, "the file was replaced")

    def read_encoded(part: tuple[int, int], _memory: object = memory) -> bytes:
        start, stop = part
        if reassembler is not None and reassembler.is_relevant(source.read(start, stop - start)):
            block = _empty_block(place)
            block.in_order = True
        else:
            block = read_part(source, place, start, stop)
        block.trips = guards.trips()
        return pickle.dumps(block, protocol=5)

    return read_encoded
