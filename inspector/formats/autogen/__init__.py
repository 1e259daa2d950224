"""Format: messages, saved states and events of AutoGen (docs/what-it-reads.md)."""

from __future__ import annotations

from inspector.formats.autogen import reader
from inspector.formats.format import Format, Participants, Stage

FORMAT = Format(
    name=reader.NAME,
    title="AutoGen run",
    reads="messages, states and events of AutoGen",
    stage=Stage.TRANSCRIPT,
    read=reader.READER.read,
    payload=reader.READER.payload,
    icons={reader.NAMESPACE: "ri.team-line"},
    participants=Participants(agent="assistant", program=reader.NAME),
    namespace=reader.NAMESPACE,
    bookkeeping=frozenset(reader.NAMESPACE + record for record in reader.RECORDS),
)
