"""Format: transcripts and printed output of Cursor's agent."""

from __future__ import annotations

from inspector.formats.cursor_agent import reader
from inspector.formats.format import Format, Participants, Stage

FORMAT = Format(
    name=reader.NAME,
    title="Cursor session",
    reads="sessions of Cursor's agent",
    stage=Stage.TRANSCRIPT,
    read=reader.READER.read,
    payload=reader.READER.payload,
    has_session_files=True,
    conversion="inspector.formats.cursor_agent.conversion:CONVERSION",
    sessions="inspector.formats.cursor_agent.sessions:SESSIONS",
    icons={reader.VOICE.namespace: "ri.terminal-line"},
    participants=Participants(agent=reader.VOICE.agent, program=reader.VOICE.program),
    namespace=reader.VOICE.namespace,
    # Transcripts have no results.
    lone_answers_of=reader.VOICE.agent,
    bookkeeping=frozenset(reader.VOICE.namespace + record for record in reader.RECORDS),
)
