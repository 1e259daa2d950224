"""64-bit hashes of ids, texts and JSON-RPC ids, and an index from hash to message rows.

A dict of ids costs 115 bytes a message; sorted runs of (hash, row) cost 12 (docs/design.md 4).
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from itertools import repeat

import numpy as np
import xxhash
from numpy.typing import NDArray
from typing_extensions import Buffer

NO_HASH = 0
"""Sentinel for "no id"; a real hash is never 0."""

NO_ROW = -1

_digest = xxhash.xxh3_64_intdigest
# Random per run, so that no writer of traffic can provoke collisions.
_seed = secrets.randbits(63)


def run_seed() -> int:
    """Returns the seed of this run, for its worker processes."""
    return _seed


def set_seed(value: int) -> None:
    """Adopts the seed of the parent process. Call before any hashing."""
    global _seed
    _seed = value


def hash_text(text: str) -> int:
    """Returns a 64-bit hash of a string, never NO_HASH."""
    return _digest(text.encode("utf-8", "surrogatepass"), _seed) or 1


def hash_values(*values: int | str | bytes) -> int:
    """Returns a signed 64-bit hash of numbers and texts, never NO_HASH; equal in processes with one seed."""
    # A third of the time of joined parts; lone surrogates are escaped.
    found = _digest(repr(values).encode(), _seed) or 1
    return found - (1 << 64) if found >> 63 else found


def hash_each(data: Sequence[Buffer]) -> NDArray[np.uint64]:
    """Returns `hash_bytes` of each item, (n,) uint64, without a Python call per item."""
    hashes = np.fromiter(map(_digest, data, repeat(_seed)), np.uint64, len(data))
    hashes[hashes == NO_HASH] = 1
    return hashes


def hash_texts(texts: Sequence[str | None]) -> NDArray[np.uint64]:
    """Returns a hash of each text, (n,) uint64; NO_HASH for None."""
    given = [text for text in texts if text is not None]
    # Encoding without an error handler is the fast path; lone surrogates are rare.
    try:
        encoded = [*map(str.encode, given)]
    except UnicodeEncodeError:  # lone surrogates
        encoded = [text.encode("utf-8", "surrogatepass") for text in given]
    if len(given) == len(texts):
        return hash_each(encoded)
    hashes = np.full(len(texts), NO_HASH, np.uint64)
    hashes[[text is not None for text in texts]] = hash_each(encoded)
    return hashes


_TEXT_SALT = 0x6A09E667F3BCC908  # arbitrary constant that separates texts from numbers


def hash_rpc_id(written: str) -> int:
    """Returns a hash of a JSON-RPC id as `protocol.calls.rpc_id` writes it.

    `hash_with_other_type` maps "7" to 7 and back.
    """
    return hash_text(written[1:-1]) ^ _TEXT_SALT if written[:1] == "'" else hash_text(written)


def hash_rpc_values(values: Sequence[object]) -> NDArray[np.uint64]:
    """Returns a hash of each decoded id, (n,) uint64; NO_HASH for values other than texts and numbers."""
    # Most connections count their ids, so one type needs no test per value.
    if {*map(type, values)} == {int}:
        return hash_each([*map(str.encode, map(repr, values))])
    digest, seed_ = _digest, _seed
    hashes = [
        # 0 means no hash, so a digest of 0 becomes 1; texts are marked, since "1" and 1 are
        # different ids.
        (digest(v.encode("utf-8", "surrogatepass"), seed_) or 1) ^ _TEXT_SALT if type(v) is str
        else NO_HASH if v is None or type(v) not in (int, float)
        else digest(repr(v).encode(), seed_) or 1
        for v in values
    ]  # fmt: skip
    return np.array(hashes, np.uint64)


def hash_with_other_type(rpc_hash: int) -> int:
    """Returns the hash of the same id with the other JSON type: text for a number, number for a text."""
    return rpc_hash ^ _TEXT_SALT


def hash_bytes(data: Buffer) -> int:
    """Returns a 64-bit hash of bytes, never NO_HASH."""
    return _digest(data, _seed) or 1


# Bounds the pause of a merge on the window's thread.
_MAX_RUN_LENGTH = 1 << 17
"""Entries of the longest run. Merging two runs into one of that length takes 5 ms."""
_FILTER_BITS = np.uint64(8 * _MAX_RUN_LENGTH - 1)
"""Mask for the hash bits that a long run's filter uses."""


