"""Extracts call facts from a payload during ingest: method, target, stream, error, context hints.

All other parts stay undecoded. Source: docs/protocols.md 3 (method and tool of a message), 13 (`_meta`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeVar

import msgspec

from inspector.protocol import kinds
from inspector.protocol.header import ABSENT, MAX_LENIENT, Header, NotAnObjectError, decode_json, iterate_members
from inspector.protocol.json_values import NO_RAW
from inspector.protocol.result_records import may_hold_json


class Payload(msgspec.Struct, gc=False):
    """The outer level of a payload (or of a JSON-RPC message, which is its own payload)."""

    id: Any = ABSENT
    method: Any = ABSENT
    params: msgspec.Raw = NO_RAW
    result: msgspec.Raw = NO_RAW
    error: msgspec.Raw = NO_RAW
    event: Any = ABSENT
    type: Any = ABSENT
    stream_id: Any = ABSENT
    participantId: Any = ABSENT  # the key of the gateway's hello
    space: Any = ABSENT
    proposal: msgspec.Raw = NO_RAW
    envelope: msgspec.Raw = NO_RAW
    correlation_id: Any = ABSENT


class _Params(msgspec.Struct, gc=False):
    name: Any = ABSENT
    uri: Any = ABSENT
    ref: Any = ABSENT


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


_decode_payload = msgspec.json.Decoder(Payload).decode
_decode_params = msgspec.json.Decoder(_Params).decode
_decode_result = msgspec.json.Decoder(Result).decode
_Struct = TypeVar("_Struct", bound=msgspec.Struct)


class Call(msgspec.Struct, gc=False):
    """The call that a message makes, answers or proposes, by the message itself."""

    kind: str
    method: str | None = None
    target: str | None = None
    """Tool, resource URI, prompt or completion reference."""
    rpc_id: str | None = None
    """JSON-RPC id in JSON notation, so that 7 and "7" differ; None for other types."""
    stream: str | None = None
    failed: bool = False
    has_meta: bool = False
    announced_participant: str | None = None
    """The participant that a hello announces."""
    has_conflicting_kind: bool = False
    """Of a response: its kind and payload name different calls."""
    result: Result | None = None
    """The result, if it has relevant parts besides its outcome."""


def read_payload(raw: msgspec.Raw) -> Payload | None:
    """Decodes a payload's outer level if it is an object."""
    return _decode_object(raw, Payload, _decode_payload)


def _decode_object(
    raw: msgspec.Raw | bytes, struct: type[_Struct], decode: Callable[[msgspec.Raw | bytes], _Struct]
) -> _Struct | None:
    """Decodes an object's known keys if it is an object."""
    try:
        return decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _read_leniently(bytes(raw), struct)


def _read_leniently(data: bytes, struct: type[_Struct]) -> _Struct | None:
    """Decodes JSON that only Python reads: lone surrogates, NaN, huge numbers (docs/protocols.md 16)."""
    # Decoding member by member in Python is slow, so longer JSON stays unread.
    if len(data) > MAX_LENIENT:
        return None
    found = struct()
    try:
        if not isinstance(decode_json(data), dict):
            return None
        fields = _fields(struct)
        for key, value, written in iterate_members(data):
            field = fields.get(key)
            if field is not None:
                setattr(found, field.name, msgspec.Raw(written) if field.type is msgspec.Raw else value)
    except (NotAnObjectError, RecursionError):
        return None
    return found


@cache
def _fields(struct: type[msgspec.Struct]) -> dict[str, msgspec.structs.FieldInfo]:
    return {field.encode_name: field for field in msgspec.structs.fields(struct)}


def read_call(raw_kind: str, header: Header) -> Call:
    """Returns the call in an envelope's kind and payload.

    If they disagree the payload wins, because it is executed; for a response the kind wins (docs/protocols.md 3).
    """
    kind = kinds.split_kind(raw_kind)
    name = kind.name
    payload = read_payload(header.payload) if header.payload and payload_describes_call(name) else None
    if payload is None:
        return Call(name, kind.method, kind.target)
    # Some drafts have one-word kinds; the payload tells the exact one.
    if name in ("mcp", "system"):
        event = payload.event if payload.event is not ABSENT else payload.type
        outcome = bool(payload.result) or bool(payload.error)
        name = kinds.one_word_kind(name, method=payload.method, has_outcome=outcome, event=event)
    call = rpc_call(name, payload, kind.method)
    # Two drafts put the proposed call into an envelope inside of the payload.
    if call.method is None and (payload.proposal or payload.envelope) and kinds.wraps_envelope(raw_kind):
        _add_wrapped(call, payload)
    if kind.method is not None:
        _add_suffix(call, kind)
    return call


class _Wrapping(msgspec.Struct, gc=False):
    envelope: msgspec.Raw = NO_RAW


_decode_wrapping = msgspec.json.Decoder(_Wrapping).decode


class _Wrapped(msgspec.Struct, gc=False):
    kind: Any = ABSENT
    payload: msgspec.Raw = NO_RAW


_decode_wrapped = msgspec.json.Decoder(_Wrapped).decode


