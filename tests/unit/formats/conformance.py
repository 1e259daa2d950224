"""Checks that every format folder keeps to: figures of its samples, cuts, damage, sniffing.

    python -m tests.unit.formats.conformance --write FOLDER...    writes NAME.expected.json beside each sample
    python -m tests.unit.formats.conformance --matrix             prints the formats that claim lines of each sample

Compare written figures with the sample by hand: the script writes the figures of the program, right or wrong.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import inspector.formats
from inspector.formats import line_reading, registry, table
from inspector.formats.format import Format, Stage
from inspector.formats.registry import Recipe
from inspector.protocol.header import NotAnObjectError, read_header
from inspector.protocol.record import Shape
from inspector.reading.files.format_detection import scanner_for
from inspector.reading.files.source_reader import SourceReader
from inspector.sources.inputs import open_source
from inspector.store.columns.block import STRING_COLUMNS, Block
from inspector.store.files.source_files import DERIVED_OFFSET, SourceFile
from tests.builders import clean_up, document_at, log_file

FORMATS_FOLDER = Path(inspector.formats.__file__).parent
EXPECTED = ".expected.json"
BETWEEN = b" \t\r\n,[]\xef\xbb\xbf"
"""Bytes that belong to no record: blanks, and the frame of arrays and batches."""
_NEVER_COMPARED = ("offset", "source", "connection")


@dataclass(frozen=True, slots=True)
class Folder:
    """A format's folder."""

    name: str
    format: Format

    @property
    def path(self) -> Path:
        return FORMATS_FOLDER / self.name

    @property
    def samples(self) -> list[Path]:
        """Returns the sample logs, without expected figures and notes."""
        found = (self.path / "samples").glob("*")
        return sorted(one for one in found if one.suffix != ".md" and not one.name.endswith(EXPECTED))


def folders() -> list[Folder]:
    """Returns all folders with a FORMAT; the skeleton is one of them."""
    names = sorted(path.parent.name for path in FORMATS_FOLDER.glob("*/__init__.py"))
    modules = [(name, importlib.import_module(f"inspector.formats.{name}")) for name in names]
    return [Folder(name, module.FORMAT) for name, module in modules if hasattr(module, "FORMAT")]


def all_samples() -> list[tuple[Folder, Path]]:
    return [(folder, sample) for folder in folders() for sample in folder.samples]


def format_of_folder(name: str) -> Format:
    """Returns the format of a folder; worker processes make it by this function."""
    return importlib.import_module(f"inspector.formats.{name}").FORMAT


@contextmanager
def in_table(folder: Folder) -> Generator[None]:
    """Adds a folder's format while the block runs, unless it is listed."""
    if folder.format in table.FORMATS:
        yield
        return
    registry.register(folder.format, Recipe(f"{__name__}:format_of_folder", (folder.name,)))
    try:
        yield
    finally:
        registry.unregister(folder.format.name)


# Figures


def figures(path: Path) -> dict[str, Any]:
    """Returns the figures of a log that a sample declares."""
    # Upper rooms are imported here, so that checks of readers alone start fast.
    from inspector.document.session_titles import title_of_session
    from inspector.document.summary import summary

    document = document_at(path)
    told = summary(document, "")
    own = document.analysis.contexts.tree
    return {
        "format": told["format"], "records": told["records"], "messages": told["messages"],
        "unreadable": told["unreadable"], "title": title_of_session(document.capture),
        "participants": sorted(told["participants"]), "kinds": dict(sorted(told["kinds"].items())),
        "calls": {key: one for key, one in told["calls"].items() if one}, "tools": told["tool_counts"],
        "usage": told["usage"], "models": told["models"],
        "contexts": sorted(own.path(node) for node in own.alive()),
    }  # fmt: skip


def expected_path(sample: Path) -> Path:
    return sample.with_name(sample.stem + EXPECTED)


def expected(sample: Path) -> dict[str, Any]:
    return json.loads(expected_path(sample).read_text(encoding="utf-8"))


