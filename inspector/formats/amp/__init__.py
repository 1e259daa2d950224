"""Format: threads of Amp."""

from __future__ import annotations

from inspector.formats.amp import reader
from inspector.formats.file_conversion import NamedRecord
from inspector.formats.format import Format, Participants, Stage

FORMAT = Format(
    name=reader.NAME,
    title="Amp session",
    reads="threads of Amp",
    stage=Stage.TRANSCRIPT,
    read=reader.READER.read,
    payload=reader.READER.payload,
    conversion="inspector.formats.amp.conversion:CONVERSION",
    sessions="inspector.formats.amp.sessions:SESSIONS",
    title_kinds={reader.VOICE.namespace + "thread": "title"},
    icons={reader.VOICE.namespace: "ri.terminal-line"},
    participants=Participants(agent=reader.VOICE.agent, program=reader.VOICE.program),
    namespace=reader.VOICE.namespace,
    bookkeeping=frozenset({reader.VOICE.namespace + "thread"}),
    original_records=(
        NamedRecord(key="message", id_key="messageId", noun="message"),
        NamedRecord(key="thread", id_key="", noun="thread"),
    ),
)
