"""Worker processes that read parts of a file into blocks of columns.

The main process only appends the blocks. A worker reads one file.
"""

from __future__ import annotations

import gc
import os
import pickle
import threading
from collections import deque
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from queue import SimpleQueue

from inspector.base.gc_control import keep_freed_memory, no_collection
from inspector.formats import guards, registry
from inspector.reading.decoder import overlong_lines
from inspector.reading.decoder.block_reader import BlockReader
from inspector.reading.decoder.line_splitter import RUN_LINES
from inspector.reading.reassembly.derived_lines import DerivedLineSpool
from inspector.reading.reassembly.reassembler import Reassembler
from inspector.reading.workers.worker_process import WorkerProcess
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


class PartReader(WorkerProcess):
    """One reading process.

    Attributes:
        pending: numbers of the parts in flight.
    """

    def __init__(self, source: SourceFile, place: int, *, in_order: bool = False) -> None:
        """Starts the process; returns before it is ready.

        Args:
            source: the file; the process ends if the path names another file by now.
            place: the source's number in the capture.
            in_order: skip parts with lines that may depend on order, and report them (`Block.in_order`).

        Raises:
            OSError: if the system cannot start a process.
        """
        path, identity = str(source.data_path), source.identity
        how = place, source.chosen_format, in_order
        super().__init__(_serve, path, identity, how, hashes.run_seed(), name="read a part of a log", nice=_NICENESS)
        self.pending: deque[int] = deque()

    def request_part(self, number: int, start: int, stop: int) -> None:
        self.pending.append(number)
        self.connection.send((start, stop, registry.recipes()))

    def receive_part(self) -> tuple[int, bytes] | None:
        """Receives a part's number and its encoded block (`block_of`); None for the ready message.

        Raises:
            EOFError: if the process has ended, or could not read the file.
        """
        data = self.receive()
        return None if data is None else (self.pending.popleft(), data)

    def receive_ready(self) -> Block | None:
        """Returns the next block if it has arrived. Raises EOFError as `take`."""
        while self.connection.poll(0):
            found = self.receive_part()
            if found is not None:
                return decode_block(found[1])
        return None


def decode_block(data: bytes) -> Block:
    """Decodes a block from a worker. Decode late: the objects of many blocks fragment memory."""
    with no_collection():
        block: Block = pickle.loads(data)
    guards.note_trips(block.trips)
    return block


def _serve(
    connection: Connection, path: str, identity: tuple[int, int], how: tuple[int, str | None, bool], seed: int
) -> None:  # fmt: skip
    """Main loop of a reading process: parts in, blocks out, until the pipe ends."""
    hashes.set_seed(seed)
    gc.disable()  # its work creates no cycles
    _held = keep_freed_memory()
    outgoing: SimpleQueue[bytes] = SimpleQueue()
    room = threading.Semaphore(_BLOCKS_WAITING)
    threading.Thread(target=_send_blocks, args=(connection, outgoing, room), daemon=True).start()
    try:
        source = SourceFile(Path(path))
        place, source.chosen_format, in_order = how
        reassembler = Reassembler(DerivedLineSpool(source.name)) if in_order else None
        if source.identity != identity:
            return
        outgoing.put(b"")
        while True:
            start, stop, recipes = connection.recv()
            registry.restore(recipes)
            if reassembler is not None and reassembler.is_relevant(source.read(start, stop - start)):
                block = _empty_block(place)
                block.in_order = True
            else:
                block = read_part(source, place, start, stop)
            block.trips = guards.trips()
            room.acquire()
            outgoing.put(pickle.dumps(block, protocol=5))
    # the program has ended, or the file has disappeared; the pipe's end informs the other side
    except (EOFError, OSError):
        os._exit(0)


_BLOCKS_WAITING = 3
"""Blocks that a process prepares ahead of the receiver."""


def _send_blocks(connection: Connection, outgoing: SimpleQueue[bytes], room: threading.Semaphore) -> None:
    """Sends blocks while the next part is being read: a pipe buffers only a small piece of a block."""
    try:
        while True:
            data = outgoing.get()
            connection.send_bytes(data)
            if data:
                room.release()
    except OSError:
        os._exit(0)
