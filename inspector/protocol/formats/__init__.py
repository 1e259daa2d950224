"""Log formats, and the single entry point from a line to a record.

To add one, write a module here, one line in FORMATS, and a sample in tests/data/formats/. The module has

- `read(header, line) -> Record | None`: reads a line that is a JSON object; returns None for other formats.
  `inspector.protocol.header` declares the keys. For lines that are no JSON objects, such as lines with a leading time,
  it is `read(line)`; the module is in ALL_FORMATS instead of FORMATS, and `_read_other_line` calls it.
- LABEL, its identifier; in FORMATS also LABELS, identifiers by the content of a line;
- WORDS, the window's name of a log for each of these identifiers;
- READS, its part of the sentence about readable formats.

A *transcript* is a format without envelopes: one record may contain several messages, and repeat those of others
(docs/transcripts.md). Its module, or package, is in TRANSCRIPTS, tried before all others, the most specific first.
Beside the names above it has

- `read(line, *, unknown=False) -> Record | None`: returns a record of the shape DERIVED with its messages, at least
  one (`inspector.protocol.derived_messages`). Columns are made of them alone. `unknown` accepts records of newer types
  in lines that no other format matches;
- `payload(line, number) -> dict`: returns the payload of one of them, created on demand;
- for a coding agent, also in CODING_AGENTS, AGENT and PROGRAM, the senders of messages of the model and of the
  program, and NAMESPACE, the prefix of kinds that only this format has.

Columns supply kind, sender, recipients, context and ids of the synthesized envelope, since they may know more than the
record. Code above a capture cannot distinguish it from a written envelope.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

from inspector.protocol.derived_messages import Payload
from inspector.protocol.flattened_json import MAX_LENGTH, FlattenedJson
from inspector.protocol.formats import (
    a2a,
    acp,
    agent_rpc,
    api_messages,
    bare,
    capture_file,
    claude,
    codex,
    copilot,
    gateway_log,
    gemini,
    opencode,
    otlp,
    prefixed_lines,
    vscode_chat,
    wire_recording,
    wrapped_lines,
)
from inspector.protocol.frames import read_frame
from inspector.protocol.header import TOO_DEEP, NotAnObjectError, read_header
from inspector.protocol.json_size import TOO_LARGE, is_too_large
from inspector.protocol.line_structs import is_regular_line
from inspector.protocol.record import ModelCall, Record, Shape, unreadable_record
from inspector.protocol.rpc_batch import batch_in
from inspector.protocol.shared_lines import objects_in_line

# In the order tried. Gateway lines come before bare ones, because a line about a failure has `id` and `error` like a
# JSON-RPC answer. HTTP recordings come before bare ones, since their lines have a `kind`. Captures come before wrapped
# lines, since a capture line is a special case of a wrapped one.
FORMATS = (gateway_log, wire_recording, bare, capture_file, wrapped_lines)

TRANSCRIPTS = (claude, codex, copilot, gemini, opencode, otlp, vscode_chat)
"""Formats with derived messages, in the order tried: before FORMATS, some of which accept a line by one key."""

CODING_AGENTS = (claude, codex, copilot, gemini, opencode, vscode_chat)
"""Transcripts of coding agents."""

_CODEX = (codex,)

_IDENTIFIED_BY_TYPE = (claude, otlp)
"""Formats for which a record of an unknown type identifies a file; for others the keys are too common."""

AGENT_PROTOCOLS = (acp, a2a)
"""Protocols between agents over JSON-RPC: detected by their methods, in lines of any of FORMATS."""

LATE_TRANSCRIPTS = (api_messages,)
"""Transcripts tried after all other formats, since their records' keys occur in many others."""

ALL_FORMATS = (*FORMATS, *AGENT_PROTOCOLS, prefixed_lines, *TRANSCRIPTS, *LATE_TRANSCRIPTS)
"""All formats, also those whose lines are no JSON objects."""

FRAME_LABEL = "stream-frames"
"""Lines `#id#data`: readable, but comments look alike, so they do not make a file a log."""

FORMAT_NAMES: dict[str, str] = {label: words for one in ALL_FORMATS for label, words in one.WORDS.items()}
"""Names of logs in the window, by label."""

READABLE_FORMATS = ", ".join(one.READS for one in ALL_FORMATS)
"""Readable formats, for a sentence."""

_MAX_NESTING = 4
_DERIVING_FORMATS = {one.LABEL: one for one in (*TRANSCRIPTS, *LATE_TRANSCRIPTS, *AGENT_PROTOCOLS)}
_PAYLOADS = {**_DERIVING_FORMATS, wire_recording.LABEL: wire_recording, prefixed_lines.LABEL: prefixed_lines}
"""Formats with derived messages, by label."""
# All but the last, with labels by the shape's number: a dict would hash the enumeration each time.
_READERS = tuple((f.read, tuple(f.LABELS.get(shape, f.LABEL) for shape in Shape)) for f in FORMATS[:-1])


