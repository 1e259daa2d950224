"""Files that are read with pread."""

from __future__ import annotations

from pathlib import Path

import pytest

from inspector.capture.sources import SourceFile


def test_reads_pieces(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"0123456789")
    source = SourceFile(path)
    assert (source.name, source.size) == ("log.jsonl", 10)
    assert [source.read(0, 3), source.read(8, 5), source.read(20, 5), source.read(3, 0)] == [b"012", b"89", b"", b""]
    with path.open("ab") as file:
        file.write(b"ab")
    assert (source.size, source.read(9, 9)) == (12, b"9ab")
    path.write_bytes(b"0")
    assert source.read(0, 3) == b"0"
    source.close()


def test_the_format_most_lines_are_in(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.touch()
    source = SourceFile(path, "shown")
    assert (source.name, source.format) == ("shown", None)
    source.formats.update({None: 50, "envelopes": 2, "json-rpc": 1})
    assert source.format == "envelopes"
    source.close()


@pytest.mark.parametrize("name", ["missing", "folder"])
def test_what_cannot_be_opened(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match=name):
        SourceFile(tmp_path / name)
