"""Splits logs into byte ranges, and searches each by message headers alone, with links to related lines.

A range is read from some bytes before its start, so that copies in a gateway's log are recognized even if the original
is in the previous range. Only lines that begin in the range count, so every line counts once, wherever the log is cut.
No pass runs: `range_filter` refuses filters that need one.
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis
from inspector.analysis.arrays.field_columns import Interned, InternedSets
from inspector.filters.ast import Span
from inspector.filters.check import Term
from inspector.filters.compile import DisplayFilter, compile_filter
from inspector.filters.errors import FilterError
from inspector.filters.field import Depends
from inspector.filters.fields import FIELD_BY_NAME
from inspector.reading.files.format_detection import scanner_for
from inspector.reading.workers.part_reader import read_part
from inspector.sources.inputs import holds_lines
from inspector.sources.run_members import file_of_run
from inspector.store.columns import hashes
from inspector.store.columns.flags import Flag
from inspector.store.files.source_files import SourceFile
from inspector.store.files.spool import temporary_folder
from inspector.store.messages.capture import Capture
from inspector.store.messages.piece_masks import find_masked_pieces
from inspector.survey.run_places import reason_of

# Long, so that the megabyte read before and after it costs little.
RANGE_BYTES = 32 << 20
_LEAD_BYTES = 1 << 20
"""Bytes read around a range, for copies of a message and pieces of a streamed text."""
_PART_BYTES = 2 << 20
_LF = 10
# `None` stands for unreadable lines.
_STANDING_ALONE = frozenset({"gateway-log", "envelopes", "json-rpc", "wrapped", "capture", None, "stream-frames"})
"""Formats whose lines do not depend on earlier ones."""
_OF_THE_WHOLE = frozenset({"no", "repeats", "source", "delivered"})
_OF_FRAMES = frozenset({"from", "to", "text"})
"""Fields that a line alone determines, except in stream frames."""
_OF_CONNECTIONS = frozenset({"kind"})
"""Fields that a line alone determines, except on a connection of JSON-RPC that is not MCP."""


class RangeError(Exception):
    """A log cannot be searched by ranges; the text is the reason."""


@dataclass(frozen=True, slots=True)
class ByteRange:
    """A byte range of a log.

    Attributes:
        path: file path or address.
        size: bytes of the whole log.
        start, stop: the range; lines that begin in it count.
    """

    path: str
    size: int
    start: int
    stop: int


@dataclass(slots=True)
class RangeLines:
    """Matches of a range.

    Attributes:
        lines: number of line ends in it.
        offsets: (k,) int64, start offsets of the matching lines.
        numbers: (k,) int64, number of line ends in the range before each.
        texts: the matching lines.
        links: relations of all its messages, on request.
        pieces: replacements of lines that hold pieces of secrets.
        trouble: reason for a failure, as a sentence; or None.
    """

    lines: int = 0
    offsets: NDArray[np.int64] | None = None
    numbers: NDArray[np.int64] | None = None
    texts: tuple[bytes, ...] = ()
    links: Links | None = None
    pieces: dict[bytes, bytes] = field(default_factory=dict)
    trouble: str | None = None


@dataclass(slots=True)
class Links:
    """Relations of messages; one entry per message that begins in the range.

    Attributes:
        offsets, lengths: (m,) int64, of its line.
        numbers: (m,) int64, number of line ends in the range before it.
        own, context: (m,) uint64, hashes of its id and its context; 0 if absent.
        named_by, named: (e,) index of a message, and hash of an id it names.
        chosen: (m,) bool, it matches.
    """

    offsets: NDArray[np.int64]
    lengths: NDArray[np.int64]
    numbers: NDArray[np.int64]
    own: NDArray[np.uint64]
    context: NDArray[np.uint64]
    named_by: NDArray[np.int64]
    named: NDArray[np.uint64]
    chosen: NDArray[np.bool_]


def ranges_of(path: str, size: int, step: int = RANGE_BYTES) -> list[ByteRange]:
    """Splits a log into ranges."""
    return [ByteRange(path, size, start, min(size, start + step)) for start in range(0, size, step)]


def has_independent_lines(path: str, size: int) -> bool:
    """Returns True if the lines of a log may be independent of each other; also if it cannot be read.

    In a log that begins with JSON-RPC other than MCP they do not, since the whole connection decides their kinds.
    A False is certain. For other logs, `trouble` of a range can still refuse.
    """
    if path.lower().endswith(_PACKED_EXTENSIONS) or file_of_run(Path(path)) != Path(path):
        return False
    head = ByteRange(path, size, 0, min(size, _PART_BYTES))
    with contextlib.suppress(OSError, RangeError), _open_range(head, None) as (source, _):
        if not holds_lines(source.path) or scanner_for(source) is not None:
            return False
        block = read_part(source, 0, 0, head.stop)
        if set(block.formats) - _STANDING_ALONE:
            return False
        capture = Capture()
        capture.add_source(source)
        capture.append(block)
        return capture.foreign_rpc.is_empty
    return True


_PACKED_EXTENSIONS = (".gz", ".zst", ".bz2", ".xz", ".zip")


# Filters


def range_filter(text: str) -> DisplayFilter:
    """Compiles a filter that a range can evaluate.

    Raises:
        FilterError: it is not a filter, or needs the whole log.
    """
    filter_ = compile_filter(text, fields=_FIELDS)
    for term in filter_.terms:
        _refuse_term(term)
    return filter_


def _refuse_term(term: Term) -> None:
    """Raises FilterError if a term needs the whole log."""
    name, place = term.field.name, term.written.field
    alone = term.field.depends is Depends.FIXED or name in _OF_FRAMES | _OF_CONNECTIONS
    if not term.field.path and (not alone or name in _OF_THE_WHOLE):
        raise _needs_all(place, name)
    if name == "kind" and term.symbol == "like" and ":" in str(term.operand):
        raise FilterError(
            "The method and tool of a response are known from the whole log only.", position=term.written.position,
            length=term.written.length,
            suggestion='Ask for requests: kind == "mcp/request" && payload.params.name == "TOOL".',
        )  # fmt: skip


def _needs_all(field: Span, name: str) -> FilterError:
    instead = {
        "context": "context.raw is the context as written.", "method": "payload.method is the method as written.",
        "tool": "payload.params.name is the name as written.", "target": "payload.params.name is the name as written.",
    }  # fmt: skip
    return FilterError(
        f"{name} is known from the whole log only, and a slice reads stretches of it.", position=field.position,
        length=field.length, suggestion=instead.get(name, "Use fields of the messages themselves."),
    )  # fmt: skip


def _header_fields() -> dict[str, Any]:
    """Returns the fields of a range: sender and recipients as written in the line."""
    return {
        **FIELD_BY_NAME,
        "from": replace(
            FIELD_BY_NAME["from"], column=lambda a: Interned(a.capture.columns["sender"], a.capture.strings)
        ),
        "to": replace(FIELD_BY_NAME["to"], column=lambda a: InternedSets(a.capture.columns["to"], a.capture.to_sets)),
    }


_FIELDS = _header_fields()


# Reading


def lines_in(range_: ByteRange, text: str, *, seed: int, linked: bool = False, folder: str | None = None) -> RangeLines:
    """Returns the lines of a range that match a filter. Raises no errors; see `trouble`.

    Args:
        range_: the range.
        text: a filter that `range_filter` accepts.
        seed: hash seed, the same for all ranges.
        linked: adds the relations of all messages.
        folder: folder for temporary parts of an object store.
    """
    # Ids of different ranges are compared by hash, so all use one seed.
    hashes.set_seed(seed)
    try:
        with _open_range(range_, folder) as (source, base):
            return _search_range(source, base, range_, text, linked=linked)
    except RangeError as error:
        return RangeLines(trouble=str(error))
    except OSError as error:
        return RangeLines(trouble=f"{range_.path} cannot be read: {reason_of(error)}.")


@contextlib.contextmanager
def _open_range(range_: ByteRange, folder: str | None) -> Generator[tuple[SourceFile, int]]:
    """Yields a source with a range and its surroundings, and the log offset of its first byte."""
    if "://" not in range_.path:
        source = SourceFile(Path(range_.path))
        try:
            yield source, 0
        finally:
            source.close()
        return
    # Optional: part of the extra `fleet`.
    from fsspec.core import url_to_fs

    store, name = url_to_fs(range_.path)
    first = max(0, range_.start - _LEAD_BYTES)
    with temporary_folder(folder) as here:
        path = here / name.rpartition("/")[2]
        try:
            data = store.cat_file(name, start=first, end=min(range_.size, range_.stop + _LEAD_BYTES))
            # The last line that begins in the range may end far behind it.
            while not data.endswith(b"\n") and first + len(data) < range_.size:
                more = store.cat_file(
                    name, start=first + len(data), end=min(range_.size, first + len(data) + (1 << 20))
                )
                end = more.find(b"\n") + 1
                data += more[:end] if end else more
        except Exception as error:  # each store has its own errors
            raise RangeError(f"{range_.path} cannot be fetched: {reason_of(error)}.") from error
        path.write_bytes(data)
        source = SourceFile(path)
        try:
            yield source, first
        finally:
            source.close()


def _search_range(source: SourceFile, base: int, range_: ByteRange, text: str, *, linked: bool) -> RangeLines:
    if not range_.start and scanner_for(source) is not None:
        raise RangeError(f"{range_.path} is one JSON document and has no lines to cut. `export` takes messages of it.")
    capture = Capture()
    capture.add_source(source)
    start, stop = range_.start - base, min(source.size, range_.stop - base)
    end = min(source.size, stop + _LEAD_BYTES)
    for at in range(max(0, start - _LEAD_BYTES), end, _PART_BYTES):
        block = read_part(source, 0, at, min(end, at + _PART_BYTES))
        odd = set(block.formats) - _STANDING_ALONE
        if odd:
            raise RangeError(
                f"{range_.path} is {next(iter(odd))}: its lines mean something together only, and are not cut apart. "
                "`export -Y FILTER` reads it whole."
            )
        capture.append(block)
    filter_ = range_filter(text)
    rows = np.arange(len(capture))
    flags = capture.columns["flags"]
    _refuse_frames(filter_, flags, range_.path)
    if filter_.fields & _OF_CONNECTIONS and not capture.foreign_rpc.is_empty:
        # If the connection is not MCP, at least one range holds a method that shows it.
        raise RangeError(
            f"{range_.path} holds JSON-RPC that is not MCP: its kinds depend on the whole log. "
            "Test payload.method instead of kind, or read it whole: `export -Y FILTER`."
        )
    chosen = filter_.mask(_unanalysed(capture), rows)
    offsets, lengths = (capture.columns[name][:].astype(np.int64) for name in ("offset", "length"))
    wanted = dict(zip(offsets[chosen].tolist(), lengths[chosen].tolist(), strict=True))
    for message in rows[chosen].tolist():
        # Copies of a match match too, and count in the range where they begin.
        wanted.update((copy.offset, copy.length) for copy in capture.deliveries.deliveries_of(message))
    own = sorted(offset for offset in wanted if start <= offset < stop)
    breaks = _line_ends(source, start, stop)
    found = RangeLines(
        len(breaks),
        np.array(own, np.int64) + base,
        np.searchsorted(breaks, np.array(own, np.int64)).astype(np.int64),
        tuple(source.read(offset, wanted[offset]).strip() for offset in own),
    )
    for _ in find_masked_pieces(capture, found.pieces):
        pass
    if linked:
        found.links = _links(capture, chosen, offsets, start, stop, base, breaks)
    return found


def _unanalysed(capture: Capture) -> Analysis:
    """Returns an analysis without results, with no message in a stream."""
    analysis = Analysis(capture)
    # Text search asks for the stream of each message.
    analysis.streams.columns.append({"run": 0}, len(capture))
    return analysis


def _refuse_frames(filter_: DisplayFilter, flags: NDArray[Any], path: str) -> None:
    """Raises RangeError if a filter tests facts of frames that only their stream's opening has."""
    asks = filter_.fields & _OF_FRAMES or filter_.searches
    if asks and "stream" not in filter_.fields and bool((flags & np.uint32(Flag.FRAME.value)).any()):
        raise RangeError(
            f"{path} holds frames of streams: their owners and joined texts depend on the whole log. "
            "Add && !stream to the filter to leave them out."
        )


