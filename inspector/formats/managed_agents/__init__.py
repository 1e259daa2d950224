"""Format: events of Claude Managed Agents (docs/what-it-reads.md)."""

from __future__ import annotations

from inspector.formats.format import Format, Participants, Stage
from inspector.formats.managed_agents import reader

FORMAT = Format(
    name=reader.NAME,
    title="Managed agent session",
    reads="events of Claude Managed Agents",
    stage=Stage.TRANSCRIPT,
    read=reader.READER.read,
    payload=reader.READER.payload,
    conversion="inspector.formats.managed_agents.conversion:CONVERSION",
    title_kinds={reader.VOICE.namespace + "session.updated": "title"},
    icons={reader.VOICE.namespace: "ri.cloud-line"},
    participants=Participants(agent=reader.VOICE.agent, program=reader.VOICE.program),
    namespace=reader.VOICE.namespace,
    failing_kinds=(reader.VOICE.namespace + reader.REQUEST_END,),
    stop_kinds=tuple(reader.VOICE.namespace + kind for kind in reader.STOPS),
    bookkeeping=frozenset(reader.VOICE.namespace + record for record in reader.RECORDS),
)
