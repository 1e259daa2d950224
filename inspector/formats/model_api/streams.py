"""Reassembles the events of a streamed answer into an unstreamed body (docs/protocols.md 17).

Anthropic's events begin, continue and end blocks by number. OpenAI's chunks extend choices by number, and its responses
end in an event with everything. Gemini's chunks contain parts. Streams of further APIs are modules of their own.
Unknown events are skipped without an error. Linear in the bytes of the events.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any, Protocol

from inspector.formats.entry_builders import text_of
from inspector.formats.model_api import bedrock, cohere, interactions
from inspector.formats.model_api.growing_texts import MAX_PIECES, GrowingTexts, decoded_input, valid_place
from inspector.formats.value_conversions import mapping_or_empty
from inspector.protocol.tolerant_encoder import to_json

_END_EVENTS = ("message_stop", "response.completed", "response.incomplete", "response.failed", cohere.LAST_EVENT)
"""Last events of an answer; a tuple, since the searched value may be of any type."""
_OF_ANTHROPIC = frozenset(
    ("message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta",
     "message_stop", "ping")
)  # fmt: skip


class AnswerStream(Protocol):
    """An answer received in events."""

    def add_event(self, event: Mapping[str, Any]) -> bool:
        """Adds the next event; returns True if it contains model output."""
        ...

    def body(self) -> dict[str, Any]:
        """Returns the answer so far; empty before its first part."""
        ...


def stream_of(event: Mapping[str, Any]) -> AnswerStream | None:
    """Returns a stream for an event's API, if known."""
    sort = event.get("type")
    if isinstance(sort, str) and sort in _OF_ANTHROPIC:
        return AnthropicStream()
    if isinstance(sort, str) and sort.startswith("response."):
        return ResponsesStream()
    if isinstance(sort, str) and sort.startswith(cohere.EVENTS) and isinstance(event.get("delta"), Mapping):
        return cohere.CohereStream()
    if bedrock.converse_event(event, goes_on=False):
        return bedrock.ConverseStream()
    if interactions.is_event(event, goes_on=False):
        return interactions.InteractionStream()
    if is_of_ollama(event):
        return OllamaStream()
    if isinstance(event.get("choices"), list):
        return ChatStream()
    return GeminiStream() if isinstance(event.get("candidates"), list) else None


def is_last_event(event: Mapping[str, Any], stream: AnswerStream | None) -> bool:
    """Returns True for the event after which nothing of the answer follows."""
    if event.get("type") in _END_EVENTS or event.get("event_type") in interactions.LAST_EVENTS:
        return True
    return isinstance(stream, bedrock.ConverseStream) and stream.is_complete


class AnthropicStream:
    """`message_start`, blocks by `index`, `message_delta`, `message_stop`; `ping` anywhere."""

    def __init__(self) -> None:
        self._message: dict[str, Any] = {}
        self._blocks: dict[int, dict[str, Any]] = {}
        self._pieces = GrowingTexts()
        self._error: object = None

    def add_event(self, event: Mapping[str, Any]) -> bool:
        """Adds an event; returns True if it contains model output."""
        sort = event.get("type")
        if sort == "content_block_delta":
            return self._continue(event)
        if sort == "message_start":
            self._message.update(mapping_or_empty(event.get("message")))
        elif sort == "content_block_start" and (place := valid_place(event.get("index"))) is not None:
            # Copied, since the block grows.
            self._blocks[place] = dict(mapping_or_empty(event.get("content_block")))
            for key in ("text", "thinking"):
                self._pieces.append_text((place, key), self._blocks[place].get(key))
        elif sort == "message_delta":
            self._message.update(mapping_or_empty(event.get("delta")))
            # Absent counts must not remove earlier ones.
            given = {key: value for key, value in mapping_or_empty(event.get("usage")).items() if value is not None}
            self._message["usage"] = {**mapping_or_empty(self._message.get("usage")), **given}
        elif sort == "error":
            self._error = event.get("error")
        return False

    def _continue(self, event: Mapping[str, Any]) -> bool:
        place, delta = valid_place(event.get("index")), mapping_or_empty(event.get("delta"))
        if place is None:
            return False
        block = self._blocks.setdefault(place, {})
        sort = delta.get("type")
        if sort == "signature_delta":
            block["signature"] = delta.get("signature")
            return False
        if sort == "citations_delta":
            block["citations"] = [*(block.get("citations") or ()), delta.get("citation")]
            return False
        added = [self._pieces.append_text((place, key), delta.get(key)) for key in ("text", "thinking", "partial_json")]
        if not block and any(added):  # its beginning is missing
            block["type"] = str(sort).removesuffix("_delta")
        return any(added)

    def body(self) -> dict[str, Any]:
        """Returns the unstreamed message."""
        if not self._message and not self._blocks:
            return {"type": "error", "error": self._error} if self._error is not None else {}
        blocks = [self._block(place) for place in sorted(self._blocks)]
        given = self._message.get("content")
        content = blocks or (given if isinstance(given, list) else [])
        message = {"type": "message", "role": "assistant", **self._message, "content": content}
        if self._pieces.left_out:
            message["left_out"] = self._pieces.left_out
        return message if self._error is None else {**message, "error": self._error}

    def _block(self, place: int) -> dict[str, Any]:
        block = dict(self._blocks[place])
        for key in ("text", "thinking"):
            if (text := self._pieces.text((place, key))) is not None:
                block[key] = text
        written = self._pieces.text((place, "partial_json"))
        if written is not None:
            block["input"] = decoded_input(written)
        return block


