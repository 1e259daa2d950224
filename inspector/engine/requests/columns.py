"""Figures that decide the widths of the columns of a message table."""

from __future__ import annotations

from typing import ClassVar

import msgspec
import numpy as np

from inspector.analysis import Analysis
from inspector.analysis.arrays.array_views import as_numpy
from inspector.analysis.passes.changed_rows import Rows
from inspector.engine.open_document import OpenDocument
from inspector.engine.request import Query, Request
from inspector.present.message_columns import Column
from inspector.present.message_row import MAX_NAME
from inspector.present.wire_text import safe_line
from inspector.protocol import kinds
from inspector.protocol.participants import GATEWAY_IDS
from inspector.protocol.timestamps import NO_TIME


class ColumnFigures(msgspec.Struct, frozen=True):
    """Figures of all messages read so far.

    Attributes:
        messages: their number.
        start_ns, latest_ns: time of the first message with one, and the latest time; `NO_TIME` without any.
        names: the two longest names of participants, as shown.
        empty: built-in columns without content in any message.
    """

    messages: int = 0
    start_ns: int = NO_TIME
    latest_ns: int = NO_TIME
    names: tuple[str, ...] = ()
    empty: tuple[int, ...] = ()


class FiguresOfColumns(Request[ColumnFigures], frozen=True):
    """Figures for the widths of columns. O(contexts and new participants)."""

    is_urgent: ClassVar[bool] = True


_FIRST_TIMES = 4096
"""Messages searched first for the start time."""


class _Measures:
    """Measures that grow with the document."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._measured = 0
        self._longest: list[str] = []
        self._start_ns = NO_TIME

    def note_changed(self, changed: Rows, /) -> None:
        """Does nothing: times and names of a message never change."""

    def longest_names(self) -> tuple[str, ...]:
        """Returns the two longest participant names as shown. O(new participants)."""
        known, strings = self._analysis.participants.all, self._analysis.capture.strings
        if len(known) > self._measured:
            keys = known.keys_of(np.arange(self._measured, len(known)))
            names = {safe_line(strings[key & 0xFFFFFFFF], MAX_NAME) for key in keys.tolist()}
            if any(map(strings.find, GATEWAY_IDS)):
                # Rows show it for the gateway, which is no participant.
                names.add("everyone")
            self._longest = sorted({*self._longest, *names}, key=len)[-2:]
            self._measured = len(known)
        return tuple(self._longest)

    def start_ns(self) -> int:
        """Returns the time of the first message with a time."""
        if self._start_ns == NO_TIME:
            times = self._analysis.capture.columns["time_ns"]
            # The first messages nearly always have a time; a search of all takes milliseconds.
            known = np.flatnonzero(times[:_FIRST_TIMES] != NO_TIME)
            if not len(known) and len(times) > _FIRST_TIMES:
                known = np.flatnonzero(times != NO_TIME)
            if len(known):
                self._start_ns = int(times[known[0]])
        return self._start_ns


def _empty_columns(analysis: Analysis) -> tuple[int, ...]:
    """Returns the columns without content in any message. O(contexts)."""
    contexts = analysis.contexts
    content = {
        Column.CONTEXT: bool((as_numpy(contexts.first_row)[: len(contexts.tree)] >= 0).any()),
        Column.TIME: contexts.clock_ns != NO_TIME,
        Column.LATENCY: analysis.capture.strings.find(kinds.RESPONSE) is not None,
    }
    return tuple(int(column) for column, has in content.items() if not has) if len(analysis) else ()


def _measures(held: OpenDocument) -> _Measures:
    analysis = held.document.analysis
    return held.kept(_Measures, lambda: _Measures(analysis))


def start_time(held: OpenDocument) -> int:
    """Returns the time of the first message with one; `NO_TIME` without any."""
    return _measures(held).start_ns()


def _figures(held: OpenDocument, _asked: FiguresOfColumns) -> ColumnFigures:
    analysis, measures = held.document.analysis, _measures(held)
    return ColumnFigures(
        len(analysis), measures.start_ns(), analysis.contexts.clock_ns, measures.longest_names(),
        _empty_columns(analysis),
    )  # fmt: skip


QUERIES = (Query(FiguresOfColumns, ColumnFigures, _figures),)
