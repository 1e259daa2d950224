"""A record is read from its file once: what passes and checks want of it is extracted then, in a log and live."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from inspector.document.document import CaptureDocument
from inspector.reading.files.source_reader import UnknownFormatError
from inspector.store.messages.capture import Capture
from inspector.store.messages.records import Records
from tests.bench.mixes import NAMED, write
from tests.samples import FORMAT_SAMPLES

DATA = Path(__file__).parents[2] / "data"
LOGS = sorted(
    path
    for path in (*DATA.rglob("*"), *FORMAT_SAMPLES.values())
    if path.suffix in (".jsonl", ".ctxcap", ".log", ".json")
)
MIXES = ["story", *NAMED, "random:1", "random:2", "random:3"]
COUNT = 200
_PIECES = 3


@contextmanager
def counted() -> Generator[Counter[str]]:
    """How often records are read again meanwhile, by the way they are."""
    reads: Counter[str] = Counter()

    def watched(name: str) -> Any:
        owner = Capture if name == "_payload_at" else Records
        original = getattr(owner, name)

        def read(*args: Any) -> Any:
            reads[name] += 1
            return original(*args)

        return mock.patch.object(owner, name, read)

    with watched("read_line_of"), watched("line_part"), watched("read_record"), watched("_payload_at"):
        yield reads


def open_log(path: Path) -> Counter[str]:
    document = CaptureDocument()
    try:
        with counted() as reads:
            document.load(path)
    finally:
        document.close()
    return reads


def follow(path: Path, live: Path) -> Counter[str]:
    """Let a capture grow by pieces, and a document take in what comes."""
    data = path.read_bytes()
    live.touch()
    document = CaptureDocument()
    document.follow_capture(live, name="live")
    with counted() as reads:
        for number in range(_PIECES):
            with live.open("ab") as file:
                file.write(data[number * len(data) // _PIECES : (number + 1) * len(data) // _PIECES])
            while document.poll():
                pass
        document.end_live()
    document.close()
    return reads


@pytest.fixture(scope="module", params=MIXES)
def mix(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("mix") / "log.jsonl"
    return write(request.param, COUNT, path)


@pytest.mark.sweep
def test_no_record_of_a_mix_is_read_twice(mix: Path, tmp_path: Path) -> None:
    assert not open_log(mix)
    assert not follow(mix, tmp_path / "live.ctxcap")


@pytest.mark.sweep
@pytest.mark.parametrize("path", LOGS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_no_record_of_a_recording_is_read_twice(path: Path, tmp_path: Path) -> None:
    try:
        assert not open_log(path)
    except UnknownFormatError:
        return
    if path.suffix != ".json":
        assert not follow(path, tmp_path / "live.ctxcap")
