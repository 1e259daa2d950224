"""Extracts the text that a model receives from a message, for counting.

Source: docs/protocols.md 2 (text shown) and 13, MCP 2025-06-18, Tools.

RULE: `_meta` is never sent to a model. Structured content repeats the text and counts only without it. Of a server's
initialization only its instructions count (MCP 2025-06-18, Lifecycle). Images, audio and other base64 count 0, since no
text tokenizer knows their cost. Frames of a stream count 0, since their whole text follows as a message. Model requests
and answers count 0, since their parts are separate messages. Session bookkeeping counts 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from inspector.formats.kind_families import family_of
from inspector.protocol import kinds
from inspector.protocol.derived_messages import MODEL_CALL_KEY
from inspector.protocol.kinds import Family
from inspector.protocol.message_text import TEXT_KEYS, compact_json

SUMMARY = "participant/compact-done"
"""Kind that carries the new contents of the context in a transcript."""
_CALLS = (kinds.REQUEST, kinds.PROPOSAL)
_ENVELOPE_KEYS = ("jsonrpc", "id", "_meta")
"""Transport keys of a JSON-RPC message, which is its own payload."""
_OPENING_KEYS = ("protocolVersion", "serverInfo", "capabilities")
"""Keys of an initialize result."""


def counted_text(kind: str, payload: Mapping[str, Any]) -> str:
    """Returns the text of a message that a model receives, or "". Never raises.

    Args:
        kind: canonical kind.
        payload: its payload; a JSON-RPC message is its own.
    """
    if not payload or kind == kinds.FRAME or kind.startswith("msp/") or MODEL_CALL_KEY in payload:
        return ""
    found = None
    if kind == kinds.RESPONSE:
        found = _result_text(payload)
    elif kind in _CALLS:
        found = _call_text(payload)
    elif family_of(kind) in (Family.CHAT, Family.REASONING) or kind == SUMMARY:
        found = _chat_text(payload)
    return compact_json(_without_meta(payload)) if found is None else found


def _chat_text(payload: Mapping[str, Any]) -> str | None:
    """Returns the text of a chat or a thought, under the first key with a text."""
    params = payload.get("params")
    texts = (payload.get(key) for key in TEXT_KEYS)
    spoken = params.get("text") if isinstance(params, Mapping) else None
    return next((text for text in (*texts, spoken) if isinstance(text, str)), None)


def _call_text(payload: Mapping[str, Any]) -> str | None:
    """Returns a tool's name and arguments, if there is a tool call."""
    params = payload.get("params")
    name = params.get("name") if isinstance(params, Mapping) else None
    if not isinstance(params, Mapping) or not isinstance(name, str):
        return None
    arguments = params.get("arguments")
    return name if arguments is None else f"{name} {compact_json(arguments)}"


def _result_text(payload: Mapping[str, Any]) -> str | None:
    if payload.get("error") is not None:
        error = payload["error"]
        return error if isinstance(error, str) else compact_json(error)
    if "result" not in payload:
        return None
    result = payload["result"]
    if not isinstance(result, Mapping):
        return result if isinstance(result, str) else compact_json(result)
    blocks = result.get("content", result.get("contents"))
    if not isinstance(blocks, list):
        # A server's answer to `initialize`: a model receives its instructions only.
        told = result.get("instructions")
        if isinstance(told, str) and any(key in result for key in _OPENING_KEYS):
            return told
        return compact_json(_without_meta(result))
    text = "\n".join(filter(None, map(_block_text, blocks)))
    structured = result.get("structuredContent")
    # Structured content repeats the text, so only one of both counts.
    return text if text or structured is None else compact_json(structured)


def _block_text(block: object) -> str:
    """Returns the text of a content block, or ""."""
    if not isinstance(block, Mapping):
        return block if isinstance(block, str) else ""
    text = block.get("text")
    if isinstance(text, str):
        return text
    inner = block.get("resource")
    if isinstance(inner, Mapping):
        return _block_text(inner)
    # A link to a resource reaches the model by its name.
    named = (block.get(key) for key in ("title", "name", "uri", "description"))
    return " ".join(part for part in named if isinstance(part, str))


def _without_meta(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a payload without the parts that only programs read."""
    skipped = _ENVELOPE_KEYS if "jsonrpc" in payload else ("_meta",)
    found = {key: value for key, value in payload.items() if key not in skipped}
    params = found.get("params")
    if isinstance(params, Mapping) and "_meta" in params:
        found["params"] = {key: value for key, value in params.items() if key != "_meta"}
    return found
