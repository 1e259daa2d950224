"""What was extracted of messages beside their columns: some until the checks have seen it, numbers for ever."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.protocol import mcp
from inspector.protocol.mcp_notes import Note
from inspector.protocol.meaning import ApiCall
from inspector.protocol.record import Exchange
from inspector.store.columns.extracts import Extracts, ToolList
from inspector.store.columns.hashes import NO_HASH, hash_text
from inspector.store.columns.irregular_forms import OddForm
from inspector.store.columns.name_store import stored_name
from inspector.store.columns.sparse_columns import SparseColumns

TASK_STATUS, TASK_RESULT, TASK_FAILED, TASK_HANDED = 0x0F, 0x10, 0x20, 0x40
"""Of what a message says of a task: bits of its `TaskStatus`, that a result is in it, that this is a failure, and that
a call is answered with it."""


class ExtractedColumns:
    """What passes and checks ask of messages and columns do not hold.

    Attributes:
        unchecked: of messages just taken in, by message; nothing of it is left once all passes and checks have looked.

    Args:
        intern: gives a text its string id.
    """

    def __init__(self, intern: Callable[[str], int]) -> None:
        self._intern = intern
        self.unchecked = Extracts()
        self._arguments = SparseColumns(hash=np.uint64)
        self._listed = SparseColumns(records=np.uint32, of_anything=np.uint32)
        self._exchanges = SparseColumns(
            number=np.uint32,
            status=np.uint16,
            path=np.uint32,
            method=np.uint32,
            hung_up=np.uint8,
            first_us=np.uint32,
            whole_us=np.uint32,
        )
        self._mcp = SparseColumns(version=np.uint32, state=np.uint64, task=np.uint64, task_says=np.uint8)
        self._filled = SparseColumns(tokens=np.uint64, window=np.uint64)
        self._took = SparseColumns(ns=np.uint64)
        self._costs = SparseColumns(nano_dollars=np.uint64, is_total=np.uint8)

    def take_in(self, extracts: Extracts, places: Sequence[int]) -> None:
        """Take in what was extracted of the records of a block; `places` are the messages they start, below 0: none."""
        unchecked, intern = self.unchecked, self._intern
        unchecked.put(extracts, places)
        self._arguments.append({row: (value,) for row, value in unchecked.arguments.items()})
        self._listed.append(unchecked.listed)
        self._filled.append(unchecked.filled)
        self._costs.append(unchecked.costs)
        self._took.append({row: (value,) for row, value in unchecked.took.items()})
        self._exchanges.append({
            row: (
                one.number, one.status,
                *(intern(stored_name(text)) if text is not None else 0 for text in (one.path, one.method)), one.hung_up,
                one.first_us, one.whole_us,
            )
            for place, one in extracts.exchanges.items() if (row := places[place]) >= 0
        })  # fmt: skip
        versions, states, tasks = unchecked.versions, unchecked.states, unchecked.tasks
        self._mcp.append({
            row: (
                intern(versions[row]) if row in versions else 0, states.get(row, 0),
                *(_task_numbers(tasks[row]) if row in tasks else (0, 0)),
            )
            for row in {*versions, *states, *tasks}
        })  # fmt: skip
        unchecked.arguments, unchecked.listed, unchecked.took, unchecked.costs = {}, {}, {}, {}
        unchecked.versions, unchecked.states, unchecked.tasks = {}, {}, {}

    def let_go(self) -> None:
        """Every pass and check has looked at what was read: what was extracted for them is not needed any more."""
        self.unchecked.clear()

    # Of messages just taken in

    def take_api_calls(self) -> dict[int, ApiCall]:
        """By message, the calls of models that messages came from since the last call."""
        found, self.unchecked.api_calls = self.unchecked.api_calls, {}
        return found

    def digest(self, message: int) -> int:
        """Of a result with `_meta`: a hash that is equal for equal payloads; else NO_HASH."""
        return self.unchecked.digests.get(message, NO_HASH)

    def tool_lists(self) -> Mapping[int, ToolList]:
        """Those whose results list tools."""
        return self.unchecked.tools

    def notes(self) -> Mapping[int, Note]:
        """What checks of MCP read of those that are JSON-RPC."""
        return self.unchecked.notes

    def carried(self) -> Mapping[int, Exchange]:
        """The HTTP exchanges that carried them."""
        return self.unchecked.exchanges

    def noise(self) -> Mapping[int, str]:
        """How those begin that stand where a message should."""
        return self.unchecked.noise

    def odd_form(self, message: int) -> OddForm | None:
        """What a message writes oddly, if it is the first of its sender and kind that does; None."""
        return self.unchecked.odd.get(message)

    # Of all messages

    def full_contexts(self, start: int) -> list[tuple[int, int, int]]:
        """Messages from `start` on that tell of a full context: (message, tokens in it, tokens it holds or 0)."""
        rows = self._filled.messages
        first = int(rows.searchsorted(np.uint32(start)))
        columns = (rows, self._filled["tokens"], self._filled["window"])
        return list(zip(*(column[first:].tolist() for column in columns), strict=True))

    def took_ns(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """(n,) how long tools worked, as some results tell; -1 where they do not."""
        return np.where(self._took.has(rows), self._took.of("ns", rows).astype(np.int64), -1)

    def stated_costs(self, rows: NDArray[np.int64] | None = None) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Messages that state a cost, and (n,) dollars of each; all of them, or those among some messages."""
        found = self._costs.messages.astype(np.int64) if rows is None else rows[self._costs.has(rows)]
        return found, self._costs.of("nano_dollars", found).astype(np.float64) / 1e9

    def state_totals(self, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """(n,) which of some messages that state a cost state that of all so far."""
        return self._costs.of("is_total", rows) != 0

    def argument_hashes(self, rows: NDArray[np.int64]) -> NDArray[np.uint64]:
        """(n,) of proposals, and of requests that name a message, a hash of their arguments; NO_HASH for none."""
        return self._arguments.of("hash", rows)

    def records_listed(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """(n,) how many records some results list, by the two measures of `protocol.listed`."""
        return self._listed.of("records", rows), self._listed.of("of_anything", rows)

    def exchanges(self, name: str, rows: NDArray[np.int64]) -> NDArray[Any]:
        """(n,) of the HTTP exchanges that carried some messages, 0 for none.

        Args:
            name: `number`, `status`, `path` and `method` (string ids), `hung_up`: that the client ended it, by the line
                that says so; `first_us` and `whole_us`, microseconds after the request.
            rows: messages.
        """
        return self._exchanges.of(name, rows)

    def mcp(self, name: str, rows: NDArray[np.int64]) -> NDArray[Any]:
        """(n,) what some messages say of MCP, 0 for nothing.

        Args:
            name: `version` (string id), `state` (`Extracts.states`), `task` (a hash of its id) or `task_says`
                (`TASK_STATUS`, `TASK_RESULT`...).
            rows: messages.
        """
        return self._mcp.of(name, rows)

    @property
    def exchange_rows(self) -> NDArray[Any]:
        """The messages that HTTP exchanges carried, ascending."""
        return self._exchanges.messages

    @property
    def mcp_rows(self) -> NDArray[Any]:
        """The messages of which `mcp` knows anything, ascending."""
        return self._mcp.messages


def _task_numbers(task: mcp.Task) -> tuple[int, int]:
    """What is stored of what a message says of a task."""
    says = task.status | TASK_RESULT * task.has_result | TASK_FAILED * task.failed | TASK_HANDED * task.handed
    return hash_text(task.identifier) or 1, int(says)
