"""Searches a capture for all kinds of waste, in slices; finds unconsumed results.

Each result is reported once: as fetched twice, else as unconsumed, else as unreferenced. Copied passages count for the
arguments, so that no tokens are counted twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

import numpy as np

from inspector.analysis import Analysis
from inspector.analysis.findings.lifecycle_hints import PENDING_AFTER_S
from inspector.analysis.passes.results.transient_results import Badge
from inspector.analysis.passes.tokens.reported_usage import Usage
from inspector.analysis.passes.tokens.token_pass import NOT_COUNTED
from inspector.analysis.views.account.call_pairs import CallPairs
from inspector.analysis.views.waste.definitions import MAX_LISTS, Definitions
from inspector.analysis.views.waste.losses import ContextLosses
from inspector.analysis.views.waste.mentions import MAX_MESSAGES, ResultMentions
from inspector.analysis.views.waste.repeats import Repeats
from inspector.analysis.views.waste.results import Results, Traffic
from inspector.analysis.views.waste.waste_records import Waste, WasteKind, WasteTotals
from inspector.base.slices import SlicedWork
from inspector.protocol.timestamps import NO_TIME
from inspector.protocol.tool_aliases import ToolAlias, alias_for
from inspector.store.columns.hashes import NO_ROW

# Small results waste little, and each one is decoded and searched in later messages.
MAX_RESULTS = 10_000
"""Results examined, the largest first."""
MIN_AGE_S = PENDING_AFTER_S
"""Seconds; in live traffic, younger results are not reported, as they may still be consumed or mentioned."""


@dataclass(frozen=True, slots=True)
class WasteReport:
    """Outcome of a search.

    Attributes:
        wastes: largest first.
        notes: sentences about parts that were not examined.
        stop: number of messages examined.
        reported: total usage that model calls reported; None without any.
    """

    wastes: tuple[Waste, ...]
    notes: tuple[str, ...]
    stop: int
    reported: Usage | None = None

    @property
    def tokens(self) -> int:
        """Estimated tokens of all wastes."""
        return sum(one.tokens for one in self.wastes)

    @property
    def sure_tokens(self) -> int:
        """Estimated tokens of wastes that the traffic proves."""
        return sum(one.tokens for one in self.wastes if one.sure)

    @property
    def totals(self) -> WasteTotals:
        return WasteTotals(self.tokens, self.sure_tokens, next(iter(self.wastes), None))


class WasteFinder:
    """Examines the messages present at its creation; works only in `search`."""

    def __init__(self, analysis: Analysis, *, ongoing: bool = False, now_ns: int | None = None) -> None:
        """Prepares a search.

        Args:
            analysis: passes with counted tokens; uncounted messages are skipped.
            ongoing: True if more traffic may follow.
            now_ns: current time in nanoseconds; by default that of the traffic.
        """
        self._analysis = analysis
        self._ongoing = ongoing
        self._now_ns = analysis.now_ns if now_ns is None else now_ns
        self._notes: list[str] = []

    def search(self) -> SlicedWork[WasteReport]:
        """Returns the report. A step takes a few milliseconds, except for the columns of a very large capture."""
        analysis = self._analysis
        traffic = Traffic(analysis)
        yield
        wastes: list[Waste] = []
        definitions = Definitions(traffic, ongoing=self._ongoing)
        yield
        for place in range(len(definitions.results)):
            definitions.check_list(place)
            yield
        wastes += definitions.find_wastes()
        if definitions.unread:
            self._notes.append(f"Only the first {MAX_LISTS:,} lists of tools were examined.")
        pairs = CallPairs(analysis)
        while pairs.is_behind:
            pairs.step()
            yield
        answers = traffic.answers("tools/call")
        # A server's answer to a call of a transcript is a second copy, outside any model context.
        results = self._largest(answers.those(np.flatnonzero(pairs.outer_calls(answers.calls) == NO_ROW)))
        yield
        losses = ContextLosses(traffic)
        yield
        repeats = Repeats(traffic, results, definitions.read_only, losses)
        for place in repeats.places:
            repeats.add_call(place)
            yield
        for places in repeats.groups:
            wastes += repeats.find_wastes(places)
            yield
        # Each result is reported under one kind only, the first that applies.
        listed = repeats.listed | self._young(results)
        left = [place for place, row in enumerate(results.rows.tolist()) if row not in listed]
        for place in left:
            one = unconsumed_waste(traffic, results, place, losses, definitions, ongoing=self._ongoing)
            if one is not None:
                wastes.append(one)
                listed.add(one.message)
            yield
        yield from self._trace(traffic, results, listed, wastes)
        wastes.sort(key=lambda one: (-one.tokens, one.message))
        # Rounding and summaries may leave nothing to save.
        found = tuple(one for one in wastes if one.tokens > 0)
        return WasteReport(found, tuple(self._notes), traffic.stop, analysis.usage.total())

    def _largest(self, results: Results) -> Results:
        """Returns the largest counted results, ascending."""
        uncounted = int(np.count_nonzero(results.tokens == NOT_COUNTED))
        if uncounted:
            one = uncounted == 1
            words = "1 result is not counted, and was" if one else f"{uncounted:,} results are not counted, and were"
            self._notes.append(f"{words} not looked at.")
        # NOT_COUNTED is negative, so uncounted results come last and are cut off.
        order = np.argsort(-results.tokens, kind="stable")[: len(results) - uncounted]
        if len(order) > MAX_RESULTS:
            self._notes.append(f"Only the {MAX_RESULTS:,} largest of {len(order):,} results were examined closely.")
        return results.those(np.sort(order[:MAX_RESULTS]))

    def _young(self, results: Results) -> set[int]:
        """Returns results too young to judge."""
        if not self._ongoing:
            return set()
        analysis, times = self._analysis, self._analysis.capture.columns["time_ns"][results.rows]
        now = analysis.contexts.clock_ns if self._now_ns is None else self._now_ns
        young = (times == NO_TIME) | (times > now - MIN_AGE_S * 1_000_000_000)
        return set(results.rows[young].tolist())

    def _trace(self, traffic: Traffic, results: Results, listed: set[int], wastes: list[Waste]) -> SlicedWork[None]:
        apart = traffic.collapsed(results.rows) | np.isin(results.rows, list(listed))
        traces = ResultMentions(traffic, results, np.flatnonzero(~apart))
        yield
        for place in traces.places:
            traces.add_result(place)
            yield
        yield from traces.finish_index()
        for row in traces.sayings:
            traces.on_message(row)
            yield
        if traces.dropped:
            self._notes.append(f"Mentions of {traces.dropped:,} results were not searched for lack of memory.")
        if traces.unread:
            self._notes.append(
                f"Mentions were searched in the first {MAX_MESSAGES:,} messages after results, not in "
                f"{traces.unread:,} more. Results without a mention are therefore not listed."
            )
        wastes += traces.unreferred
        wastes += traces.copied


# Unconsumed transient results, which stay in the context.

_MAX_NAMED = 3
_MAX_TOOLS = 2_000
"""Tools up to which prefixed names are compared."""
_MAX_TRIED = 50
"""Hinted tools compared with a tool's name."""


