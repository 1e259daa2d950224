"""Resolves correlation ids that no message bears: they name a context, else a stream (docs/protocols.md 5).

The correlation pass links messages to messages. This pass handles only the messages that it could not link.
"""

from __future__ import annotations

import enum

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.arrays.unique_ints import sorted_unique
from inspector.analysis.passes.calls.correlation_pass import CorrelationPass
from inspector.analysis.passes.changed_rows import ChangedRows, Rows
from inspector.analysis.passes.contexts.context_pass import ContextPass
from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.protocol import kinds
from inspector.protocol.context_paths import normalise
from inspector.store.columns.block import OBJECT_KEY
from inspector.store.columns.columns import Array, GrowingColumns
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_ROW, HashIndex
from inspector.store.messages.capture import Capture

_CORRELATED = Flag.CORRELATED.value
_MAX_PREFIXES = 32  # limit of ancestors of one path that can be named


class NamedThing(enum.IntEnum):
    """The kind of thing that a message's correlation id names. A later message with that id turns it into a message."""

    NO_NAME = 0
    """It names no other message, and need not."""
    MESSAGE = 1
    LATER_MESSAGE = 2
    """The bearer of the id came after this message."""
    CONTEXT = 3
    STREAM = 4
    UNKNOWN_NAME = 5
    """No message, context or stream bears the id. For a response also: its request was never seen."""


class NamedPass:
    """Finds contexts and streams that correlation ids name.

    Builds its indexes only after a message names an id that no message bears. Most traffic has no such message.
    """

    def __init__(self, capture: Capture, correlation: CorrelationPass, contexts: ContextPass) -> None:
        self._capture = capture
        self._correlation = correlation
        self._contexts = contexts
        self._columns = GrowingColumns({"found": np.uint8})
        self._waiting = HashIndex()  # messages by the hashes of the ids they name (`MessageIds.hash_in_space`)
        self._names = {
            what: HashIndex() for what in _NAME_COLUMNS
        }  # the same hashes, of names; the rows have no meaning
        self._seen_names = {what: _SeenKeys() for what in _NAME_COLUMNS}
        self._indexed_stop = 0
        self._changed = ChangedRows()

    def take_changes(self) -> Rows:
        """Returns the messages with a changed `NamedThing`, and clears them."""
        return self._changed.take_rows()

    def feed(self, start: int, stop: int) -> None:
        """Processes messages `start` to `stop`, after the passes on contexts and correlation."""
        columns = self._capture.columns
        self._columns.append({"found": 0}, stop - start)
        loose = (columns["flags"][start:stop] & _CORRELATED != 0) & (
            self._correlation.columns["cause"][start:stop] == NO_ROW
        )
        rows = np.flatnonzero(loose) + start
        # Indexes of all names are built only after a first message needs them.
        if not len(rows) and not len(self._waiting):
            return
        self._index_names(stop)
        named = [self._correlation.hashes_named_by(row) for row in rows.tolist()]
        hashes = np.array([one for ones in named for one in ones], np.uint64)
        naming = np.repeat(rows, [len(ones) for ones in named])
        # A message that names both a stream and a context counts as naming the context.
        for what, names in self._names.items():  # the best last
            self._take(naming[names.latest_rows(hashes, _no_row_limit(hashes)) != NO_ROW], what)
        self._waiting.add(hashes, naming.astype(np.uint32))

    def _take(self, rows: Rows, what: NamedThing) -> None:
        found = self._columns["found"][rows]
        better = sorted_unique(rows[_RANKS[found] < _RANKS[what]])
        if len(better):
            self._columns.replace("found", better, what.value)
            self._changed.add_array(better)

    # Names of contexts and streams

    def _index_names(self, stop: int) -> None:
        """Indexes the names of contexts and streams in messages up to `stop`."""
        start, self._indexed_stop = self._indexed_stop, stop
        for what, column in _NAME_COLUMNS.items():
            keys = self._new_keys(what, column, start, stop)
            texts = [self._capture.strings[code] for code in (keys & 0xFFFFFFFF).tolist()]
            names = [_context_names(text) for text in texts] if column == "context" else [[text] for text in texts]
            spaces = np.repeat(keys >> 32, [len(each) for each in names])
            hashes = self._capture.ids.hashes_in_spaces(spaces, [name for each in names for name in each])
            # Contexts may also be known only as the parent of another one.
            if what is NamedThing.CONTEXT:
                hashes = np.concatenate((hashes, np.array(self._contexts.take_parents(), np.uint64)))
            self._add_names(sorted_unique(hashes), what)

    def _new_keys(self, what: NamedThing, column: str, start: int, stop: int) -> NDArray[np.int64]:
        """Returns each new pair of space and string in a column, packed as space << 32 | string."""
        codes = self._capture.columns[column][start:stop].astype(np.int64)
        spaces = self._capture.columns["space"][start:stop].astype(np.int64)
        return self._seen_names[what].new(sorted_unique((spaces << 32 | codes)[codes != 0]))

    def _add_names(self, hashes: NDArray[np.uint64], what: NamedThing) -> None:
        if not len(hashes):
            return
        names = self._names[what]
        new = hashes[names.latest_rows(hashes, _no_row_limit(hashes)) == NO_ROW] if len(names) else hashes
        names.add(new, np.zeros(len(new), np.uint32))
        if len(new) and len(self._waiting):
            _, rows = self._waiting.all_rows(new)
            self._take(rows, what)

    # Lookup

    def named(self, rows: slice | Array) -> Array:
        """Returns (k,) uint8 numbers of `NamedThing`. O(rows)."""
        links, source = self._correlation.columns, self._capture.columns
        cause = links["cause"][rows]
        own = np.arange(*rows.indices(len(source))) if isinstance(rows, slice) else rows
        found = self._columns["found"][rows]
        response = source["kind"][rows] == (self._capture.strings.find(kinds.RESPONSE) or -1)
        asked = (source["flags"][rows] & _CORRELATED != 0) | response
        loose = np.where(found != 0, found, np.where(asked, NamedThing.UNKNOWN_NAME, 0))
        # A request of the MEUP v0.2 draft may have its own name as correlation id. It then refers to no other message.
        themselves = self._correlation.self_named_rows()
        if len(themselves):
            loose = np.where(np.isin(own, themselves), NamedThing.NO_NAME, loose)
        linked = np.where(cause < own, NamedThing.MESSAGE, NamedThing.LATER_MESSAGE)
        return np.where(cause != NO_ROW, linked, loose).astype(np.uint8)

    def origins(self, row: int) -> list[int]:
        """Returns the messages that began the named contexts or streams, and the ends of named contexts.

        O(messages) for streams.
        """
        if int(self._columns["found"][row]) == 0 or self._correlation.columns["cause"][row] != NO_ROW:
            return []
        space = int(self._capture.columns["space"][row])
        found: set[int] = set()
        for identifier in self._capture.records.correlation_ids(row):
            node = self._contexts.tree.find(space, identifier)
            found.update(self._context_origins(node) if node != MAIN else self._stream_origins(space, identifier))
        return sorted(found - {row})

    def _context_origins(self, node: int) -> list[int]:
        """Returns the start of a context, else its first message, else the first in a child; and its conclusion."""
        facts = self._contexts.facts
        first = facts.started_by[node] if facts.started_by[node] >= 0 else facts.first_row[node]
        if first < 0:
            firsts = [facts.first_row[below] for below in self._contexts.tree.children.each(node)]
            first = min((row for row in firsts if row >= 0), default=-1)
        return [row for row in (first, facts.concluded_by[node]) if row >= 0]

    def _stream_origins(self, space: int, stream: str) -> list[int]:
        columns, code = self._capture.columns, self._capture.strings.find(stream)
        if not code:
            return []
        rows = np.flatnonzero((columns["stream"] == code) & (columns["space"] == space))
        opened = rows[columns["kind"][rows] == (self._capture.strings.find("stream/open") or -1)]
        first = opened if len(opened) else rows
        return first[:1].tolist()

    def named_by(self, row: int) -> list[int]:
        """Returns messages that name the context this one began or concluded, or the stream it opened. O(messages)."""
        return sorted({other for other in self._candidates(row) if row in self.origins(other)})

    def _candidates(self, row: int) -> list[int]:
        """Returns messages that name a context or stream which this message refers to."""
        if not len(self._waiting):
            return []
        capture, tree = self._capture, self._contexts.tree
        space = int(capture.columns["space"][row])
        names: list[str] = []
        node = self._contexts.node_of(row)
        above = tree.parent[node] if node != MAIN else MAIN
        for of in {node, above, self.started_by(row)} - {MAIN}:
            names += tree.ids_of(of)
        stream = capture.string("stream", row)
        if stream is not None:
            names.append(stream)
        hashes = {capture.ids.hash_in_space(space, name) for name in names}
        return [other for one in hashes for other in self._waiting.rows_of(one)]

    def started_by(self, row: int) -> int:
        """Returns the context that a reasoning start opened, or MAIN."""
        return self._contexts.begun_by(row) if self._capture.string("kind", row) == "reasoning/start" else MAIN


