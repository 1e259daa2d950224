"""Builds join messages and headers for a gateway; parses its welcome and presence; answers tools/list.

Gateways of the MEW command line read only a join message; older and specified ones read the URL and a Bearer header. We
send both, so that one connection works with either.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, cast
from urllib.parse import urlsplit

from inspector.sources.connection import MASK, Connection, normal_url, with_query

GATEWAY_NAMES = ("system:gateway", "system", "gateway")
"""Trusted senders of welcome and presence; others may send the same kinds (docs/protocols.md 2, Spoofing)."""

# Released MEW v0.4 gateway: the capabilities of a joiner with a wrong token.
_DEFAULT_KINDS = frozenset({"chat", "mcp/response"})

JsonObject = Mapping[str, Any]


@dataclass(frozen=True)
class Welcome:
    """A gateway's welcome, as far as the connection needs it."""

    participant: str | None
    """Our id according to the gateway; None if it sends none."""

    kinds: tuple[str, ...] | None
    """Kinds of the capabilities granted to us; None if the dialect has none."""

    @property
    def defaults_only(self) -> bool:
        """Returns True if we got only default capabilities; after a token this means that it was refused."""
        return self.kinds is not None and set(self.kinds) <= _DEFAULT_KINDS


@dataclass(frozen=True)
class Presence:
    """Arrival or departure of a participant."""

    event: str
    """``join``, ``leave`` or another word."""

    participant: str
    """Participant id."""


def handshake_url(connection: Connection) -> str:
    """Returns the address to open, with ``space`` in the query, and ``topic`` for v0.0 and v0.1 paths.

    Raises:
        AddressError: the address cannot be used.
    """
    url = normal_url(connection.url)
    if not connection.space:
        return url
    if "/v0" in urlsplit(url).path:
        return with_query(url, topic=connection.space, space=connection.space)
    return with_query(url, space=connection.space)


def handshake_headers(connection: Connection) -> dict[str, str]:
    """Returns the extra HTTP headers of the upgrade request."""
    token = connection.token.get_secret_value()
    # A token with control or non-ASCII characters cannot be in a header; the join message can carry it.
    fits = bool(token) and token.isascii() and token.isprintable()
    # A user name in the address makes an Authorization header of its own.
    if not fits or "@" in urlsplit(normal_url(connection.url)).netloc:
        return {}
    return {"Authorization": f"Bearer {token}"}


def join_frames(connection: Connection) -> tuple[str, str]:
    """Returns the join message to send, and the copy for the capture with the token masked."""
    join: dict[str, object] = {"type": "join", "space": connection.space}
    masked = dict(join)
    if connection.token:
        join["token"] = connection.token.get_secret_value()
        masked["token"] = MASK
    rest: dict[str, object] = {"participantId": connection.participant, "capabilities": []}
    return compact_json(join | rest), compact_json(masked | rest)


def tools_list_answer(request: JsonObject, *, own_ids: frozenset[str], participant: str, time_ns: int) -> str | None:
    """Returns the empty answer to a ``tools/list`` request to us, or None for other envelopes.

    The answer has the form of the request: MCP-X v0.0 and v0.1 have their own kinds, and one text as correlation id.

    Args:
        request: a decoded envelope.
        own_ids: our ids: the requested one and the one from the gateway.
        participant: sender id of the answer.
        time_ns: for the answer's ``ts``, nanoseconds since the Unix epoch.
    """
    payload = request.get("payload")
    to = request.get("to")
    sender, request_id = request.get("from"), request.get("id")
    form = _ANSWER_FORMS.get(str(request.get("kind")))
    if form is None or not isinstance(payload, dict):
        return None
    call = cast("dict[str, Any]", payload)
    recipients = cast("list[Any]", to) if isinstance(to, list) else [to]
    if call.get("method") != "tools/list" or not any(isinstance(one, str) and one in own_ids for one in recipients):
        return None
    if not isinstance(sender, str) or not isinstance(request_id, str) or sender in own_ids:
        return None
    result: dict[str, object] = {"result": {"tools": []}}
    if "id" in call:  # the specified form: a JSON-RPC client matches on its own id
        result = {"jsonrpc": "2.0", "id": call["id"]} | result
    answer = {
        "protocol": request.get("protocol") or "mew/v0.4",
        "id": f"{participant}-{time_ns}",
        "ts": rfc3339(time_ns),
        "from": participant,
        "to": [sender],
        "kind": form[0],
        "correlation_id": [request_id] if form[1] else request_id,
        "payload": result,
    }
    return compact_json(answer)


_ANSWER_FORMS = {
    "mcp/request": ("mcp/response", True), "mcp/request:tools/list": ("mcp/response:tools/list", False),
    "mcp": ("mcp", False),
}  # fmt: skip
"""By kind of the request: kind of the answer, and True for correlation ids in a list."""


def read_welcome(envelope: JsonObject) -> Welcome | None:
    """Parses a welcome of any dialect; None for other envelopes."""
    payload = envelope.get("payload")
    if not isinstance(payload, dict) or envelope.get("from") not in (*GATEWAY_NAMES, None):
        return None
    fields = cast("dict[str, Any]", payload)
    kind = envelope.get("kind")
    if kind != "system/welcome" and not (kind == "system" and "welcome" in (fields.get("event"), fields.get("type"))):
        return None
    you = fields.get("you", fields.get("participant"))
    if isinstance(you, dict):
        mine = cast("dict[str, Any]", you)
        name, capabilities = mine.get("id"), mine.get("capabilities")
    else:
        name, capabilities = fields.get("participant_id"), None
    return Welcome(name if isinstance(name, str) and name else None, _kinds(capabilities))


def read_presence(envelope: JsonObject) -> Presence | None:
    """Parses an arrival or departure; None for other envelopes and untrusted senders."""
    payload = envelope.get("payload")
    if envelope.get("kind") not in ("system/presence", "presence") or envelope.get("from") not in GATEWAY_NAMES:
        return None
    if not isinstance(payload, dict):
        return None
    fields = cast("dict[str, Any]", payload)
    who = fields.get("participant")
    name = cast("dict[str, Any]", who).get("id") if isinstance(who, dict) else None
    event = fields.get("event")
    return Presence(event, name) if isinstance(event, str) and isinstance(name, str) else None


def rfc3339(time_ns: int) -> str:
    """Formats a UTC time stamp with milliseconds, as in MEW."""
    return datetime.fromtimestamp(time_ns / 1e9, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def compact_json(value: object) -> str:
    """Encodes JSON without spaces, in ASCII, so that no text can break it."""
    return json.dumps(value, separators=(",", ":"))


def _kinds(capabilities: object) -> tuple[str, ...] | None:
    if not isinstance(capabilities, list):
        return None
    kinds: list[str] = []
    for capability in cast("list[Any]", capabilities):
        kind = cast("dict[str, Any]", capability).get("kind") if isinstance(capability, dict) else capability
        kinds.append(kind if isinstance(kind, str) else "*")  # an unknown pattern is at least not a default
    return tuple(kinds)
