"""Finds copies of one message across sources (docs/protocols.md 11).

RULE: records of different sources are sightings of one message if id, sender, time and kind of their envelopes are
equal. A gateway rewrites the messages it forwards, so bytes may differ; such copies are flagged. A gateway's own
messages, and envelopes without a time, must be equal in every byte. The n-th such record of one source matches the n-th
of another: repeats within one source are separate messages, as in that source alone. The result does not depend on the
order of the sources. A gateway's copies fold as in its log alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.protocol.participants import GATEWAY_IDS
from inspector.protocol.timestamps import NO_TIME
from inspector.store.columns.block import Block
from inspector.store.columns.columns import GrowingColumns
from inspector.store.columns.hashes import NO_HASH, NO_ROW, HashIndex, hash_text, hash_texts

# 2**64 divided by the golden ratio: spreads bits, so that parts of an identity do not cancel out.
_HASH_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_MAX_ROW = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class ClassifiedRecords:
    """Classification of a block's records as sightings.

    Attributes:
        leads: records that start a message in their own source, ascending.
        folds: (leads,) fold hash of their source's own copies; NO_HASH without one.
        joining: (records,) True for records that join an earlier record of the same fold, if there is one.
    """

    leads: NDArray[np.int64]
    folds: NDArray[np.uint64]
    joining: NDArray[np.bool_]


class DuplicateFinder:
    """Assigns equal fold hashes to the records of one message across sources."""

    def __init__(self) -> None:
        self._known = HashIndex()  # identities that a source had once
        self._repeat_counts: dict[int, int] = {}  # number of repeats per repeated identity

    def fold_block(self, block: Block, joining: NDArray[np.bool_], folds: HashIndex) -> ClassifiedRecords:
        """Gives all records of one message the same fold. Call once per block, in order; O(n log n).

        Args:
            block: of one source or several; its column `fold` is changed.
            joining: (records,) True for copies in their source's own log.
            folds: index from fold to message; the caller adds the folds of leads.
        """
        columns = block.columns
        own = columns["fold"].copy()
        copies = np.flatnonzero(joining & (own != NO_HASH))
        named = (columns["id_hash"] != NO_HASH) & (columns["content_hash"] != NO_HASH) & (columns["part"] == 0)
        first = self._first_orphans(own, copies, folds)
        # A record that joins no earlier one starts a message.
        starts = ~joining
        starts[first] = True
        leads = np.flatnonzero(named & starts)
        fold = own.copy()
        fold[leads] = self._identities(block, leads)
        logged = leads[own[leads] != NO_HASH]
        _fold_with_leads(own, fold, logged, copies[~np.isin(copies, first)])
        columns["fold"] = fold
        joins = joining.copy()
        joins[leads] = True
        return ClassifiedRecords(leads, own[leads], joins)

    def _first_orphans(self, own: NDArray[np.uint64], copies: NDArray[np.int64], folds: HashIndex) -> NDArray[np.int64]:
        """Returns the first of copies without an original in the block or the index."""
        hashes, place = np.unique(own[copies], return_index=True)
        known = folds.latest_rows(hashes, np.full(len(hashes), _MAX_ROW)) != NO_ROW
        first = copies[place[~known]]
        everything = np.unique(own, return_index=True)
        starts_at = everything[1][np.searchsorted(everything[0], own[first])]
        return np.sort(first[starts_at == first])

    def _identities(self, block: Block, leads: NDArray[np.int64]) -> NDArray[np.uint64]:
        """Returns (leads,) hashes of the envelope's identity and its count of earlier repeats in the source."""
        columns = block.columns
        same = envelope_identities(block)[leads]
        # Mixed with the source, so that the same envelope in two files is no repeat.
        there = same ^ ((columns["source"][leads].astype(np.uint64) + np.uint64(1)) * _HASH_MULTIPLIER)
        _, which, counts = np.unique(there, return_inverse=True, return_counts=True)
        before = self._known.latest_rows(there, np.full(len(there), _MAX_ROW)) != NO_ROW
        # Only repeated identities need the loop; there are few.
        for place in np.flatnonzero((counts[which] > 1) | before).tolist():
            times = self._repeat_counts.get(int(there[place]), int(before[place]))
            self._repeat_counts[int(there[place])] = times + 1
            if times:
                # The n-th repeat in one source must match the n-th in another.
                same[place] = hash_text(f"{same[place]}\0{times}")
        new = np.unique(there[~before])
        self._known.add(new, np.zeros(len(new), np.uint32))
        return same


