"""Finds durations between two messages: requests, proposals until a decision, turns of a model."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis
from inspector.analysis.passes.calls.open_waits import are_waiting
from inspector.analysis.views.model_outputs import model_outputs
from inspector.base.slices import SlicedWork
from inspector.protocol import kinds
from inspector.store.columns.hashes import NO_ROW


class SpanKind(IntEnum):
    """Kind of a duration."""

    REQUEST = 0
    PROPOSAL = 1
    MODEL = 2


OPEN_NS = np.iinfo(np.int64).max
"""End of an open span."""


@dataclass(frozen=True, slots=True)
class Spans:
    """Durations, longest first.

    Attributes:
        rows: (n,) first messages.
        ends: (n,) last messages; NO_ROW if open.
        starts_ns, ends_ns: (n,) int64; OPEN_NS if open.
        lengths: (n,) float64, nanoseconds; infinite if open.
        sorts: (n,) uint8, `SpanKind`.
    """

    rows: NDArray[np.int64]
    ends: NDArray[np.int64]
    starts_ns: NDArray[np.int64]
    ends_ns: NDArray[np.int64]
    lengths: NDArray[np.float64]
    sorts: NDArray[np.uint8]

    @property
    def kinds(self) -> tuple[bool, bool, bool]:
        """Three flags: some are answered, some are open, some are of models."""
        of_model = self.sorts == SpanKind.MODEL
        ended = self.ends != NO_ROW
        return bool((ended & ~of_model).any()), bool((~ended).any()), bool(of_model.any())

    def between(self, left: int, right: int, least_ns: float, most: int) -> NDArray[np.int64]:
        """Returns indexes of at most `most` spans in a window with a minimum length, longest first."""
        # Spans are sorted by length, so short ones are cut off without a scan.
        count = int(np.searchsorted(-self.lengths, -least_ns, side="right"))
        return np.flatnonzero((self.starts_ns[:count] < right) & (self.ends_ns[:count] > left))[:most]


def spans_of(analysis: Analysis, times: NDArray[np.int64], stop: int) -> SlicedWork[Spans]:
    """Finds the spans among messages up to `stop`. O(messages)."""
    capture, links = analysis.capture, analysis.correlation.columns
    kind = capture.columns["kind"][:stop]
    request, proposal = (capture.strings.find(name) or -1 for name in (kinds.REQUEST, kinds.PROPOSAL))
    requests, proposals = np.flatnonzero(kind == request), np.flatnonzero(kind == proposal)
    yield
    rows = np.concatenate((requests, proposals)).astype(np.int64)
    before, firsts, lasts = model_outputs(capture, np.ones(stop, np.bool_))
    yield
    decisions = yield from _decisions(analysis, proposals, stop)
    ends = np.concatenate((links["answer"][requests], decisions)).astype(np.int64)
    # Links may name messages beyond `stop`, which have no position yet.
    ends[ends >= stop] = NO_ROW
    yield
    waits = are_waiting(capture, links, rows) if len(rows) else np.zeros(0, np.bool_)
    yield
    kept = np.flatnonzero((ends != NO_ROW) | waits)
    rows, ends, begins = rows[kept], ends[kept], rows[kept]
    sorts = np.where(kind[rows] == proposal, SpanKind.PROPOSAL, SpanKind.REQUEST).astype(np.uint8)
    rows, ends = np.concatenate((rows, firsts)), np.concatenate((ends, lasts))
    begins = np.concatenate((begins, before))
    sorts = np.concatenate((sorts, np.full(len(before), SpanKind.MODEL, np.uint8)))
    starts_ns = times[begins]
    ends_ns = np.where(ends == NO_ROW, OPEN_NS, times[np.maximum(ends, 0)])
    lengths = np.where(ends == NO_ROW, np.inf, ends_ns.astype(np.float64) - starts_ns.astype(np.float64))
    yield
    longest = np.argsort(-lengths, kind="stable")
    yield
    found: list[NDArray[Any]] = [values[longest] for values in (rows, ends, starts_ns, ends_ns, lengths, sorts)]
    return Spans(*found)


def _decisions(analysis: Analysis, proposals: NDArray[np.int64], stop: int) -> SlicedWork[NDArray[np.int64]]:
    """Returns the message that decided each proposal: the first fulfilment, reject or withdraw; NO_ROW without one."""
    capture = analysis.capture
    decided = np.full(len(proposals), NO_ROW, np.int64)
    if not len(proposals):
        return decided
    kind, cause = capture.columns["kind"][:stop], analysis.correlation.columns["cause"][:stop]
    # A request that names a proposal fulfils it.
    deciding = [code for name in (kinds.REQUEST, kinds.REJECT, kinds.WITHDRAW) if (code := capture.strings.find(name))]
    rows = np.flatnonzero((cause != NO_ROW) & np.isin(kind, deciding))
    yield
    places = proposals.searchsorted(cause[rows])
    hit = (places < len(proposals)) & (proposals[np.minimum(places, len(proposals) - 1)] == cause[rows])
    # Of several assignments to one index the last counts, hence the reverse order.
    decided[places[hit][::-1]] = rows[hit][::-1]  # the first of several wins
    return decided
