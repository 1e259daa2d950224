"""Format: recordings of MCP and of model APIs over HTTP (docs/protocols.md 13)."""

from __future__ import annotations

from inspector.formats.format import Conversations, Format, Stage, TrafficKind
from inspector.formats.wire_recording import reader

FORMAT = Format(
    name=reader.LABEL,
    title="wire recording",
    reads="recordings of MCP and of model APIs over HTTP",
    stage=Stage.ENVELOPE,
    traffic=TrafficKind.WIRE,
    read=reader.read,
    begins_like=reader.is_usual,
    payload=reader.payload,
    conversations=Conversations.NAMED,
    is_model_wire=True,
    repeats_history=True,
    icons={
        "http/": "ri.global-line",
        "websocket/": "ri.global-line",
        "stdio/": "ri.terminal-line",
        "recorder/": "ri.record-circle-line",
    },
    order_marks=(b'"http-request"',),
    reassembly="inspector.formats.wire_recording.reassembly:ModelAnswers",
    further_namespaces=("http/", "websocket/", "stdio/", "recorder/"),
    bookkeeping=frozenset({"http/end", "http/event", "http/response", "recorder/end", "recorder/start"}),
    failing_kinds=(reader.NOISE_KIND,),
    noise_kind=reader.NOISE_KIND,
)
