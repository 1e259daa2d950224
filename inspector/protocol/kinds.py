"""Parses kinds (grammar, aliases), and classifies them by family, protocol version and place.

Source: docs/protocols.md 3 (grammar and alias table). A kind is parsed by its form; the
original string is kept beside the canonical one, which has no method or target suffix.
"""

from __future__ import annotations

import enum
from functools import lru_cache
from typing import NamedTuple

from inspector.protocol.secrets.rule_prefilter import may_hold_secrets


class Family(enum.Enum):
    """Display family of a kind; the value is its letter in lists (docs/design.md 11)."""

    CHAT = "C"
    TOOLS = "T"
    PROPOSALS = "P"
    REASONING = "R"
    STREAMS = "S"
    CONTROL = "A"
    GATEWAY = "G"
    UNKNOWN = "?"


class Kind(NamedTuple):
    """A parsed kind: canonical name, and method and target of its suffix (MCPx v0.1)."""

    name: str
    method: str | None
    target: str | None


REQUEST = "mcp/request"
RESPONSE = "mcp/response"
OF_JSON_RPC = ("jsonrpc/request", "jsonrpc/response", "jsonrpc/notification")
"""Kinds shown for requests and responses of JSON-RPC that is not MCP (`store.messages.rpc_classification`)."""
PROPOSAL = "mcp/proposal"
REJECT = "mcp/reject"
WITHDRAW = "mcp/withdraw"
JOIN = "system/join"
CONTEXT_OPERATION = "meup/context"
"""Marker of context operations of the MEUP v0.2 SDK (docs/protocols.md 7)."""
FRAME = "stream/frame"
"""Canonical kind of a `#stream#data` frame, which is no envelope and has no kind itself."""

CONSUMED_BY_GATEWAY = frozenset(
    {"space/invite", "stream/request", "stream/grant-write", "stream/revoke-write", "stream/transfer-ownership"}
)
"""Kinds that gateways consume and, always or at times, deliver to no participant (docs/protocols.md 9 and 16)."""
SENT_FOR_CONSUMED = frozenset(
    {"space/invite-ack", "stream/open", "stream/write-granted", "stream/write-revoked", "stream/ownership-transferred"}
)
"""Kinds that gateways send instead; they name the consumed message."""

ALIASES = {
    "presence": "system/presence",
    "reflection": "reasoning/thought",
    "reasoning/step": "reasoning/thought",
    "conclusion": "reasoning/conclusion",
    "reasoning/end": "reasoning/conclusion",
    "meup/grant": "capability/grant",
    "meup/revoke": "capability/revoke",
    "meup/grant-ack": "capability/grant-ack",
    "meup/capability/grant": "capability/grant",
    "meup/capability/revoke": "capability/revoke",
    "meup/invite": "space/invite",
    "meup/kick": "space/kick",
    "meup/proposal": PROPOSAL,
    "meup/accept": REQUEST,
    "meup/reject": REJECT,
    "meup/proposal/accept": REQUEST,
    "meup/proposal/reject": REJECT,
    "participant/requestStatus": "participant/request-status",
}

_OPERATIONS = {
    "mcp": ("request", "response", "proposal", "withdraw", "reject", "notification"),
    "chat": ("acknowledge", "cancel"),
    "reasoning": ("start", "thought", "conclusion", "cancel"),
    "capability": ("grant", "revoke", "grant-ack"),
    "space": ("invite", "invite-ack", "kick"),
    "system": ("welcome", "presence", "error", "join", "register", "heartbeat"),
    "participant": (
        "pause", "resume", "request-status", "status", "forget", "compact", "compact-done", "clear", "restart",
        "shutdown",
    ),
    "stream": (
        "request", "open", "close", "frame", "grant-write", "revoke-write", "transfer-ownership", "write-granted",
        "write-revoked", "ownership-transferred",
    ),
    "context": ("start", "end"),
    "meup": ("context",),
}  # fmt: skip
KNOWN = frozenset({"chat", *(f"{name}/{operation}" for name, held in _OPERATIONS.items() for operation in held)})
"""Canonical kinds of MCP-X, MEUP and MEW (docs/protocols.md 4 and 7); programs may send others."""
ONE_WORD = frozenset({"mcp", "presence", "system"})
"""Kinds of MCP-X v0.0 that their payload resolves."""

