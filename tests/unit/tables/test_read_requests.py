"""A thread writes what another one reads for it, step by step, and ends when nobody takes steps any more."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from inspector.export import parquet
from inspector.tables.read_requests import ReadRequests
from tests.builders import document_of, envelope


def test_what_is_asked_for_is_read_by_who_takes_the_steps() -> None:
    turns, read = ReadRequests(), list[int]()

    def here() -> int:
        read.append(threading.get_ident())
        return len(read)

    found: list[object] = []
    for _ in turns.run_thread(lambda: found.extend(turns(here) for _ in range(3)), lambda: None):
        pass
    assert found == [1, 2, 3]
    assert set(read) == {threading.get_ident()}


def test_what_goes_wrong_on_either_side_is_raised_where_it_is_waited_for() -> None:
    def fails() -> None:
        raise OSError(28, "full")

    with pytest.raises(OSError, match="full"):
        list(ReadRequests().run_thread(fails, lambda: None))
    turns = ReadRequests()
    with pytest.raises(OSError, match="full"):
        list(turns.run_thread(lambda: turns(fails), lambda: None))


def test_an_export_given_up_leaves_what_was_there(tmp_path: Path) -> None:
    document = document_of(*(envelope(payload={"text": str(number)}) for number in range(2_000)))
    target = tmp_path / "x.parquet"
    target.write_bytes(b"before")
    steps = parquet.parquet_steps(document, None, target)
    assert any(done.messages for done in steps)
    steps.close()
    assert target.read_bytes() == b"before"
    assert [one.name for one in tmp_path.iterdir()] == ["x.parquet"]
    assert not [one for one in threading.enumerate() if one.name == "write a table"]
