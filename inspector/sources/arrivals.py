"""Measures the arrival times of a connection's bytes, independent of the event loop's delays.

A window that paints reads its socket about 10 ms late, sometimes 100 ms. A thread of the same program would wait for
the same interpreter. So on Linux an observer process watches the socket. It notes times and byte counts and reads no
data. On other systems, and until the process has started, bytes arrive at the time they are read.

Times are nanoseconds since the Unix epoch, from the system's clock on arrival.
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

from inspector.reading.workers.worker_process import WorkerProcess

_log = logging.getLogger(__name__)

PAUSE_S = 0.0003
"""Seconds between two checks by the observer.

Time stamps are coarser by this much, and a flood of data costs at most a tenth of a core.
"""

_NOTE = struct.Struct("=QQ")  # total bytes received, time
_READ_BYTES = 4096 * _NOTE.size  # capacity of a Linux pipe
_BYTES_RECEIVED = struct.Struct("=Q")
_BYTES_RECEIVED_AT = 128  # offset in Linux's struct tcp_info, since 4.1
_TCP_INFO_BYTES = 256
_SO_TIMESTAMPNS = 35  # Linux, except PA-RISC and SPARC; Python has no name for it
_TIMESPEC = struct.Struct("@ll")


class ArrivalObserver(WorkerProcess):
    """Observer process that notes arrivals on our sockets. Ends with this process, or by ``end``."""

    def __init__(self) -> None:
        """Starts the process; until it is ready, bytes arrive when they are read.

        Raises:
            OSError: the system cannot start a process.
        """
        super().__init__(_run_observer, name="arrivals")

    def watch_socket(self, connected: socket.socket) -> int:
        """Watches a connected socket. ``connection_lost`` should shut the socket down, as the observer has it open too.

        Returns:
            The read end of a pipe with notes; closing it ends the watch.

        Raises:
            OSError: the process has ended, or there are too many files.
        """
        reading, writing = os.pipe()
        try:
            os.set_blocking(reading, False)
            # Neither side may ever wait for the other.
            os.set_blocking(writing, False)
            with socket.fromfd(self.connection.fileno(), socket.AF_UNIX, socket.SOCK_STREAM) as way:
                # The observer receives its own descriptors of the same socket and pipe.
                socket.send_fds(way, [b"+"], [connected.fileno(), writing])
        except OSError:
            os.close(reading)
            raise
        finally:
            os.close(writing)
        return reading


def start_observer() -> ArrivalObserver | None:
    """Returns an observer on systems where one process can watch another's sockets, else None."""
    if sys.platform != "linux":
        return None
    try:
        return ArrivalObserver()
    except OSError as error:
        _log.info("Arrival times are times of reading: %s.", error)
        return None


class Arrivals:
    """Arrival times of one connection's bytes, from reads and from an observer's notes.

    Places are counted in bytes handed to us. Under TLS they differ from the received bytes, and a byte arrives with its
    whole record. `NotingTls` records the ends of records.
    """

    def __init__(self, clock_ns: Callable[[], int] = time.time_ns) -> None:
        """Uses read times until ``observe``.

        Args:
            clock_ns: nanoseconds since the Unix epoch.
        """
        self._clock_ns = clock_ns
        self._known: deque[tuple[int, int]] = deque()  # (place, latest time) pairs, both ascending
        self._place = 0  # bytes read
        self._arrived = 0  # bytes read, as counted on the connection
        self._notes: deque[tuple[int, int]] = deque()  # notes about bytes not yet read
        self._socket: socket.socket | None = None
        self._pipe = -1
        self._tls: NotingTls | None = None

    def start_observing(
        self, observer: ArrivalObserver, connected: socket.socket, place: int, tls: NotingTls | None = None
    ) -> None:
        """Starts the observation; falls back to read times if it is impossible.

        Args:
            observer: the observer process.
            connected: our socket of a TCP connection.
            place: number of bytes handed to us so far.
            tls: the TLS layer, if any.
        """
        with contextlib.suppress(OSError):
            self._arrived = _bytes_taken(connected)
            self._pipe = observer.watch_socket(connected)
            self._place, self._socket, self._tls = place, connected, tls
            if tls is not None:
                tls.records = []

    def close(self) -> None:
        """Ends the observation of a lost connection. Known times remain; repeated calls are allowed."""
        if self._pipe >= 0:
            os.close(self._pipe)
            self._pipe = -1
        if self._socket is not None:
            # The observer has it open as well: without this, the peer would learn of the end only after its next check.
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)
            self._socket = None

    def on_read(self, place: int) -> None:
        """Records that bytes up to a place were just read."""
        now_ns = self._clock_ns()
        if self._pipe >= 0:
            with contextlib.suppress(OSError):
                now_ns = self._take_notes(place, now_ns)
        self._add(place, now_ns)
        self._place = place

    def arrival_of(self, place: int) -> tuple[int, int]:
        """Returns the arrival time of the byte before a place, and the end of its validity. Places must ascend."""
        known = self._known
        # Places ascend, so earlier times are never asked again.
        while len(known) > 1 and known[0][0] < place:
            known.popleft()
        upto, time_ns = known[0] if known else (place, self._clock_ns())
        return time_ns, upto

    def _add(self, place: int, time_ns: int) -> None:
        if not self._known or place > self._known[-1][0]:
            self._known.append((place, time_ns))

    def _take_notes(self, place: int, now_ns: int) -> int:
        """Adds notes about the bytes just read to `_known`; returns the latest arrival time of the last one."""
        assert self._socket is not None
        with contextlib.suppress(BlockingIOError):
            self._notes.extend(_NOTE.iter_unpack(os.read(self._pipe, _READ_BYTES)))
        at, records = self._place, deque[tuple[int, int]]()
        if self._tls is None:
            arrived = self._arrived + place - at
        else:
            # Under TLS, plain bytes and received bytes differ, so the kernel is asked.
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
    """TLS that records the ends of its records, for ``SSLContext.sslobject_class``.

    Attributes:
        records: per record read, its plain bytes and the received bytes behind it; None if not recorded.
    """

    records: list[tuple[int, int]] | None = None
    _incoming: ssl.MemoryBIO

    @classmethod
    def _create(cls, incoming: ssl.MemoryBIO, outgoing: ssl.MemoryBIO, **options: Any) -> NotingTls:
        made = cast("NotingTls", super()._create(incoming, outgoing, **options))  # type: ignore[misc] - typeshed has none
        made._incoming = incoming
        return made

    @override
    def read(self, len: int = 1024, buffer: Any = None) -> Any:
        found = super().read(len, buffer)
        if self.records is not None and buffer is None:
            # Pending bytes belong to later records.
            self.records.append((found.__len__(), self._incoming.pending))
        return found


