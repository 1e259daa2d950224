"""Bytes through real pipes: the same on the other side and in the backlog, whoever ends first."""

from __future__ import annotations

import os
import sys
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.tap.backlog import CLIENT, Backlog
from inspector.tap.recorder import LineMaker
from inspector.tap.relay import Pump
from tests.conftest import MS


def pumped() -> tuple[Pump, Backlog, int, int]:
    """A pump that runs, where to write and where to read."""
    source, write = os.pipe()
    read, sink = os.pipe()
    backlog = Backlog()
    pump = Pump(CLIENT, source, sink, backlog)
    pump.start()
    return pump, backlog, write, read


def joined(pump: Pump) -> None:
    pump.thread.join(30_000 * MS)
    assert not pump.thread.is_alive()


@given(st.lists(st.binary(min_size=1, max_size=200) | st.just(b"\n") | st.just(b"y" * 100_000), max_size=8))
def test_any_bytes_cut_anywhere_arrive_as_they_are(parts: list[bytes]) -> None:
    pump, backlog, write, read = pumped()
    arrived: list[bytes] = []

    def collect() -> None:
        while data := os.read(read, 1 << 16):
            arrived.append(data)

    reader = threading.Thread(target=collect)
    reader.start()
    for part in parts:
        left = memoryview(part)
        while left:
            left = left[os.write(write, left) :]
    os.close(write)
    joined(pump)
    reader.join()
    os.close(read)
    assert b"".join(arrived) == b"".join(parts)
    maker = LineMaker()
    lines = [line for said in iter(backlog.pop_entry, None) for line in maker.feed(said.data)]
    assert b"\n".join([*lines, maker.rest()]) == b"".join(parts)


def test_part_of_a_line_is_passed_on_before_its_end() -> None:
    pump, _, write, read = pumped()
    os.write(write, b'{"half')
    assert os.read(read, 100) == b'{"half'
    os.close(write)
    assert os.read(read, 100) == b""  # the end is passed on too
    joined(pump)
    os.close(read)


def test_whoever_writes_learns_that_nobody_reads() -> None:
    pump, backlog, write, read = pumped()
    os.close(read)
    os.write(write, b"first")
    joined(pump)
    with pytest.raises(BrokenPipeError):
        os.write(write, b"second")
    os.close(write)
    assert [said.ended for said in iter(backlog.pop_entry, None)] == [
        None, "the reader has ended; the last messages may not have arrived",
    ]  # fmt: skip


@pytest.mark.skipif(sys.platform == "win32", reason="pipes there know no such flag")
def test_pipes_that_do_not_block_are_waited_for() -> None:
    source, write = os.pipe()
    read, sink = os.pipe()
    os.set_blocking(source, False)
    os.set_blocking(sink, False)
    pump = Pump(CLIENT, source, sink, Backlog())
    pump.start()
    data = b"z" * 300_000
    writer = threading.Thread(target=lambda: (os.write(write, data), os.close(write)))
    writer.start()
    arrived = b""
    while part := os.read(read, 1000):
        arrived += part
    writer.join()
    joined(pump)
    os.close(read)
    assert arrived == data