def _line_ends(source: SourceFile, start: int, stop: int) -> NDArray[np.int64]:
    """Returns (n,) offsets of line ends in a range."""
    ends = list[NDArray[np.int64]]()
    for at in range(start, stop, _PART_BYTES):
        data = np.frombuffer(source.read(at, min(_PART_BYTES, stop - at)), np.uint8)
        ends.append(np.flatnonzero(data == _LF).astype(np.int64) + at)
    return np.concatenate(ends) if ends else np.empty(0, np.int64)


def _links(
    capture: Capture, chosen: NDArray[np.bool_], offsets: NDArray[np.int64], start: int, stop: int, base: int,
    breaks: NDArray[np.int64],
) -> Links:  # fmt: skip
    here = np.flatnonzero((offsets >= start) & (offsets < stop))
    columns = capture.columns
    contexts = np.stack((columns["space"][here], columns["context"][here]))
    within, which = np.unique(contexts, axis=1, return_inverse=True)
    # Hashed once per distinct context, since many messages share one.
    known = np.array([capture.ids.hash_in_space(space, capture.strings[code]) if code else 0
                      for space, code in within.T.tolist()], np.uint64)  # fmt: skip
    correlated = np.flatnonzero(columns["flags"][here] & np.uint32(Flag.CORRELATED.value))
    pairs = [(place, one) for place in correlated.tolist() for one in capture.named_hashes(int(here[place]))]
    return Links(
        offsets[here] + base, columns["length"][here].astype(np.int64),
        np.searchsorted(breaks, offsets[here]).astype(np.int64), columns["id_hash"][here].astype(np.uint64),
        known[which.reshape(-1)] if len(here) else np.empty(0, np.uint64),
        np.array([place for place, _ in pairs], np.int64), np.array([one for _, one in pairs], np.uint64), chosen[here],
    )  # fmt: skip
