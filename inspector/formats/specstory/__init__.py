"""Format: sessions of coding agents that SpecStory saved as Markdown (docs/what-it-reads.md)."""

from __future__ import annotations

from inspector.formats.format import Format, Participants, Stage
from inspector.formats.specstory.reader import READER, VOICE

FORMAT = Format(
    name=READER.name,
    title="SpecStory history",
    reads="sessions that SpecStory saved",
    stage=Stage.TRANSCRIPT,
    read=READER.read,
    payload=READER.payload,
    conversion="inspector.formats.specstory.conversion:CONVERSION",
    names_sessions=True,
    title_kinds={VOICE.namespace + "session": "title"},
    icons={VOICE.namespace: "ri.markdown-line"},
    participants=Participants(agent=VOICE.agent, program=VOICE.program),
    namespace=VOICE.namespace,
    bookkeeping=frozenset({VOICE.namespace + "session", VOICE.namespace + "command"}),
)
