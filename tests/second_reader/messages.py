"""Messages of a log, from its bytes: lines, copies, kinds (docs/protocols.md 2, 3, 11)."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

GATEWAYS = ("system:gateway", "system", "gateway")

_ALIASES = {
    "presence": "system/presence", "reflection": "reasoning/thought", "reasoning/step": "reasoning/thought",
    "conclusion": "reasoning/conclusion", "reasoning/end": "reasoning/conclusion",
    "meup/grant": "capability/grant", "meup/revoke": "capability/revoke", "meup/grant-ack": "capability/grant-ack",
    "meup/capability/grant": "capability/grant", "meup/capability/revoke": "capability/revoke",
    "meup/invite": "space/invite", "meup/kick": "space/kick", "meup/proposal": "mcp/proposal",
    "meup/accept": "mcp/request", "meup/proposal/accept": "mcp/request", "meup/reject": "mcp/reject",
    "meup/proposal/reject": "mcp/reject", "participant/requestStatus": "participant/request-status",
}  # fmt: skip


@dataclass
class Message:
    """A row: its first record, and what copies of it added."""

    no: int
    envelope: dict[str, Any]
    space: str | None = None
    logged_sender: str | None = None
    """Who sent it by a gateway log's line of what was received."""
    delivered: list[str] = field(default_factory=list)
    refused: bool = False
    """All there is of it is that it was rejected: it reached nobody, and nothing follows from it."""
    rpc: bool = False
    """A line of JSON-RPC: no envelope, the direction says who."""
    dir: str | None = None

    @property
    def id(self) -> str | None:
        return _text(self.envelope.get("id")) if not self.rpc else None

    @property
    def sender(self) -> str | None:
        if self.rpc:
            return _ends(self.dir)[0]
        return _text(self.envelope.get("from")) or self.logged_sender

    @property
    def to(self) -> list[str]:
        if self.rpc:
            end = _ends(self.dir)[1]
            return [end] if end else []
        return _texts(self.envelope.get("to"))

    @property
    def correlation(self) -> list[str]:
        named = self.envelope.get("correlation_id")
        return [] if self.rpc else _texts(self.envelope.get("correlationId") if named is None else named)

    @property
    def payload(self) -> dict[str, Any]:
        payload = self.envelope if self.rpc else self.envelope.get("payload")
        return payload if isinstance(payload, dict) else {}

    @property
    def said(self) -> tuple[str, str | None, str | None]:
        """Canonical kind, and method and target as the kind has them."""
        if self.rpc:
            return ("mcp/request" if "method" in self.envelope else "mcp/response"), None, None
        if "kind" not in self.envelope and self.envelope.get("type") == "join":
            return "system/join", None, None
        return canonical(self.envelope.get("kind"), self.payload)

    @property
    def kind(self) -> str:
        return self.said[0]

    @property
    def forged(self) -> bool:
        """Known to be from somebody else than it says; or the gateway's kind, from somebody who is no gateway."""
        return self.in_anothers_name or (self.kind.startswith("system/") and self._nobodys_system())

    @property
    def in_anothers_name(self) -> bool:
        told = _text(self.envelope.get("from"))
        return bool(self.logged_sender and told and told != self.logged_sender)

    def _nobodys_system(self) -> bool:
        if self.kind in ("system/join", "system/register", "system/heartbeat"):
            return False
        if self.kind == "system/error" and self.sender is None:
            return False
        return self.sender not in GATEWAYS


def canonical(kind: Any, payload: dict[str, Any]) -> tuple[str, str | None, str | None]:
    """Canonical kind, method and target of a kind as it was sent."""
    if not isinstance(kind, str):
        return "", None, None
    name, _, rest = kind.partition(":")
    method, _, target = rest.partition(":")
    if "/" not in name and "." in name:
        name = name.replace(".", "/", 1)
    name = name.removeprefix("subcontext/") if name.startswith("subcontext/") else name
    if name == "mcp":
        if payload.get("method") == "notifications/chat/message":
            name = "chat"
        elif "method" in payload:
            name = "mcp/request"
        elif "result" in payload or "error" in payload:
            name = "mcp/response"
    elif name == "system":
        event = payload.get("event") or payload.get("type")
        name = f"system/{event}" if isinstance(event, str) else name
    return _ALIASES.get(name, name), method or None, target or None


def read(data: bytes) -> list[Message]:
    """The messages of a log in the order of arrival; copies in a gateway's log belong to one message."""
    messages: list[Message] = []
    for line in data.splitlines():
        if line.strip():
            _take(json.loads(line), messages)
    return messages


def _take(line: dict[str, Any], messages: list[Message]) -> None:
    if isinstance(line.get("message"), dict) and "jsonrpc" in line["message"]:
        messages.append(Message(len(messages) + 1, line["message"], rpc=True, dir=line.get("dir")))
        return
    if line.get("event") not in ("received", "delivered", "rejected") or not isinstance(line.get("envelope"), dict):
        messages.append(Message(len(messages) + 1, line))
        return
    envelope, event, who = line["envelope"], line["event"], _text(line.get("participant"))
    space = _text(line.get("space_id"))
    whose = None if event == "received" else _copy_of(envelope, space, event, who, messages)
    if whose is None:
        whose = Message(len(messages) + 1, envelope, space)
        messages.append(whose)
        if event != "delivered":
            whose.logged_sender, whose.refused = who, event == "rejected"
    if event == "delivered" and who and who not in whose.delivered:
        whose.delivered.append(who)


def _copy_of(
    envelope: dict[str, Any], space: str | None, event: str, who: str | None, messages: list[Message]
) -> Message | None:
    """The latest message with the same space, id, sender, time and kind.

    Of what the gateway says by itself another payload, or a second delivery to one recipient, is another message.
    """
    if _text(envelope.get("id")) is None:
        return None
    alike = ("id", "from", "ts", "kind")
    for message in reversed(messages):
        if message.rpc or message.space != space:
            continue
        if all(message.envelope.get(name) == envelope.get(name) for name in alike):
            again = event == "rejected" or who in message.delivered
            other = again or message.envelope.get("payload") != envelope.get("payload")
            return None if other and message.sender in GATEWAYS and message.logged_sender is None else message
    return None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _texts(value: Any) -> list[str]:
    values = value if isinstance(value, list) else [value]
    return [one for one in values if isinstance(one, str)]


def _ends(direction: str | None) -> tuple[str | None, str | None]:
    if direction and "->" in direction:
        sender, _, to = direction.partition("->")
        return sender, to
    return None, None
