"""A file is a log when one of its first 1,000 lines is known."""

from __future__ import annotations

import pytest

from inspector.capture.sniff import SNIFFED_LINES, why_unknown
from inspector.capture.sources import SourceFile
from tests.builders import envelope, lines_of, log_file


def reason(data: bytes) -> str | None:
    source = SourceFile(log_file(data))
    try:
        return why_unknown(source)
    finally:
        source.close()


@pytest.mark.parametrize("width", [4, 2_000], ids=["short", "long"])
def test_the_first_thousand_lines_decide(width: int) -> None:
    unknown = b"x" * width + b"\n"
    known = lines_of(envelope())
    assert reason(unknown * (SNIFFED_LINES - 1) + known) is None
    assert reason(unknown * SNIFFED_LINES + known) == "no JSON at byte 0: Expecting value"


def test_a_line_longer_than_a_chunk() -> None:
    assert reason(lines_of(envelope(payload={"text": "x" * 300_000}))) is None


def test_stream_frames_alone_make_no_log() -> None:
    assert reason(b"#s#data\n") == "a stream frame"


@pytest.mark.parametrize("data", [b"", b"\n \r\n"], ids=["empty", "blank"])
def test_nothing_is_not_unknown(data: bytes) -> None:
    assert reason(data) is None


def test_a_byte_order_mark_is_no_part_of_the_first_line() -> None:
    assert reason(b"\xef\xbb\xbf" + lines_of(envelope())) is None
