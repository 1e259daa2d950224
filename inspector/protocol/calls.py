"""Reads payloads, and the call that a kind and its payload describe: method, target and outcome.

All other parts stay undecoded. Source: docs/protocols.md 3 (method and tool of a message), 13 (`_meta`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from inspector.protocol import kinds
from inspector.protocol.header import ABSENT, Header, read_struct
from inspector.protocol.json_values import NO_RAW


class Params(msgspec.Struct, gc=False):
    """`params` of a call."""

    name: str | None = None
    uri: str | None = None
    ref: Any = ABSENT
    arguments: msgspec.Raw = NO_RAW


class Result(
    msgspec.Struct,
    rename={"is_error": "isError", "meta": "_meta", "structured": "structuredContent", "cursor": "nextCursor"},
    gc=False,
):
    """The outer level of a result."""

    is_error: Any = ABSENT
    meta: msgspec.Raw = NO_RAW
    content: msgspec.Raw = NO_RAW
    structured: msgspec.Raw = NO_RAW
    tools: msgspec.Raw = NO_RAW
    cursor: Any = ABSENT


class Payload(msgspec.Struct, gc=False):
    """The fields of a payload that columns use; a JSON-RPC message is its own payload."""

    id: Any = None
    method: str | None = None
    params: Params | None = None
    result: Result | msgspec.UnsetType | None = ABSENT
    error: msgspec.Raw = NO_RAW
    stream_id: str | None = None
    context: Any = ABSENT
    context_id: Any = ABSENT
    reasoning_id: Any = ABSENT
    thread_id: Any = ABSENT
    threadId: Any = ABSENT
    event: Any = ABSENT
    type: Any = ABSENT
    participantId: Any = ABSENT  # the key of the gateway's hello
    proposal: msgspec.Raw = NO_RAW
    envelope: msgspec.Raw = NO_RAW
    correlation_id: Any = ABSENT

    @property
    def has_failed(self) -> bool:
        """It reports a failure: a JSON-RPC error or `isError`."""
        if self.error and bytes(self.error) != b"null":
            return True
        return bool(self.result) and self.result.is_error is True


class Call(msgspec.Struct, gc=False):
    """The call that a message makes, answers or proposes, by the message itself."""

    kind: str
    method: str | None = None
    target: str | None = None
    """Tool, resource URI, prompt or completion reference."""
    has_conflicting_kind: bool = False
    """Of a response: its kind and payload name different calls."""


def read_payload(raw: msgspec.Raw) -> Payload | None:
    """Decodes a payload's known fields if it is an object."""
    return read_struct(raw, Payload)


def payload_of_rpc(header: Header) -> Payload:
    """Returns a JSON-RPC message as its own payload."""
    method = header.method if isinstance(header.method, str) else None
    # Few methods have a target, so few parameters are decoded.
    params = read_struct(header.params, Params) if header.params and method and has_target(method) else None
    result = read_struct(header.result, Result) if header.result else ABSENT
    return Payload(header.id, method, params, result, header.error)


def payload_describes_call(name: str) -> bool:
    """Returns True if payloads of the kind describe a call; others are not decoded."""
    return name.startswith(("mcp", "stream/", "system"))


def read_call(raw_kind: str, payload: Payload | None) -> Call:
    """Returns the call in an envelope's kind and payload.

    If they disagree the payload wins, because it is executed; for a response the kind wins (docs/protocols.md 3).
    """
    kind = kinds.split_kind(raw_kind)
    if payload is None or not payload_describes_call(kind.name):
        return Call(*kind)
    name, method = kind.name, payload.method
    # Some drafts have one-word kinds; the payload tells the exact one.
    if name in ("mcp", "system"):
        event = payload.event if payload.event is not ABSENT else payload.type
        outcome = payload.result is not ABSENT or bool(payload.error)
        name = kinds.one_word_kind(name, method=method, has_outcome=outcome, event=event)
    call = Call(name, method, _target(method or kind.method, payload.params))
    # Two drafts put the proposed call into an envelope inside of the payload.
    if method is None and (payload.proposal or payload.envelope) and kinds.wraps_envelope(raw_kind):
        _add_wrapped(call, payload)
    if kind.method is not None:
        _add_suffix(call, kind)
    return call


class _Wrapping(msgspec.Struct, gc=False):
    envelope: msgspec.Raw = NO_RAW


class _Wrapped(msgspec.Struct, gc=False):
    kind: str | None = None
    payload: msgspec.Raw = NO_RAW


def _add_wrapped(call: Call, payload: Payload) -> None:
    """Adds the call of the envelope inside a draft's proposal, or its acceptance (docs/protocols.md 3, aliases)."""
    around = read_struct(payload.proposal, _Wrapping) if payload.proposal else None
    raw = around.envelope if around is not None and around.envelope else payload.envelope
    inner = read_struct(raw, _Wrapped) if raw else None
    if inner is None:
        return
    inner_payload = read_payload(inner.payload) if inner.payload else None
    if inner_payload is not None and inner_payload.method is not None:
        call.method = inner_payload.method
        call.target = _target(call.method, inner_payload.params)
    if inner.kind is not None and (kind := kinds.split_kind(inner.kind)).method is not None:
        _add_suffix(call, kind)


def _add_suffix(call: Call, kind: kinds.Kind) -> None:
    """Adds the kind's suffix. A target belongs to its method; the two are not mixed."""
    agree = call.method in (None, kind.method)
    if call.kind == kinds.RESPONSE:
        call.has_conflicting_kind = not agree or (bool(kind.target) and call.target not in (None, kind.target))
        call.method, call.target = kind.method, kind.target or (call.target if agree else None)
    elif agree:
        call.method, call.target = kind.method, call.target or kind.target


def _target(method: str | None, params: Params | None) -> str | None:
    if method is None or params is None or not has_target(method):
        return None
    value: Any = params.uri if method.startswith("resources/") else params.name
    if method == "completion/complete" and isinstance(params.ref, dict):
        value = params.ref.get("name", params.ref.get("uri"))
    return value if isinstance(value, str) and value else None


def has_target(method: str) -> bool:
    """Returns True if calls of a method name a tool, resource or prompt."""
    return method in ("tools/call", "prompts/get", "completion/complete") or method.startswith("resources/")


def rpc_id(value: object) -> str | None:
    """Returns a JSON-RPC id as text, so that 7 and "7" differ, a text in single quotes; None for other types."""
    if isinstance(value, str):
        return f"'{value}'"
    return repr(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def arguments_of(payload: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Returns the arguments of a call, also inside a draft's wrapped envelope, if any."""
    params = unwrap_payload(payload).get("params")
    arguments = params.get("arguments") if isinstance(params, Mapping) else None
    return arguments if isinstance(arguments, Mapping) else None


def unwrap_payload(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the payload inside a draft's proposal or acceptance; else the payload itself."""
    inner = payload
    for name in ("proposal", "envelope", "payload"):
        within = inner.get(name) if not isinstance(inner.get("method"), str) else None
        inner = within if isinstance(within, Mapping) else inner
    return inner if "method" in inner or "params" in inner else payload
