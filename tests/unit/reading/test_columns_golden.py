"""Compares all columns, extracts and strings of every log with stored digests.

The digests guard changes of the decoder. They cover values that no list shows, such as hashes of copies and payloads
that passes examine. Write them anew only after a deliberate change of a value, or after a log was added or edited.

    python -m tests.unit.reading.test_columns_golden

It prints each log and the values that differ from before.
"""

from __future__ import annotations

import itertools
import json
import os
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any
from unittest import mock

import msgspec
import pytest

from inspector.base import paths
from inspector.document.document import CaptureDocument
from inspector.reading.files.source_reader import UnknownFormatError
from inspector.store.columns import hashes
from inspector.store.columns.block import BLOCK_COLUMNS, STRING_COLUMNS, Block
from inspector.store.columns.extracts import Extracts
from inspector.store.messages.capture import Capture
from tests import builders, hostile
from tests.bench import mixes
from tests.samples import DATA, FORMAT_SAMPLES, first_of, sample
from tests.unit.formats.test_list_golden import GOLDEN, SHARED, content, logs, named, short_digest

_EACH_TIME = 20_000
"""Bytes of the longest log compared each time; longer ones are a sweep."""
_PARTS = ("rows", *BLOCK_COLUMNS, *(part.name for part in fields(Extracts)), "formats", "origin", "strings", "heads")
"""Values with a digest each, in this order."""


def _read(golden: str) -> dict[str, Any]:
    return json.loads((GOLDEN / golden).read_text("utf-8"))


SAMPLES, RECORDINGS = _read("column_digests.json"), _read("recordings_column_digests.json")


def _plain(value: Any) -> Any:
    """Returns a value whose `repr` shows all of it: that of undecoded JSON is its address."""
    if isinstance(value, msgspec.Raw):
        return bytes(value)
    if isinstance(value, msgspec.Struct):
        return type(value).__name__, _plain(msgspec.structs.astuple(value))
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [*map(_plain, value)] if isinstance(value, tuple | list) else value


class Values:
    """Values of all blocks of a log, independent of its cut into blocks."""

    def __init__(self) -> None:
        self.columns: dict[str, list[Any]] = {name: [] for name in BLOCK_COLUMNS}
        self.extracts = Extracts()
        self.formats: Counter[str | None] = Counter()
        self.origin: list[Any] = []
        self.others: list[Any] = []

    def add_block(self, block: Block) -> None:
        before, count = len(self.columns["offset"]), len(block)
        for name, values in self.columns.items():
            column = block.columns[name].tolist() if name in block.columns else [0] * count
            texts: Any = block.strings if name in STRING_COLUMNS else block.to_sets if name == "to_set" else None
            values += column if texts is None else [texts[code] if code else None for code in column]
        self.extracts.add_extracts(block.extracts, range(before, before + count))
        self.formats += block.formats
        if block.origin is not None:
            self.origin.append(block.origin)

    def digests(self) -> str:
        """Returns the first characters of the digest of each of `_PARTS`."""
        parts = {part.name: getattr(self.extracts, part.name) for part in fields(Extracts)}
        # Checks use the irregular form of the first of a sender and kind only.
        firsts: dict[Any, int] = {}
        for row, key in enumerate(self._form_keys()):
            firsts.setdefault(key, row)
        parts["odd"] = {row: form for row, form in parts["odd"].items() if row in firsts.values()}
        found = [len(self.columns["offset"]), *self.columns.values()]
        found += [sorted(part.items()) for part in parts.values()]
        found += [sorted(self.formats.items(), key=repr), self.origin, *self.others]
        return "".join(short_digest(repr(_plain(one)).encode("utf-8", "surrogatepass"))[:4] for one in found)

    def _form_keys(self) -> Iterator[Any]:
        correlated = (bool(code) for code in self.columns["correlation_hash"])
        return zip(self.columns["sender"], self.columns["kind"], correlated, strict=True)


def column_digests(path: Path) -> str:
    """Returns the digest of a log's content, and those of its values; only the first of a log that is refused."""
    values, append = Values(), Capture.append

    def keep_and_append(capture: Capture, block: Block) -> Any:
        values.add_block(block)
        return append(capture, block)

    document, found = CaptureDocument(), short_digest(content(path))
    try:
        # The seed of hashes is random otherwise.
        with mock.patch.object(hashes, "_seed", 1), mock.patch.object(Capture, "append", keep_and_append):
            document.load(path)
        capture = document.capture
        big = (row for row in range(len(capture)) if capture.records.is_big(row))
        values.others = [sorted(capture.strings[1:]), [capture.records.read_record(row) for row in big]]
        return found + values.digests()
    except UnknownFormatError:
        return found
    finally:
        document.close()


def hostile_log(name: str, folder: Path) -> Path:
    """Writes a hostile log with the same ids and times each time."""
    with mock.patch.object(builders, "_numbers", itertools.count(1)):
        return hostile.write(name, folder)


