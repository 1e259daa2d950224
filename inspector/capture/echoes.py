"""What comes back of what we sent: gateways deliver to the sender too (protocols.md 2), and a capture has both.

RULE: what was received of our own is a copy of what was sent, delivered to ourselves. It has the same id, sender and
kind; its time and its correlation may be the gateway's. What only borrows our name and id is a message of its own.
"""

from __future__ import annotations

import numpy as np

from inspector.capture.block import Block
from inspector.capture.flags import Flag
from inspector.capture.hashes import NO_HASH

_SENT = np.uint32(Flag.SENT.value)


class Echoes:
    """Knows what was sent, by the hash of its id: we send little, an answer to `tools/list` here and there."""

    def __init__(self) -> None:
        self._sent: dict[int, tuple[str, str]] = {}  # sender and kind by hash of id

    def mark(self, block: Block) -> None:
        """Let the copies in a block fold into what was sent."""
        columns = block.columns
        sent = columns["flags"] & _SENT != 0
        if not self._sent and not sent.any():
            return
        ids, senders, kinds = columns["id_hash"], columns["sender"], columns["kind"]

        def whose(place: int) -> tuple[str, str]:
            return block.strings[int(senders[place])], block.strings[int(kinds[place])]

        for place in np.flatnonzero(sent & (ids != NO_HASH)).tolist():
            self._sent[int(ids[place])] = whose(place)
        ours = np.isin(ids, np.fromiter(self._sent, np.uint64, len(self._sent)))
        for place in np.flatnonzero(ours).tolist():
            if whose(place) != self._sent[int(ids[place])]:
                continue
            columns["fold"][place] = ids[place]
            if not sent[place]:
                columns["event"][place] = block.strings.intern("delivered")
                columns["participant"][place] = senders[place]
