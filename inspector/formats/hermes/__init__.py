"""Format: sessions of Hermes Agent (docs/what-it-reads.md)."""

from __future__ import annotations

from inspector.formats.format import Format, Participants, Stage
from inspector.formats.hermes import reader

FORMAT = Format(
    name=reader.NAME,
    title="Hermes session",
    reads="sessions of Hermes Agent",
    stage=Stage.TRANSCRIPT,
    read=reader.READER.read,
    payload=reader.READER.payload,
    has_session_files=True,
    names_file=True,
    icons={reader.VOICE.namespace: "ri.terminal-line"},
    participants=Participants(agent=reader.VOICE.agent, program=reader.VOICE.program),
    namespace=reader.VOICE.namespace,
    bookkeeping=frozenset((reader.VOICE.namespace + reader.SESSION,)),
)
