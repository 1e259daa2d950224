"""Clears the error of `server/discover` if its client falls back to `initialize` (docs/protocols.md 13)."""

from __future__ import annotations

from collections import deque

import numpy as np

from inspector.analysis.passes.calls.client_runs import connection_keys
from inspector.analysis.passes.calls.open_waits import GivenUp
from inspector.analysis.passes.changed_rows import ChangedRows, Rows
from inspector.protocol import kinds
from inspector.store.columns.columns import GrowingColumns
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_ROW
from inspector.store.messages.capture import Capture

_MAX_OPEN = 16
_MAX_EXCHANGE_ROWS = 256
"""Messages to search between a refused request over HTTP and its refusal, which repeats no id."""


class Fallbacks:
    """Clears the error of a refusal that the client expected: an older server does not know `server/discover`.

    The next `initialize` over the same connection shows the fallback, even if it was sent before the refusal came. A
    refusal without a later `initialize` stays a failure. Over stdio silence is a refusal as well, and ends the wait.
    """

    def __init__(self, capture: Capture, links: GrowingColumns, changed: ChangedRows) -> None:
        self._capture = capture
        self._links = links
        self._changed = changed
        self._discover_requests: dict[int, deque[int]] = {}
        self._unanswered: dict[int, int] = {}  # requests that were open when `initialize` came -> that `initialize`

    def feed(self, start: int, stop: int) -> None:
        """Processes messages `start` to `stop` after their answers are linked. O(stop - start)."""
        columns, strings = self._capture.columns, self._capture.strings
        discover, initialize = (strings.find(name) or -1 for name in ("server/discover", "initialize"))
        if discover == -1:
            return
        # A refusal may come after the `initialize` that shows the fallback.
        for asked, followed in [*self._unanswered.items()]:
            self._clear_refusal(asked, followed, stop)
        method = columns["method"][start:stop]
        rows = (method == discover) | (method == initialize)
        rows &= columns["kind"][start:stop] == (strings.find(kinds.REQUEST) or -1)
        found = np.flatnonzero(rows) + start
        for row, key in zip(found.tolist(), self._connection_keys(found), strict=True):
            if int(columns["method"][row]) == discover:
                self._discover_requests.setdefault(key, deque(maxlen=_MAX_OPEN)).append(row)
                continue
            for asked in self._discover_requests.pop(key, ()):
                self._unanswered[asked] = row
                self._clear_refusal(asked, row, stop)
        # Bounds memory: a client that never gets a refusal would otherwise be tracked for ever.
        while len(self._unanswered) > _MAX_OPEN:
            del self._unanswered[next(iter(self._unanswered))]

    def _connection_keys(self, rows: Rows) -> list[int]:
        """Returns connection numbers; for HTTP the source, since each attempt may be a conversation of its own."""
        numbers = self._capture.extracted.exchanges("number", rows)
        keys = connection_keys(self._capture, rows)
        # Negative numbers cannot collide with connection keys.
        return np.where(numbers != 0, -1 - (keys >> 32), keys).tolist()

    def _clear_refusal(self, asked: int, initialize: int, stop: int) -> None:
        """Clears the refusal of a request with a later `initialize`, if the refusal came before `stop`."""
        answer = int(self._links["answer"][asked])
        refusal = self._refusal_in_exchange(asked, stop) if answer == NO_ROW else answer
        late = answer == NO_ROW == refusal or answer > initialize
        if late and self._links["given_up"][asked] == GivenUp.NO.value and self._is_in_no_exchange(asked):
            self._links.replace("given_up", asked, GivenUp.CANCELLED.value)
            self._changed.update((asked,))
        if refusal == NO_ROW:
            return
        self._unanswered.pop(asked, None)
        if not self._capture.flags_of(refusal) & Flag.ERROR:
            return
        self._capture.clear_errors(np.array([refusal], np.int64))
        if answer == NO_ROW:
            is_answer = self._capture.string("kind", refusal) == kinds.RESPONSE
            self._links.replace("given_up", asked, (GivenUp.NO if is_answer else GivenUp.CANCELLED).value)
            if is_answer:
                self._links.replace("answer", asked, refusal)
                self._links.replace("cause", refusal, asked)
                self._links.replace("method", refusal, int(self._links["method"][asked]))
        self._changed.update((asked, refusal))

    def _is_in_no_exchange(self, row: int) -> bool:
        """Tells if a message came without an HTTP exchange. Over HTTP the `initialize` may be another client's."""
        return int(self._capture.extracted.exchanges("number", np.array([row]))[0]) == 0

    def _refusal_in_exchange(self, asked: int, stop: int) -> int:
        """Returns the refusal in the HTTP exchange of a request, which lacks its id, or NO_ROW."""
        extracted = self._capture.extracted
        own = int(extracted.exchanges("number", np.array([asked]))[0])
        rows = np.arange(asked + 1, min(stop, asked + 1 + _MAX_EXCHANGE_ROWS))
        same = (extracted.exchanges("number", rows) == own) & (own != 0)
        same &= self._capture.columns["source"][rows] == self._capture.columns["source"][asked]
        same &= self._capture.columns["flags"][rows] & Flag.ERROR.value != 0
        found = rows[same]
        return int(found[0]) if len(found) else NO_ROW
