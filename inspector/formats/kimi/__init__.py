"""Format: sessions of Kimi CLI and Kimi Code (docs/what-it-reads.md)."""

from __future__ import annotations

import re

from inspector.formats.format import AgentTools, Format, Participants, RepeatedFiles, Stage
from inspector.formats.kimi import reader

FORMAT = Format(
    name=reader.NAME,
    title="Kimi session",
    reads="sessions of Kimi CLI and Kimi Code",
    stage=Stage.TRANSCRIPT,
    read=reader.READER.read,
    payload=reader.READER.payload,
    has_session_files=True,
    sessions="inspector.formats.kimi.sessions:SESSIONS",
    # Kimi CLI writes the messages of the model once more, also those of sub-agents and before a compaction.
    repeated_files=RepeatedFiles(names=re.compile(r"context(?:_\w+)?\.jsonl"), beside="wire.jsonl"),
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
