"""Records of one stretch of a source as columns, before a capture takes them in."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from inspector.store.columns.columns import Array
from inspector.store.columns.extracts import Extracts
from inspector.store.columns.name_sets import BlockSets
from inspector.store.columns.strings import InternTable

TICK, REPLAYED = "tick", "replayed"
"""Events of records that a reader names itself: a gateway's ticks, and events replayed to a client."""
JOINING_EVENTS = frozenset({"delivered", "rejected", TICK, REPLAYED})
"""Events of a gateway log whose records are copies of a message; ticks, and events that may come again."""
NO_MESSAGE = "a line of a capture without a message, in a batch of messages"
STRING_COLUMNS = (
    "kind", "kind_raw", "sender", "context", "method", "target", "space", "protocol", "direction", "stream",
    "participant", "event",
)  # fmt: skip

OBJECT_KEY = "\0"
"""First character of a context key that is an opaque id (object form), not a path."""

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
    "fold": np.uint64,  # hash of what a gateway log's copies share; NO_HASH where copies never fold
    "participant": np.uint32,
    "event": np.uint32,
    "connection": np.uint16,  # as the line says; the capture numbers them anew
    "part": np.uint16,  # of a record that means messages, which of them it is, from 1; 0 where it is one itself
    "alias_hash": np.uint64,  # of the record's own id, where the message has another; NO_HASH
    "said": np.uint64,  # of a record's message, equal where it is copied; NO_HASH
    "told": np.uint64,  # of a call's id, or of that of a result's call, equal in every source; NO_HASH
    "words": np.uint64,  # of what a message says, equal in a session and on its wire; NO_HASH
}
"""Columns of a block: those of a message (capture.columns.MESSAGE_COLUMNS), and what folding needs."""

OF_TRANSCRIPTS = ("alias_hash", "said", "told", "words")
"""Columns that a block has only where records in it mean messages."""


class Opened(NamedTuple):
    """A mark that a connection begins anew."""

    place: int
    """Of the record that comes next."""
    source: int
    src: int
    """The connection's number in the source."""


class Ended(NamedTuple):
    """How a tapped server ended."""

    reason: str
    badly: bool
    """It crashed."""


RUNNING = Ended("", False)
"""It has not, or was started again."""


@dataclass(slots=True)
class Block:
    """Records of one stretch of a source, in order.

    Attributes:
        columns: one array per name of BLOCK_COLUMNS, in its dtype.
        strings, to_sets: what the ids in the columns stand for, in no particular order.
        extracts: what passes read of the records beside columns, by place of the record in the block.
        formats: lines each format knew; None counts the unreadable ones.
        origin: a capture's first line, when it lies in this block.
        stop: offset in bytes after the last line read.
        opened: connections that began in this block, in order.
        ended: how its last connection ended, where a tap says so; RUNNING where one began after that.
        in_order: its lines may have to be seen in the order of their source (`Wires`), which who read it did not.
    """

    columns: dict[str, Array]
    strings: InternTable[str]
    to_sets: BlockSets
    extracts: Extracts = field(default_factory=Extracts)
    formats: Counter[str | None] = field(default_factory=Counter)
    origin: dict[str, Any] | None = None
    stop: int = 0
    opened: list[Opened] = field(default_factory=list)
    ended: Ended | None = None
    in_order: bool = False

    def __len__(self) -> int:
        return len(self.columns["offset"])

    @property
    def sources(self) -> list[int]:
        """The sources that its records lie in, ascending."""
        sources = self.columns["source"]
        is_one = len(sources) and (sources == sources[0]).all()
        return [int(sources[0])] if is_one else np.unique(sources).tolist()