CHAT_NOTIFICATION = "notifications/chat/message"
"""MCP method that carried chat in MCP-X v0.0."""


STREAMED_ANSWERS = frozenset({"message/stream", "tasks/resubscribe", "SendStreamingMessage", "SubscribeToTask"})
"""JSON-RPC methods of A2A with many answers under one id: each answer is another event of the task."""


def split_kind(raw: str) -> Kind:
    """Parses a kind string and resolves aliases, without the payload.

    The first `:` ends the name, the next one ends the method; the rest is the target verbatim, so
    `mcp/request:resources/read:file:///a:b` has the target `file:///a:b`.

    RULE: a `:` between a secret and its label, as in `token:...`, is no separator. Otherwise a separate part would no
    longer be masked.
    """
    # Traffic uses few kinds; overlong ones are not cached.
    return _split_cached(raw) if len(raw) <= _LONGEST_CACHED else _split(raw)


_LONGEST_CACHED = 200


def _split(raw: str) -> Kind:
    name, _, rest = raw.partition(":")
    method, _, target = rest.partition(":")
    # A secret may contain the colons that would split it.
    if rest and may_hold_secrets(raw):
        name, method, target = _with_secrets_whole(raw, name, method, target)
    outer, slash, inner = name.partition("/")
    if slash and "/" in inner and outer in _OF_CONTEXTS:
        name = inner  # the kind without its context prefix
    if "/" not in name and "." in name:
        name = name.replace(".", "/", 1)
    return Kind(ALIASES.get(name, name), method or None, target or None)


def _with_secrets_whole(raw: str, *parts: str) -> tuple[str, str, str]:
    """Rejoins name, method and target if one of them cannot stand alone."""
    name, method, target = parts
    if target and not can_stand_alone(target, raw):
        method, target = f"{method}:{target}", ""
    if method and not can_stand_alone(method, raw):
        return raw, "", ""
    return name, method, target


_OF_CONTEXTS = ("subcontext", "sub-context")
"""Prefixes of a draft that put a kind in a context (ADR k9j, option 1)."""


def is_in_context(raw: str) -> bool:
    """Returns True if a kind itself puts its message in a context."""
    return raw.startswith(_OF_CONTEXTS)


_split_cached = lru_cache(maxsize=1024)(_split)


def wraps_envelope(raw: str) -> bool:
    """Returns True for drafts with an envelope in their payload (docs/protocols.md 3)."""
    return raw.startswith(("meup/", "meup.")) and _WRAPPING.get(split_kind(raw).name, False)


_WRAPPING = {PROPOSAL: True, REQUEST: True}


def decides_by_payload(raw: str) -> bool:
    """Returns True for MEUP v0.2 decisions about a proposal: `payload.correlation_id` names it."""
    return raw.startswith(("meup/", "meup.")) and split_kind(raw).name in (REQUEST, REJECT)


def one_word_kind(name: str, *, method: object, has_outcome: bool, event: object) -> str:
    """Returns the canonical kind for a one-word kind of MCP-X v0.0, by its payload.

    Args:
        name: the kind as written.
        method: `payload.method`.
        has_outcome: the payload has `result` or `error`.
        event: `payload.event`, else `payload.type`.
    """
    if name == "mcp":
        if method == CHAT_NOTIFICATION:
            return "chat"
        if isinstance(method, str):
            return REQUEST
        return RESPONSE if has_outcome else name
    if name == "system" and isinstance(event, str) and event:
        return f"system/{event}"
    return name


def short_kind(kind: str) -> str:
    """Returns the part after the last `/` of a kind; all of it if the part alone would reveal a secret."""
    last = kind.rpartition("/")[2]
    return last if can_stand_alone(last, kind) else kind


def can_stand_alone(part: str, raw: str) -> bool:
    """Returns True if a part of a kind reveals no secret; masking may depend on the rest of the kind."""
    if not may_hold_secrets(raw):
        return True
    from inspector.protocol.secrets.masking import mask_text  # imported for few kinds only

    return mask_text(part) in mask_text(raw)