def unconsumed_waste(
    traffic: Traffic,
    results: Results,
    place: int,
    losses: ContextLosses,
    definitions: Definitions,
    *,
    ongoing: bool = False,
) -> Waste | None:
    """Returns the waste of one result beyond its summary.

    Returns None if it is not transient, was consumed, or has no possible consumer.

    Args:
        traffic, results: the data.
        place: index of the result.
        losses: events that may have emptied a context.
        definitions: listed tools.
        ongoing: True if it may still be consumed.
    """
    transients, row, call = traffic.analysis.transients, int(results.rows[place]), int(results.calls[place])
    badges = int(transients.columns["badges"][row])
    if not badges & Badge.TRANSIENT.value or badges & Badge.COLLAPSED.value:
        return None
    spared = int(results.tokens[place]) - (traffic.analysis.tokens.summary_tokens(row) or 0)
    if spared <= 0:
        return None
    tool = traffic.tool(row)
    words = _describe_unconsumed(traffic, row, tool, definitions, int(results.pairs[place]))
    if words is None:
        return None
    sentence, advice, alias = words
    kind = WasteKind.PENDING if ongoing else WasteKind.UNCONSUMED
    # With the alias it may prove consumed: the caller of these names knows their meaning.
    lost = losses.since(row, traffic.sender(call))
    if lost is not None:
        sentence += f" It may have left the context with No. {lost + 1:,}."
    sure = not ongoing and alias is None and lost is None
    return Waste(kind, row, (call, row), spared, sentence, advice, sure, traffic.sender(call), tool)


def _describe_unconsumed(
    traffic: Traffic, row: int, tool: str, definitions: Definitions, pair: int
) -> tuple[str, str, ToolAlias | None] | None:
    """Returns sentence, advice and a tool alias that would match the hints; None without a possible consumer."""
    named = _consumers(traffic, row)
    consumers = [name for name in named if not definitions.lacks(pair, name, tool)]
    if named and not consumers:
        return _describe_missing_consumer(traffic, row, tool, named[:_MAX_NAMED], definitions)
    if consumers:
        names = " or ".join(consumers[:_MAX_NAMED])
        sentence = f"{tool} brought a transient result, which {names} has not consumed."
        return sentence, f"Call {names} once the needed part of the result is used.", None
    hinted, alias = _nearly_hinted(traffic, row)
    if alias is not None:
        return (
            f"{tool} brought a transient result; hints call this tool {hinted}, so that none fits.",
            f"Set the tool alias {alias.text} (Settings, Tool names; --tool-alias), and check again.",
            alias,
        )
    return None


def _describe_missing_consumer(
    traffic: Traffic, row: int, tool: str, named: list[str], definitions: Definitions
) -> tuple[str, str, ToolAlias | None] | None:
    """Returns the same as `_describe_unconsumed` if no server has the hinted tools: calling them is no advice."""
    names = " or ".join(named)
    tools = sorted(definitions.offered)
    found = (alias_for(name, tools) for name in named if len(tools) <= _MAX_TOOLS)
    alias = next((one for one in found if one is not None), None)
    if alias is None:
        return None
    server = traffic.answerer_words(row)
    sentence = f"{tool} brought a transient result; hints leave it to {names}, which {server} does not have."
    return sentence, f"Set the tool alias {alias.text} (Settings, Tool names; --tool-alias), and check again.", alias


def _consumers(traffic: Traffic, row: int) -> list[str]:
    """Returns the tools that hints name as consumers of a result."""
    transients = traffic.analysis.transients
    conversation, tool = transients.conversation_of(row), transients.aliases.resolve(traffic.tool(row))
    if conversation is None:
        return []
    return sorted(name for name, consumer in conversation.consumers.items() if tool in consumer.tools)


def _nearly_hinted(traffic: Traffic, row: int) -> tuple[str, ToolAlias | None]:
    """Returns the hinted tool that equals a result's tool except for a prefix, and the alias between them."""
    conversation = traffic.analysis.transients.conversation_of(row)
    hinted = conversation.hinted_tools if conversation is not None else {}
    found = ((name, alias_for(name, [traffic.tool(row)])) for name in islice(hinted, _MAX_TRIED))
    return next(((name, alias) for name, alias in found if alias is not None), ("", None))
