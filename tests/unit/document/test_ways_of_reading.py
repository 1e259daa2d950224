"""Random traffic of agents gives the same, whether it is read whole, in blocks, or while it grows at any byte."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.base.slices import run_to_end
from inspector.document.document import CaptureDocument
from inspector.reading.files.source_reader import UnknownFormatError
from tests import second_traffic
from tests.builders import GrowingLog, clean_up, lines_of, log_file
from tests.pictures import picture
from tests.varied import SAMPLES, compacted_sessions, sample_lines, traces, varied_samples

_any_traffic = st.one_of(varied_samples(), varied_samples(), traces(), compacted_sessions(), second_traffic.sequences())
_cuts = st.lists(st.integers(0, 50_000), max_size=4)


def everything(document: CaptureDocument) -> dict[str, Any]:
    """All there is to see of a document, with its findings."""
    findings = document.analysis.findings.all()
    return {
        **picture(document),
        "findings": sorted((one.code, one.row, -1 if one.other is None else one.other, one.text) for one in findings),
    }


def opened(data: bytes, block_bytes: int) -> dict[str, Any] | None:
    """A file read in blocks of this size; None where it is no log."""
    document, seen = CaptureDocument(), None
    try:
        with suppress(UnknownFormatError):
            for _ in document.open_log(log_file(data, "growing"), block_bytes=block_bytes):  # a field shows the name
                pass
            run_to_end(document.postponed_checks())
            seen = everything(document)
    finally:
        document.close()
    return seen


def grown(data: bytes, cuts: Sequence[int]) -> dict[str, Any]:
    """A file that grew to each of these places, and was read each time."""
    log = GrowingLog()
    for start, stop in pairwise([0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]):
        log.write_bytes(data[start:stop])
    return everything(log.end())


def is_converted(seen: dict[str, Any]) -> bool:
    """Tells whether a file is read through another made of it, which no capture grows by."""
    return any(source["format"] == "otlp" for source in seen["totals"]["sources"])


def differences(one: Any, other: Any, path: str = "") -> list[str]:
    """Places at which two pictures differ, so that a failure is readable."""
    if isinstance(one, dict) and isinstance(other, dict):
        return [line for key in {**one, **other} for line in differences(one.get(key), other.get(key), f"{path}.{key}")]
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return [
            line for n, (a, b) in enumerate(zip(one, other, strict=True)) for line in differences(a, b, f"{path}[{n}]")
        ]
    return [] if one == other else [f"{path}: {one!r} != {other!r}"]


@given(_any_traffic, st.sampled_from((300, 1_000, 5_000)), _cuts)
def test_whole_in_blocks_and_growing_are_the_same(lines: list[Any], block_bytes: int, cuts: list[int]) -> None:
    data = lines_of(*lines)
    try:
        whole = opened(data, 1 << 20)
        if whole is not None:
            _expect_same(whole, opened(data, block_bytes), "in blocks")
            if not is_converted(whole):
                _expect_same(whole, grown(data, cuts), "growing")
    finally:
        clean_up()


def _expect_same(whole: dict[str, Any], other: dict[str, Any] | None, way: str) -> None:
    found = differences(whole, other)
    assert not found, f"{way}: {len(found)} differences\n" + "\n".join(line[:300] for line in found[:8])


@given(_any_traffic)
def test_every_line_is_there(lines: list[Any]) -> None:
    data = lines_of(*lines)
    document = CaptureDocument()
    try:
        with suppress(UnknownFormatError):
            document.load(log_file(data))
            if document.format != "otlp":  # a line of spans is read span by span
                assert document.capture.record_count == len(lines)
    finally:
        document.close()
        clean_up()


def _with_half_pairs(value: Any, key: object = "") -> Any:
    """A value whose ids end with half of a surrogate pair, which no UTF-8 holds."""
    if isinstance(value, dict):
        return {name: _with_half_pairs(inner, name) for name, inner in value.items()}
    if isinstance(value, list):
        return [_with_half_pairs(inner) for inner in value]
    is_id = isinstance(value, str) and str(key).lower().endswith(("id", "uuid"))
    return f"{value}\ud800" if is_id else value


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_ids_that_are_no_unicode_are_read(path: Path) -> None:
    lines = [_with_half_pairs(line) for line in sample_lines(path)]
    assert opened(lines_of(*lines), 1 << 20) is not None
    clean_up()
