"""Finds durations between two messages: requests, proposals until a decision, turns of a model."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis
from inspector.analysis.passes.calls.open_waits import are_waiting
from inspector.base.slices import SlicedWork
from inspector.formats import registry
from inspector.protocol import kinds
from inspector.store.columns.hashes import NO_ROW


class SpanKind(IntEnum):
    """Kind of a duration."""

    REQUEST = 0
    PROPOSAL = 1
    MODEL = 2


_ASKERS = ("user", "client")
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
    spoken = yield from _model_times(analysis, stop)
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
    rows, ends = np.concatenate((rows, spoken[1])), np.concatenate((ends, spoken[2]))
    begins = np.concatenate((begins, spoken[0]))
    sorts = np.concatenate((sorts, np.full(len(spoken[0]), SpanKind.MODEL, np.uint8)))
    starts_ns = times[begins]
    ends_ns = np.where(ends == NO_ROW, OPEN_NS, times[np.maximum(ends, 0)])
    lengths = np.where(ends == NO_ROW, np.inf, ends_ns.astype(np.float64) - starts_ns.astype(np.float64))
    yield
    longest = np.argsort(-lengths, kind="stable")
    yield
    found: list[NDArray[Any]] = [values[longest] for values in (rows, ends, starts_ns, ends_ns, lengths, sorts)]
    return Spans(*found)


def _model_times(
    analysis: Analysis, stop: int
) -> SlicedWork[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]]:
    """Returns (n,) the last input of each model turn, and the first and last message of its output.

    Only sessions of coding agents show the start of a model: the prompt or result before its next message.
    """
    capture, none = analysis.capture, np.zeros(0, np.int64)
    columns, find = capture.columns, capture.strings.find
    formats = [code for name in registry.groups().agents if (code := find(name)) is not None]
    spoken = [code for name in ("chat", kinds.REQUEST, kinds.RESPONSE, "reasoning/thought") if (code := find(name))]
    rows = np.flatnonzero(np.isin(columns["protocol"][:stop], formats) & np.isin(columns["kind"][:stop], spoken))
    yield
    if not len(rows):
        return none, none, none
    kind, sender = columns["kind"][rows], columns["sender"][rows]
    people = [code for name in (*_ASKERS, *registry.groups().programs) if (code := find(name))]
    taken = (kind == (find(kinds.RESPONSE) or -1)) | np.isin(sender, people)
    conversation = columns["space"][rows].astype(np.int64) << 32 | columns["context"][rows].astype(np.int64)
    order = np.lexsort((rows, conversation))
    yield
    rows, taken, conversation = rows[order].astype(np.int64), taken[order], conversation[order]
    another = np.flatnonzero(np.diff(conversation, prepend=-1))
    taken[another] = True  # the first message to a sub-agent comes from its parent agent
    changes = np.diff(taken.astype(np.int8), prepend=1) != 0
    changes[another] = True
    firsts = np.flatnonzero(changes)
    lasts = np.append(firsts[1:], len(rows)) - 1
    turns = np.flatnonzero(~taken[firsts])  # the first of a conversation is input, so each output has one before it
    return rows[firsts[turns] - 1], rows[firsts[turns]], rows[lasts[turns]]


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
