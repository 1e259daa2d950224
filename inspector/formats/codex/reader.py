"""Format: threads of Codex, three generations of files, and its printed events (docs/transcripts.md).

`exec_events` reads the output of `codex exec --json`, `app_server` logs of `codex app-server`. For files, `records`
decodes the shape of a record, `derivation` derives its messages, `payloads` creates their payloads.
`inspector.store.messages.thread_files` resolves copies, the model of a turn, and history copied from another thread.
"""

from __future__ import annotations

from inspector.formats.codex import app_server, exec_events
from inspector.formats.codex.derivation import derive_messages
from inspector.formats.codex.payloads import payload_of
from inspector.formats.codex.records import USUAL, read_codex
from inspector.protocol.derived_messages import Payload
from inspector.protocol.record import Record, Shape
from inspector.protocol.timestamps import NO_TIME, parse_text_time

LABEL = "codex"


def read(line: bytes, *, unknown: bool = False) -> Record | None:
    """Reads one line if it is a record of a thread. Never raises.

    Args:
        line: without its end.
        unknown: accept a record of an unknown type too; used if no other format matches the line.
    """
    if exec_events.is_event(line, unknown=unknown):
        means = exec_events.meanings_of(line)
        return Record(Shape.DERIVED, line, time_ns=NO_TIME, derived_messages=means, derived_by=LABEL) if means else None
    found = read_codex(line, unknown=unknown)
    if found is None:
        return app_server.read(line, LABEL)
    return Record(
        Shape.DERIVED, line, time_ns=parse_text_time(found.timestamp), derived_messages=derive_messages(found),
        derived_by=LABEL
    )  # fmt: skip


def is_usual(line: bytes) -> bool:
    """Returns True if a line begins like a thread's record, and like no other format."""
    return USUAL.match(line) is not None


def payload(line: bytes, number: int) -> Payload:
    """Returns the payload of message `number` of a record, from 0. Never raises."""
    if exec_events.is_event(line, unknown=True):
        return exec_events.payload_of(line, number)
    if app_server.is_message(line):
        return app_server.payload_of(line, number)
    return payload_of(line, number)
