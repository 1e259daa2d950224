"""Converts results of the Holistic Agent Leaderboard: each task is a run.

Weave recorded the calls of its models. A call repeats the messages of the calls before it; a line is a new message.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from inspector.formats.file_records import first_record
from inspector.formats.hal.reader import LABEL
from inspector.formats.message_runs import message_lines
from inspector.formats.run_files import Run, RunFacts, decoded_document, number_or_none, placed_documents, run_converter
from inspector.formats.value_conversions import mapping_or_empty, mappings_in, text_or_none
from inspector.protocol.timestamps import NO_TIME, parse_time

_VERDICTS = ("score", "reward", "success_rate", "accuracy", "correct", "is_correct", "passed", "resolved")
"""Members of a task's grades with its score, by benchmark."""


def begins_results(head: bytes) -> bool:
    """Returns True for the first bytes of results."""
    if b'"benchmark_name"' not in head:
        return False
    config = mapping_or_empty(first_record(head).get("config"))
    return {"agent_name", "benchmark_name", "run_id"} <= config.keys()


def runs_in(path: Path) -> Iterator[Run]:
    for _, document in placed_documents(path):
        value = decoded_document(document)
        calls: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
        for call in mappings_in(value.get("raw_logging_results")):
            calls[_task_of(call)].append(call)
        results, grades = mapping_or_empty(value.get("results")), mapping_or_empty(value.get("raw_eval_results"))
        passed = dict.fromkeys(_tasks(results, "failed_tasks"), False)
        passed |= dict.fromkeys(_tasks(results, "successful_tasks"), True)
        for task in dict.fromkeys((*calls, *passed)):
            own = sorted(calls[task], key=lambda call: str(call.get("started_at") or ""))
            yield Run(_facts(task, own, passed.get(task), grades.get(task)), partial(_lines, own))


def _tasks(results: Mapping[str, Any], key: str) -> list[str]:
    found = results.get(key)
    return [str(one) for one in found] if isinstance(found, list) else []


def _task_of(call: Mapping[str, Any]) -> str:
    return str(call.get("weave_task_id") or mapping_or_empty(call.get("attributes")).get("weave_task_id") or "no task")


def _facts(task: str, calls: list[Mapping[str, Any]], passed: bool | None, grade: object) -> RunFacts:
    grades = mapping_or_empty(grade)
    score = number_or_none(next((grades[key] for key in _VERDICTS if key in grades), grade))
    return RunFacts(
        name=task, task=task, score=score, passed=passed, model=_model_of(calls[0]) if calls else None,
        began_ns=parse_time(calls[0].get("started_at")) if calls else NO_TIME,
        error=text_or_none(calls[-1].get("exception")) if calls else None,
    )  # fmt: skip


def _model_of(call: Mapping[str, Any]) -> str | None:
    output, inputs = mapping_or_empty(call.get("output")), mapping_or_empty(call.get("inputs"))
    return text_or_none(output.get("model")) or text_or_none(inputs.get("model"))


def _lines(calls: list[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    yield from message_lines([one for call in _new_messages(calls) for one in call], model=None)


def _new_messages(calls: list[Mapping[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Yields, for each call, the messages of its request that are new, and its answer with the call's facts."""
    known: list[Any] = []
    for call in calls:
        messages = mapping_or_empty(call.get("inputs")).get("messages")
        given = [_spoken(one) for one in mappings_in(messages if isinstance(messages, list) else [])]
        shared = next((n for n, (one, other) in enumerate(zip(known, given, strict=False)) if one != other), None)
        start = min(len(known), len(given)) if shared is None else shared
        placed = {"started_at": call.get("started_at")}
        new = [{**one, "hal": placed} for one in given[start:]]
        output, failure = mapping_or_empty(call.get("output")), text_or_none(call.get("exception"))
        if failure and call is calls[-1]:  # the outcome tells it
            yield new
            return
        choice = next(iter(mappings_in(output.get("choices"))), {})
        facts = {
            "id": call.get("id"), "started_at": call.get("ended_at"), "model": _model_of(call),
            "usage": output.get("usage") or _summed(call), "error": failure,
        }  # fmt: skip
        answer = mapping_or_empty(choice.get("message")) or ({"content": failure} if failure else {})
        known = [*given, _spoken({**answer, "role": "assistant"})]
        yield [*new, {"role": "assistant", **answer, "hal": facts}] if answer or facts["usage"] else new


def _spoken(message: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a message without members that a client adds to its answer, so that both forms of it are equal."""
    return {
        key: one
        for key, one in message.items()
        if one not in (None, [], {}) and key in ("role", "content", "tool_calls", "tool_call_id", "name")
    }


def _summed(call: Mapping[str, Any]) -> Mapping[str, Any]:
    usage = mapping_or_empty(mapping_or_empty(call.get("summary")).get("usage"))
    return next((one for one in usage.values() if isinstance(one, Mapping)), {})


CONVERSION = run_converter(LABEL, runs_in, begins_results)
