"""Joins the pieces of texts, thoughts and calls, and finds the messages of a snapshot that were not seen before.

A snapshot repeats the whole conversation, some programs with other ids for messages and calls. The n-th message with
the same content is the n-th that was seen.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from inspector.formats.ag_ui.events import event_in, name_in
from inspector.formats.entry_builders import bytes_of, decoded_object, text_of
from inspector.formats.value_conversions import mapping_or_empty, mappings_in, text_or_none
from inspector.reading.reassembly.derived_lines import DerivedLineSpool
from inspector.reading.reassembly.streamed_pieces import Piece, StreamedPieces

_START, _END, _CHUNK = "_START", "_END", "_CHUNK"
_TEXTS = ("TEXT_MESSAGE_", "REASONING_MESSAGE_", "THINKING_TEXT_MESSAGE_")
_CALL = "TOOL_CALL_"
_CALL_NAMES = ("toolCallId", "tool_call_id")
_RESULT = "TOOL_CALL_RESULT"
_MAX_SEEN = 1 << 16


class AgUiPieces(StreamedPieces):
    """Processes the lines of one source."""

    marks = (
        b'"TEXT_MESSAGE_', b'"TOOL_CALL_', b'"REASONING_MESSAGE_', b'"THINKING_TEXT_MESSAGE_', b'"MESSAGES_SNAPSHOT"',
        b'"RUN_STARTED"', b'"RUN_FINISHED"', b'"RUN_ERROR"',
    )  # fmt: skip

    def __init__(self, joined: DerivedLineSpool) -> None:
        super().__init__(joined)
        self._thread: str | None = None
        self._seen: Counter[bytes] = Counter()  # messages by content
        self._calls: dict[bytes, list[str]] = {}  # ids of calls by content
        self._ids: set[str] = set()
        self._chunk: dict[str, str | None] = {}  # id of the last chunk, by the beginning of its type

    def event_in(self, line: bytes) -> Mapping[str, Any] | None:
        return event_in(line)

    def piece_of(self, event: Mapping[str, Any]) -> Piece | None:
        sort = str(event.get("type"))
        family = next((one for one in (*_TEXTS, _CALL) if sort.startswith(one)), None)
        if family is None or sort == _RESULT:
            return None
        names = _CALL_NAMES if family == _CALL else ("messageId", "message_id")
        identifier, text = name_in(event, *names), text_or_none(event.get("delta")) or ""
        if sort.endswith(_CHUNK):
            # Only the first chunk must name its message.
            identifier = self._chunk[family] = identifier or self._chunk.get(family)
            return Piece((family, identifier), text, has_no_end=True)
        # Some programs announce a call without its arguments first, and send all of it again.
        is_call = family == _CALL
        starts, ends = sort.endswith(_START) and not is_call, sort.endswith(_END)
        return Piece((family, identifier), text, starts=starts, ends=ends, needs_text=is_call)

    def join(self, first: Mapping[str, Any], last: Mapping[str, Any], text: str) -> Mapping[str, Any]:
        sort = str(first.get("type"))
        family = next(one for one in (*_TEXTS, _CALL) if sort.startswith(one))
        time = last.get("timestamp", first.get("timestamp"))
        told = {key: one for key, one in first.items() if key not in ("type", "delta", "rawEvent", "timestamp")}
        placed = {} if time is None else {"timestamp": time}
        return {"type": family + _CHUNK[1:], **told, **placed, "delta": text}

    def keys_ended_by(self, event: Mapping[str, Any], keys: Sequence[Hashable]) -> Iterable[Hashable]:
        if event.get("type") in ("RUN_FINISHED", "RUN_ERROR", "MESSAGES_SNAPSHOT"):
            return keys
        return ((_CALL, name_in(event, *_CALL_NAMES)),) if event.get("type") == _RESULT else ()

    def note_whole(self, event: Mapping[str, Any]) -> None:
        sort, text = str(event.get("type")), text_or_none(event.get("delta")) or ""
        if sort == "TOOL_CALL_CHUNK":
            self._note_call(event.get("toolCallName"), text, name_in(event, *_CALL_NAMES) or "")
        elif sort == "TEXT_MESSAGE_CHUNK" and text:
            self._note_message(text_or_none(event.get("role")) or "assistant", text)

    def restate(self, event: Mapping[str, Any]) -> Mapping[str, Any] | None:
        sort = event.get("type")
        if sort == _RESULT:
            self._note_message("tool", text_of(event.get("content", event.get("result"))))
        if sort == "RUN_STARTED":
            thread = name_in(event, "threadId", "thread_id")
            if thread != self._thread:
                self._seen.clear()
                self._calls.clear()
                self._ids.clear()
            self._thread = thread
            given = mapping_or_empty(event.get("input"))
            if not isinstance(given.get("messages"), list):
                return None
            return {**event, "input": {**given, "messages": list(self._unseen(given["messages"]))}}
        if sort == "MESSAGES_SNAPSHOT" and isinstance(event.get("messages"), list):
            found = list(self._unseen(event["messages"]))
            return {**event, "messages": found, "repeated": len(event["messages"]) - len(found)}
        return None

    def _unseen(self, messages: list[Any]) -> Iterator[Mapping[str, Any]]:
        """Yields the messages of a history that were not seen before, with the ids of calls as they were seen."""
        texts: Counter[bytes] = Counter()
        names: dict[str, str] = {}
        for message in mappings_in(messages):
            role, text = str(message.get("role")), text_of(message.get("content"))
            key = _message_key(role, text)
            texts[key] += 1
            is_new = bool(text or role != "assistant") and texts[key] > self._seen[key]
            made = [call for call in mappings_in(message.get("toolCalls")) if self._is_new_call(call, names)]
            if is_new:
                self._note_message(role, text)
            if is_new or made:
                called = text_or_none(message.get("toolCallId"))
                own = {} if called is None else {"toolCallId": names.get(called, called)}
                yield {**message, **own, "content": message.get("content") if is_new else None, "toolCalls": made}

    def _is_new_call(self, call: Mapping[str, Any], names: dict[str, str]) -> bool:
        """Returns True for a call that was not seen; else adds its id as it was seen to `names`."""
        made, identifier = mapping_or_empty(call.get("function")), text_or_none(call.get("id")) or ""
        given, used = made.get("arguments"), set(names.values())
        known = (one for one in self._calls.get(_call_key(made.get("name"), given), ()) if one not in used)
        seen = identifier if identifier in self._ids else next(known, None)
        names[identifier] = identifier if seen is None else seen
        if seen is None:
            self._note_call(made.get("name"), given, identifier)
        return seen is None

    def _note_message(self, role: str, text: str) -> None:
        if len(self._seen) < _MAX_SEEN:
            self._seen[_message_key(role, text)] += 1

    def _note_call(self, name: object, arguments: object, identifier: str) -> None:
        if len(self._calls) < _MAX_SEEN:
            self._calls.setdefault(_call_key(name, arguments), []).append(identifier)
            self._ids.add(identifier)


def _message_key(role: str, text: str) -> bytes:
    return _digest({"role": role, "text": text})


def _call_key(name: object, arguments: object) -> bytes:
    written = arguments.encode("utf-8", "replace") if isinstance(arguments, str) else b""
    given = decoded_object(written) if written else arguments
    return _digest({"name": name, "arguments": given or written.decode("utf-8", "replace")})


def _digest(content: dict[str, Any]) -> bytes:
    return hashlib.blake2b(bytes_of(content), digest_size=8).digest()
