"""Estimates the clock offsets of sources from samples, and assigns the sources' spaces.

A sample is the beginning of a file, always with the same number of bytes, so the result does not depend on blocks. If
two samples share no message, one is searched in the other file by its time.

RULE (docs/protocols.md 11): no source has a message before the gateway received it. So a source is shifted later until
none of its shared messages is earlier than in the gateway's log, except for outliers of more than a second. A source
within 20 ms after the gateway is not shifted. Sources without a gateway's log between them are aligned by the median. A
source without shared messages keeps its own clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from inspector.protocol.timestamps import NO_TIME
from inspector.reading.decoder.block_reader import BlockReader
from inspector.reading.files.format_detection import scanner_for
from inspector.store.columns.block import Block
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_HASH
from inspector.store.files.long_lines import MAX_LINE_BYTES
from inspector.store.files.source_files import ClockBasis, SourceFile, space_of_origin
from inspector.store.messages.duplicates import envelope_identities

SAMPLE_BYTES = 1 << 19
_PROBE_BYTES = 1 << 16
_SEARCH_MARGIN_NS = 1_000_000_000
"""Nanoseconds by which a search starts before the sending time, since messages may arrive in another order."""
_OUTLIER_NS = 1_000_000_000
_MAX_TRANSFER_NS = 20_000_000
"""Longest plausible transfer from the gateway in nanoseconds; shorter gaps are no clock error."""
_MAX_OFFSET_NS = 10 * 366 * 86_400 * 1_000_000_000
"""Largest plausible clock offset in nanoseconds."""
_RPC = np.uint32(Flag.RPC.value)
_MAX_SEARCHED_SOURCES = 8
"""Largest number of sources for a search by time."""


@dataclass(frozen=True, slots=True)
class _Sample:
    """A sample of a source's records.

    Attributes:
        identities: (k,) of messages, ascending, distinct; of a gateway's copies the first.
        times: (k,) their times in its clock.
        spaces: named by records, or joined for the capture.
        is_log: it is a gateway's log.
        is_of_rpc: most of its records are JSON-RPC.
        is_of_envelopes: most of its records have ids of their own, and are no transcript's.
        first_ns: sending time of its first message, equal in each source that has it; NO_TIME.
    """

    identities: NDArray[np.uint64]
    times: NDArray[np.int64]
    spaces: frozenset[str]
    is_log: bool
    is_of_rpc: bool
    is_of_envelopes: bool
    first_ns: int


def compare_sources(sources: Sequence[SourceFile]) -> None:
    """Sets each source's clock offset, unless set by the user, and its space, unless its records name one.

    The reference clock is the first gateway's log, else the first source that shares messages with another. Reads some
    hundred kilobytes of each. Call before any record is returned.
    """
    samples = [_sample_of(source) for source in sources]
    _assign_spaces(sources, samples)
    found: dict[int, int] = {
        place: source.clock_offset_ns
        for place, source in enumerate(sources)
        if source.clock_basis is ClockBasis.SET_BY_USER
    }
    # Offsets of the user first, then gateway logs: both are better references than any sample.
    order = sorted(range(len(sources)), key=lambda place: (place not in found, not samples[place].is_log, place))
    for root in order:
        found.setdefault(root, 0)
        _assign_offsets(root, sources, samples, found)
    for place, source in enumerate(sources):
        if source.clock_basis is not ClockBasis.SET_BY_USER:
            source.clock_offset_ns = found[place]


def _assign_offsets(root: int, sources: Sequence[SourceFile], samples: list[_Sample], found: dict[int, int]) -> None:
    """Assigns offsets to all sources connected to a root by shared messages."""
    # Breadth first, so that each source is compared along the shortest chain.
    frontier = [root]
    while frontier:
        by = frontier.pop(0)
        for place in range(len(sources)):
            if place in found:
                continue
            later = _estimate_shift(samples[by], samples[place])
            # Searching pairs of many files would delay the first message.
            if later is None and len(sources) <= _MAX_SEARCHED_SOURCES:
                later = _estimate_shift_by_search(sources, samples, by, place)
            if later is not None:
                sources[place].clock_basis = ClockBasis.ESTIMATED
                if sources[by].clock_basis is ClockBasis.OWN_CLOCK:  # an offset set by the user is no estimate
                    sources[by].clock_basis = ClockBasis.ESTIMATED
                found[place] = found[by] + later
                frontier.append(place)


def _estimate_shift(by: _Sample, other: _Sample) -> int | None:
    """Returns the shift of the other source to the first one's clock in nanoseconds, if there are shared messages."""
    _, own, theirs = np.intersect1d(by.identities, other.identities, assume_unique=True, return_indices=True)
    times, others = by.times[own], other.times[theirs]
    known = (times != NO_TIME) & (others != NO_TIME)
    times, others = times[known], others[known]
    # Far apart means a repeated id, not a shared message.
    near = np.abs(times.astype(np.float64) - others.astype(np.float64)) < _MAX_OFFSET_NS
    apart = times[near] - others[near]
    if not len(apart):
        return None
    if by.is_log == other.is_log:
        return int(np.median(apart))
    # Single delays or queues must not move the estimate.
    usual = apart[np.abs(apart - np.median(apart)) <= _OUTLIER_NS]
    if not len(usual):
        return int(np.median(apart))
    # The smallest shift after which none of these messages is earlier than in the gateway's log.
    found = int(usual.max() if by.is_log else usual.min())
    is_after = found <= 0 if by.is_log else found >= 0
    # A difference in the right direction that a delivery explains is no clock error.
    return 0 if is_after and abs(found) <= _MAX_TRANSFER_NS else found


