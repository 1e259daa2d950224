"""Format: chats of Aider (docs/what-it-reads.md)."""

from __future__ import annotations

from inspector.formats.aider.reader import READER, RECORDS, VOICE
from inspector.formats.format import Format, Participants, Stage

FORMAT = Format(
    name=READER.name,
    title="Aider session",
    reads="chats of Aider",
    stage=Stage.TRANSCRIPT,
    read=READER.read,
    payload=READER.payload,
    conversion="inspector.formats.aider.conversion:CONVERSION",
    names_sessions=True,
    icons={VOICE.namespace: "ri.terminal-line"},
    participants=Participants(agent=VOICE.agent, program=VOICE.program),
    namespace=VOICE.namespace,
    bookkeeping=frozenset(VOICE.namespace + record for record in RECORDS),
    stop_kinds=(VOICE.namespace + "interrupted",),
)
