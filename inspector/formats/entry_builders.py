"""Builds messages of JSON transcripts in any format: texts, calls, results, and other content."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import msgspec

from inspector.formats.declined_results import is_declined
from inspector.protocol import kinds
from inspector.protocol.derived_messages import MAX_DERIVED_MESSAGES, MODEL_PREFIX, USER_PREFIX, DerivedMessage, Payload
from inspector.protocol.header import NotAnObjectError, decode_json, json_or_none
from inspector.protocol.json_size import is_too_large
from inspector.protocol.json_values import json_text
from inspector.protocol.record import Record, Shape
from inspector.protocol.tolerant_encoder import to_json

CHAT, THOUGHT = "chat", "reasoning/thought"
NOT_READABLE = "thinking, not readable"
_MAX_TOKENS = 1 << 40


TOOLS = "tools"
"""Participant that executes calls of tools of no known server."""


def tool_owner(tool: str | None) -> str:
    """Returns the owner of a tool: clients name tools of an MCP server `mcp__<server>__<tool>`."""
    if tool is not None and tool.startswith("mcp__"):
        server = tool[5:].partition("__")[0]
        return f"mcp:{server}" if server else TOOLS
    return TOOLS


class Entry(msgspec.Struct, gc=False):
    """One message: its column values and its payload."""

    meaning: DerivedMessage
    payload: Payload
    cache: str | None = None
    """Requested lifetime of a prompt cache up to here (`cache_control`): "5m", "1h", if there is a mark.

    Not part of the payload, since clients move the mark from request to request.
    """


def has_text(part: object) -> bool:
    """Returns True if a block has text."""
    return isinstance(part, Mapping) and isinstance(part.get("text"), str)


def text_entry(kind: str, sender: str, to: str, text: str) -> Entry:
    """Returns a text message."""
    return Entry(DerivedMessage(kind, sender, (to,)), {"text": text})


def call_entry(identifier: object, name: object, given: object, sender: str) -> Entry:
    """Returns a tool call by `sender`; arguments may be JSON in a text."""
    tool = name if isinstance(name, str) else None
    meaning = DerivedMessage(kinds.REQUEST, sender, (tool_owner(tool),), method="tools/call", target=tool)
    meaning.identifier = identifier if isinstance(identifier, str) and identifier else None
    return Entry(meaning, {"method": "tools/call", "params": {"name": tool, "arguments": _arguments(given)}})


def _arguments(given: object) -> Any:
    """Decodes JSON in a string; wraps free text."""
    if not isinstance(given, str):
        return given if given is not None else {}
    if given in ("", "null"):
        return {}
    try:
        return decode_json(given.encode("utf-8", "replace")) if given.lstrip().startswith("{") else {"input": given}
    except NotAnObjectError:
        return {"input": given}


def result_entry(called: object, content: object, to: str, *, name: object = None, failed: bool = False) -> Entry:
    meaning = DerivedMessage(kinds.RESPONSE, tool_owner(name if isinstance(name, str) else None), (to,), failed=failed)
    meaning.correlation = called if isinstance(called, str) and called else None
    blocks = content if isinstance(content, list) else [content] if content is not None else []
    result: dict[str, Any] = {"content": [_content(one) for one in blocks]}
    if failed and blocks and is_declined(text_of(blocks[0])):
        meaning.declined, meaning.failed = True, False
    return Entry(meaning, {"result": {**result, "isError": True} if failed else result})


def api_call_id(call: Mapping[str, Any]) -> str | None:
    """Returns the id of a function call, or of its result, without the prefix `NAME__` that some clients add."""
    name, written = call.get("name"), call.get("id")
    if not isinstance(written, str):
        return None
    return (written.removeprefix(f"{name}__") if isinstance(name, str) else written) or written


def response_of(answer: Mapping[str, Any]) -> object:
    """Returns the content of a `functionResponse`: output or error as text, other values as JSON."""
    response = answer.get("response")
    if not isinstance(response, Mapping):
        return response
    if len(response) == 1:
        for key in ("output", "error"):
            if isinstance(response.get(key), str):
                return response[key]
    return bytes_of(dict(response)).decode("utf-8", "replace")


def _content(block: object) -> Any:
    if isinstance(block, str):
        return {"type": "text", "text": block}
    if isinstance(block, Mapping):
        return {"type": "text", "text": block["text"] if has_text(block) else media_words(block)}
    return block


def media_words(block: Mapping[str, Any]) -> str:
    """Returns an image's, file's or sound's kind, type and size in words; of other blocks their JSON."""
    sort = str(block.get("type") or next(iter(block), "block"))
    # APIs put the data into the block itself, or into a member of any name.
    for holder in (block, *(one for one in block.values() if isinstance(one, Mapping))):
        for key in ("data", "image_url", "url", "file_data"):
            data = holder.get(key)
            if isinstance(data, str) and (data.startswith("data:") or (key == "data" and len(data) > _SHORT)):
                head, _, base64 = data.rpartition(",")
                media = head.removeprefix("data:").partition(";")[0]
                media = media or holder.get("media_type") or holder.get("mimeType") or holder.get("format")
                # Base64 has four characters for three bytes.
                return ", ".join([sort, *([str(media)] if media else []), f"{len(base64) * 3 // 4:,} B"])
            if isinstance(data, str) and key != "data":
                return f"{sort}, {data}"
    return to_json(block).decode()


