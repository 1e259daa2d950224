"""What spans tell only together: whose they are, which of nested calls of a model counts, what holds what."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from operator import itemgetter

import msgspec

from inspector.protocol.formats.otlp.content import calls_given, calls_of
from inspector.protocol.formats.otlp.conventions import Role, agent_of, call_id_of, role_of, tool_of
from inspector.protocol.formats.otlp.spans import Span

KEY = "resolved"
"""Where a line of ours says it, beside the span that it holds."""
_MOST_LEVELS = 500


class Resolved(msgspec.Struct, omit_defaults=True):
    """What is known of one span by others.

    Attributes:
        agent: the nearest agent around it, or itself.
        asker: the agent around that; None for the user.
        holds: other spans lie in it: it is a context.
        around: a call of a model lies in it that tells the same tokens.
        within_call: it lies in a call of a tool that tells the same call.
        call: what the call of a tool goes by, where the span itself does not say: the model's id of it.
        phase: "start" or "end" of what it tells, where each has a line; "" for both.
    """

    agent: str | None = None
    asker: str | None = None
    holds: bool = False
    around: bool = False
    within_call: bool = False
    call: str = ""
    phase: str = ""


def resolve(spans: Iterable[Span]) -> list[Resolved]:
    """What is known of each span by the others, as far as they are there. O(spans, levels)."""
    spans = list(spans)
    by_id = {span.identifier: place for place, span in enumerate(spans) if span.identifier}
    roles = [role_of(span) for span in spans]
    found = [Resolved() for _ in spans]
    for place, span in enumerate(spans):
        known, agents = found[place], [agent_of(span)]
        for above in _above(spans, by_id, place):
            found[above].holds = found[above].holds or not span.is_log
            found[above].around = found[above].around or roles[place] is Role.MODEL
            if roles[place] is roles[above] is Role.TOOL:
                known.within_call = known.within_call or _same_call(span, spans[above])
            if roles[above] is Role.AGENT:
                agents.append(agent_of(spans[above]))
        named = [name for name in agents if name]
        known.agent = named[0] if named else None
        known.asker = next((name for name in named if name != known.agent), None)
    _name_calls(spans, roles, found)
    return found


def _name_calls(spans: list[Span], roles: list[Role], found: list[Resolved]) -> None:
    """Give calls of tools that say no id the model's: that of the first call of the tool that is still open."""
    nameless = [
        place for place, span in enumerate(spans)
        if roles[place] is Role.TOOL and not found[place].within_call and call_id_of(span) == span.identifier
    ]  # fmt: skip
    if not nameless:
        return
    asked: list[tuple[str, int, str, str]] = []  # trace, when, tool, id
    taken = {call_id_of(span) for place, span in enumerate(spans) if roles[place] is Role.TOOL}
    for place, span in enumerate(spans):
        if roles[place] is Role.MODEL and not found[place].around:
            asked += [(span.trace, span.end_ns, tool, call) for call, tool in calls_of(span) if call not in taken]
    known = {one[3] for one in asked} | taken
    for place, span in enumerate(
        spans
    ):  # what a model answered may not be recorded, and what the next call was given is
        if roles[place] is Role.MODEL and not found[place].around:
            told = [one for one in calls_given(span) if one[0] not in known]
            asked += [(span.trace, 0, tool, call) for call, tool in told]
            known.update(call for call, _ in told)
    asked.sort(key=itemgetter(1))
    for place in sorted(nameless, key=lambda one: spans[one].start_ns):
        span = spans[place]
        tool = tool_of(span)
        open_ = [one for one in asked if one[0] == span.trace and one[1] <= span.start_ns and one[2] == tool]
        if open_:
            found[place].call = open_[0][3]
            asked.remove(open_[0])


def _above(spans: list[Span], by_id: dict[str, int], place: int) -> Iterator[int]:
    """The spans around one, the nearest first, as far as they are there; hostile ones may stand in a circle."""
    passed = {place}
    above = by_id.get(spans[place].parent)
    while above is not None and above not in passed and len(passed) < _MOST_LEVELS:
        passed.add(above)
        yield above
        above = by_id.get(spans[above].parent)


def _same_call(inner: Span, outer: Span) -> bool:
    """Whether a span within a call of a tool tells of the same call, as a client's and a server's do."""
    name = inner.attributes.get("gen_ai.tool.name")
    return "mcp.method.name" in inner.attributes or (
        name is not None and name == outer.attributes.get("gen_ai.tool.name")
    )
