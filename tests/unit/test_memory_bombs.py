"""Files that would fill memory once decoded, whatever their size: refused before that, with a word."""

from __future__ import annotations

import sqlite3
import tarfile
from collections.abc import Iterator
from contextlib import closing
from itertools import chain
from pathlib import Path

import duckdb
import pytest

from inspector.document.document import CaptureDocument
from inspector.document.source_list import read_source_list
from inspector.formats import databases
from inspector.formats.file_conversion import NotConvertedError
from inspector.formats.line_reading import read_line
from inspector.formats.opencode.conversion import OpenCodeConversion, SessionStore
from inspector.formats.opencode.sessions import SESSIONS
from inspector.formats.otlp import conversion as otlp_conversion
from inspector.formats.otlp.file_conversion import OtlpFile
from inspector.formats.otlp.stream_conversion import as_they_come
from inspector.formats.parquet import conversion as parquet_conversion
from inspector.formats.parquet.conversion import RAW_COLUMN, ParquetConversion
from inspector.protocol import json_size
from inspector.protocol.json_size import TOO_LARGE, estimate_decoded_bytes, is_too_large
from inspector.reading.files.source_reader import UnknownFormatError
from inspector.sources import conversion_worker
from inspector.sources.agent_sessions.files import Listing
from inspector.sources.conversion_worker import lines_of
from tests.builders import document_at, log_file

MB = 1 << 20
_LISTS = b"[]," * (6 * MB // 3)
_LINES = {
    "claude": (b'{"type":"user","uuid":"u","sessionId":"s","message":{"role":"user","content":[', b"1]}}\n"),
    "copilot": (b'{"type":"user.message","data":{"content":"hi","x":[', b'1]},"id":"a","timestamp":"2026"}\n'),
    "messages": (b'{"model":"m","messages":[{"role":"user","content":[', b"1]}]}\n"),
}


def test_what_json_takes_is_told_by_its_brackets_and_commas() -> None:
    assert estimate_decoded_bytes(b'{"a":[1,2,"x"]}') == 15 + 2 * 100 + 2 * 40
    assert not is_too_large(_LISTS)
    assert is_too_large(b"[]," * (8 * MB))


@pytest.mark.parametrize("sort", _LINES)
def test_a_line_of_brackets_is_one_unreadable_record(sort: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_size, "MAX_DECODED_BYTES", 100 * MB)
    before, after = _LINES[sort]
    good = b'{"kind":"chat","id":"a","payload":{"text":"hi"}}\n'
    document = document_at(log_file(good + before + _LISTS + after + good.replace(b'"a"', b'"b"')))
    assert len(document.capture) == 3
    assert document.unreadable == 1
    assert read_line(before + _LISTS + after[:-1]).reason == TOO_LARGE


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("a.har", b'{"log":{"version":"1.2","entries":[{"request":{"x":[', b"1]}}]}}"),
        ("chat.json", b'{"responderUsername":"x","requests":[{"message":{"text":"a"},"x":[', b"1]}]}"),
    ],
)
def test_an_archive_of_brackets_is_read_no_further(
    name: str, before: bytes, after: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_size, "MAX_DECODED_BYTES", 100 * MB)
    monkeypatch.setattr(conversion_worker, "WORTHWHILE_BYTES", 1 << 40)  # another process has the limit as it is
    document = CaptureDocument()
    with closing(document), pytest.raises(UnknownFormatError, match=TOO_LARGE):
        document.load(log_file(before + _LISTS + after, name))


