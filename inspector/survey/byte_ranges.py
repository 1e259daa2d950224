"""Stretches of a log that are searched apart: what a stretch alone tells of its lines, by the columns of their headers.

A stretch is read from some way before its beginning, so that copies of a message in a gateway's log are known as such
where it begins in the stretch before. Of these only lines that begin in the stretch count, so that stretches hold
every line once, wherever they are cut. No pass runs: `range_filter` lets through what none is needed for.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis
from inspector.analysis.arrays.field_columns import Interned, InternedSets
from inspector.filters.ast import And, Comparison, Expression, FieldName, Membership, Not, Or, Presence, TextSearch
from inspector.filters.compile import DisplayFilter, compile_filter
from inspector.filters.errors import FilterError
from inspector.filters.field import Depends
from inspector.filters.fields import FIELD_BY_NAME
from inspector.reading.files.sniff import scanner_for
from inspector.reading.workers.parts import read_part
from inspector.sources.inputs import holds_lines
from inspector.store.columns import hashes
from inspector.store.columns.flags import Flag
from inspector.store.files.source_files import SourceFile
from inspector.store.messages.capture import Capture
from inspector.survey.places import reason_of

RANGE_BYTES = 32 << 20
_LEAD_BYTES = 1 << 20
"""Copies of a message lie no further behind it: a gateway writes them within moments."""
_PART_BYTES = 2 << 20
_LF = 10
_STANDING_ALONE = frozenset({"gateway-log", "envelopes", "json-rpc", "wrapped", "capture", None, "stream-frames"})
"""Formats whose lines mean what they say, whatever stands before them."""
_OF_THE_WHOLE = frozenset({"no", "repeats", "source", "delivered"})
_OF_FRAMES = frozenset({"from", "to", "text"})
"""Fields that are known of a line but for frames of streams."""


class RangeError(Exception):
    """A log cannot be searched by stretches; the text says why."""


@dataclass(frozen=True, slots=True)
class ByteRange:
    """A stretch of a log.

    Attributes:
        path: a file's path or an address.
        size: bytes of the whole log.
        start, stop: the lines that begin there are meant.
    """

    path: str
    size: int
    start: int
    stop: int


@dataclass(slots=True)
class RangeLines:
    """What was found in a stretch.

    Attributes:
        lines: ends of lines in it.
        offsets: (k,) int64, where the lines that were chosen begin.
        numbers: (k,) int64, how many lines end before each in the stretch.
        texts: they themselves.
        links: of all messages in it how they hang together, where that was asked for.
        trouble: why it could not be searched, as a sentence; None.
    """

    lines: int = 0
    offsets: NDArray[np.int64] | None = None
    numbers: NDArray[np.int64] | None = None
    texts: tuple[bytes, ...] = ()
    links: Links | None = None
    trouble: str | None = None


@dataclass(slots=True)
class Links:
    """How messages hang together: an entry a message that begins in the stretch.

    Attributes:
        offsets, lengths: (m,) int64, of its line.
        numbers: (m,) int64, how many lines end before it in the stretch.
        own, context: (m,) uint64, hashes of its id and of the context it is in; 0 for none.
        named_by, named: (e,) the place of a message, and the hash of an id it names.
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
    """The stretches of a log."""
    return [ByteRange(path, size, start, min(size, start + step)) for start in range(0, size, step)]


def has_stretches(path: str, size: int) -> bool:
    """Whether lines of a log mean what they say, whatever stands before them; also of one that cannot be read.

    Of a log that is known to have no such lines only `trouble` of a stretch says so.
    """
    if path.lower().endswith(_PACKED):
        return False
    head = ByteRange(path, size, 0, min(size, _PART_BYTES))
    with contextlib.suppress(OSError, RangeError), _opened(head, None) as (source, _):
        alone = holds_lines(source.path) and scanner_for(source) is None
        return alone and not set(read_part(source, 0, 0, head.stop).formats) - _STANDING_ALONE
    return True


_PACKED = (".gz", ".zst", ".bz2", ".xz", ".zip")


# Filters


def range_filter(text: str) -> DisplayFilter:
    """A filter that a stretch can answer.

    Raises:
        FilterError: it is none, or needs what only the whole log tells.
    """
    filter_ = compile_filter(text, fields=_FIELDS)
    if filter_.expression is not None:
        for node in _terms(filter_.expression):
            _refuse(node)
    return filter_


def _refuse(node: Presence | Comparison | Membership | TextSearch) -> None:
    """Raise FilterError where a term needs the whole log."""
    if isinstance(node, TextSearch):
        return
    name = node.field.path[0] if node.field.path[0] == "payload" else str(node.field)
    known = FIELD_BY_NAME.get(name)
    alone = known is None or known.depends is Depends.FIXED or name in _OF_FRAMES
    if not alone or name in _OF_THE_WHOLE:
        raise _needs_all(node.field, name)
    if name == "kind" and isinstance(node, Comparison) and node.operator == "like" and ":" in str(node.value):
        raise FilterError(
            "The method and tool of a response are known from the whole log only.", position=node.position,
            length=node.length, suggestion='Ask for requests: kind == "mcp/request" && payload.params.name == "TOOL".',
        )  # fmt: skip


def _needs_all(field: FieldName, name: str) -> FilterError:
    instead = {
        "context": "context.raw is what messages write.", "method": "payload.method is what requests write.",
        "tool": "payload.params.name is what requests write.", "target": "payload.params.name is what requests write.",
    }  # fmt: skip
    return FilterError(
        f"{name} is known from the whole log only, and a slice reads stretches of it.", position=field.position,
        length=field.length, suggestion=instead.get(name, "Ask what messages say themselves; `list` does the rest."),
    )  # fmt: skip


