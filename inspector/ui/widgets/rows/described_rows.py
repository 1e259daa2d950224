"""Descriptions of the rows in sight of a long list, asked from the engine together."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Generic, TypeVar

from inspector.engine.request import Request
from inspector.ui.widgets.latest_answer import Client

KeyT = TypeVar("KeyT", bound=Hashable)
DescribedT = TypeVar("DescribedT")

BEFORE, AFTER = 40, 60
"""Rows described together with one that comes into sight."""
_READY = 20
"""Rows above and below that are asked for before they come into sight: two turns of the wheel at a usual height."""
_MAX_KEPT = 4_000
"""Descriptions kept, as of the specifications of `RowsModel`."""


class DescribedRows(Generic[KeyT, DescribedT]):
    """Descriptions by key. An earlier one is shown until the present one arrives."""

    def __init__(
        self, client: Client, question: Callable[[tuple[KeyT, ...]], Request[list[DescribedT]]],
        key_of: Callable[[DescribedT], KeyT], changed: Callable[[KeyT], object],
    ) -> None:  # fmt: skip
        """Starts empty.

        Args:
            client: asks the engine.
            question: returns the request for some rows; its answer may leave out rows.
            key_of: returns the key of a description.
            changed: called with the key of a description that arrived later than it was asked for.
        """
        self._client, self._question = client, question
        self._key_of, self._changed = key_of, changed
        self._rows: dict[KeyT, DescribedT] = {}
        self._earlier: dict[KeyT, DescribedT] = {}
        self._asked: set[KeyT] = set()
        self._drops = 0
        self._is_painting = False  # an answer that arrives at once is for the row being made

    def drop(self) -> None:
        """Has all rows described again as they come into sight."""
        self._earlier |= self._rows
        self._rows.clear()
        self._asked.clear()
        self._drops += 1

    def find(self, key: KeyT, near: Callable[[], Iterable[KeyT]]) -> DescribedT | None:
        """Returns the description of a row, or an earlier one until it has arrived; None before the first.

        Args:
            key: of the row.
            near: returns the keys of the rows around it, to ask for with it or before they come into sight.
        """
        around = list(near())
        place = around.index(key) if key in around else 0
        ready = around[max(0, place - _READY) : place + _READY]
        if any(one not in self._rows and one not in self._asked for one in (key, *ready)):
            self._is_painting = True
            self.request(one for one in (key, *around) if one not in self._rows and one not in self._asked)
            self._is_painting = False
        return self._rows.get(key) or self._earlier.get(key)

    def request(self, keys: Iterable[KeyT]) -> None:
        """Asks for rows, also for known ones."""
        wanted = tuple(dict.fromkeys(keys))
        if len(self._rows) + len(self._earlier) > _MAX_KEPT:
            self._rows.clear()
            self._earlier.clear()
        if not wanted:
            return
        drops = self._drops
        self._asked.update(wanted)
        self._client.send_request(
            self._question(wanted), lambda rows: self._take(rows, is_current=drops == self._drops),
            lambda _sentence: self._asked.difference_update(wanted),
        )  # fmt: skip

    def _take(self, rows: list[DescribedT], is_current: bool) -> None:
        for one in rows:
            key = self._key_of(one)
            before = self._rows.get(key) or self._earlier.get(key)
            if is_current:
                self._rows[key] = one
                self._earlier.pop(key, None)
                self._asked.discard(key)
            elif key not in self._rows:
                self._earlier[key] = one
            else:
                continue
            if one != before and not self._is_painting:
                self._changed(key)
