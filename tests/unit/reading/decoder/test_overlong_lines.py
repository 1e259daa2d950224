"""Lines longer than may be read: one unreadable row each, the same however the file is read, in little memory."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.document.document import CaptureDocument
from inspector.reading.decoder import overlong_lines
from inspector.reading.workers.part_reader import read_part
from inspector.store.columns.flags import Flag
from inspector.store.files import long_lines
from inspector.store.files.source_files import SourceFile
from inspector.store.messages.exact_bytes import ExactMessage
from tests import builders
from tests.builders import GrowingLog, envelope, lines_of, log_file

LIMIT = 3_000


@pytest.fixture(autouse=True)
def low_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_lines, "MAX_LINE_BYTES", LIMIT)
    monkeypatch.setattr(overlong_lines, "_HEAD_BYTES", 200)


def opened(path: Path, block_bytes: int = 1 << 20) -> CaptureDocument:
    document = CaptureDocument()
    for _ in document.open_log(path, block_bytes=block_bytes):
        pass
    return document


def test_an_overlong_line_is_one_unreadable_row_between_its_neighbours() -> None:
    long = b'{"kind":"chat","text":"' + b"x" * 10_000
    path = log_file(lines_of(envelope(id="a")) + long + b"\n" + lines_of(envelope(id="b")))
    document = opened(path, 512)
    capture = document.capture
    assert [capture.records.envelope_id(message) for message in (0, 2)] == ["a", "b"]
    assert capture.flags_of(1) == Flag.UNREADABLE
    assert int(capture.columns["length"][1]) == len(long)
    assert document.unreadable == 1
    assert b"".join(ExactMessage(capture, 1).read_parts()) == long
    document.close()


def test_an_overlong_line_without_an_end_is_a_row_once_nothing_more_comes() -> None:
    log = GrowingLog()
    log.write(envelope(id="a"))
    log.document.sources._readers[0]._live = False
    log.write_bytes(b"x" * 10_000)
    assert len(log.document.capture) == 1
    log.write_bytes(b"x" * 10_000)
    log.end()
    assert int(log.document.capture.columns["length"][1]) == 20_000


_LINES = st.lists(
    st.sampled_from([lines_of(envelope(id="a")), b"\n", b"x" * (LIMIT + 1) + b"\n", b"x" * (LIMIT - 1) + b"\n",
                     b"y" * LIMIT + b"\n", b'{"kind":"chat"}' + b" " * 2 * LIMIT + b"\n", b"z" * 3 * LIMIT + b"\n"]),
    min_size=1, max_size=8,
)  # fmt: skip


# Blocks and parts are never longer than a line may be.
@given(_LINES, st.integers(64, LIMIT), st.lists(st.integers(0, 40_000), max_size=6), st.booleans())
def test_however_a_file_is_cut_it_has_the_same_rows(
    lines: list[bytes], block_bytes: int, cuts: list[int], ended: bool
) -> None:
    data = lines_of(envelope(id="first")) + b"".join(lines)
    path = log_file(data if ended else data[:-1])
    one, other = opened(path, LIMIT), opened(path, block_bytes)
    rows = _rows(one)
    assert _rows(other) == rows
    source = SourceFile(path)
    places = sorted({*range(0, len(data), LIMIT), len(data), *(cut for cut in cuts if cut < len(data))})
    parts: list[tuple[int, int, int]] = []
    for start, stop in pairwise(places):
        columns = read_part(source, 0, start, stop).columns
        parts += zip(*(columns[name].tolist() for name in ("offset", "length", "flags")), strict=True)
    unended = not ended and not data[:-1].endswith(b"\n")
    assert parts == (rows[:-1] if unended else rows)
    for closed in (one, other):
        closed.close()
    source.close()
    builders.clean_up()


def _rows(document: CaptureDocument) -> list[tuple[int, int, int]]:
    columns = document.capture.columns
    return list(zip(*(columns[name].tolist() for name in ("offset", "length", "flags")), strict=True))
