"""Resolves relations of spans: their agents, the counted one of nested model calls, and nesting."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from functools import cached_property
from operator import itemgetter
from typing import Any

import msgspec

from inspector.formats.otlp.content import input_calls, output_calls
from inspector.formats.otlp.conventions import SpanRole, agent_of, call_id_of, reports_usage, role_of, tool_of
from inspector.formats.otlp.spans import Span

FACTS_KEY = "resolved"
"""Key of the resolved facts in a line of this program, beside its span."""
_MOST_LEVELS = 500


class SpanEnd(msgspec.Struct):
    """An ended span that contains others."""

    span: str
    failed: bool = False


class Resolved(msgspec.Struct, omit_defaults=True):
    """Facts about one span from others.

    Attributes:
        agent: the nearest agent around it, or itself.
        asker: the agent around that; None for the user.
        holds: it contains other spans, so it is a context.
        around: it contains a model call with the same tokens.
        failed_within: it contains a failed span that reports the failure.
        within_call: it lies in a tool call with the same call.
        counts: its tokens count although it is no innermost model call: no span within it reports any.
        inner: the model call within it that its tokens belong to, else "".
        call: id of the tool call if the span lacks it: the model's id.
        called: ids, from the spans of tools, for the calls without an id in the model's answer.
        phase: "start" or "end" for a line of one of them; "whole" if `ends` has the end of a context; "" for both.
        given: the model's input that is new against earlier spans; None if the span itself contains the input.
        repeated: number of its other input messages.
        seen: number of occurrences in its history of the entries that its answer repeats.
        ends: spans that end with this line: others around it, or itself.
        lost_parent: id of its parent, which the file does not have; "".
        placed_in: id of the root that takes its place; "".
        number: number of other spans of the trace that had its id before.
    """

    agent: str | None = None
    asker: str | None = None
    holds: bool = False
    around: bool = False
    failed_within: bool = False
    within_call: bool = False
    counts: bool = False
    inner: str = ""
    call: str = ""
    called: list[str] = []
    phase: str = ""
    given: list[dict[str, Any]] | None = None
    repeated: int = 0
    seen: dict[str, int] = {}
    ends: list[SpanEnd] = []
    lost_parent: str = ""
    placed_in: str = ""
    number: int = 0


class SpanContents(msgspec.Struct):
    """Summary of a span's contents.

    Attributes:
        spans: any.
        models: a model call.
        reports: a span with reported tokens.
        failed: a failed span.
        call: the id of an innermost model call; "".
    """

    spans: bool = False
    models: bool = False
    reports: bool = False
    failed: bool = False
    call: str = ""

    def add_span(self, one: SpanFacts) -> None:
        is_model = one.role is SpanRole.MODEL
        own = one.span.identifier if is_model and not one.within.models else one.within.call
        self.spans = True
        self.models = self.models or is_model or one.within.models
        self.reports = self.reports or one.reports or one.within.reports
        self.failed = self.failed or one.span.failed or one.within.failed
        self.call = self.call or own


class SpanFacts:
    """A span with its own facts that others need, each computed once.

    Attributes:
        span: the span.
        known: facts from others so far.
    """

    def __init__(self, span: Span, known: Resolved | None = None) -> None:
        self.span = span
        self.known = known or Resolved()
        self.within = SpanContents()

    @cached_property
    def role(self) -> SpanRole:
        return role_of(self.span)

    @cached_property
    def agent(self) -> str | None:
        return agent_of(self.span)

    @cached_property
    def call(self) -> str:
        """Id of its tool call; "" for other spans."""
        return call_id_of(self.span) if self.role is SpanRole.TOOL else ""

    @cached_property
    def reports(self) -> bool:
        """True if it is a model call or an agent with reported tokens."""
        return self.role in (SpanRole.MODEL, SpanRole.AGENT) and reports_usage(self.span)

    def decide_counting(self) -> None:
        """Counts its tokens if no span within it reports any, and its own call has no row for them."""
        is_outer = self.known.around or self.role is SpanRole.AGENT
        self.known.counts = self.reports and is_outer and not self.within.reports
        self.known.inner = self.within.call if self.known.counts else ""

    @cached_property
    def is_nameless(self) -> bool:
        """True if it is a tool call without an id."""
        return self.role is SpanRole.TOOL and self.call == self.span.identifier

    @cached_property
    def _answered(self) -> list[tuple[str, str]]:
        return output_calls(self.span)

    @property
    def output_calls(self) -> list[tuple[str, str]]:
        """Tool calls in the model's answer: id and tool."""
        return [pair for pair in self._answered if pair[0]]

    @property
    def unnamed_tools(self) -> list[str]:
        """Tools of the calls in the model's answer that have no id."""
        return [tool for call, tool in self._answered if not call]

    @cached_property
    def input_calls(self) -> list[tuple[str, str]]:
        """Tool calls in the model's input."""
        return [pair for pair in input_calls(self.span) if pair[0]]