# Rows


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of a log as plain values, and the spans of its bytes that they came from."""

    rows: list[dict[str, Any]]
    spans: list[tuple[int, int]]
    data: bytes
    """Bytes that were read; of a document the lines that it was converted to."""

    def comparable(self) -> list[dict[str, Any]]:
        """Returns the rows without their places."""
        return [{key: one for key, one in row.items() if key not in _NEVER_COMPARED} for row in self.rows]


def rows_of(data: bytes, name: str, *, block_bytes: int = 1 << 20, pieces: Sequence[int] = ()) -> Rows:
    """Reads a log through the real reader of sources.

    Args:
        data: the log.
        name: of its file.
        block_bytes: bytes read at once; more for a longer line.
        pieces: lengths of the parts in which the file grows meanwhile; none for a file that is there.
    """
    path = log_file(data[: pieces[0]] if pieces else data, name)
    with closing(open_source(path)) as source:
        reader = SourceReader(source, 0)
        for _ in reader.detect_format():
            pass
        found = Rows([], [], data)
        for size in pieces[1:]:
            while (block := reader.next_block(whole_lines=True, size=block_bytes)) is not None:
                _add(found, block, source)
            with path.open("ab") as file:
                file.write(data[path.stat().st_size :][:size])
        if pieces:
            with path.open("ab") as file:
                file.write(data[path.stat().st_size :])
        for block in reader.read_blocks(block_bytes, processes=0):
            if block is not None:
                _add(found, block, source)
        # Lines may be added to a message until the end.
        for offset, length in {(row["offset"], row["length"]) for row in found.rows}:
            places = [(offset, length)]
            if offset >= DERIVED_OFFSET:
                assert source.derived_lines is not None
                places = source.derived_lines.original_places(offset, length)
            found.spans.extend((start, start + size) for start, size in places)
        if source.feed is not None:  # its conversion has ended
            found = replace(found, data=source.data_path.read_bytes())
        if source.derived_lines is not None:
            source.derived_lines.close()
    return found


def _add(found: Rows, block: Block, source: SourceFile) -> None:
    source.read_to = max(source.read_to, block.stop)
    for place in range(len(block)):
        row: dict[str, Any] = {name: column[place].item() for name, column in block.columns.items()}
        for name in STRING_COLUMNS:
            row[name] = block.strings[row[name]] if row[name] else None
        row["to_set"] = block.to_sets[row["to_set"]]
        for name in ("alias_hash", "said", "told", "words", "given", "part"):
            row.setdefault(name, 0)
        found.rows.append(row)


def is_converted(sample: Path) -> bool:
    """Returns True for a document, which is converted to lines as a whole before any is read."""
    with closing(open_source(sample)) as source:
        return source.feed is not None


def lines_with_offsets(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yields the offset of each line that is not blank, and the line without its end."""
    offset = 0
    for line in data.split(b"\n"):
        if line.strip(BETWEEN):
            yield offset, line
        offset += len(line) + 1


def lost(found: Rows) -> list[bytes]:
    """Returns lines, or their parts, that belong to no row and are no record without a message, as a header."""
    data = found.data
    missing = bytearray(data)
    for start, stop in found.spans:
        missing[start:stop] = b" " * (stop - start)
    left: list[bytes] = []
    for offset, line in lines_with_offsets(data):
        rest = bytes(missing[offset : offset + len(line)]).strip(BETWEEN)
        if rest and not (rest == line.strip(BETWEEN) and has_no_message(rest)):
            left.append(rest)
    return left


def has_no_message(line: bytes) -> bool:
    """Returns True for a line of a known format without a message: a header, a mark, a field of an event stream."""
    return line_reading.read_line(line).shape is Shape.NO_MESSAGE


# Sniffing


@cache
def records_in(sample: Path) -> list[bytes]:
    """Returns the lines of a sample, or its elements if it is a JSON array."""
    with closing(SourceFile(sample)) as source:
        scanner, data = scanner_for(source), sample.read_bytes()
    if scanner is None:
        return [line.strip(b" \t\r") for _, line in lines_with_offsets(data.removeprefix(b"\xef\xbb\xbf"))]
    spans = [*scanner.scan(data[scanner.position :]), *scanner.finish()]
    return [data[start:stop].strip() for start, stop in spans]


@cache
def records_read(sample: Path) -> list[bytes]:
    """Returns the records that readers see: of a document the lines that it is converted to."""
    if not is_converted(sample):
        return records_in(sample)
    return [line for _, line in lines_with_offsets(rows_of(sample.read_bytes(), sample.name).data)]


def claimed_names(sample: Path) -> Counter[str | None]:
    """Returns the formats that a sample's records are read as, with their number; None for unclaimed ones."""
    return Counter(line_reading.read_line_as(line)[1] for line in records_read(sample))


def claims_alone(one: Format, line: bytes) -> bool:
    """Returns True if a format would claim a line that is offered to it alone."""
    if one.stage in (Stage.TRANSCRIPT, Stage.LATE):
        return one.read(line) is not None
    if one.stage is Stage.TEXT:
        return one.read(line, line_reading.read_line) is not None
    if one.stage not in (Stage.ENVELOPE, Stage.WRAPPER):
        return False
    try:
        header = read_header(line)
    except NotAnObjectError:
        return False
    inner = (line_reading.read_line,) if one.stage is Stage.WRAPPER else ()
    return one.read(header, line, *inner) is not None


def matrix() -> dict[str, dict[str, int]]:
    """Returns by sample and format the number of lines that the format would claim alone."""
    counted: dict[str, dict[str, int]] = {}
    for folder, sample in all_samples():
        lines = records_in(sample)
        row = {one.name: sum(claims_alone(one.format, line) for line in lines) for one in folders()}
        counted[f"{folder.name}/{sample.name}"] = {"lines": len(lines)} | {key: n for key, n in row.items() if n}
    return counted


def matrix_text() -> str:
    return "\n".join(f"{name:44} {row}" for name, row in matrix().items())


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="conformance")
    parser.add_argument("--write", nargs="*", metavar="FOLDER")
    parser.add_argument("--matrix", action="store_true")
    asked = parser.parse_args(arguments)
    if asked.matrix:
        print(matrix_text())
    for folder in folders():
        if folder.name not in (asked.write or ()):
            continue
        for sample in folder.samples:
            with in_table(folder):
                text = json.dumps(figures(sample), indent=1, ensure_ascii=False)
            expected_path(sample).write_text(text + "\n", encoding="utf-8")
            print(f"{expected_path(sample).relative_to(FORMATS_FOLDER)}:\n{text}")
    clean_up()


if __name__ == "__main__":
    main(sys.argv[1:])
