"""Properties: any declaration on any file ends in messages or a sentence, and a cut of the bytes changes no row."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.document.document import CaptureDocument
from inspector.formats import registry
from inspector.formats.declared.declaration import EventKind, parse_declaration
from inspector.formats.declared.format_maker import register_declaration
from inspector.formats.declared.guessing import guess_declaration
from inspector.present.format_trials import preview_declaration
from inspector.protocol.array_search import find_array
from inspector.reading.files.source_reader import UnknownFormatError
from tests.unit.formats.declared.samples import (
    DIALOGS,
    DIALOGS_FILE,
    ROBOT,
    ROBOT_LOG,
    STEPS,
    STEPS_FILE,
    TEXT,
    TEXT_LOG,
)

SAMPLES = ((ROBOT, ROBOT_LOG), (STEPS, STEPS_FILE), (TEXT, TEXT_LOG), (DIALOGS, DIALOGS_FILE))

_KEYS = st.sampled_from(["a", "b", "ev", "text", "0", "1", "role", "x y"])
_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["call", '{"a":1}']),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=4),
    max_leaves=12,
)
_RECORDS = st.lists(st.dictionaries(_KEYS, _JSON, min_size=1, max_size=5), max_size=6)
_PATHS = st.lists(_KEYS, min_size=1, max_size=3).map(
    lambda steps: ".".join(json.dumps(step) if " " in step else step for step in steps)
)
_REGEXES = st.sampled_from([r"(?P<a>\w+)", r"^(?P<ev>.)(?P<text>.*)$", "(?P<a>)", r"(?P<b>(a|aa)*)*$", "(?P<a>"])
_TABLES = {
    "fields": ("id", "time", "sender", "receiver", "text", "session", "agent", "parent"),
    "call": ("id", "tool", "arguments"),
    "result": ("call", "tool", "content", "error"),
    "sub_agent": ("id", "label", "type", "prompt"),
    "usage": ("id", "model", "input", "output", "cache_read", "cache_write", "cost"),
}


@st.composite
def declarations(draw: st.DrawFn) -> str:
    """Texts of declarations, nearly all of them valid."""
    lines = ['name = "drawn"', 'title = "Drawn"', "[lines]"]
    form = draw(st.sampled_from(["json-lines", "json-array", "regex"]))
    lines.append(f'form = "{form}"')
    if form != "regex" and draw(st.booleans()):
        lines.append(f"path = {json.dumps(draw(_PATHS))}")
    if form == "regex":
        lines.append(f"regex = '{draw(_REGEXES)}'")
    if draw(st.booleans()):
        lines += ["[match]", f"keys = {json.dumps(draw(st.lists(_PATHS, min_size=1, max_size=2)))}"]
    for table, keys in _TABLES.items():
        lines.append(f"[{table}]")
        for key in draw(st.lists(st.sampled_from(keys), unique=True, max_size=4)):
            lines.append(f"{key} = {json.dumps(draw(_PATHS))}")
        if table == "fields":
            lines.append(f'time_unit = "{draw(st.sampled_from(["iso", "s", "ms", "us", "ns", "h"]))}"')
    if draw(st.booleans()):
        events = st.sampled_from([*EventKind, "nope"]).map(str)
        lines += [
            "[kind]",
            f"path = {json.dumps(draw(_PATHS))}",
            f"other = {json.dumps(draw(st.lists(events, max_size=3)))}",
        ]
        lines += ["[kind.values]", f"call = {json.dumps(draw(events))}"]
    return "\n".join(lines) + "\n"


def _encoded(records: list[dict[str, Any]]) -> bytes:
    return b"\n".join(json.dumps(record).encode("utf-8", "replace") for record in records)


_FILES = st.one_of(
    st.binary(max_size=200),
    _RECORDS.map(_encoded),
    _RECORDS.map(lambda records: json.dumps({"a": {"b": records}, "text": records}).encode()),
    _RECORDS.map(lambda records: json.dumps(records, indent=1).encode()),
    st.sampled_from([ROBOT_LOG, STEPS_FILE, TEXT_LOG, DIALOGS_FILE]),
)


def rows_of(path: Path, reading: str | None, block_bytes: int = 1 << 20) -> list[tuple[Any, ...]] | str:
    """Returns all rows with their payloads, or the sentence of a refusal."""
    document = CaptureDocument()
    try:
        for _ in document.open_log(path, reading=reading, block_bytes=block_bytes):
            pass
        capture = document.capture
        return [
            (capture.string("kind", row), capture.string("sender", row), int(capture.columns["time_ns"][row]),
             str(capture.records.payload(row)), capture.records.read_line_of(row))
            for row in range(len(capture))
        ]  # fmt: skip
    except UnknownFormatError as error:
        return str(error)
    finally:
        document.close()


@given(declarations(), _FILES)
def test_any_declaration_on_any_file_ends_in_messages_or_a_sentence(text: str, data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "drawn.log"
        path.write_bytes(data)
        preview = preview_declaration(path, text)
        assert preview.faults or preview.sentence
        if preview.faults:
            assert all(fault.place.line >= 1 and fault.reason for fault in preview.faults)
            return
        before = registry.recipes()
        try:
            register_declaration(text)
            for reading in (None, "drawn"):
                found = rows_of(path, reading)
                assert isinstance(found, list) or found.endswith(".")
        finally:
            registry.restore(before)


@given(st.text(max_size=300) | declarations().flatmap(lambda text: st.integers(0, len(text)).map(lambda n: text[:n])))
def test_any_text_is_a_declaration_or_has_faults_with_places(text: str) -> None:
    faults = preview_declaration(Path("nowhere.log"), text).faults
    assert all(fault.place.line >= 1 and fault.place.column >= 1 and fault.reason for fault in faults)


@given(st.sampled_from(SAMPLES), st.integers(1, 700))
def test_any_cut_of_the_bytes_gives_the_same_rows(sample: tuple[str, bytes], block_bytes: int) -> None:
    text, data = sample
    register_declaration(text)
    name = parse_declaration(text).name
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sample.log"
        path.write_bytes(data)
        whole = rows_of(path, name)
        assert isinstance(whole, list)
        assert rows_of(path, name, block_bytes) == whole
        assert rows_of(path, None, block_bytes) == whole


_LAST = 5
"""Rows of the last records, which the cut changes."""


@given(st.sampled_from(SAMPLES), st.integers(0, 900))
def test_a_truncated_file_keeps_the_rows_before_its_end(sample: tuple[str, bytes], end: int) -> None:
    text, data = sample
    register_declaration(text)
    name = parse_declaration(text).name
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sample.log"
        path.write_bytes(data)
        whole = rows_of(path, name)
        path.write_bytes(data[:end])
        found = rows_of(path, name)
        assert isinstance(whole, list)
        assert isinstance(found, str) or found[:-_LAST] == whole[: max(0, len(found) - _LAST)]


@given(_FILES)
def test_any_file_gives_a_declaration(data: bytes) -> None:
    parse_declaration(guess_declaration(data, "drawn.log", is_whole=True))


@given(_JSON, st.lists(_KEYS, min_size=1, max_size=3))
def test_an_array_is_found_where_decoding_finds_it(value: Any, path: list[str]) -> None:
    document = json.dumps({"a": value, "ev": [[], {"a": [1]}]})
    data = document.encode()
    found = find_array(lambda offset, length: data[offset : offset + length], path)
    wanted: Any = json.loads(document)
    for step in path:
        if isinstance(wanted, list):
            wanted = wanted[int(step)] if step.isdecimal() and int(step) < len(wanted) else None
        else:
            wanted = wanted.get(step) if isinstance(wanted, dict) else None
    assert (found is not None) == isinstance(wanted, list)
    if found is not None:
        assert json.loads(data[found - 1 :].decode()[: len(json.dumps(wanted))]) == wanted or wanted != wanted


@pytest.mark.sweep
@pytest.mark.parametrize("text", [text for text, _ in SAMPLES])
def test_a_record_of_ten_megabytes_in_one_key_is_bounded(text: str, tmp_path: Path) -> None:
    register_declaration(text)
    path = tmp_path / "long.log"
    path.write_bytes(b'{"' + b"x" * 10_000_000 + b'": 1}\n' + b'{"ev": "' + b"y" * 10_000_000 + b'", "at": 1}\n')
    found = rows_of(path, parse_declaration(text).name)
    assert isinstance(found, list | str)
