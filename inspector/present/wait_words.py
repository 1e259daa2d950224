"""Sentences about waiting requests: who waits for whom, for which call, how long, and who waits behind.

A wait ends with an answer, a departure or a restart. A request to a participant that has left is marked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from inspector.analysis import Analysis
from inspector.analysis.states.state_pass import MessageState
from inspector.analysis.views.account.unanswered import party_who_left
from inspector.analysis.views.causes.likely_links import Relation, likely_effects
from inspector.formats import registry
from inspector.present import formats
from inspector.present.subject import correlation_string, recipients
from inspector.present.wire_text import safe_line
from inspector.protocol import kinds
from inspector.protocol.timestamps import NO_TIME
from inspector.store.columns.flags import Flag

_MAX_NAME, _MAX_SHORT_NAME, _MOST_BEHIND = 80, 24, 2
_Place = tuple[int, str]
"""Space id and name of a participant."""
_LONGEST_WAIT_NS = 3_600_000_000_000
"""Wait whose time is told in a log that has ended."""
HANGS_AFTER_NS = 5_000_000_000
"""Wait from which it becomes the first line about a running session."""


@dataclass(frozen=True, slots=True)
class Wait:
    """One unanswered request, or open proposal.

    Attributes:
        message: its index.
        who: the waiting participant.
        whom: the awaited participant, "files (gone)" if it has left; "a decision" for a proposal.
        what: the tool or method.
        waited_ns: duration until now while live, else until the last record; None if unknown.
        discovery: a discovery request.
        behind: nearest participants that wait for this one, directly or indirectly.
        behind_count: number of all of them.
        is_proposal: a proposal, that awaits a decision.
        is_of_agent: from a coding agent's file, which may end during work.
        went_on: of a coding agent that continued without the answer.
        made: number of the equal call that followed a proposal without naming it, if any.
    """

    message: int
    who: str
    whom: str
    what: str
    waited_ns: int | None
    discovery: bool
    behind: tuple[str, ...] = ()
    behind_count: int = 0
    is_of_agent: bool = False
    is_proposal: bool = False
    went_on: bool = False
    made: str = ""

    @property
    def how_long(self) -> str:
        """Formats the duration, in whole seconds from 1 s on: "34 s", "0.4 s", "2 ms"; "" if unknown."""
        if self.waited_ns is None:
            return ""
        if self.waited_ns < 100_000_000:
            return formats.duration(self.waited_ns)
        if self.waited_ns < 1_000_000_000:
            return f"{self.waited_ns // 100_000_000 / 10:.1f} s"
        # Whole seconds: tenths of a running clock would only flicker.
        return formats.duration(self.waited_ns // 10**9 * 10**9).replace(".0 s", " s")

    @property
    def is_long(self) -> bool:
        """Returns True if the wait is long enough to mention."""
        return not self.discovery and (self.waited_ns or 0) >= HANGS_AFTER_NS

    @property
    def short_sentence(self) -> str:
        """Short form: "coder waits for files, 34 s"."""
        who, whom = formats.truncate(self.who, _MAX_SHORT_NAME), formats.truncate(self.whom, _MAX_SHORT_NAME)
        return f"{who} waits for {whom}, {self.how_long}"

    @property
    def sentence(self) -> str:
        """Full form: "coder waits for files, 34 s: read_file"; no duration below 0.1 s."""
        if self.went_on:
            return f"{self.who} went on without an answer: {self.what}"
        since = f", {self.how_long}" if (self.waited_ns or 0) >= 100_000_000 else ""
        return f"{self.who} waits for {self.whom}{since}: {self.what}{self._remark}"

    @property
    def sentence_at_end(self) -> str:
        """Form for a log that has ended: "coder had no answer from files in the last 34 s: read_file".

        A log may go on for days after a call, so that a long time means no wait.
        """
        if self.went_on:
            return self.sentence
        asked = f"no {self.whom.removeprefix('a ')}" if self.is_proposal else f"no answer from {self.whom}"
        told = 100_000_000 <= (self.waited_ns or 0) < _LONGEST_WAIT_NS
        since = f" in the last {formats.rounded_duration(self.waited_ns or 0)}" if told else ""
        return f"{self.who} had {asked}{since}: {self.what}{self._remark}"

    @property
    def _remark(self) -> str:
        behind = f"; {self.behind_words} behind it" if self.behind else ""
        return f"{behind}; {self.made} makes the same call without naming it" if self.made else behind

    @property
    def at_the_end(self) -> str:
        """Form for the end of an agent's file: "robot is still working at the end of the file, 34 s: Bash"."""
        since = f", {self.how_long}" if (self.waited_ns or 0) >= 100_000_000 else ""
        return f"{self.who} is still working at the end of the file{since}: {self.what}"

    @property
    def behind_words(self) -> str:
        """Participants that wait behind it: "writer, editor and 3 more"; "" without any."""
        more = self.behind_count - len(self.behind)
        return f"{', '.join(self.behind)}{f' and {more:,} more' if more > 0 else ''}"


