"""Tries a format on the beginning of a file: the first rows, and the records that it does not read."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

from inspector.formats.format import Format
from inspector.formats.line_reading import FRAME_LABEL, payload_of, read_line_as
from inspector.protocol import kinds
from inspector.protocol.derived_messages import USER_PREFIX, DerivedMessage, Payload
from inspector.protocol.header import NotAnObjectError, decode_json
from inspector.protocol.json_size import TOO_LARGE, is_too_large
from inspector.protocol.message_text import text_shown
from inspector.protocol.record import Record, unreadable_record
from inspector.protocol.secrets.masking import mask_text
from inspector.reading.files.format_detection import missing_array, records_in, scanner_for
from inspector.store.files.source_files import SourceFile

TRIED_BYTES, TRIED_ROWS = 1 << 20, 10
"""Limits of a trial: bytes of the file, and rows that are kept."""
_KEPT_RECORDS, _EXCERPT = 5, 120
_MAX_TRIED_RECORDS = 20_000
_MAX_TRIED_S = 3.0
"""Seconds after which a trial ends early: a hostile expression takes a second for a long line."""


@dataclass(frozen=True, slots=True)
class TrialRow:
    """One row.

    Attributes:
        record: number of its record, from 1.
        event: its event in the readers' vocabulary.
        time_ns: nanoseconds since the epoch, or NO_TIME.
        text: its words on one line, without secrets.
    """

    record: int
    event: str
    time_ns: int
    kind: str
    sender: str
    to: str
    text: str


@dataclass(slots=True)
class Trial:
    """Result of a trial.

    Attributes:
        rows: the first rows.
        records: number of records tried.
        matched: number of records that the format reads.
        unmatched: the first other records, with their number, beginning and reason.
        formats: number of records by format.
        problem: a sentence if the file has no records of this format at all.
        is_whole: the file has no more records.
    """

    rows: list[TrialRow] = field(default_factory=list)
    records: int = 0
    matched: int = 0
    unmatched: list[tuple[int, str, str]] = field(default_factory=list)
    formats: dict[str, int] = field(default_factory=dict)
    problem: str = ""
    is_whole: bool = True


def wait_for_bytes(source: SourceFile, count: int) -> None:
    """Waits until a compressed file is unpacked so far, or to its end."""
    while source.feed is not None and source.is_growing and source.size < count:
        source.feed.wait(_WAIT_S)


_WAIT_S = 0.05


def try_format(source: SourceFile, tried: Format | None, *, max_bytes: int = TRIED_BYTES) -> Trial:
    """Tries a format, added or not, on the beginning of a file.

    Args:
        source: the file.
        tried: the format; None to detect it for each record.
        max_bytes: limit of records in bytes.

    Raises:
        OSError: if the file cannot be read.
    """
    wait_for_bytes(source, max_bytes)
    trial = Trial()
    array_path = tried.array_path if tried is not None else None
    missing = missing_array(source, array_path)
    if missing is not None:
        trial.problem = f"The file has {missing}."
        return trial
    size, until = 0, time.monotonic() + _MAX_TRIED_S
    for record in _records(source, array_path):
        is_long = size + len(record) > max_bytes or time.monotonic() > until
        if (is_long and trial.records) or trial.records == _MAX_TRIED_RECORDS:
            trial.is_whole = False
            break
        size += len(record)
        trial.records += 1
        _try_record(trial, record, tried)
    if not trial.records:
        trial.problem = "The file has no records."
    return trial


def _records(source: SourceFile, array_path: tuple[str, ...] | None) -> Iterator[bytes]:
    return (record for record in records_in(source, scanner_for(source, array_path)) if record is not None)


def _try_record(trial: Trial, data: bytes, tried: Format | None) -> None:
    if tried is None:
        record, name = read_line_as(data)
        payload: Callable[[int], Payload] = partial(payload_of, record)
    else:
        found = None if is_too_large(data) else tried.read(data, unknown=True)
        reason = TOO_LARGE if found is None and is_too_large(data) else f"nothing that is read as {tried.title}"
        record, name = found or unreadable_record(data, reason), None if found is None else tried.name
        payload = partial(tried.payload or _no_payload, data)
    if name is None or name == FRAME_LABEL:
        if len(trial.unmatched) < _KEPT_RECORDS:
            reason = record.reason or "of no known format"
            trial.unmatched.append((trial.records, _excerpt(data.decode("utf-8", "replace")), reason))
        return
    trial.matched += 1
    trial.formats[name] = trial.formats.get(name, 0) + 1
    if len(trial.rows) < TRIED_ROWS:
        trial.rows += list(_rows_of(record, trial.records, payload))[: TRIED_ROWS - len(trial.rows)]


def _no_payload(data: bytes, number: int) -> Payload:
    del data, number
    return {}


def _rows_of(record: Record, number: int, payload: Callable[[int], Payload]) -> Iterator[TrialRow]:
    for place, one in enumerate(record.derived_messages):
        text = text_shown(one.kind, payload(place)) or ""
        words = f"{one.target}: {text}" if one.target and text else one.target or text
        yield TrialRow(
            number, event_name(one), one.time_ns, one.kind, one.sender or "", ", ".join(one.to or ()), _excerpt(words)
        )
    if not record.derived_messages:
        header = record.header
        kind = str(header.kind) if header is not None and isinstance(header.kind, str) else record.shape.name.lower()
        sender = header.sender if header is not None and isinstance(header.sender, str) else ""
        yield TrialRow(number, "message", record.time_ns, kind, sender, "", _excerpt(_text_of(record)))


def _text_of(record: Record) -> str:
    try:
        value = decode_json(record.raw)
    except NotAnObjectError:
        value = None
    inner = value.get("payload") if isinstance(value, dict) else None
    text = text_shown("", inner) if isinstance(inner, dict) else None
    return text or record.raw[: 2 * _EXCERPT].decode("utf-8", "replace")


def event_name(message: DerivedMessage) -> str:
    """Returns the event of the readers' vocabulary that made a message."""
    if message.kind == kinds.REQUEST:
        return "agent_started" if message.spawn is not None else "call"
    if message.kind == kinds.RESPONSE:
        return "agent_ended" if message.spawn is not None and message.spawn.has_ended else "result"
    if message.kind == "chat":
        if not message.matched_text:
            return "message"
        return "prompt" if message.matched_text.startswith(USER_PREFIX) else "answer"
    return _EVENTS.get(message.kind, "bookkeeping")


_EVENTS = {"reasoning/thought": "thought", "participant/compact-done": "compaction", "system/error": "error"}


def _excerpt(text: str) -> str:
    # Cut before masking: a record may have megabytes.
    line = " ".join(mask_text(text[: 20 * _EXCERPT]).split())
    return line if len(line) <= _EXCERPT else line[: _EXCERPT - 1] + "…"
