"""Format: sessions of Crush (docs/what-it-reads.md)."""

from __future__ import annotations

from inspector.formats.crush import reader
from inspector.formats.file_conversion import NamedRecord
from inspector.formats.format import Format, Participants, Stage

FORMAT = Format(
    name=reader.NAME,
    title="Crush session",
    reads="sessions of Crush",
    stage=Stage.TRANSCRIPT,
    read=reader.READER.read,
    payload=reader.READER.payload,
    store="inspector.formats.crush.conversion:store_of",
    sessions="inspector.formats.crush.sessions:SESSIONS",
    names_sessions=True,
    title_kinds={reader.VOICE.namespace + "session": "title"},
    icons={reader.VOICE.namespace: "ri.terminal-line"},
    participants=Participants(agent=reader.VOICE.agent, program=reader.VOICE.program),
    namespace=reader.VOICE.namespace,
    bookkeeping=frozenset(reader.VOICE.namespace + record for record in reader.RECORDS),
    stop_kinds=(reader.VOICE.namespace + "canceled",),
    original_records=(NamedRecord(key="message", id_key="id", noun="message"),),
)