def describe_waits(
    analysis: Analysis, messages: Iterable[int], *, discovery: bool = False, most: int | None = None
) -> list[Wait]:
    """Describes waiting messages, including participants that wait behind each.

    Args:
        analysis: the passes.
        messages: the waiting messages.
        discovery: they are discovery requests.
        most: limit of described messages; None for all.
    """
    rows = [*messages]
    ends = [_wait_ends(analysis, row) for row in rows]
    behind = _waiters_behind(ends)
    return [
        _describe_wait(analysis, row, behind.get(own, ((), 0)), discovery=discovery)
        for row, (own, _) in zip(rows[:most], ends, strict=False)
    ]


def _wait_ends(analysis: Analysis, message: int) -> tuple[_Place, tuple[_Place, ...]]:
    """Returns the waiting participant, and the awaited ones."""
    capture = analysis.capture
    space = int(capture.columns["space"][message])
    return (space, capture.string("sender", message) or ""), tuple(
        (space, name) for name in capture.recipients(message)
    )


def _waiters_behind(ends: Sequence[tuple[_Place, tuple[_Place, ...]]]) -> dict[_Place, tuple[tuple[str, ...], int]]:
    """Maps each awaited participant to its nearest transitive waiters, and their number.

    O(names asked), and O(n^2) in participants that both wait and are awaited, with sets as integer bit masks.
    """
    askers = [*dict.fromkeys(asker for asker, _ in ends)]
    number = {asker: place for place, asker in enumerate(askers)}
    waiting: list[dict[int, None]] = [{} for _ in askers]  # direct waiters by participant, in order of discovery
    for asker, asked in ends:
        for place in number.keys() & set(asked):
            waiting[number[place]][number[asker]] = None
    reached = [sum(1 << other for other in others) for others in waiting]
    for between, others in enumerate(waiting):
        if others:
            # Warshall's algorithm; integers as sets make each step one operation.
            bit, further = 1 << between, reached[between]
            reached = [all_of | further if all_of & bit else all_of for all_of in reached]
    named = sum(1 << place for place, (_, name) in enumerate(askers) if name)
    return {
        asker: (_nearest_waiters(place, waiting, askers), (reached[place] & named & ~(1 << place)).bit_count())
        for place, asker in enumerate(askers)
        if waiting[place]
    }


def _nearest_waiters(place: int, waiting: Sequence[Iterable[int]], askers: Sequence[_Place]) -> tuple[str, ...]:
    """Returns the names of the nearest few waiters."""
    queue, names = [place], list[str]()
    for one in queue:  # grows during the loop
        new = [other for other in waiting[one] if other not in queue]
        queue += new
        names += [askers[other][1] for other in new if askers[other][1]]
        if len(names) >= _MOST_BEHIND:
            break
    return tuple(safe_line(name, _MAX_SHORT_NAME) for name in names[:_MOST_BEHIND])


def _describe_wait(analysis: Analysis, message: int, behind: tuple[tuple[str, ...], int], *, discovery: bool) -> Wait:
    capture = analysis.capture
    proposed = capture.string("kind", message) == kinds.PROPOSAL
    what = (
        correlation_string(analysis, "target", message)
        or correlation_string(analysis, "method", message)
        or "an answer"
    )
    to = capture.recipients(message)
    server = "the server" if capture.flags_of(message) & Flag.RPC else "everyone"
    whom = "a decision" if proposed else recipients(capture, to) if to else server
    if party_who_left(analysis, message) == "asked":
        whom += " (left)"
    since = int(capture.columns["time_ns"][message])
    # In a log, the last record is the present.
    now = analysis.now_ns if analysis.now_ns is not None else analysis.contexts.clock_ns
    waited = None if NO_TIME in (since, now) else max(0, now - since)
    what = safe_line(what, _MAX_NAME)
    of_agent = capture.string("protocol", message) in registry.groups().agents
    state = analysis.states.state_of(message)
    made = _call_made(analysis, message) if proposed else ""
    return Wait(
        message, asker_name(analysis, message), whom, what, waited, discovery, *behind, is_proposal=proposed, made=made,
        is_of_agent=of_agent and state is MessageState.WAITING, went_on=of_agent and state is MessageState.UNANSWERED,
    )  # fmt: skip


def _call_made(analysis: Analysis, proposal: int) -> str:
    """Returns the number of the call that probably carries out a proposal; "" without one.

    It proves no decision, as the call does not name the proposal.
    """
    links = likely_effects(analysis, proposal)
    made = next((link.effect for link in links if link.relation is Relation.CARRIES_OUT), None)
    return "" if made is None else formats.message_number(made)


def asker_name(analysis: Analysis, message: int) -> str:
    """Returns the sender's name; lines of MCP without one belong to a client."""
    name = analysis.capture.string("sender", message)
    if name:
        return safe_line(analysis.capture.shown_name(name), _MAX_NAME)
    if not analysis.capture.flags_of(message) & Flag.RPC:
        return "somebody"
    return "the client" if analysis.capture.foreign_rpc.is_foreign(message) else "the MCP client"
