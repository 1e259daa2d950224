"""Bytes to blocks of columns. Pure: the same bytes give the same block, however they were cut into blocks.

A block has its own strings, numbered from 1 in the order seen; the capture renumbers them when it takes the
block in. So blocks can be read anywhere, also in another process.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import msgspec
import numpy as np

from inspector.capture.columns import MESSAGE_COLUMNS, Array
from inspector.capture.flags import Flag
from inspector.capture.hashes import NO_HASH, hash_bytes, hash_text
from inspector.capture.strings import InternTable
from inspector.protocol import calls, kinds
from inspector.protocol.formats import capture_file, read_line_as
from inspector.protocol.header import ABSENT, Header
from inspector.protocol.record import Record, Shape
from inspector.protocol.times import NO_TIME, parse_time

_BOM = b"\xef\xbb\xbf"
_JOINING_EVENTS = ("delivered", "rejected")

STRING_COLUMNS = (
    "kind",
    "kind_raw",
    "sender",
    "context",
    "method",
    "target",
    "space",
    "protocol",
    "direction",
    "stream",
)


@dataclass(slots=True)
class Block:
    """Records of one stretch of a source, in order.

    Attributes:
        columns: one array per name of MESSAGE_COLUMNS, plus `fold` (uint64, hash of what a gateway log's copies
            share, NO_HASH where copies never fold), `participant` and `event` (ids into `strings`).
        strings, to_sets: what the ids in the columns stand for.
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


_ROW_COLUMNS = (*MESSAGE_COLUMNS, "fold", "participant", "event")
_DTYPES = {**MESSAGE_COLUMNS, "fold": np.uint64, "participant": np.uint32, "event": np.uint32}


