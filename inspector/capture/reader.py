"""Bytes to blocks of columns. Pure: the same bytes give the same messages, however they were cut into blocks.

A block has its own strings, numbered from 1 in the order seen; the capture renumbers them when it takes the
block in. So blocks can be read anywhere, also in another process.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from inspector.capture.columns import MESSAGE_COLUMNS, Array
from inspector.capture.flags import Flag
from inspector.capture.hashes import NO_HASH, hash_bytes, hash_text
from inspector.capture.strings import InternTable
from inspector.protocol import calls, kinds
from inspector.protocol.formats import capture_file, read_line_as
from inspector.protocol.header import ABSENT, Header, NotAnObjectError, decode_json
from inspector.protocol.record import Record, Shape
from inspector.protocol.times import NO_TIME, parse_time

_BOM = b"\xef\xbb\xbf"
JOINING_EVENTS = frozenset({"delivered", "rejected"})
"""Events of a gateway log whose records are copies of a message."""

STRING_COLUMNS = (
    "kind", "kind_raw", "sender", "context", "method", "target", "space", "protocol", "direction", "stream",
    "participant", "event",
)  # fmt: skip
_HASH_COLUMNS = ("id_hash", "correlation_hash", "rpc_hash")

_ENVELOPE, _RPC, _NOTHING = Shape.ENVELOPE, Shape.RPC, Shape.NOTHING
# IntFlag does its arithmetic in Python; a row of columns wants plain numbers.
_ERROR, _HAS_META, _NO_ID = (f.value for f in (Flag.ERROR, Flag.HAS_META, Flag.NO_ID))
_CORRELATED, _MANY, _SENT = (f.value for f in (Flag.CORRELATED, Flag.MANY_CORRELATIONS, Flag.SENT))


@dataclass(slots=True)
class Block:
    """Records of one stretch of a source, in order.

    Attributes:
        columns: one array per name of MESSAGE_COLUMNS, plus `fold` (uint64, hash of what a gateway log's copies
            share, NO_HASH where copies never fold), `participant` and `event` (ids into `strings`).
        strings, to_sets: what the ids in the columns stand for, in no particular order.
        formats: lines each format knew; None counts the unreadable ones.
        origin: a capture's first line, when it lies in this block.
        stop: offset in bytes after the last line read.
    """

    columns: dict[str, Array]
    strings: InternTable[str]
    to_sets: InternTable[tuple[str, ...]]
    formats: Counter[str | None] = field(default_factory=Counter)
    origin: dict[str, Any] | None = None
    stop: int = 0

    def __len__(self) -> int:
        return len(self.columns["offset"])


_ROW = (*(name for name in MESSAGE_COLUMNS if name != "source"), "fold", "participant", "event")
"""Members of a row, in order: a column's value, or the text that it will stand for."""
_DTYPES = {**MESSAGE_COLUMNS, "fold": np.uint64}
_Row = tuple[Any, ...]


