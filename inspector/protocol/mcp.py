"""What a JSON-RPC message of MCP says of its revision, and of calls that ask for input (docs/protocols.md 13)."""

from __future__ import annotations

from typing import Any

import msgspec

from inspector.protocol.header import ABSENT, Header

VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
"""In `_meta` of every request since 2026-07-28."""
FIRST_MODERN = "2026-07-28"
"""From this revision on a request says itself what it speaks; before, `initialize` agrees on it."""
LISTEN = "subscriptions/listen"
"""A request that stays open as long as the client listens."""
SERVER_METHODS = frozenset({"elicitation/create", "sampling/createMessage", "roots/list"})
"""What servers ask of clients."""
INPUT_REQUIRED = "input_required"

_MOST = 64


class _Meta(msgspec.Struct, rename={"version": VERSION_KEY}, gc=False):
    version: Any = None


class _Params(msgspec.Struct, rename={"meta": "_meta", "state": "requestState", "inputs": "inputResponses"}, gc=False):
    meta: _Meta | None = None
    state: Any = None
    inputs: Any = ABSENT


class _Result(
    msgspec.Struct, rename={"version": "protocolVersion", "type": "resultType", "state": "requestState"}, gc=False
):
    version: Any = None
    type: Any = None
    state: Any = None


_decode_params = msgspec.json.Decoder(_Params).decode
_decode_result = msgspec.json.Decoder(_Result).decode
_REFUSALS = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


def version_in(header: Header) -> str | None:
    """The revision that a request names, or that an answer to `initialize` agrees to; None. Never raises."""
    raw = bytes(header.params) if isinstance(header.method, str) else bytes(header.result)
    if b"rotocolVersion" not in raw:
        return None
    try:
        if isinstance(header.method, str):
            meta = _decode_params(raw).meta
            found = meta.version if meta is not None else None
        else:
            found = _decode_result(raw).version
    except _REFUSALS:
        return None
    return found if isinstance(found, str) and 0 < len(found) <= _MOST else None


def state_in(header: Header) -> str | None:
    """What ties an answer that asks for input to the retry that brings it: its state, "" where it has none.

    None for every other message. Never raises.
    """
    raw = bytes(header.params) if isinstance(header.method, str) else bytes(header.result)
    try:
        if isinstance(header.method, str):
            if b"inputResponses" not in raw and b"requestState" not in raw:
                return None
            params = _decode_params(raw)
            given, state = params.inputs is not ABSENT or params.state is not None, params.state
        else:
            if INPUT_REQUIRED.encode() not in raw:
                return None
            result = _decode_result(raw)
            given, state = result.type == INPUT_REQUIRED, result.state
    except _REFUSALS:
        return None
    return (state if isinstance(state, str) else "") if given else None


ERAS = ("legacy", "modern")


def era(version: str) -> str:
    """`modern` or `legacy`: whether each request says what it speaks."""
    return ERAS[version >= FIRST_MODERN]
