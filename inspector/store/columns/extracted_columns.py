"""Values extracted from messages beside their columns; some are dropped after the checks, numbers stay."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.protocol import mcp_messages
from inspector.protocol.derived_messages import ApiCall
from inspector.protocol.mcp_notes import McpNote
from inspector.protocol.record import HttpExchange
from inspector.store.columns.extracts import Extracts, ToolList
from inspector.store.columns.hashes import NO_HASH, hash_text
from inspector.store.columns.irregular_forms import IrregularForm
from inspector.store.columns.sparse_columns import SparseColumns
from inspector.store.columns.stored_names import stored_name

TASK_STATUS, TASK_RESULT, TASK_FAILED, TASK_HANDED = 0x0F, 0x10, 0x20, 0x40
"""Bits of a message about a task, beside its `TaskStatus`: it has a result, it is a failure, it answers a call with a
task.
"""


class ExtractedColumns:
    """Message data that passes and checks need beside the columns.

    Attributes:
        unchecked: extracts of new messages by message; cleared after all passes and checks.

    Args:
        intern: returns the string id of a text.
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

    def append_extracts(self, extracts: Extracts, places: Sequence[int]) -> None:
        """Appends the extracts of a block's records; `places` are their messages, below 0 for none."""
        unchecked, intern = self.unchecked, self._intern
        unchecked.add_extracts(extracts, places)
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
        # The columns now hold these facts; kept as objects too, they would take memory for the
        # whole session.
        unchecked.arguments, unchecked.listed, unchecked.took, unchecked.costs = {}, {}, {}, {}
        unchecked.versions, unchecked.states, unchecked.tasks = {}, {}, {}

    def clear_unchecked(self) -> None:
        """Clears the extracts of new messages after every pass and check."""
        self.unchecked.clear()

    # Extracts of new messages

    def take_api_calls(self) -> dict[int, ApiCall]:
        """Returns the model calls behind messages since the last call, by message, and clears them."""
        found, self.unchecked.api_calls = self.unchecked.api_calls, {}
        return found

    def payload_digest(self, message: int) -> int:
        """Returns a payload hash for a result with `_meta`, equal for equal payloads; else NO_HASH."""
        return self.unchecked.digests.get(message, NO_HASH)

    def tool_lists(self) -> Mapping[int, ToolList]:
        """Returns the tool lists of results, by message."""
        return self.unchecked.tools

    def mcp_notes(self) -> Mapping[int, McpNote]:
        """Returns the notes for MCP checks of JSON-RPC messages, by message."""
        return self.unchecked.notes

    def http_exchanges(self) -> Mapping[int, HttpExchange]:
        """Returns the HTTP exchanges that carried messages, by message."""
        return self.unchecked.exchanges

    def noise_lines(self) -> Mapping[int, str]:
        """Returns the first characters of lines that are noise in the place of a message."""
        return self.unchecked.noise

    def irregular_form(self, message: int) -> IrregularForm | None:
        """Returns a message's irregular form if it is the first of its sender and kind with one."""
        return self.unchecked.odd.get(message)

    # Extracts of all messages

    def full_contexts(self, start: int) -> list[tuple[int, int, int]]:
        """Returns (message, used tokens, window or 0) for messages from `start` on that report a full context."""
        rows = self._filled.messages
        first = int(rows.searchsorted(np.uint32(start)))
        columns = (rows, self._filled["tokens"], self._filled["window"])
        return list(zip(*(column[first:].tolist() for column in columns), strict=True))

    def tool_durations_ns(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Returns (n,) working time of tools in ns as results report it; -1 if not."""
        return np.where(self._took.has_values(rows), self._took.values_of("ns", rows).astype(np.int64), -1)

    def stated_costs(self, rows: NDArray[np.int64] | None = None) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Returns messages with a stated cost, and (n,) dollars; of all messages, or of the given rows."""
        found = self._costs.messages.astype(np.int64) if rows is None else rows[self._costs.has_values(rows)]
        return found, self._costs.values_of("nano_dollars", found).astype(np.float64) / 1e9

    def are_total_costs(self, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Returns (n,) True for stated costs that are totals so far."""
        return self._costs.values_of("is_total", rows) != 0

    def argument_hashes(self, rows: NDArray[np.int64]) -> NDArray[np.uint64]:
        """Returns (n,) argument hashes of proposals and of requests that name a message; NO_HASH otherwise."""
        return self._arguments.values_of("hash", rows)

    def listed_record_counts(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """Returns (n,) numbers of records that results list, by the two measures of `protocol.result_records`."""
        return self._listed.values_of("records", rows), self._listed.values_of("of_anything", rows)

    def exchanges(self, name: str, rows: NDArray[np.int64]) -> NDArray[Any]:
        """Returns (n,) a property of the HTTP exchanges that carried messages, else 0.

        Args:
            name: `number`, `status`, `path` and `method` (string ids), `hung_up` (the client ended the exchange, by the
                line that says so), `first_us` and `whole_us` (microseconds after the request).
            rows: messages.
        """
        return self._exchanges.values_of(name, rows)

    def mcp_values(self, name: str, rows: NDArray[np.int64]) -> NDArray[Any]:
        """Returns (n,) an MCP property of messages, else 0.

        Args:
            name: `version` (string id), `state` (`Extracts.states`), `task` (a hash of its id) or `task_says`
                (`TASK_STATUS`, `TASK_RESULT`...).
            rows: messages.
        """
        return self._mcp.values_of(name, rows)

    @property
    def exchange_rows(self) -> NDArray[Any]:
        """Messages carried by HTTP exchanges, ascending."""
        return self._exchanges.messages

    @property
    def mcp_rows(self) -> NDArray[Any]:
        """Messages with MCP properties, ascending."""
        return self._mcp.messages


def _task_numbers(task: mcp_messages.Task) -> tuple[int, int]:
    """Returns the stored hash of a task's id and the bits of `task_says`."""
    says = task.status | TASK_RESULT * task.has_result | TASK_FAILED * task.failed | TASK_HANDED * task.is_created
    return hash_text(task.identifier) or 1, int(says)
