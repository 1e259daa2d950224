"""Format: streams and stored messages of Vercel's AI SDK (docs/what-it-reads.md)."""

from __future__ import annotations

from inspector.formats.ai_sdk import reader
from inspector.formats.format import Format, Participants, Stage, TrafficKind

FORMAT = Format(
    name=reader.NAME,
    title="AI SDK messages",
    reads="streams and messages of Vercel's AI SDK",
    stage=Stage.TRANSCRIPT,
    traffic=TrafficKind.WIRE,
    topic="agent",
    read=reader.read,
    payload=reader.payload,
    icons={reader.VOICE.namespace: "ri.window-line"},
    participants=Participants(agent=reader.VOICE.agent, program=reader.VOICE.program),
    namespace=reader.VOICE.namespace,
    bookkeeping=frozenset(reader.VOICE.namespace + record for record in reader.RECORDS),
    order_marks=(b'"text-start"', b'"text-delta"', b'"tool-input-start"', b'\n0:"', b'\ng:"', b'\n9:{"'),
    reassembly="inspector.formats.ai_sdk.reassembly:AiSdkPieces",
)
