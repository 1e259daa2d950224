"""Conversions of files, those of large ones in a process of their own."""

from __future__ import annotations

import json
import multiprocessing
import time
from pathlib import Path

import pytest

from inspector.formats.file_conversion import Conversion, NotConvertedError
from inspector.formats.har.conversion import HarConversion
from inspector.formats.otlp.file_conversion import OtlpFile
from inspector.sources.conversion_worker import WORTHWHILE_BYTES, lines_of

pytestmark = pytest.mark.real


def span(name: str, parent: str = "") -> bytes:
    told = {"traceId": "1" * 32, "spanId": name, "parentSpanId": parent, "name": name, "startTimeUnixNano": "1"}
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [told]}]}]}).encode() + b"\n"


def none_is_left() -> bool:
    """Whether the processes end; a thread of theirs sees them off meanwhile."""
    until = time.monotonic() + 50
    while (left := multiprocessing.active_children()) and time.monotonic() < until:
        left[0].join(1)
    return not left


def test_a_process_makes_the_same_lines_and_the_file_goes_on_as_if_they_were_made_here(tmp_path: Path) -> None:
    path = tmp_path / "spans.jsonl"
    path.write_bytes(span("a" * 16, "b" * 16) + b"no span\n" + b'{"resourceSpans":')
    here, there = OtlpFile(path), OtlpFile(path)
    assert b"".join(lines_of(there, WORTHWHILE_BYTES)) == b"".join(lines_of(here, 0)) != b""
    assert (there.progress, there.can_grow) == (here.progress, here.can_grow)
    gained = b"[]}\n" + span("b" * 16)
    assert there.convert_more(gained) == here.convert_more(gained) != b""
    assert none_is_left()


def test_what_is_no_further_converted_there_is_said_here(tmp_path: Path) -> None:
    path = tmp_path / "torn.har"
    path.write_text('{"log": {"version": "1.2", "entries": [{"started')
    with pytest.raises(NotConvertedError, match="it ends in the middle of its entries"):
        list(lines_of(HarConversion(path), WORTHWHILE_BYTES))
    gone = OtlpFile(path)
    path.unlink()
    with pytest.raises(FileNotFoundError):
        list(lines_of(gone, WORTHWHILE_BYTES))


def test_the_lines_before_an_error_arrive(tmp_path: Path) -> None:
    path = tmp_path / "torn.har"
    exchange = {"startedDateTime": "2025-01-01T00:00:00.000Z", "request": {}, "response": {}}
    path.write_text('{"log": {"version": "1.2", "entries": [' + f"{json.dumps(exchange)}, " * 10)
    assert made_before_the_error(HarConversion(path), WORTHWHILE_BYTES).count(b"\n") == 20
    assert made_before_the_error(HarConversion(path), 0).count(b"\n") == 20


def made_before_the_error(conversion: Conversion, size: int) -> bytes:
    made: list[bytes] = []
    with pytest.raises(NotConvertedError):
        made.extend(lines_of(conversion, size))
    return b"".join(made)


def test_the_process_ends_with_whoever_has_had_enough(tmp_path: Path) -> None:
    path = tmp_path / "spans.jsonl"
    path.write_bytes(span("a" * 16) * 100_000)
    lines = lines_of(OtlpFile(path), WORTHWHILE_BYTES)
    assert next(lines) == b""
    lines.close()
    assert none_is_left()
