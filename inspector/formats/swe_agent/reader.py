"""Reads messages of SWE-agent and mini-SWE-agent: calls of functions, or commands in a text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from inspector.formats.entry_builders import text_of
from inspector.formats.message_runs import message_events, set_usage
from inspector.formats.run_files import facts_event, number_or_none, run_reader
from inspector.formats.value_conversions import mapping_or_empty, text_or_none
from inspector.formats.vocabulary import Event, Voice, place_event
from inspector.protocol.timestamps import NO_TIME

LABEL = "swe-agent"
VOICE = Voice(agent="assistant", program="harness", namespace="swe-agent/")
_FAILED = re.compile(r"\s*<returncode>-?[1-9]")


def _events(record: Any, line: Mapping[str, Any]) -> list[Event]:
    message = mapping_or_empty(record)
    extra = mapping_or_empty(message.get("extra"))
    response = mapping_or_empty(extra.get("response"))
    role = message.get("role")
    if role is None and "type" not in message:
        return [facts_event(VOICE, "trajectory", message)]
    if role == "exit":
        return [facts_event(VOICE, "exit", {**extra, "content": message.get("content")})]
    if message.get("is_demo") is True:
        return [place_event(VOICE.instructions(text_of(message.get("content"))))]
    said = _named_call(message)
    failed = (number_or_none(extra.get("returncode")) or 0) != 0
    failed |= _FAILED.match(text_of(message.get("content"))[:40]) is not None and role in ("user", "tool")
    events = message_events(VOICE, {**line, "record": said}, failed=failed)
    if role == "assistant" or response:
        told = line.get("totals") or response.get("usage")
        model = response.get("model") or line.get("model")
        totals = mapping_or_empty(line.get("totals"))
        set_usage(VOICE, events[0], told, model=model, cost=extra.get("cost", totals.get("instance_cost")))
        events[0].meaning.is_total = bool(totals)
    seconds = number_or_none(extra.get("timestamp")) or number_or_none(response.get("created"))
    for event in events:
        place_event(event, time_ns=NO_TIME if seconds is None else int(seconds * 1e9))
    return events


def _named_call(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns a message with the id of its call where other programs write it."""
    ids = message.get("tool_call_ids")
    if message.get("role") == "tool" and isinstance(ids, list) and ids:
        return {**message, "tool_call_id": text_or_none(ids[0])}
    return message


READER = run_reader(LABEL, VOICE, _events)
