"""Format: sessions of Pi, and of oh-my-pi and OpenClaw, which are built on it."""

from __future__ import annotations

from inspector.formats.format import Format, Participants, Stage
from inspector.formats.pi import reader

FORMAT = Format(
    name=reader.NAME,
    title="Pi session",
    reads="sessions of Pi, oh-my-pi and OpenClaw",
    stage=Stage.TRANSCRIPT,
    read=reader.READER.read,
    payload=reader.READER.payload,
    sessions="inspector.formats.pi.sessions:SESSIONS",
    title_kinds=reader.TITLE_KINDS,
    icons={reader.VOICE.namespace: "ri.terminal-line"},
    participants=Participants(agent=reader.VOICE.agent, program=reader.VOICE.program),
    namespace=reader.VOICE.namespace,
    bookkeeping=frozenset(reader.VOICE.namespace + record for record in reader.RECORDS),
)
