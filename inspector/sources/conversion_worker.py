"""Converts files to lines, large ones in a worker process.

Decoding takes several times the file's memory, most of it never returned by Python. A worker also keeps the interpreter
free for the window.
"""

from __future__ import annotations

import gc
import os
import pickle
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from multiprocessing.connection import Connection

from inspector.formats.file_conversion import LEAST_BOUND_BYTES, MOST_FOLD, Conversion, NotConvertedError
from inspector.reading.workers.worker_process import WorkerProcess

WORTHWHILE_BYTES = 4 << 20
"""File size in bytes from which a worker is used; starting one takes about 0.3 s."""
LEAST_BOUND_S = 120.0
"""Seconds that the conversion of any file may take."""
SLOWEST_BYTES_S = 1 << 19
"""Bytes per additional second for larger files; the slowest conversion is 20 times as fast."""
_NICENESS = 5
_LOOK_S = 0.03
"""Seconds between two checks for cancellation while there is no output."""


_WorkerMessage = tuple[tuple[int, int], bytes] | Conversion | OSError | NotConvertedError
"""Lines with progress; at the end the final state of the conversion, or its error."""


def lines_of(conversion: Conversion, size: int) -> Generator[bytes]:
    """Yields the lines of a conversion, with empty ones as pauses; converts a large file in a worker.

    Args:
        conversion: not used by others meanwhile; its final state is as if it had run in this process.
        size: bytes of the file.

    Raises:
        OSError: the file cannot be read.
        NotConvertedError: the conversion stops.
    """
    helper = None
    if size >= WORTHWHILE_BYTES:
        try:
            helper = WorkerProcess(_serve, conversion, size, name="convert a file", nice=_NICENESS)
        except OSError:  # no more processes: convert here, with more memory
            helper = None
    if helper is None:
        yield from _bounded_lines(conversion, size)
        return
    try:
        yield from _received_lines(conversion, helper, size)
    finally:
        helper.end_process()


def within_bounds(lines: Iterable[bytes], size: Callable[[], int]) -> Iterator[bytes]:
    """Passes lines on while their size is in proportion to their input.

    Args:
        lines: the lines.
        size: returns the number of input bytes so far.

    Raises:
        NotConvertedError: the output is too large.
    """
    made = 0
    for data in lines:
        made += len(data)
        if made > LEAST_BOUND_BYTES and made > MOST_FOLD * size():
            raise NotConvertedError("it becomes more bytes of lines than a file of its size can hold")
        yield data


def _bounded_lines(conversion: Conversion, size: int) -> Iterator[bytes]:
    """Yields the lines of a conversion within limits of size and time for its file.

    Raises:
        OSError: the file cannot be read.
        NotConvertedError: the conversion stops, or exceeds a limit.
    """
    left_s = LEAST_BOUND_S + size / SLOWEST_BYTES_S
    lines = within_bounds(conversion.lines(), lambda: size)
    while True:
        began = time.monotonic()
        try:
            data = next(lines, None)
        except UnicodeError:
            raise NotConvertedError("a name in it is not UTF-8") from None
        if data is None:
            return
        left_s -= time.monotonic() - began
        if left_s < 0:
            raise NotConvertedError("it takes longer than a file of its size can need")
        yield data


def _received_lines(conversion: Conversion, helper: WorkerProcess, size: int) -> Iterator[bytes]:
    while True:
        try:
            data = helper.receive() if helper.connection.poll(_LOOK_S) else None
        except (EOFError, OSError):
            if helper.is_ready:
                raise NotConvertedError("the process that converts it has ended") from None
            yield from _bounded_lines(conversion, size)  # the worker could not be started
            return
        told: _WorkerMessage = pickle.loads(data) if data is not None else (conversion.progress, b"")
        if isinstance(told, Exception):
            raise told
        if not isinstance(told, tuple):
            vars(conversion).update(vars(told))
            return
        conversion.progress, lines = told
        yield lines


def _serve(connection: Connection, conversion: Conversion, size: int) -> None:
    """Worker process: sends lines until the end, or until the parent has gone."""
    gc.disable()  # its work creates no cycles
    try:
        connection.send_bytes(b"")
        for told in _worker_messages(conversion, size):
            connection.send_bytes(pickle.dumps(told, protocol=5))
    except OSError:
        os._exit(0)


def _worker_messages(conversion: Conversion, size: int) -> Iterator[_WorkerMessage]:
    try:
        for data in _bounded_lines(conversion, size):
            yield conversion.progress, data
    except (OSError, NotConvertedError) as error:
        yield error
    else:
        yield conversion
