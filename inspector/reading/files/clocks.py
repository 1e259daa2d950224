"""How the clocks of several sources stand to each other, and of which space they are, told by samples of each.

A sample is what a file begins with, always as many bytes of it: so what is found does not depend on the blocks in which
files are read. Where nothing at two beginnings is the same, one is looked for in the other by its time.

RULE (docs/protocols.md 11): nobody has a message before the gateway received it. So a source is put that much later
that none of what it shares with the gateway's log is earlier there, but for what is a second off the usual; one that
has what comes soonest within 20 ms after the gateway is left as it is. Sources without a gateway's log between them
are put by the median. What shares no message with others goes by its own clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from inspector.protocol.times import NO_TIME
from inspector.reading.decoder.block_reader import BlockReader
from inspector.reading.files.sniff import scanner_for
from inspector.store.columns.block import Block
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_HASH
from inspector.store.files.long_lines import MAX_LINE
from inspector.store.files.source_files import ClockBasis, SourceFile, space_of_origin
from inspector.store.messages.duplicates import identities

SAMPLE_BYTES = 1 << 19
_PROBE_BYTES = 1 << 16
_BEFORE_NS = 1_000_000_000
"""What is looked for by the time it was sent at is looked for so much earlier: it came in another order."""
_OUTLIER_NS = 1_000_000_000
_ON_THE_WAY_NS = 20_000_000
"""What takes no longer from the gateway is no wrong clock."""
_MOST_NS = 10 * 366 * 86_400 * 1_000_000_000
"""What is further apart is no clock."""
_RPC = np.uint32(Flag.RPC.value)
_MOST_SEARCHED = 8
"""Sources that a message is looked for in by its time."""


@dataclass(frozen=True, slots=True)
class _Sample:
    """Some records of a source.

    Attributes:
        identities: (k,) of messages, ascending, each once; of a gateway's copies the first.
        times: (k,) when it has them, by its clock.
        spaces: that records name, or that what was captured was joined to.
        is_log: it is what a gateway logged.
        is_of_rpc: most of its records are JSON-RPC.
        is_of_envelopes: most of its records have ids of their own, and are no transcript's.
        first_ns: when its first message was sent, which is the same in each source that has it; NO_TIME.
    """

    identities: NDArray[np.uint64]
    times: NDArray[np.int64]
    spaces: frozenset[str]
    is_log: bool
    is_of_rpc: bool
    is_of_envelopes: bool
    first_ns: int


def compare_sources(sources: Sequence[SourceFile]) -> None:
    """Find out the clock offset of each source, unless it is set, and its space, where it names none itself.

    The first gateway's log, else the first source that shares messages with another, is by whose clock the others are
    put. Reads some hundred kilobytes of each. Called before any of it is given out.
    """
    samples = [_sample_of(source) for source in sources]
    _place_in_space(sources, samples)
    found: dict[int, int] = {
        place: source.clock_offset_ns for place, source in enumerate(sources) if source.clock is ClockBasis.SET
    }
    order = sorted(range(len(sources)), key=lambda place: (place not in found, not samples[place].is_log, place))
    for root in order:
        found.setdefault(root, 0)
        _spread(root, sources, samples, found)
    for place, source in enumerate(sources):
        if source.clock is not ClockBasis.SET:
            source.clock_offset_ns = found[place]


def _spread(root: int, sources: Sequence[SourceFile], samples: list[_Sample], found: dict[int, int]) -> None:
    """Give an offset to all that share messages with a source, or with one that does."""
    frontier = [root]
    while frontier:
        by = frontier.pop(0)
        for place in range(len(sources)):
            if place in found:
                continue
            later = _apart(samples[by], samples[place])
            if later is None and len(sources) <= _MOST_SEARCHED:
                later = _apart_elsewhere(sources, samples, by, place)
            if later is not None:
                sources[place].clock = ClockBasis.ESTIMATED
                if sources[by].clock is ClockBasis.OWN:  # one that is set is no estimate
                    sources[by].clock = ClockBasis.ESTIMATED
                found[place] = found[by] + later
                frontier.append(place)


def _apart(by: _Sample, other: _Sample) -> int | None:
    """How much later the other source has to be put, to go by the clock of the first; None where they share nothing."""
    _, own, theirs = np.intersect1d(by.identities, other.identities, assume_unique=True, return_indices=True)
    times, others = by.times[own], other.times[theirs]
    known = (times != NO_TIME) & (others != NO_TIME)
    times, others = times[known], others[known]
    near = np.abs(times.astype(np.float64) - others.astype(np.float64)) < _MOST_NS
    apart = times[near] - others[near]
    if not len(apart):
        return None
    if by.is_log == other.is_log:
        return int(np.median(apart))
    usual = apart[np.abs(apart - np.median(apart)) <= _OUTLIER_NS]
    if not len(usual):
        return int(np.median(apart))
    found = int(usual.max() if by.is_log else usual.min())
    is_after = found <= 0 if by.is_log else found >= 0
    return 0 if is_after and abs(found) <= _ON_THE_WAY_NS else found


def _apart_elsewhere(sources: Sequence[SourceFile], samples: list[_Sample], by: int, other: int) -> int | None:
    """The same by what the beginning of one has in the middle of the other."""
    for one, beginning in ((by, other), (other, by)):
        source, time_ns = sources[one], samples[beginning].first_ns
        comparable = len(samples[one].identities) and len(samples[beginning].identities)
        if not comparable or source.feed is not None or source.elements is not None or time_ns == NO_TIME:
            continue
        place = _place_of(source, time_ns - _BEFORE_NS)
        if place > 0:
            middle = _sample_of(source, place)
            pair = (middle, samples[other]) if one == by else (samples[by], middle)
            later = _apart(*pair)
            if later is not None:
                return later
    return None


def _place_of(source: SourceFile, time_ns: int) -> int:
    """Where in a log, in bytes, begins what was sent no earlier than a time, as far as it is in the order of time."""
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
    """The records of some bytes of a source that are whole lines there."""
    block = _block_of(source, start, size)
    columns, strings = block.columns, block.strings
    found, first = np.unique(identities(block), return_index=True) if len(block) else (np.empty(0, np.uint64), [])
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
        2 * int(np.count_nonzero(columns["flags"] & _RPC)) > len(block),
        2 * int(np.count_nonzero(envelopes)) > len(block),
        int(sent[0]) if len(sent) else NO_TIME,
    )  # fmt: skip


def _block_of(source: SourceFile, start: int, size: int) -> Block:
    reader = BlockReader(0, source.reading)
    if source.elements is not None:  # a scanner goes on from where it is: this is another one
        beside = SourceFile(source.data_path)
        try:
            beside.elements = scanner_for(beside)
            found = beside.next_elements(size, at_end=True, longest=MAX_LINE)
        finally:
            beside.close()
        if found is None or found.overlong_to is not None:
            return reader.read(b"", 0)
        return reader.read_spans(found.data, found.spans, found.offset)
    data = source.read(start, size)
    begin = data.find(b"\n") + 1 if start else 0
    end = len(data) if len(data) < size else data.rfind(b"\n") + 1
    return reader.read(data[begin:end], start + begin)


def _place_in_space(sources: Sequence[SourceFile], samples: list[_Sample]) -> None:
    """What names no space is of the one that the others name; what was tapped is one of its own.

    RULE: what passes between a client and its MCP server is no part of a workspace, and its names mean nothing
    elsewhere: beside other sources it is a space that is called as the source is. Envelopes of a source that names none
    at its beginning are of the space that all others name: participants' own logs do not say what a gateway's says in
    each line. Where the others name several, it stays open.
    """
    for source, sample in zip(sources, samples, strict=True):
        if sample.is_of_rpc and not sample.spaces and len(sources) > 1:
            source.space = source.name
    spaces = frozenset[str]().union(*(sample.spaces for sample in samples))
    if len(spaces) != 1:
        return
    for source, sample in zip(sources, samples, strict=True):
        if sample.is_of_envelopes and not sample.is_of_rpc and not sample.spaces:
            source.space = next(iter(spaces))
