"""Runs all checks. Comes after the other passes, as checks read their results."""

from __future__ import annotations

import logging
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import cast

from inspector.analysis.arrays.unique_ints import sorted_unique
from inspector.analysis.findings import before_capture
from inspector.analysis.findings.batch import Batch, Passes, ReportedProblem
from inspector.analysis.findings.by_context import FindingsByContext
from inspector.analysis.findings.mcp_rows import McpRows
from inspector.analysis.findings.sentences import Finding, format_finding, format_hint
from inspector.analysis.findings.store import Findings, StoredFinding
from inspector.analysis.findings.topic import DeferredTopic, Topic
from inspector.analysis.passes.changed_rows import NO_ROWS, Rows
from inspector.base.slices import SlicedWork, run_step, run_to_end
from inspector.store.columns.columns import GrowingColumns
from inspector.store.files.capability_decisions import CapabilityDecisions
from inspector.store.files.tool_baseline import ServerTools


@cache
def _has_deferred_work(kind: type[Topic]) -> bool:
    """Returns True if topics of a type have deferred work. Cached: a protocol check is slower than making a topic."""
    return issubclass(kind, DeferredTopic)


_log = logging.getLogger(__name__)
_MIN_STEPPED_ROUND = 1_024
"""Rounds below this many messages run at once, if no more messages are to come."""
_ROUND_MESSAGES = 4_096
"""Messages worth a round of all checks: a few hundred array steps, which cost the same for a hundred messages.

With four times as many, one topic blocks a window too long if all messages are of its kinds.
"""