class ChatStream:
    """`chat.completion.chunk`: choices by `index`, their calls by `index`; usage in a chunk without choices."""

    def __init__(self) -> None:
        self._base: dict[str, Any] = {}
        self._choices: dict[int, dict[str, Any]] = {}
        self._calls: dict[tuple[int, int], dict[str, Any]] = {}
        self._pieces = GrowingTexts()

    def add_event(self, event: Mapping[str, Any]) -> bool:
        """Adds a chunk; returns True if it contains model output."""
        self._base.update({key: value for key, value in event.items() if key != "choices" and value is not None})
        choices = event.get("choices")
        found = [self._continue(mapping_or_empty(one)) for one in choices] if isinstance(choices, list) else []
        return any(found)

    def _continue(self, choice: Mapping[str, Any]) -> bool:
        place, delta = valid_place(choice.get("index", 0)), _chunk_delta(choice)
        if place is None:
            return False
        own = self._choices.setdefault(place, {"index": place, "finish_reason": None})
        if choice.get("finish_reason") is not None:
            own["finish_reason"] = choice["finish_reason"]
        carries = [
            # Each provider has its own member for thoughts.
            self._pieces.append_text((place, key), delta.get(key))
            for key in ("content", "refusal", "reasoning_content", "reasoning")
        ]
        calls = delta.get("tool_calls")
        carries += [self._call(place, mapping_or_empty(call)) for call in (calls if isinstance(calls, list) else ())]
        # The form before `tool_calls`.
        if isinstance(old := delta.get("function_call"), Mapping):
            own.setdefault("function_call", {}).update({"name": old["name"]} if "name" in old else {})
            carries.append(self._pieces.append_text((place, "function_call"), old.get("arguments")))
        return any(carries)

    def _call(self, place: int, call: Mapping[str, Any]) -> bool:
        number = valid_place(call.get("index", 0))
        if number is None:
            return False
        own = self._calls.setdefault((place, number), {"function": {}})
        made = mapping_or_empty(call.get("function"))
        own.update({key: call[key] for key in ("id", "type") if isinstance(call.get(key), str)})
        if isinstance(made.get("name"), str) and made["name"]:
            own["function"]["name"] = made["name"]
        return self._pieces.append_text((place, "call", number), made.get("arguments")) or bool(made.get("name"))

    def body(self) -> dict[str, Any]:
        """Returns the unstreamed completion."""
        if not self._choices:
            return dict(self._base) if "error" in self._base else {}
        choices = [self._choice(place) for place in sorted(self._choices)]
        return {**self._base, "object": "chat.completion", "choices": choices}

    def _choice(self, place: int) -> dict[str, Any]:
        own = dict(self._choices[place])
        message: dict[str, Any] = {"role": "assistant", "content": self._pieces.text((place, "content"))}
        for key in ("refusal", "reasoning_content", "reasoning"):
            if (text := self._pieces.text((place, key))) is not None:
                message[key] = text
        # A choice may have several calls, told apart by number.
        calls = [number for at, number in sorted(self._calls) if at == place]
        if calls:
            message["tool_calls"] = [self._call_of(place, number) for number in calls]
        if (old := own.pop("function_call", None)) is not None:
            message["function_call"] = {**old, "arguments": self._pieces.text((place, "function_call")) or ""}
        return {**own, "message": message}

    def _call_of(self, place: int, number: int) -> dict[str, Any]:
        own = self._calls[place, number]
        arguments = self._pieces.text((place, "call", number)) or ""
        return {**own, "function": {**own["function"], "arguments": arguments}}


