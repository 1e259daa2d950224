"""`steps`: lists turns, model outputs and calls with durations, tokens and costs."""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Any

import numpy as np
import typer

from inspector.cli.arguments import AS_USUAL, JUDGED, Json, LogFiles, Reading, takes_reading
from inspector.cli.opening import opened
from inspector.cli.printing import dump, echo, print_line, printable
from inspector.engine.requests.steps import (
    DescribeSteps,
    ListSteps,
    RowKind,
    State,
    StepHead,
    StepQuestion,
    StepRows,
    StepText,
)
from inspector.present import formats
from inspector.present.step_texts import tools_word
from inspector.protocol.timestamps import format_time

_AT_ONCE = 500
_MS = 1_000_000
_NO_TIME = np.iinfo(np.int64).min


class Order(Enum):
    """Order of the rows."""

    started = "started"
    took = "took"
    tokens = "tokens"
    cost = "cost"


class Groups(Enum):
    """Rows at the top."""

    turn = "turn"
    agent = "agent"
    tool = "tool"
    step = "step"


@takes_reading(*JUDGED, "prices")
def steps_command(
    files: LogFiles,
    as_json: Json = False,
    sort: Annotated[Order, typer.Option("--sort", help="Order of the rows; all but started list single steps.")] = (
        Order.started
    ),
    group: Annotated[Groups, typer.Option("--group", help="Rows at the top.")] = Groups.turn,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=0, help="Maximum number of rows; 0 for all.")] = 50,
    reading: Reading = AS_USUAL,
) -> None:
    """List what a session or trace did step by step: turns, model outputs and calls, with the time each took.

    Turns take the time in which any of their steps ran. Tokens are those that models wrote.
    """
    question = StepQuestion(None, group.value, sort.value)
    with opened(files, reading) as log:
        rows = log.answer_to(ListSteps(question))
        count = len(rows.kinds) if not limit else min(limit, len(rows.kinds))
        texts: list[StepText] = []
        for start in range(0, count, _AT_ONCE):
            places = list(range(start, min(start + _AT_ONCE, count)))
            texts += log.answer_to(DescribeSteps(question, rows.revision, places))
    if as_json:
        echo(dump({"head": _head_json(rows.head), "rows": [_row_json(rows, n, one) for n, one in enumerate(texts)]}))
        return
    print_line(_head_words(rows.head))
    if rows.head.path:
        print_line(printable(rows.head.path_words, 400))
    for place, text in enumerate(texts):
        print_line(_row_words(rows, place, text))
    if count < len(rows.kinds):
        print_line(f"and {len(rows.kinds) - count:,} more; --limit 0 prints all.")


def _head_words(head: StepHead) -> str:
    parts = [
        f"{name} {formats.duration(ns)}"
        for name, ns in (
            ("model", head.model_ns),
            (tools_word(of_requests=not head.calls), head.tools_ns),
            ("tools and your permission", head.allowed_ns),
            ("decisions", head.person_ns),
        )
        if ns
    ]
    calls = f"{formats.count_of(head.calls, 'tool call')}, {head.failed:,} failed, {head.rejected:,} rejected"
    models = formats.count_of(head.model_calls, "model call")
    cost = f"; {formats.dollars(head.dollars)}" if head.dollars is not None else ""
    return f"{formats.count_of(head.steps, 'step')}: {', '.join(parts) or 'no times'}; {models}, {calls}{cost}"


def _row_words(rows: StepRows, place: int, text: StepText) -> str:
    took, tokens, dollars = int(rows.took_ns[place]), int(rows.tokens[place]), float(rows.dollars[place])
    state = State(int(rows.states[place]))
    words = f"{'  ' * int(rows.depths[place])}{printable(text.words, 200)}"
    mark = "" if state in (State.NONE, State.OK) else f"  ({state.name.lower()})"
    figures = (
        f"{formats.duration(took) if took >= 0 else '':>12} {formats.short_count(tokens) if tokens >= 0 else '':>7} "
        f"{'' if np.isnan(dollars) else formats.dollars(dollars):>9}"
    )
    return f"{figures}  No. {int(rows.messages[place]) + 1:<6,} {words}{mark}"


def _head_json(head: StepHead) -> dict[str, Any]:
    return {
        "steps": head.steps, "model_ms": head.model_ns / _MS, "tools_ms": head.tools_ns / _MS,
        "allowed_ms": head.allowed_ns / _MS, "person_ms": head.person_ns / _MS,
        "model_calls": head.model_calls, "calls": head.calls,
        "failed": head.failed, "rejected": head.rejected, "dollars": head.dollars,
        "critical_path": {
            "took_ms": head.path_ns / _MS,
            "steps": [{"no": one.message + 1, "text": one.words, "ms": one.took_ns / _MS} for one in head.path],
        } if head.path else None,
    }  # fmt: skip


def _row_json(rows: StepRows, place: int, text: StepText) -> dict[str, Any]:
    took, tokens, dollars = int(rows.took_ns[place]), int(rows.tokens[place]), float(rows.dollars[place])
    start = int(rows.starts_ns[place])
    return {
        "kind": RowKind(int(rows.kinds[place])).name.lower(), "depth": int(rows.depths[place]),
        "no": int(rows.messages[place]) + 1, "count": int(rows.counts[place]), "text": text.words,
        "state": State(int(rows.states[place])).name.lower(), "took_ms": took / _MS if took >= 0 else None,
        "tokens": tokens if tokens >= 0 else None, "dollars": None if np.isnan(dollars) else dollars,
        "started": None if start == _NO_TIME else format_time(start), "failed": int(rows.failed[place]),
    }  # fmt: skip
