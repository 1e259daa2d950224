"""Latencies of answers by tool, participant or model."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from inspector.analysis.views.latency.latency_tally import HISTOGRAM_BOUNDS_MS as HISTOGRAM_BOUNDS_MS
from inspector.analysis.views.latency.latency_tally import GroupLatency as GroupLatency
from inspector.analysis.views.latency.latency_tally import LatencyTally
from inspector.engine.open_document import OpenDocument
from inspector.engine.request import Query, Request, Steps

Grouping: TypeAlias = Literal["tool", "participant", "model"]


class LatencyFigures(msgspec.Struct, frozen=True):
    """Latencies of all messages read so far.

    Attributes:
        rows: one per tool, participant or model.
        messages: number of messages of the document.
    """

    rows: list[GroupLatency]
    messages: int


class Latencies(Request[LatencyFigures], frozen=True):
    """Latencies by group; kept between requests, so that new messages alone are read."""

    by: Grouping = "tool"


def _latencies(held: OpenDocument, asked: Latencies) -> Steps[LatencyFigures]:
    analysis = held.document.analysis
    tally = held.kept(LatencyTally, lambda: LatencyTally(analysis))
    while not tally.step():
        yield
    return LatencyFigures(tally.by(asked.by), len(analysis))


QUERIES = (Query(Latencies, LatencyFigures, _latencies),)
