"""Format: sessions of Kimi CLI and Kimi Code (docs/what-it-reads.md)."""

from __future__ import annotations

from inspector.formats.format import AgentTools, Format, Participants, Stage
from inspector.formats.kimi import reader

FORMAT = Format(
    name=reader.NAME,
    title="Kimi session",
    reads="sessions of Kimi CLI and Kimi Code",
    stage=Stage.TRANSCRIPT,
    read=reader.READER.read,
    payload=reader.READER.payload,
    has_session_files=True,
    names_file=True,
    icons={reader.VOICE.namespace: "ri.moon-line"},
    participants=Participants(agent=reader.VOICE.agent, program=reader.VOICE.program),
    namespace=reader.VOICE.namespace,
    stop_kinds=tuple(reader.VOICE.namespace + name for name in reader.STOPS),
    bookkeeping=frozenset(reader.VOICE.namespace + name for name in reader.RECORDS),
    tools=AgentTools(
        declined=("The tool call is rejected by the user", "<system>ERROR: The tool call is rejected by the user"),
        person_tools=("AskUserQuestion",),
    ),
)
