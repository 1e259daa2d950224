"""Reads messages of tau-bench and tau2-bench, in which a simulated user may call tools too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from inspector.formats.message_runs import message_events, set_usage
from inspector.formats.run_files import facts_event, run_reader
from inspector.formats.value_conversions import mapping_or_empty
from inspector.formats.vocabulary import Event, Voice, place_event
from inspector.protocol.timestamps import parse_time

LABEL = "tau-bench"
VOICE = Voice(agent="assistant", program="harness", namespace="tau-bench/")


def _events(record: Any, line: Mapping[str, Any]) -> list[Event]:
    message = mapping_or_empty(record)
    if "role" not in message:
        return [facts_event(VOICE, "run", message)]
    said = {**message, "tool_call_id": message.get("tool_call_id", message.get("id"))}
    content = message.get("content")
    # Results of tau-bench have no mark of failure, and tools return their errors as text.
    has_failed = message["role"] == "tool" and isinstance(content, str) and content.startswith("Error: ")
    events = message_events(VOICE, {**line, "record": said}, failed=message.get("error") is True or has_failed)
    if message["role"] == "tool" and message.get("requestor") == "user":
        for event in events:
            event.meaning.to = (VOICE.user,)
    if message["role"] == "assistant" and message.get("usage"):
        set_usage(VOICE, events[0], message.get("usage"), model=line.get("model"), cost=message.get("cost"))
    for event in events:
        place_event(event, time_ns=parse_time(message.get("timestamp")))
    return events


READER = run_reader(LABEL, VOICE, _events)
