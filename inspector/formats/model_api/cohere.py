"""Events of Cohere's chat API (v2), joined to its answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from inspector.formats.model_api.growing_texts import GrowingTexts, valid_place
from inspector.formats.value_conversions import mapping_or_empty

FIRST_EVENT, LAST_EVENT = "message-start", "message-end"
EVENTS = ("content-", "tool-plan-", "tool-call-", "citation-", "message-", "debug")
"""Prefixes of its events."""


def answer_message(body: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Returns the message of an answer; None for other bodies."""
    message = body.get("message")
    is_own = "finish_reason" in body and isinstance(body.get("usage"), Mapping | None)
    return message if is_own and isinstance(message, Mapping) and message.get("role") == "assistant" else None


class CohereStream:
    """`message-start`, contents and calls by `index`, `message-end`."""

    def __init__(self) -> None:
        self._answer: dict[str, Any] = {}
        self._contents: dict[int, dict[str, Any]] = {}
        self._calls: dict[int, dict[str, Any]] = {}
        self._citations: list[Any] = []
        self._pieces = GrowingTexts()

    def add_event(self, event: Mapping[str, Any]) -> bool:
        """Adds an event; returns True if it contains model output."""
        sort, delta = str(event.get("type")), mapping_or_empty(event.get("delta"))
        message, place = mapping_or_empty(delta.get("message")), valid_place(event.get("index"))
        if sort == FIRST_EVENT:
            self._answer["id"] = event.get("id")
        elif sort == LAST_EVENT:
            self._answer.update(delta)
        elif sort == "tool-plan-delta":
            return self._pieces.append_text("plan", message.get("tool_plan"))
        elif sort.startswith("content-") and place is not None:
            return self._add_content(place, mapping_or_empty(message.get("content")))
        elif sort.startswith("tool-call-") and place is not None:
            return self._add_call(place, mapping_or_empty(message.get("tool_calls")))
        elif sort == "citation-start":
            self._citations.append(message.get("citations"))
        return False

    def _add_content(self, place: int, content: Mapping[str, Any]) -> bool:
        own = self._contents.setdefault(place, {"type": "thinking" if "thinking" in content else "text"})
        own.update({key: one for key, one in content.items() if key not in ("text", "thinking")})
        added = [self._pieces.append_text((place, key), content.get(key)) for key in ("text", "thinking")]
        return any(added)

    def _add_call(self, place: int, call: Mapping[str, Any]) -> bool:
        own, made = self._calls.setdefault(place, {"function": {}}), mapping_or_empty(call.get("function"))
        own.update({key: one for key, one in call.items() if key != "function"})
        own["function"].update({"name": made["name"]} if "name" in made else {})
        return self._pieces.append_text((place, "arguments"), made.get("arguments"))

    def body(self) -> dict[str, Any]:
        """Returns the unstreamed answer."""
        contents = [
            {**own, own["type"]: self._pieces.text((place, own["type"])) or ""}
            for place, own in sorted(self._contents.items())
            if own.get("type") in ("text", "thinking")
        ]
        calls = [
            {**own, "function": {**own["function"], "arguments": self._pieces.text((place, "arguments")) or "{}"}}
            for place, own in sorted(self._calls.items())
        ]
        told = {
            "tool_plan": self._pieces.text("plan"), "content": contents, "tool_calls": calls,
            "citations": self._citations,
        }  # fmt: skip
        if not any(told.values()) and not self._answer:
            return {}
        message = {"role": "assistant", **{key: one for key, one in told.items() if one}}
        return {"finish_reason": None, **self._answer, "message": message}
