"""Reads a line of any format: the single entry point from a line to a record.

A *transcript* is a format without envelopes: one record may contain several messages, and repeat those of others
(docs/transcripts.md). Columns supply kind, sender, recipients, context and ids of the synthesized envelope, since they
may know more than the record. Code above a capture cannot distinguish it from a written envelope.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from inspector.formats import agent_rpc, mcp, prefixed, registry, wrapped
from inspector.formats.format import Format, Stage
from inspector.formats.table import FORMATS, formats_of
from inspector.formats.wrapped.reader import names_calls
from inspector.protocol.derived_messages import Payload
from inspector.protocol.flattened_json import MAX_LENGTH, FlattenedJson
from inspector.protocol.frames import read_frame
from inspector.protocol.header import ABSENT, TOO_DEEP, NotAnObjectError, read_header
from inspector.protocol.json_size import TOO_LARGE, is_too_large
from inspector.protocol.line_structs import is_regular_line
from inspector.protocol.record import ModelCall, Record, Shape, unreadable_record
from inspector.protocol.rpc_batch import batch_in
from inspector.protocol.shared_lines import objects_in_line

FRAME_LABEL = "stream-frames"
"""Lines `#id#data`: readable, but comments look alike, so they do not make a file a log."""

_MAX_NESTING = 4
_TRANSCRIPTS = formats_of(Stage.TRANSCRIPT)
_LATE = formats_of(Stage.LATE)
_PROTOCOLS = tuple((one, one.rpc) for one in formats_of(Stage.PROTOCOL) if one.rpc is not None)
_BEGINS_LIKE = tuple(
    (one.begins_like, (one,) if one.stage is Stage.TRANSCRIPT else ()) for one in FORMATS if one.begins_like is not None
)
_OWN_LINES = (Stage.TRANSCRIPT, Stage.LATE, Stage.PROTOCOL, Stage.DECLARED)
"""Stages whose reader takes the line alone."""
_PAYLOADS = {one.name: one.payload for one in FORMATS if one.payload is not None}
# With names by the shape's number: a dict would hash the enumeration each time.
_READERS = tuple((one.read, bool(one.reassembly), tuple(map(one.name_of, Shape))) for one in formats_of(Stage.ENVELOPE))


def read_line(line: bytes, reading: str | None = None, known: Mapping[str, Any] | None = None) -> Record:
    """Reads one line of any format. Never raises.

    Args:
        line: the line without its end; not blank.
        reading: a forced format, one of `registry.selectable_formats`; None to detect it.
        known: facts from earlier lines (`inspector.reading.reassembly.reassembler`).
    """
    return read_line_as(line, known=known)[0] if reading is None else read_chosen(line, reading)[0]


def read_chosen(line: bytes, reading: str) -> tuple[Record, str | None]:
    """Reads one line in a forced format, whatever its form; returns as `read_line_as`.

    A format that a record names for its file reads no lines of others: they keep their own.
    """
    record: Record | None = None
    chosen = registry.format_named(reading)
    if chosen is None:
        return unreadable_record(line, f"{reading} is no format"), None
    if chosen.stage in _OWN_LINES:
        # The reader of a transcript decodes the whole line, which takes too long above this limit.
        if is_too_large(line):
            return unreadable_record(line, TOO_LARGE), None
        record = chosen.read(line, unknown=True)
        if record is None and chosen.names_file and (own := read_line_as(line))[1] not in (None, FRAME_LABEL):
            return own
    elif chosen.stage is Stage.TEXT:
        record = chosen.read(line, read_line)
    else:
        try:
            header = read_header(line)
        except NotAnObjectError as error:
            return unreadable_record(line, str(error)), None
        inner = (read_line,) if chosen.stage is Stage.WRAPPER else ()
        record = chosen.read(header, line, *inner)
    if record is None:
        return unreadable_record(line, f"nothing that is read as {chosen.title}"), None
    return record, reading


def read_line_as(
    line: bytes, nesting: int = 0, known: Mapping[str, Any] | None = None,
    known_of: Callable[[ModelCall], Mapping[str, Any]] | None = None,
) -> tuple[Record, str | None]:  # fmt: skip
    """Reads one line, and returns its format's label (None for an unknown one).

    Args:
        line: the line without its end; not blank.
        nesting: number of wrappers around it.
        known: facts from earlier lines.
        known_of: returns such facts for a model call.
    """
    if line[:1] == b"#":
        record = read_frame(line)
        return record, None if record.shape is Shape.UNREADABLE else FRAME_LABEL
    # A long line is judged by its header alone.
    decoded_whole = not is_too_large(line)
    for transcript in _candidate_transcripts(line) if decoded_whole else ():
        record = transcript.read(line)
        if record is not None:
            return record, transcript.name
    try:
        header = read_header(line)
    except NotAnObjectError as error:
        return _read_other_line(line, str(error), nesting, known)
    # Readers with a header decode it once; the first that knows the line wins.
    for read, needs_facts, labels in _READERS:
        record = read(header, line, known, known_of) if needs_facts else read(header, line)
        if record is not None:
            label = labels[record.shape]
            own = _agent_protocol_of(record, known) if record.shape is Shape.RPC else None
            return record, own.name if own is not None and label == mcp.FORMAT.name else label
    record = read_added(line) if decoded_whole else None
    if record is not None:
        return record, record.derived_by
    # A wrapper may lie inside of another one, but not without end.
    if nesting < _MAX_NESTING:
        labels_inside: list[str | None] = []

        def read_inner(inner: bytes) -> Record:
            found, label = read_line_as(inner, nesting + 1, known)
            labels_inside.append(label)
            return found

        record = wrapped.FORMAT.read(header, line, read_inner)
        if record is not None and not names_calls(line):
            return record, wrapped.FORMAT.name
        if record is not None and _is_certain(record):
            return record, labels_inside[-1] if labels_inside else mcp.FORMAT.name
    if not decoded_whole:
        return unreadable_record(line, TOO_LARGE), None
    # Formats with a weak mark come late, so that they take no line of another one.
    for transcript in _LATE:
        record = transcript.read(line)
        if record is not None:
            return record, transcript.name
    for transcript in _TRANSCRIPTS:
        record = transcript.read(line, unknown=True)
        if record is not None:
            return record, transcript.name if transcript.identified_by_type else None
    return read_frame(line), None


def read_added(line: bytes) -> Record | None:
    """Reads a line in the formats of declarations and plug-ins; None if none of them reads it."""
    for added in registry.registered():
        if added.stage in _OWN_LINES and (record := added.read(line)) is not None:
            return record
    return None


def _is_certain(record: Record) -> bool:
    """Returns True for an envelope or a JSON-RPC message, which repeats the facts of a wrapper with calls."""
    header = record.header
    is_rpc_message = record.shape is Shape.RPC and header is not None and header.jsonrpc is not ABSENT
    return is_rpc_message or record.shape is Shape.ENVELOPE or bool(record.batch)


def _candidate_transcripts(line: bytes) -> Sequence[Format]:
    """Returns the transcripts that may match a line: trying all of them takes longer than reading it."""
    for begins_like, only in _BEGINS_LIKE:
        if begins_like(line):
            return only
    return () if is_regular_line(line) else _TRANSCRIPTS


def _agent_protocol_of(record: Record, known: Mapping[str, Any] | None) -> Format | None:
    """Returns the agent protocol of a JSON-RPC record, and sets the derived messages; None for other records."""
    header = record.header
    if header is None:
        return None
    named = known.get("protocol") if known is not None else None
    found = ((one, rpc) for one, rpc in _PROTOCOLS if (named == one.name if named is not None else rpc.is_own(header)))
    for one, rpc in found:
        return one if agent_rpc.set_derived_messages(record, one.name, rpc.derive_entries, known) else None
    return None


def payload_of(record: Record, number: int) -> Payload:
    """Returns the payload of message `number`, from 0, in a transcript's record. Never raises."""
    name = record.derived_by or ""
    payload = _PAYLOADS.get(name)
    if payload is None:
        added = registry.format_named(name)
        if added is None or added.payload is None:
            return {}
        payload = added.payload
    if record.known_facts is not None:  # of reassembled lines
        return payload(record.raw, number, record.known_facts)
    return payload(record.raw, number)


