"""Facts about an open log: its name, sources, counts and problems."""

from __future__ import annotations

from pathlib import Path

import msgspec

from inspector.engine.open_document import OpenDocument
from inspector.engine.request import Query, Request
from inspector.present import formats
from inspector.present.findings import failed_filter
from inspector.present.session_titles import shown_session_title
from inspector.protocol.timestamps import NO_TIME


class LogFacts(msgspec.Struct, frozen=True):
    """Counts of a log.

    Attributes:
        name: display name.
        format: format of most lines of the first source.
        messages, records: their numbers.
        spaces: number of spaces.
        failed: number of messages with a failure; `failed_filter` shows them.
        read_errors: problems with reading, as sentences for the user.
        unchecked: those of them about checks that ended by an error of this program.
        memory_full: a sentence if reading stopped at the memory limit.
    """

    name: str
    format: str | None
    messages: int
    records: int
    spaces: int
    failed: int
    failed_filter: str
    read_errors: list[str]
    unchecked: list[str]
    memory_full: str | None


class SourceFacts(msgspec.Struct, frozen=True):
    """One source of a log.

    Attributes:
        path, name: its path and display name.
        format, known_format: format of most of its lines, and of any of them.
        records: number of its records.
        clock_offset_ns: correction of its clock.
        identity: numbers of the opened file, to compare with one of the same name; None if unknown.
        is_fed: its bytes come from a converted or compressed file, or from a stream.
    """

    path: Path
    name: str
    format: str | None
    known_format: str | None
    records: int
    clock_offset_ns: int
    identity: tuple[int, ...] | None
    is_fed: bool


class RecentFacts(msgspec.Struct, frozen=True):
    """Facts about a log for the list of recent files.

    Attributes:
        messages: their number.
        first_ns: time of the first message in nanoseconds since the Unix epoch; None if unknown.
        title: title of its first session, or "".
    """

    messages: int
    first_ns: int | None
    title: str


class DescribeLog(Request[LogFacts], frozen=True):
    """Counts, name and problems of a log."""


class RecentLogFacts(Request[RecentFacts], frozen=True):
    """Facts about a log for the list of recent files."""


class ListSources(Request[list[SourceFacts]], frozen=True):
    """Sources of a log, in the order of opening."""


def _log_facts(held: OpenDocument, _asked: DescribeLog) -> LogFacts:
    document = held.document
    capture, memory = document.capture, document.memory
    return LogFacts(
        document.name, document.format, len(capture), capture.record_count, len(document.analysis.contexts.spaces),
        capture.failed_count, failed_filter(capture), document.read_errors, document.failed_checks,
        memory.full_message if memory.is_full else None,
    )  # fmt: skip


def _recent_facts(held: OpenDocument, _asked: RecentLogFacts) -> RecentFacts:
    capture = held.document.capture
    times = capture.columns["time_ns"]
    known = times[times != NO_TIME]
    first = int(known.min()) if len(known) and formats.is_dated(int(known.min())) else None
    return RecentFacts(len(capture), first, shown_session_title(capture))


def list_sources(held: OpenDocument) -> list[SourceFacts]:
    """Returns the sources of a document."""
    capture = held.document.capture
    return [
        SourceFacts(
            source.path, source.name, source.main_format, source.known_format, count, source.clock_offset_ns,
            source.identity, source.feed is not None,
        )
        for source, count in zip(capture.sources, capture.records_by_source(), strict=True)
    ]  # fmt: skip


QUERIES = (
    Query(DescribeLog, LogFacts, _log_facts),
    Query(RecentLogFacts, RecentFacts, _recent_facts),
    Query(ListSources, list[SourceFacts], lambda held, _asked: list_sources(held)),
)
