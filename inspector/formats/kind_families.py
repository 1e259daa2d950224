"""Display families of kinds (docs/design.md 11): of shared namespaces, and of the formats' own."""

from __future__ import annotations

from inspector.formats import registry
from inspector.protocol.kinds import CONTEXT_OPERATION, PROPOSAL, REJECT, WITHDRAW, Family

_NAMESPACES = {
    "chat": Family.CHAT,
    "reasoning": Family.REASONING,
    "stream": Family.STREAMS,
    "capability": Family.CONTROL,
    "participant": Family.CONTROL,
    "space": Family.CONTROL,
    "system": Family.GATEWAY,
    "context": Family.CONTROL,
    "jsonrpc": Family.TOOLS,
    "mcp": Family.TOOLS,
}
_KINDS = {
    PROPOSAL: Family.PROPOSALS,
    REJECT: Family.PROPOSALS,
    WITHDRAW: Family.PROPOSALS,
    CONTEXT_OPERATION: Family.CONTROL,
}


def family_of(kind: str) -> Family:
    """Returns the display family of a canonical kind."""
    namespace = kind.partition("/")[0]
    own = Family.CONTROL if namespace in registry.groups().namespaces else Family.UNKNOWN
    return _KINDS.get(kind) or _NAMESPACES.get(namespace, own)