def resolve_spans(spans: Iterable[Span], *, whole: bool = False) -> list[Resolved]:
    """Returns the facts of each span from the others, as far as present. O(spans, levels).

    Args:
        spans: the spans.
        whole: no further spans follow, so that orphans are placed below the root.
    """
    facts = list(map(SpanFacts, spans))
    if whole:
        place_orphans(facts)
    return resolve_from(facts, 0)


def place_orphans(spans: list[SpanFacts]) -> None:
    """Replaces parents that are not in the file by the only root of the trace, if it covers the span.

    The root ends last, so that no parent is to come.
    """
    present = {(one.span.trace, one.span.identifier) for one in spans}
    roots = defaultdict[str, list[Span]](list)
    for one in spans:
        if not one.span.parent and not one.span.is_log:
            roots[one.span.trace].append(one.span)
    for one in spans:
        span = one.span
        if not span.parent or span.is_log or (span.trace, span.parent) in present:
            continue
        above = roots[span.trace]
        if len(above) == 1 and above[0].start_ns <= span.start_ns <= above[0].end_ns:
            one.known.lost_parent = span.parent
            one.known.placed_in = span.parent = above[0].identifier


def resolve_from(spans: list[SpanFacts], first: int) -> list[Resolved]:
    """Resolves the spans from a place on.

    Args:
        spans: their facts; the relations among the earlier ones are resolved already.
        first: the place.
    """
    by_id = {one.span.identifier: place for place, one in enumerate(spans) if one.span.identifier}
    new = {one.span.identifier for one in spans[first:]}
    for place, one in enumerate(spans):
        # Earlier spans change only if one of the new ones is their parent.
        if place < first and one.span.parent not in new:
            continue
        known, agents = one.known, [one.agent]
        for above in _ancestors(spans, by_id, place):
            other = spans[above]
            other.known.holds = other.known.holds or not one.span.is_log
            other.known.failed_within = other.known.failed_within or (one.span.failed and not one.span.is_log)
            other.known.around = other.known.around or one.role is SpanRole.MODEL
            if one.role is other.role is SpanRole.TOOL:
                known.within_call = known.within_call or _same_call(one.span, other.span)
            if other.role is SpanRole.AGENT:
                agents.append(other.agent)
        named = [name for name in agents if name]
        known.agent = named[0] if named else None
        known.asker = next((name for name in named if name != known.agent), None)
    _settle_tokens(spans, by_id, first)
    if any(one.is_nameless and not one.known.within_call for one in spans[first:]):
        _name_calls(spans)
    _name_answers(spans, first)
    return [one.known for one in spans[first:]]


def _settle_tokens(spans: list[SpanFacts], by_id: dict[str, int], first: int) -> None:
    """Finds the spans with tokens that no inner span reports. Inner spans end before outer ones."""
    places = range(first, len(spans))
    if not any(one.reports and (one.known.around or one.role is SpanRole.AGENT) for one in spans[first:]):
        return
    # From the deepest span upwards, so that each sum is complete before it is passed on.
    depths = depths_of(spans)
    for one in spans:
        one.within = SpanContents()
    for place in sorted(depths, key=depths.__getitem__, reverse=True):
        above = by_id.get(spans[place].span.parent)
        if above is not None and above != place and depths[above] < depths[place]:
            spans[above].within.add_span(spans[place])
    for place in places:
        spans[place].decide_counting()


