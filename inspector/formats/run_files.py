"""Files with runs of agents: a trajectory, or an evaluation with many of them; converted to one line a record.

A line names its format and its run, and has the record as the file has it:

    {"of": "atif", "run": "r1", "model": "m-1", "record": {...}}
    {"of": "atif", "run": "r1", "outcome": {"task": "bake", "score": 1.0, "passed": true}}

A format declares its runs by a function from a path to `Run`s, and its records by a function to events.
"""

from __future__ import annotations

import codecs
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import msgspec

from inspector.formats.entry_builders import control_entry
from inspector.formats.file_conversion import FileConverter, NotConvertedError, RunFacts
from inspector.formats.file_records import HEAD_BYTES
from inspector.formats.json_transcript import JsonTranscript
from inspector.formats.value_conversions import describe_record
from inspector.formats.vocabulary import Event, Voice, place_event
from inspector.protocol.header import NotAnObjectError, decode_json
from inspector.protocol.json_size import TOO_LARGE, is_too_large
from inspector.protocol.kinds import REQUEST, RESPONSE
from inspector.protocol.tolerant_encoder import to_json

OUTCOME = "outcome"
"""Type of the record with a run's task, score and error."""
_BLOCK_BYTES = 1 << 20
_MAX_DOCUMENT = 1 << 30
_BLANK = b" \t\r\n"


class Run(NamedTuple):
    """A run in a file.

    Attributes:
        facts: as stated by the file.
        lines: yields its lines, without format and run; called only if they are needed.
    """

    facts: RunFacts
    lines: Callable[[], Iterator[Mapping[str, Any]]]


Runs = Callable[[Path], Iterator[Run]]
"""Yields the runs of a file. Raises OSError and NotConvertedError."""


def unique_runs(runs: Iterator[Run]) -> Iterator[Run]:
    """Yields runs with unique names that can end a path."""
    known: Counter[str] = Counter()
    for run in runs:
        name = run.facts.name.replace("/", "_").replace("\\", "_").strip(". ") or "run"
        known[name] += 1
        name = f"{name} ({known[name]})" if known[name] > 1 else name
        yield Run(msgspec.structs.replace(run.facts, name=name), run.lines)


_MOST_NAMES = 6
"""Names of runs in the error for a missing one."""


class RunConversion:
    """Converts the runs of a file, or one of them, to lines.

    Attributes:
        progress: runs read, and their total if known.
    """

    def __init__(self, path: Path, label: str, runs: Runs, only: str | None = None) -> None:
        self._path, self._label, self._runs, self._only = path, label, runs, only
        self.progress = (0, 0)

    def lines(self) -> Iterator[bytes]:
        """Yields the lines. Raises OSError and NotConvertedError."""
        found = 0
        for number, run in enumerate(self._chosen(), 1):
            self.progress = (number, number)
            found += 1
            start = {"of": self._label, "run": run.facts.name}
            for line in run.lines():
                yield to_json({**start, **line}) + b"\n"
            if outcome := _outcome(run.facts):
                yield to_json({**start, OUTCOME: outcome}) + b"\n"
        if not found:
            raise NotConvertedError("it holds no run" if self._only is None else self._missing_run())

    def _missing_run(self) -> str:
        facts = self._path.stat()
        names = [*_runs_by_name(self._runs, self._path, facts.st_size, facts.st_mtime_ns)]
        more = f", and {len(names) - _MOST_NAMES:,} more" if len(names) > _MOST_NAMES else ""
        listed = f"; it holds {', '.join(names[:_MOST_NAMES])}{more}" if names else ""
        return f"it holds no run {self._only}{listed}"

    def _chosen(self) -> Iterator[Run]:
        if self._only is None:
            yield from unique_runs(self._runs(self._path))
            return
        facts = self._path.stat()
        known = _runs_by_name(self._runs, self._path, facts.st_size, facts.st_mtime_ns)
        if self._only in known:
            yield known[self._only]


# A survey reads all runs of a file one by one: each would search the file from its beginning.
@lru_cache(maxsize=1)
def _runs_by_name(runs: Runs, path: Path, size: int, modified: int) -> dict[str, Run]:
    del size, modified  # a changed file is read again
    return {run.facts.name: run for run in unique_runs(runs(path))}


def _outcome(facts: RunFacts) -> dict[str, Any]:
    told = {"task": facts.task, "score": facts.score, "passed": facts.passed, "error": facts.error}
    return {key: one for key, one in told.items() if one is not None}


def run_converter(label: str, runs: Runs, begins_file: Callable[[bytes], bool]) -> FileConverter:
    """Returns the converter of a format with runs; the arguments are module-level functions."""
    return FileConverter(
        head_bytes=HEAD_BYTES, begins_file=begins_file, container=label,
        convert=lambda path: RunConversion(path, label, runs),
        runs=lambda path: (run.facts for run in unique_runs(runs(path))),
        convert_run=lambda path, name: RunConversion(path, label, runs, name),
    )  # fmt: skip


# Reading lines


def run_reader(
    label: str, voice: Voice, events_of: Callable[[Any, Mapping[str, Any]], Sequence[Event]]
) -> JsonTranscript:  # fmt: skip
    """Returns the reader of a format's lines.

    Args:
        label: name of the format.
        voice: makes its events.
        events_of: returns the events of a record and its line; none for a record without meaning.
    """

    def events(value: Mapping[str, Any]) -> list[Event]:
        if isinstance(told := value.get(OUTCOME), Mapping):
            return [_outcome_event(voice, told)]
        record = value.get("record")
        known = record if isinstance(record, Mapping) else {"value": record}
        found = list(events_of(record, value)) or [facts_event(voice, "record", known)]
        for event in found:
            _name_in_run(event, f"{value.get('run')}/")
        return found

    return JsonTranscript(
        name=label, marks=((b'"of":"' + label.encode() + b'"', b'"run":'),), events_of=events,
        is_known=lambda value, _unknown: value.get("of") == label and ("record" in value or OUTCOME in value),
        session_of=lambda value: value.get("run"),
    )  # fmt: skip