class _Run:
    """Hashes and their rows, sorted by hash, then by row.

    A long run has a filter with one bit per possible hash: a miss costs 15 ns then, not 400.
    """

    __slots__ = ("_filter", "hashes", "rows")

    def __init__(self, hashes: NDArray[np.uint64], rows: NDArray[np.uint32]) -> None:
        self.hashes = hashes
        self.rows = rows
        self._filter: NDArray[np.uint8] | None = None
        if len(hashes) > _MAX_RUN_LENGTH // 2:
            bits = np.zeros(int(_FILTER_BITS) + 1, np.bool_)
            bits[(hashes & _FILTER_BITS).astype(np.int64)] = True
            self._filter = np.packbits(bits, bitorder="little")

    def __len__(self) -> int:
        return len(self.hashes)

    def candidate_mask(self, hashes: NDArray[np.uint64]) -> NDArray[np.bool_] | slice:
        """Returns a mask of the hashes that this run may contain."""
        if self._filter is None:
            return slice(None)
        bits = (hashes & _FILTER_BITS).astype(np.int64)
        return self._filter[bits >> 3] & (1 << (bits & 7)).astype(np.uint8) != 0

    def latest_rows(self, hashes: NDArray[np.uint64], before: NDArray[np.int64]) -> NDArray[np.int64]:
        """Returns for each hash the greatest row below `before`, or NO_ROW."""
        latest = np.full(len(hashes), NO_ROW, np.int64)
        low = np.searchsorted(self.hashes, hashes)
        known = np.flatnonzero(self.hashes[np.minimum(low, len(self) - 1)] == hashes)
        if len(known):
            high = np.searchsorted(self.hashes, hashes[known], "right")
            latest[known] = _last_below(self.rows, low[known], high, before[known])
        return latest

    def all_rows(self, hashes: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Returns every row with any of these hashes: the place of its hash, and the row."""
        low, high = np.searchsorted(self.hashes, hashes), np.searchsorted(self.hashes, hashes, "right")
        counts = high - low
        places = np.repeat(np.arange(len(hashes)), counts)
        within = np.arange(len(places)) - np.repeat(np.cumsum(counts) - counts, counts)
        return places, self.rows[low[places] + within].astype(np.int64)

    def rows_of(self, value: int) -> list[int]:
        """Returns every row with this hash, ascending."""
        key = np.uint64(value)
        low, high = np.searchsorted(self.hashes, key), np.searchsorted(self.hashes, key, "right")
        return self.rows[low:high].tolist()


class HashIndex:
    """Index from hash to rows. Rows are added in ascending order.

    Entries lie in sorted runs. A new run merges into the previous one unless that is much larger, up to a limit: no
    entry is copied often, and no merge is long. All rows of a run are greater than rows of earlier runs. Most ids are
    named soon after their definition, so one or two runs answer almost every lookup.
    """

    def __init__(self) -> None:
        self._runs: list[_Run] = []

    def __len__(self) -> int:
        return sum(map(len, self._runs))

    def add(self, hashes: NDArray[np.uint64], rows: NDArray[np.uint32]) -> None:
        """Adds a batch; entries with NO_HASH are skipped. Rows must be greater than all earlier ones."""
        keep = hashes != NO_HASH
        if not keep.all():
            hashes, rows = hashes[keep], rows[keep]
        for start in range(0, len(hashes), _MAX_RUN_LENGTH):
            self._add(hashes[start : start + _MAX_RUN_LENGTH], rows[start : start + _MAX_RUN_LENGTH])

    def _add(self, hashes: NDArray[np.uint64], rows: NDArray[np.uint32]) -> None:
        order = np.argsort(hashes, kind="stable")
        run = _Run(hashes[order], rows[order].astype(np.uint32, copy=False))
        while self._runs:
            last = len(self._runs[-1])
            if last > 2 * len(run) or last + len(run) > _MAX_RUN_LENGTH:
                break
            run = _merge(self._runs.pop(), run)
        self._runs.append(run)

    def latest_rows(self, hashes: NDArray[np.uint64], before: NDArray[np.int64]) -> NDArray[np.int64]:
        """Returns for each hash the greatest row below `before`, or NO_ROW.

        Args:
            hashes: (n,) uint64.
            before: (n,) int64, exclusive upper limits.
        """
        found = np.full(len(hashes), NO_ROW, np.int64)
        left = np.flatnonzero(hashes != NO_HASH)
        # The newest run first: its rows are greater than all earlier ones.
        for run in reversed(self._runs):
            if not len(left):
                break
            places = left[run.candidate_mask(hashes[left])]
            if len(places):
                found[places] = run.latest_rows(hashes[places], before[places])
                left = left[found[left] == NO_ROW]
        return found

    def all_rows(self, hashes: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Returns every row with any of these hashes, unordered: the place of its hash, and the row.

        Args:
            hashes: (n,) uint64, distinct; NO_HASH matches no row.
        """
        every = np.arange(len(hashes))
        found: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
        for run in self._runs:
            likely = every[run.candidate_mask(hashes)]
            places, rows = run.all_rows(hashes[likely])
            found.append((likely[places], rows))
        if not found:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        return np.concatenate([places for places, _ in found]), np.concatenate([rows for _, rows in found])

    def rows_of(self, value: int) -> list[int]:
        """Returns every row with this hash, ascending."""
        return [row for run in self._runs for row in run.rows_of(value)]


def _merge(old: _Run, new: _Run) -> _Run:
    """Merges two runs; rows of `old` are smaller and come first for equal hashes."""
    places = np.searchsorted(old.hashes, new.hashes, "right") + np.arange(len(new))
    from_old = np.ones(len(old) + len(new), np.bool_)
    from_old[places] = False
    hashes, rows = np.empty(len(from_old), np.uint64), np.empty(len(from_old), np.uint32)
    hashes[places], rows[places] = new.hashes, new.rows
    hashes[from_old], rows[from_old] = old.hashes, old.rows
    return _Run(hashes, rows)


def _last_below(
    rows: NDArray[np.uint32], low: NDArray[np.int64], high: NDArray[np.int64], before: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Returns the greatest of `rows[low:high]` below `before`, or NO_ROW.

    It bisects all ranges together, since ids may repeat often.
    """
    last = rows[high - 1].astype(np.int64)
    if (last < before).all():  # the usual case: later rows are not indexed yet
        return last
    start, low, high = low, low.copy(), high.copy()
    while (active := np.flatnonzero(low < high)).size:
        middle = (low[active] + high[active]) >> 1
        below = rows[middle] < before[active]
        low[active[below]] = middle[below] + 1
        high[active[~below]] = middle[~below]
    return np.where(low > start, rows[np.maximum(low - 1, 0)].astype(np.int64), NO_ROW)


def first_rows(index: HashIndex, hashes: NDArray[np.uint64], rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns (n,) the first message with each hash, in the index or earlier among these; NO_ROW. O(n log n)."""
    found = index.latest_rows(hashes, np.full(len(hashes), np.iinfo(np.int64).max))
    asked = np.flatnonzero((found == NO_ROW) & (hashes != NO_HASH))
    _, first, which = np.unique(hashes[asked], return_index=True, return_inverse=True)
    again = asked[first][which] != asked
    found[asked[again]] = rows[asked[first][which]][again]
    return found