_NAME_COLUMNS = {NamedThing.STREAM: "stream", NamedThing.CONTEXT: "context"}
"""Columns with names, the better ones last."""
_RANKS = np.zeros(max(NamedThing) + 1, np.uint8)
# A context says more than a stream, and later finds replace earlier ones only if they rank higher.
_RANKS[[NamedThing.STREAM, NamedThing.CONTEXT]] = 1, 2


def _no_row_limit(hashes: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Returns an upper limit for rows, once per hash, so that a lookup covers all rows."""
    return np.full(len(hashes), np.iinfo(np.int64).max)


class _SeenKeys:
    """Remembers pairs of string and space. Nearly every string occurs in one space, so an array by string holds it."""

    def __init__(self) -> None:
        self._space_of = np.full(1024, -1, np.int32)
        self._further_keys: set[int] = set()

    def new(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """Returns the pairs that were not seen before.

        Args:
            keys: pairs packed as space << 32 | string, without duplicates.
        """
        if not len(keys):
            return keys
        codes, spaces = keys & 0xFFFFFFFF, keys >> 32
        room, most = len(self._space_of), int(codes.max())
        if most >= room:
            more = np.full(most + 1 + max(1024, room // 8) - room, -1, np.int32)
            self._space_of = np.concatenate((self._space_of, more))
        keys, codes, spaces = (part[self._space_of[codes] != spaces] for part in (keys, codes, spaces))
        first = self._space_of[codes] == -1
        self._space_of[codes[first][::-1]] = spaces[first][::-1]
        elsewhere = [key for key in keys[self._space_of[codes] != spaces].tolist() if key not in self._further_keys]
        self._further_keys.update(elsewhere)
        return np.concatenate((keys[self._space_of[codes] == spaces], np.array(elsewhere, np.int64)))


def _context_names(key: str) -> list[str]:
    """Returns the names of an observed context key: the path and its ancestors, or the id of a context object."""
    if key.startswith(OBJECT_KEY):
        return [key[len(OBJECT_KEY) :]] if len(key) > len(OBJECT_KEY) else []
    path = normalise(key)
    names = [path] if path else []
    while "/" in path and len(names) < _MAX_PREFIXES:
        path = path.rpartition("/")[0]
        names.append(path)
    return names