_AROUND = {
    "envelopes": b"%s",
    "gateway log": b'{"timestamp":"2026-01-05T09:00:00.000Z","event":"received","participant":"lead","envelope":%s}\n'
    b'{"timestamp":"2026-01-05T09:00:01.000Z","event":"delivered","participant":"files","envelope":%s}',
    "capture": b'{"t":1767603600000000000,"dir":"in","frame":%s}',
}
MIXES = [f"{mix}, {form}" for mix in mixes.NAMED for form in _AROUND]


def mixed_log(name: str, folder: Path) -> Path:
    """Writes generated traffic as a log of one form."""
    mix, form = name.split(", ")
    around = _AROUND[form]
    lines = mixes.write(mix, 150, folder / "mix.jsonl").read_bytes().splitlines()
    log = folder / f"{name}.jsonl"
    log.write_bytes(b"".join(around.replace(b"%s", line.strip()) + b"\n" for line in lines))
    return log


def difference(before: str, after: str) -> str:
    """Returns the names of values that differ, or an empty string."""
    if before == after:
        return ""
    size = len(short_digest(b""))
    old, new = ([text[place : place + 4] for place in range(size, len(text), 4)] for text in (before, after))
    changed = [name for name, *pair in zip(_PARTS, old, new, strict=False) if pair[0] != pair[1]]
    return ", ".join(changed) or "whether it is read"


def parameters(names: dict[str, str]) -> list[Any]:
    """Returns the names of logs, the longer ones as a `sweep`."""
    paths = {name: sample(name) for name in names}
    small = {name for name, path in paths.items() if path.exists() and path.stat().st_size <= _EACH_TIME}
    return [name if name in small else pytest.param(name, marks=pytest.mark.sweep) for name in names]


@pytest.mark.parametrize("name", parameters(SAMPLES["logs"]))
def test_samples_are_read_as_before(name: str) -> None:
    after, before = column_digests(sample(name)), SAMPLES["logs"][name]
    assert after[:8] == before[:8], f"{name} was edited: write them anew"
    assert not (found := difference(before, after)), f"{name}: {found}"


@pytest.mark.sweep
@pytest.mark.parametrize("name", SAMPLES["hostile"])
def test_hostile_logs_are_read_as_before(name: str, tmp_path: Path) -> None:
    after = column_digests(hostile_log(name, tmp_path))
    assert not (found := difference(SAMPLES["hostile"][name], after)), f"{name}: {found}"


@pytest.mark.parametrize("name", first_of(SAMPLES["mixes"], 3))
def test_generated_logs_are_read_as_before(name: str, tmp_path: Path) -> None:
    after = column_digests(mixed_log(name, tmp_path))
    assert not (found := difference(SAMPLES["mixes"][name], after)), f"{name}: {found}"


@pytest.mark.real
@pytest.mark.parametrize("name", RECORDINGS["logs"])
def test_recordings_are_read_as_before(name: str) -> None:
    path, before = SHARED / name, RECORDINGS["logs"][name]
    if not path.exists() or (after := column_digests(path))[:8] != before[:8]:
        pytest.skip("the recording is absent or another one")
    assert not (found := difference(before, after)), f"{name}: {found}"


def test_a_difference_names_the_values() -> None:
    before = "content." + "same" * len(_PARTS)
    assert difference(before, before) == ""
    assert difference(before, "content." + "samediffsamediff" + "same" * (len(_PARTS) - 4)) == "source, length"
    assert difference(before, before[:8]) == "whether it is read"


def digests_of(paths: dict[str, Path], before: dict[str, str]) -> dict[str, str]:
    """Returns the digests of logs, and prints those that differ from before."""
    after = {name: column_digests(path) for name, path in paths.items()}
    for name, new in after.items():
        old = before.get(name, new)
        if told := difference(old, new):
            print(f"{name}: {told}" + ("" if old[:8] == new[:8] else " (the log was edited)"))
    return after


def write(golden: str, **found: dict[str, str]) -> None:
    text = json.dumps(found, indent=1)
    (GOLDEN / golden).write_text(text + "\n", "utf-8")
    print(f"{golden}: {sum(map(len, found.values()))} logs, {len(text):,} B")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ[paths.HOME_VARIABLE] = folder
        samples = {**named(logs(DATA), DATA), **{f"formats/{name}": path for name, path in FORMAT_SAMPLES.items()}}
        samples = {name: path for name, path in sorted(samples.items()) if path.is_file()}
        harmful = {name: hostile_log(name, Path(folder)) for name in hostile.CASES}
        mixed = {name: mixed_log(name, Path(folder)) for name in MIXES}
        write(
            "column_digests.json", logs=digests_of(samples, SAMPLES["logs"]),
            hostile=digests_of(harmful, SAMPLES["hostile"]), mixes=digests_of(mixed, SAMPLES["mixes"]),
        )  # fmt: skip
        if SHARED.is_dir():
            recorded = named([path for part in ("recordings", "strangers") for path in logs(SHARED / part)], SHARED)
            write("recordings_column_digests.json", logs=digests_of(recorded, RECORDINGS["logs"]))


if __name__ == "__main__":
    main()
