"""Which records of several sources are of one message: who saw it (docs/protocols.md 11).

RULE: records of different sources are sightings of one message where id, sender, time and kind of their envelopes are
the same, as a gateway's copies are (docs/protocols.md 11): it rewrites what it passes on, so bytes may differ, which is
said as of copies. What gateways say by themselves, and what has no time, has to be the same byte for byte. The n-th
such record of one source goes with the n-th of another: what a source has twice is two messages, as it is alone, so
that what is a sighting does not depend on which source came first. A gateway's copies fold as in its log alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.protocol.participants import GATEWAY_IDS
from inspector.protocol.times import NO_TIME
from inspector.store.columns.block import Block
from inspector.store.columns.columns import GrowingColumns
from inspector.store.columns.hashes import NO_HASH, NO_ROW, HashIndex, hash_text, hash_texts

_MIX = np.uint64(0x9E3779B97F4A7C15)
_LAST = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class Seen:
    """What a block's records are, once they are told to be sightings.

    Attributes:
        leads: records that start a message in their own source, ascending.
        folds: (leads,) what their source's own copies fold by; NO_HASH where it has none.
        joining: (records,) bool, what joins an earlier record of the same fold, where there is one.
    """

    leads: NDArray[np.int64]
    folds: NDArray[np.uint64]
    joining: NDArray[np.bool_]


class Sightings:
    """Gives what is one message a hash to fold by, whatever source a record of it is from."""

    def __init__(self) -> None:
        self._known = HashIndex()  # what each source has had once
        self._again: dict[int, int] = {}  # how often, of what it has had more than once

    def mark(self, block: Block, joining: NDArray[np.bool_], folds: HashIndex) -> Seen:
        """Let all records of one message fold together. Each block once, in order; O(n log n).

        Args:
            block: of one source or of several; its column `fold` is changed.
            joining: (records,) bool, what is a copy in its source's own log.
            folds: messages by what records fold by; those of leads are to be added.
        """
        columns = block.columns
        own = columns["fold"].copy()
        copies = np.flatnonzero(joining & (own != NO_HASH))
        named = (columns["id_hash"] != NO_HASH) & (columns["content_hash"] != NO_HASH) & (columns["part"] == 0)
        first = self._unknown(own, copies, folds)
        starts = ~joining
        starts[first] = True
        leads = np.flatnonzero(named & starts)
        fold = own.copy()
        fold[leads] = self._identities(block, leads)
        logged = leads[own[leads] != NO_HASH]
        _follow(own, fold, logged, copies[~np.isin(copies, first)])
        columns["fold"] = fold
        joins = joining.copy()
        joins[leads] = True
        return Seen(leads, own[leads], joins)

    def _unknown(self, own: NDArray[np.uint64], copies: NDArray[np.int64], folds: HashIndex) -> NDArray[np.int64]:
        """Of copies whose message is neither in the block before them nor known, the first of each."""
        hashes, place = np.unique(own[copies], return_index=True)
        known = folds.latest(hashes, np.full(len(hashes), _LAST)) != NO_ROW
        first = copies[place[~known]]
        everything = np.unique(own, return_index=True)
        starts_at = everything[1][np.searchsorted(everything[0], own[first])]
        return np.sort(first[starts_at == first])

    def _identities(self, block: Block, leads: NDArray[np.int64]) -> NDArray[np.uint64]:
        """(leads,) hashes of id, bytes, and how often the source has had them before."""
        columns = block.columns
        same = identities(block)[leads]
        there = same ^ ((columns["source"][leads].astype(np.uint64) + np.uint64(1)) * _MIX)
        _, which, counts = np.unique(there, return_inverse=True, return_counts=True)
        before = self._known.latest(there, np.full(len(there), _LAST)) != NO_ROW
        for place in np.flatnonzero((counts[which] > 1) | before).tolist():
            times = self._again.get(int(there[place]), int(before[place]))
            self._again[int(there[place])] = times + 1
            if times:
                same[place] = hash_text(f"{same[place]}\0{times}")
        new = np.unique(there[~before])
        self._known.add(new, np.zeros(len(new), np.uint32))
        return same


class SeenBy:
    """Which sources have each message, as it is found out.

    Attributes:
        table: the sets of sources there are so far, each the numbers of sources, the one a message is read from first;
            entry 0 is none. It only grows.
        counts: of each set, how many messages have it.
    """

    def __init__(self) -> None:
        self.table: list[tuple[int, ...]] = [()]
        self.counts: list[int] = [0]
        self._places: dict[tuple[int, ...], int] = {(): 0}
        self._columns = GrowingColumns({"set": np.uint32})

    @property
    def sets(self) -> NDArray[Any]:
        """(messages,) places in `table`."""
        return self._columns["set"]

    def append(self, sources: NDArray[Any]) -> None:
        """Take in new messages, by the source each is read from."""
        self._columns.append({"set": self._extended(np.zeros(len(sources), np.int64), sources)}, len(sources))

    def add(self, messages: NDArray[np.int64], sources: NDArray[Any]) -> None:
        """Take in further records of messages; a message may have several. O(records)."""
        order = np.argsort(messages, kind="stable")
        messages, sources = messages[order], sources[order]
        while len(messages):
            first = np.concatenate(([True], messages[1:] != messages[:-1]))
            rows = messages[first]
            self._columns.put("set", rows, self._extended(self.sets[rows].astype(np.int64), sources[first]))
            messages, sources = messages[~first], sources[~first]

    def _extended(self, sets: NDArray[np.int64], sources: NDArray[Any]) -> NDArray[np.uint32]:
        """(n,) the sets with one source more each."""
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


def identities(block: Block) -> NDArray[np.uint64]:
    """(records,) what records of one envelope share, whatever source they are from; NO_HASH without an id."""
    columns, strings = block.columns, block.strings
    texts = hash_texts([None, *strings[1:]])
    sender, kind, ts = columns["sender"], columns["kind_raw"], columns["ts_ns"]
    same = columns["id_hash"] ^ texts[sender] * _MIX ^ (texts[kind] * _MIX) * _MIX ^ ts.astype(np.uint64) * _MIX
    gateways = [code for code in map(strings.find, GATEWAY_IDS) if code is not None]
    exact = np.isin(sender, gateways) | (ts == NO_TIME)
    same = np.where(exact, same ^ (columns["content_hash"] * _MIX), same) | np.uint64(1)
    named = (columns["id_hash"] != NO_HASH) & (columns["content_hash"] != NO_HASH) & (columns["part"] == 0)
    return np.where(named, same, np.uint64(NO_HASH))


def _follow(
    own: NDArray[np.uint64], fold: NDArray[np.uint64], leads: NDArray[np.int64], copies: NDArray[np.int64]
) -> None:
    """Let copies fold by what the last lead before them does that they are copies of; others stay as they are."""
    if not len(leads) or not len(copies):
        return
    both = np.concatenate((leads, copies))
    both = both[np.lexsort((both, own[both]))]
    is_lead = np.isin(both, leads)
    last = np.maximum.accumulate(np.where(is_lead, np.arange(len(both)), -1))
    found = (last >= 0) & ~is_lead
    found[found] = own[both[last[found]]] == own[both[found]]
    fold[both[found]] = fold[both[last[found]]]
