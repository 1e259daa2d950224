"""Format: Agent2Agent over JSON-RPC and HTTP+JSON (docs/protocols.md 18)."""

from __future__ import annotations

from inspector.formats.a2a import reader
from inspector.formats.a2a.ordered_lines import A2aLines
from inspector.formats.format import Conversations, Format, RpcProtocol, Stage, TrafficKind
from inspector.formats.signatures import Signature

FORMAT = Format(
    name=reader.LABEL,
    title="Agent2Agent",
    reads="Agent2Agent",
    stage=Stage.PROTOCOL,
    topic="a2a",
    traffic=TrafficKind.WIRE,
    read=reader.READER.read,
    payload=reader.READER.payload,
    conversations=Conversations.NAMED,
    namespace=reader.NAMESPACE,
    order_marks=(b'"message/stream"', b'"message/send"'),
    reassembly="inspector.formats.a2a.reassembly:RestExchanges",
    rpc=RpcProtocol(
        is_own=reader.is_own,
        derive_entries=reader.derive_entries,
        follow_lines=A2aLines,
        method_beginnings=(
            b"message/",
            b"tasks/send",
            b'(?:SendMessage|SendStreamingMessage|GetTask|CancelTask|ListTasks|SubscribeToTask|GetExtendedAgentCard)"',
        ),
    ),
    signatures=(
        Signature(
            "the card of an A2A agent",
            ("skills", "capabilities"),
            lambda value: {"name", "version"} <= set(value),
            "It has no messages. A tap records them: context-inspector tap.",
        ),
    ),
)
