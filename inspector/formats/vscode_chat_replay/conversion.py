"""Converts exported prompts of the chat of VS Code (`.chatreplay.json`) to lines of a recording.

A logged request becomes the exchange that a recording of the API would have. Its answer is logged without the calls in
it: these are the logged calls up to the next request.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from inspector.formats.exchange_lines import ExchangeConversion
from inspector.formats.file_conversion import FileConverter, NotConvertedError
from inspector.formats.file_records import HEAD_BYTES, first_record
from inspector.formats.value_conversions import mapping_or_empty, mappings_in, text_or_none
from inspector.formats.vscode_chat_replay import FORMAT
from inspector.protocol.header import NotAnObjectError, decode_json
from inspector.protocol.json_size import TOO_LARGE, is_too_large
from inspector.protocol.tolerant_encoder import to_json

_MAX_BYTES = 1 << 28
_OF_EXPORT = frozenset(("prompts", "exportedAt", "totalPrompts"))
_OF_PROMPT = frozenset(("prompt", "logCount", "logs"))
_ROLES = {0: "system", 1: "user", 2: "assistant", 3: "tool"}
_TEXT, _IMAGE = 1, 0
"""Types of parts of a message; others are marks of caches, and state of a model's API."""
_ID_SUFFIX = "__vscode-"
_HOST, _PATH = re.compile(r"https?://[^/?#\s]{1,255}(?=[/?#]|\Z)"), "/chat/completions"
_URL = "https://copilot.invalid" + _PATH
"""Address of requests that state none."""


def begins_export(head: bytes) -> bool:
    """Returns True for the first bytes of an export: of all prompts, or of one."""
    if b'"logCount"' not in head:
        return False
    keys = first_record(head).keys()
    return keys >= _OF_EXPORT or keys >= _OF_PROMPT


class ReplayConversion(ExchangeConversion):
    """Converts the requests of an export, in its order."""

    def _entries(self) -> Iterator[dict[str, Any]]:
        with self._path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
        if len(data) > _MAX_BYTES:
            raise NotConvertedError(f"it is larger than {_MAX_BYTES >> 20} MB")
        if is_too_large(data):
            raise NotConvertedError(TOO_LARGE)
        try:
            document = mapping_or_empty(decode_json(data.removeprefix(b"\xef\xbb\xbf")))
        except NotAnObjectError as error:
            raise NotConvertedError(f"it is {error}") from None
        prompts = document.get("prompts")
        prompts = mappings_in(prompts) if isinstance(prompts, list) else [document]
        logs = [log for prompt in prompts for log in mappings_in(prompt.get("logs"))]
        for number, log in enumerate(logs):
            if log.get("kind") == "request" and isinstance(log.get("requestMessages"), Mapping):
                yield _entry(log, _calls(logs, number))
            self.progress = (number + 1, len(logs))


def _calls(logs: list[Mapping[str, Any]], number: int) -> list[dict[str, Any]]:
    """Returns the calls in the answer to a request with tools."""
    calls: list[dict[str, Any]] = []
    if not mapping_or_empty(logs[number].get("metadata")).get("tools"):
        return calls
    # By index: a copied rest for each request would take quadratic time.
    for place in range(number + 1, len(logs)):
        log = logs[place]
        if log.get("kind") == "request" and "requestMessages" in log:
            break
        if log.get("kind") == "toolCall":
            given = log.get("args")
            arguments = given if isinstance(given, str) else to_json(given).decode("utf-8", "replace")
            identifier = str(log.get("id")).partition(_ID_SUFFIX)[0]
            calls.append({
                "id": identifier, "type": "function", "function": {"name": log.get("tool"), "arguments": arguments},
            })  # fmt: skip
    return calls


def _entry(log: Mapping[str, Any], calls: list[dict[str, Any]]) -> dict[str, Any]:
    """Returns a request as archives have it."""
    metadata, response = mapping_or_empty(log.get("metadata")), mapping_or_empty(log.get("response"))
    messages = mappings_in(mapping_or_empty(log.get("requestMessages")).get("messages"))
    request = {
        **mapping_or_empty(metadata.get("postOptions")), "model": metadata.get("model"),
        "messages": [_message(one) for one in messages],
        **({"tools": tools} if (tools := mappings_in(metadata.get("tools"))) else {}),
    }  # fmt: skip
    return {
        "startedDateTime": metadata.get("startTime"), "time": metadata.get("duration"),
        "timings": {"wait": metadata.get("timeToFirstToken")},
        "request": {
            "method": "POST", "url": _address(text_or_none(metadata.get("url")) or ""), "headers": [],
            "postData": _content(request),
        },
        "response": _answer(log, response, calls),
    }  # fmt: skip


def _address(url: str) -> str:
    """Returns an address of the host for the form of these lines, whichever API the request was sent to."""
    host = _HOST.match(url)
    return host[0] + _PATH if host else _URL


def _message(message: Mapping[str, Any]) -> dict[str, Any]:
    parts = [part for one in mappings_in(message.get("content")) if (part := _part(one)) is not None]
    found: dict[str, Any] = {"role": _ROLES.get(role if isinstance(role := message.get("role"), int) else -1, "user")}
    found["content"] = parts[0]["text"] if len(parts) == 1 and "text" in parts[0] else parts
    if calls := mappings_in(message.get("toolCalls")):
        found["tool_calls"] = calls
    if isinstance(called := message.get("toolCallId"), str):
        found["tool_call_id"] = called
    return found


def _part(part: Mapping[str, Any]) -> dict[str, Any] | None:
    if part.get("type") == _TEXT and isinstance(part.get("text"), str):
        return {"type": "text", "text": part["text"]}
    if part.get("type") == _IMAGE and isinstance(part.get("imageUrl"), Mapping):
        return {"type": "image_url", "image_url": part["imageUrl"]}
    return None


def _answer(log: Mapping[str, Any], response: Mapping[str, Any], calls: list[dict[str, Any]]) -> dict[str, Any]:
    metadata, sort = mapping_or_empty(log.get("metadata")), response.get("type")
    if sort not in ("success", "truncated"):
        return {
            "status": 0,
            "_error": text_or_none(response.get("reason")) or text_or_none(sort) or "no answer is logged",
        }
    said = response.get("message")
    texts = said if isinstance(said, list) else [said]
    message = {"role": "assistant", "content": "\n".join(one for one in texts if isinstance(one, str))}
    stop = "length" if sort == "truncated" else "tool_calls" if calls else "stop"
    body = {
        # All requests of a turn have the same `requestId`.
        "id": log.get("id"), "object": "chat.completion", "model": metadata.get("model"),
        "choices": [{
            "index": 0, "message": {**message, **({"tool_calls": calls} if calls else {})}, "finish_reason": stop,
        }],
        **({"usage": usage} if (usage := mapping_or_empty(metadata.get("usage"))) else {}),
    }  # fmt: skip
    return {"status": 200, "headers": [], "content": _content(body)}


def _content(body: Mapping[str, Any]) -> dict[str, Any]:
    return {"mimeType": "application/json", "text": to_json(dict(body)).decode("utf-8", "replace")}


CONVERSION = FileConverter(
    head_bytes=HEAD_BYTES, begins_file=begins_export, convert=ReplayConversion, container=FORMAT.name
)  # fmt: skip
