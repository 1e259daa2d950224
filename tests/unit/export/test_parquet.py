"""Parquet: typed columns, and a file that opens again as what it was made of."""

from __future__ import annotations

import errno
from collections import deque
from pathlib import Path
from unittest import mock

import pytest

from inspector.document.document import CaptureDocument
from inspector.export.parquet import parquet_steps
from inspector.filters.fields import FIELDS
from inspector.formats.parquet.conversion import RAW_COLUMN
from inspector.formats.table import FORMAT_TITLES
from inspector.tables.messages import column_name
from tests.builders import document_at, document_of, envelope, tool_call
from tests.commands import asked, printed
from tests.pages import ROOT
from tests.samples import FORMAT_SAMPLES, folders_swept

_DATA = ROOT / "tests/data"
_FORMATS = list(FORMAT_SAMPLES.values())
_RECORDINGS = sorted(
    path
    for folder in ("recordings", "captures", "transcripts")
    for path in (_DATA / folder).rglob("*")
    if path.is_file()
    and path.name.partition(".")[2].startswith(("jsonl", "ctxcap", "json"))
    and ".marks" not in path.name
)


def opened_again(path: Path, target: Path) -> tuple[CaptureDocument, CaptureDocument]:
    original = document_at(path)
    deque(parquet_steps(original, None, target, fields=("no",), raw=True, masked=False), maxlen=0)
    return original, document_at(target)


def same(original: CaptureDocument, again: CaptureDocument) -> None:
    assert len(again.capture) == len(original.capture)
    assert again.sources.troubles == []
    for row in range(len(original.capture)):
        if again.capture.records.read_line_of(row) != original.capture.records.read_line_of(
            row
        ):  # of a batch, with a line of its own
            assert again.capture.records.envelope_bytes(row) == original.capture.records.envelope_bytes(row), row
    for name in ("flags", "id_hash", "time_ns"):
        assert again.capture.columns[name].tolist() == original.capture.columns[name].tolist(), name
    for name in ("kind", "sender", "context"):
        for row in range(len(original.capture)):
            assert again.capture.string(name, row) == original.capture.string(name, row), name
    assert len(again.capture.deliveries) == len(original.capture.deliveries)


_ONE_LINE = [path for path in _FORMATS if path.name not in ("drafts.jsonl",)]


@pytest.mark.parametrize("path", folders_swept(_ONE_LINE), ids=lambda path: path.name)
def test_what_was_exported_with_raw_opens_as_it_was(path: Path, tmp_path: Path) -> None:
    same(*opened_again(path, tmp_path / "x.parquet"))


@pytest.mark.real
@pytest.mark.parametrize("path", _RECORDINGS, ids=lambda path: str(path.relative_to(_DATA)))
def test_recordings_open_as_they_were(path: Path, tmp_path: Path) -> None:
    same(*opened_again(path, tmp_path / "x.parquet"))


def test_every_field_is_a_typed_column(tmp_path: Path) -> None:
    import duckdb

    target = tmp_path / "x.parquet"
    deque(parquet_steps(document_at(FORMAT_SAMPLES["mew-v0.4.jsonl"]), None, target), maxlen=0)
    types = dict(duckdb.execute(f"SELECT column_name, column_type FROM (DESCRIBE FROM '{target}')").fetchall())
    assert list(types) == [column_name(field.name) for field in FIELDS]
    assert (types["time"], types["no"], types["latency"], types["error"], types["to"], types["kind"]) == (
        "TIMESTAMP WITH TIME ZONE", "BIGINT", "DOUBLE", "BOOLEAN", "VARCHAR[]", "VARCHAR",
    )  # fmt: skip
    rows = duckdb.execute(f"SELECT no, \"from\", text FROM '{target}' ORDER BY no LIMIT 2").fetchall()
    assert rows == [(1, "human", "fix it"), (2, "lead", "How?")]


def test_secrets_are_masked_unless_said_otherwise(tmp_path: Path) -> None:
    token = "ghp_" + "a1B2c3D4e5" * 4
    document = document_of(envelope(payload={"text": f"use {token}"}, context=f"r/{token}"))
    target = tmp_path / "x.parquet"
    assert deque(parquet_steps(document, None, target, raw=True), maxlen=1)[0].masked
    assert token not in "".join(map(str, _rows(target)))
    deque(parquet_steps(document, None, target, raw=True, masked=False), maxlen=0)
    assert token in "".join(map(str, _rows(target)))


def _rows(target: Path) -> list[tuple[object, ...]]:
    import duckdb

    return duckdb.execute(f"SELECT * REPLACE ({RAW_COLUMN}::VARCHAR AS {RAW_COLUMN}) FROM '{target}'").fetchall()


def test_an_export_that_is_opened_has_a_title(tmp_path: Path) -> None:
    target = tmp_path / "x.parquet"
    deque(parquet_steps(document_of(envelope()), iter([0]), target, fields=("no",), raw=True), maxlen=0)
    assert FORMAT_TITLES[document_at(target).format or ""] == "Parquet export"


def test_some_messages_and_fields(tmp_path: Path) -> None:
    import duckdb

    document = document_of(envelope(), tool_call("grep"), envelope())
    target = tmp_path / "x.parquet"
    done = deque(parquet_steps(document, iter([0, 2]), target, fields=("no", "kind", "text")), maxlen=1)[0]
    assert done.messages == 2
    assert duckdb.execute(f"SELECT no, kind FROM '{target}'").fetchall() == [(1, "chat"), (3, "chat")]


def test_a_text_that_is_no_unicode_is_written(tmp_path: Path) -> None:
    document = document_of('{"kind":"chat","id":"1","from":"a\\ud800","payload":{"text":"\\udce4"}}')
    deque(parquet_steps(document, None, tmp_path / "x.parquet"), maxlen=0)


def test_a_file_without_raw_says_so(tmp_path: Path) -> None:
    log = document_of(envelope()).capture.sources[0].path
    target = tmp_path / "x.parquet"
    printed("export", log, "-o", target)
    found = asked("summary", target)
    assert "exported without --with-raw" in found.stderr
    printed("export", log, "-o", target, "--with-raw")
    assert '"format": "parquet"' in printed("summary", target, "--json")
    whole = target.read_bytes()
    target.write_bytes(whole[:-20])
    assert "is damaged or not complete" in asked("summary", target).stderr


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--format", "parquet", "-o", "-"), "cannot be streamed"),
        (("--format", "parquet", "-o", "/nowhere/x"), "/nowhere/x cannot be written"),
        (("--format", "jsonl", "-o", "x", "--with-raw"), "--with-raw requires"),
        (("--format", "parquet", "-o", "x", "-e", "payload.text"), "no fixed type"),
    ],
)
def test_what_cannot_be_is_said(words: tuple[str, ...], says: str) -> None:
    found = asked("export", document_of(envelope()).capture.sources[0].path, *words)
    assert found.exit_code == 2
    assert says in found.stderr


def test_a_full_disk_leaves_what_was_there(tmp_path: Path) -> None:
    document = document_of(*(envelope(payload={"text": f"{n} " * 400}) for n in range(50)))
    target = tmp_path / "x.parquet"
    target.write_bytes(b"before")
    full = OSError(errno.ENOSPC, "No space left on device")
    with (
        mock.patch("inspector.tables.database.Database.write", side_effect=full),
        pytest.raises(OSError, match="space"),
    ):
        deque(parquet_steps(document, None, target), maxlen=0)
    assert target.read_bytes() == b"before"
    assert [one.name for one in tmp_path.iterdir()] == ["x.parquet"]
