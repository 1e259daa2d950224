"""What takes time between two messages: a request until its answer, a proposal until somebody decides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis
from inspector.analysis.waiting import are_waiting
from inspector.base.slices import Steps
from inspector.capture.hashes import NO_ROW
from inspector.protocol import kinds

OPEN_NS = np.iinfo(np.int64).max
"""The end of what still waits."""


@dataclass(frozen=True, slots=True)
class Spans:
    """Stretches of time, the longest first.

    Attributes:
        rows: (n,) the messages they begin with.
        ends: (n,) the messages they end with; NO_ROW.
        starts_ns, ends_ns: (n,) int64; OPEN_NS for what still waits.
        lengths: (n,) float64, nanoseconds; infinite for what still waits.
        proposals: (n,) whether it is a proposal, else a request.
    """

    rows: NDArray[np.int64]
    ends: NDArray[np.int64]
    starts_ns: NDArray[np.int64]
    ends_ns: NDArray[np.int64]
    lengths: NDArray[np.float64]
    proposals: NDArray[np.bool_]

    @property
    def kinds(self) -> tuple[bool, bool]:
        """Whether some have ended, and whether some wait."""
        return bool((self.ends != NO_ROW).any()), bool((self.ends == NO_ROW).any())

    def between(self, left: int, right: int, least_ns: float, most: int) -> NDArray[np.int64]:
        """Places of at most so many of them that reach into a window and last at least so long, the longest first."""
        count = int(np.searchsorted(-self.lengths, -least_ns, side="right"))
        return np.flatnonzero((self.starts_ns[:count] < right) & (self.ends_ns[:count] > left))[:most]


def spans_of(analysis: Analysis, times: NDArray[np.int64], stop: int) -> Steps[Spans]:
    """The spans among messages up to `stop`. O(messages)."""
    capture, links = analysis.capture, analysis.correlation.columns
    kind = capture.columns["kind"][:stop]
    request, proposal = (capture.strings.find(name) or -1 for name in (kinds.REQUEST, kinds.PROPOSAL))
    requests, proposals = np.flatnonzero(kind == request), np.flatnonzero(kind == proposal)
    yield
    rows = np.concatenate((requests, proposals)).astype(np.int64)
    decisions = yield from _decisions(analysis, proposals, stop)
    ends = np.concatenate((links["answer"][requests], decisions)).astype(np.int64)
    ends[ends >= stop] = NO_ROW
    yield
    waits = are_waiting(capture, links, rows) if len(rows) else np.zeros(0, np.bool_)
    yield
    kept = np.flatnonzero((ends != NO_ROW) | waits)
    rows, ends = rows[kept], ends[kept]
    starts_ns = times[rows]
    ends_ns = np.where(ends == NO_ROW, OPEN_NS, times[np.maximum(ends, 0)])
    lengths = np.where(ends == NO_ROW, np.inf, ends_ns.astype(np.float64) - starts_ns.astype(np.float64))
    yield
    longest = np.argsort(-lengths, kind="stable")
    yield
    found: list[NDArray[Any]] = [values[longest] for values in (rows, ends, starts_ns, ends_ns, lengths)]
    return Spans(*found, kind[found[0]] == proposal)  # type: ignore[arg-type]  # a list of arrays of several dtypes


def _decisions(analysis: Analysis, proposals: NDArray[np.int64], stop: int) -> Steps[NDArray[np.int64]]:
    """The message that decided each proposal: the first that fulfils, rejects or withdraws it; NO_ROW."""
    capture = analysis.capture
    decided = np.full(len(proposals), NO_ROW, np.int64)
    if not len(proposals):
        return decided
    kind, cause = capture.columns["kind"][:stop], analysis.correlation.columns["cause"][:stop]
    deciding = [code for name in (kinds.REQUEST, kinds.REJECT, kinds.WITHDRAW) if (code := capture.strings.find(name))]
    rows = np.flatnonzero((cause != NO_ROW) & np.isin(kind, deciding))
    yield
    places = proposals.searchsorted(cause[rows])
    hit = (places < len(proposals)) & (proposals[np.minimum(places, len(proposals) - 1)] == cause[rows])
    decided[places[hit][::-1]] = rows[hit][::-1]  # of several the first stays
    return decided
