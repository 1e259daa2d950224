"""Reads the lines that `conversion` makes of a session saved by SpecStory: texts, thoughts and uses of tools."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from inspector.formats.run_files import facts_event, run_reader
from inspector.formats.tagged_texts import extract_text
from inspector.formats.value_conversions import mapping_or_empty, text_or_none
from inspector.formats.vocabulary import Event, Voice, place_event
from inspector.protocol.derived_messages import ApiCall
from inspector.protocol.timestamps import NO_TIME, parse_text_time

LABEL = "specstory"
VOICE = Voice(agent="agent", program="specstory", namespace="specstory/")
_COMMANDS = ("<command-", "<local-command-")
_FAILED = re.compile(r"\s*(?:<tool_use_error>|Exit code [1-9]|Error: )")
_NOT_RECORDED = "the result is not recorded"


def _events(record: Any, line: Mapping[str, Any]) -> list[Event]:
    known = mapping_or_empty(record)
    kind, text = known.get("type"), text_or_none(known.get("text")) or ""
    if kind == "tool":
        call, result = text_or_none(known.get("id")), text_or_none(known.get("result"))
        tool = text_or_none(known.get("tool"))
        given = {key: known[key] for key in ("summary", "text") if known.get(key)}
        failed = known.get("failed") is True or (result is not None and _FAILED.match(result) is not None)
        output = result if result is not None else _NOT_RECORDED
        events = [VOICE.call(call, tool, given), VOICE.result(call, output, tool=tool, failed=failed)]
    elif kind == "user":
        told = extract_text(text)
        words = str(told["text"])
        events = [VOICE.bookkeeping("command", words) if text.startswith(_COMMANDS) else
                  VOICE.instructions(words) if "tag" in told else VOICE.prompt(words)]  # fmt: skip
    elif kind == "instructions":
        events = [VOICE.instructions(text)]
    elif kind == "thought":
        events = [VOICE.thought(text)]
    elif kind == "agent":
        events = [VOICE.answer(text)]
    else:
        events = [facts_event(VOICE, "session", {key: one for key, one in known.items() if key != "type"})]
    if (model := text_or_none(line.get("model"))) and kind != "user":
        events[0].meaning.call = ApiCall("", model)
    agent, time_ns = text_or_none(line.get("agent")), parse_text_time(line.get("time"))
    # The time of a result is not in the file.
    return [
        place_event(event, time_ns=NO_TIME if place else time_ns, agent=agent) for place, event in enumerate(events)
    ]


READER = run_reader(LABEL, VOICE, _events)
