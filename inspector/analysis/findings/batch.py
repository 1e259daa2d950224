"""What a topic of checks is given: new messages, earlier ones that changed, the passes, and where to put findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.findings.beginning import Beginnings
from inspector.analysis.findings.mcp_rows import McpRows
from inspector.analysis.findings.store import Findings
from inspector.analysis.passes.calls.correlation import CorrelationPass
from inspector.analysis.passes.calls.correlation_names import NamedPass
from inspector.analysis.passes.changes import NO_ROWS, Rows
from inspector.analysis.passes.contexts.context_pass import ContextPass
from inspector.analysis.passes.contexts.visibility import VisibilityPass
from inspector.analysis.passes.participants.capabilities import CapabilityPass
from inspector.analysis.passes.participants.impersonation import TrustPass
from inspector.analysis.passes.participants.participant_pass import ParticipantPass
from inspector.analysis.passes.results.transients import TransientPass
from inspector.analysis.passes.tokens.reported_usage import ReportedUsage
from inspector.protocol import msp
from inspector.store.files.capability_decisions import Decisions
from inspector.store.files.tool_baseline import Listed
from inspector.store.messages.capture import Capture

Array = NDArray[Any]


class ReportedProblem(NamedTuple):
    """What a document says is wrong with the object behind a row."""

    code: str
    row: int
    text: str


@dataclass(frozen=True, slots=True)
class Passes:
    """The capture and the passes that have taken in everything that the checks look at."""

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
    """Messages `start` to `stop`, which are new, and earlier ones whose links, badges or deliveries changed.

    Attributes:
        now_ns: the wall clock while live, else the latest time in the log; NO_TIME.
        changed: earlier messages, ascending.
        beginnings: who was there before the capture began.
        mcp: which messages are MCP; the topic of that says it first.
        baseline: what servers of MCP listed when they were tapped last, by name, where logs are held against that.
        decisions: the gateway's verdicts beside a log, or None.
        reported: what the document of sessions behind the messages says is wrong with it.
    """

    passes: Passes
    findings: Findings
    start: int
    stop: int
    changed: Rows
    now_ns: int
    beginnings: Beginnings
    mcp: McpRows
    decisions: Decisions | None = None
    reported: Sequence[ReportedProblem] = ()
    baseline: Mapping[str, Listed] | None = None
    _rows: dict[str, Rows] = field(default_factory=dict)
    _changed_kinds: Array | None = None
    _bits: int | None = None  # flags that any of the new messages has

    @property
    def capture(self) -> Capture:
        """The messages."""
        return self.passes.capture

    @property
    def links(self) -> Any:
        """Columns of the correlation pass."""
        return self.passes.correlation.columns

    def new(self, column: str) -> Array:
        """The values of the new messages."""
        return self.capture.columns[column][self.start : self.stop]

    def on_the_wire(self, rows: Rows) -> Rows:
        """Those of some messages that went to somebody, not what documents of sessions say (docs/protocols.md 14)."""
        code = self.code(msp.PROTOCOL)
        return rows if code < 0 or not len(rows) else rows[self.of("protocol", rows) != code]

    def code(self, text: str) -> int:
        """The id of a string; -1 when no message has it."""
        return self.capture.strings.find(text) or -1

    def rows(self, kind: str) -> Rows:
        """The new messages of a kind."""
        found = self._rows.get(kind)
        if found is None:
            code = self.code(kind)
            found = np.flatnonzero(self.new("kind") == code) + self.start if code >= 0 else NO_ROWS
            self._rows[kind] = found
        return found

    def changed_rows(self, kind: str) -> Rows:
        """The earlier messages of a kind that changed."""
        if not len(self.changed):
            return self.changed
        if self._changed_kinds is None:
            self._changed_kinds = self.capture.columns["kind"][self.changed]
        return self.changed[self._changed_kinds == self.code(kind)]

    def both(self, kind: str) -> Rows:
        """The messages of a kind that are new or changed, ascending."""
        changed, new = self.changed_rows(kind), self.rows(kind)
        return np.concatenate((changed, new)) if len(changed) else new

    def flagged(self, bits: int) -> Rows:
        """The new messages with any of these flags."""
        if self._bits is None:
            self._bits = int(np.bitwise_or.reduce(self.new("flags"))) if self.stop > self.start else 0
        return np.flatnonzero(self.new("flags") & bits) + self.start if self._bits & bits else NO_ROWS

    def of(self, column: str, rows: Rows) -> Array:
        """A column's values of some messages."""
        return self.capture.columns[column][rows]

    def addressed(self, sets: Array, people: Array) -> Array:
        """(n,) whether each of some sets of recipients names somebody (a string id). O(names in them)."""
        return self.capture.to_sets.have(sets, people)

    def string(self, column: str, row: int) -> str:
        """A string column's value; "" when it is absent."""
        return self.capture.string(column, row) or ""


_ROOM = 1024


class Marks:
    """A small number for each string id, 0 until it is put: what was found out about a string, or seen of it."""

    def __init__(self, dtype: Any = np.uint8) -> None:
        self._values = np.zeros(_ROOM, dtype)

    def of(self, ids: Array) -> Array:
        """The marks of some strings."""
        if len(ids):
            self._reach(int(ids.max()))
        return self._values[ids]

    def get(self, identifier: int) -> int:
        """The mark of one string."""
        return int(self._values[identifier]) if 0 <= identifier < len(self._values) else 0

    def put(self, ids: Any, marks: Any) -> None:
        """Mark a string, or some."""
        self._reach(int(np.max(ids)))
        self._values[ids] = marks

    def marked(self) -> Array:
        """The ids of all that have a mark, ascending. O(ids)."""
        return np.flatnonzero(self._values)

    def _reach(self, most: int) -> None:
        if most >= len(self._values):
            length = len(self._values)
            more = max(most + 1, length + max(_ROOM, length // 8)) - length
            self._values = np.concatenate((self._values, np.zeros(more, self._values.dtype)))

    def unseen(self, ids: Array) -> list[tuple[int, int]]:
        """Strings that have no mark yet: (id, first place in `ids`) of each, by place."""
        places = np.flatnonzero(self.of(ids) == 0)
        if not len(places):
            return []
        found, first = np.unique(ids[places], return_index=True)
        order = np.argsort(first)
        return list(zip(found[order].tolist(), places[first[order]].tolist(), strict=True))