class BlockReader:
    """Fills one block from lines."""

    def __init__(self, source: int = 0) -> None:
        self._source = source
        # Row after row in one list: tuples kept by the thousand would each be looked at by the garbage collector.
        self._values: list[Any] = []
        self._folds: set[int] = set()
        self._formats: Counter[str | None] = Counter()
        self._origin: dict[str, Any] | None = None

    def read(self, data: bytes, offset: int) -> Block:
        """Read whole lines; a last line without an end counts as one.

        Args:
            data: the bytes; may start with a byte order mark when offset is 0.
            offset: of the first byte of `data` in its source.
        """
        position, stop = offset, offset + len(data)
        if offset == 0 and data.startswith(_BOM):
            data, position = data[3:], 3
        for line in data.split(b"\n"):
            bare = line.rstrip(b"\r \t")
            if bare.strip():
                self._line(bare, position)
            position += len(line) + 1
        return self._block(stop)

    def _block(self, stop: int) -> Block:
        strings: InternTable[str] = InternTable("")
        to_sets: InternTable[tuple[str, ...]] = InternTable(())
        count = len(self._values) // len(_ROW)
        columns: dict[str, Array] = {"source": np.full(count, self._source, MESSAGE_COLUMNS["source"])}
        for place, name in enumerate(_ROW):
            values = self._values[place :: len(_ROW)]
            if name in STRING_COLUMNS:
                columns[name] = strings.intern_all(values, count)
            elif name == "to_set":
                columns[name] = to_sets.intern_all(values, count)
            elif name in _HASH_COLUMNS:
                hashes = (hash_text(value) if value is not None else NO_HASH for value in values)
                columns[name] = np.fromiter(hashes, np.uint64, count)
            else:
                columns[name] = np.fromiter(values, _DTYPES[name], count)
        return Block(columns, strings, to_sets, self._formats, self._origin, stop)

    def _line(self, line: bytes, offset: int) -> None:
        record, known_as = read_line_as(line)
        self._formats[known_as] += 1
        if record.shape is _NOTHING:
            if record.header is not None and record.header.ctxcap is not ABSENT:
                self._origin = _origin(line)
            return
        flags = _SHAPE_FLAGS[record.shape]
        if known_as == capture_file.LABEL and record.direction == "out":
            flags |= _SENT
        self._values += self._row(record, line, offset, flags)

    def _row(self, record: Record, line: bytes, offset: int, flags: int) -> _Row:
        header = record.header
        if record.shape is _ENVELOPE and header is not None:
            fold = _fold_hash(record, header)
            if fold in self._folds and record.event in JOINING_EVENTS:
                return self._copy(record, line, offset, fold)
            if fold:
                self._folds.add(fold)
            return self._envelope(record, header, line, offset, flags, fold)
        if record.shape is _RPC and header is not None:
            return self._rpc(record, header, line, offset, flags)
        call, sender = calls.Call(""), None
        if record.shape is Shape.JOIN and header is not None:
            announced = header.participantId if isinstance(header.participantId, str) else None
            call, sender = calls.Call(kinds.JOIN), record.participant or announced
        elif record.shape is Shape.STREAM:
            call = calls.Call(kinds.FRAME, stream=record.stream_id)
        return self._assemble(record, line, offset, flags, call, sender=sender)

    def _copy(self, record: Record, line: bytes, offset: int, fold: int) -> _Row:
        """A copy of what this block holds already: it adds a delivery, and no more is read of it."""
        return self._assemble(record, line, offset, 0, _NO_CALL, fold=fold)

    def _envelope(
        self, record: Record, header: Header, line: bytes, offset: int, flags: int, fold: int
    ) -> _Row:  # fmt: skip
        raw_kind = header.kind if isinstance(header.kind, str) else None
        call = calls.read_call(raw_kind, header) if raw_kind is not None else calls.Call("")
        sender = header.sender if isinstance(header.sender, str) else None
        if sender is None and (record.event == "received" or call.kind == kinds.JOIN):
            sender = record.participant or call.joiner
        if header.id is ABSENT or header.id is None:
            flags |= _NO_ID
        context, context_flags = _context_key(header.context)
        correlation = correlations(header)
        if len(correlation) > 1:
            flags |= _MANY
        return self._assemble(
            record, line, offset, flags | context_flags, call,
            sender=sender, to=recipients(header.to) or None, raw_kind=raw_kind, context=context,
            protocol=header.protocol if isinstance(header.protocol, str) else None, ts_ns=parse_time(header.ts),
            identifier=header.id if isinstance(header.id, str) else None,
            correlation=correlation[0] if correlation else None, fold=fold,
        )  # fmt: skip

    def _rpc(self, record: Record, header: Header, line: bytes, offset: int, flags: int) -> _Row:
        name = kinds.REQUEST if isinstance(header.method, str) else kinds.RESPONSE
        call = calls.rpc_call(name, calls.payload_of_rpc(header))
        sender, arrow, receiver = (record.direction or "").partition("->")
        to = (receiver.strip(),) if arrow and receiver.strip() else None
        return self._assemble(record, line, offset, flags, call, sender=(arrow and sender.strip()) or None, to=to)

    def _assemble(
        self, record: Record, line: bytes, offset: int, flags: int, call: calls.Call, *,
        sender: str | None = None, to: tuple[str, ...] | None = None, raw_kind: str | None = None,
        context: str | None = None, protocol: str | None = None, ts_ns: int = NO_TIME, identifier: str | None = None,
        correlation: str | None = None, fold: int = NO_HASH,
    ) -> _Row:  # fmt: skip
        """One row, in the order of _ROW."""
        if call.failed:
            flags |= _ERROR
        if call.has_meta:
            flags |= _HAS_META
        if correlation is not None:
            flags |= _CORRELATED
        return (
            offset, len(line), record.time_ns if record.time_ns != NO_TIME else ts_ns, ts_ns,
            call.kind, raw_kind, sender, to, context, call.method, call.target, record.space, protocol,
            record.direction, call.stream, identifier, correlation, call.rpc_id,
            hash_bytes(record.raw) if fold else NO_HASH, len(record.raw), flags,
            fold, record.participant, record.event,
        )  # fmt: skip


