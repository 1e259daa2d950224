"""Converts trajectories of SWE-agent and mini-SWE-agent: a message of the history a line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from inspector.formats.entry_builders import text_of, token_count
from inspector.formats.file_records import first_record
from inspector.formats.message_runs import message_lines
from inspector.formats.run_files import (
    Run,
    RunFacts,
    decoded_document,
    documents_in,
    number_or_none,
    run_converter,
)
from inspector.formats.swe_agent.reader import LABEL
from inspector.formats.value_conversions import mapping_or_empty, mappings_in, text_or_none

_MARKS = (b'"trajectory"', b'"history"', b'"messages"')
_PARTS = ("trajectory", "history", "messages")
_BLOCK = re.compile(r"```(?:mswea_bash_command|bash)[ \t]*\n(.*?)\n?```", re.DOTALL)
_MINI = "mini-swe-agent"


def begins_trajectory(head: bytes) -> bool:
    """Returns True for the first bytes of a trajectory."""
    return any(mark in head for mark in _MARKS) and is_trajectory(first_record(head))


def is_trajectory(value: Mapping[str, Any]) -> bool:
    steps, history = mappings_in(value.get("trajectory"))[:1], mappings_in(value.get("history"))[:1]
    stats = mapping_or_empty(mapping_or_empty(value.get("info")).get("model_stats"))
    return (
        any("action" in one and "observation" in one for one in steps)
        or any("role" in one and ("agent" in one or "message_type" in one) for one in history)
        or (isinstance(value.get("messages"), list) and {"instance_cost", "api_calls"} <= stats.keys())
        or str(value.get("trajectory_format")).startswith(_MINI)
    )


def runs_in(path: Path) -> Iterator[Run]:
    for document in documents_in(path):
        value = decoded_document(document)
        if is_trajectory(value):
            yield Run(facts_of(value, path), partial(lines_of, value))


def facts_of(value: Mapping[str, Any], path: Path) -> RunFacts:
    info = mapping_or_empty(value.get("info"))
    stats, ended = mapping_or_empty(info.get("model_stats")), text_or_none(info.get("exit_status")) or ""
    return RunFacts(
        name=path.name.removesuffix(".json").removesuffix(".traj").removesuffix(".trajectory"),
        model=_model(value), cost=number_or_none(stats.get("instance_cost")),
        input_tokens=token_count(stats, "tokens_sent") or None,
        output_tokens=token_count(stats, "tokens_received") or None,
        error=ended if ended and not ended.lower().startswith("submitted") else None,
    )  # fmt: skip


def _model(value: Mapping[str, Any]) -> str | None:
    config = mapping_or_empty(mapping_or_empty(value.get("info")).get("config"))
    told = mapping_or_empty(config.get("model"))
    return text_or_none(told.get("model_name"))


def lines_of(value: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    yield {"record": {key: one for key, one in value.items() if key not in _PARTS}}
    stats = mapping_or_empty(mapping_or_empty(value.get("info")).get("model_stats"))
    totals = stats if token_count(stats, "tokens_sent") else {}
    messages = value.get("history", value.get("messages"))
    steps = mappings_in(value.get("trajectory"))
    given = [*messages, *_from_steps(_unwritten(steps, messages))] if isinstance(messages, list) else _from_steps(steps)
    # Answers of the Responses API are lists of items.
    flat = [item for one in given for item in (_items(one) or [one])]
    yield from message_lines(flat, model=_model(value), totals=totals, command_of=_command_in)


def _items(message: object) -> list[Any]:
    known = mapping_or_empty(message)
    output = known.get("output")
    if known.get("object") != "response" or not isinstance(output, list) or not output:
        return []
    last = output[-1]
    # The usage belongs to the answer as a whole.
    return [*output[:-1], {**last, "extra": known.get("extra")} if isinstance(last, Mapping) else last]


def _unwritten(steps: list[Mapping[str, Any]], history: list[Any]) -> list[Mapping[str, Any]]:
    """Returns the last step if the history ends before it, as it does in some files that end by `submit`."""
    answers = [one for one in mappings_in(history) if one.get("role") == "assistant" and not one.get("is_demo")]
    if len(steps) <= len(answers) or not answers or not isinstance(answers[-1].get("action"), str):
        return []
    step, last = steps[-1], answers[-1]
    is_last = any(step.get(key) == last.get(other) for key, other in (("action", "action"), ("response", "content")))
    return [] if is_last or not isinstance(step.get("action"), str) else [step]


def _from_steps(steps: list[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yields the messages of steps, for files without a history."""
    for step in steps:
        yield {"role": "assistant", "content": step.get("response"), "action": step.get("action")}
        yield {"role": "user", "content": step.get("observation")}


def _command_in(message: Mapping[str, Any]) -> str | None:
    """Returns the command in a message, if it has one and calls no tools."""
    if message.get("tool_calls"):
        return None
    extra = mapping_or_empty(message.get("extra"))
    actions = [text_or_none(one.get("command")) for one in mappings_in(extra.get("actions"))]
    if "action" in message or actions:
        return text_or_none(message.get("action")) or next(iter(actions), None) or None
    found = _BLOCK.findall(text_of(message.get("content")))
    # Another number of commands is answered by a request for exactly one.
    return found[0] if len(found) == 1 else None


CONVERSION = run_converter(LABEL, runs_in, begins_trajectory)
