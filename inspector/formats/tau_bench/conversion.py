"""Converts results of tau-bench (a run an element) and tau2-bench (runs in `simulations`): a message a line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from inspector.formats.file_records import first_record
from inspector.formats.message_runs import message_lines
from inspector.formats.run_files import (
    Run,
    RunFacts,
    decoded_document,
    document_at,
    number_or_none,
    placed_documents,
    run_converter,
)
from inspector.formats.tau_bench.reader import LABEL
from inspector.formats.tau_bench.ticks import messages_of_ticks
from inspector.formats.value_conversions import mapping_or_empty, mappings_in, text_or_none
from inspector.protocol.timestamps import parse_time

_PARTS = ("traj", "messages", "ticks")
_MOST = 1.0 - 1e-6
"""Least reward of a solved task: rewards are 0 or 1, as a product of floats."""


def begins_results(head: bytes) -> bool:
    """Returns True for the first bytes of results."""
    if b'"task_id"' not in head and b'"simulations"' not in head and b'"tasks"' not in head:
        return False
    return _is_results(first_record(head))


def _is_results(value: Mapping[str, Any]) -> bool:
    return _is_run(value) or (
        {"agent_info", "user_info"} <= mapping_or_empty(value.get("info")).keys()
        and any(isinstance(value.get(key), list) for key in ("tasks", "simulations"))
    )


def _is_run(value: Mapping[str, Any]) -> bool:
    # The trajectory comes last, maybe after the first bytes.
    return {"task_id", "reward", "info"} <= value.keys() and isinstance(value.get("traj", []), list)


def runs_in(path: Path) -> Iterator[Run]:
    for start, document in placed_documents(path):
        value = decoded_document(document)
        if _is_run(value) and "traj" in value:
            yield Run(_facts(value, value, None), partial(_placed_lines, path, start, len(document)))
        elif _is_results(value):
            agent = mapping_or_empty(mapping_or_empty(value.get("info")).get("agent_info"))
            model = text_or_none(agent.get("llm"))
            for one in mappings_in(value.get("simulations")):
                yield Run(_facts(one, mapping_or_empty(one.get("reward_info")), model), partial(_lines, one, model))


def _facts(run: Mapping[str, Any], rewarded: Mapping[str, Any], model: str | None) -> RunFacts:
    score, trial, ended = number_or_none(rewarded.get("reward")), run.get("trial"), run.get("termination_reason")
    task = str(run.get("task_id"))
    return RunFacts(
        name=f"{task}-{trial}" if isinstance(trial, int) else task, task=task, score=score,
        passed=None if score is None else score >= _MOST, model=model, began_ns=parse_time(run.get("start_time")),
        error=text_or_none(mapping_or_empty(run.get("info")).get("error")) or (
            ended if isinstance(ended, str) and ("error" in ended or ended == "max_steps") else None
        ),
        seconds=number_or_none(run.get("duration")), cost=number_or_none(run.get("agent_cost")),
    )  # fmt: skip


def _placed_lines(path: Path, start: int, size: int) -> Iterator[dict[str, Any]]:
    yield from _lines(document_at(path, start, size), None)


def _lines(run: Mapping[str, Any], model: str | None) -> Iterator[dict[str, Any]]:
    yield {"record": {key: one for key, one in run.items() if key not in _PARTS}}
    messages = run.get("traj", run.get("messages"))
    told = messages if isinstance(messages, list) else []
    given = told or messages_of_ticks(mappings_in(run.get("ticks")))
    # Results of parallel calls are one message.
    flat = [inner for one in given for inner in (mappings_in(mapping_or_empty(one).get("tool_messages")) or [one])]
    yield from message_lines(flat, model=model)


CONVERSION = run_converter(LABEL, runs_in, begins_results)
