"""Incremental passes over the capture. `Analysis` owns them and feeds them in order.

To add a pass, write a module here with `feed(start, stop)`. Two lines in Analysis create it, and feed it after the
passes it reads. A pass that changes results for earlier messages has `take_changes`, called by `Analysis.feed`. A pass
that checks read has a line in `findings.batch.Passes` too.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from inspector.analysis.arrays.unique_ints import sorted_unique
from inspector.analysis.findings import FindingPass
from inspector.analysis.findings.batch import Passes
from inspector.analysis.passes.calls.correlation_names import NamedPass
from inspector.analysis.passes.calls.correlation_pass import CorrelationPass
from inspector.analysis.passes.calls.departed_waits import DeparturePass
from inspector.analysis.passes.changed_rows import NO_ROWS, Rows
from inspector.analysis.passes.contexts.context_pass import ContextPass
from inspector.analysis.passes.contexts.visibility_pass import VisibilityPass
from inspector.analysis.passes.participants.capabilities import CapabilityPass
from inspector.analysis.passes.participants.impersonation import TrustPass
from inspector.analysis.passes.participants.participant_pass import ParticipantPass
from inspector.analysis.passes.results.transient_results import TransientPass
from inspector.analysis.passes.streams.stream_pass import StreamPass
from inspector.analysis.passes.tokens.call_costs import DocumentCosts
from inspector.analysis.passes.tokens.reported_usage import ReportedUsage
from inspector.analysis.passes.tokens.token_pass import TokenPass
from inspector.analysis.passes.user_marks import UserMarks
from inspector.analysis.states.state_pass import StatePass
from inspector.base.slices import run_until
from inspector.protocol.tool_aliases import ToolAliases
from inspector.store.messages.capture import Capture

__all__ = ["Analysis", "AnalysisChanges", "Changes"]

_SLICE_S = 0.008

_P = ParamSpec("_P")
_T = TypeVar("_T")


class Changes(Protocol):
    """Changes of messages: `AnalysisChanges`, or those that an engine has reported."""

    @property
    def start(self) -> int: ...
    @property
    def stop(self) -> int: ...
    @property
    def changed(self) -> Rows: ...
    @property
    def tree_moved(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class AnalysisChanges:
    """Result of one feed: messages `start` to `stop` are new, `changed` are earlier ones with new values.

    `tree_moved` is true if contexts appeared, moved or changed their type. Values that depend on the tree may then have
    changed in any message. `counts_only` is true if only counts of tokens are new.
    """

    start: int
    stop: int
    changed: Rows
    tree_moved: bool
    counts_only: bool = False


def _reads_unmasked(
    step: Callable[Concatenate[Analysis, _P], _T],
) -> Callable[Concatenate[Analysis, _P], _T]:
    """Runs a step of the passes on the logged texts, since results must not depend on masks, which are slow to find."""

    @wraps(step)
    def run(analysis: Analysis, *args: _P.args, **kwargs: _P.kwargs) -> _T:
        with analysis.capture.records.unmasked():
            return step(analysis, *args, **kwargs)

    return run


class Analysis:
    """A capture and the results of all passes over it.

    Attributes:
        capture: the messages.
        trust: forged messages in a gateway's name.
        streams: the runs of frames, with their owners.
        contexts, correlation, named, transients, visibility, participants, capabilities, findings, states, tokens,
            usage: the passes.
        marks: the user's marks and comments on messages and contexts.
        now_ns: the wall clock while traffic is live, None for a log; decides `state`.
    """

    def __init__(self, capture: Capture) -> None:
        self.capture = capture
        # Each pass reads only passes above it.
        self.trust = TrustPass(capture)
        self.streams = StreamPass(capture, self.trust)
        self.contexts = ContextPass(capture)
        self.correlation = CorrelationPass(capture, self.trust)
        self.named = NamedPass(capture, self.correlation, self.contexts)
        self.transients = TransientPass(capture, self.correlation)
        self.participants = ParticipantPass(capture, self.trust)
        self.departures = DeparturePass(capture, self.correlation, self.participants)
        self.capabilities = CapabilityPass(capture, self.trust, self.contexts)
        self.visibility = VisibilityPass(capture)
        self.usage = ReportedUsage(capture)
        self.findings = FindingPass(
            Passes(
                capture,
                self.contexts,
                self.correlation,
                self.named,
                self.transients,
                self.visibility,
                self.trust,
                self.participants,
                self.capabilities,
                self.usage,
            )
        )
        self.states = StatePass(capture, self.contexts, self.correlation, self.findings.found)
        self.tokens = TokenPass(capture, self.contexts, self.correlation, self.transients)
        self.costs = DocumentCosts(capture, self.usage, self.contexts, self.tokens)
        self.marks = UserMarks(self.contexts)
        self.now_ns: int | None = None
        self._fed = 0

    def __len__(self) -> int:
        return self._fed

    @_reads_unmasked
    def feed(self, touched: Rows | None = None, *, more: bool = False) -> AnalysisChanges:
        """Feeds the new messages of the capture to every pass.

        Args:
            touched: earlier messages that the capture itself changed (they gained a delivery).
            more: another batch follows at once; the checks may wait for it, until `catch_up`.

        For many messages the checks only begin: while `is_checking`, `advance` continues them.
        """
        start, stop = self._fed, len(self.capture)
        self.trust.feed(start, stop)
        self.streams.feed(start, stop)
        # Frames may get sender and context late; the passes below need both.
        late = self.streams.take_late()
        self.contexts.feed(start, stop, late.in_context)
        self.correlation.feed(start, stop)
        # Taken once: both results and states need the links of this batch.
        linked = self.correlation.take_changes()
        self.named.feed(start, stop)
        self.transients.feed(start, stop, linked, more=more)
        self.visibility.feed(start, stop)
        self.participants.feed(start, stop, late.sent)
        # Needs the departures that the participant pass found in this batch.
        self.departures.feed(start, stop)
        self.capabilities.feed(start, stop)
        # Needs the links of this batch; findings of it are read on demand.
        self.states.feed(start, stop, linked)
        self.tokens.feed(start, stop)
        self.usage.feed(start, stop)
        passes = (
            self.streams, self.transients, self.contexts, self.named, self.departures, self.states, self.usage,
        )  # fmt: skip
        parts = [linked, self.capture.foreign_rpc.take_changes(), *(fed.take_changes() for fed in passes)]
        if touched is not None:
            parts.append(touched)
        changed = sorted_unique(*parts)
        # New messages are reported by the range `start` to `stop`.
        changed = changed[changed < start]
        self._fed = stop  # set before the checks, which may fail: other passes must not count messages twice
        self.findings.feed(start, stop, changed, self.now_ns, more=more)
        found = self.findings.take_changes()
        # The checks may report messages of earlier batches, of which views have rows already.
        if len(found):
            changed = sorted_unique(changed, found[found < start])
        return AnalysisChanges(start, stop, changed, self.contexts.take_moved())

    @property
    def is_checking(self) -> bool:
        """True while the checks have unfinished messages."""
        return self.findings.is_round_open

    @_reads_unmasked
    def advance(self) -> AnalysisChanges:
        """Continues the checks by one step."""
        self.findings.advance()
        return AnalysisChanges(self._fed, self._fed, self.findings.take_changes(), False)

    def deferred_checks(self) -> Iterator[AnalysisChanges]:
        """Runs deferred checks; yields the changes after a few milliseconds of work."""
        steps, is_done = self.findings.deferred_checks(self.now_ns), False
        while not is_done:
            with self.capture.records.unmasked():
                is_done = run_until(steps, time.perf_counter() + _SLICE_S)
            changed = self.findings.take_changes()
            if len(changed) or not is_done:
                yield AnalysisChanges(self._fed, self._fed, changed, False)

    def take_counted(self) -> AnalysisChanges:
        """Returns the messages with newly counted tokens since the last call."""
        return AnalysisChanges(self._fed, self._fed, self.tokens.take_changes(), False, counts_only=True)

    @_reads_unmasked
    def catch_up(self) -> AnalysisChanges:
        """Runs all deferred checks, also after a change of the clock (`now_ns`)."""
        changes = self.begin_all_checks()
        self.findings.finish_round()
        return replace(changes, changed=sorted_unique(changes.changed, self.findings.take_changes()))

    @_reads_unmasked
    def begin_all_checks(self) -> AnalysisChanges:
        """Begins `catch_up`; for many messages the checks only begin (see `advance`)."""
        self.transients.reprocess_stale()
        told_again = self.transients.take_changes()
        self.findings.feed(self._fed, self._fed, told_again, self.now_ns)
        return AnalysisChanges(self._fed, self._fed, sorted_unique(told_again, self.findings.take_changes()), False)

    @_reads_unmasked
    def rewritten(self, rows: Rows) -> AnalysisChanges:
        """Updates messages after their lines were rewritten in place, since their visibility may differ."""
        self.visibility.read_again(rows)
        self.findings.feed(self._fed, self._fed, rows, self.now_ns)
        return AnalysisChanges(self._fed, self._fed, sorted_unique(rows, self.findings.take_changes()), False)

    @_reads_unmasked
    def use_tool_aliases(self, aliases: ToolAliases) -> AnalysisChanges:
        """Replaces the tool aliases, and reprocesses from the beginning the results that collapse."""
        if aliases.rules == self.transients.aliases.rules:
            return AnalysisChanges(self._fed, self._fed, NO_ROWS, False)
        self.transients.use_aliases(aliases)
        return self.catch_up()

    def use_prices(self, lines: Sequence[str], dated: str) -> AnalysisChanges:
        """Replaces the prices of model calls (`prices`)."""
        changed = self.usage.reports() if self.costs.set_prices(lines, dated) else NO_ROWS
        return AnalysisChanges(self._fed, self._fed, changed, False)

    def use_collapse_order(self, *, newest_first: bool) -> AnalysisChanges:
        """Sets the order in which waiting results collapse, and reprocesses from the beginning.

        Args:
            newest_first: collapse the most recent waiting result first, not the oldest.
        """
        if newest_first == self.transients.newest_first:
            return AnalysisChanges(self._fed, self._fed, NO_ROWS, False)
        self.transients.use_order(newest_first=newest_first)
        return self.catch_up()
