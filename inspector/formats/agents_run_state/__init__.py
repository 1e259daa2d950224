"""Format: saved runs of the OpenAI Agents SDK (docs/what-it-reads.md)."""

from __future__ import annotations

from inspector.formats.agents_run_state import reader
from inspector.formats.format import Format, Participants, Stage

FORMAT = Format(
    name=reader.NAME,
    title="Agents SDK run",
    reads="saved runs of the OpenAI Agents SDK",
    stage=Stage.TRANSCRIPT,
    read=reader.READER.read,
    payload=reader.READER.payload,
    icons={reader.VOICE.namespace: "ri.robot-line"},
    participants=Participants(agent=reader.VOICE.agent, program=reader.VOICE.program),
    namespace=reader.VOICE.namespace,
    bookkeeping=frozenset(reader.VOICE.namespace + record for record in reader.RECORDS),
)
