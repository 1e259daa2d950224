"""Reads the visibility of each message of a session from its document (docs/protocols.md 14)."""

from __future__ import annotations

import numpy as np

from inspector.analysis.passes.changed_rows import NO_ROWS, Rows
from inspector.protocol import msp
from inspector.store.columns.columns import GrowingColumns
from inspector.store.columns.intern_table import InternTable
from inspector.store.messages.capture import Capture

_MAX_VALUES = 250
"""Limit of distinct values: the protocol has three, and a column takes one byte a message."""
# Values come from a file and are kept for as long as the capture.
_MAX_VALUE_LENGTH = 100


class VisibilityPass:
    """Visibility by message; 0 for messages without one and for other traffic.

    Attributes:
        columns: per message `visibility` uint8, index in `values`.
        values: the values seen, the protocol's three first.
    """

    def __init__(self, capture: Capture) -> None:
        self._capture = capture
        self.columns = GrowingColumns({"visibility": np.uint8})
        self.values: InternTable[str] = InternTable("")
        for value in msp.VISIBILITIES:
            self.values.intern(value)

    def feed(self, start: int, stop: int) -> None:
        """Processes messages `start` to `stop`."""
        self.columns.append({"visibility": 0}, stop - start)
        rows = self._session_messages(start, stop)
        if len(rows):
            self.columns.replace("visibility", rows, [self._value(row) for row in rows.tolist()])

    def _session_messages(self, start: int, stop: int) -> Rows:
        strings, columns = self._capture.strings, self._capture.columns
        protocol, chat = strings.find(msp.PROTOCOL), strings.find("chat")
        if protocol is None or chat is None:
            return NO_ROWS
        here = (columns["protocol"][start:stop] == protocol) & (columns["kind"][start:stop] == chat)
        return np.flatnonzero(here) + start

    def _value(self, row: int) -> int:
        return self._intern_value(self._capture.records.decoded_record(row).payload.get("visibility"))

    def _intern_value(self, value: object) -> int:
        if not isinstance(value, str) or not value:
            return 0
        value = value[:_MAX_VALUE_LENGTH]
        known = self.values.find(value)
        if known is not None:
            return known
        # Hostile input may have any number of values, but the column's dtype has 256.
        return self.values.intern(value if len(self.values) < _MAX_VALUES else "other values")

    def read_again(self, rows: Rows) -> None:
        """Reads messages again after their lines were rewritten."""
        self.columns.replace("visibility", rows, [self._value(row) for row in rows.tolist()])

    def take_changes(self) -> Rows:
        """Returns no rows: a caller that rewrites lines knows their messages."""
        return NO_ROWS
