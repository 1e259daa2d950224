"""Endless and huge lines take little memory, however they come. Measured in processes of their own."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from inspector.present.formats import count_of

pytestmark = [pytest.mark.real, pytest.mark.skipif(os.name != "posix", reason="peak memory is asked of POSIX")]

SIZE = 96 << 20
MOST = 120 << 20
"""Bytes above what the command takes for nothing: a fraction of what keeping the line would."""
FILL = b"<fill>"
LONG = b'{"protocol":"mew/v0.4","id":"a","from":"x","kind":"chat","payload":{"text":"<fill>needle"}}'
OTHER = b'{"protocol":"mew/v0.4","id":"b","from":"x","kind":"chat","payload":{"text":"hi"}}'
INDENTED = b'{\n  "id": "a",\n  "kind": "chat",\n  "payload": {\n    "text": "<fill>"\n  }\n}'
_SCRIPT = """
import json, resource, sys
sys.argv[0] = "context-inspector"
from inspector.reading.files import format_detection
from inspector.store.files import long_lines
long_lines.MAX_LINE_BYTES = 32 << 20
format_detection._MAX_PROBED_LINE = 4 << 20
from inspector.cli import app
try:
    app()
except SystemExit:
    pass
print(json.dumps([resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]))
"""


def peak(path: str | Path, stdin: bytes | None = None, command: Sequence[str] = ("summary",)) -> tuple[int, str]:
    """Peak memory of a command about a log, and what it says."""
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT, *command, str(path)], input=stdin, capture_output=True, check=False
    )
    lines = (done.stdout + done.stderr).decode().splitlines()
    found = next(line for line in lines if line.startswith("["))
    unit = 1 if sys.platform == "darwin" else 1024
    return max(json.loads(found)) * unit, "\n".join(line for line in lines if line != found)


def write_long(path: Path, text: bytes) -> None:
    """A file of a text in which FILL stands for SIZE letters."""
    before, after = text.split(FILL)
    with path.open("wb") as file:
        file.write(before)
        for _ in range(SIZE >> 20):
            file.write(b"x" * (1 << 20))
        file.write(after)


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> int:
    path = tmp_path_factory.mktemp("usual") / "log.jsonl"
    path.write_text('{"protocol":"mew/v0.4","id":"a","kind":"chat","payload":{"text":"hi"}}\n')
    return peak(path)[0]


def test_zeros_without_end_compressed_sparse_and_piped(tmp_path: Path, usual: int) -> None:
    packed, sparse = tmp_path / "zeros.gz", tmp_path / "sparse.log"
    packed.write_bytes(gzip.compress(bytes(SIZE), 1))
    with sparse.open("wb") as file:
        file.truncate(SIZE)
    for path, stdin in ((packed, None), (sparse, None), ("-", bytes(SIZE))):
        most, said = peak(path, stdin)
        assert most - usual < MOST, path
        assert "no log that can be read" in said


def test_archives_of_archives_are_not_unpacked_again(tmp_path: Path, usual: int) -> None:
    path = tmp_path / "bomb.gz"
    bomb = bytes(SIZE)
    for _ in range(3):
        bomb = gzip.compress(bomb, 9)
    path.write_bytes(bomb)
    most, said = peak(path)
    assert most - usual < MOST
    assert said == "bomb.gz is a gzip archive within an archive. Unpack it, and open the log that is in it."


def test_one_valid_message_that_is_longer_than_may_be_read(tmp_path: Path, usual: int) -> None:
    path = tmp_path / "one.jsonl"
    write_long(path, LONG + b"\n" + OTHER + b"\n")
    most, said = peak(path)
    assert most - usual < MOST
    assert "2 messages in 2 records, 1 unreadable" in said


@pytest.mark.parametrize(
    "around", [b"[" + LONG + b",\n" + OTHER + b"]\n", INDENTED + b"\n" + OTHER + b"\n", b"[" + LONG[:-3]],
    ids=["array", "indented", "torn"],
)  # fmt: skip
def test_an_element_that_is_longer_than_may_be_read(tmp_path: Path, usual: int, around: bytes) -> None:
    path = tmp_path / "one.json"
    write_long(path, around)
    most, said = peak(path)
    assert most - usual < MOST
    count = around.count(b'"kind"')
    assert f"{count_of(count, 'message')} in {count_of(count, 'record')}, 1 unreadable" in said


def test_a_record_that_is_longer_than_may_be_read_is_searched_and_exported(tmp_path: Path, usual: int) -> None:
    path, out = tmp_path / "one.json", tmp_path / "out.jsonl"
    write_long(path, b"[" + LONG + b",\n" + OTHER + b"]\n")
    most, said = peak(path, command=["list", "-e", "no", "-Y", '"needle"'])
    assert most - usual < MOST
    assert [line.strip() for line in said.splitlines()] == ["no", "1"]
    for format_ in ("markdown", "csv", "html", "jsonl"):
        most, said = peak(path, command=["export", "--format", format_.replace("markdown", "md"), "-o", str(out)])
        assert most - usual < MOST, format_
    long, other = map(json.loads, out.read_bytes().splitlines())
    assert (long["cut"], long["bytes"]) == (True, len(LONG) - len(FILL) + SIZE)
    assert long["text"].startswith('{"protocol":"mew/v0.4","id":"a"')
    assert other["id"] == "b"