def depths_of(spans: list[SpanFacts]) -> dict[int, int]:
    """Returns the number of spans around each, by place."""
    by_id = {one.span.identifier: place for place, one in enumerate(spans) if one.span.identifier}
    return {place: sum(1 for _ in _ancestors(spans, by_id, place)) for place in range(len(spans))}


def _name_calls(spans: list[SpanFacts]) -> None:
    """Gives tool calls without an id the model's: that of the first open call of the tool."""
    taken = {one.call for one in spans if one.call}
    models = [one for one in spans if one.role is SpanRole.MODEL and not one.known.around]
    nameless = [one for one in spans if one.is_nameless and not one.known.within_call]
    nameless.sort(key=lambda one: one.span.start_ns)
    asked: list[tuple[str, int, str, str]] = []  # trace, time, tool, id
    # Known ids are never given to another span.
    for one in models:
        span, calls = one.span, one.output_calls  # an answer that streams may start tools before its end
        asked += [(span.trace, span.start_ns, tool, call) for call, tool in calls if call not in taken]
    # By time, so that the first open call of a tool comes first.
    asked.sort(key=itemgetter(1))
    known_calls = {one[3] for one in asked} | taken
    left = _match_calls(nameless, asked)
    if not left:
        return
    given: list[tuple[str, int, str, str]] = []  # answers may be unrecorded while the next call's history is recorded
    for one in models:
        told = [pair for pair in one.input_calls if pair[0] not in known_calls]
        given += [(one.span.trace, 0, tool, call) for call, tool in told]
        known_calls.update(call for call, _ in told)
    _match_calls(left, given)


def _name_answers(spans: list[SpanFacts], first: int) -> None:
    """Gives calls without an id in answers that of the first later span of the tool."""
    tools = [one for one in spans[first:] if one.role is SpanRole.TOOL and not one.known.within_call]
    models = [one for one in spans if one.role is SpanRole.MODEL and not one.known.around] if tools else []
    unnamed = [one for one in models if one.unnamed_tools]
    if not unnamed:
        return
    named = {call for one in models for call, _ in one.output_calls}
    left = defaultdict[tuple[str, str | None], deque[SpanFacts]](deque)
    for one in sorted(tools, key=lambda one: one.span.start_ns):
        if (one.known.call or one.call) not in named:
            left[one.span.trace, tool_of(one.span)].append(one)
    for one in sorted(unnamed, key=lambda one: one.span.start_ns):
        for tool in one.unnamed_tools:
            waiting = left[one.span.trace, tool]
            while waiting and waiting[0].span.start_ns < one.span.start_ns:
                waiting.popleft()
            if not waiting:
                break  # ids are given in order
            found = waiting.popleft()
            one.known.called.append(found.known.call or found.call)


def _match_calls(nameless: list[SpanFacts], asked: list[tuple[str, int, str, str]]) -> list[SpanFacts]:
    """Matches tool spans with the first suitable calls, which are removed; returns the unmatched spans."""
    left: list[SpanFacts] = []
    for one in nameless:
        span, tool = one.span, tool_of(one.span)
        fits = (call for call in asked if call[0] == span.trace and call[1] <= span.start_ns and call[2] == tool)
        found = next(fits, None)
        if found is None:
            left.append(one)
            continue
        one.known.call = found[3]
        asked.remove(found)
    return left


def _ancestors(spans: list[SpanFacts], by_id: dict[str, int], place: int) -> Iterator[int]:
    """Yields the spans around one, the nearest first, as far as present; guards against cycles in hostile traces."""
    passed = {place}
    above = by_id.get(spans[place].span.parent)
    while above is not None and above not in passed and len(passed) < _MOST_LEVELS:
        passed.add(above)
        yield above
        above = by_id.get(spans[above].span.parent)


def _same_call(inner: Span, outer: Span) -> bool:
    """Returns True if a span within a tool call is the same call, as a client's and a server's span."""
    name = inner.attributes.get("gen_ai.tool.name")
    return "mcp.method.name" in inner.attributes or (
        name is not None and name == outer.attributes.get("gen_ai.tool.name")
    )
