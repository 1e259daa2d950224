"""Answers of Bedrock's Converse API: events of `ConverseStream`, joined to the answer of `Converse`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from inspector.formats.model_api.growing_texts import GrowingTexts, decoded_input, valid_place
from inspector.formats.value_conversions import mapping_or_empty

FIRST_EVENTS = ("messageStart", "contentBlockStart", "contentBlockDelta")
"""Events that may begin a saved stream: some programs leave out the first."""
_EVENTS = frozenset((*FIRST_EVENTS, "contentBlockStop", "messageStop", "metadata"))


def converse_event(event: Mapping[str, Any], *, goes_on: bool) -> bool:
    """Returns True for an event of a stream; `goes_on` accepts later events too."""
    name = next(iter(event), "")
    told = event.get(name)
    if not isinstance(told, Mapping) or len(event) > _MOST_KEYS:
        return False
    if name == "messageStart":
        return isinstance(told.get("role"), str)
    if name.startswith("contentBlock"):
        return isinstance(told.get("contentBlockIndex"), int) and (goes_on or name in FIRST_EVENTS)
    return goes_on and (name in _EVENTS or name.endswith("Exception"))


_MOST_KEYS = 2


def answer_message(body: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Returns the message of an answer; None for other bodies."""
    output = body.get("output")
    message = output.get("message") if isinstance(output, Mapping) else None
    return message if isinstance(message, Mapping) and ("stopReason" in body or "usage" in body) else None


class ConverseStream:
    """`messageStart`, blocks by `contentBlockIndex`, `messageStop`, `metadata`."""

    def __init__(self) -> None:
        self._answer: dict[str, Any] = {}
        self._role: object = "assistant"
        self._blocks: dict[int, dict[str, Any]] = {}
        self._pieces = GrowingTexts()

    @property
    def is_complete(self) -> bool:
        """Returns True after the last event: the end, and the token counts after it."""
        return "stopReason" in self._answer and "usage" in self._answer

    def add_event(self, event: Mapping[str, Any]) -> bool:
        """Adds an event; returns True if it contains model output."""
        name = next(iter(event), "")
        told = mapping_or_empty(event.get(name))
        place = valid_place(told.get("contentBlockIndex"))
        if name == "messageStart":
            self._role = told.get("role")
        elif name == "contentBlockStart" and place is not None:
            self._blocks[place] = dict(mapping_or_empty(told.get("start")))
        elif name == "contentBlockDelta" and place is not None:
            return self._continue(place, mapping_or_empty(told.get("delta")))
        elif name in ("messageStop", "metadata"):
            self._answer.update(told)
        elif name.endswith("Exception"):
            self._answer["error"] = {"type": name, **told}
        return False

    def _continue(self, place: int, delta: Mapping[str, Any]) -> bool:
        block = self._blocks.setdefault(place, {})
        thought = mapping_or_empty(delta.get("reasoningContent"))
        for key in ("signature", "redactedContent"):
            if key in thought:
                block.setdefault("reasoningContent", {})[key] = thought[key]
        written = mapping_or_empty(delta.get("toolUse")).get("input")
        told = {"text": delta.get("text"), "thought": thought.get("text"), "input": written}
        added = [self._pieces.append_text((place, key), text) for key, text in told.items()]
        return any(added)

    def body(self) -> dict[str, Any]:
        """Returns the unstreamed answer."""
        if not self._blocks and not self._answer:
            return {}
        content = [self._block(place) for place in sorted(self._blocks)]
        return {"output": {"message": {"role": self._role, "content": content}}, **self._answer}

    def _block(self, place: int) -> dict[str, Any]:
        block = dict(self._blocks[place])
        if isinstance(call := block.get("toolUse"), Mapping):
            block["toolUse"] = {**call, "input": decoded_input(self._pieces.text((place, "input")) or "{}")}
        if (text := self._pieces.text((place, "text"))) is not None:
            block["text"] = text
        sealed = mapping_or_empty(block.get("reasoningContent"))
        if (thought := self._pieces.text((place, "thought"))) is not None:
            block["reasoningContent"] = {"reasoningText": {"text": thought, **sealed}}
        return block
