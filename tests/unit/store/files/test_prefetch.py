"""Reading ahead gives what reading gives."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

import inspector.store.files.prefetch as ahead_module
from inspector.store.files.prefetch import PrefetchReader
from inspector.store.files.source_files import SourceFile

_DATA = bytes(range(200))
READS = st.lists(st.tuples(st.integers(0, 210), st.integers(0, 60)), max_size=12)


@given(READS, st.integers(0, 200), st.integers(0, 220))
def test_the_same_bytes(tmp_path_factory, reads: list[tuple[int, int]], start: int, stop: int) -> None:
    path: Path = tmp_path_factory.mktemp("ahead") / "data"
    path.write_bytes(_DATA)
    source = SourceFile(path)
    with patch.object(ahead_module, "_BUFFER_BYTES", 64):
        ahead = PrefetchReader(source, start, stop)
        assert [ahead.read(source, *read) for read in reads] == [source.read(*read) for read in reads]
    source.close()


def test_lines_near_each_other_are_read_at_once(tmp_path: Path) -> None:
    path = tmp_path / "data"
    path.write_bytes(_DATA)
    source = SourceFile(path)
    ahead = PrefetchReader(source, 10, 150)
    with patch.object(source, "read", wraps=source.read) as read:
        assert [ahead.read(source, offset, 5)[0] for offset in (20, 60, 10, 145)] == [20, 60, 10, 145]
    assert read.call_count == 1
    source.close()
