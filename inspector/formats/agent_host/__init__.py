"""Format: Agent Host Protocol over JSON-RPC."""

from __future__ import annotations

from inspector.formats.agent_host import reader
from inspector.formats.agent_host.ordered_lines import AgentHostLines
from inspector.formats.format import Conversations, Format, RpcProtocol, Stage, TrafficKind

FORMAT = Format(
    name=reader.LABEL,
    title="Agent Host Protocol",
    reads="Agent Host Protocol",
    stage=Stage.PROTOCOL,
    topic="agent",
    traffic=TrafficKind.WIRE,
    read=reader.READER.read,
    payload=reader.READER.payload,
    conversations=Conversations.NAMED,
    namespace=reader.NAMESPACE,
    stop_kinds=(reader.CANCEL_KIND,),
    order_marks=(b'"_ahpLog"', b'"serverSeq"', b'"dispatchAction"'),
    rpc=RpcProtocol(
        is_own=reader.is_own,
        derive_entries=reader.derive_entries,
        follow_lines=AgentHostLines,
        method_beginnings=(b'action"', b'dispatchAction"', b'initialize"', b'createSession"'),
        shared_beginnings={
            b'action"': (b'"serverSeq"',), b'initialize"': (b'"initialSubscriptions"',),
            b'createSession"': (b'"_ahpLog"',),
        },
    ),
)  # fmt: skip
