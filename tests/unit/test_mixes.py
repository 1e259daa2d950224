"""The mixes of the benchmarks are what they say: the same each time, read without loss, and unlike one another."""

from __future__ import annotations

from pathlib import Path

import pytest

from inspector.document.document import CaptureDocument
from inspector.reading.reassembly.reassembler import ORDER_MARKS
from inspector.store.columns.columns import MESSAGE_COLUMNS
from tests.bench import mixes
from tests.samples import first_of

NAMES = ("story", "random:1", *mixes.NAMED, "random:2")


@pytest.mark.parametrize("name", first_of(NAMES, 3))
def test_a_mix_is_the_same_each_time_and_read_whole(name: str, tmp_path: Path) -> None:
    path = mixes.write(name, 400, tmp_path / "log.jsonl")
    assert path.read_bytes() == b"".join(mixes.lines(name, 400))
    document = CaptureDocument()
    document.load(path)
    assert (document.capture.record_count, document.unreadable) == (400, 0)
    document.close()


@pytest.mark.parametrize("name", ["story", *mixes.NAMED])
def test_worker_processes_read_a_long_log_of_a_mix(name: str) -> None:
    """Marks of formats whose lines depend on order are in no other traffic; else one process would read it all."""
    begins = b"".join(mixes.lines(name, 400))
    assert [mark for mark in ORDER_MARKS if mark in begins] == []


def test_every_knob_is_turned_by_some_mix() -> None:
    plain = mixes.Mix()
    turned = {
        one for one in plain.__slots__ for mix in mixes.NAMED.values() if getattr(mix, one) != getattr(plain, one)
    }
    assert turned == set(plain.__slots__) - {"chats"}


def test_columns_of_the_story_take_few_bytes_a_message(tmp_path: Path) -> None:
    """Each column that a message has is there for every log: what few messages have is kept apart."""
    document = CaptureDocument()
    document.load(mixes.write("story", 4_000, tmp_path / "log.jsonl"))
    columns = document.capture.columns
    taken = {columns[name].ctypes.data: columns[name].strides[0] for name in MESSAGE_COLUMNS}
    links = sum(document.analysis.correlation.columns[name].strides[0] for name in _LINKS)
    document.close()
    assert columns["content_hash"].strides == (0,), "no message there can have a copy"
    assert (sum(taken.values()), links) <= (50, 13), taken


_LINKS = ("cause", "answer", "method", "target", "call", "rule", "proposal_state", "given_up")