def _read_other_line(
    line: bytes, why: str, nesting: int, known: Mapping[str, Any] | None
) -> tuple[Record, str | None]:  # fmt: skip
    """Reads a line that is no JSON object, and returns its format's label.

    A batch has the labels of its elements, and so have objects that share a line.
    """
    # Only a long nesting is shortened: the time and the sender are at the top.
    if why == TOO_DEEP and line[:1] == b"{" and len(line) <= MAX_LENGTH:
        return _read_too_deep(line, nesting)
    batch = batch_in(line) or (None if nesting else objects_in_line(line))
    if batch is None and nesting <= 1:  # a container's log may contain a program's with a prefix of its own
        record = prefixed.FORMAT.read(line, lambda inner: read_line_as(inner, nesting + 1, known)[0])
        if record is not None:  # empty by itself: a field of an event stream, or an event of an answer
            return record, prefixed.FORMAT.name if record.shape is not Shape.NO_MESSAGE else record.derived_by
    if batch is None and not is_too_large(line) and (record := read_added(line)) is not None:
        return record, record.derived_by
    return batch or unreadable_record(line, why), None


def _read_too_deep(line: bytes, nesting: int) -> tuple[Record, str | None]:
    """Reads a too deeply nested line as an unreadable record with its known time, sender and envelope.

    So the copies of one envelope in a gateway's log remain one message.
    """
    shallow = FlattenedJson(line)
    try:
        read_header(shallow.text)
    except NotAnObjectError:
        return unreadable_record(line, TOO_DEEP), None
    record, label = read_line_as(shallow.text, nesting)
    if record.shape is Shape.UNREADABLE or record.batch:
        return unreadable_record(line, TOO_DEEP), None
    # The record keeps the original bytes.
    record.raw, record.shape, record.reason = shallow.original_bytes(record.raw), Shape.UNREADABLE, TOO_DEEP
    return record, label
