"""Files that are read with pread."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from inspector.store.files.source_files import SourceFile, read_at
from tests.builders import document_of, envelope, received


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
    assert (source.name, source.main_format) == ("shown", None)
    source.formats.update({None: 50, "envelopes": 2, "json-rpc": 1})
    assert (source.main_format, source.known_format) == (None, "envelopes")
    source.formats["envelopes"] = 50
    assert source.main_format == "envelopes"
    source.close()


def test_threads_do_not_disturb_each_other_where_there_is_no_pread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on Windows: a descriptor and its duplicates share one place in the file."""
    monkeypatch.delattr(os, "pread", raising=False)
    seek = os.lseek

    def slow_seek(file: int, offset: int, whence: int) -> int:
        found = seek(file, offset, whence)
        time.sleep(0)  # another thread's turn
        return found

    monkeypatch.setattr(os, "lseek", slow_seek)
    path = tmp_path / "log"
    path.write_bytes(bytes(range(250)) * 40)
    source = SourceFile(path)
    other, stop = source.duplicate(), threading.Event()

    def read_elsewhere() -> None:
        while not stop.is_set():
            read_at(other, 0, 10)

    thread = threading.Thread(target=read_elsewhere)
    thread.start()
    found = [source.read(250 * n + 7, 5) for n in range(40) for _ in range(10)]
    stop.set()
    thread.join()
    os.close(other)
    source.close()
    assert set(found) == {bytes(range(7, 12))}


@pytest.mark.parametrize("name", ["missing", "folder"])
def test_what_cannot_be_opened(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match=name):
        SourceFile(tmp_path / name)


OUTPUT = [f"line {number} of what a program prints" for number in range(5)]
RPC = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
LOGGED = [received(envelope()) for _ in range(4)]
MAJORITIES = {
    "a stray line of another format first": ([RPC, *LOGGED], "gateway-log", "gateway-log"),
    "program output first": ([*OUTPUT[:3], *LOGGED], "gateway-log", "gateway-log"),
    "as much output as messages": ([*OUTPUT[:4], *LOGGED], "gateway-log", "gateway-log"),
    "one message in a program's output": ([*OUTPUT, RPC], None, "json-rpc"),
    "objects of no format": ([*['{"level":"info"}'] * 3, RPC], None, "json-rpc"),
    "two formats mixed": ([RPC, *LOGGED, RPC, envelope()], "gateway-log", "gateway-log"),
    "two formats, and more of neither": ([RPC, *LOGGED, *OUTPUT], None, "gateway-log"),
    "frames of streams are of no other format": (["#s#data"] * 9 + [envelope()], "envelopes", "envelopes"),
    "a torn end": ([*LOGGED, '{"timestamp":'], "gateway-log", "gateway-log"),
}  # fmt: skip


@pytest.mark.parametrize(("lines", "majority", "known"), MAJORITIES.values(), ids=MAJORITIES)
def test_a_files_format_is_that_of_most_of_its_lines(lines: list[Any], majority: str | None, known: str) -> None:
    document = document_of(*lines)
    assert (document.format, document.capture.sources[0].known_format) == (majority, known)
