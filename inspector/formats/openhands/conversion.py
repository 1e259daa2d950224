"""Converts OpenHands' events, an array of one run, and its evaluations, a run a line: an event a line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec

from inspector.formats.entry_builders import token_count
from inspector.formats.file_records import first_record
from inspector.formats.openhands.reader import LABEL, SDK_KINDS, has_usage
from inspector.formats.run_files import (
    Run,
    RunFacts,
    decoded_document,
    document_at,
    documents_in,
    number_or_none,
    placed_documents,
    run_converter,
)
from inspector.formats.value_conversions import mapping_or_empty, mappings_in, text_or_none
from inspector.protocol.header import read_struct

_SOURCES = ("user", "agent", "environment")


class _Row(msgspec.Struct):
    """A run of an evaluation without its history."""

    instance_id: Any = None
    issue: Any = None
    metadata: Any = None
    metrics: Any = None
    test_result: Any = None
    report: Any = None
    success: Any = None
    error: Any = None


def begins_events(head: bytes) -> bool:
    """Returns True for the first bytes of events or of an evaluation."""
    if not any(mark in head for mark in (b'"source"', b'"history"', b'"agent_class"')):
        return False
    value = first_record(head)
    return _is_row(value) or _is_event(value)


def _is_event(value: Mapping[str, Any]) -> bool:
    if value.get("source") not in _SOURCES or not isinstance(value.get("timestamp"), str):
        return False
    has_parts = ("action" in value and "args" in value) or ("observation" in value and "content" in value)
    return value.get("kind") in SDK_KINDS or (isinstance(value.get("id"), int) and has_parts)


def _is_row(value: Mapping[str, Any]) -> bool:
    agent = mapping_or_empty(value.get("metadata")).get("agent_class")
    is_own = isinstance(agent, str) or "accumulated_cost" in mapping_or_empty(value.get("metrics"))
    return ("instance_id" in value or "issue" in value) and (is_own or any(map(_is_event, _history_of(value))))


def _history_of(value: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Returns the events of a row; older evaluations hold pairs of an action and its observation."""
    history = value.get("history")
    held = history if isinstance(history, list) else []
    return mappings_in([one for item in held for one in (item if isinstance(item, list) else [item])])


def runs_in(path: Path) -> Iterator[Run]:
    documents = placed_documents(path)
    first = next(documents, (0, b"{}"))
    if _is_event(decoded_document(first[1])):
        yield Run(RunFacts(name=path.stem), partial(_array_lines, path))
        return
    for start, document in chain((first,), documents):
        row = read_struct(document, _Row)
        if row is not None and (row.instance_id is not None or row.issue is not None):
            yield Run(_facts(row), partial(_row_lines, path, start, len(document)))


def _facts(row: _Row) -> RunFacts:
    issue, metrics = mapping_or_empty(row.issue), mapping_or_empty(row.metrics)
    used = mapping_or_empty(metrics.get("accumulated_token_usage"))
    result, report = mapping_or_empty(row.test_result), mapping_or_empty(row.report)
    told = report or mapping_or_empty(result.get("report"))
    passed = next(
        (one for one in (row.success, told.get("resolved"), result.get("result")) if isinstance(one, bool)), None
    )
    task = str(row.instance_id if row.instance_id is not None else issue.get("number"))
    return RunFacts(
        name=task, task=task, passed=passed, error=text_or_none(row.error) or None,
        score=None if passed is None else float(passed),
        model=text_or_none(mapping_or_empty(mapping_or_empty(row.metadata).get("llm_config")).get("model")),
        cost=number_or_none(metrics.get("accumulated_cost")),
        input_tokens=token_count(used, "prompt_tokens") or None,
        output_tokens=token_count(used, "completion_tokens") or None,
    )  # fmt: skip


def _array_lines(path: Path) -> Iterator[dict[str, Any]]:
    yield from _lines(decoded_document(document) for document in documents_in(path))


def _row_lines(path: Path, start: int, size: int) -> Iterator[dict[str, Any]]:
    value = document_at(path, start, size)
    yield {"record": {key: one for key, one in value.items() if key != "history"}}
    yield from _lines(_history_of(value), mapping_or_empty(value.get("metrics")))


def _lines(events: Any, metrics: Mapping[str, Any] | None = None) -> Iterator[dict[str, Any]]:
    """Yields the lines of events; those of old versions have no ids, and an observation follows its action."""
    told = False
    used = mapping_or_empty(metrics).get("accumulated_token_usage")
    held: dict[str, Any] | None = None
    last = 0
    for number, event in enumerate(events):
        if held is not None:
            yield held
        held = {"record": event}
        told = told or has_usage(event)
        if "id" not in event:
            last = number if "action" in event else last
            held["number"] = last
    if held is not None:
        if not told and mapping_or_empty(used):
            held["totals"] = used
        yield held


CONVERSION = run_converter(LABEL, runs_in, begins_events)