class FindingPass:
    """Runs the checks over messages and keeps their findings.

    Attributes:
        found: the findings; its column `set` holds the index into `found.sets` of each message's codes.
        decisions: the gateway's verdicts beside a log, once read; `catch_up` checks new ones.
        reported: problems that a document of sessions has; `catch_up` checks a new sequence.
        baseline: tools that MCP servers listed when last tapped; None if there is nothing to compare with.
        by_context: counts per context, descendants included.
        failed: topics that a program error has ended, by name, and the message count they had reached.
    """

    def __init__(self, passes: Passes) -> None:
        # Here, since checks of formats import modules of this package.
        from inspector.analysis.findings.check_table import all_checks, all_topics

        self._passes = passes
        self.decisions: CapabilityDecisions | None = None
        self.reported: Sequence[ReportedProblem] = ()
        self.baseline: Mapping[str, ServerTools] | None = None
        self.found = Findings(all_checks(), passes.capture.are_derived)
        self.by_context = FindingsByContext(self._passes.capture, self._passes.contexts, self.found)
        self._beginnings = before_capture.CaptureBeginnings(passes.capture, passes.trust)
        self._mcp = McpRows()
        self._topics: dict[str, Topic] = {one.name: one.make() for one in all_topics()}
        self._deferred_topics = {
            name: cast(DeferredTopic, topic) for name, topic in self._topics.items() if _has_deferred_work(type(topic))
        }
        self.failed: dict[str, int] = {}
        self._has_deferred = False  # deferred work is left
        self._fed = 0
        self._checked_count = 0
        self._changed: list[Rows] = []
        self._round: SlicedWork[None] | None = None

    @property
    def columns(self) -> GrowingColumns:
        """Columns of the pass: per message `set`."""
        return self.found.columns

    @property
    def unchecked_count(self) -> int:
        """Count of messages not yet checked."""
        return self._fed - self._checked_count

    @property
    def is_round_open(self) -> bool:
        """True while a round is unfinished; `advance` continues it."""
        return self._round is not None

    def feed(
        self, start: int, stop: int, changed: Rows = NO_ROWS, now_ns: int | None = None, *, more: bool = False
    ) -> None:
        """Takes in messages `start` to `stop`.

        Many messages only start a round. `advance` continues it, and any other call finishes it.

        Args:
            changed: earlier messages whose links, badges or deliveries changed, ascending.
            now_ns: the wall clock while live; None for the latest time in the log.
            more: True if more messages follow at once. A few messages are then left until `catch_up`.
        """
        self.finish_round()
        self._fed = stop
        self.found.extend(stop - start)
        earlier = changed[changed < self._checked_count]
        if len(earlier):
            self._changed.append(earlier)
        # A round costs the same for few messages as for a hundred, so it waits for more of them.
        if self.unchecked_count >= (_ROUND_MESSAGES if more else _MIN_STEPPED_ROUND):
            self._begin_round(now_ns)
        elif not more:
            self.catch_up(now_ns)

    def catch_up(self, now_ns: int | None = None) -> None:
        """Checks the messages left for later, and messages that have waited too long by now."""
        self.finish_round()
        self._begin_round(now_ns)
        self.finish_round()

    def advance(self) -> None:
        """Continues a round by one topic."""
        if self._round is not None and run_step(self._round):
            self._round = None

    def finish_round(self) -> None:
        """Finishes the current round. Checks see the capture and passes as they were when it began."""
        if self._round is not None:
            run_to_end(self._round)
            self._round = None

    def _begin_round(self, now_ns: int | None) -> None:
        batch = self._batch(self._checked_count, now_ns)
        self._has_deferred |= batch.stop > batch.start or len(batch.changed) > 0
        # Set before the round runs, so that messages fed meanwhile belong to the next round.
        self._checked_count = self._fed
        self._changed.clear()
        self._beginnings.feed(batch.rows("system/welcome"), self._fed)
        self._round = self._topic_by_topic(batch)

    def _topic_by_topic(self, batch: Batch) -> SlicedWork[None]:
        # A copy, as a failing topic is removed from the dict meanwhile.
        for name in [*self._topics]:
            with self._guarded(name):
                self._topics[name].feed(batch)
            yield
        # Extracts of checked messages are not needed again; without this they grow with the capture.
        self._passes.capture.extracted.clear_unchecked()

    def deferred_checks(self, now_ns: int | None = None) -> SlicedWork[None]:
        """Does deferred work, which reads records again; yields after a piece of each topic, so that none starves.

        Closing the generator leaves the rest to another one. `now_ns` is as for `feed`.
        """
        if self.unchecked_count and self._round is None:
            self._begin_round(now_ns)
        while self._round is not None:
            self.advance()
            yield
        if not self._has_deferred:
            return
        batch = self._batch(self._fed, now_ns)
        topics = self._deferred_topics.keys() & self._topics.keys()
        working = {name: self._deferred_topics[name].deferred_checks(batch) for name in topics}
        while working:
            for name, steps in [*working.items()]:
                is_done = True
                with self._guarded(name):
                    is_done = run_step(steps)
                if is_done:
                    del working[name]
            yield
        self._has_deferred = False

    def _batch(self, start: int, now_ns: int | None) -> Batch:
        now = self._passes.contexts.clock_ns if now_ns is None else now_ns
        changed = sorted_unique(*self._changed) if self._changed else NO_ROWS
        told = self._beginnings, self._mcp, self.decisions, self.reported, self.baseline
        return Batch(self._passes, self.found, start, self._fed, changed, now, *told)

    @contextmanager
    def _guarded(self, name: str) -> Generator[None]:
        """Contains the failure of one topic: an exception ends this topic only."""
        try:
            yield
        except Exception:  # noqa: BLE001 - a failing topic is logged and dropped; others continue
            _log.exception("The checks of %s have failed", name)
            self.failed[name] = self._checked_count
            del self._topics[name]

    def take_changes(self) -> Rows:
        """Returns messages whose findings changed since the last call."""
        rows = self.found.changed.take_rows()
        self.by_context.note(rows)
        return rows

    # Queries

    def findings_about(self, row: int) -> list[Finding]:
        """Returns the findings about a message, formatted, most severe first."""
        return [self.in_words(found) for found in self.found.findings_about(row)]

    def all(self) -> Iterator[Finding]:
        """Yields every finding, formatted: the most severe codes first, by message within a code."""
        return map(self.in_words, self.found.all())

    def in_words(self, found: StoredFinding) -> Finding:
        return format_finding(self._passes, found)

    def hint(self, found: StoredFinding) -> str:
        """Returns the remedy of a finding, formatted."""
        return format_hint(self._passes, found)
