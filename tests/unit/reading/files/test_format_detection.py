"""A file is a log when one of its first 1,000 lines is known."""

from __future__ import annotations

import json

import pytest

from inspector.base.slices import run_to_end
from inspector.msp.capture import SpoolFeed
from inspector.reading.files.format_detection import SNIFFED_LINES, detect_unknown, has_enough_bytes
from inspector.store.files.source_files import SourceFile
from inspector.store.files.spool import Spool
from tests.builders import document_at, envelope, lines_of, log_file


def facts(data: bytes) -> str | None:
    source = SourceFile(log_file(data))
    try:
        refusal, _ = run_to_end(detect_unknown(source))
        return None if refusal is None else refusal.facts
    finally:
        source.close()


@pytest.mark.parametrize("width", [4, 2_000], ids=["short", "long"])
def test_the_first_thousand_lines_decide(width: int) -> None:
    unknown = b"x" * width + b"\n"
    known = lines_of(envelope())
    assert facts(unknown * (SNIFFED_LINES - 1) + known) is None
    assert facts(unknown * SNIFFED_LINES + known) == "is no log that can be read. Its first line is plain text"


def test_a_line_longer_than_a_chunk() -> None:
    assert facts(lines_of(envelope(payload={"text": "x" * 300_000}))) is None


def test_stream_frames_alone_make_no_log() -> None:
    assert facts(b"#s#data\n") == "is no log that can be read. Its first line is plain text"


@pytest.mark.parametrize("data", [b"", b"\n \r\n"], ids=["empty", "blank"])
def test_nothing_is_not_unknown(data: bytes) -> None:
    assert facts(data) is None


def test_a_byte_order_mark_is_no_part_of_the_first_line() -> None:
    assert facts(b"\xef\xbb\xbf" + lines_of(envelope())) is None


@pytest.mark.parametrize("indent", [2, 4, "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("between", ["\n", "\n\n", " "])
def test_objects_of_several_lines_each_are_records(indent: int | str, end: str, between: str) -> None:
    envelopes = [envelope(id=f"m{number}", payload={"text": "{\n", "list": [{"a": 1}]}) for number in range(3)]
    text = between.join(json.dumps(one, indent=indent) for one in envelopes)
    document = document_at(log_file(text.replace("\n", end).encode()))
    assert [document.capture.records.envelope_id(row) for row in range(len(document.capture))] == ["m0", "m1", "m2"]
    assert document.read_errors == []


def test_a_torn_one_among_them_costs_no_other() -> None:
    one, two, three = (json.dumps(envelope(id=name), indent=2) for name in ("m1", "m2", "m3"))
    document = document_at(log_file(f"{one}\n{two[:-20]}\n{three}\n".encode()))
    assert (len(document.capture), document.unreadable) == (3, 1)


class _More(SpoolFeed):
    """A spool that more may be written to."""

    @property
    def is_growing(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("came", "enough"),
    [
        (b"", False),
        (b'{"kind":"ch', False),
        (b"{\r\n", False),
        (b"\xef\xbb\xbf{\n  ", False),
        (b'{\n  "kind"', True),
        (b'{"kind":"chat"}\n', True),
    ],
)
def test_how_much_of_a_stream_must_have_come(came: bytes, *, enough: bool) -> None:
    spool = Spool("stream")
    spool.write(came)
    feed = _More(spool)
    source = SourceFile(feed.path, feed=feed)
    try:
        assert has_enough_bytes(source) == enough
    finally:
        source.close()
