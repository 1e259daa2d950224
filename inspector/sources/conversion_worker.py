"""Converts files to lines, large ones in a worker process.

Decoding takes several times the file's memory, most of it never returned by Python. A worker also keeps the interpreter
free for the window.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Iterator

from inspector.base.workers.pool import WorkerDiedError, WorkerPool
from inspector.base.workers.serving import plain
from inspector.formats import registry
from inspector.formats.file_conversion import LEAST_BOUND_BYTES, MOST_FOLD, Conversion, NotConvertedError

WORTHWHILE_BYTES = 4 << 20
"""File size in bytes from which a worker is used; starting one takes about 0.3 s."""
LEAST_BOUND_S = 120.0
"""Seconds that the conversion of any file may take."""
SLOWEST_BYTES_S = 1 << 19
"""Bytes per additional second for larger files; the slowest conversion is 20 times as fast."""
_NICENESS = 5
_LOOK_S = 0.03
"""Seconds between two checks for cancellation while there is no output."""
_PIECE_BYTES = 1 << 18
"""Lines that a worker sends together: each message costs both sides a switch of threads."""


def lines_of(conversion: Conversion, size: int) -> Generator[bytes]:
    """Yields the lines of a conversion, with empty ones as pauses; converts a large file in a worker.

    Args:
        conversion: not used by others meanwhile; its final state is as if it had run in this process.
        size: bytes of the file.

    Raises:
        OSError: the file cannot be read.
        NotConvertedError: the conversion stops.
    """
    if size < WORTHWHILE_BYTES:
        yield from _bounded_lines(conversion, size)
        return
    pool = WorkerPool[object](plain, _converted, name="convert a file", nice=_NICENESS, carried=registry.CARRIED)
    try:
        for told in pool.stream((conversion, size), _LOOK_S):
            if told is None:
                yield b""
            elif isinstance(told, tuple):
                conversion.progress, lines = told
                yield lines
            else:
                vars(conversion).update(vars(told))
    except WorkerDiedError as error:
        if error.was_ready:
            raise NotConvertedError("the process that converts it has ended") from None
        yield from _bounded_lines(conversion, size)  # no more processes: convert here, with more memory
    finally:
        pool.end()


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


def _converted(request: tuple[Conversion, int]) -> Iterator[tuple[tuple[int, int], bytes] | Conversion]:
    """Yields lines with progress, at the end the final state of the conversion."""
    conversion, size = request
    pending: list[bytes] = []
    gathered, sent_s = 0, time.monotonic()
    try:
        for data in _bounded_lines(conversion, size):
            pending.append(data)
            gathered += len(data)
            if gathered >= _PIECE_BYTES or time.monotonic() - sent_s > _LOOK_S:
                yield conversion.progress, b"".join(pending)
                pending.clear()
                gathered, sent_s = 0, time.monotonic()
    except Exception:
        yield conversion.progress, b"".join(pending)  # lines before an error stay readable
        raise
    yield conversion.progress, b"".join(pending)
    yield conversion