_NO_CALL = calls.Call("")
_FLAGS = {
    Shape.RPC: Flag.RPC,
    Shape.JOIN: Flag.JOIN,
    Shape.ERROR: Flag.ERROR,
    Shape.STREAM: Flag.FRAME,
    Shape.LOG_ONLY: Flag.LOG_ONLY,
    Shape.GAP: Flag.GAP,
    Shape.UNREADABLE: Flag.UNREADABLE,
}
_SHAPE_FLAGS = tuple(int(_FLAGS.get(shape, 0)) for shape in Shape)
"""Flags by shape, which is a number."""


def _fold_hash(record: Record, header: Header) -> int:
    """What the copies of an envelope in a gateway log share; NO_HASH where it has no id, or is in no such log."""
    if record.event is None or header.id is ABSENT or header.id is None:
        return NO_HASH
    parts = (record.space, header.id, header.sender, header.ts, header.kind)
    joined = "\0".join([p if isinstance(p, str) else "\0" for p in parts])
    # Numbers (7 is not "7") and values with a NUL of their own are told apart the slow way.
    return hash_text(joined if joined.count("\0") == len(parts) - 1 else repr(parts))


def _origin(line: bytes) -> dict[str, Any] | None:
    try:
        origin = decode_json(line)
    except NotAnObjectError:
        return None
    return origin if isinstance(origin, dict) else None


def recipients(value: object) -> tuple[str, ...]:
    """`to` in its normal form (protocols.md 2): a string is a list of one, anything else but a list is nobody."""
    if isinstance(value, str):
        return (value,)
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


def correlations(header: Header) -> list[str]:
    """`correlation_id` in its normal form: a list of strings; also read from the draft's `correlationId`."""
    value: object = header.correlation_id if header.correlation_id is not ABSENT else header.correlationId
    if isinstance(value, str):
        return [value]
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


OBJECT_KEY = "\0"
"""First character of a context key that is an opaque id (object form), not a path."""


def _context_key(value: object) -> tuple[str | None, int]:
    """The observed key of a context and the flags that go with it (protocols.md 6, 7)."""
    if value is ABSENT or value is None:
        return None, 0
    if isinstance(value, str):
        # A path that begins as the keys of opaque ids do is shown with the picture of what it begins with.
        return (f"\N{SYMBOL FOR NULL}{value[1:]}" if value.startswith(OBJECT_KEY) else value), 0
    if isinstance(value, dict):
        identifier = object_key(value)
        if identifier is not None:
            return OBJECT_KEY + identifier, Flag.OBJECT_CONTEXT.value
    return None, Flag.BAD_CONTEXT.value


def object_key(context: Mapping[str, Any]) -> str | None:
    """The id of a context in object form; an operation names it by `correlation_id`, else `topic` (protocols.md 7)."""
    identifier = context.get("id") or context.get("correlation_id") or context.get("topic")
    return identifier if isinstance(identifier, str) else None
