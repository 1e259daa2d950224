"""Input of the checks: messages of one batch, results of the passes, and where findings go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.findings.before_capture import CaptureBeginnings
from inspector.analysis.findings.mcp_rows import McpRows
from inspector.analysis.findings.store import Findings
from inspector.analysis.passes.calls.correlation_names import NamedPass
from inspector.analysis.passes.calls.correlation_pass import CorrelationPass
from inspector.analysis.passes.changed_rows import NO_ROWS, Rows
from inspector.analysis.passes.contexts.context_pass import ContextPass
from inspector.analysis.passes.contexts.visibility_pass import VisibilityPass
from inspector.analysis.passes.participants.capabilities import CapabilityPass
from inspector.analysis.passes.participants.impersonation import TrustPass
from inspector.analysis.passes.participants.participant_pass import ParticipantPass
from inspector.analysis.passes.results.transient_results import TransientPass
from inspector.analysis.passes.tokens.reported_usage import ReportedUsage
from inspector.protocol import msp
from inspector.store.files.capability_decisions import CapabilityDecisions
from inspector.store.files.tool_baseline import ServerTools
from inspector.store.messages.capture import Capture

Array = NDArray[Any]


class ReportedProblem(NamedTuple):
    """Problem that a document of sessions has with the object behind a row."""

    code: str
    row: int
    text: str


@dataclass(frozen=True, slots=True)
class Passes:
    """The capture and all passes that checks read. They are complete up to the batch."""

    capture: Capture
    contexts: ContextPass
    correlation: CorrelationPass
    named: NamedPass
    transients: TransientPass
    visibility: VisibilityPass
    trust: TrustPass
    participants: ParticipantPass
    capabilities: CapabilityPass
    usage: ReportedUsage


@dataclass(slots=True)
class Batch:
    """New messages `start` to `stop`, and earlier ones whose links, badges or deliveries changed.

    Attributes:
        now_ns: the wall clock while live, else the latest time in the log; NO_TIME if unknown.
        changed: earlier messages, ascending.
        beginnings: participants who were present before the capture began.
        mcp: messages known to be MCP; the MCP topic runs first and fills it.
        baseline: tools that MCP servers listed when last tapped, by server name; None without a comparison.
        decisions: the gateway's verdicts beside a log, or None.
        reported: problems of the document of sessions behind the messages.
    """

    passes: Passes
    findings: Findings
    start: int
    stop: int
    changed: Rows
    now_ns: int
    beginnings: CaptureBeginnings
    mcp: McpRows
    decisions: CapabilityDecisions | None = None
    reported: Sequence[ReportedProblem] = ()
    baseline: Mapping[str, ServerTools] | None = None
    _rows: dict[str, Rows] = field(default_factory=dict)
    _changed_kinds: Array | None = None
    _flag_union: int | None = None  # union of the flags of all new messages

    @property
    def capture(self) -> Capture:
        return self.passes.capture

    @property
    def links(self) -> Any:
        """Columns of the correlation pass."""
        return self.passes.correlation.columns

    def new(self, column: str) -> Array:
        """Returns a column's values for the new messages."""
        return self.capture.columns[column][self.start : self.stop]

    def sent_rows(self, rows: Rows) -> Rows:
        """Filters out rows of session documents, which were never sent (docs/protocols.md 14)."""
        code = self.code(msp.PROTOCOL)
        return rows if code < 0 or not len(rows) else rows[self.column_values("protocol", rows) != code]

    def code(self, text: str) -> int:
        """Returns the id of a string; -1 if no message has it."""
        return self.capture.strings.find(text) or -1

    def rows(self, kind: str) -> Rows:
        """Returns the new messages of a kind."""
        found = self._rows.get(kind)
        if found is None:
            code = self.code(kind)
            found = np.flatnonzero(self.new("kind") == code) + self.start if code >= 0 else NO_ROWS
            self._rows[kind] = found
        return found

    def changed_rows(self, kind: str) -> Rows:
        """Returns the changed earlier messages of a kind."""
        if not len(self.changed):
            return self.changed
        if self._changed_kinds is None:
            self._changed_kinds = self.capture.columns["kind"][self.changed]
        return self.changed[self._changed_kinds == self.code(kind)]

    def new_and_changed_rows(self, kind: str) -> Rows:
        """Returns the new and the changed messages of a kind, ascending."""
        changed, new = self.changed_rows(kind), self.rows(kind)
        return np.concatenate((changed, new)) if len(changed) else new

    def flagged_rows(self, bits: int) -> Rows:
        """Returns the new messages with any of these flags."""
        # Most batches have none of the flags that topics ask for; one reduction answers all of them.
        if self._flag_union is None:
            self._flag_union = int(np.bitwise_or.reduce(self.new("flags"))) if self.stop > self.start else 0
        return np.flatnonzero(self.new("flags") & bits) + self.start if self._flag_union & bits else NO_ROWS

    def column_values(self, column: str, rows: Rows) -> Array:
        """Returns a column's values for some messages."""
        return self.capture.columns[column][rows]

    def addressed(self, sets: Array, people: Array) -> Array:
        """(n,) bool: True for sets of recipients that contain one of `people` (string ids). O(names in them)."""
        return self.capture.to_sets.contain_names(sets, people)

    def string(self, column: str, row: int) -> str:
        """Returns the value of a string column; "" if absent."""
        return self.capture.string(column, row) or ""


_INITIAL_CAPACITY = 1024


class StringNumbers:
    """Small number per string id, 0 until set; remembers state or a verdict about a string."""

    def __init__(self, dtype: Any = np.uint8) -> None:
        self._values = np.zeros(_INITIAL_CAPACITY, dtype)

    def numbers_of(self, ids: Array) -> Array:
        """Returns the numbers of some strings."""
        if len(ids):
            self._ensure_capacity(int(ids.max()))
        return self._values[ids]

    def get(self, identifier: int) -> int:
        """Returns the number of one string."""
        return int(self._values[identifier]) if 0 <= identifier < len(self._values) else 0

    def set_number(self, ids: Any, marks: Any) -> None:
        """Sets the numbers of one or more strings."""
        self._ensure_capacity(int(np.max(ids)))
        self._values[ids] = marks

    def marked(self) -> Array:
        """Returns all ids with a number, ascending. O(ids)."""
        return np.flatnonzero(self._values)

    def _ensure_capacity(self, most: int) -> None:
        if most >= len(self._values):
            length = len(self._values)
            # String ids grow with the capture; small steps would copy the array too often.
            more = max(most + 1, length + max(_INITIAL_CAPACITY, length // 8)) - length
            self._values = np.concatenate((self._values, np.zeros(more, self._values.dtype)))

    def unnumbered_ids(self, ids: Array) -> list[tuple[int, int]]:
        """Returns strings without a number: (id, first position in `ids`) of each, by position."""
        places = np.flatnonzero(self.numbers_of(ids) == 0)
        if not len(places):
            return []
        found, first = np.unique(ids[places], return_index=True)
        order = np.argsort(first)
        return list(zip(found[order].tolist(), places[first[order]].tolist(), strict=True))
