"""Cuts slices from logs whose lines depend on each other: reads them whole and writes each message on its own line.

Covers transcripts, recordings of HTTP, archives, JSON documents and compressed logs, in the format of `survey.slicing`.
A line contains the message itself, not the log's line, with that line's time and direction.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis
from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.views.causes.chain import chain_of
from inspector.document.document import CaptureDocument
from inspector.export.lines import LinesWriter
from inspector.export.options import ExportOptions
from inspector.export.redaction import Redaction
from inspector.filters import DisplayFilter
from inspector.formats.wrapped.reader import make_slice_line
from inspector.protocol.timestamps import NO_TIME
from inspector.store.columns.flags import Flag
from inspector.store.files.source_files import DERIVED_OFFSET, SourceFile
from inspector.store.messages.capture import Capture


class _Cut(NamedTuple):
    """A line of a log to cut."""

    offset: int
    line: bytes
    time_ns: int = NO_TIME
    direction: str | None = None
    space: str | None = None


def cut_whole(
    document: CaptureDocument, filter_: DisplayFilter, *, related: bool = False, masked: bool = True
) -> Iterator[bytes]:
    """Yields the lines of a slice of an open document.

    Args:
        document: the document.
        filter_: selects the messages.
        related: adds messages of their chains and contexts.
        masked: replaces secrets by dots.
    """
    capture, redaction = document.capture, Redaction(masked=masked)
    writer, lines = LinesWriter(document, ExportOptions(), redaction), _LineNumbers()
    rows = np.flatnonzero(filter_.mask(document.analysis, np.arange(len(capture))))
    if related:
        rows = _with_related(document.analysis, rows)
    for message in rows.tolist():
        source = capture.sources[int(capture.columns["source"][message])]
        if source.known_format == "gateway-log":
            found = _cut_logged(capture, writer, message)
        else:
            found = iter((_cut_message(capture, writer, redaction, message),))
        for offset, line, time_ns, direction, space in found:
            number = lines.line_number(source, offset)
            yield (
                make_slice_line(line, source.name, number, offset, time_ns=time_ns, dir=direction, space_id=space)
                + b"\n"
            )


def _cut_message(capture: Capture, writer: LinesWriter, redaction: Redaction, message: int) -> _Cut:
    """Returns a message on its own; a message derived from a transcript's record also gets its space."""
    time_ns, sent_ns, offset = (int(capture.columns[name][message]) for name in ("time_ns", "ts_ns", "offset"))
    # Other messages name their space themselves.
    derived = int(capture.columns["flags"][message]) & Flag.DERIVED.value
    direction, space = capture.string("direction", message), capture.string("space", message) if derived else None
    return _Cut(
        # A time that equals the sender's own is in the message already.
        offset, writer.envelope(message), NO_TIME if time_ns == sent_ns else time_ns,
        redaction.mask_text(direction) if direction else None, redaction.mask_text(space) if space else None,
    )  # fmt: skip


def _cut_logged(capture: Capture, writer: LinesWriter, message: int) -> Iterator[_Cut]:
    """Yields the lines of a message in a gateway's log, one per recipient."""
    offset = int(capture.columns["offset"][message])
    yield _Cut(offset, writer.masked_log_line(capture.records.read_line_of(message).strip()))
    for copy in capture.deliveries.deliveries_of(message):
        if copy.offset != offset:
            line = capture.sources[copy.source].read(copy.offset, copy.length)
            yield _Cut(copy.offset, writer.masked_log_line(line.strip()))


def _with_related(analysis: Analysis, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns messages, their chains, and all messages of their contexts: (k,) int64, ascending."""
    nodes = analysis.contexts.nodes_of(np.arange(len(analysis)))
    wanted = np.isin(nodes, nodes[rows]) & (nodes != MAIN)
    for message in rows.tolist():
        wanted[[step.message for step in chain_of(analysis, message)]] = True
    return np.flatnonzero(wanted)


class _LineNumbers:
    """Maps ascending offsets of a source to line numbers."""

    def __init__(self) -> None:
        self._reached: dict[str, tuple[int, int]] = {}

    def line_number(self, source: SourceFile, offset: int) -> int:
        """Returns the line number at an offset, from 1; for a reassembled message, that of the last line counted."""
        at, lines = self._reached.get(source.name, (0, 1))
        # Reassembled messages have no offset in the file.
        if offset < at or offset >= DERIVED_OFFSET:
            return lines
        while at < offset:
            data = source.read(at, min(_AT_ONCE, offset - at))
            if not data:
                break
            at, lines = at + len(data), lines + data.count(b"\n")
        self._reached[source.name] = at, lines
        return lines


_AT_ONCE = 1 << 20