def _terms(expression: Expression) -> Iterator[Presence | Comparison | Membership | TextSearch]:
    if isinstance(expression, Not):
        yield from _terms(expression.operand)
    elif isinstance(expression, And | Or):
        for one in expression.operands:
            yield from _terms(one)
    else:
        yield expression


def _header_fields() -> dict[str, Any]:
    """The fields as a stretch knows them: of senders and recipients what is written."""
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
    """The lines of a stretch that match a filter. Raises nothing: see `trouble`.

    Args:
        range_: the stretch.
        text: a filter that `range_filter` lets through.
        seed: of hashes, the same for all stretches.
        linked: also say how all messages hang together.
        folder: where a part of an object store is put meanwhile.
    """
    hashes.adopt_seed(seed)
    try:
        with _opened(range_, folder) as (source, base):
            return _found(source, base, range_, text, linked=linked)
    except RangeError as error:
        return RangeLines(trouble=str(error))
    except OSError as error:
        return RangeLines(trouble=f"{range_.path} cannot be read: {reason_of(error)}.")


@contextlib.contextmanager
def _opened(range_: ByteRange, folder: str | None) -> Generator[tuple[SourceFile, int]]:
    """A source that holds a stretch with what is needed around it, and where its first byte lies in the log."""
    if "://" not in range_.path:
        source = SourceFile(Path(range_.path))
        try:
            yield source, 0
        finally:
            source.close()
        return
    from fsspec.core import url_to_fs

    store, name = url_to_fs(range_.path)
    first = max(0, range_.start - _LEAD_BYTES)
    with tempfile.TemporaryDirectory(prefix="context-inspector-", dir=folder) as here:
        path = Path(here) / name.rpartition("/")[2]
        try:
            data = store.cat_file(name, start=first, end=range_.stop)
            while not data.endswith(b"\n") and first + len(data) < range_.size:
                more = store.cat_file(
                    name, start=first + len(data), end=min(range_.size, first + len(data) + (1 << 20))
                )
                end = more.find(b"\n") + 1
                data += more[:end] if end else more
        except Exception as error:  # each store has its own
            raise RangeError(f"{range_.path} cannot be fetched: {reason_of(error)}.") from error
        path.write_bytes(data)
        source = SourceFile(path)
        try:
            yield source, first
        finally:
            source.close()


def _found(source: SourceFile, base: int, range_: ByteRange, text: str, *, linked: bool) -> RangeLines:
    if not range_.start and scanner_for(source) is not None:
        raise RangeError(f"{range_.path} is one JSON document and has no lines to cut. `export` takes messages of it.")
    capture = Capture()
    capture.add_source(source)
    start, stop = range_.start - base, min(source.size, range_.stop - base)
    for at in range(max(0, start - _LEAD_BYTES), stop, _PART_BYTES):
        block = read_part(source, 0, at, min(stop, at + _PART_BYTES))
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
    chosen = filter_.mask(_unanalysed(capture), rows)
    offsets, lengths = (capture.columns[name][:].astype(np.int64) for name in ("offset", "length"))
    wanted = dict(zip(offsets[chosen].tolist(), lengths[chosen].tolist(), strict=True))
    for message in rows[chosen].tolist():
        wanted.update((copy.offset, copy.length) for copy in capture.deliveries.of(message))
    own = sorted(offset for offset in wanted if start <= offset < stop)
    breaks = _line_ends(source, start, stop)
    found = RangeLines(
        len(breaks),
        np.array(own, np.int64) + base,
        np.searchsorted(breaks, np.array(own, np.int64)).astype(np.int64),
        tuple(source.read(offset, wanted[offset]).strip() for offset in own),
    )
    if linked:
        found.links = _links(capture, chosen, offsets, start, stop, base, breaks)
    return found


def _unanalysed(capture: Capture) -> Analysis:
    """An analysis that has looked at nothing, of messages none of which is in a stream."""
    analysis = Analysis(capture)
    analysis.streams.columns.append({"run": 0}, len(capture))
    return analysis


def _refuse_frames(filter_: DisplayFilter, flags: NDArray[Any], path: str) -> None:
    """Raise RangeError where a filter asks of frames what only the opening of their stream says."""
    asks = filter_.fields & _OF_FRAMES or (filter_.expression is not None and any(
        isinstance(one, TextSearch) for one in _terms(filter_.expression)
    ))  # fmt: skip
    if asks and "stream" not in filter_.fields and bool((flags & np.uint32(Flag.FRAME.value)).any()):
        raise RangeError(
            f"{path} holds frames of streams: whose they are and what they say together only the whole log tells. "
            "Add && !stream to the filter to leave them out."
        )


def _line_ends(source: SourceFile, start: int, stop: int) -> NDArray[np.int64]:
    """(n,) where lines end in a stretch."""
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
    known = np.array([capture.ids.hash_in(space, capture.strings[code]) if code else 0
                      for space, code in within.T.tolist()], np.uint64)  # fmt: skip
    correlated = np.flatnonzero(columns["flags"][here] & np.uint32(Flag.CORRELATED.value))
    pairs = [(place, one) for place in correlated.tolist() for one in capture.hashes_named(int(here[place]))]
    return Links(
        offsets[here] + base, columns["length"][here].astype(np.int64),
        np.searchsorted(breaks, offsets[here]).astype(np.int64), columns["id_hash"][here].astype(np.uint64),
        known[which.reshape(-1)] if len(here) else np.empty(0, np.uint64),
        np.array([place for place, _ in pairs], np.int64), np.array([one for _, one in pairs], np.uint64), chosen[here],
    )  # fmt: skip
