"""Format: Agent Client Protocol over JSON-RPC (docs/protocols.md 18)."""

from __future__ import annotations

from inspector.formats.acp import reader
from inspector.formats.acp.ordered_lines import AcpLines
from inspector.formats.format import Conversations, Format, RpcProtocol, Stage, TrafficKind

FORMAT = Format(
    name=reader.LABEL,
    title="Agent Client Protocol",
    reads="Agent Client Protocol",
    stage=Stage.PROTOCOL,
    topic="agent",
    traffic=TrafficKind.WIRE,
    read=reader.READER.read,
    payload=reader.READER.payload,
    conversations=Conversations.NAMED,
    namespace=reader.NAMESPACE,
    stop_kinds=(reader.CANCEL_KIND,),
    order_marks=(b'"session/update"', b'"session/new"'),
    rpc=RpcProtocol(
        is_own=reader.is_own,
        derive_entries=reader.derive_entries,
        follow_lines=AcpLines,
        method_beginnings=(b"session/", b'initialize"'),
        shared_beginnings={b'initialize"': reader.NUMBERED_VERSIONS},
    ),
)
