"""Every format folder keeps to the same rules: its samples have their figures, and damage costs no more than itself.

One folder alone: `pytest tests/unit/formats/test_conformance.py -k NAME`.
"""

from __future__ import annotations

import copy
import json
import random
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.formats import line_reading, table
from inspector.formats.format import Stage
from inspector.protocol.record import Shape
from inspector.reading.files.source_reader import UnknownFormatError
from tests.samples import first_of
from tests.strategies import share_of_examples
from tests.unit.formats import conformance
from tests.unit.formats.conformance import Folder, Rows, rows_of
from tests.varied import ODD

FOREIGN = b"another program wrote this line\n"
KEY_BYTES = 10 << 20
ELSEWHERE = {"msp": "tests/data/msp", "parquet": "tests/unit/export/test_parquet.py, which writes them"}
"""Folders of documents whose samples lie or are made elsewhere."""
FOLDERS = conformance.folders()
WITH_SAMPLES = [folder for folder in FOLDERS if folder.samples]
SAMPLES = [
    pytest.param(folder, sample, id=f"{folder.name}-{sample.name}") for folder, sample in conformance.all_samples()
]
LINES = [one for one in SAMPLES if not conformance.is_converted(one.values[1])]  # pyright: ignore[reportArgumentType]
"""Samples that are read line by line; all others are documents, which are converted as a whole."""


@pytest.fixture(autouse=True)
def known_format(request: pytest.FixtureRequest) -> Iterator[None]:
    """Adds the folder's format to the table if it is not listed there."""
    folder = request.getfixturevalue("folder") if "folder" in request.fixturenames else None
    if folder is None:
        yield
        return
    with conformance.in_table(folder):
        yield


@cache
def rows_of_sample(sample: Path) -> Rows:
    """Returns the rows of a sample as it is, which several tests compare with."""
    return rows_of(sample.read_bytes(), sample.name)


def missing(expected: Rows, found: Rows) -> list[dict[str, Any]]:
    """Returns rows of the first that the second lacks."""
    left = found.comparable()
    lacking: list[dict[str, Any]] = []
    for row in expected.comparable():
        try:
            left.remove(row)
        except ValueError:
            lacking.append(row)
    return lacking


def test_every_listed_format_has_a_folder_with_a_sample() -> None:
    assert {folder.format.name for folder in FOLDERS} >= {one.name for one in table.FORMATS}
    assert {folder.name for folder in FOLDERS if not folder.samples} == set(ELSEWHERE)
    without = [sample.name for _, sample in conformance.all_samples() if not conformance.expected_path(sample).exists()]
    assert without == [], "python -m tests.unit.formats.conformance --write FOLDER, and compare"
    large = [sample.name for folder in FOLDERS for sample in folder.samples if sample.stat().st_size > 60_000]
    assert large == [], "samples are small: at most 60 kB"


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_declaration_is_whole(folder: Folder) -> None:
    one = folder.format
    assert one.name
    assert one.title
    assert one.reads
    needs_payload = one.stage in (Stage.TRANSCRIPT, Stage.LATE, Stage.PROTOCOL)
    assert not needs_payload or one.payload is not None, "derived messages need a payload"
    assert one.participants is None or one.namespace.endswith("/"), "kinds of its own begin with a namespace"


@pytest.mark.parametrize(("folder", "sample"), SAMPLES)
def test_a_sample_has_its_figures(folder: Folder, sample: Path) -> None:
    assert conformance.figures(sample) == conformance.expected(sample)


@pytest.mark.parametrize(("folder", "sample"), SAMPLES)
def test_nothing_is_lost(folder: Folder, sample: Path) -> None:
    found = rows_of_sample(sample)
    assert found.rows
    assert conformance.lost(found) == [], "bytes of no record"


