"""Durations of the analysis passes of a document, measured between two requests, and sizes for reports."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import msgspec

from inspector.analysis import Analysis
from inspector.engine.open_document import OpenDocument
from inspector.engine.request import Query, Request

_PASSES = (
    "contexts", "correlation", "named", "transients", "participants", "capabilities", "tokens", "findings",
)  # fmt: skip


class PassTime(msgspec.Struct):
    """Durations of one pass since the first request, in milliseconds."""

    name: str
    calls: int = 0
    last: float = 0.0
    longest: float = 0.0
    total: float = 0.0


class MeasurePasses(Request[list[PassTime]], frozen=True):
    """Measures each pass from the first request on, until `StopMeasuring`."""


class StopMeasuring(Request[None], frozen=True):
    """Stops measuring the passes."""


class DocumentSize(msgspec.Struct, frozen=True):
    """Numbers of participants and contexts."""

    participants: int
    contexts: int


class SizeOfDocument(Request[DocumentSize], frozen=True):
    """Counts participants and contexts."""


class _PassTimings:
    """Times `feed` of each pass of a document."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self.times = [PassTime(name) for name in _PASSES]
        for one in self.times:
            fed = getattr(analysis, one.name)
            fed.feed = self._timed(fed.feed, one)

    @staticmethod
    def _timed(feed: Callable[..., Any], taken: PassTime) -> Callable[..., Any]:
        def timed(*arguments: Any, **named: Any) -> Any:
            began = time.perf_counter()
            try:
                return feed(*arguments, **named)
            finally:
                taken.last = (time.perf_counter() - began) * 1000
                taken.longest = max(taken.longest, taken.last)
                taken.total += taken.last
                taken.calls += 1

        return timed

    def stop(self) -> None:
        """Restores the original methods."""
        for name in _PASSES:
            vars(getattr(self._analysis, name)).pop("feed", None)


_measured: WeakKeyDictionary[OpenDocument, _PassTimings] = WeakKeyDictionary()


def _measure(held: OpenDocument, _asked: MeasurePasses) -> list[PassTime]:
    found = _measured.get(held)
    if found is None:
        found = _measured[held] = _PassTimings(held.document.analysis)
        held.endings.append(found.stop)
    return found.times


def _stop(held: OpenDocument, _asked: StopMeasuring) -> None:
    found = _measured.pop(held, None)
    if found is not None:
        found.stop()


def _size(held: OpenDocument, _asked: SizeOfDocument) -> DocumentSize:
    analysis = held.document.analysis
    return DocumentSize(len(analysis.participants.all), len(analysis.contexts.tree))


QUERIES = (
    Query(MeasurePasses, list[PassTime], _measure),
    Query(StopMeasuring, None, _stop),
    Query(SizeOfDocument, DocumentSize, _size),
)
