"""Joins the ticks of a full-duplex simulation to messages: utterances of both sides, calls and results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from inspector.formats.value_conversions import mapping_or_empty, mappings_in, text_or_none

_SIDES = (("agent", "assistant"), ("user", "user"))
_LONGEST_WORD = 200
"""Limit of a text without spaces; longer ones are audio in base64."""
_HIGHEST_COST = 1 << 53
"""Limit of a cost; whole numbers of JSON may exceed what a float holds."""


def messages_of_ticks(ticks: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Returns messages by their beginnings: an utterance is one message, however many ticks it takes."""
    found: list[dict[str, Any]] = []
    utterances: list[dict[str, Any]] = []
    spoken: dict[str, dict[str, Any]] = {}  # the utterance of each side that may go on
    unspoken: dict[str, dict[str, Any]] = {role: {} for _, role in _SIDES}  # usage before the first utterance
    for tick in ticks:
        time = tick.get("timestamp")
        for side, role in _SIDES:
            chunk = mapping_or_empty(tick.get(f"{side}_chunk"))
            text, ids = _text_of(chunk), set(filter(None, map(text_or_none, _listed(chunk.get("utterance_ids")))))
            before = spoken.get(role)
            if text:
                goes_on = before is not None and (before is found[-1] if not ids else not ids.isdisjoint(before["ids"]))
                if before is None or not goes_on:
                    before = spoken[role] = {"role": role, "content": list[str](), "timestamp": time, "ids": set[str]()}
                    before |= unspoken.pop(role, {})
                    found.append(before)
                    utterances.append(before)
                before["content"].append(text)
                before["ids"] |= ids
            _add_usage(unspoken[role] if before is None else before, chunk)
            if calls := mappings_in(tick.get(f"{side}_tool_calls")):
                found.append({"role": role, "content": None, "tool_calls": calls, "timestamp": time})
            found += map(dict, mappings_in(tick.get(f"{side}_tool_results")))
    for one in utterances:
        one["content"] = "".join(one["content"])
        del one["ids"]
    return found


def _text_of(chunk: Mapping[str, Any]) -> str:
    text = text_or_none(chunk.get("content")) or ""
    script = text_or_none(chunk.get("audio_script_gold")) or ""
    is_audio = chunk.get("is_audio") is True and " " not in text
    return script if is_audio and (script or len(text) > _LONGEST_WORD) else text


def _add_usage(message: dict[str, Any], chunk: Mapping[str, Any]) -> None:
    """Adds the tokens and the cost of a chunk to its utterance."""
    for key, value in mapping_or_empty(chunk.get("usage")).items():
        if isinstance(value, int):
            total = message.setdefault("usage", {})
            total[key] = total.get(key, 0) + value
    if isinstance(cost := chunk.get("cost"), int | float) and abs(cost) < _HIGHEST_COST:
        message["cost"] = message.get("cost", 0) + cost


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