def _add_wrapped(call: Call, payload: Payload) -> None:
    """Adds the call of the envelope inside a draft's proposal, or its acceptance (docs/protocols.md 3, aliases)."""
    around = _decode_object(payload.proposal, _Wrapping, _decode_wrapping) if payload.proposal else None
    raw = around.envelope if around is not None and around.envelope else payload.envelope
    inner = _decode_object(raw, _Wrapped, _decode_wrapped) if raw else None
    if inner is None:
        return
    inner_payload = read_payload(inner.payload) if inner.payload else None
    if inner_payload is not None and isinstance(inner_payload.method, str):
        call.method = inner_payload.method
        call.target = _target(call.method, inner_payload.params)
    if isinstance(inner.kind, str):
        kind = kinds.split_kind(inner.kind)
        if kind.method is not None:
            _add_suffix(call, kind)


def _add_suffix(call: Call, kind: kinds.Kind) -> None:
    """Adds the kind's suffix. A target belongs to its method; the two are not mixed."""
    agree = call.method in (None, kind.method)
    if call.kind == kinds.RESPONSE:
        call.has_conflicting_kind = not agree or (bool(kind.target) and call.target not in (None, kind.target))
        call.method, call.target = kind.method, kind.target or (call.target if agree else None)
    elif agree:
        call.method, call.target = kind.method, call.target or kind.target


def payload_describes_call(name: str) -> bool:
    """Returns True if payloads of the kind describe a call; others are not decoded."""
    return name.startswith(("mcp", "stream/", "system"))


def regular_call(raw_kind: str, method: str | None, name: str | None, uri: str | None) -> Call:
    """Returns the call of an envelope with a decoded payload: its method, and `name` and `uri` of its params.

    For kinds of two words and more; fills in kind, method and target only.
    """
    kind = kinds.split_kind(raw_kind)
    call = Call(kind.name, method, _named_target(method or kind.method, name, uri))
    if kind.method is not None:
        _add_suffix(call, kind)
    return call


def rpc_call(name: str, payload: Payload, method_in_kind: str | None = None) -> Call:
    """Returns the call that a payload makes, proposes or answers, under a known canonical kind.

    Args:
        name: the canonical kind.
        payload: as read.
        method_in_kind: method of the payload's params if the payload names none.
    """
    method = payload.method if isinstance(payload.method, str) else None
    failed, result = _failure_and_result(payload)
    return Call(
        name,
        method,
        _target(method or method_in_kind, payload.params),
        rpc_id(payload.id),
        payload.stream_id if isinstance(payload.stream_id, str) else None,
        failed or name == "system/error",
        result is not None and bool(result.meta),
        payload.participantId if isinstance(payload.participantId, str) else None,
        result=result,
    )


def payload_of_rpc(header: Header) -> Payload:
    """Returns a JSON-RPC message as its own payload."""
    return Payload(header.id, header.method, header.params, header.result, header.error)


def rpc_id(value: object) -> str | None:
    """Returns a JSON-RPC id as text, so that 7 and "7" differ, a text in single quotes; None for other types."""
    if isinstance(value, str):
        return f"'{value}'"
    return repr(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _target(method: str | None, params: msgspec.Raw) -> str | None:
    # Few methods have a target, so few parameters are decoded.
    if method is None or not params or not has_target(method):
        return None
    found = _decode_object(params, _Params, _decode_params)
    if found is None:
        return None
    name = found.name
    if method == "completion/complete" and isinstance(found.ref, dict):
        name = found.ref.get("name", found.ref.get("uri"))
    return _named_target(method, name, found.uri)


def has_target(method: str) -> bool:
    """Returns True if calls of a method name a tool, resource or prompt."""
    return method in ("tools/call", "prompts/get", "completion/complete") or method.startswith("resources/")


def _named_target(method: str | None, name: object, uri: object) -> str | None:
    if method is None or not has_target(method):
        return None
    value = uri if method.startswith("resources/") else name
    return value if isinstance(value, str) and value else None


_RELEVANT_KEYS = (b'"isError"', b'"_meta"', b'"structuredContent"', b'"tools"')


def _failure_and_result(payload: Payload) -> tuple[bool, Result | None]:
    """Returns the failure flag (JSON-RPC error or `isError`), and the result if it has relevant parts."""
    failed = bool(payload.error) and bytes(payload.error) != b"null"
    if not payload.result:
        return failed, None
    result = bytes(payload.result)
    # A byte search first, since results may be long.
    if not any(key in result for key in _RELEVANT_KEYS) and not may_hold_json(result):
        return failed, None
    found = _decode_object(result, Result, _decode_result)
    if found is None:
        return failed, None
    return failed or found.is_error is True, found


def arguments_of(payload: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Returns the arguments of a call, also inside a draft's wrapped envelope, if any."""
    for name in ("proposal", "envelope", "payload"):
        inner = payload.get(name) if not isinstance(payload.get("method"), str) else None
        payload = inner if isinstance(inner, Mapping) else payload
    params = payload.get("params")
    arguments = params.get("arguments") if isinstance(params, Mapping) else None
    return arguments if isinstance(arguments, Mapping) else None
