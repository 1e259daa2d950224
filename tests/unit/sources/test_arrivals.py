"""Frames are stamped when their bytes come, however late they are read."""

from __future__ import annotations

import json
import os
import select
import socket
import ssl
import struct
import sys
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from websockets.sync.server import ServerConnection, serve

from inspector.base.async_tasks import start_task
from inspector.sources import arrivals as module
from inspector.sources.arrivals import ArrivalObserver, Arrivals
from inspector.sources.connection import Connection
from inspector.sources.state import SourceState
from tests.unit.sources.watching import LONG_S, QUICK, WELCOME, Watch

linux = pytest.mark.skipif(sys.platform != "linux", reason="only there can a process look at another's sockets")

CERTIFICATES = Path(__file__).parents[2] / "data" / "tls"
S = 1_000_000_000


class Notes:
    """An observer whose notes a test writes."""

    def __init__(self) -> None:
        self._reading, self._writing = os.pipe()
        os.set_blocking(self._reading, False)

    def watch_socket(self, _connected: socket.socket) -> int:
        return self._reading

    def write(self, *notes: tuple[int, int]) -> None:
        os.write(self._writing, b"".join(struct.pack("=QQ", *note) for note in notes))

    def close(self) -> None:
        os.close(self._writing)


class Line:
    """A TCP connection of this machine: what is sent, read, and known of when it came; the clock stands at 100."""

    def __init__(self, tls: SimpleNamespace | None) -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            self.theirs = socket.create_connection(server.getsockname())
            self.ours, _ = server.accept()
        self.notes = Notes()
        self.clock_ns = 100
        self.tls: Any = tls
        self.arrivals = Arrivals(lambda: self.clock_ns)
        self.arrivals.start_observing(cast("ArrivalObserver", self.notes), self.ours, 0, self.tls)
        self.place = 0

    def read(self, size: int, *records: tuple[int, int]) -> None:
        """Send so many bytes, and read them: all of them are handed to us, or what these records held."""
        self.theirs.sendall(b"x" * size)
        self.place += sum(held for held, _behind in records) if self.tls is not None else size
        while size:
            size -= len(self.ours.recv(size))
        if self.tls is not None:
            self.tls.records += records
        if records or self.tls is None:
            self.arrivals.on_read(self.place)

    def came(self, *places: int) -> list[int]:
        return [self.arrivals.arrival_of(place)[0] for place in places]


@pytest.fixture
def plain() -> Iterator[Line]:
    yield from _line(None)


@pytest.fixture
def secure() -> Iterator[Line]:
    yield from _line(SimpleNamespace(records=None))


def _line(tls: SimpleNamespace | None) -> Generator[Line]:
    line = Line(tls)
    yield line
    line.arrivals.close()
    line.notes.close()
    line.ours.close()
    line.theirs.close()


def test_without_an_observer_bytes_arrive_when_they_are_read() -> None:
    clock = SimpleNamespace(now=5)
    arrivals = Arrivals(lambda: clock.now)
    arrivals.on_read(10)
    clock.now = 7
    arrivals.on_read(30)
    assert [arrivals.arrival_of(place) for place in (4, 10, 11, 30)] == [(5, 10), (5, 10), (7, 30), (7, 30)]


@linux
def test_each_frame_of_one_read_has_a_time_of_its_own(plain: Line) -> None:
    plain.notes.write((10, 41), (25, 42), (30, 43))
    plain.read(30)
    assert plain.came(4, 10, 11, 25, 26, 30) == [41, 41, 42, 42, 43, 43]


@linux
def test_what_is_not_noted_yet_arrives_when_it_is_read_and_no_later_than_what_follows(plain: Line) -> None:
    plain.notes.write((10, 41))
    plain.read(20)
    assert plain.came(10, 20) == [41, 100]
    plain.notes.write((20, 42), (40, 43))  # the first is too late, the second of bytes not read yet
    plain.read(10)
    assert plain.came(30) == [43]
    plain.clock_ns = 200
    plain.read(10)
    assert plain.came(40) == [43]
    plain.read(10)
    assert plain.came(50) == [200]


@linux
def test_under_tls_a_byte_is_there_with_its_record(secure: Line) -> None:
    secure.notes.write((120, 41), (200, 42), (240, 43), (360, 44), (400, 45))
    secure.read(400, (100, 280), (100, 160), (100, 40))
    assert secure.came(1, 100, 101, 200, 201, 300) == [41, 41, 43, 43, 44, 44]
    secure.notes.write((470, 46), (480, 47), (500, 48))
    secure.read(60)  # half a record: nothing is handed over
    secure.read(40, (100, 20))
    assert secure.came(400) == [47]


@linux
def test_the_end_is_heard_by_the_other_side_though_a_process_has_the_socket_open(plain: Line) -> None:
    with plain.ours.dup():
        plain.arrivals.close()
        plain.ours.close()
        plain.theirs.settimeout(LONG_S)
        assert plain.theirs.recv(1) == b""


