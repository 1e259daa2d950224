"""Format: sessions of goose."""

from __future__ import annotations

from inspector.formats.file_conversion import NamedRecord
from inspector.formats.format import Format, Participants, Stage
from inspector.formats.goose import reader

FORMAT = Format(
    name=reader.NAME,
    title="goose session",
    reads="sessions of goose",
    stage=Stage.TRANSCRIPT,
    read=reader.READER.read,
    payload=reader.READER.payload,
    conversion="inspector.formats.goose.conversion:CONVERSION",
    store="inspector.formats.goose.conversion:store_of",
    sessions="inspector.formats.goose.sessions:SESSIONS",
    names_sessions=True,
    title_kinds={reader.VOICE.namespace + "session": "name"},
    icons={reader.VOICE.namespace: "ri.terminal-line"},
    participants=Participants(agent=reader.VOICE.agent, program=reader.VOICE.program),
    namespace=reader.VOICE.namespace,
    bookkeeping=frozenset(reader.VOICE.namespace + record for record in reader.RECORDS),
    original_records=(NamedRecord(key="message", id_key="id", noun="message"),),
)
