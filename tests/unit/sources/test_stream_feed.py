"""What fills spools: any stream, its end, its troubles, and nothing left behind."""

from __future__ import annotations

import gzip
import os
import threading
from pathlib import Path

import pytest

from inspector.document.document import CaptureDocument
from inspector.sources.inputs import open_source
from inspector.sources.stream_feed import StreamFeed
from inspector.store.files import spool as spool_module
from tests.builders import envelope, lines_of


def ended(feed: StreamFeed) -> StreamFeed:
    """A feed that has come to its end."""
    while feed.is_growing:
        feed.wait(1)
    return feed


@pytest.fixture
def pipe() -> tuple[int, int]:
    return os.pipe()


def test_a_stream_is_there_as_far_as_it_has_come(pipe: tuple[int, int]) -> None:
    out, into = pipe
    feed = StreamFeed("a stream", out)
    os.write(into, b"{first\n")
    while feed.progress[0] < 7:
        feed.wait(1)
    feed.wait(0.01)
    assert feed.is_growing
    os.write(into, b"second")
    os.close(into)
    ended(feed)
    assert (feed.path.read_bytes(), feed.problem, feed.progress) == (b"{first\nsecond", None, (13, 0))
    feed.close()
    assert not feed.path.parent.exists()
    os.close(out)


def test_a_compressed_stream_is_unpacked_and_stops_when_told(pipe: tuple[int, int]) -> None:
    out, into = pipe
    feed = StreamFeed("a stream", out)
    os.write(into, gzip.compress(b"hello"))
    while not feed.path.read_bytes():
        feed.wait(0.1)
    feed.stop()
    assert (feed.path.read_bytes(), feed.is_growing, feed.problem) == (b"hello", False, None)
    feed.close()
    os.close(into)


@pytest.mark.sweep
def test_a_bomb_is_stopped_before_the_disk_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "bomb.jsonl.gz"
    path.write_bytes(gzip.compress(lines_of(envelope()) + bytes(64 << 20)))
    left = iter([1 << 40, 1 << 40, *[0] * 99])
    monkeypatch.setattr(spool_module, "free_bytes", lambda _folder: next(left))
    feed = ended(StreamFeed("bomb.jsonl.gz", path, total=path.stat().st_size))
    assert feed.problem is not None
    assert feed.problem.startswith("bomb.jsonl.gz was not read to its end: the disk that holds ")
    assert "less than 256 MB left. Free some space there and open it again. It stopped after " in feed.problem
    assert 0 < feed.path.stat().st_size < 40 << 20
    feed.close()


def test_a_file_that_vanishes_before_it_is_read(tmp_path: Path) -> None:
    feed = ended(StreamFeed("gone", tmp_path / "gone"))
    assert feed.problem == (
        "gone could not be read to its end: No such file or directory. It stopped after 0 bytes; "
        "the 0 bytes of log before that were read."
    )
    feed.close()


def test_what_is_plain_is_read_where_it_lies_and_what_is_not_from_a_spool(tmp_path: Path) -> None:
    (tmp_path / "plain.gz").write_bytes(b'{"kind":"chat"}\n')
    (tmp_path / "packed.txt").write_bytes(gzip.compress(b'{"kind":"chat"}\n'))
    plain, packed = (open_source(tmp_path / name) for name in ("plain.gz", "packed.txt"))
    assert (plain.feed, plain.data_path) == (None, plain.path)
    assert packed.feed is not None
    while packed.is_growing:
        packed.feed.wait(1)
    assert packed.data_path != packed.path
    assert packed.read(0, 99) == plain.read(0, 99)
    plain.close()
    packed.close()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_named_pipe(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    source = open_source(path)
    writer = threading.Thread(target=lambda: path.write_bytes(b'{"kind":"chat"}\n'))
    writer.start()
    assert source.feed is not None
    while source.is_growing:
        source.feed.wait(1)
    writer.join()
    assert (source.name, source.read(0, 99)) == ("pipe", b'{"kind":"chat"}\n')
    source.close()


def test_a_stream_that_pauses_is_checked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, document = tmp_path / "pipe", CaptureDocument()
    os.mkfifo(path)
    rounds: list[int] = []
    check_all = document.analysis.catch_up
    monkeypatch.setattr(document.analysis, "catch_up", lambda: (rounds.append(len(document.capture)), check_all())[1])
    into = os.open(path, os.O_RDWR)
    document.sources.waits = False
    steps, asked = document.open_log(path), envelope("mcp/request", {"method": "tools/call", "id": 1})
    os.write(into, lines_of(asked))
    while not len(document.capture):
        next(steps)
    while not rounds:
        next(steps)
    for _ in range(50):
        next(steps)
    assert rounds == [1]
    assert document.analysis.findings.unchecked_count == 0
    steps.close()
    os.close(into)
    document.close()