def _estimate_shift_by_search(sources: Sequence[SourceFile], samples: list[_Sample], by: int, other: int) -> int | None:
    """Returns the same shift from one file's beginning found in the middle of the other."""
    # One file may begin long after the other, so their beginnings share nothing.
    for one, beginning in ((by, other), (other, by)):
        source, time_ns = sources[one], samples[beginning].first_ns
        comparable = len(samples[one].identities) and len(samples[beginning].identities)
        # Neither an archive's bytes nor an array can be searched by offset.
        if not comparable or source.feed is not None or source.elements is not None or time_ns == NO_TIME:
            continue
        place = _find_time(source, time_ns - _SEARCH_MARGIN_NS)
        if place > 0:
            middle = _sample_of(source, place)
            pair = (middle, samples[other]) if one == by else (samples[by], middle)
            later = _estimate_shift(*pair)
            if later is not None:
                return later
    return None


def _find_time(source: SourceFile, time_ns: int) -> int:
    """Returns the byte offset of the first message at or after a time, assuming the log is in time order."""
    low, high = 0, max(0, source.size - _PROBE_BYTES)
    while high - low > _PROBE_BYTES:
        middle = (low + high) // 2
        found = _sample_of(source, middle, _PROBE_BYTES).first_ns
        if found == NO_TIME or found >= time_ns:
            high = middle
        else:
            low = middle
    return low


def _sample_of(source: SourceFile, start: int = 0, size: int = SAMPLE_BYTES) -> _Sample:
    """Returns a sample of the whole lines in a byte range."""
    block = _block_of(source, start, size)
    columns, strings = block.columns, block.strings
    found, first = (
        np.unique(envelope_identities(block), return_index=True) if len(block) else (np.empty(0, np.uint64), [])
    )
    known = found != NO_HASH
    times = columns["time_ns"]
    sent = columns["ts_ns"][columns["ts_ns"] != NO_TIME]
    spaces = {strings[code] for code in np.unique(columns["space"]).tolist() if code}
    if (joined := space_of_origin(block.origin or {})) is not None:
        spaces.add(joined)
    envelopes = (columns["content_hash"] != NO_HASH) & (columns["part"] == 0)
    return _Sample(
        found[known], times[first][known] if len(block) else np.empty(0, np.int64),
        frozenset(spaces), bool(columns["event"].any()),
        # More than half: single lines of another kind do not decide.
        2 * int(np.count_nonzero(columns["flags"] & _RPC)) > len(block),
        2 * int(np.count_nonzero(envelopes)) > len(block),
        int(sent[0]) if len(sent) else NO_TIME,
    )  # fmt: skip


def _block_of(source: SourceFile, start: int, size: int) -> Block:
    reader = BlockReader(0, source.chosen_format)
    if source.elements is not None:  # a separate scanner, since the source's own keeps its position
        beside = SourceFile(source.data_path)
        try:
            beside.elements = scanner_for(beside)
            found = beside.next_elements(size, at_end=True, longest=MAX_LINE_BYTES)
        finally:
            beside.close()
        if found is None or found.overlong_to is not None:
            return reader.read_lines(b"", 0)
        return reader.read_spans(found.data, found.spans, found.offset)
    data = source.read(start, size)
    # The first line is cut unless the range begins at the file's start.
    begin = data.find(b"\n") + 1 if start else 0
    end = len(data) if len(data) < size else data.rfind(b"\n") + 1
    return reader.read_lines(data[begin:end], start + begin)


def _assign_spaces(sources: Sequence[SourceFile], samples: list[_Sample]) -> None:
    """Assigns spaces to sources without one; tapped traffic gets a space of its own.

    RULE: traffic between a client and its MCP server belongs to no workspace, and its names are local: beside other
    sources it becomes a space named after the source. Envelopes of a source without a named space in its sample belong
    to the only space of the others: participants' own logs lack what a gateway's log names in each line. If the others
    name several spaces, it stays open.
    """
    for source, sample in zip(sources, samples, strict=True):
        # RPC ids count from 1, so two such sources would mix their calls.
        if sample.is_of_rpc and not sample.spaces and len(sources) > 1:
            source.space = source.name
    spaces = frozenset[str]().union(*(sample.spaces for sample in samples))
    if len(spaces) != 1:
        return
    for source, sample in zip(sources, samples, strict=True):
        if sample.is_of_envelopes and not sample.is_of_rpc and not sample.spaces:
            source.space = next(iter(spaces))
