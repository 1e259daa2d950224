"""Reads messages of tasks of the Holistic Agent Leaderboard, with the usage of each model call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from inspector.formats.message_runs import message_events, set_usage
from inspector.formats.run_files import run_reader
from inspector.formats.value_conversions import mapping_or_empty, text_or_none
from inspector.formats.vocabulary import Event, Voice, place_event
from inspector.protocol.timestamps import parse_time

LABEL = "hal"
VOICE = Voice(agent="assistant", program="harness", namespace="hal/")


def _events(record: Any, line: Mapping[str, Any]) -> list[Event]:
    message = mapping_or_empty(record)
    call = mapping_or_empty(message.get("hal"))
    failure = text_or_none(call.get("error"))
    own = {key: one for key, one in message.items() if key != "hal"}
    events = [VOICE.error(failure)] if failure else message_events(VOICE, {**line, "record": own})
    if "usage" in call:
        identifier = text_or_none(call.get("id"))
        set_usage(VOICE, events[0], call.get("usage"), model=call.get("model"), identifier=identifier)
    for event in events:
        place_event(event, time_ns=parse_time(call.get("started_at")))
    return events


READER = run_reader(LABEL, VOICE, _events)
