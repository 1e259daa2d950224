"""Figures of the logs in a folder, read one log after another in a worker process: tokens, costs, calls, failures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from inspector.analysis.passes.tokens.listed_prices import prices_in_force
from inspector.base.workers.child_process import disable_children
from inspector.base.workers.pool import WorkerDiedError, WorkerPool
from inspector.base.workers.serving import plain
from inspector.formats import registry
from inspector.survey.one_run import SurveyOptions, survey_run
from inspector.survey.run_places import RunPlace

Tables = dict[str, list[dict[str, Any]]]
"""Rows of a run by table of `inspector.survey.schema`."""
MOST_BYTES = 256 << 20
"""Limit of a log's size; larger ones have no figures."""
_MEMORY_MB = 1_000
_NICENESS = 10
_MOST_DEATHS = 5
_TABLES = ("runs", "findings", "tools", "failures")


class LogFigures:
    """Reads the figures of logs in the order given. Used on one thread.

    Attributes:
        left: number of logs that are not read yet.
    """

    def __init__(self, places: Sequence[RunPlace], prices: Sequence[str], dated: str, *, listed: bool) -> None:
        """Starts no process before `poll`.

        Args:
            places: the logs.
            prices: the user's price lines of models.
            dated: date of these prices, or "".
            listed: the price list of the program counts for all other models.
        """
        lines, when = prices_in_force(prices, dated, listed=listed)
        self._options = SurveyOptions(tokens=False, memory_mb=_MEMORY_MB, prices=tuple(lines), prices_dated=when)
        self._waiting = [place for place in places if place.size <= MOST_BYTES][::-1]
        self._pool = WorkerPool[str](
            plain, _tables_of, name="read figures of logs", nice=_NICENESS, restarts=_MOST_DEATHS,
            carried=registry.CARRIED,
        )  # fmt: skip
        self.left = len(self._waiting)

    def poll(self) -> list[tuple[str, Tables]]:
        """Returns the paths and the tables of logs read since the last call. Never raises or waits."""
        if not self.left:
            return []
        found: list[tuple[str, Tables]] = []
        for answer in self._pool.poll():
            self.left -= 1
            # A log that ends its process keeps the facts of its row.
            found.append((answer.key, answer.value if answer.error is None else {}))
            if isinstance(answer.error, WorkerDiedError) and self._pool.failure is not None:
                self.left = 0
        if self.left and not self._pool.pending:
            place = self._waiting.pop()
            self._pool.request(place.path, (place, self._options))
        elif not self.left:
            self.end()
        return found

    def end(self) -> None:
        """Ends the process; the logs left are not read."""
        self.left = 0
        self._pool.end()


def _tables_of(asked: tuple[RunPlace, SurveyOptions]) -> Tables:
    disable_children()
    tables = survey_run(*asked).tables
    return {name: tables[name] for name in _TABLES if name in tables}
