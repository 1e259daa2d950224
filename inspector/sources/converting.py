"""Conversions of files to lines; that of a large file goes on in a process of its own.

What it decodes takes several times the file, of which Python gives back little as other things are made meanwhile, and
a window would share its interpreter with it.
"""

from __future__ import annotations

import gc
import os
import pickle
from collections.abc import Generator, Iterator
from multiprocessing.connection import Connection
from typing import Protocol, runtime_checkable

from inspector.capture.helper import HelperProcess

WORTHWHILE_BYTES = 4 << 20
"""A smaller file is converted before a process has started, which takes some 0.3 s."""
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
            helper = HelperProcess(_serve, conversion, name="convert a file", nice=_NICE)
        except OSError:  # no more processes to be had: it takes more memory
            helper = None
    if helper is None:
        yield from conversion.lines()
        return
    try:
        yield from _heard(conversion, helper)
    finally:
        helper.end()


def _heard(conversion: Conversion, helper: HelperProcess) -> Iterator[bytes]:
    while True:
        try:
            data = helper.receive() if helper.connection.poll(_LOOK_S) else None
        except (EOFError, OSError):
            if helper.ready:
                raise NotConvertedError("the process that converts it has ended") from None
            yield from conversion.lines()  # it could not be started
            return
        told: _Told = pickle.loads(data) if data is not None else (conversion.progress, b"")
        if isinstance(told, Exception):
            raise told
        if not isinstance(told, tuple):
            vars(conversion).update(vars(told))
            return
        conversion.progress, lines = told
        yield lines


def _serve(connection: Connection, conversion: Conversion) -> None:
    """The process: lines, until they end or nobody hears them."""
    gc.disable()  # its work makes none
    try:
        connection.send_bytes(b"")
        for told in _told(conversion):
            connection.send_bytes(pickle.dumps(told, protocol=5))
    except OSError:
        os._exit(0)


def _told(conversion: Conversion) -> Iterator[_Told]:
    try:
        for data in conversion.lines():
            yield conversion.progress, data
    except (OSError, NotConvertedError) as error:
        yield error
    else:
        yield conversion
