"""Card of the runs of an evaluation: outcomes, scores and outliers."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from inspector.filters.run_fields import outcomes_by_space
from inspector.filters.strings import quote
from inspector.formats.run_files import number_or_none
from inspector.formats.table import OUTCOME_KINDS
from inspector.present import formats
from inspector.present.overview.cards import MESSAGES, Card, Line, Link, Row, Section, Tone, Words
from inspector.present.overview.facts import OverviewFacts
from inspector.present.wire_text import safe_line
from inspector.protocol.timestamps import NO_TIME

_MOST = 8
_TASK, _ERROR = 60, 100
_LEAST_RUNS, _OUTLIER = 5, 3.0
"""RULE: of at least five runs, an outlier takes more than three times the median."""


class _Run(NamedTuple):
    """A run with its outcome.

    Attributes:
        space: its space.
        task, error: as the evaluation names them; "".
        score: NaN if unknown.
        passed: None if unknown.
        messages, calls, seconds: its size; seconds are NaN if unknown.
    """

    space: str
    task: str
    error: str
    score: float
    passed: bool | None
    messages: int
    calls: int
    seconds: float


def runs_card(facts: OverviewFacts) -> Card | None:
    """Returns the card of the runs, if the log has outcomes of at least two."""
    runs = _runs(facts)
    if len(runs) < 2:
        return None
    odd = {
        "time": _outliers([run.seconds for run in runs]), "calls": _outliers([run.calls for run in runs]),
        "messages": _outliers([run.messages for run in runs]),
    }  # fmt: skip
    words = [", ".join(f"{found[place]} the usual {name}" for name, found in odd.items() if place in found)
             for place in range(len(runs))]  # fmt: skip
    # Failed runs, unsolved ones and outliers first; of equal ones the lowest score.
    order = sorted(range(len(runs)), key=lambda place: (
        not runs[place].error, runs[place].passed is not False, not words[place], np.nan_to_num(runs[place].score),
    ))  # fmt: skip
    repeated = {task for task, count in Counter(run.task for run in runs).items() if count > 1}
    rows = [_row(runs[place], words[place], is_repeated=runs[place].task in repeated) for place in order[:_MOST]]
    kinds = [kind for kind in OUTCOME_KINDS if facts.document.capture.strings.find(kind)]
    outcomes = Link(MESSAGES, filter=f"kind in {{{', '.join(map(quote, kinds))}}}")
    if len(order) > _MOST:
        more = formats.count_of(len(order) - _MOST, "more run")
        rows.append(Row("more", words=(Words(more, link=outcomes),)))
    sections = [Section("", tuple(rows))]
    scores = np.array([run.score for run in runs if not np.isnan(run.score)])
    if len(scores):
        told = (f"mean {_number(scores.mean())}, median {_number(np.median(scores))}, "
                f"lowest {_number(scores.min())}, highest {_number(scores.max())}")  # fmt: skip
        sections.append(Section("", (Row("scores", words=(Words("Scores: "), Words(told, "quiet"))),)))
    return Card(
        "runs", "How did the runs go?", tuple(sections), f"{len(runs):,}", _counts(runs, outcomes), wide=True
    )  # fmt: skip


def _runs(facts: OverviewFacts) -> list[_Run]:
    capture, stop = facts.document.capture, len(facts.analysis)
    outcomes = outcomes_by_space(facts.analysis)
    spaces, times = capture.columns["space"][:stop], capture.columns["time_ns"][:stop]
    called = capture.columns["space"][[call.row for call in facts.calls.calls]]
    size = max(outcomes, default=0) + 1
    known = (times != NO_TIME) & (spaces < size)
    first, last = np.full(size, np.iinfo(np.int64).max), np.full(size, np.iinfo(np.int64).min)
    np.minimum.at(first, spaces[known], times[known])
    np.maximum.at(last, spaces[known], times[known])
    messages, calls = np.bincount(spaces, minlength=size), np.bincount(called, minlength=size)
    return [
        _Run(
            capture.strings[space], _text(outcome.get("task")), _text(outcome.get("error")),
            _score(outcome.get("score")), _flag(outcome.get("passed")), int(messages[space]), int(calls[space]),
            (int(last[space]) - int(first[space])) / 1e9 if last[space] >= first[space] else np.nan,
        )
        for space, outcome in outcomes.items()
    ]  # fmt: skip


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _flag(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _score(value: Any) -> float:
    known = number_or_none(value)
    return np.nan if known is None else known


def _outliers(values: list[float] | list[int]) -> dict[int, str]:
    """Returns multiples of the median by index, of the values that are outliers."""
    numbers: NDArray[np.float64] = np.array(values, np.float64)
    known = numbers[np.isfinite(numbers)]
    usual = float(np.median(known)) if len(known) >= _LEAST_RUNS else 0.0
    if usual <= 0:
        return {}
    return {int(place): f"{numbers[place] / usual:,.0f}\N{MULTIPLICATION SIGN}"
            for place in np.flatnonzero(numbers > _OUTLIER * usual)}  # fmt: skip


def _counts(runs: list[_Run], outcomes: Link) -> Line:
    """Counts solved, unsolved, failed and ungraded runs, each with a link."""
    states = [_state(run)[0] for run in runs]
    # An evaluation that grades no run has no outcome to count.
    counts = (
        ("solved", "run.passed && !run.error"), ("not solved", "payload.passed == false && !run.error"),
        ("failed", "run.error"), ("not graded", "!run.passed && !(payload.passed == false) && !run.error"),
    ) if any(run.passed is not None or run.error for run in runs) else ()  # fmt: skip
    words = [Words("runs", "quiet", link=outcomes)]
    for word, condition in counts:
        if count := states.count(word):
            text = f"{condition} && {outcomes.filter}"
            words += [Words(", ", "quiet"), Words(f"{count:,} {word}", "quiet", link=Link(MESSAGES, filter=text))]
    return tuple(words)


def _row(run: _Run, odd: str, *, is_repeated: bool) -> Row:
    """Describes a run. Repetitions of a sample share its task, so each is named by its space too."""
    word, tone = _state(run)
    name = safe_line(run.task or run.space or "no name", _TASK)
    name += f" ({safe_line(run.space, _TASK)})" if is_repeated and run.task and run.space else ""
    words = [Words(name, link=Link(MESSAGES, filter=f"space == {quote(run.space)}" if run.space else "!space"))]
    sizes = [formats.count_of(run.messages, "message"), formats.count_of(run.calls, "call") if run.calls else ""]
    sizes.append(formats.duration(round(run.seconds * 1e9)) if run.seconds > 0 else "")
    words.append(Words(f"  {', '.join(filter(None, sizes))}", "quiet"))
    words += [Words(f"  {odd}", "warn")] if odd else []
    words += [Words(f"  {safe_line(run.error, _ERROR)}", "bad")] if run.error else []
    end = () if np.isnan(run.score) else (Words(_number(run.score)),)
    return Row(f"run {run.space}", (Words(word, tone, pill=True),), tuple(words), end=end)


def _state(run: _Run) -> tuple[str, Tone]:
    if run.error:
        return "failed", "bad"
    if run.passed is not None:
        return ("solved", "good") if run.passed else ("not solved", "warn")
    return "not graded", "quiet"


def _number(value: float) -> str:
    return f"{value:,.3g}"