@pytest.mark.parametrize(("folder", "sample"), SAMPLES)
@share_of_examples(2)
@given(seed=st.integers(0, (1 << 32) - 1))
def test_any_cut_gives_the_same_rows(folder: Folder, sample: Path, seed: int) -> None:
    data, chance = sample.read_bytes(), random.Random(seed)
    whole = rows_of_sample(sample)
    # A source is recognized by its first line, so that comes whole.
    pieces = [data.index(b"\n") + 1, *(chance.randint(1, len(data) // 4 + 1) for _ in range(chance.randrange(12)))]
    cuts = [rows_of(data, sample.name, block_bytes=chance.choice((1, 50, 500, 5_000)))]
    cuts += [rows_of(data, sample.name, pieces=pieces)] if not conformance.is_converted(sample) else []
    for cut in cuts:
        assert cut.comparable() == whole.comparable()
        assert conformance.lost(cut) == []


@pytest.mark.parametrize(("folder", "sample"), SAMPLES)
def test_a_truncated_last_line_costs_that_line(folder: Folder, sample: Path) -> None:
    data, converted = sample.read_bytes(), conformance.is_converted(sample)
    *lines, last = data.rstrip(b"\n").splitlines(keepends=True)
    before = rows_of(b"".join(lines), sample.name) if lines and not converted else None
    for length in (1, len(last) // 2, len(last) - 1):
        try:
            found = rows_of(b"".join((*lines, last[:length])), sample.name)
        except UnknownFormatError:
            assert before is None, "a log of several lines is read"
            continue
        assert conformance.lost(found) == []
        assert before is None or missing(before, found) == []


@pytest.mark.parametrize(("folder", "sample"), LINES)
def test_a_foreign_line_in_the_middle_changes_no_other_row(folder: Folder, sample: Path) -> None:
    data = sample.read_bytes()
    whole, lines = rows_of_sample(sample), data.splitlines(keepends=True)
    for place in {1, len(lines) // 2, len(lines) - 1} - {0}:
        found = rows_of(b"".join((*lines[:place], FOREIGN, *lines[place:])), sample.name)
        assert missing(whole, found) == []
        assert len(found.rows) <= len(whole.rows) + 1
        assert conformance.lost(found) == [], "the line is a row of its own, or a part of the one above"


@pytest.mark.parametrize("folder", first_of(WITH_SAMPLES), ids=lambda folder: folder.name)
def test_ten_megabytes_of_one_key(folder: Folder) -> None:
    sample = min(folder.samples, key=lambda path: path.stat().st_size)
    data = sample.read_bytes()
    line = max(data.splitlines(), key=len)
    start = line.find(b"{") + 1
    long_line = line[:start] + b'"' + b"k" * KEY_BYTES + b'":1,' + line[start:]
    converted = conformance.is_converted(sample)
    try:
        found = rows_of(data.rstrip(b"\n") + b"\n" + long_line + b"\n", sample.name)
    except UnknownFormatError:
        assert converted, "a log of several lines is read"
        return
    # In a document the line may repeat an earlier one, and be its copy.
    assert len(found.rows) + converted > len(rows_of(data, sample.name).rows)
    assert conformance.lost(found) == []


@pytest.mark.parametrize(("folder", "sample"), SAMPLES)
@given(seed=st.integers(0, (1 << 32) - 1))
def test_values_of_any_type_are_read(folder: Folder, sample: Path, seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(10):
        line = chance.choice(conformance.records_read(sample))
        try:
            value = json.loads(line)
        except ValueError:  # a line of text
            continue
        for _ in range(chance.randint(1, 3)):
            holder, key = chance.choice(list(places_in(value)))
            holder[key] = copy.deepcopy(chance.choice(ODD))
        changed = json.dumps(value).encode()
        record = line_reading.read_line(changed)
        for number in range(len(record.derived_messages)):
            assert isinstance(line_reading.payload_of(record, number), dict)
        if folder.format.stage in (Stage.TRANSCRIPT, Stage.LATE):
            alone = folder.format.read(changed, unknown=True)
            assert alone is None or alone.derived_messages or alone.shape is Shape.NO_MESSAGE


def places_in(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yields each place in a JSON value: its holder, and its key or index there."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        yield value, key
        if isinstance(inner, dict | list):
            yield from places_in(inner)


# Sniffing

_INSIDE = {
    "acp": {"json-rpc"},
    "agent_host": {"json-rpc"},
    "a2a": {"json-rpc"},
    "codex": {None},
    "grok_build": {None},
    "hermes": {"messages"},
    "kimi": {"messages"},
    "ag_ui": {None},
    "ai_sdk": {None},
    "prefixed": {None},
    **{name: {"http-lines"} for name in ("aider_calls", "har", "litellm", "mitmproxy", "vcr", "vscode_chat_replay")},
    "mcp_inspector": {"wrapped"},
    **{name: {"otlp"} for name in ("agents_sdk", "langfuse", "langsmith", "mlflow", "phoenix", "weave")},
}
"""Other names of records in a folder's samples: answers without a method, unknown records, those of a document."""


@pytest.mark.parametrize(("folder", "sample"), SAMPLES)
def test_a_sample_is_recognized_as_its_own_format(folder: Folder, sample: Path) -> None:
    own = {folder.format.name_of(shape) for shape in folder.format.titles_by_shape} | {folder.format.name}
    claimed: Counter[str | None] = conformance.claimed_names(sample)
    others = claimed.keys() - own - _INSIDE.get(folder.name, set()) - {"stream-frames"}
    assert not others, conformance.matrix_text()
    # That the figures are true is looked at above.
    assert conformance.expected(sample)["format"] in own, conformance.matrix_text()


def test_no_transcript_claims_a_line_of_another_sample() -> None:
    transcripts = {folder.format.name for folder in FOLDERS if folder.format.stage is Stage.TRANSCRIPT}
    own = {f"{folder.name}/{sample.name}": folder.format.name for folder, sample in conformance.all_samples()}
    claims = {
        sample: claimed
        for sample, row in conformance.matrix().items()
        if (claimed := row.keys() & (transcripts - {own[sample]}))
    }
    assert claims == {}, conformance.matrix_text()
