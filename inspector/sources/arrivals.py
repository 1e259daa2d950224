"""When the bytes of a connection arrived, however late the loop that reads them gets its turn.

A window that paints reads its socket some 10 ms late, at times 100, and a thread of the same program waits for the
same interpreter. So a process of its own looks at the socket beside us (Linux): it notes when how many bytes had
arrived, and takes none of them. Everywhere else, and until that process has started, bytes arrive when they are read.

Times are nanoseconds since the Unix epoch, as the system's clock had them on arrival.
"""

from __future__ import annotations

import array
import contextlib
import gc
import logging
import os
import select
import socket
import ssl
import struct
import sys
import time
from collections import deque
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, cast

from typing_extensions import override

from inspector.reading.workers.worker_process import HelperProcess

_log = logging.getLogger(__name__)

PAUSE_S = 0.0003
"""The process looks no more often: stamps are coarser by this much, and a flood costs a tenth of a core at most."""

_NOTE = struct.Struct("=QQ")  # bytes of the connection so far, when
_READ_BYTES = 4096 * _NOTE.size  # what a pipe of Linux holds
_BYTES_RECEIVED = struct.Struct("=Q")
_BYTES_RECEIVED_AT = 128  # in Linux's struct tcp_info, since 4.1
_TCP_INFO_BYTES = 256
_SO_TIMESTAMPNS = 35  # Linux, everywhere but on PA-RISC and SPARC; Python has no name for it
_TIMESPEC = struct.Struct("@ll")


class ArrivalObserver(HelperProcess):
    """A process that notes when bytes arrive at sockets of ours. Ends with us, or by ``end``."""

    def __init__(self) -> None:
        """Start it; what arrives until it is ready is taken to arrive when it is read.

        Raises:
            OSError: The system gives no process.
        """
        super().__init__(_observe, name="arrivals")

    def watch(self, connected: socket.socket) -> int:
        """Have a connected socket looked at; ``connection_lost`` should shut it down, as the process has it open too.

        Returns:
            The end of a pipe from which notes are read; whoever closes it ends the looking.

        Raises:
            OSError: The process has ended, or there are too many files.
        """
        reading, writing = os.pipe()
        try:
            os.set_blocking(reading, False)
            os.set_blocking(writing, False)
            with socket.fromfd(self.connection.fileno(), socket.AF_UNIX, socket.SOCK_STREAM) as way:
                socket.send_fds(way, [b"+"], [connected.fileno(), writing])
        except OSError:
            os.close(reading)
            raise
        finally:
            os.close(writing)
        return reading


def start_observer() -> ArrivalObserver | None:
    """An observer, where the system lets one process look at another's sockets; None elsewhere."""
    if sys.platform != "linux":
        return None
    try:
        return ArrivalObserver()
    except OSError as error:
        _log.info("Arrival times are those of reading: %s.", error)
        return None


class Arrivals:
    """When which bytes of one connection arrived, by what was read of it and what an observer notes.

    Places are counted in bytes handed to us. Under TLS these are not the bytes that arrived, and a byte is there once
    its record is: `NotingTls` tells where records ended.
    """

    def __init__(self, clock_ns: Callable[[], int] = time.time_ns) -> None:
        """Know nothing but what is read, until ``observe``.

        Args:
            clock_ns: Nanoseconds since the Unix epoch.
        """
        self._clock_ns = clock_ns
        self._known: deque[tuple[int, int]] = deque()  # up to which place, when at the latest; both ascending
        self._place = 0  # read up to here
        self._arrived = 0  # and here, in bytes of the connection
        self._notes: deque[tuple[int, int]] = deque()  # of bytes not read yet
        self._socket: socket.socket | None = None
        self._pipe = -1
        self._tls: NotingTls | None = None

    def observe(
        self, observer: ArrivalObserver, connected: socket.socket, place: int, tls: NotingTls | None = None
    ) -> None:
        """Have the connection looked at from now on; stays with the times of reading where that cannot be.

        Args:
            observer: Who looks.
            connected: Ours, of a TCP connection.
            place: How many bytes were handed to us by now.
            tls: What they come through.
        """
        with contextlib.suppress(OSError):
            self._arrived = _bytes_taken(connected)
            self._pipe = observer.watch(connected)
            self._place, self._socket, self._tls = place, connected, tls
            if tls is not None:
                tls.records = []

    def end(self) -> None:
        """The connection is lost. What is known stays; may be called again."""
        if self._pipe >= 0:
            os.close(self._pipe)
            self._pipe = -1
        if self._socket is not None:
            # The process has it open as well: without this the other side would hear of the end when that one looks.
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)
            self._socket = None

    def read(self, place: int) -> None:
        """Bytes up to a place have just been read."""
        now_ns = self._clock_ns()
        if self._pipe >= 0:
            with contextlib.suppress(OSError):
                now_ns = self._take_notes(place, now_ns)
        self._add(place, now_ns)
        self._place = place

    def of(self, place: int) -> tuple[int, int]:
        """When the byte before a place had arrived, and up to which place that holds; asked in ascending order."""
        known = self._known
        while len(known) > 1 and known[0][0] < place:
            known.popleft()
        upto, time_ns = known[0] if known else (place, self._clock_ns())
        return time_ns, upto

    def _add(self, place: int, time_ns: int) -> None:
        if not self._known or place > self._known[-1][0]:
            self._known.append((place, time_ns))

    def _take_notes(self, place: int, now_ns: int) -> int:
        """Put what was noted of the bytes read now into `_known`; when the last of them had arrived at the latest."""
        assert self._socket is not None
        with contextlib.suppress(BlockingIOError):
            self._notes.extend(_NOTE.iter_unpack(os.read(self._pipe, _READ_BYTES)))
        at, records = self._place, deque[tuple[int, int]]()
        if self._tls is None:
            arrived = self._arrived + place - at
        else:
            arrived = _bytes_taken(self._socket)
            records.extend(self._tls.records or ())
            self._tls.records = []
        while self._notes and self._notes[0][0] <= arrived:
            upto, time_ns = self._notes.popleft()
            if self._tls is None:
                at = place - (arrived - upto)
            while records and arrived - records[0][1] <= upto:
                at += records.popleft()[0]
            self._add(at, time_ns)
        self._arrived = arrived
        return min(now_ns, self._notes[0][1]) if self._notes else now_ns


