"""Every input is read as its lines are: archives, arrays, streams; what breaks off is said."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import threading
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import assume, example, given
from hypothesis import strategies as st

from inspector.base.slices import run_to_end
from inspector.document.document import CaptureDocument
from inspector.protocol.array_elements import ElementScanner
from inspector.reading.files.source_reader import UnknownFormatError
from inspector.sources.decoders import is_compressed
from tests.builders import clean_up, document_at, envelope, lines_of, log_file, received, tool_call
from tests.pictures import picture
from tests.samples import FORMAT_SAMPLES, first_of
from tests.strategies import logs, share_of_examples

SAMPLES = sorted(path for path in FORMAT_SAMPLES.values() if path.suffix in (".jsonl", ".ctxcap"))
PACKERS = {".gz": gzip.compress, ".zst": zstandard.compress}
packed = pytest.mark.parametrize("ending", PACKERS)


@pytest.mark.parametrize("sample", first_of(SAMPLES, 4), ids=lambda path: path.name)
def test_an_archive_of_any_format_reads_as_what_is_in_it(sample: Path) -> None:
    plain = document_at(sample)
    seen = picture(plain)
    for pack in PACKERS.values():
        # Known by its content: the name says nothing.
        document = document_at(log_file(pack(sample.read_bytes()), sample.name))
        assert picture(document) == seen
        assert (document.format, document.read_errors) == (plain.format, [])


@share_of_examples(2)
@packed
@given(logs, st.integers(1, 3))
@example(b"\n\x00\n", 2)  # the first two bytes do not tell yet that it begins as OTLP in protobuf
def test_archives_of_several_members_read_as_one(ending: str, data: bytes, members: int) -> None:
    assume(not is_compressed(data))  # an archive in an archive is no log
    size = len(data) // members + 1
    parts = [PACKERS[ending](data[at : at + size]) for at in range(0, len(data), size)]
    documents = [CaptureDocument(), CaptureDocument()]
    outcomes: list[Any] = []
    for document, path in zip(documents, (log_file(data), log_file(b"".join(parts))), strict=True):
        try:
            document.load(path)
            outcomes.append(picture(document))
        except UnknownFormatError as error:
            outcomes.append(str(error))
        document.close()
    assert outcomes[0] == outcomes[1]
    clean_up()


@packed
def test_a_gateway_log_and_its_decisions_open_together_packed_or_not(tmp_path: Path, ending: str) -> None:
    decision = {
        "timestamp": "2026-01-05T09:00:00Z", "event": "capability_check", "envelope_id": "a", "result": "allowed",
    }  # fmt: skip
    log = tmp_path / f"envelope-history.jsonl{ending}"
    log.write_bytes(PACKERS[ending](lines_of(received(envelope(id="a")))))
    beside = tmp_path / "capability-decisions.jsonl"
    for path, data in ((beside, lines_of(decision)), (Path(f"{beside}{ending}"), PACKERS[ending](lines_of(decision)))):
        path.write_bytes(data)
        document = document_at(log)
        assert document.decisions.decisions_on(0) == [decision]
        assert document.name == f"{tmp_path.name}/envelope-history.jsonl{ending}"
        path.unlink()
    assert document_at(log).decisions.found is None


@packed
def test_a_cut_archive_keeps_what_could_be_read_and_says_where_it_stops(ending: str) -> None:
    whole = lines_of(*({"kind": "chat", "id": os.urandom(40).hex()} for _ in range(8_000)))
    data = PACKERS[ending](whole)
    document = document_at(log_file(data[: len(data) // 2], "night.jsonl" + ending))
    assert 2_000 < len(document.capture) < 6_000
    assert document.unreadable <= 1
    (trouble,) = document.read_errors
    assert trouble.startswith(f"night.jsonl{ending} is damaged or not complete: it ends in the middle. It stopped")
    assert f"of {len(data) // 2:,} bytes; the " in trouble


def test_an_archive_of_nothing_known_is_refused_like_a_file() -> None:
    with pytest.raises(UnknownFormatError, match=r"^notes is no log that can be read\. Its first line is plain text\."):
        document_at(log_file(gzip.compress(b"hello\n"), "notes"))


def test_an_archive_that_is_not_unpacked_is_named() -> None:
    inner = lines_of(envelope())
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w") as file:
        file.writestr("log.jsonl", inner)
    for data, named in (
        (bz2.compress(inner), "a bzip2 archive"), (lzma.compress(inner), "an xz archive"),
        (zipped.getvalue(), "a zip archive"), (gzip.compress(gzip.compress(inner)), "a gzip archive within an archive"),
        (zstandard.compress(gzip.compress(inner)), "a gzip archive within an archive"),
        (gzip.compress(zstandard.compress(inner)), "a Zstandard archive within an archive"),
    ):  # fmt: skip
        with pytest.raises(UnknownFormatError) as found:
            document_at(log_file(data, "notes"))
        assert str(found.value) == f"notes is {named}. Unpack it, and open the log that is in it."


def test_an_empty_archive_is_an_empty_log() -> None:
    assert len(document_at(log_file(gzip.compress(b""))).capture) == 0


# Arrays


def array_of(lines: list[Any], indent: int | None) -> bytes:
    return json.dumps(lines, indent=indent).encode()


@pytest.mark.parametrize("indent", first_of((2, None, 0)))
@pytest.mark.parametrize("size", [7, 1 << 20])
def test_an_array_of_any_lines_reads_as_the_lines(indent: int | None, size: int) -> None:
    lines = [
        envelope(), received(envelope("mcp/request")), tool_call("read"), {"jsonrpc": "2.0", "id": 1, "method": "ping"},
        {"t": 10**18, "dir": "in", "message": {"jsonrpc": "2.0", "id": 2, "result": {}}}, {"what": 1}, [envelope()],
        7, "x",
    ]  # fmt: skip
    plain = document_at(log_file(lines_of(*map(json.dumps, lines))))
    data = array_of(lines, indent)
    for stored in (data, *(pack(data) for pack in PACKERS.values())):
        document = CaptureDocument()
        for _ in document.open_log(log_file(stored), block_bytes=size):
            pass
        assert [document.capture.records.envelope(m) for m in range(9)] == [
            plain.capture.records.envelope(m) for m in range(9)
        ]
        assert document.kind_counts() == plain.kind_counts()
        assert document.read_errors == []
        elements = [document.capture.records.read_line_of(message) for message in range(9)]
        assert [json.loads(element) for element in elements] == lines
        assert all(element in data for element in elements)
        document.close()


@share_of_examples(2)
@given(st.lists(st.integers(0, 9).map(lambda n: envelope(payload={"text": '[{"\\' * n, "list": [{}] * n})), min_size=1,
                max_size=6),
       st.sampled_from([None, 0, 1, 4]), st.integers(5, 400))  # fmt: skip
def test_elements_are_kept_byte_for_byte(lines: list[Any], indent: int | None, size: int) -> None:
    document = CaptureDocument()
    for _ in document.open_log(log_file(array_of(lines, indent)), block_bytes=size):
        pass
    assert [
        json.loads(document.capture.records.read_line_of(message)) for message in range(len(document.capture))
    ] == lines
    document.close()
    clean_up()


@pytest.mark.parametrize(
    ("data", "messages", "unreadable", "cut_off"),
    [
        (b"[" + json.dumps(envelope()).encode() + b"]", 1, 0, False),
        (b"[" + json.dumps(envelope()).encode() + b', {"kind":"chat"', 2, 1, True),
        (b"[\n" + json.dumps(envelope()).encode() + b",\n", 1, 0, True),
        (b"[\n" + json.dumps(envelope()).encode() + b', oops,\n{"kind":"chat"}]\nthe end\n', 4, 2, False),
    ],
)
def test_arrays_with_something_the_matter(data: bytes, messages: int, unreadable: int, cut_off: bool) -> None:
    document = document_at(log_file(data, "export.json"))
    assert (len(document.capture), document.unreadable) == (messages, unreadable)
    cut = "export.json ends before its JSON array is closed: it may have been cut off."
    assert document.read_errors == [cut] * cut_off


@pytest.mark.parametrize("data", [b"[]", b" \n[ ] \n"])
def test_an_empty_array_is_refused_with_what_it_is(data: bytes) -> None:
    document = CaptureDocument()
    with pytest.raises(UnknownFormatError, match="it is an empty array"):
        run_to_end(document.open_log(log_file(data, "export.json")))
    document.close()


def test_an_element_longer_than_a_block() -> None:
    lines = [envelope(), envelope(payload={"text": "[" * 50_000, "more": [[[]]] * 5_000}), envelope()]
    document = CaptureDocument()
    for _ in document.open_log(log_file(array_of(lines, 2)), block_bytes=1_000):
        pass
    assert [document.capture.records.envelope(message) for message in range(3)] == lines
    document.close()


@pytest.mark.parametrize(
    ("data", "messages"),
    [
        (b'[{"jsonrpc":"2.0","id":1,"method":"a"},{"id":2}]\n[{"a":1}]\n{"kind":"chat"}\n', 4),
        (b'[{"jsonrpc":"2.0","id":1,"method":"a"},\n{"jsonrpc":"2.0","id":2,"method":"a"}]\n', 2),
        (b'[INFO] starting\n{"kind":"chat"}\n', 2),
        (b'[2026-01-05] starting\n{"kind":"chat"}\n', 2),
        (b'["a"] starting\n{"kind":"chat"}\n', 2),
        (b'\xef\xbb\xbf[{"kind":"chat"},{"kind":"chat"}]\n', 2),
        (b'[{"kind":"chat"},{"kind":"chat"}]\n\nbye\n', 3),
    ],
    ids=["arrays", "an array", "words", "a date", "a word", "an array on one line", "an array, and a line"],
)
def test_lines_that_begin_with_a_bracket_are_told_from_an_array(data: bytes, messages: int) -> None:
    assert len(document_at(log_file(data)).capture) == messages


CALLS = [{"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": {"text": '"[{'}} for n in range(4)]


@pytest.mark.parametrize("first", [b"", b"\xef\xbb\xbf", lines_of(envelope())])
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b""])
def test_each_message_of_a_batch_is_a_row(first: bytes, end: bytes) -> None:
    one, two = json.dumps(CALLS[:3]).encode(), json.dumps(CALLS[3:], separators=(",", ":")).encode()
    document = document_at(log_file(first + one + b"\n" + two + end))
    count = first.count(b"\n")
    rows = [document.capture.records.read_line_of(message) for message in range(len(document.capture))][count:]
    assert [json.loads(row) for row in rows] == CALLS
    assert all(row in one + two for row in rows)
    assert document.kind_counts()["mcp/request"] == 4
    assert not document.unreadable


def test_rows_of_batches_that_come_while_the_log_is_followed() -> None:
    path = log_file(json.dumps(CALLS[:2]).encode() + b"\n")
    document = CaptureDocument()
    for _ in document.open_log(path, follow=True):
        pass
    assert len(document.capture) == 2
    with path.open("ab") as file:
        file.write(json.dumps(CALLS[2:]).encode() + b"\n")
    until = time.monotonic() + 50
    while len(document.capture) < 4 and time.monotonic() < until:
        document.poll()
        time.sleep(0.01)
    assert [document.capture.records.envelope(message) for message in range(4)] == CALLS
    document.close()


def test_what_else_is_in_a_batch_is_a_row_too() -> None:
    for spoilt, unreadable in (([*CALLS, 7], 1), ([*CALLS, {"kind": "chat"}], 0), ([7, {}, CALLS[0]], 2)):
        document = document_at(log_file(lines_of(envelope(), json.dumps(spoilt))))
        assert (len(document.capture), document.unreadable) == (1 + len(spoilt), unreadable)


def test_an_array_without_a_message_is_one_line_that_cannot_be_read() -> None:
    for spoilt in ([[*CALLS]], [], [7], [{"a": 1}]):
        document = document_at(log_file(lines_of(envelope(), json.dumps(spoilt))))
        assert (len(document.capture), document.unreadable) == (2, 1)


def test_an_array_of_nothing_known_is_refused() -> None:
    with pytest.raises(UnknownFormatError, match="Its first element is an object with the key `a`"):
        document_at(log_file(b'[{"a":1}]'))


# Streams


@pytest.fixture
def stream(tmp_path: Path) -> Path:
    if not hasattr(os, "mkfifo"):
        pytest.skip("no named pipes here")
    path = tmp_path / "pipe"
    os.mkfifo(path)
    return path


def test_rows_of_a_stream_are_there_before_its_end(stream: Path) -> None:
    document = CaptureDocument()
    document.sources.waits = False
    steps = document.open_log(stream)
    next(steps)
    with stream.open("wb", buffering=0) as writer:
        for n in range(1, 4):
            writer.write(lines_of(envelope()))
            while len(document.capture) < n:
                assert next(steps).total == 0
            assert (document.live, document.name) == (True, "pipe")
        writer.write(b'{"kind":"torn"')
    for _ in steps:
        pass
    assert (len(document.capture), document.unreadable, document.live, document.read_errors) == (4, 1, False, [])
    assert document.path is not None
    assert document.path.read_bytes().endswith(b'{"kind":"torn"')
    document.close()


def test_a_stream_that_starts_with_words_is_read_once_a_line_is_known(stream: Path) -> None:
    writer = threading.Thread(target=lambda: stream.write_bytes(b"starting\nready\n" + lines_of(envelope())))
    writer.start()
    document = document_at(stream)
    writer.join()
    assert (len(document.capture), document.unreadable) == (3, 2)


def test_a_stream_of_nothing_known_is_refused_before_its_end(stream: Path) -> None:
    document = CaptureDocument()
    document.sources.waits = False
    steps = document.open_log(stream)
    next(steps)
    with stream.open("wb", buffering=0) as writer:
        writer.write(b"words\n" * 1_000)
        with pytest.raises(UnknownFormatError, match="pipe is no log"):
            for _ in steps:
                pass
    document.close()


def test_sessions_that_come_in_a_stream_are_read_once_all_have_come(stream: Path) -> None:
    sample = Path(__file__).parents[1] / "data" / "msp" / "weekly-report.json"
    document = CaptureDocument()
    document.sources.waits = False
    steps = document.open_log(stream)
    next(steps)
    data = sample.read_bytes()
    with stream.open("wb", buffering=0) as writer:
        for piece in (data[:100], data[100:900], data[900:]):
            writer.write(piece)
            for _ in range(20):
                assert next(steps).waiting
                time.sleep(0.001)
    for _ in steps:
        pass
    assert picture(document) == picture(document_at(sample))
    assert document.msp is not None
    assert (document.msp.changed_on_disk(), document.msp.is_dirty, document.live) == ([], False, False)
    document.close()


def test_sessions_of_a_stream_that_is_given_up_leave_no_file(stream: Path) -> None:
    document = CaptureDocument()
    document.sources.waits = False
    steps = document.open_log(stream)
    next(steps)
    with stream.open("wb", buffering=0) as writer:
        writer.write(b'{"session_id": "m1", "messages": []}')
        next(steps)
        spool = document.path
        assert spool is not None
        assert spool.exists()
        steps.close()
        document.close()
    assert not spool.exists()


def test_reading_that_is_given_up_ends_the_stream(stream: Path) -> None:
    document = CaptureDocument()
    document.sources.waits = False
    steps = document.open_log(stream)
    next(steps)
    with stream.open("wb", buffering=0) as writer:
        writer.write(lines_of(envelope()))
        while not len(document.capture):
            next(steps)
        steps.close()
    assert (document.live, document.capture.sources[0].is_growing, len(document.capture)) == (False, False, 1)
    assert document.capture.records.envelope(0) is not None
    document.close()


def _said(number: int, second: int) -> dict[str, Any]:
    return {"kind": "chat", "id": f"m{number}", "ts": f"2026-01-05T09:00:{second:02d}.000Z", "payload": {}}


@pytest.mark.parametrize(
    ("seconds", "wrapped", "turned"),
    [
        ([3, 2, 1], False, True), ([1, 2, 3], False, False), ([3, 2], False, False), ([3, 1, 2], False, False),
        ([2, 2, 2], False, False), ([2, 1], True, True), ([1, 2], True, False), ([5], True, False), ([], True, False),
    ],
)  # fmt: skip
def test_histories_are_read_oldest_first(seconds: list[int], wrapped: bool, turned: bool) -> None:
    elements = [_said(number, second) for number, second in enumerate(seconds)]
    data = json.dumps({"history": elements} if wrapped else elements, indent=1).encode()
    document = document_at(log_file(data, "history.json"))
    ids = [document.capture.records.envelope_id(row) for row in range(len(document.capture))]
    expected = [f"m{number}" for number in range(len(seconds))]
    assert (ids, document.unreadable) == (expected[::-1] if turned else expected, 0)


@pytest.mark.parametrize("size", [1, 7, 50])
def test_a_history_may_be_cut_anywhere(size: int) -> None:
    data = json.dumps({"history": [_said(1, 1), _said(2, 2)]}).encode() + b"\n"
    scanner = ElementScanner(begin=data.index(b"[") + 1)
    spans = [span for start in range(0, len(data), size) for span in scanner.scan(data[start : start + size])]
    spans += scanner.finish()
    assert [json.loads(data[start:stop])["id"] for start, stop in spans if data[start:stop].strip()] == ["m1", "m2"]
