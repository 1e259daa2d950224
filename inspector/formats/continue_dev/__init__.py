"""Format: sessions of Continue (docs/what-it-reads.md)."""

from __future__ import annotations

from inspector.formats.continue_dev import reader
from inspector.formats.file_conversion import NamedRecord
from inspector.formats.format import Format, Participants, Stage

FORMAT = Format(
    name=reader.NAME,
    title="Continue session",
    reads="sessions of Continue",
    stage=Stage.TRANSCRIPT,
    read=reader.READER.read,
    payload=reader.READER.payload,
    conversion="inspector.formats.continue_dev.conversion:CONVERSION",
    sessions="inspector.formats.continue_dev.sessions:SESSIONS",
    title_kinds={reader.VOICE.namespace + "session": "title"},
    icons={reader.VOICE.namespace: "ri.terminal-line"},
    participants=Participants(agent=reader.VOICE.agent, program=reader.VOICE.program),
    namespace=reader.VOICE.namespace,
    bookkeeping=frozenset({reader.VOICE.namespace + "session"}),
    original_records=(
        NamedRecord(key="item", id_key="", noun="item"),
        NamedRecord(key="session", id_key="", noun="session"),
    ),
)
