"""Groups deliveries of a gateway's own messages in its log.

Messages of participants are logged as received and then once per recipient, so their copies fold by id. A gateway's own
messages are logged as delivered only, with ids made of the millisecond (`presence-<ms>`). All participants that leave
in one millisecond share an id (docs/protocols.md 2).

Decision: another payload, or a second delivery to the same recipient, is another message.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.store.columns.hashes import NO_HASH, hash_text

_MAX_RECENT = 256
"""Messages that may continue in the next block: deliveries of one are adjacent."""

_HASH_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


class GatewayCopies:
    """Assigns fold hashes to the copies of a gateway's own messages."""

    def __init__(self) -> None:
        self._recent: dict[int, tuple[int, set[int]]] = {}  # by fold: number of repeats, and recipients of the last one

    def fold_hashes(
        self, folds: NDArray[np.uint64], contents: NDArray[np.uint64], recipients: NDArray[Any]
    ) -> NDArray[np.uint64]:
        """Returns the fold hashes of a block's gateway messages, in log order. O(copies).

        Args:
            folds: (n,) hashes of the header properties that copies share; NO_HASH without an id.
            contents: (n,) hashes of the envelopes' bytes.
            recipients: (n,) string ids of the recipients.
        """
        # Ids of a gateway repeat within a millisecond, so the content joins the hash.
        own = np.where(folds == NO_HASH, folds, folds ^ (contents * _HASH_MULTIPLIER) | np.uint64(1))
        # A second copy for the same recipient is a new message with equal content.
        delivered = own ^ (recipients.astype(np.uint64) + np.uint64(1)) * _HASH_MULTIPLIER
        _, number, count = np.unique(delivered, return_inverse=True, return_counts=True)
        known = np.fromiter(self._recent, np.uint64, len(self._recent))
        affected = np.isin(own, own[count[number] > 1]) | np.isin(own, known)
        told_apart = own.copy()
        for place in np.flatnonzero(affected & (own != NO_HASH)).tolist():
            told_apart[place] = self._distinct_fold(int(own[place]), int(recipients[place]))
        self._update_recent(own, recipients, affected)
        return told_apart

    def _distinct_fold(self, fold: int, recipient: int) -> int:
        times, got = self._recent.get(fold, (0, set[int]()))
        if recipient in got:
            times, got = times + 1, set[int]()
        got.add(recipient)
        self._recent[fold] = times, got
        return fold if not times else hash_text(f"{fold}\0{times}")

    def _update_recent(self, own: NDArray[np.uint64], recipients: NDArray[Any], affected: NDArray[np.bool_]) -> None:
        """Remembers the last folds for the next block; folds processed one by one are recorded already."""
        last = slice(-_MAX_RECENT, None)
        for fold, recipient, is_noted in zip(
            own[last].tolist(), recipients[last].tolist(), affected[last].tolist(), strict=True
        ):
            times, got = self._recent.pop(fold, (0, set[int]()))
            if not is_noted:
                got.add(recipient)
            self._recent[fold] = times, got  # moves it to the end: evicted last
        # A copy follows its message closely, so few folds are enough.
        for fold in list(self._recent)[:-_MAX_RECENT]:
            del self._recent[fold]
