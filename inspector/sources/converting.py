"""Conversions of files to lines; that of a large file goes on in a process of its own.

What it decodes takes several times the file, of which Python gives back little as other things are made meanwhile, and
a window would share its interpreter with it.
"""

from __future__ import annotations

import gc
import os
import pickle
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from multiprocessing.connection import Connection
from typing import Protocol, runtime_checkable

from inspector.reading.workers.worker_process import HelperProcess

WORTHWHILE_BYTES = 4 << 20
"""A smaller file is converted before a process has started, which takes some 0.3 s."""
LEAST_BOUND_BYTES = 1 << 30
"""A file of any size may become so many bytes of lines."""
MOST_FOLD = 100
"""Of a larger file the lines may be so many times its bytes: logs that are packed well are a thirtieth of theirs."""
LEAST_BOUND_S = 120.0
"""A file of any size may take so long to convert."""
SLOWEST_BYTES_S = 1 << 19
"""A larger file may take a second more for so many bytes: the slowest conversion takes in twenty times as many."""
_NICE = 5
_LOOK_S = 0.03
"""So often it is asked whether anybody wants more, while nothing comes."""


class NotConvertedError(ValueError):
    """A file is read no further; the text says why, as a sentence's end."""


class Conversion(Protocol):
    """Makes lines of a file.

    Attributes:
        progress: bytes or records taken in, and of how many.
    """

    progress: tuple[int, int]

    def lines(self) -> Iterator[bytes]:
        """The lines, each with its end. Raises OSError and NotConvertedError."""
        ...


@runtime_checkable
class GrowingConversion(Conversion, Protocol):
    """One of a file that may gain records."""

    @property
    def goes_on(self) -> bool:
        """Whether all that lay in the file was given on, and what it gains can be."""
        ...

    def more(self, data: bytes) -> bytes:
        """The lines for the next bytes of the file, as far as its records are whole."""
        ...

    def end(self) -> bytes:
        """What is left of a record that is not whole, as a line: another file has taken the place of this one."""
        ...


_Told = tuple[tuple[int, int], bytes] | Conversion | OSError | NotConvertedError
"""Lines with how far it is; at the end the conversion as it is then, or why it went no further."""


def lines_of(conversion: Conversion, size: int) -> Generator[bytes]:
    """The lines of a conversion, as its own `lines`, with empty ones between; that of a large file goes on elsewhere.

    Args:
        conversion: used by nobody else meanwhile; afterwards it is as if it had made them here.
        size: bytes of the file.

    Raises:
        OSError: the file cannot be read.
        NotConvertedError: it can be converted no further.
    """
    helper = None
    if size >= WORTHWHILE_BYTES:
        try:
            helper = HelperProcess(_serve, conversion, size, name="convert a file", nice=_NICE)
        except OSError:  # no more processes to be had: it takes more memory
            helper = None
    if helper is None:
        yield from _bounded(conversion, size)
        return
    try:
        yield from _heard(conversion, helper, size)
    finally:
        helper.end()


def within_bounds(lines: Iterable[bytes], size: Callable[[], int]) -> Iterator[bytes]:
    """Lines as far as their bytes are in proportion to what they are made from.

    Args:
        lines: any.
        size: bytes of what has been taken in so far.

    Raises:
        NotConvertedError: they became too much.
    """
    made = 0
    for data in lines:
        made += len(data)
        if made > LEAST_BOUND_BYTES and made > MOST_FOLD * size():
            raise NotConvertedError("it becomes more bytes of lines than a file of its size can hold")
        yield data


def _bounded(conversion: Conversion, size: int) -> Iterator[bytes]:
    """The lines of a conversion as far as bytes and time in proportion to its file allow.

    Raises:
        OSError: the file cannot be read.
        NotConvertedError: it can be converted no further, or became too much.
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


def _heard(conversion: Conversion, helper: HelperProcess, size: int) -> Iterator[bytes]:
    while True:
        try:
            data = helper.receive() if helper.connection.poll(_LOOK_S) else None
        except (EOFError, OSError):
            if helper.ready:
                raise NotConvertedError("the process that converts it has ended") from None
            yield from _bounded(conversion, size)  # it could not be started
            return
        told: _Told = pickle.loads(data) if data is not None else (conversion.progress, b"")
        if isinstance(told, Exception):
            raise told
        if not isinstance(told, tuple):
            vars(conversion).update(vars(told))
            return
        conversion.progress, lines = told
        yield lines


def _serve(connection: Connection, conversion: Conversion, size: int) -> None:
    """The process: lines, until they end or nobody hears them."""
    gc.disable()  # its work makes none
    try:
        connection.send_bytes(b"")
        for told in _told(conversion, size):
            connection.send_bytes(pickle.dumps(told, protocol=5))
    except OSError:
        os._exit(0)


def _told(conversion: Conversion, size: int) -> Iterator[_Told]:
    try:
        for data in _bounded(conversion, size):
            yield conversion.progress, data
    except (OSError, NotConvertedError) as error:
        yield error
    else:
        yield conversion