class ResponsesStream:
    """Named events; the last one contains the whole response, so the others matter only if it is missing."""

    def __init__(self) -> None:
        self._response: dict[str, Any] = {}
        self._whole = False
        self._items: dict[int, dict[str, Any]] = {}
        self._pieces = GrowingTexts()
        self._error: object = None

    def add_event(self, event: Mapping[str, Any]) -> bool:
        """Adds an event; returns True if it contains model output."""
        sort = str(event.get("type"))
        if isinstance(response := event.get("response"), Mapping):
            # The last response event contains the whole answer.
            self._response = dict(response)
            self._whole = sort in ("response.completed", "response.incomplete", "response.failed")
        elif sort == "error":
            self._error = event.get("error") or {key: event.get(key) for key in ("code", "message")}
        place = valid_place(event.get("output_index"))
        if place is None:
            return False
        if sort in ("response.output_item.added", "response.output_item.done"):
            self._items[place] = dict(mapping_or_empty(event.get("item")))
            if sort.endswith("done"):
                self._items[place]["done"] = True
        return sort.endswith(".delta") and self._pieces.append_text((place, sort), event.get("delta"))

    def body(self) -> dict[str, Any]:
        """Returns the unstreamed response."""
        if self._whole or not (self._response or self._items):
            return self._response or ({"error": self._error} if self._error is not None else {})
        items = [self._item(place) for place in sorted(self._items)]
        found = {"object": "response", **self._response, "output": items}
        return found if self._error is None else {**found, "error": self._error}

    def _item(self, place: int) -> dict[str, Any]:
        """Returns an item, with its partial content if it never ended."""
        # Without its end the item is assembled from its pieces.
        item = dict(self._items[place])
        if item.pop("done", False):
            return item
        text = self._pieces.text((place, "response.output_text.delta"))
        refusal = self._pieces.text((place, "response.refusal.delta"))
        if item.get("type") == "message" and (text or refusal):
            item["content"] = [{"type": "output_text", "text": text or refusal}]
        for key in ("arguments", "input"):
            for sort in ("function_call", "custom_tool_call", "mcp_call"):
                if (written := self._pieces.text((place, f"response.{sort}_{key}.delta"))) is not None:
                    item[key] = written
        if (summary := self._pieces.text((place, "response.reasoning_summary_text.delta"))) is not None:
            item["summary"] = [{"type": "summary_text", "text": summary}]
        return item


