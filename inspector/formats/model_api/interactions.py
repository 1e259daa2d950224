"""Google's Interactions API: steps of an interaction as messages, and its events joined to the answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from inspector.formats.model_api.growing_texts import GrowingTexts, decoded_input, valid_place
from inspector.formats.value_conversions import mapping_or_empty, mappings_in

OBJECT = "interaction"
FIRST_EVENTS = ("interaction.created", "interaction.start")
LAST_EVENTS = ("interaction.completed", "interaction.complete")
_EVENTS = ("interaction.", "step.", "content.")
_ROLES = {"user_input": "user", "model_output": "model"}
_CONTENTS = frozenset(("text", "image", "audio", "document", "video"))
_STEPS = frozenset((*_ROLES, "thought", "function_call", "function_result"))


def is_event(event: Mapping[str, Any], *, goes_on: bool) -> bool:
    """Returns True for an event of a stream; `goes_on` accepts later events too."""
    name = event.get("event_type")
    if not isinstance(name, str):
        return False
    if name in FIRST_EVENTS:
        return isinstance(event.get("interaction"), Mapping)
    return goes_on and (name.startswith(_EVENTS) or name in ("error", "done"))


def is_step(value: Mapping[str, Any]) -> bool:
    """Returns True for a step of an interaction."""
    return value.get("type") in _STEPS and "role" not in value


def messages_of(given: object, role: str) -> Iterator[Any]:
    """Yields steps, or contents of `role`, as messages and items of other APIs."""
    for step in given if isinstance(given, list) else ():
        yield _usual_step(step, role) if isinstance(step, Mapping) else step


def _usual_step(step: Mapping[str, Any], role: str) -> Mapping[str, Any]:
    kind = str(step.get("type"))
    if kind in _ROLES:
        return {"role": _ROLES[kind], "content": step.get("content")}
    if kind in _CONTENTS and "role" not in step:
        return {"role": role, "content": [step]}
    if kind == "thought":
        return {**step, "type": "reasoning"}
    if kind.endswith("_result") and "call_id" in step:
        failed = {"status": "failed"} if step.get("is_error") is True else {}
        return {"type": f"{kind}_output", "call_id": step["call_id"], "output": _result(step.get("result")), **failed}
    return {**step, "type": "function_call"} if kind == "mcp_server_tool_call" else step


def _result(result: object) -> object:
    """Returns a result as a text or a list of blocks."""
    return [dict(result)] if isinstance(result, Mapping) else result


class InteractionStream:
    """`interaction.created`, steps by `index`, `interaction.completed` with the token counts."""

    def __init__(self) -> None:
        self._answer: dict[str, Any] = {}
        self._steps: dict[int, dict[str, Any]] = {}
        self._pieces = GrowingTexts()

    def add_event(self, event: Mapping[str, Any]) -> bool:
        """Adds an event; returns True if it contains model output."""
        name, place = str(event.get("event_type")), valid_place(event.get("index"))
        if isinstance(told := event.get("interaction"), Mapping):
            self._answer.update(told)
        elif name == "error":
            self._answer["error"] = event.get("error")
        elif name == "interaction.status_update":
            self._answer["status"] = event.get("status")
        if place is None:
            return False
        if name in ("step.start", "content.start"):
            self._steps[place] = dict(mapping_or_empty(event.get("step", event.get("content"))))
        return name.endswith(".delta") and self._continue(place, mapping_or_empty(event.get("delta")))

    def _continue(self, place: int, delta: Mapping[str, Any]) -> bool:
        step = self._steps.setdefault(place, {})
        kind, text = delta.get("type"), delta.get("text")
        if kind == "thought_summary":
            text = mapping_or_empty(delta.get("content")).get("text")
        if isinstance(text, str):
            step.setdefault("type", "model_output" if kind == "text" else "thought")
            return self._pieces.append_text(place, text)
        if isinstance(arguments := delta.get("arguments"), str):
            return self._pieces.append_text((place, "arguments"), arguments)
        if kind in _CONTENTS:
            step.setdefault("content", []).append(dict(delta))
            return True
        kept = {key: one for key, one in delta.items() if key not in ("type", "annotations")}
        step.update(kept)
        return not kept.keys() <= {"signature"}

    def body(self) -> dict[str, Any]:
        """Returns the unstreamed interaction."""
        if not self._answer and not self._steps:
            return {}
        steps = [self._step(place) for place in sorted(self._steps)]
        key = "steps" if steps or not mappings_in(self._answer.get("outputs")) else "outputs"
        return {"object": OBJECT, **self._answer, **({key: steps} if steps else {})}

    def _step(self, place: int) -> dict[str, Any]:
        step = dict(self._steps[place])
        if (arguments := self._pieces.text((place, "arguments"))) is not None:
            step["arguments"] = decoded_input(arguments)
        if (text := self._pieces.text(place)) is None:
            return step
        block = {"type": "text", "text": text}
        if step.get("type") == "thought":
            return {**step, "summary": [block]}
        if step.get("type") == "text":
            return {**step, "text": text}
        return {**step, "content": [block, *(step.get("content") or ())]}
