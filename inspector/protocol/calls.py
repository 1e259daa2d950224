"""What a payload says at ingest: method, target, stream, error, context hints. Everything else stays undecoded.

Source: protocols.md 3 (method and tool of a message), 13 (`_meta`).
"""

from __future__ import annotations

from typing import Any

import msgspec

from inspector.protocol import kinds
from inspector.protocol.header import ABSENT, Header, NotAnObjectError, decode_json, members

_NO_RAW = msgspec.Raw(b"")


class Payload(msgspec.Struct, gc=False):
    """The outer level of a payload (or of a JSON-RPC message, which is its own payload)."""

    id: Any = ABSENT
    method: Any = ABSENT
    params: msgspec.Raw = _NO_RAW
    result: msgspec.Raw = _NO_RAW
    error: msgspec.Raw = _NO_RAW
    event: Any = ABSENT
    type: Any = ABSENT
    stream_id: Any = ABSENT
    participantId: Any = ABSENT  # noqa: N815  the key of the gateway's hello
    space: Any = ABSENT


class _Params(msgspec.Struct, gc=False):
    name: Any = ABSENT
    uri: Any = ABSENT
    ref: Any = ABSENT


class _Result(msgspec.Struct, rename={"is_error": "isError", "meta": "_meta"}, gc=False):
    is_error: Any = ABSENT
    meta: msgspec.Raw = _NO_RAW


_decode_payload = msgspec.json.Decoder(Payload).decode
_decode_params = msgspec.json.Decoder(_Params).decode
_decode_result = msgspec.json.Decoder(_Result).decode


class Call(msgspec.Struct, gc=False):
    """What the message itself says of the call it makes, answers or proposes."""

    kind: str
    method: str | None = None
    target: str | None = None
    """Tool, resource URI, prompt or completion reference."""
    rpc_id: str | None = None
    """JSON-RPC id as it reads in JSON, so that 7 and "7" differ; None when it is neither text nor number."""
    stream: str | None = None
    failed: bool = False
    has_meta: bool = False
    joiner: str | None = None
    """The participant a hello announces."""


def read_payload(raw: msgspec.Raw) -> Payload | None:
    """Decode a payload's outer level; None when it is no object."""
    try:
        return _decode_payload(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    data = bytes(raw)
    try:
        if not isinstance(decode_json(data), dict):
            return None
        payload = Payload()
        for key, value, written in members(data):
            if key in ("params", "result", "error"):
                setattr(payload, key, msgspec.Raw(written))
            elif key in Payload.__struct_fields__:
                setattr(payload, key, value)
    except (NotAnObjectError, RecursionError):
        return None
    return payload


def read_call(raw_kind: str, header: Header) -> Call:
    """What an envelope's kind and payload say.

    Where they disagree the payload wins, because it is what runs; for a response the kind does (protocols.md 3).
    """
    kind = kinds.split_kind(raw_kind)
    name = kind.name
    payload = read_payload(header.payload) if header.payload and name.startswith(_PAYLOAD_MATTERS) else None
    if payload is None:
        return Call(name, kind.method, kind.target)
    if name in ("mcp", "system"):
        event = payload.event if payload.event is not ABSENT else payload.type
        outcome = bool(payload.result) or bool(payload.error)
        name = kinds.one_word_kind(name, method=payload.method, has_outcome=outcome, event=event)
    call = rpc_call(name, payload)
    if kind.method is not None:
        _add_suffix(call, kind)
    return call


def _add_suffix(call: Call, kind: kinds.Kind) -> None:
    """Fill in what the kind's suffix says. A target belongs to its method: the two are not mixed."""
    agree = call.method in (None, kind.method)
    if call.kind == kinds.RESPONSE:
        call.method, call.target = kind.method, kind.target or (call.target if agree else None)
    elif agree:
        call.method, call.target = kind.method, call.target or kind.target


_PAYLOAD_MATTERS = ("mcp", "stream/", "system")


def rpc_call(name: str, payload: Payload) -> Call:
    """The call a payload makes, proposes or answers, under an already known canonical kind."""
    method = payload.method if isinstance(payload.method, str) else None
    failed, has_meta = _outcome(payload)
    return Call(
        name,
        method,
        _target(method, payload.params),
        _rpc_id(payload.id),
        payload.stream_id if isinstance(payload.stream_id, str) else None,
        failed or name == "system/error",
        has_meta,
        payload.participantId if isinstance(payload.participantId, str) else None,
    )


def payload_of_rpc(header: Header) -> Payload:
    """A JSON-RPC message as its own payload."""
    return Payload(header.id, header.method, header.params, header.result, header.error)


def _rpc_id(value: object) -> str | None:
    if isinstance(value, str):
        return ascii(value)
    return repr(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _target(method: str | None, params: msgspec.Raw) -> str | None:
    if method is None or not params:
        return None
    if method not in ("tools/call", "prompts/get", "completion/complete") and not method.startswith("resources/"):
        return None
    try:
        found = _decode_params(params)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    value = found.uri if method.startswith("resources/") else found.name
    if method == "completion/complete" and isinstance(found.ref, dict):
        value = found.ref.get("name", found.ref.get("uri"))
    return value if isinstance(value, str) and value else None


def _outcome(payload: Payload) -> tuple[bool, bool]:
    """Whether it failed (JSON-RPC error or `isError`), and whether its result has `_meta`."""
    failed = bool(payload.error) and bytes(payload.error) != b"null"
    if not payload.result:
        return failed, False
    result = bytes(payload.result)
    if b'"isError"' not in result and b'"_meta"' not in result:
        return failed, False
    try:
        found = _decode_result(result)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return failed, False
    return failed or found.is_error is True, bool(found.meta)
