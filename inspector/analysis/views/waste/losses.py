"""Finds events that may empty a context: forget, restart, compaction, a new connection."""

from __future__ import annotations

import numpy as np

from inspector.analysis.views.waste.results import Array, Traffic
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_ROW

_DONE = "participant/compact-done"
# An event without recipients reaches all; a client without envelopes has no name.
_EVERYONE = ""


class ContextLosses:
    """Events after which a participant may have lost its context; actual losses are not reported."""

    def __init__(self, traffic: Traffic) -> None:
        capture = traffic.analysis.capture
        self._traffic = traffic
        self._ended = traffic.analysis.transients.runs.ended_by(np.arange(traffic.stop))
        columns, rows = capture.columns, traffic.loss_messages()
        keys = [columns[name][rows].astype(np.int64) for name in ("kind", "to_set", "sender")]
        found: dict[str, list[Array]] = {}
        for places in _equal_groups(*keys):
            for name in self._names(int(rows[places[0]])):
                found.setdefault(name, []).append(rows[places])
        self._found = {name: np.sort(np.concatenate(many)) for name, many in found.items()}

    def _names(self, row: int) -> set[str]:
        """Returns the participants affected: the sender of a compaction, else the recipients."""
        capture, sender = self._traffic.analysis.capture, self._traffic.sender(row) or _EVERYONE
        if capture.string("kind", row) == _DONE:
            return {sender}
        to = capture.recipients(row)
        return set(to) - {sender} if to else {_EVERYONE}

    def since(self, row: int, asker: str | None, until: int | None = None) -> int | None:
        """Returns the first event between a result and `until` after which the asker may have lost it."""
        stop = self._traffic.stop if until is None else until
        found = [place for name in {asker or _EVERYONE, _EVERYONE} if (place := self._next(name, row)) is not None]
        capture = self._traffic.analysis.capture
        # Only MCP without envelopes has connections; a new one is a new run of the client.
        if int(capture.columns["flags"][row]) & Flag.RPC.value and int(self._ended[row]) != NO_ROW:
            found.append(int(self._ended[row]))
        first = min(found, default=stop)
        return first if first < stop else None

    def _next(self, name: str, row: int) -> int | None:
        rows = self._found.get(name)
        place = int(np.searchsorted(rows, row, side="right")) if rows is not None else 0
        return int(rows[place]) if rows is not None and place < len(rows) else None


def _equal_groups(*columns: Array) -> list[Array]:
    """Returns positions grouped by equal values in all columns, each group ascending."""
    if not len(columns[0]):
        return []
    order = np.lexsort(columns)
    differs = np.zeros(len(order) - 1, np.bool_)
    for column in columns:
        differs |= np.diff(column[order]) != 0
    return np.split(order, np.flatnonzero(differs) + 1)
