"""Describes the sources of a document: format, state and clock offset."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from inspector.document.document import CaptureDocument
from inspector.formats import registry
from inspector.present import formats
from inspector.store.files.source_files import ClockBasis, SourceFile

TOKENS = (
    "highlight.teal", "highlight.orange", "highlight.violet", "highlight.sky", "highlight.lime", "highlight.rose",
)  # fmt: skip
"""Colours of sources in order; repeated for more sources."""


GROWING_STATES = frozenset({"live", "followed", "being read"})
"""States of sources that may grow."""
FAULTY_STATES = frozenset({"failed", "left out"})
"""States of incomplete sources."""


@dataclass(frozen=True, slots=True)
class SourceRow:
    """One source.

    Attributes:
        place: its number in the capture.
        name, path: display name and path.
        token: its colour.
        state: state in a word or two.
        trouble: reason for a bad state, as a sentence; "".
        format: format of its lines, in words.
        records: number of records read.
        shared: number of messages that another source has too.
        offset_ns: correction added to its times.
        offset: the same in words.
        clock: origin of the correction.
    """

    place: int
    name: str
    path: Path
    token: str
    state: str
    trouble: str
    format: str
    records: int
    shared: int
    offset_ns: int
    offset: str
    clock: ClockBasis


def token_of(place: int) -> str:
    """Returns the colour of a source."""
    return TOKENS[place % len(TOKENS)]


def source_rows(document: CaptureDocument) -> list[SourceRow]:
    """Returns the sources of a document, in order."""
    capture = document.capture
    counts = capture.records_by_source()
    shared = shared_by_source(document)
    return [
        _source_row(document, place, source, counts[place], shared[place])
        for place, source in enumerate(capture.sources)
    ]  # fmt: skip


def _source_row(document: CaptureDocument, place: int, source: SourceFile, records: int, shared: int) -> SourceRow:
    state, trouble = _state_and_trouble(document, source)
    words = registry.format_titles().get(source.main_format or "", "") or ("" if not records else "mostly unreadable")
    return SourceRow(
        place, source.name, source.path, token_of(place), state, trouble, words, records, shared,
        source.clock_offset_ns, offset_words(source), source.clock_basis,
    )  # fmt: skip


def state_of(document: CaptureDocument, place: int) -> str:
    """Returns the state of a source in a word or two."""
    return _state_and_trouble(document, document.capture.sources[place])[0]


def _state_and_trouble(document: CaptureDocument, source: SourceFile) -> tuple[str, str]:
    if source.problem is not None:
        return "failed", source.problem
    if source.feed is not None and source.feed.problem is not None:
        return "failed", source.feed.problem
    if source not in document.sources.files:
        # The sentences begin with the name of their source.
        found = next((one for one in document.sources.left_out if one.startswith(source.name)), "")
        return "left out", found
    if source is document.sources.live_source:
        return ("live" if document.live else "ended"), ""
    if source.is_growing:
        return "being read", ""
    if document.sources.several is not None:
        return ("followed" if source in document.sources.several.growing_sources else "read"), ""
    return ("followed" if document.sources.is_following else "read"), ""


def offset_words(source: SourceFile) -> str:
    """Formats the clock correction of a source with its origin."""
    if source.clock_basis is ClockBasis.OWN_CLOCK:
        return "own clock"
    words = formats.delta(source.clock_offset_ns) if source.clock_offset_ns else "0"
    return f"{words} ({source.clock_basis.value})"


def shared_by_source(document: CaptureDocument) -> list[int]:
    """Returns (sources,) numbers of messages that another source has too."""
    shared, found = [0] * len(document.capture.sources), document.capture.seen_by
    for sources, count in zip(found.table, found.counts, strict=True) if found is not None else ():
        for source in sources if len(sources) > 1 else ():
            shared[source] += count
    return shared
