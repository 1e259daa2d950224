"""Further names of messages in traffic of the MEUP v0.2 client, beside the envelope's id.

A proposal has a name in `payload.proposal.correlation_id`, and its acceptance or rejection repeats that name. A request
has one in its own `correlation_id`, equal to its JSON-RPC id, and the response repeats it.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from inspector.analysis.arrays.unique_ints import are_any_of, sorted_unique
from inspector.analysis.passes.changed_rows import Rows
from inspector.protocol import kinds
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_HASH, hash_with_other_type
from inspector.store.messages.capture import Capture

_DRAFT_PREFIX = "meup/"


class DraftNames:
    """Finds the further names of messages in that client's traffic; ignores traffic of other versions.

    Attributes:
        own: requests with a correlation id that is their own name, ascending.
    """

    def __init__(self, capture: Capture) -> None:
        self._capture = capture
        self.own: list[int] = []

    def names_of(self, kind: str, rows: Rows) -> list[tuple[int, int]]:
        """Returns the further names of new messages of a kind as (row, hash of the name), ascending."""
        found: list[tuple[int, int]] = []
        for row in rows[self._are_drafts(rows)].tolist():
            value = self._proposal_name(row) if kind == kinds.PROPOSAL else self._request_name(row)
            if value != NO_HASH:
                found.append((row, value))
        return found

    def _are_drafts(self, rows: Rows) -> np.ndarray:
        """Returns flags of messages in the protocol version of that client."""
        codes = self._capture.columns["protocol"][rows]
        strings = self._capture.strings
        drafts = [code for code in sorted_unique(codes).tolist() if code and strings[code].startswith(_DRAFT_PREFIX)]
        return are_any_of(codes, drafts) if drafts else np.zeros(len(rows), np.bool_)

    def _proposal_name(self, row: int) -> int:
        proposal = (
            None
            if self._capture.records.is_big(row)
            else self._capture.records.decoded_record(row).payload.get("proposal")
        )
        name = proposal.get("correlation_id") if isinstance(proposal, Mapping) else None
        return self._name_hash(row, name) if isinstance(name, str) and name else NO_HASH

    def _request_name(self, row: int) -> int:
        columns = self._capture.columns
        called = int(columns["rpc_hash"][row])
        if called == NO_HASH or not int(columns["flags"][row]) & Flag.CORRELATED.value:
            return NO_HASH
        if int(self._capture.ids.text_hashes("correlation_hash", [row])[0]) != hash_with_other_type(called):
            return NO_HASH
        self.own.append(row)
        return int(columns["correlation_hash"][row])

    def _name_hash(self, row: int, name: str) -> int:
        return self._capture.ids.hash_in_space(int(self._capture.columns["space"][row]), name)
