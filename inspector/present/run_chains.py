"""Reads the runs of a document as chains of steps, with texts to show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from inspector.analysis.views.compare.alignment import divide_run, in_plain_order
from inspector.analysis.views.compare.ignored import Ignored
from inspector.analysis.views.compare.run_steps import RunSteps, called, read_run
from inspector.analysis.views.many_runs.run_chain import MOST_STEPS, Argument, ChainStep, RunChain
from inspector.analysis.views.steps.step_columns import StepKind
from inspector.base.slices import SlicedWork
from inspector.document.document import CaptureDocument
from inspector.filters import compile_filter
from inspector.filters.naming import field_named
from inspector.filters.run_fields import outcomes_by_space
from inspector.present.message_row import row_content
from inspector.present.wire_text import safe_line
from inspector.protocol.message_text import compact_json
from inspector.protocol.secrets.masking import mask_text
from inspector.store.columns.hashes import hash_values

PASSED, FAILED = "passed", "failed"
MATCHING, OTHERS = "matching", "others"
_LONGEST, _LONGEST_VALUE = 90, 60
_PER_SLICE = 8
_DEEPEST = 64


class ChainQuestion(msgspec.Struct, frozen=True):
    """Options for reading runs.

    Attributes:
        by: a field whose value groups runs, or a filter that some of their messages match; "" for passed and failed.
        when: a filter whose matches are counted; "" without one.
        ignore: items for `Ignored`.
        name: path of the log, as named by the user.
        own_numbers: messages are numbered within their run, as when the run is opened alone.
    """

    by: str = ""
    when: str = ""
    ignore: list[str] = []
    name: str = ""
    own_numbers: bool = False


def read_chains(document: CaptureDocument, asked: ChainQuestion) -> SlicedWork[list[RunChain]]:
    """Reads the runs of a document: each run of an evaluation, or the whole document as one.

    Raises:
        IgnoreError: an item to ignore is malformed.
        FilterError: a filter is malformed.
    """
    analysis, ignored = document.analysis, Ignored(asked.ignore)
    run = yield from read_run(analysis, ignored, programs=False)
    outcomes = outcomes_by_space(analysis)
    spaces = analysis.capture.columns["space"][: len(analysis)]
    chains = _chains(run)
    if len(outcomes) < 2:
        outcomes = {-1: next(iter(outcomes.values()), {})}
    found: list[RunChain] = []
    for space, outcome in outcomes.items():
        rows = np.arange(len(analysis)) if space < 0 else np.flatnonzero(spaces == space)
        steps = [one for key, each in chains for one in each if space < 0 or key == space]
        read: list[ChainStep] = []
        for place, one in enumerate(steps[:MOST_STEPS]):
            read.append(_step(document, run, one, ignored))
            if place % _PER_SLICE == 0:
                yield
        group = _passed(outcome) if not asked.by else _group(document, asked.by, rows)
        matched = np.flatnonzero(compile_filter(asked.when).mask(analysis, rows)) if asked.when else rows[:0]
        if asked.own_numbers:
            places = np.searchsorted(rows, [one.row for one in read]).tolist()
            read = [msgspec.structs.replace(one, row=place) for one, place in zip(read, places, strict=True)]
        else:
            matched = rows[matched]
        path = mask_text(asked.name if space < 0 else f"{asked.name}/{analysis.capture.strings[space]}")
        task = outcome.get("task")
        found.append(RunChain(
            path, safe_line(task, _LONGEST) if isinstance(task, str) else None, group, read,
            int(matched[0]) if len(matched) else -1, max(0, len(steps) - MOST_STEPS),
        ))  # fmt: skip
        yield
    return found


def _passed(outcome: Mapping[str, Any]) -> str | None:
    passed = outcome.get("passed")
    return (PASSED if passed else FAILED) if isinstance(passed, bool) else None


def _group(document: CaptureDocument, by: str, rows: NDArray[np.int64]) -> str | None:
    """Returns the first value of a field in a run, or if a message of it matches a filter."""
    analysis, filter_ = document.analysis, compile_filter(by)
    found = rows[filter_.mask(analysis, rows)]
    if by.strip() not in filter_.fields:
        return MATCHING if len(found) else OTHERS
    value = field_named(by).value(analysis, int(found[0])) if len(found) else None
    if isinstance(value, list):
        value = value[0] if value else None
    return None if value is None else safe_line(str(value), _LONGEST)


def _chains(run: RunSteps) -> list[tuple[int, list[int]]]:
    """Returns the space of each conversation with its steps; steps of sub-agents follow the one that started them."""
    side = divide_run(run)
    taken = np.isin(run.kinds, (StepKind.SPAN, StepKind.COMPACTION, StepKind.OTHER)) | run.acting & (
        run.kinds == StepKind.CALL
    )

    def steps_below(steps: NDArray[np.int64], depth: int) -> Iterator[int]:
        for step in in_plain_order(run, steps).steps.tolist():
            if taken[step]:
                yield step
            if depth < _DEEPEST and step in side.below:
                yield from steps_below(side.below[step], depth + 1)

    spaces = run.table.spaces[run.steps]
    return [(int(spaces[root[0]]), list(steps_below(root, 0))) for root in side.roots]


def _step(document: CaptureDocument, run: RunSteps, place: int, ignored: Ignored) -> ChainStep:
    row, records = int(run.rows[place]), document.capture.records
    content = row_content(document, row)
    text = safe_line(content.text or content.word, _LONGEST)
    name, arguments = text.partition(" ")[0], list[Argument]()
    if run.kinds[place] == StepKind.CALL:
        tool, values = called({} if records.is_big(row) else records.payload(row), ignored)
        columns = document.analysis.correlation.columns
        name = safe_line(tool or document.capture.strings[int(columns["method"][row])] or name, _LONGEST)
        arguments = [*_arguments(values, ignored)]
    elif run.kinds[place] != StepKind.SPAN:
        name = safe_line(content.word, _LONGEST)
    # Refusals and compactions are equal, whatever they say.
    act = int(run.acts[place]) if run.kinds[place] in (StepKind.CALL, StepKind.SPAN) else int(run.groups[place])
    return ChainStep(
        act, int(run.groups[place]), name, text, row, int(run.states[place]), int(run.results[place]), arguments,
    )  # fmt: skip


def _arguments(values: Any, ignored: Ignored) -> Iterator[Argument]:
    known = values if isinstance(values, Mapping) else {"": values} if values else {}
    for name in sorted(known):
        value = known[name]
        text = value if isinstance(value, str) else compact_json(value)
        yield Argument(
            safe_line(name, _LONGEST_VALUE),
            hash_values(name, ignored.value_text(value)),
            safe_line(text, _LONGEST_VALUE),
        )