class GeminiStream:
    """Chunks with parts; consecutive texts of one type are joined."""

    def __init__(self) -> None:
        self._base: dict[str, Any] = {}
        self._parts: list[dict[str, Any]] = []
        self._texts = GrowingTexts()  # by the part's index, and by its path in a call
        self._called: GrowingCall | None = None
        self._growing: dict[int, GrowingCall] = {}  # by the part's index
        self._candidate: dict[str, Any] = {}

    def add_event(self, event: Mapping[str, Any]) -> bool:
        """Adds a chunk; returns True if it contains model output."""
        self._base.update({key: value for key, value in event.items() if key != "candidates"})
        candidates = event.get("candidates")
        first = mapping_or_empty(candidates[0]) if isinstance(candidates, list) and candidates else {}
        self._candidate.update({key: value for key, value in first.items() if key != "content"})
        parts = mapping_or_empty(first.get("content")).get("parts")
        given = [dict(one) for one in parts if isinstance(one, Mapping)] if isinstance(parts, list) else []
        for part in given:
            self._append(part)
        return bool(given)

    def _append(self, part: dict[str, Any]) -> None:
        text, call = part.get("text"), part.get("functionCall")
        last = self._parts[-1] if self._parts else None
        if isinstance(call, Mapping) and self._goes_on(part, call):
            return
        if isinstance(text, str) and last is not None and _is_same_text(last, part):
            self._texts.append_text(len(self._parts) - 1, text)
            last.update({key: value for key, value in part.items() if key != "text"})
        elif len(self._parts) < MAX_PIECES:
            self._texts.append_text(len(self._parts), text)
            self._parts.append({**part, "text": ""} if isinstance(text, str) else part)

    def _goes_on(self, part: dict[str, Any], call: Mapping[str, Any]) -> bool:
        """Adds a piece of a continued call; returns False for a whole call, which is appended."""
        named = isinstance(call.get("name"), str)
        if self._called is not None and not named:
            self._called.add_piece(call)
        elif named and ("partialArgs" in call or call.get("willContinue") is True):
            self._called = None
            if len(self._parts) < MAX_PIECES:
                place = len(self._parts)
                self._called = self._growing[place] = GrowingCall(call, self._texts, place)
                self._parts.append(part)
        else:
            self._called = None
            return False
        if call.get("willContinue") is not True:
            self._called = None
        return True

    def body(self) -> dict[str, Any]:
        """Returns the unstreamed answer."""
        if not self._candidate and not self._parts:
            return dict(self._base) if "error" in self._base else {}
        texts = map(self._texts.text, range(len(self._parts)))
        parts = [
            part if text is None else {**part, "text": text} for part, text in zip(self._parts, texts, strict=True)
        ]
        for place, call in self._growing.items():
            parts[place] = {**parts[place], "functionCall": call.call_so_far()}
        return {**self._base, "candidates": [{**self._candidate, "content": {"role": "model", "parts": parts}}]}


