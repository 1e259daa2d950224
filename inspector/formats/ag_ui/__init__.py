"""Format: events of the Agent User Interaction Protocol, AG-UI (docs/what-it-reads.md)."""

from __future__ import annotations

from inspector.formats.ag_ui import reader
from inspector.formats.format import Format, Participants, Stage, TrafficKind

FORMAT = Format(
    name=reader.NAME,
    title="AG-UI events",
    reads="events of AG-UI",
    stage=Stage.TRANSCRIPT,
    traffic=TrafficKind.WIRE,
    topic="agent",
    read=reader.read,
    payload=reader.payload,
    icons={reader.VOICE.namespace: "ri.window-line"},
    participants=Participants(agent=reader.VOICE.agent, program=reader.VOICE.program),
    namespace=reader.VOICE.namespace,
    bookkeeping=frozenset(reader.VOICE.namespace + record for record in reader.RECORDS),
    order_marks=(b'"RUN_STARTED"', b'"TEXT_MESSAGE_', b'"TOOL_CALL_START"'),
    may_lack_results=True,
    reassembly="inspector.formats.ag_ui.reassembly:AgUiPieces",
)
