"""Converts Aider's history of its model calls to lines of a recording: a request and its answer, both as text.

Each line of a message begins with its role. The file names no model and no tools, and has no tokens.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from inspector.formats.aider_calls import FORMAT
from inspector.formats.exchange_lines import ExchangeConversion
from inspector.formats.file_conversion import FileConverter, NotConvertedError
from inspector.protocol.message_text import compact_json
from inspector.protocol.timestamps import NO_TIME, parse_text_time

_HEAD_BYTES = 64
_MAX_BYTES = 1 << 28
_BEGIN = re.compile(rb"(?:\xef\xbb\xbf)?\s*TO LLM \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\s")
_CALL = re.compile(r"^TO LLM (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)[ \r]*$", re.MULTILINE)
_ANSWER = re.compile(r"^LLM RESPONSE (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)[ \r]*$", re.MULTILINE)
_SEPARATOR = "-------"
_ROLES = {"SYSTEM": "system", "USER": "user", "ASSISTANT": "assistant", "TOOL": "tool", "FUNCTION": "tool"}
_URL = "http://aider.invalid/chat/completions"
"""Address of all requests: the file states none."""


def begins_calls(head: bytes) -> bool:
    """Returns True for the first bytes of such a history."""
    return _BEGIN.match(head) is not None


class CallConversion(ExchangeConversion):
    """Converts the calls of a file, in its order."""

    def _entries(self) -> Iterator[dict[str, Any]]:
        with self._path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
        if len(data) > _MAX_BYTES:
            raise NotConvertedError(f"it is larger than {_MAX_BYTES >> 20} MB")
        text = data.decode("utf-8-sig", "replace")
        starts = list(_CALL.finditer(text))
        for number, start in enumerate(starts):
            stop = starts[number + 1].start() if number + 1 < len(starts) else len(text)
            self.progress = (stop, len(text))
            yield _entry(start[1], text[start.end() : stop])


def _entry(began: str, text: str) -> dict[str, Any]:
    """Returns a call as archives have it; without an answer if the file states none."""
    found = _ANSWER.search(text)
    asked = text[: found.start()] if found is not None else text
    request = {"messages": _messages(asked)}
    entry: dict[str, Any] = {
        "startedDateTime": f"{began}Z",
        "request": {
            "method": "POST", "url": _URL, "headers": [],
            "postData": {"mimeType": "application/json", "text": compact_json(request)},
        },
    }  # fmt: skip
    if found is None:
        return entry
    start, end = parse_text_time(f"{began}Z"), parse_text_time(f"{found[1]}Z")
    entry["time"] = max(end - start, 0) / 1e6 if NO_TIME not in (start, end) else 0
    answer = "\n".join(one["content"] for one in _messages(text[found.end() :]))
    body = {"object": "chat.completion", "choices": [{"index": 0, "message": {"role": "assistant", "content": answer}}]}
    entry["response"] = {
        "status": 200, "headers": [], "content": {"mimeType": "application/json", "text": compact_json(body)},
    }  # fmt: skip
    return entry


def _messages(text: str) -> list[dict[str, Any]]:
    """Returns the messages in a part of the file: lines after a separator, or of another role than those before."""
    messages: list[tuple[str, list[str]]] = []
    is_new = True
    for line in text.split("\n"):
        written, _, words = line.rstrip("\r").partition(" ")
        role = _ROLES.get(written)
        if line.rstrip() == _SEPARATOR:
            is_new = True
        elif role is None:
            if messages and line.strip():
                messages[-1][1].append(line)
        elif is_new or messages[-1][0] != role:
            messages.append((role, [words]))
            is_new = False
        else:
            messages[-1][1].append(words)
    return [{"role": role, "content": "\n".join(lines)} for role, lines in messages]


CONVERSION = FileConverter(
    head_bytes=_HEAD_BYTES, begins_file=begins_calls, convert=CallConversion, container=FORMAT.name,
)  # fmt: skip