class NotingTls(ssl.SSLObject):
    """TLS that notes where records end, for ``SSLContext.sslobject_class``.

    Attributes:
        records: Of each record read: its bytes handed on, and how many bytes that came lie behind it. None: not noted.
    """

    records: list[tuple[int, int]] | None = None
    _incoming: ssl.MemoryBIO

    @classmethod
    def _create(cls, incoming: ssl.MemoryBIO, outgoing: ssl.MemoryBIO, **options: Any) -> NotingTls:
        made = cast("NotingTls", super()._create(incoming, outgoing, **options))  # type: ignore[misc]  # typeshed has none
        made._incoming = incoming
        return made

    @override
    def read(self, len: int = 1024, buffer: Any = None) -> Any:
        found = super().read(len, buffer)
        if self.records is not None and buffer is None:
            self.records.append((found.__len__(), self._incoming.pending))
        return found


def _bytes_received(connected: socket.socket) -> int:
    """How many bytes have arrived in order, read or not.

    Raises:
        OSError: It is no TCP connection, or the system is too old.
    """
    info = connected.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _TCP_INFO_BYTES)
    if len(info) < _BYTES_RECEIVED_AT + _BYTES_RECEIVED.size:
        raise OSError("the system does not count what arrives")
    return _BYTES_RECEIVED.unpack_from(info, _BYTES_RECEIVED_AT)[0]


def _bytes_taken(connected: socket.socket) -> int:
    """How many of them were read."""
    import fcntl  # not on Windows
    import termios

    waiting = array.array("i", [0])
    fcntl.ioctl(connected.fileno(), termios.FIONREAD, waiting)
    return _bytes_received(connected) - waiting[0]


# The process


def _observe(orders: Connection) -> None:
    """Look at the sockets that are sent, until the other end of `orders` is closed."""
    gc.disable()  # its work makes none
    way = socket.socket(fileno=os.dup(orders.fileno()))
    poll = select.epoll()
    poll.register(way, select.EPOLLIN)
    observed: dict[int, _Observed] = {}
    while True:
        for file, event in poll.poll():
            one = observed.get(file)
            if file == way.fileno():
                sent, files, _, _ = socket.recv_fds(way, 1, 2)
                if not sent:
                    return
                one = _Observed(*files)
                observed[one.file] = observed[one.pipe] = one
                # Told at each arrival, whether the last one was read meanwhile or not.
                poll.register(one.file, select.EPOLLIN | select.EPOLLRDHUP | select.EPOLLET)
                poll.register(one.pipe, 0)  # an error there is its other end closed
                one.note()
            elif one is not None and (file == one.pipe or event & (select.EPOLLHUP | select.EPOLLERR)):
                poll.unregister(one.file)
                poll.unregister(one.pipe)
                del observed[one.file], observed[one.pipe]
                one.close()
            elif one is not None:
                one.note()
        time.sleep(PAUSE_S)


class _Observed:
    """A socket that is looked at, and where notes about it go."""

    def __init__(self, file: int, pipe: int) -> None:
        self.file, self.pipe = file, pipe
        self._socket = socket.socket(fileno=file)
        self._socket.setblocking(False)
        self._noted = -1
        self._room = bytearray(1 << 23)  # never filled, so that it takes no memory
        with contextlib.suppress(OSError):
            self._socket.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)

    def note(self) -> None:
        """Note how much has arrived, if that is more than before."""
        with contextlib.suppress(OSError):  # the pipe is full: a later note says it a little less exactly
            count = _bytes_received(self._socket)
            time_ns = time.time_ns()
            if count > self._noted:
                os.write(self.pipe, _NOTE.pack(count, min(time_ns, self._newest_ns() or time_ns)))
                self._noted = count

    def _newest_ns(self) -> int | None:
        """When the last bytes came that nobody has read, by the system itself: what was counted came no later."""
        with contextlib.suppress(BlockingIOError):
            peek = socket.MSG_PEEK | socket.MSG_TRUNC
            _, facts, _, _ = self._socket.recvmsg_into([self._room], 64, peek)
            for level, kind, data in facts:
                if (level, kind) == (socket.SOL_SOCKET, _SO_TIMESTAMPNS) and len(data) == _TIMESPEC.size:
                    seconds, nanoseconds = _TIMESPEC.unpack(data)
                    return seconds * 1_000_000_000 + nanoseconds
        return None

    def close(self) -> None:
        self._socket.close()
        os.close(self.pipe)
