"""Processes that read parts of a file: each takes a stretch and gives back its block of columns.

The process that shows things only takes the blocks in. A reader works for one file.
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

from inspector.base.gc_control import hold_what_is_freed, no_collection
from inspector.reading.decoder import overlong
from inspector.reading.decoder.block_reader import BlockReader
from inspector.reading.decoder.line_splitter import RUN_LINES
from inspector.reading.reassembly.joined_lines import JoinedLines
from inspector.reading.reassembly.reassembler import Wires
from inspector.reading.workers.worker_process import HelperProcess
from inspector.store.columns import hashes
from inspector.store.columns.block import Block
from inspector.store.files import long_lines
from inspector.store.files.source_files import SourceFile

_NICE = 5
"""Readers stand back for the window."""
_LOOKED_AT = 1 << 16
"""Bytes by which the length of lines is told."""


def read_part(source: SourceFile, place: int, start: int, stop: int) -> Block:
    """Read the lines that begin at `start` or later and before `stop`, as far as they have an end.

    Adjoining parts thus hold every line once, wherever they were cut.

    Args:
        source: the file.
        place: its number in the capture.
        start, stop: offsets in bytes.

    Returns:
        The block; its `stop` is the end of its last line, 0 where no line begins in the part.
    """
    begin = long_lines.end_within(source, start - 1, stop - 1) if start else 0
    if begin is None:
        return _nothing(place)
    # Read with the end of its last line: joining it would copy all of it.
    end = long_lines.end_within(source, stop - 1, begin + long_lines.MAX_LINE) or stop
    if source.read(end - 1, 1) == b"\n":
        return BlockReader(place, source.reading).read_pieces(_pieces(source, begin, end), end)
    data = source.read(begin, end - begin)
    if not data.endswith(b"\n"):
        data = _with_its_end(source, begin, data)
        if data and not data.endswith(b"\n"):
            return _with_overlong(source, place, begin, data)
    if not data:
        return _nothing(place)
    return BlockReader(place, source.reading).read(data, begin)


def _pieces(source: SourceFile, start: int, stop: int) -> Iterator[tuple[bytes, int]]:
    """Whole lines, about so many at a time as are decoded together, each piece with its offset.

    Nothing more comes where the file has become shorter.
    """
    beginning = source.read(start, min(_LOOKED_AT, stop - start))
    size = max(_LOOKED_AT, RUN_LINES * len(beginning) // max(1, beginning.count(b"\n")))
    while start < stop:
        data = source.read(start, min(size, stop - start))
        end = data.rfind(b"\n") + 1
        if end:
            yield data[:end], start
        elif len(data) < size:
            return
        else:
            size *= 4
        start += end


def _with_overlong(source: SourceFile, place: int, offset: int, data: bytes) -> Block:
    """The block of lines the last of which is longer than may be read."""
    whole = data[: data.rfind(b"\n") + 1]
    stop = long_lines.end_of_line(source, offset + len(data))
    if stop is None:
        return BlockReader(place, source.reading).read(whole, offset)
    return overlong.read_overlong(source, place, offset + len(whole), stop, whole)


def _nothing(place: int) -> Block:
    return BlockReader(place).read(b"", 0)


def _with_its_end(source: SourceFile, offset: int, data: bytes) -> bytes:
    """The bytes up to the end of the last line that begins in them; without that line when it has none.

    Of a line that goes on for more than MAX_LINE it is the beginning, without an end.
    """
    begin = data.rfind(b"\n") + 1
    stop = long_lines.end_within(source, offset + len(data), offset + begin + long_lines.MAX_LINE)
    if stop is None:
        return data
    rest = source.read(offset + len(data), stop - offset - len(data))
    return data + rest if rest.endswith(b"\n") else data[:begin]


class PartReader(HelperProcess):
    """One reading process.

    Attributes:
        pending: numbers of the parts it was given and has not brought back.
    """

    def __init__(self, source: SourceFile, place: int, *, in_order: bool = False) -> None:
        """Start the process; returns before it is ready.

        Args:
            source: what it reads; a process that finds another file at that path by now ends.
            place: the source's number in the capture.
            in_order: parts whose lines may have to be seen in order it does not read, and says so (`Block.in_order`).

        Raises:
            OSError: the system gives no process.
        """
        path, identity = str(source.data_path), source.identity
        how = place, source.reading, in_order
        super().__init__(_serve, path, identity, how, hashes.seed(), name="read a part of a log", nice=_NICE)
        self.pending: deque[int] = deque()

    def give(self, number: int, start: int, stop: int) -> None:
        """Ask for a part."""
        self.pending.append(number)
        self.connection.send((start, stop))

    def take(self) -> tuple[int, bytes] | None:
        """What has come: a part's number and its block as it was sent (`block_of`); None for the word that it is ready.

        Raises:
            EOFError: the process has ended, or could not read the file.
        """
        data = self.receive()
        return None if data is None else (self.pending.popleft(), data)

    def take_ready(self) -> Block | None:
        """The block that comes next, when it is there. Raises EOFError as `take`."""
        while self.connection.poll(0):
            found = self.take()
            if found is not None:
                return block_of(found[1])
        return None


def block_of(data: bytes) -> Block:
    """A block as a reading process sent it. Best when it is taken in: the objects of many are spread over memory."""
    with no_collection():
        block: Block = pickle.loads(data)
    return block


def _serve(
    connection: Connection, path: str, identity: tuple[int, int], how: tuple[int, str | None, bool], seed: int
) -> None:  # fmt: skip
    """A reading process: parts in, blocks out, until the pipe ends."""
    hashes.adopt_seed(seed)
    gc.disable()  # its work makes none
    _held = hold_what_is_freed()
    outgoing: SimpleQueue[bytes] = SimpleQueue()
    room = threading.Semaphore(_BLOCKS_WAITING)
    threading.Thread(target=_send, args=(connection, outgoing, room), daemon=True).start()
    try:
        source = SourceFile(Path(path))
        place, source.reading, in_order = how
        wires = Wires(JoinedLines(source.name)) if in_order else None
        if source.identity != identity:
            return
        outgoing.put(b"")
        while True:
            start, stop = connection.recv()
            if wires is not None and wires.may_matter(source.read(start, stop - start)):
                block = _nothing(place)
                block.in_order = True
            else:
                block = read_part(source, place, start, stop)
            room.acquire()
            outgoing.put(pickle.dumps(block, protocol=5))
    except (EOFError, OSError):  # the program has ended, or the file is gone: either way the pipe tells the other side
        os._exit(0)


_BLOCKS_WAITING = 3
"""Blocks a process reads ahead of being heard."""


def _send(connection: Connection, outgoing: SimpleQueue[bytes], room: threading.Semaphore) -> None:
    """Send while the next part is being read: a pipe holds only a small piece of a block."""
    try:
        while True:
            data = outgoing.get()
            connection.send_bytes(data)
            if data:
                room.release()
    except OSError:
        os._exit(0)
