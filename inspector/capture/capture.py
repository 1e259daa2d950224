"""All messages of one document: files on disk, columns in memory, and the way back from a row to its bytes.

Folding (protocols.md 11, RULE): a `received` line starts a message; a `delivered` or `rejected` line joins the
latest message with the same (space, id, from, ts, kind), or starts one; a line whose envelope has no id never
folds. A message is read from its first record for ever; later copies only add deliveries.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.capture.columns import DELIVERY_COLUMNS, MESSAGE_COLUMNS, Array, GrowingColumns
from inspector.capture.flags import Flag
from inspector.capture.hashes import NO_HASH, NO_ROW, HashIndex, hash_text
from inspector.capture.reader import JOINING_EVENTS, STRING_COLUMNS, Block, correlations
from inspector.capture.sources import SourceFile
from inspector.capture.strings import InternTable
from inspector.protocol.formats import read_line
from inspector.protocol.header import ABSENT, NotAnObjectError, decode_json
from inspector.protocol.record import Record, Shape, unreadable
from inspector.protocol.text import compact

_CACHED_RECORDS = 512
_CACHED_SIZE = 1 << 20


@dataclass(frozen=True, slots=True)
class Appended:
    """What an append did: messages `start` to `stop` are new; `touched` are earlier ones that gained a delivery."""

    start: int
    stop: int
    touched: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Delivery:
    """One copy of a message in a gateway log."""

    participant: str | None
    event: str
    source: int
    offset: int
    length: int


class Capture:
    """Messages as columns, in arrival order.

    Attributes:
        strings: what the string ids of the columns stand for; id 0 is absent.
        to_sets: tuples of recipients by id; id 0 is nobody named.
        columns: arrays of capture.columns.MESSAGE_COLUMNS, one value per message.
        deliveries: arrays of DELIVERY_COLUMNS, in log order.
        sources: the files records lie in.
        record_count: records read, folded ones included.
        unreadable_count: messages nothing could be made of.
    """

    def __init__(self) -> None:
        self.strings: InternTable[str] = InternTable("")
        self.to_sets: InternTable[tuple[str, ...]] = InternTable(())
        self.columns = GrowingColumns(MESSAGE_COLUMNS)
        self.deliveries = GrowingColumns(DELIVERY_COLUMNS)
        self.sources: list[SourceFile] = []
        self.ids = HashIndex()
        self.record_count = 0
        self.unreadable_count = 0
        self._folds = HashIndex()
        self._order: NDArray[np.int64] = np.empty(0, np.int64)
        self._ordered: NDArray[np.uint32] = np.empty(0, np.uint32)
        self._cache: OrderedDict[int, Record] = OrderedDict()

    def __len__(self) -> int:
        return len(self.columns)

    # Filling

    def add_source(self, source: SourceFile) -> int:
        """Add a file and return its number."""
        self.sources.append(source)
        return len(self.sources) - 1

    def append(self, block: Block) -> Appended:
        """Take in the records of a block. Called on the loop's thread; O(records in the block)."""
        start = len(self)
        self._note_source(block)
        count = len(block)
        self.record_count += count
        if not count:
            return Appended(start, start, np.empty(0, np.int64))
        columns = self._renumbered(block)
        message_of, starts = self._fold(columns, start)
        self.columns.append({name: columns[name][starts] for name in MESSAGE_COLUMNS})
        self.unreadable_count += int(np.count_nonzero(self.columns["flags"][start:] & Flag.UNREADABLE))
        rows = np.arange(start, len(self), dtype=np.uint32)
        self.ids.add(self.columns["id_hash"][start:], rows)
        folding = columns["fold"][starts]
        if folding.any():
            self._folds.add(folding, rows)
        touched = self._deliver(columns, message_of, start)
        return Appended(start, len(self), touched)

    def _note_source(self, block: Block) -> None:
        source = self.sources[int(block.columns["source"][0])] if len(block) else self.sources[-1]
        source.formats.update(block.formats)
        if block.origin is not None:
            source.origin = block.origin

    def _renumbered(self, block: Block) -> dict[str, Array]:
        """The block's columns with the capture's own string ids."""
        ids = self.strings.intern_all([None, *block.strings[1:]], len(block.strings))
        sets = self.to_sets.intern_all([None, *block.to_sets[1:]], len(block.to_sets))
        columns = dict(block.columns)
        for name in STRING_COLUMNS:
            columns[name] = ids[columns[name]]
        columns["to_set"] = sets[columns["to_set"]]
        space = self._origin_space(int(columns["source"][0]))
        if space:
            columns["space"] = np.where(columns["space"] == 0, np.uint32(space), columns["space"])
        return columns

    def _origin_space(self, source: int) -> int:
        """A live capture's frames name no space: it is the one that was joined."""
        origin = self.sources[source].origin.get("origin", self.sources[source].origin)
        space = origin.get("space") if isinstance(origin, Mapping) else None
        return self.strings.intern(space) if isinstance(space, str) and space else 0

    def _fold(self, columns: Mapping[str, Array], start: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """For each record its message, and the records that start one."""
        events, folds = columns["event"], columns["fold"]
        count = len(events)
        joining = np.isin(events, [self.strings.find(e) or -1 for e in JOINING_EVENTS]) & (folds != NO_HASH)
        if not joining.any():
            return np.arange(start, start + count), np.arange(count)
        known = self._folds.latest(folds, np.full(count, np.iinfo(np.int64).max))
        latest: dict[int, int] = {}
        message_of = np.empty(count, np.int64)
        starts: list[int] = []
        for record, (fold, joins, before) in enumerate(
            zip(folds.tolist(), joining.tolist(), known.tolist(), strict=True)
        ):
            message = latest.get(fold, int(before)) if joins else NO_ROW
            if message == NO_ROW:
                message = start + len(starts)
                starts.append(record)
                if fold:
                    latest[fold] = message
            message_of[record] = message
        return message_of, np.array(starts, np.int64)

    def _deliver(self, columns: Mapping[str, Array], message_of: NDArray[np.int64], start: int) -> NDArray[np.int64]:
        """Record who got which copy; returns the earlier messages that changed."""
        delivered = np.flatnonzero(np.isin(columns["event"], [self.strings.find(e) or -1 for e in JOINING_EVENTS]))
        if not len(delivered):
            return np.empty(0, np.int64)
        messages = message_of[delivered]
        values = {name: columns[name][delivered] for name in DELIVERY_COLUMNS if name != "message"}
        self.deliveries.append({**values, "message": messages.astype(np.uint32)})
        flags = self.columns["flags"]
        copy = columns["content_hash"][delivered]
        first = self.columns["content_hash"][messages]
        flags[messages[(copy != first) & (copy != NO_HASH)]] |= np.uint32(Flag.COPIES_DIFFER)
        rejected = columns["event"][delivered] == (self.strings.find("rejected") or -1)
        flags[messages[rejected]] |= np.uint32(Flag.REJECTED)
        return np.unique(messages[messages < start])

    # Reading back

    def string(self, column: str, message: int) -> str | None:
        """A string column's value; None when it is absent."""
        found = int(self.columns[column][message])
        return self.strings[found] if found else None

    def to(self, message: int) -> tuple[str, ...]:
        """The recipients named; empty means everyone."""
        return self.to_sets[int(self.columns["to_set"][message])]

    def flags(self, message: int) -> Flag:
        """What the message is, as bits."""
        return Flag(int(self.columns["flags"][message]))

    def record_bytes(self, message: int) -> bytes:
        """The exact line the message was read from."""
        columns = self.columns
        source = self.sources[int(columns["source"][message])]
        return source.read(int(columns["offset"][message]), int(columns["length"][message]))

    def record(self, message: int) -> Record:
        """The message's record, read again from its file."""
        found = self._cache.get(message)
        if found is not None:
            self._cache.move_to_end(message)
            return found
        line = self.record_bytes(message)
        short = len(line) < int(self.columns["length"][message])
        found = unreadable(line, "its file has become shorter since it was opened") if short else read_line(line)
        if len(line) <= _CACHED_SIZE:
            self._cache[message] = found
            if len(self._cache) > _CACHED_RECORDS:
                self._cache.popitem(last=False)
        return found

    def envelope_bytes(self, message: int) -> bytes:
        """The envelope, JSON-RPC message or frame as written, without the log line around it."""
        return self.record(message).raw

    def envelope(self, message: int) -> Any:
        """The decoded envelope or JSON-RPC message; None when the message holds no JSON."""
        record = self.record(message)
        if record.shape in (Shape.UNREADABLE, Shape.STREAM):
            return None
        try:
            return decode_json(record.raw)
        except NotAnObjectError:
            return None

    def payload(self, message: int) -> dict[str, Any]:
        """The payload as a dict; a JSON-RPC message is its own payload; empty when there is none."""
        envelope = self.envelope(message)
        if not isinstance(envelope, dict):
            return {}
        if self.flags(message) & (Flag.RPC | Flag.LOG_ONLY | Flag.JOIN | Flag.GAP) or "payload" not in envelope:
            return envelope if "kind" not in envelope else {}
        payload = envelope["payload"]
        return payload if isinstance(payload, dict) else {}

    def reason(self, message: int) -> str | None:
        """Why the message is unreadable, or what its gap is about; None otherwise."""
        return self.record(message).reason

    def envelope_id(self, message: int) -> str | None:
        """The envelope's id; `local-N` stands for one that is missing; None for what is no envelope."""
        if self.flags(message) & Flag.NO_ID:
            return f"local-{message + 1}"
        record = self.record(message)
        if record.shape is not Shape.ENVELOPE or record.header is None or record.header.id is ABSENT:
            return None
        identifier = record.header.id
        return identifier if isinstance(identifier, str) else compact(identifier)

    def correlation_ids(self, message: int) -> list[str]:
        """The ids named in `correlation_id`, as written."""
        if not self.flags(message) & Flag.CORRELATED:
            return []
        header = self.record(message).header
        return correlations(header) if header is not None else []

    def find_id(self, identifier: str) -> list[int]:
        """Every message with this envelope id, ascending; confirmed against the records."""
        return [row for row in self.ids.rows(hash_text(identifier)) if self.envelope_id(row) == identifier]

    def deliveries_of(self, message: int) -> Iterator[Delivery]:
        """The copies of a message in a gateway log, in log order."""
        columns = self.deliveries
        for place in self._delivery_order(message):
            participant = int(columns["participant"][place])
            yield Delivery(
                self.strings[participant] if participant else None,
                self.strings[int(columns["event"][place])],
                int(columns["source"][place]),
                int(columns["offset"][place]),
                int(columns["length"][place]),
            )

    def _delivery_order(self, message: int) -> NDArray[np.int64]:
        """Places of a message's deliveries, through an order that is made once a log has been read."""
        column = self.deliveries["message"]
        if len(self._order) != len(column):
            self._order = np.argsort(column, kind="stable")
            self._ordered = column[self._order]
        low, high = np.searchsorted(self._ordered, [message, message + 1])
        return self._order[low:high]

    def recipients(self, message: int) -> list[str]:
        """Who got it, as far as a log says."""
        found = (d.participant for d in self.deliveries_of(message) if d.event == "delivered")
        return list(dict.fromkeys(p for p in found if p is not None))

    def close(self) -> None:
        """Close the files."""
        for source in self.sources:
            source.close()
