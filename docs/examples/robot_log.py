"""Example of a plug-in: reads the log of a cleaning robot, one JSON object a line.

    {"robot": "r1", "at": "2026-01-05T10:00:00Z", "do": "ask", "text": "Clean the kitchen"}
    {"robot": "r1", "at": "2026-01-05T10:00:01Z", "do": "start", "job": "j1", "tool": "wipe", "with": {"place": "sink"}}
    {"robot": "r1", "at": "2026-01-05T10:00:09Z", "do": "done", "job": "j1", "text": "wiped", "ok": true}
    {"robot": "r1", "at": "2026-01-05T10:00:10Z", "do": "say", "text": "The kitchen is clean."}

Copy this file into the folder `plugins/` of your settings and switch it on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from inspector.plugin import (
    Event,
    Format,
    JsonTranscript,
    Participants,
    Stage,
    Voice,
    parse_time,
    place_event,
    require_api,
)

__version__ = "1.0"
require_api(1)

VOICE = Voice(agent="robot", program="robot-os", namespace="robot/")


def _is_known(value: Mapping[str, Any], unknown: bool) -> bool:
    return isinstance(value.get("robot"), str) and isinstance(value.get("do"), str)


def _events(value: Mapping[str, Any]) -> Sequence[Event]:
    text, job = str(value.get("text", "")), value.get("job")
    match value["do"]:
        case "ask":
            event = VOICE.prompt(text)
        case "say":
            event = VOICE.answer(text)
        case "start":
            event = VOICE.call(job, value.get("tool"), value.get("with"))
        case "done":
            event = VOICE.result(job, text, failed=value.get("ok") is False)
        case other:
            event = VOICE.bookkeeping(str(other), text)
    return [place_event(event, time_ns=parse_time(value.get("at")))]


READER = JsonTranscript(
    name="robot-log",
    marks=((b'"robot"', b'"do"'),),
    is_known=_is_known,
    events_of=_events,
    session_of=lambda value: value["robot"],
)

FORMATS = [
    Format(
        name="robot-log",
        title="Robot log",
        reads="logs of cleaning robots",
        stage=Stage.TRANSCRIPT,
        read=READER.read,
        payload=READER.payload,
        participants=Participants(agent=VOICE.agent, program=VOICE.program),
        namespace=VOICE.namespace,
    )
]