class BlockReader:
    """Fills one block from lines."""

    def __init__(self, source: int = 0) -> None:
        self._source = source
        self._rows: list[tuple[int, ...]] = []
        self._strings: InternTable[str] = InternTable("")
        self._to_sets: InternTable[tuple[str, ...]] = InternTable(())
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
        values = zip(*self._rows, strict=True) if self._rows else ((),) * len(_ROW_COLUMNS)
        columns = {n: np.fromiter(v, _DTYPES[n], len(self._rows)) for n, v in zip(_ROW_COLUMNS, values, strict=True)}
        return Block(columns, self._strings, self._to_sets, self._formats, self._origin, stop)

    def _line(self, line: bytes, offset: int) -> None:
        record, known_as = read_line_as(line)
        self._formats[known_as] += 1
        if record.shape is Shape.NOTHING:
            if record.header is not None and record.header.ctxcap is not ABSENT:
                origin = msgspec.json.decode(line)
                self._origin = origin if isinstance(origin, dict) else None
            return
        sent = Flag.SENT if known_as == capture_file.LABEL and record.direction == "out" else 0
        self._rows.append(self._row(record, line, offset, _SHAPE_FLAGS[record.shape] | sent))

    def _string(self, value: object) -> int:
        return self._strings.intern(value) if isinstance(value, str) else 0

    def _row(self, record: Record, line: bytes, offset: int, flags: int) -> tuple[int, ...]:
        header = record.header
        if record.shape is Shape.ENVELOPE and header is not None:
            return self._envelope(record, header, line, offset, flags)
        if record.shape is Shape.RPC and header is not None:
            return self._rpc(record, header, line, offset, flags)
        call, sender = calls.Call(""), None
        if record.shape is Shape.JOIN and header is not None:
            announced = header.participantId if isinstance(header.participantId, str) else None
            call, sender = calls.Call(kinds.JOIN), record.participant or announced
        elif record.shape is Shape.STREAM:
            call = calls.Call(kinds.FRAME, stream=record.stream_id)
        return self._assemble(record, line, offset, flags, call, sender=sender)

    def _envelope(self, record: Record, header: Header, line: bytes, offset: int, flags: int) -> tuple[int, ...]:
        raw_kind = header.kind if isinstance(header.kind, str) else None
        call = calls.read_call(raw_kind, header) if raw_kind is not None else calls.Call("")
        sender = header.sender if isinstance(header.sender, str) else None
        if sender is None and (record.event == "received" or call.kind == kinds.JOIN):
            sender = record.participant or call.joiner
        identifier = header.id if isinstance(header.id, str) else None
        flags |= call.failed and Flag.ERROR
        flags |= call.has_meta and Flag.HAS_META
        flags |= header.id in (ABSENT, None) and Flag.NO_ID
        if record.event == "received":
            flags |= Flag.RECEIVED
        context, context_flags = _context_key(header.context)
        correlation = correlations(header)
        flags |= len(correlation) > 1 and Flag.MANY_CORRELATIONS
        fold = NO_HASH
        if record.event is not None and identifier is not None:
            parts = (record.space, identifier, header.sender, header.ts, header.kind)
            fold = hash_text("\0".join(p if isinstance(p, str) else repr(p) for p in parts))
        return self._assemble(
            record, line, offset, flags | context_flags, call,
            sender=sender, to=recipients(header.to), raw_kind=raw_kind, context=context, protocol=header.protocol,
            ts_ns=parse_time(header.ts), identifier=identifier, correlation=next(iter(correlation), None), fold=fold,
        )  # fmt: skip

    def _rpc(self, record: Record, header: Header, line: bytes, offset: int, flags: int) -> tuple[int, ...]:
        name = kinds.REQUEST if isinstance(header.method, str) else kinds.RESPONSE
        call = calls.rpc_call(name, calls.payload_of_rpc(header))
        flags |= call.failed and Flag.ERROR
        flags |= call.has_meta and Flag.HAS_META
        sender, arrow, receiver = (record.direction or "").partition("->")
        to = (receiver.strip(),) if arrow and receiver.strip() else ()
        return self._assemble(record, line, offset, flags, call, sender=(arrow and sender.strip()) or None, to=to)

    def _assemble(
        self, record: Record, line: bytes, offset: int, flags: int, call: calls.Call, *,
        sender: str | None = None, to: tuple[str, ...] = (), raw_kind: str | None = None, context: str | None = None,
        protocol: object = None, ts_ns: int = NO_TIME, identifier: str | None = None, correlation: str | None = None,
        fold: int = NO_HASH,
    ) -> tuple[int, ...]:  # fmt: skip
        """One row, in the order of _ROW_COLUMNS."""
        string = self._string
        return (
            self._source, offset, len(line),
            record.time_ns if record.time_ns != NO_TIME else ts_ns, ts_ns,
            string(call.kind), string(raw_kind), string(sender), self._to_sets.intern(to) if to else 0,
            string(context), string(call.method), string(call.target), string(record.space), string(protocol),
            string(record.direction), string(call.stream),
            hash_text(identifier) if identifier is not None else NO_HASH,
            hash_text(correlation) if correlation is not None else NO_HASH,
            hash_text(call.rpc_id) if call.rpc_id is not None else NO_HASH,
            hash_bytes(record.raw) if fold else NO_HASH,
            len(record.raw), flags | (Flag.CORRELATED if correlation is not None else 0),
            fold, string(record.participant), string(record.event),
        )  # fmt: skip


_SHAPE_FLAGS: dict[Shape, int] = {
    Shape.ENVELOPE: 0,
    Shape.RPC: Flag.RPC,
    Shape.JOIN: Flag.JOIN,
    Shape.ERROR: Flag.ERROR,
    Shape.STREAM: Flag.FRAME,
    Shape.LOG_ONLY: Flag.LOG_ONLY,
    Shape.GAP: Flag.GAP,
    Shape.UNREADABLE: Flag.UNREADABLE,
    Shape.NOTHING: 0,
}


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
        return value, 0
    if isinstance(value, dict):
        identifier = value.get("id") or value.get("correlation_id") or value.get("topic")
        if isinstance(identifier, str):
            return OBJECT_KEY + identifier, Flag.OBJECT_CONTEXT
    return None, Flag.BAD_CONTEXT