def _chunk_delta(choice: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the delta of a choice with its texts apart: Mistral streams thoughts as blocks of the content."""
    delta = mapping_or_empty(choice.get("delta"))
    if isinstance(text := choice.get("text"), str):  # of a text completion
        return {**delta, "content": text}
    blocks = delta.get("content")
    if not isinstance(blocks, list):
        return delta
    texts: dict[str, str] = {}
    for block in blocks:
        told = mapping_or_empty(block)
        key = "reasoning" if told.get("type") == "thinking" else "content"
        texts[key] = texts.get(key, "") + text_of(told.get("thinking", told.get("text")))
    return {**delta, "content": None, **texts}


def is_of_ollama(event: Mapping[str, Any]) -> bool:
    """Returns True for an answer line of Ollama, from `/api/chat` or `/api/generate`."""
    if not isinstance(event.get("done"), bool) or not isinstance(event.get("model"), str):
        return False
    says = isinstance(event.get("message"), Mapping) or isinstance(event.get("response"), str)
    return says and isinstance(event.get("created_at"), str)


def ollama_body(lines: Iterable[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Returns the answer in lines of Ollama received together, as a chat completion; None for other objects."""
    stream = OllamaStream()
    known = False
    for line in lines:
        known = known or is_of_ollama(line)
        if not known and "error" not in line:
            return None
        stream.add_event(line)
    return stream.body() if known else None


class OllamaStream:
    """Lines of one answer of Ollama, the last one with `done` and the token counts."""

    def __init__(self) -> None:
        self._last: Mapping[str, Any] = {}
        self._error: object = None
        self._pieces = GrowingTexts()
        self._calls: list[dict[str, Any]] = []

    def add_event(self, event: Mapping[str, Any]) -> bool:
        """Adds a line; returns True if it contains model output."""
        self._error = event.get("error", self._error)
        self._last = event if is_of_ollama(event) else self._last
        message = mapping_or_empty(event.get("message"))
        calls = message.get("tool_calls")
        for call in calls if isinstance(calls, list) else ():
            made = mapping_or_empty(mapping_or_empty(call).get("function"))
            # The limit keeps a hostile stream from growing without end.
            if isinstance(name := made.get("name"), str) and len(self._calls) < MAX_PIECES:
                written = to_json(made.get("arguments") or {}).decode("utf-8", "replace")
                named = {"id": identifier} if isinstance(identifier := mapping_or_empty(call).get("id"), str) else {}
                self._calls.append({**named, "type": "function", "function": {"name": name, "arguments": written}})
        added = [
            self._pieces.append_text(key, text)
            for key, texts in (
                ("content", (message.get("content"), event.get("response"))),
                ("reasoning", (message.get("thinking"), event.get("thinking"))),
            )
            for text in texts
        ]
        return any(added) or bool(calls)

    def body(self) -> dict[str, Any]:
        """Returns the answer in the form of a chat completion."""
        if not self._last:
            return {}
        message: dict[str, Any] = {"role": "assistant", "content": self._pieces.text("content")}
        if (thought := self._pieces.text("reasoning")) is not None:
            message["reasoning"] = thought
        if self._calls:
            message["tool_calls"] = self._calls
        # Ollama has its own names for token counts.
        counts = {"prompt_tokens": "prompt_eval_count", "completion_tokens": "eval_count"}
        usage = {name: count for name, key in counts.items() if isinstance(count := self._last.get(key), int)}
        reason = self._last.get("done_reason")
        choice = {"index": 0, "message": message, "finish_reason": reason if isinstance(reason, str) else None}
        body = {
            "object": "chat.completion", "model": self._last.get("model"), "timestamp": self._last.get("created_at"),
            "choices": [choice],
        }  # fmt: skip
        body |= {"usage": usage} if usage else {}
        return {**body, "error": self._error} if self._error else body


def _is_same_text(last: Mapping[str, Any], part: Mapping[str, Any]) -> bool:
    """Returns True if a text continues the part before it; only its last piece may have a signature."""
    return "text" in last and "functionCall" not in part and last.get("thought") == part.get("thought")


class GrowingCall:
    """A call of Gemini with streamed arguments (`partialArgs`), each by its JSONPath."""

    def __init__(self, call: Mapping[str, Any], texts: GrowingTexts, place: int) -> None:
        """Starts a call with its first piece.

        Args:
            call: the piece.
            texts: holds the texts of the answer.
            place: index of the part.
        """
        self._texts, self._place = texts, place
        self._paths: dict[str, None] = {}
        self._args: dict[str, Any] = dict(mapping_or_empty(call.get("args")))
        self._made = {key: value for key, value in call.items() if key not in ("partialArgs", "willContinue")}
        self.add_piece(call)

    def call_so_far(self) -> dict[str, Any]:
        """Returns the call so far."""
        for path in self._paths:
            if (text := self._texts.text((self._place, path))) is not None:
                self._set(path, text)
        return {**self._made, "args": self._args}

    def add_piece(self, call: Mapping[str, Any]) -> None:
        """Adds a piece; skips pieces without a valid path."""
        pieces = call.get("partialArgs")
        for piece in pieces if isinstance(pieces, list) else ():
            path = piece.get("jsonPath") if isinstance(piece, Mapping) else None
            if isinstance(path, str) and len(path) <= _LONGEST_PATH:
                self._put(path, piece)

    def _put(self, path: str, piece: Mapping[str, Any]) -> None:
        if path not in self._paths and len(self._paths) >= MAX_PIECES:
            return
        self._paths[path] = None
        if isinstance(text := piece.get("stringValue"), str):
            self._texts.append_text((self._place, path), text)
            if not text:
                self._set(path, text)
        else:
            self._set(path, next((piece[key] for key in ("numberValue", "boolValue") if key in piece), None))

    def _set(self, path: str, value: Any) -> None:
        steps = [name or quoted or int(place) for name, place, quoted in _STEP.findall(path)]
        holder: Any = self._args
        for step, following in pairwise(steps):
            holder = _child(holder, step, [] if isinstance(following, int) else {})
        if steps:
            _child(holder, steps[-1], value, replace=True)


def _child(holder: Any, step: str | int, otherwise: Any, *, replace: bool = False) -> Any:
    """Returns a member of an object or list, created if missing; None if it has no place."""
    if isinstance(holder, dict) and isinstance(step, str):
        if replace or step not in holder:
            holder[step] = otherwise
        return holder[step]
    if isinstance(holder, list) and isinstance(step, int):
        holder.extend([None] * (step + 1 - len(holder)))
        if replace or holder[step] is None:
            holder[step] = otherwise
        return holder[step]
    return None


_STEP = re.compile(r"\.([^.\[\]]{1,100})|\[(\d{1,3})\]|\[[\'\"]([^\'\"]{1,100})[\'\"]\]")
_LONGEST_PATH = 500