def test_traces_that_memory_has_no_room_for_are_read_no_further(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(otlp_conversion, "available_bytes", lambda: MB)
    line = b'{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"a","traceId":"1","spanId":"2"}]}]}]}\n'
    path = log_file(line * 2_000)
    with pytest.raises(NotConvertedError, match="more than the 0 MB of memory"):
        list(OtlpFile(path).lines())
    with pytest.raises(NotConvertedError, match="more than the 0 MB of memory"):
        list(as_they_come([line * 2_000]))
    spans = [line.replace(b'"2"', b'"%d"' % number) for number in range(2_000)]
    assert b"".join(as_they_come(chain.from_iterable((one, None) for one in spans))).count(b"\n") == 2_000


@pytest.mark.parametrize("dense", [b'{"resourceSpans":[' + b"{}," * MB + b"{}]}\n", b"\x0a\x00" * MB])
def test_traces_of_nothing_but_brackets_are_not_decoded(dense: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """However much memory there is: they take fifty times their length, and minutes."""
    monkeypatch.setattr(otlp_conversion, "MAX_DECODED_BYTES", 16 * MB)
    monkeypatch.setattr(otlp_conversion, "available_bytes", lambda: 1 << 40)
    with pytest.raises(NotConvertedError, match=TOO_LARGE):
        list(OtlpFile(log_file(dense)).lines())


_DATABASE = (
    "CREATE TABLE session (id)", "CREATE TABLE message (id, session_id, time_created, data)",
    "CREATE TABLE part (id, session_id, message_id, data)", "INSERT INTO session VALUES ('s')",
)  # fmt: skip


def _database(path: Path, *statements: str) -> Path:
    with closing(sqlite3.connect(path)) as made:
        for statement in (*_DATABASE, *statements):
            made.execute(statement)
        made.commit()
    return path


@pytest.mark.parametrize("table", ["session", "message", "part"])
def test_a_database_that_works_out_values_is_read_no_further(table: str, tmp_path: Path) -> None:
    column = "big TEXT GENERATED ALWAYS AS (hex(zeroblob(50000000))) VIRTUAL"
    path = _database(tmp_path / "opencode.db", f"ALTER TABLE {table} ADD COLUMN {column}")
    document = CaptureDocument()
    with closing(document), pytest.raises(UnknownFormatError, match="it has generated values"):
        document.load(path)
    listing = Listing()
    found = [*SESSIONS.candidates(tmp_path, listing)]
    if table == "session":
        assert (found, listing.unreadable) == ([], [str(path)])


def test_a_default_that_many_rows_of_a_database_share_is_bounded_in_sum(tmp_path: Path) -> None:
    long = "x" * 400_000
    path = _database(
        tmp_path / "opencode.db", "INSERT INTO message VALUES ('m', 's', 1, '{\"role\":\"user\"}')",
        "DROP TABLE part", "CREATE TABLE part (id, session_id, message_id)",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) "
        "INSERT INTO part SELECT i, 's', 'm' FROM n",
        f"""ALTER TABLE part ADD COLUMN data DEFAULT '{{"type":"text","text":"{long}"}}'""",
    )  # fmt: skip
    assert path.stat().st_size < MB
    with pytest.raises(NotConvertedError, match="it holds more than a database of its size can"):
        list(OpenCodeConversion(SessionStore(path)).lines())


def test_a_database_that_takes_long_is_read_no_further(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(databases, "_LEAST_BOUND_S", -1.0)
    monkeypatch.setattr(databases, "_STEPS", 10)
    with pytest.raises(NotConvertedError, match="takes longer than a database of its size can need"):
        list(OpenCodeConversion(SessionStore(_database(tmp_path / "opencode.db"))).lines())


def test_a_name_in_a_database_that_is_not_utf_8_is_said(tmp_path: Path) -> None:
    path = _database(tmp_path / "opencode.db", "ALTER TABLE session ADD COLUMN zzzz")
    path.write_bytes(path.read_bytes().replace(b"zzzz", b"z\xea\xffz"))
    document = CaptureDocument()
    with closing(document), pytest.raises(UnknownFormatError, match="a name in it is not UTF-8"):
        document.load(path)


class _Endless:
    """A conversion of a small file that goes on for ever."""

    progress: tuple[int, int] = (0, 1)

    def __init__(self, line: bytes) -> None:
        self._line = line

    def lines(self) -> Iterator[bytes]:
        while True:
            yield self._line


def test_any_conversion_is_bounded_in_bytes_and_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversion_worker, "LEAST_BOUND_BYTES", 10 * MB)
    with pytest.raises(NotConvertedError, match="more bytes of lines than a file of its size can hold"):
        for _ in lines_of(_Endless(b"x" * MB), 1_000):
            pass
    monkeypatch.setattr(conversion_worker, "LEAST_BOUND_S", 0.05)
    with pytest.raises(NotConvertedError, match="takes longer than a file of its size can need"):
        for _ in lines_of(_Endless(b""), 1_000):
            pass


def test_a_value_that_all_rows_of_a_parquet_file_share_is_bounded_in_sum(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "messages.parquet"
    with closing(duckdb.connect()) as connection:
        made = f"SELECT repeat('x', 1000000) AS {RAW_COLUMN} FROM range(300)"
        connection.execute(f"COPY ({made}) TO '{path}' (FORMAT parquet)")
    monkeypatch.setattr(parquet_conversion, "LEAST_BOUND_BYTES", 100 * MB)
    assert path.stat().st_size < 2 * MB
    with pytest.raises(NotConvertedError, match="its lines are more bytes than a file of its size can hold"):
        list(ParquetConversion(path).lines())
    monkeypatch.setattr(parquet_conversion, "LEAST_BOUND_BYTES", 400 * MB)
    assert sum(map(len, ParquetConversion(path).lines())) == 300 * 1_000_001


def _bundle(**header: object) -> bytes:
    made = tarfile.TarInfo("sources.ctxsources")
    for name, value in header.items():
        setattr(made, name, value)
    return made.tobuf(tarfile.USTAR_FORMAT) + bytes(10_240)


def _negative() -> bytes:
    data = bytearray(_bundle())
    data[124:136] = b"\xff" * 8 + (-512).to_bytes(4, signed=True)
    data[148:156] = b" " * 8
    data[148:156] = b"%06o\0 " % sum(data[:512])
    return bytes(data)


@pytest.mark.parametrize(
    "data", [_negative(), _bundle(type=tarfile.SYMTYPE, linkname="/etc/passwd"), _bundle(size=1 << 32)]
)
def test_a_bundle_whose_list_is_none_is_damaged(data: bytes) -> None:
    with pytest.raises(OSError, match="damaged"):
        read_source_list(log_file(data, "a.ctxcap"))


@pytest.mark.parametrize(
    ("listed", "why"),
    [
        (b'{"ctxsources":1,"sources":[{"path":"a","clock_offset_ns":99999999999999999999999}]}', "clock_offset_ns"),
        (b'{"ctxsources":1,"sources":[{"path":"/dev/zero"}]}', "a pipe or a device"),
        (b'{"ctxsources":1,"sources":[{"path":"a","parts":["/dev/zero"]}]}', "a pipe or a device"),
    ],
)
def test_a_list_with_what_would_never_end_is_none(listed: bytes, why: str) -> None:
    with pytest.raises(UnknownFormatError, match=why):
        read_source_list(log_file(listed, "a.ctxsources"))