class MessageSources:
    """Sources of each message, updated as records arrive.

    Attributes:
        table: distinct tuples of sources, the primary one first; entry 0 is empty. It only grows.
        counts: number of messages per tuple.
    """

    def __init__(self) -> None:
        self.table: list[tuple[int, ...]] = [()]
        self.counts: list[int] = [0]
        self._places: dict[tuple[int, ...], int] = {(): 0}
        self._columns = GrowingColumns({"set": np.uint32})

    @property
    def set_ids(self) -> NDArray[Any]:
        """(messages,) indices into `table`."""
        return self._columns["set"]

    def append(self, sources: NDArray[Any]) -> None:
        """Appends new messages by their primary source."""
        self._columns.append({"set": self._with_source(np.zeros(len(sources), np.int64), sources)}, len(sources))

    def add_records(self, messages: NDArray[np.int64], sources: NDArray[Any]) -> None:
        """Adds further records of messages; a message may have several. O(records)."""
        order = np.argsort(messages, kind="stable")
        messages, sources = messages[order], sources[order]
        while len(messages):
            first = np.concatenate(([True], messages[1:] != messages[:-1]))
            rows = messages[first]
            self._columns.replace("set", rows, self._with_source(self.set_ids[rows].astype(np.int64), sources[first]))
            messages, sources = messages[~first], sources[~first]

    def _with_source(self, sets: NDArray[np.int64], sources: NDArray[Any]) -> NDArray[np.uint32]:
        """Returns (n,) the tuples with one more source each."""
        # Packs the tuple and the source into one integer for `unique`.
        pairs, which, counts = np.unique(sets << 16 | sources, return_inverse=True, return_counts=True)
        found = np.empty(len(pairs), np.uint32)
        for place, (pair, count) in enumerate(zip(pairs.tolist(), counts.tolist(), strict=True)):
            before, source = pair >> 16, pair & 0xFFFF
            known = self.table[before]
            found[place] = after = before if source in known else self._place_of((*known, source))
            self.counts[before] -= count if before else 0
            self.counts[after] += count
        return found[which]

    def _place_of(self, found: tuple[int, ...]) -> int:
        place = self._places.get(found)
        if place is None:
            place = self._places[found] = len(self.table)
            self.table.append(found)
            self.counts.append(0)
        return place


def envelope_identities(block: Block) -> NDArray[np.uint64]:
    """Returns (records,) a hash equal for records of one envelope in any source; NO_HASH without an id."""
    columns, strings = block.columns, block.strings
    texts = hash_texts([None, *strings[1:]])
    sender, kind, ts = columns["sender"], columns["kind_raw"], columns["ts_ns"]
    same = (
        columns["id_hash"]
        ^ texts[sender] * _HASH_MULTIPLIER
        ^ (texts[kind] * _HASH_MULTIPLIER) * _HASH_MULTIPLIER
        ^ ts.astype(np.uint64) * _HASH_MULTIPLIER
    )
    gateways = [code for code in map(strings.find, GATEWAY_IDS) if code is not None]
    # Ids of a gateway repeat, and an envelope without time says too little: the contents must be
    # equal.
    exact = np.isin(sender, gateways) | (ts == NO_TIME)
    same = np.where(exact, same ^ (columns["content_hash"] * _HASH_MULTIPLIER), same) | np.uint64(1)
    named = (columns["id_hash"] != NO_HASH) & (columns["content_hash"] != NO_HASH) & (columns["part"] == 0)
    return np.where(named, same, np.uint64(NO_HASH))


def _fold_with_leads(
    own: NDArray[np.uint64], fold: NDArray[np.uint64], leads: NDArray[np.int64], copies: NDArray[np.int64]
) -> None:
    """Gives copies the fold of the last lead before them with the same own fold; others stay unchanged."""
    if not len(leads) or not len(copies):
        return
    both = np.concatenate((leads, copies))
    # Sorted by fold, then by row: each copy follows its lead.
    both = both[np.lexsort((both, own[both]))]
    is_lead = np.isin(both, leads)
    last = np.maximum.accumulate(np.where(is_lead, np.arange(len(both)), -1))
    found = (last >= 0) & ~is_lead
    found[found] = own[both[last[found]]] == own[both[found]]
    fold[both[found]] = fold[both[last[found]]]
