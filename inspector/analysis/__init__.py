"""Incremental passes over the capture. `Analysis` owns them and feeds them in order.

To add a pass: a module here with `feed(start, stop)`, and two lines in Analysis, where it is made and where it is fed,
behind those it looks at. One that changes what it said of earlier messages has `take_changes`, which `Analysis.feed`
calls; one that checks look at has a line in `findings.batch.Passes` too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from inspector.analysis.arrays.unique_ints import ascending
from inspector.analysis.findings import FindingPass
from inspector.analysis.findings.batch import Passes
from inspector.analysis.passes.calls.correlation import CorrelationPass
from inspector.analysis.passes.calls.correlation_names import NamedPass
from inspector.analysis.passes.calls.departures import DeparturePass
from inspector.analysis.passes.changes import NO_ROWS, Rows
from inspector.analysis.passes.contexts.context_pass import ContextPass
from inspector.analysis.passes.contexts.visibility import VisibilityPass
from inspector.analysis.passes.marks import Marks
from inspector.analysis.passes.participants.capabilities import CapabilityPass
from inspector.analysis.passes.participants.impersonation import TrustPass
from inspector.analysis.passes.participants.participant_pass import ParticipantPass
from inspector.analysis.passes.results.transients import TransientPass
from inspector.analysis.passes.streams.stream_pass import StreamPass
from inspector.analysis.passes.tokens.costs import Costs
from inspector.analysis.passes.tokens.reported_usage import ReportedUsage
from inspector.analysis.passes.tokens.token_pass import TokenPass
from inspector.analysis.states.state_pass import StatePass
from inspector.protocol.tool_aliases import ToolAliases
from inspector.store.messages.capture import Capture

__all__ = ["Analysis", "Changes"]


@dataclass(frozen=True, slots=True)
class Changes:
    """What one feed did: messages `start` to `stop` are new, `changed` are earlier ones with new values.

    `tree_moved` says that contexts appeared, moved or changed their type, so that values which depend on the
    tree may have changed anywhere.
    """

    start: int
    stop: int
    changed: Rows
    tree_moved: bool


class Analysis:
    """A capture and everything that is found out about it.

    Attributes:
        capture: the messages.
        trust: who is believed.
        streams: the runs of frames, and whose they are.
        contexts, correlation, named, transients, visibility, participants, capabilities, findings, states, tokens,
            usage: the passes.
        marks: what the user put on messages and contexts.
        now_ns: the wall clock while traffic is live, None for a log; `state` goes by it.
    """

    def __init__(self, capture: Capture) -> None:
        self.capture = capture
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
        self.costs = Costs(capture, self.usage, self.contexts, self.tokens)
        self.marks = Marks(self.contexts)
        self.now_ns: int | None = None
        self._fed = 0

    def __len__(self) -> int:
        return self._fed

    def feed(self, touched: Rows | None = None, *, more: bool = False) -> Changes:
        """Let every pass take in what the capture has gained.

        Args:
            touched: earlier messages the capture itself changed (they gained a delivery).
            more: there is more to come at once; the checks may wait for it, until `catch_up`.

        Of many messages the checks only begin: while `checking`, `advance` goes on with them.
        """
        start, stop = self._fed, len(self.capture)
        self.trust.feed(start, stop)
        self.streams.feed(start, stop)
        late = self.streams.take_late()
        self.contexts.feed(start, stop, late.in_context)
        self.correlation.feed(start, stop)
        linked = self.correlation.take_changes()
        self.named.feed(start, stop)
        self.transients.feed(start, stop, linked, more=more)
        self.visibility.feed(start, stop)
        self.participants.feed(start, stop, late.sent)
        self.departures.feed(start, stop)
        self.capabilities.feed(start, stop)
        self.states.feed(start, stop, linked)
        self.tokens.feed(start, stop)
        self.usage.feed(start, stop)
        passes = (
            self.streams, self.transients, self.contexts, self.named, self.departures, self.states, self.usage,
        )  # fmt: skip
        parts = [linked, self.capture.foreign_rpc.take_changes(), *(fed.take_changes() for fed in passes)]
        if touched is not None:
            parts.append(touched)
        changed = ascending(*parts)
        changed = changed[changed < start]
        self._fed = stop  # whatever the checks do: fed twice, the other passes would count everything twice
        self.findings.feed(start, stop, changed, self.now_ns, more=more)
        found = self.findings.take_changes()
        if len(found):
            changed = ascending(changed, found[found < start])
        return Changes(start, stop, changed, self.contexts.take_moved())

    @property
    def checking(self) -> bool:
        """Whether the checks have begun to look at messages, and are not through with them."""
        return self.findings.under_way

    def advance(self, until: float) -> Changes:
        """Let the checks go on with what they are looking at, until a time (`time.perf_counter`), at least a little."""
        self.findings.advance(until)
        return Changes(self._fed, self._fed, self.findings.take_changes(), False)

    def go_on(self, until: float) -> tuple[Changes, bool]:
        """Let the checks do some of what they have put off, until a time; what changed, and whether nothing is left."""
        done = self.findings.go_on(until, self.now_ns)
        return Changes(self._fed, self._fed, self.findings.take_changes(), False), done

    def take_counted(self) -> Changes:
        """The messages whose tokens were counted since the last call."""
        return Changes(self._fed, self._fed, self.tokens.take_changes(), False)

    def catch_up(self) -> Changes:
        """Let the checks look at what they have left for later; also when the clock (`now_ns`) has moved on."""
        changes = self.begin_catch_up()
        self.findings.finish_round()
        return replace(changes, changed=ascending(changes.changed, self.findings.take_changes()))

    def begin_catch_up(self) -> Changes:
        """As `catch_up`, but of many messages the checks only begin (see `advance`)."""
        self.transients.settle()
        told_again = self.transients.take_changes()
        self.findings.feed(self._fed, self._fed, told_again, self.now_ns)
        return Changes(self._fed, self._fed, ascending(told_again, self.findings.take_changes()), False)

    def rewritten(self, rows: Rows) -> Changes:
        """Lines of earlier messages were written anew, each in its place: another visibility."""
        self.visibility.read_again(rows)
        self.findings.feed(self._fed, self._fed, rows, self.now_ns)
        return Changes(self._fed, self._fed, ascending(rows, self.findings.take_changes()), False)

    def use_tool_aliases(self, aliases: ToolAliases) -> Changes:
        """Let tools go by other names: which results collapse is told again from the beginning."""
        if aliases.rules == self.transients.aliases.rules:
            return Changes(self._fed, self._fed, NO_ROWS, False)
        self.transients.use_aliases(aliases)
        return self.catch_up()

    def use_prices(self, lines: Sequence[str], dated: str) -> Changes:
        """Let calls of models cost what a table says (`prices`)."""
        changed = self.usage.reports() if self.costs.use(lines, dated) else NO_ROWS
        return Changes(self._fed, self._fed, changed, False)

    def use_collapse_order(self, *, newest_first: bool) -> Changes:
        """Of several results that wait, collapse the most recent one or the oldest; told again from the beginning."""
        if newest_first == self.transients.newest_first:
            return Changes(self._fed, self._fed, NO_ROWS, False)
        self.transients.use_order(newest_first=newest_first)
        return self.catch_up()