def _name_in_run(event: Event, run: str) -> None:
    """Names calls within their run: trials of one task may have the same ids."""
    meaning = event.meaning
    if meaning.kind == REQUEST and meaning.identifier is not None:
        meaning.identifier = run + meaning.identifier
    if meaning.kind == RESPONSE and meaning.correlation is not None:
        meaning.correlation = run + meaning.correlation
    if meaning.spawn is not None and meaning.spawn.call is not None:
        meaning.spawn.call = run + meaning.spawn.call


def facts_event(voice: Voice, name: str, facts: Mapping[str, Any], text: str | None = None) -> Event:
    """Returns the row of a record without a message; by default its text names its facts."""
    known = {key: one for key, one in facts.items() if key != "text"}
    words = describe_record(name, known) if text is None else text
    return place_event(control_entry(voice.namespace + name, voice.program, words, known))


def _outcome_event(voice: Voice, told: Mapping[str, Any]) -> Event:
    """Returns the row of a run's outcome, an error if the run failed to end."""
    words = [f"{key} {told[key]}" for key in ("task", "score") if key in told]
    words += [{True: "passed", False: "not passed"}[told["passed"]]] if isinstance(told.get("passed"), bool) else []
    error = told.get("error")
    event = facts_event(voice, OUTCOME, told, error if isinstance(error, str) else ", ".join(words))
    event.meaning.failed = isinstance(error, str)
    return event


# Documents of a file


def documents_in(path: Path) -> Iterator[bytes]:
    """Yields the objects of a file as bytes. Raises OSError and NotConvertedError as `placed_documents`."""
    return (document for _, document in placed_documents(path))


def document_at(path: Path, start: int, size: int) -> dict[str, Any]:
    """Returns a document by its place. Raises OSError and NotConvertedError."""
    with path.open("rb") as file:
        file.seek(start)
        return decoded_document(file.read(size))


def placed_documents(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yields the objects of a file with their offsets: one document, elements of an array, or one a line.

    Raises:
        OSError: it cannot be read.
        NotConvertedError: a document is too large.
    """
    # numpy takes longer to load than all formats: commands that open no file do without.
    from inspector.protocol.array_elements import ElementScanner, element_indent

    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
        bare = head.removeprefix(codecs.BOM_UTF8).lstrip(_BLANK)
        begin = len(head) - len(bare)
        if bare[:1] == b"[":
            scanner = ElementScanner(element_indent(head.removeprefix(codecs.BOM_UTF8)))
        else:
            single = _single_document(file, bare)
            if single is not None:
                yield begin, single
                return
            scanner = ElementScanner(b"", begin=begin, bracketed=False)
        file.seek(0)
        held, at = bytearray(), 0  # from `at` on: a possible start of an unfinished document
        while data := file.read(_BLOCK_BYTES):
            held += data
            yield from _cut(held, at, scanner.scan(data))
            keep = max(scanner.unfinished_start, at)
            del held[: keep - at]
            at = keep
            if len(held) > _MAX_DOCUMENT:
                raise NotConvertedError(f"one of its documents is larger than {_MAX_DOCUMENT / 1e6:,.0f} MB")
        yield from _cut(held, at, scanner.finish())


def _single_document(file: BinaryIO, bare: bytes) -> bytes | None:
    """Returns the document of a file with only one; None if it has several, is damaged or too large.

    A document of 100 MB is checked in a tenth of the time of a search for the end of each.

    Args:
        file: the file.
        bare: its beginning, without blanks.
    """
    first = bare.partition(b"\n")[0]
    if bare[:1] != b"{" or (len(first) < len(bare) and _is_document(first)):
        return None
    if os.fstat(file.fileno()).st_size > _MAX_DOCUMENT:
        return None
    document = (bare + file.read()).rstrip(_BLANK)
    return document if _is_document(document) else None


def _is_document(data: bytes) -> bool:
    try:
        _any_value.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True


_any_value = msgspec.json.Decoder(msgspec.Raw)


def _cut(held: bytearray, at: int, spans: Sequence[tuple[int, int]]) -> Iterator[tuple[int, bytes]]:
    from inspector.protocol.array_elements import trim_span

    for start, stop in spans:
        piece = bytes(memoryview(held)[start - at : stop - at])
        span = trim_span(piece, (0, len(piece)))
        if span is not None and piece[span[0] : span[0] + 1] == b"{":
            yield start + span[0], piece[span[0] : span[1]]


def decoded_document(document: bytes) -> dict[str, Any]:
    """Returns a document as an object. Raises NotConvertedError."""
    if is_too_large(document):
        raise NotConvertedError(f"of one of its documents: {TOO_LARGE}")
    try:
        value = decode_json(document)
    except NotAnObjectError as error:
        raise NotConvertedError(f"one of its documents is {error}") from None
    return value if isinstance(value, dict) else {}


def number_or_none(value: object) -> float | None:
    """Returns a finite number as float, else None; True and False are no numbers."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not abs(value) < _HUGE:
        return None
    return float(value)


_HUGE = 1e15
