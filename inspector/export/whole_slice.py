"""Slices of logs whose lines mean something together only: read whole, and each message cut out by itself.

So transcripts, recordings of HTTP, archives, JSON documents and what is compressed are cut as `survey.slicing` cuts
lines. A line holds the message as it says it, not what its log wrote for it, with the time and direction that had.
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
from inspector.protocol.formats.wrapped import cut_line
from inspector.protocol.times import NO_TIME
from inspector.store.columns.flags import Flag
from inspector.store.files.source_files import JOINED_FROM, SourceFile
from inspector.store.messages.capture import Capture


class _Cut(NamedTuple):
    """A line of a log that is cut."""

    offset: int
    line: bytes
    time_ns: int = NO_TIME
    direction: str | None = None
    space: str | None = None


def cut_whole(
    document: CaptureDocument, filter_: DisplayFilter, *, related: bool = False, masked: bool = True
) -> Iterator[bytes]:
    """The lines of a slice of a document that is open.

    Args:
        document: what is cut.
        filter_: which messages are wanted.
        related: also what is in their chains and contexts.
        masked: secrets are replaced by dots.
    """
    capture, redaction = document.capture, Redaction(masked=masked)
    writer, lines = LinesWriter(document, ExportOptions(), redaction), _LineNumbers()
    rows = np.flatnonzero(filter_.mask(document.analysis, np.arange(len(capture))))
    if related:
        rows = _with_related(document.analysis, rows)
    for message in rows.tolist():
        source = capture.sources[int(capture.columns["source"][message])]
        if source.known_format == "gateway-log":
            found = _as_logged(capture, writer, message)
        else:
            found = iter((_by_itself(capture, writer, redaction, message),))
        for offset, line, time_ns, direction, space in found:
            number = lines.at(source, offset)
            yield cut_line(line, source.name, number, offset, time_ns=time_ns, dir=direction, space_id=space) + b"\n"


def _by_itself(capture: Capture, writer: LinesWriter, redaction: Redaction, message: int) -> _Cut:
    """A message as it says it; of one that a transcript's record means the line says the space, too."""
    time_ns, sent_ns, offset = (int(capture.columns[name][message]) for name in ("time_ns", "ts_ns", "offset"))
    derived = int(capture.columns["flags"][message]) & Flag.DERIVED.value
    direction, space = capture.string("direction", message), capture.string("space", message) if derived else None
    return _Cut(
        offset, writer.envelope(message), NO_TIME if time_ns == sent_ns else time_ns,
        redaction.text(direction) if direction else None, redaction.text(space) if space else None,
    )  # fmt: skip


def _as_logged(capture: Capture, writer: LinesWriter, message: int) -> Iterator[_Cut]:
    """The lines of a message in a gateway's log, which has it once for each recipient."""
    offset = int(capture.columns["offset"][message])
    yield _Cut(offset, writer.logged(capture.records.line(message).strip()))
    for copy in capture.deliveries.of(message):
        if copy.offset != offset:
            line = capture.sources[copy.source].read(copy.offset, copy.length)
            yield _Cut(copy.offset, writer.logged(line.strip()))


def _with_related(analysis: Analysis, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Messages, what is in a chain with them, and all in their contexts: (k,) int64, ascending."""
    nodes = analysis.contexts.nodes_of(np.arange(len(analysis)))
    wanted = np.isin(nodes, nodes[rows]) & (nodes != MAIN)
    for message in rows.tolist():
        wanted[[step.message for step in chain_of(analysis, message)]] = True
    return np.flatnonzero(wanted)


class _LineNumbers:
    """Which lines offsets lie in; those of a source ascend."""

    def __init__(self) -> None:
        self._reached: dict[str, tuple[int, int]] = {}

    def at(self, source: SourceFile, offset: int) -> int:
        """The number of the line at an offset, from 1; of what was put together, of the one before."""
        at, lines = self._reached.get(source.name, (0, 1))
        if offset < at or offset >= JOINED_FROM:
            return lines
        while at < offset:
            data = source.read(at, min(_AT_ONCE, offset - at))
            if not data:
                break
            at, lines = at + len(data), lines + data.count(b"\n")
        self._reached[source.name] = at, lines
        return lines


_AT_ONCE = 1 << 20
