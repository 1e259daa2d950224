"""Rows of a long list, asked from the engine in blocks as they come into sight."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from inspector.engine.request import Request
from inspector.ui.widgets.latest_answer import Client

RowT = TypeVar("RowT")

BLOCK = 64
"""Rows of one request; a screen shows about thirty."""
_MOST = 4_096
"""Maximum of kept rows; twice the rows that fast scrolling passes in a second."""


class AskedRows(Generic[RowT]):
    """Rows by index. An outdated row stays until its successor arrives."""

    def __init__(
        self, client: Client, question: Callable[[int, int], Request[list[RowT]]],
        arrived: Callable[[int, int], object],
    ) -> None:  # fmt: skip
        """Starts empty.

        Args:
            client: asks the engine.
            question: returns the request for the rows from a start to a stop.
            arrived: called with start and stop of rows that arrived later than they were asked for.
        """
        self._client, self._question, self._arrived = client, question, arrived
        self._rows: dict[int, RowT] = {}
        self._outdated: set[int] = set()
        self._asked: set[int] = set()
        self._generation = 0
        self._in_call = False

    def clear(self) -> None:
        """Drops all rows, because another question is asked for them."""
        self._rows.clear()
        self.renew()

    def renew(self) -> None:
        """Asks again for rows in sight."""
        self._generation += 1
        self._asked.clear()
        self._outdated = set(self._rows)

    @property
    def span(self) -> range:
        """The range that contains all known rows."""
        return range(min(self._rows), max(self._rows) + 1) if self._rows else range(0)

    def row(self, place: int) -> RowT | None:
        """Returns a row; an earlier one, or None, until it has arrived."""
        if (place not in self._rows or place in self._outdated) and place not in self._asked:
            self._ask(place - place % BLOCK)
        return self._rows.get(place)

    def _ask(self, start: int) -> None:
        generation, self._in_call = self._generation, True
        self._asked.update(range(start, start + BLOCK))

        def take(rows: list[RowT]) -> None:
            if generation == self._generation:
                self._take(start, rows)

        self._client.send_request(self._question(start, start + BLOCK), take)
        self._in_call = False

    def _take(self, start: int, rows: list[RowT]) -> None:
        if len(self._rows) > _MOST:
            self._rows.clear()
            self._outdated.clear()
        places = range(start, start + len(rows))
        self._rows.update(zip(places, rows, strict=True))
        self._outdated.difference_update(places)
        self._asked.difference_update(range(start, start + BLOCK))
        if not self._in_call:
            self._arrived(start, places.stop)