_SHORT = 200


def encrypted_replacement(sealed: str) -> str:
    """Returns a replacement for a signature or encrypted text: its length, and a hash for comparison."""
    digest = hashlib.sha256(sealed.encode("utf-8", "replace")).hexdigest()
    return f"{len(sealed):,} characters, sha256 {digest[:_SHOWN]}"


_SHOWN = 16


def bytes_of(payload: Payload) -> bytes:
    """Returns a payload as bytes, for any content."""
    try:
        return msgspec.json.encode(payload)
    except (msgspec.MsgspecError, UnicodeEncodeError, TypeError, ValueError, RecursionError):
        return repr(payload).encode("utf-8", "replace")


def token_count(usage: Mapping[str, Any], *names: str) -> int:
    """Returns the first valid token count among members, or 0."""
    for name in names:
        value = usage.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return min(max(value, 0), _MAX_TOKENS)
    return 0


def set_matched_text(entry: Entry, user: str = "user") -> None:
    """Records the text of a user, a model or a tool, for matching with other sources; skips texts of programs."""
    meaning, text = entry.meaning, entry.payload.get("text")
    if meaning.kind in (kinds.REQUEST, kinds.RESPONSE):
        meaning.matched_text = bytes_of({key: one for key, one in entry.payload.items() if key in ("params", "result")})
        return
    if meaning.kind not in (CHAT, THOUGHT) or not isinstance(text, str) or not text:
        return
    if meaning.sender == user or (meaning.to is not None and user in meaning.to) or meaning.kind == THOUGHT:
        meaning.matched_text = (USER_PREFIX if meaning.sender == user else MODEL_PREFIX) + json_text(text)


def control_entry(kind: str, sender: str, text: str, more: Mapping[str, Any]) -> Entry:
    """Returns a row without a participant's text."""
    return Entry(DerivedMessage(kind, sender), {"text": text, **more})


def record_of(line: bytes, label: str, entries: Sequence[Entry], space: object) -> Record:
    """Returns the record of a transcript's line.

    Args:
        line: as in the file.
        label: the format.
        entries: its messages, at least one.
        space: the session, used if it is a text.
    """
    means = tuple(entry.meaning for entry in entries[:MAX_DERIVED_MESSAGES])
    return Record(
        Shape.DERIVED, line, time_ns=means[0].time_ns,
        space=space if isinstance(space, str) else None, derived_messages=means, derived_by=label,
    )  # fmt: skip


def decoded_object(line: bytes) -> dict[str, Any] | None:
    """Returns a line as an object, if it is one of a bearable size. Never raises."""
    if is_too_large(line):
        return None
    value = json_or_none(line)
    return value if isinstance(value, dict) else None


def payload_at(
    line: bytes,
    number: int,
    entries_of: Callable[[Any], Sequence[Entry]],
    decoded: Callable[[bytes], Mapping[str, Any] | None] = decoded_object,
) -> Payload:
    """Returns the payload of message `number` of a line, from 0. Never raises.

    Args:
        line: as in the file.
        number: of the message.
        entries_of: derives the messages of a decoded line.
        decoded: decodes a line; None for a line of another format.
    """
    entries = _entries_at(line, entries_of, decoded)
    return entries[number].payload if number < len(entries) else {}


# The messages of a line are mostly asked for in sequence; 600 in one line took 9 s when each derived all of them.
@lru_cache(maxsize=1)
def _entries_at(
    line: bytes, entries_of: Callable[[Any], Sequence[Entry]], decoded: Callable[[bytes], Mapping[str, Any] | None]
) -> Sequence[Entry]:
    value = decoded(line)
    try:
        return entries_of(value) if value is not None else ()
    except RecursionError:  # nested as deeply as can be decoded, too deeply to be encoded
        return ()


def text_of(content: object) -> str:
    """Returns the text of a string, a block or a list of blocks."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else [content] if content else []
    words = (one if isinstance(one, str) else one["text"] if has_text(one) else media_words(one)
             for one in blocks if isinstance(one, str | Mapping))  # fmt: skip
    return "\n".join(words)
