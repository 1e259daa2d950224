"""How long answers take: milliseconds from a request to its response, by tool and by who answered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis
from inspector.capture.hashes import NO_ROW
from inspector.protocol import kinds
from inspector.protocol.times import NO_TIME

Milliseconds = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Latency:
    """What some answers took, in milliseconds; percentiles lie between two values where none is exactly there.

    Attributes:
        count: answers whose request and times are known.
    """

    count: int
    p50: float
    p95: float
    p99: float
    longest: float


_PERCENTILES = (0.50, 0.95, 0.99)


def latency_ms(analysis: Analysis, rows: slice | NDArray[np.integer[Any]]) -> Milliseconds:
    """Milliseconds from its request to each of some messages: (k,) float64, NaN for what is no such response.

    O(rows).
    """
    capture = analysis.capture
    request, response = (capture.strings.find(k) or -1 for k in (kinds.REQUEST, kinds.RESPONSE))
    cause = analysis.correlation.columns["cause"][rows]
    kind, times = capture.columns["kind"], capture.columns["time_ns"]
    latency = np.full(len(cause), np.nan)
    places = np.flatnonzero((kind[rows] == response) & (cause != NO_ROW))
    asked_by = cause[places]
    answered, asked = times[rows][places], times[asked_by]
    known = (kind[asked_by] == request) & (answered != NO_TIME) & (asked != NO_TIME)
    places, answered, asked = places[known], answered[known], asked[known]
    apart = answered - asked
    # Hostile times are further apart than 64 bits tell; to the others the difference of floats would lose digits.
    wrapped = ((answered ^ asked) & (answered ^ apart)) < 0
    latency[places] = np.where(wrapped, answered.astype(np.float64) - asked.astype(np.float64), apart) / 1e6
    return latency


def latency_by_tool(analysis: Analysis) -> dict[str, Latency]:
    """By the tool called, most called first. O(messages)."""
    columns = analysis.correlation.columns
    call = analysis.capture.strings.find("tools/call") or -1
    tools = np.where(columns["method"] == call, columns["target"], 0)
    return _by_code(analysis.capture.strings, tools, latency_ms(analysis, slice(None)))


def latency_by_participant(analysis: Analysis) -> dict[str, Latency]:
    """By who answered, whatever was asked; most answers first. O(messages)."""
    senders = analysis.capture.columns["sender"][: len(analysis)]
    return _by_code(analysis.capture.strings, senders, latency_ms(analysis, slice(None)))


def _by_code(names: Sequence[str], codes: NDArray[Any], latency: Milliseconds) -> dict[str, Latency]:
    rows = np.flatnonzero((codes != 0) & ~np.isnan(latency))
    if not len(rows):
        return {}
    codes, latency = codes[rows], latency[rows]
    order = np.lexsort((latency, codes))
    codes, latency = codes[order], latency[order]
    starts = np.flatnonzero(np.concatenate(([True], codes[1:] != codes[:-1])))
    counts = np.diff(np.append(starts, len(codes)))
    columns = [counts.tolist(), *(_percentiles(latency, starts, counts, p) for p in (*_PERCENTILES, 1.0))]
    found = [Latency(*values) for values in zip(*columns, strict=True)]
    named = {names[int(code)]: one for code, one in zip(codes[starts].tolist(), found, strict=True)}
    return dict(sorted(named.items(), key=lambda item: (-item[1].count, item[0])))


def _percentiles(
    latency: Milliseconds, starts: NDArray[np.int64], counts: NDArray[np.int64], part: float
) -> list[float]:
    """One percentile of each of some ascending stretches."""
    place = (counts - 1) * part
    low = np.floor(place).astype(np.int64)
    high = np.minimum(low + 1, counts - 1)
    below, above = latency[starts + low], latency[starts + high]
    return (below + (above - below) * (place - low)).tolist()