@linux
def test_a_socket_that_cannot_be_looked_at_keeps_the_times_of_reading() -> None:
    ours, theirs = socket.socketpair()
    notes = Notes()
    with ours, theirs:
        arrivals = Arrivals(lambda: 5)
        arrivals.start_observing(cast("ArrivalObserver", notes), ours, 0)
        arrivals.on_read(10)
        assert arrivals.arrival_of(10) == (5, 10)
        arrivals.close()
        theirs.sendall(b"still open")
        assert ours.recv(20) == b"still open"
    notes.close()


def test_elsewhere_nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    assert module.start_observer() is None


def test_without_processes_nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_self: ArrivalObserver) -> None:
        raise OSError("no more processes")

    monkeypatch.setattr(ArrivalObserver, "__init__", refused)
    assert module.start_observer() is None


# With the process


class Speaker:
    """A gateway on a thread of its own: it sends while the loop under test is held up."""

    def __init__(self) -> None:
        self.go, self.done = threading.Event(), threading.Event()
        self.sent_ns: dict[str, int] = {}
        self.connections = 0

    def __call__(self, connection: ServerConnection) -> None:
        self.connections += 1
        connection.recv()
        connection.send(json.dumps(WELCOME))
        self.go.wait(LONG_S)
        self.go.clear()
        for name in ("a", "b", "c"):
            parts = [f'{{"n":"{name}', f'{self.connections}","fill":"', "x" * 300, '"}']
            if name == "b":
                connection.send(_slowly(parts))
            else:
                connection.send("".join(parts))
            self.sent_ns[f"{name}{self.connections}"] = time.time_ns()
            time.sleep(0.2)
        self.done.set()
        self.go.wait(LONG_S)
        self.go.clear()


def _slowly(parts: list[str]) -> Iterator[str]:
    for part in parts:
        yield part
        time.sleep(0.05)


@contextmanager
def speaking(tls: ssl.SSLContext | None) -> Generator[tuple[Speaker, str]]:
    speaker = Speaker()
    with serve(speaker, "127.0.0.1", 0, ssl=tls, compression=None) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield speaker, f"{'ws' if tls is None else 'wss'}://127.0.0.1:{server.socket.getsockname()[1]}"
        finally:
            speaker.go.set()
            server.shutdown()
            thread.join()


def _observed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The pipes that notes come through, as they are made."""
    pipes: list[int] = []
    watch = ArrivalObserver.watch_socket

    def noted(self: ArrivalObserver, connected: socket.socket) -> int:
        pipes.append(watch(self, connected))
        return pipes[-1]

    monkeypatch.setattr(ArrivalObserver, "watch_socket", noted)
    return pipes


@linux
@pytest.mark.real
@pytest.mark.parametrize("secure", [False, True], ids=["plain", "tls"])
async def test_stamps_are_those_of_arrival_while_the_loop_is_held_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, secure: bool
) -> None:
    tls = trust = None
    if secure:
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(CERTIFICATES / "good.pem", CERTIFICATES / "key.pem")
        trust = ssl.create_default_context(cafile=str(CERTIFICATES / "authority.pem"))
    pipes = _observed(monkeypatch)
    with speaking(tls) as (speaker, url):
        watch = Watch(
            tmp_path / "live.ctxcap", Connection(url=url, space="demo"), QUICK, ssl_context=trust, observed=True
        )
        task = start_task(watch.source.run(), name="source under test")
        for number in (1, 2):  # and after the connection was lost
            await watch.until(SourceState.CONNECTED)
            watch.states.clear()
            select.select([pipes[-1]], [], [], LONG_S)  # its first note: it looks
            speaker.go.set()
            assert speaker.done.wait(LONG_S)  # on the loop's own thread: nothing is read meanwhile
            speaker.done.clear()
            lines = await watch.captured(lambda lines, last=f"c{number}": any(_named(line) == last for line in lines))
            stamped = {_named(line): line["t"] for line in lines if "frame" in line}
            for name in "abc":
                sent_ns = speaker.sent_ns[f"{name}{number}"]
                assert abs(stamped[f"{name}{number}"] - sent_ns) < 0.1 * S, name
            speaker.go.set()
        await watch.source.close()
        await task
        watch.writer.close()


def _named(line: dict[str, Any]) -> str | None:
    frame = line.get("frame")
    return frame.get("n") if isinstance(frame, dict) else None


@linux
@pytest.mark.real
def test_the_process_ends_with_us_and_lets_sockets_go(tmp_path: Path) -> None:
    observer = ArrivalObserver()
    with socket.create_server(("127.0.0.1", 0)) as server:
        theirs = socket.create_connection(server.getsockname())
        ours, _ = server.accept()
    pipe = observer.watch_socket(ours)
    select.select([pipe], [], [], LONG_S)
    os.close(pipe)  # we look no more: the process lets go as well
    ours.close()
    theirs.settimeout(LONG_S)
    assert theirs.recv(1) == b""
    theirs.close()
    process = observer._process
    observer.connection.close()
    process.join(LONG_S)
    assert process.exitcode == 0
    observer.end_process()
