"""What the MEUP v0.2 client calls its messages by beside their envelope's id.

It gives a proposal a name in `payload.proposal.correlation_id`, which those who accept or reject it repeat, and a
request one in its own `correlation_id`, which is also its JSON-RPC id and which the response repeats.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from inspector.analysis.changes import Rows
from inspector.capture.capture import Capture
from inspector.capture.flags import Flag
from inspector.capture.hashes import NO_HASH, hash_text
from inspector.protocol import calls, kinds

_DRAFT = "meup/"


class DraftNames:
    """Finds those names. Of other versions' traffic nothing is read.

    Attributes:
        own: requests whose correlation id is their own name, ascending.
    """

    def __init__(self, capture: Capture) -> None:
        self._capture = capture
        self.own: list[int] = []

    def names_of(self, kind: str, rows: Rows) -> list[tuple[int, int]]:
        """The further names of new messages of a kind: (row, hash of the name), ascending."""
        found: list[tuple[int, int]] = []
        for row in rows[self._drafted(rows)].tolist():
            value = self._of_proposal(row) if kind == kinds.PROPOSAL else self._of_request(row)
            if value != NO_HASH:
                found.append((row, value))
        return found

    def _drafted(self, rows: Rows) -> np.ndarray:
        """Which of some messages that client may have sent."""
        codes = self._capture.columns["protocol"][rows]
        strings = self._capture.strings
        drafts = [code for code in np.unique(codes).tolist() if code and strings[code].startswith(_DRAFT)]
        return np.isin(codes, drafts) if drafts else np.zeros(len(rows), np.bool_)

    def _of_proposal(self, row: int) -> int:
        proposal = None if self._capture.is_big(row) else self._capture.payload(row).get("proposal")
        name = proposal.get("correlation_id") if isinstance(proposal, Mapping) else None
        return self._hashed(row, name) if isinstance(name, str) and name else NO_HASH

    def _of_request(self, row: int) -> int:
        columns = self._capture.columns
        called = int(columns["rpc_hash"][row])
        if called == NO_HASH or not int(columns["flags"][row]) & Flag.CORRELATED.value:
            return NO_HASH
        named = self._capture.correlation_ids(row)
        if not named or hash_text(calls.rpc_id(named[0]) or "") != called:
            return NO_HASH
        self.own.append(row)
        return self._hashed(row, named[0])

    def _hashed(self, row: int, name: str) -> int:
        return self._capture.hash_in(int(self._capture.columns["space"][row]), name)
