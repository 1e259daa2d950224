"""Measures response times from request to answer, by tool, participant and model."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis
from inspector.analysis.passes.changed_rows import Rows
from inspector.analysis.views.latency.background_agents import background_ends
from inspector.formats import registry
from inspector.formats.table import AGENT_TOOLS, TRACE_NAMES
from inspector.protocol import kinds
from inspector.protocol.timestamps import NO_TIME
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_ROW
from inspector.store.messages.capture import Capture

Milliseconds = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Latency:
    """Response times in milliseconds; percentiles are interpolated.

    Attributes:
        count: answers with known request and times.
    """

    count: int
    p50: float
    p95: float
    p99: float
    longest: float

    def percentile(self, part: str) -> float | None:
        """Returns a percentile by name, such as p95; None below ENOUGH answers."""
        return {"p50": self.p50, "p95": self.p95, "p99": self.p99}[part] if self.count >= MIN_ANSWERS[part] else None


MIN_ANSWERS = {"p50": 1, "p95": 20, "p99": 100}
"""Answers that a percentile needs to differ from the slowest one."""

_PERCENTILES = (0.50, 0.95, 0.99)
# Beyond it, one sort of all costs less than one mask for each group.
_MAX_SPLIT_CODES = 48


def latency_ms(analysis: Analysis, rows: slice | NDArray[np.integer[Any]]) -> Milliseconds:
    """(k,) float64, milliseconds from request to each message; NaN for other messages.

    A call of several requests counts from the first one to its result. Of an answer repeated by a transcript or a model
    API, the first counts. A call of a background agent lasts until its end. A tool's own duration has priority;
    answers and refusals by a person have none, nor have answers before their request: the clock was set back. O(rows).
    """
    capture = analysis.capture
    request, response = (capture.strings.find(k) or -1 for k in (kinds.REQUEST, kinds.RESPONSE))
    cause = analysis.correlation.columns["cause"][rows]
    kind, times = capture.columns["kind"], capture.columns["time_ns"]
    latency = np.full(len(cause), np.nan)
    numbers = _numbered(rows, len(analysis.correlation.columns))
    places = np.flatnonzero((kind[rows] == response) & (cause != NO_ROW))
    again = capture.columns["flags"][rows][places] & Flag.DERIVED.value != 0
    if again.any():  # model requests repeat results, even shortened ones
        again &= analysis.correlation.columns["answer"][cause[places]] != numbers[places]
        again |= capture.repeated_messages(numbers[places])[1]
        again &= ~np.isin(numbers[places], list(analysis.correlation.rounds.begun))
        places = places[~again]
    places = places[~_are_of_persons(analysis, numbers[places], cause[places])]
    asked_by = cause[places]
    rounds = analysis.correlation.rounds
    if rounds.begun:
        asked_by = rounds.begun_by(numbers[places], asked_by.astype(np.int64))
    answered, asked = times[rows][places], times[asked_by]
    known = (kind[asked_by] == request) & (answered != NO_TIME) & (asked != NO_TIME)
    places, answered, asked = places[known], answered[known], asked[known]
    apart = answered - asked
    # Hostile times can differ by more than 64 bits; for others, float differences would lose digits.
    # The usual sign test for overflow of a subtraction.
    wrapped = ((answered ^ asked) & (answered ^ apart)) < 0
    latency[places] = np.where(wrapped, answered.astype(np.float64) - asked.astype(np.float64), apart) / 1e6
    derived = np.flatnonzero(capture.columns["flags"][rows] & Flag.DERIVED.value != 0)
    if len(derived):  # transcripts may contain a tool's duration, or write a call together with its result
        took = capture.extracted.tool_durations_ns(numbers[derived])
        told = (took >= 0) & ~np.isnan(latency[derived])
        latency[derived[told]] = took[told] / 1e6
        together = ~told & (latency[derived] <= 0) & _of_formats(capture, numbers[derived], registry.groups().agents)
        latency[derived[together]] = np.nan
        answered = derived[~np.isnan(latency[derived])]
        for answer, end in background_ends(analysis, cause[answered]).items():
            place = answered[numbers[answered] == answer]
            latency[place] = (end - times[cause[place]].astype(np.int64)) / 1e6
    latency[latency < 0] = np.nan
    return latency


def _are_of_persons(analysis: Analysis, answers: Rows, asked: Rows) -> NDArray[np.bool_]:
    """(n,) bool: True for answers or refusals by a person, during which no tool worked."""
    capture = analysis.capture
    targets = [code for name in AGENT_TOOLS.person_tools if (code := capture.strings.find(name))]
    declined = capture.columns["flags"][answers] & np.uint32(Flag.DECLINED.value) != 0
    return declined | np.isin(analysis.correlation.columns["target"][asked], targets)


def _of_formats(capture: Capture, rows: Rows, names: Collection[str]) -> NDArray[np.bool_]:
    """(n,) bool: True for messages of these formats."""
    codes = [code for name in names if (code := capture.strings.find(name))]
    return np.isin(capture.columns["protocol"][rows], codes)


def latency_by_tool(analysis: Analysis) -> dict[str, Latency]:
    """Returns latencies by called tool, most calls first. O(messages)."""
    every = slice(0, len(analysis))
    return _by_code(analysis.capture.strings, tools_of(analysis, every), latency_ms(analysis, every))


def latency_by_participant(analysis: Analysis) -> dict[str, Latency]:
    """Returns latencies by answering participant, most answers first. O(messages)."""
    every = slice(0, len(analysis))
    return _by_code(analysis.capture.strings, analysis.capture.columns["sender"][every], latency_ms(analysis, every))


def latency_by_model(analysis: Analysis) -> dict[str, Latency]:
    """Returns call durations by model, each call once; most calls first. O(messages)."""
    took, models = model_times(analysis, slice(0, len(analysis)))
    return _by_code(analysis.capture.strings, models, took)


def model_times(analysis: Analysis, rows: slice | NDArray[np.integer[Any]]) -> tuple[Milliseconds, NDArray[np.uint32]]:
    """Returns (k,) milliseconds of the model call that each message reports, or NaN, and (k,) string ids of models.

    A span has its duration; on recorded APIs it is the latency of the answer. Of several messages about one call, the
    counted one has it. O(rows).
    """
    usage, capture = analysis.usage, analysis.capture
    numbers = _numbered(rows, len(analysis.correlation.columns))
    models = np.where(usage.are_counted(numbers), usage.words("model", numbers), 0).astype(np.uint32)
    places = np.flatnonzero(models)
    found = np.full(len(numbers), np.nan)
    if len(places):
        told = capture.extracted.tool_durations_ns(numbers[places])
        traced = _of_formats(capture, numbers[places], TRACE_NAMES)
        known = np.where(traced & (told >= 0), told / 1e6, latency_ms(analysis, numbers[places]))
        found[places] = np.where(traced & (told < 0), np.nan, known)
    models[np.isnan(found)] = 0
    return found, models


def latency_of(analysis: Analysis, rows: NDArray[np.integer[Any]]) -> tuple[dict[str, Latency], Latency | None]:
    """Returns latencies of answers among some messages, by called tool and in total; None without any. O(rows)."""
    took = latency_ms(analysis, rows)
    together = _by_code(("", ""), np.ones(len(rows), np.uint32), took).get("")
    return _by_code(analysis.capture.strings, tools_of(analysis, rows), took), together


def tools_of(analysis: Analysis, rows: slice | NDArray[np.integer[Any]]) -> NDArray[Any]:
    """(k,) string id of the tool that each message calls or answers; 0 without one.

    An interim answer has no tool; one that ends a call in a later round has the tool of the call.
    """
    columns, rounds = analysis.correlation.columns, analysis.correlation.rounds
    call = analysis.capture.strings.find("tools/call") or -1
    if not rounds.calls:
        return np.where(columns["method"][rows] == call, columns["target"][rows], 0)
    numbers = _numbered(rows, len(analysis.correlation.columns))
    begun = rounds.begun_by(numbers, numbers)
    found = np.where(columns["method"][begun] == call, columns["target"][begun], 0)
    found[rounds.are_interim(numbers)] = 0
    return found


def _numbered(rows: slice | NDArray[np.integer[Any]], count: int) -> NDArray[np.int64]:
    return np.arange(*rows.indices(count)) if isinstance(rows, slice) else rows.astype(np.int64)


def _by_code(names: Sequence[str], codes: NDArray[Any], latency: Milliseconds) -> dict[str, Latency]:
    rows = np.flatnonzero((codes != 0) & ~np.isnan(latency))
    if not len(rows):
        return {}
    codes, latency = _grouped(codes[rows], latency[rows])
    starts = np.flatnonzero(np.concatenate(([True], codes[1:] != codes[:-1])))
    counts = np.diff(np.append(starts, len(codes)))
    columns = [counts.tolist(), *(_percentiles(latency, starts, counts, p) for p in (*_PERCENTILES, 1.0))]
    found = [Latency(*values) for values in zip(*columns, strict=True)]
    named = {names[int(code)]: one for code, one in zip(codes[starts].tolist(), found, strict=True)}
    return dict(sorted(named.items(), key=lambda item: (-item[1].count, item[0])))


def _grouped(codes: NDArray[Any], latency: Milliseconds) -> tuple[NDArray[Any], Milliseconds]:
    """Returns both sorted by code, and times ascending within a code."""
    found = np.unique(codes)
    if len(found) > _MAX_SPLIT_CODES:
        order = np.lexsort((latency, codes))
        return codes[order], latency[order]
    # Sorting values is several times faster than computing their order.
    parts = [np.sort(latency[codes == code]) for code in found.tolist()]
    return np.repeat(found, [len(part) for part in parts]), np.concatenate(parts)


def _percentiles(
    latency: Milliseconds, starts: NDArray[np.int64], counts: NDArray[np.int64], part: float
) -> list[float]:
    """Returns one percentile of each of several ascending ranges."""
    place = (counts - 1) * part
    low = np.floor(place).astype(np.int64)
    high = np.minimum(low + 1, counts - 1)
    below, above = latency[starts + low], latency[starts + high]
    return (below + (above - below) * (place - low)).tolist()
