"""Where an export may go: compressed as named, into pipes, never over what was read."""

from __future__ import annotations

import gzip
import json
import os
import threading
from collections import deque
from pathlib import Path

import pytest
import zstandard
from typer.testing import CliRunner

from inspector.cli import app
from inspector.document.document import CaptureDocument
from inspector.export import Exported, export_file
from tests.builders import document_at, envelope, lines_of

SAID = [envelope("chat", {"text": f"m{number}"}) for number in range(40)]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "logs" / "log.jsonl"
    path.parent.mkdir()
    path.write_bytes(lines_of(*SAID))
    return path


def export(document: CaptureDocument, target: Path) -> Exported:
    return deque(export_file(document, range(len(document.capture)), target), maxlen=1)[0]


@pytest.mark.parametrize("name", ["out.jsonl.gz", "OUT.JSONL.GZ", "out.jsonl.zst"])
def test_a_name_of_an_archive_is_written_as_one(log: Path, tmp_path: Path, name: str) -> None:
    target = tmp_path / name
    done = export(document_at(log), target)
    packed = target.read_bytes()
    if name.endswith("zst"):
        plain = zstandard.ZstdDecompressor().decompressobj().decompress(packed)
    else:
        plain = gzip.decompress(packed)
    assert plain == log.read_bytes()
    assert (done.messages, done.size_bytes) == (40, len(packed))
    assert len(document_at(target).capture) == 40


@pytest.mark.parametrize("ending", ["gz", "zst"])
def test_an_archive_that_is_given_up_leaves_what_was_there(log: Path, tmp_path: Path, ending: str) -> None:
    target = tmp_path / f"out.jsonl.{ending}"
    target.write_bytes(b"before")
    steps = export_file(document_at(log), range(40), target)
    next(steps)
    steps.close()
    assert target.read_bytes() == b"before"
    assert not list(tmp_path.glob(".*"))


def test_the_command_compresses_and_keeps_marks(log: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.csv.gz"
    done = CliRunner().invoke(app, ["export", str(log), "-o", str(target), "-e", "no"])
    assert done.exit_code == 0, done.stderr
    assert gzip.decompress(target.read_bytes()).decode().split() == ["no", *map(str, range(1, 41))]


@pytest.mark.parametrize("name", ["capability-decisions.jsonl", "capability-decisions.jsonl.gz", "link.jsonl"])
def test_the_decisions_beside_a_log_are_not_written_over(tmp_path: Path, name: str) -> None:
    log = tmp_path / "envelope-history.jsonl"
    entry = {"timestamp": "2026-01-05T09:00:00.000Z", "event": "received", "id": "m0", "envelope": SAID[0]}
    log.write_text(json.dumps(entry) + "\n")
    decided = json.dumps({"timestamp": "2026-01-05T09:00:00.000Z", "event": "capability_check", "envelope_id": "m0"})
    decisions = tmp_path / ("capability-decisions.jsonl.gz" if "gz" in name else "capability-decisions.jsonl")
    data = gzip.compress(decided.encode()) if "gz" in name else decided.encode()
    decisions.write_bytes(data)
    if name.startswith("link"):
        (tmp_path / name).symlink_to(decisions)
    document = document_at(log)
    assert document.decisions.found is not None
    with pytest.raises(OSError, match="decisions"):
        export(document, tmp_path / name)
    done = CliRunner().invoke(app, ["export", str(log), "-o", str(tmp_path / name)])
    assert done.exit_code != 0
    assert "that is the file with the gateway's decisions about the log; choose another name." in done.stderr
    assert decisions.read_bytes() == data


def test_a_pipe_is_written_into_and_stays_one(log: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.jsonl"
    os.mkfifo(pipe)
    document, came = document_at(log), list[bytes]()
    with pytest.raises(OSError, match="pipe or a device"):
        export(document, pipe)
    reader = threading.Thread(target=lambda: came.append(pipe.read_bytes()), daemon=True)
    reader.start()
    done = CliRunner().invoke(app, ["export", str(log), "-o", str(pipe)])
    assert done.exit_code == 0, done.stderr
    reader.join(20)
    assert came == [log.read_bytes()]
    assert pipe.is_fifo()
    done = CliRunner().invoke(app, ["export", str(log), "-o", str(pipe), "--marks"])
    assert done.exit_code != 0