SELECTABLE_FORMATS: dict[str, str] = {one.LABEL: one.WORDS[one.LABEL] for one in ALL_FORMATS}
"""Selectable formats: label and words."""


def read_line(line: bytes, reading: str | None = None, known: Mapping[str, Any] | None = None) -> Record:
    """Reads one line of any format. Never raises.

    Args:
        line: the line without its end; not blank.
        reading: a forced format, one of SELECTABLE_FORMATS; None to detect it.
        known: facts from earlier lines (`inspector.reading.reassembly.reassembler`).
    """
    return read_line_as(line, known=known)[0] if reading is None else read_chosen(line, reading)[0]


def read_chosen(line: bytes, reading: str) -> tuple[Record, str | None]:
    """Reads one line in a forced format, whatever its form; returns as `read_line_as`."""
    record: Record | None = None
    transcript = _DERIVING_FORMATS.get(reading)
    if transcript is not None:
        # The reader of a transcript decodes the whole line, which takes too long above this limit.
        if is_too_large(line):
            return unreadable_record(line, TOO_LARGE), None
        record = transcript.read(line, unknown=True)
    elif reading == prefixed_lines.LABEL:
        record = prefixed_lines.read(line, read_line)
    else:
        try:
            header = read_header(line)
        except NotAnObjectError as error:
            return unreadable_record(line, str(error)), None
        if reading == wrapped_lines.LABEL:
            record = wrapped_lines.read(header, line, read_line)
        else:
            # The last format is the wrapper, which needs its own reader.
            module = next(one for one in FORMATS[:-1] if reading == one.LABEL)
            record = module.read(header, line)
    if record is None:
        return unreadable_record(line, f"nothing that is read as {SELECTABLE_FORMATS[reading]}"), None
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
            return record, transcript.LABEL
    try:
        header = read_header(line)
    except NotAnObjectError as error:
        return _read_other_line(line, str(error), nesting, known)
    # Readers with a header decode it once; the first that knows the line wins.
    for read, labels in _READERS:
        record = read(header, line, known, known_of) if read is wire_recording.read else read(header, line)
        if record is not None:
            label = labels[record.shape]
            own = _agent_protocol_of(record, known) if record.shape is Shape.RPC else None
            return record, own.LABEL if own is not None and label == _UNNAMED else label
    # A wrapper may lie inside of another one, but not without end.
    if nesting < _MAX_NESTING:
        record = wrapped_lines.read(header, line, lambda inner: read_line_as(inner, nesting + 1, known)[0])
        if record is not None:
            return record, wrapped_lines.LABEL
    if not decoded_whole:
        return unreadable_record(line, TOO_LARGE), None
    # Formats with a weak mark come late, so that they take no line of another one.
    for transcript in LATE_TRANSCRIPTS:
        record = transcript.read(line)
        if record is not None:
            return record, transcript.LABEL
    for transcript in TRANSCRIPTS:
        record = transcript.read(line, unknown=True)
        if record is not None:
            return record, transcript.LABEL if transcript in _IDENTIFIED_BY_TYPE else None
    return read_frame(line), None


def _candidate_transcripts(line: bytes) -> Sequence[ModuleType]:
    """Returns the transcripts that may match a line: trying all of them takes longer than reading it."""
    if bare.is_rpc(line) or is_regular_line(line) or wire_recording.is_usual(line):
        return ()
    return _CODEX if codex.is_usual(line) else TRANSCRIPTS


def _agent_protocol_of(record: Record, known: Mapping[str, Any] | None) -> ModuleType | None:
    """Returns the agent protocol of a JSON-RPC record, and sets the derived messages; None for other records."""
    header = record.header
    if header is None:
        return None
    named = known.get("protocol") if known is not None else None
    found = next(
        (one for one in AGENT_PROTOCOLS if (named == one.LABEL if named is not None else one.is_own(header))), None
    )
    return (
        found
        if found is not None and agent_rpc.set_derived_messages(record, found.LABEL, found.derive_entries, known)
        else None
    )


_UNNAMED = bare.LABELS[Shape.RPC]
"""Label of JSON-RPC without further identification."""


def payload_of(record: Record, number: int) -> Payload:
    """Returns the payload of message `number`, from 0, in a transcript's record. Never raises."""
    module = _PAYLOADS.get(record.derived_by or "")
    if module is None:
        return {}
    if record.known_facts is not None:  # of reassembled lines
        return module.payload(record.raw, number, record.known_facts)
    return module.payload(record.raw, number)


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
        record = prefixed_lines.read(line, lambda inner: read_line_as(inner, nesting + 1, known)[0])
        if record is not None:  # empty by itself: a field of an event stream, or an event of an answer
            return record, prefixed_lines.LABEL if record.shape is not Shape.NO_MESSAGE else record.derived_by
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