def _bytes_received(connected: socket.socket) -> int:
    """Returns the number of bytes received in order, read or not.

    Raises:
        OSError: it is no TCP connection, or the system is too old.
    """
    info = connected.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _TCP_INFO_BYTES)
    if len(info) < _BYTES_RECEIVED_AT + _BYTES_RECEIVED.size:
        raise OSError("the system does not count received bytes")
    return _BYTES_RECEIVED.unpack_from(info, _BYTES_RECEIVED_AT)[0]


def _bytes_taken(connected: socket.socket) -> int:
    """Returns the number of bytes read."""
    import fcntl  # not on Windows
    import termios

    waiting = array.array("i", [0])
    fcntl.ioctl(connected.fileno(), termios.FIONREAD, waiting)
    return _bytes_received(connected) - waiting[0]


# Observer process


def _run_observer(orders: Connection) -> None:
    """Watches the sockets that are sent to it, until the other end of `orders` is closed."""
    gc.disable()  # its work creates no cycles
    way = socket.socket(fileno=os.dup(orders.fileno()))
    poll = select.epoll()
    poll.register(way, select.EPOLLIN)
    observed: dict[int, _ObservedSocket] = {}
    while True:
        for file, event in poll.poll():
            one = observed.get(file)
            if file == way.fileno():
                sent, files, _, _ = socket.recv_fds(way, 1, 2)
                if not sent:
                    return
                one = _ObservedSocket(*files)
                observed[one.file] = observed[one.pipe] = one
                # Edge-triggered: an event per arrival, whether or not the previous bytes were read.
                poll.register(one.file, select.EPOLLIN | select.EPOLLRDHUP | select.EPOLLET)
                poll.register(one.pipe, 0)  # an error there means that its other end was closed
                one.note()
            elif one is not None and (file == one.pipe or event & (select.EPOLLHUP | select.EPOLLERR)):
                poll.unregister(one.file)
                poll.unregister(one.pipe)
                del observed[one.file], observed[one.pipe]
                one.close()
            elif one is not None:
                one.note()
        time.sleep(PAUSE_S)


class _ObservedSocket:
    """A watched socket, and the pipe for its notes."""

    def __init__(self, file: int, pipe: int) -> None:
        self.file, self.pipe = file, pipe
        self._socket = socket.socket(fileno=file)
        self._socket.setblocking(False)
        self._noted = -1
        self._room = bytearray(1 << 23)  # never filled, so it takes no memory
        with contextlib.suppress(OSError):
            self._socket.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)

    def note(self) -> None:
        """Notes the number of received bytes if it has grown."""
        with contextlib.suppress(OSError):  # the pipe is full; a later note covers this one less exactly
            count = _bytes_received(self._socket)
            time_ns = time.time_ns()
            if count > self._noted:
                # The kernel's time is exact; the note may be late by a pause.
                os.write(self.pipe, _NOTE.pack(count, min(time_ns, self._newest_ns() or time_ns)))
                self._noted = count

    def _newest_ns(self) -> int | None:
        """Returns the kernel's time of the last unread bytes; all counted bytes came no later."""
        with contextlib.suppress(BlockingIOError):
            # Peeking leaves the data for its reader, who needs every byte.
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
