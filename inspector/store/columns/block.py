"""Block: decoded records of one stretch of a source as columns, with connections and server ends."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from inspector.formats.guards import Trip
from inspector.store.columns.columns import Array
from inspector.store.columns.extracts import Extracts
from inspector.store.columns.intern_table import InternTable
from inspector.store.columns.name_sets import BlockNameSets

TICK, REPLAYED = "tick", "replayed"
"""Event names that a reader assigns itself: a gateway's ticks, and events replayed to a client."""
JOINING_EVENTS = frozenset({"delivered", "rejected", TICK, REPLAYED})
"""Events of a gateway log whose records are copies of a message, plus ticks and events that may be replayed."""
NO_MESSAGE = "a line of a capture without a message, in a batch of messages"
STRING_COLUMNS = (
    "kind", "kind_raw", "sender", "context", "method", "target", "space", "protocol", "direction", "stream",
    "participant", "event",
)  # fmt: skip

OBJECT_KEY = "\0"
"""First character of a context key that is an opaque id (object form) instead of a path."""

BLOCK_COLUMNS: dict[str, Any] = {
    "source": np.uint16,  # index into Capture.sources
    "offset": np.int64,  # bytes, of the record's line in its source
    "length": np.uint32,  # bytes, without the line end
    "time_ns": np.int64,
    "ts_ns": np.int64,
    "kind": np.uint32,
    "kind_raw": np.uint32,
    "sender": np.uint32,
    "to_set": np.uint32,
    "context": np.uint32,
    "method": np.uint32,
    "target": np.uint32,
    "space": np.uint32,
    "protocol": np.uint32,
    "direction": np.uint32,
    "stream": np.uint32,
    "id_hash": np.uint64,
    "correlation_hash": np.uint64,
    "rpc_hash": np.uint64,
    "content_hash": np.uint64,
    "size": np.uint32,
    "flags": np.uint32,
    "fold": np.uint64,  # hash of the properties that a gateway log's copies share; NO_HASH if copies never fold
    "participant": np.uint32,
    "event": np.uint32,
    "connection": np.uint16,  # as the line gives it; the capture renumbers it
    "part": np.uint16,  # 1-based index among the messages of one record; 0 if the record is itself the message
    "alias_hash": np.uint64,  # of the record's own id if the message has another; NO_HASH
    "said": np.uint64,  # hash of a record's message, equal for its copies; NO_HASH
    "told": np.uint64,  # hash of the id of a call, or of a result's call, equal in every source; NO_HASH
    "words": np.uint64,  # hash of a message's text, equal in a session and on its wire; NO_HASH
    "given": np.uint64,  # hash of the arguments of a call with an id of its own on a wire; NO_HASH
}
"""Columns of a block: those of a message (`MESSAGE_COLUMNS`) plus columns needed for folding."""

TRANSCRIPT_COLUMNS = ("alias_hash", "said", "told", "words", "given")
"""Columns present only if some record of the block contains several messages."""


class OpenedConnection(NamedTuple):
    """Marker for a reopened connection."""

    place: int
    """Place of the next record in the block."""
    source: int
    src: int
    """The connection's number in the source."""


class ServerEnd(NamedTuple):
    """End of a tapped server."""

    reason: str
    has_crashed: bool
    """The server crashed."""


RUNNING = ServerEnd("", False)
"""The server still runs, or was started again."""


@dataclass(slots=True)
class Block:
    """Records of one stretch of a source, in order.

    Attributes:
        columns: one array per name of BLOCK_COLUMNS, in its dtype.
        strings, to_sets: values of the ids in the columns, in no particular order.
        extracts: record data that passes read beside the columns, by place of the record in the block.
        formats: number of lines per format; None counts the unreadable lines.
        origin: a capture's header line, if it lies in this block.
        stop: offset in bytes after the last line read.
        opened: connections that began in this block, in order.
        ended: end of its last connection as a tap reports it; RUNNING if a connection began after that.
        trips: parts of plug-ins that failed in the process that read it.
        in_order: some lines may need the order of their source (`Reassembler`), and the reader did not provide it.
    """

    columns: dict[str, Array]
    strings: InternTable[str]
    to_sets: BlockNameSets
    extracts: Extracts = field(default_factory=Extracts)
    formats: Counter[str | None] = field(default_factory=Counter)
    origin: dict[str, Any] | None = None
    stop: int = 0
    opened: list[OpenedConnection] = field(default_factory=list)
    ended: ServerEnd | None = None
    in_order: bool = False
    trips: tuple[Trip, ...] = ()

    def __len__(self) -> int:
        return len(self.columns["offset"])

    @property
    def sources(self) -> list[int]:
        """Source ids of its records, ascending."""
        sources = self.columns["source"]
        is_one = len(sources) and (sources == sources[0]).all()
        return [int(sources[0])] if is_one else np.unique(sources).tolist()
