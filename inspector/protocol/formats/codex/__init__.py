"""Threads of Codex, the three generations of its files, and what it prints (docs/transcripts.md): an object a line.

`exec_events` reads what `codex exec --json` prints. Of files, `lines` knows the shape of a record, `meanings` which
messages it means, `payloads` what these say. What records tell of each other, copies, the model of a turn, and what was
copied from another thread, is resolved in `inspector.store.messages.threads`.
"""

from __future__ import annotations

from inspector.protocol.formats.codex import exec_events
from inspector.protocol.formats.codex.lines import USUAL, read_codex
from inspector.protocol.formats.codex.meanings import AGENT, NAMESPACE, PROGRAM, meanings_of
from inspector.protocol.formats.codex.payloads import payload_of
from inspector.protocol.meaning import Payload
from inspector.protocol.record import Record, Shape
from inspector.protocol.times import NO_TIME, written_time

__all__ = ["AGENT", "LABEL", "NAMESPACE", "PROGRAM", "READS", "WORDS", "payload", "read"]

LABEL = "codex"
WORDS = {LABEL: "Codex session"}
READS = "sessions of Codex"


def read(line: bytes, *, unknown: bool = False) -> Record | None:
    """Read one line; None when it is no record of a thread. Never raises.

    Args:
        line: without its end.
        unknown: also a record of a type that nobody has seen yet; asked when no other format knows the line.
    """
    if exec_events.is_event(line, unknown=unknown):
        means = exec_events.meanings_of(line)
        return Record(Shape.MEANING, line, time_ns=NO_TIME, means=means, meant_by=LABEL) if means else None
    found = read_codex(line, unknown=unknown)
    if found is None:
        return None
    return Record(
        Shape.MEANING, line, time_ns=written_time(found.timestamp), means=meanings_of(found), meant_by=LABEL
    )  # fmt: skip


def is_usual(line: bytes) -> bool:
    """Whether a line begins as a record of a thread does, and no other."""
    return USUAL.match(line) is not None


def payload(line: bytes, number: int) -> Payload:
    """What message `number` of a record says, from 0. Never raises."""
    if exec_events.is_event(line, unknown=True):
        return exec_events.payload_of(line, number)
    return payload_of(line, number)
