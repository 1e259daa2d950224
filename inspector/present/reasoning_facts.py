"""Facts of a reasoning: prompt, thread of thoughts and calls, cost, stream; the thought behind a call.

Times count from the start.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

import numpy as np

from inspector.analysis import Analysis
from inspector.analysis.passes.calls.proposal_states import PROPOSAL_STATE_NAMES
from inspector.analysis.passes.changed_rows import Rows
from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.states.state_pass import STATE_NAMES
from inspector.analysis.views.account.unanswered import is_cancelled, is_pending, is_refused, party_who_left
from inspector.analysis.views.causes.chain import ChainStep, relation_word
from inspector.analysis.views.causes.likely_links import LikelyLink, Relation, likely_causes
from inspector.analysis.views.causes.proposal_outcomes import has_failed
from inspector.analysis.views.latency.background_agents import answer_latency_ns
from inspector.present import formats
from inspector.present.chain_rows import ChainRow, chain_row
from inspector.present.facts import Fact, FactPart, fact, message_part, words_fact
from inspector.present.formats import delta
from inspector.present.subject import Subject, sender_of, text_of
from inspector.present.token_facts import context_tokens
from inspector.present.wire_text import safe_line
from inspector.protocol import kinds
from inspector.protocol.payloads.markdown_text import plain_words
from inspector.protocol.timestamps import NO_TIME


@dataclass(frozen=True, slots=True)
class ThreadRow(ChainRow):
    """A step of a thread.

    Attributes:
        text: its text over several lines; "" if it only has a name.
        where: its context if different from the previous step's; "" otherwise.
    """

    text: str = ""
    where: str = ""


MOST_STEPS = 50
_MOST_NODES = 2_000
_STREAM_NEAR = 20  # messages around a start searched for its stream
_MAX_THOUGHT = 1_200
"""Limit of a thought in the thread, in characters."""
_NOT_STEPS = (kinds.RESPONSE, kinds.FRAME)
_TEXT_KINDS = frozenset({"reasoning/thought", "reasoning/conclusion", "chat"})


def asked_facts(subject: Subject) -> list[Fact]:
    """Shows the prompt of a reasoning, and the message that asked for it."""
    rows = [words_fact(subject.text or "No text.", lines=8)]
    cause = next(iter(subject.causes), None)
    if cause is not None:
        by = FactPart(f"by {sender_of(subject.capture, cause)}, ")
        return [*rows, Fact("", (by, message_part(cause)), right=_how_long_before(subject, cause))]
    return [*rows, asked_in_chat(subject) or fact("", "It names no request.", "dim")]


_BY_TIME = "The message names no thought. This is its sender's last one in an open reasoning."


def asked_in_chat(subject: Subject) -> Fact | None:
    """Links the chat with the exact words of the prompt, if the start names no message."""
    link = _likely_link(subject, Relation.STARTS_ON)
    if link is None:
        return None
    words = FactPart(f"{sender_of(subject.capture, link.cause)} wrote the same text in ")
    tooltip = "The start names no request. This message has the same text."
    return Fact("", (words, message_part(link.cause)), tooltip=tooltip, right=_how_long_before(subject, link.cause))


def _likely_link(subject: Subject, relation: Relation) -> LikelyLink | None:
    """Returns the likely link of one sort with this message as effect, if any."""
    found = likely_causes(subject.analysis, subject.message)
    return next((link for link in found if link.relation == relation), None)


def thought_facts(subject: Subject) -> list[Fact]:
    """Shows the last thought before a tool call or proposal; empty without reasoning."""
    link = _likely_link(subject, Relation.FOLLOWS)
    if link is None:
        return []
    thought = link.cause
    began = subject.capture.string("kind", thought) == "reasoning/start"
    text = text_of(subject.capture, thought) or "No text."
    words = FactPart(f"{'Asked' if began else 'Thought'} in ")
    names = "  it names this tool" if _names_this_tool(subject, thought) else ""
    before = _how_long_before(subject, thought)
    where = Fact("", (words, message_part(thought), FactPart(names, "dim")), tooltip=_BY_TIME, right=before)
    return [words_fact(text), where]


def _how_long_before(subject: Subject, message: int) -> str:
    gap = subject.delta_ns(message)
    return f"{formats.duration(-gap)} before" if gap is not None and gap <= 0 else ""


def _names_this_tool(subject: Subject, thought: int) -> bool:
    """Returns True if a thought names this call's tool as the next step, as released agents do."""
    step = subject.capture.records.payload(thought).get("actionInput")
    tool = step.get("tool") if isinstance(step, Mapping) else None
    return isinstance(tool, str) and bool(subject.target) and tool.rpartition("/")[2] == subject.target


def sequence_of(subject: Subject) -> int:
    """Returns the nearest started context at or above the message's own."""
    contexts, node = subject.analysis.contexts, subject.reasoning_node
    line = contexts.tree.ancestry(node)
    return next((above for above in reversed(line) if contexts.started_by[above] >= 0), node)


def thread_rows(subject: Subject, node: int) -> tuple[list[ThreadRow], int, int]:
    """Returns steps in and below the context with concurrent calls, number of hidden steps, and of outside calls."""
    analysis, capture = subject.analysis, subject.capture
    below = _nodes_below(analysis, node)
    held = analysis.contexts.nodes()
    # Most contexts have no children: `==` over a million takes 0.3 ms, `isin` five times that.
    inside = np.flatnonzero(held == node) if len(below) == 1 else np.flatnonzero(np.isin(held, below))
    started = analysis.contexts.started_by[node]
    # The message itself is always a step, even if it stands in another context.
    others = [subject.message]
    outside: list[int] = []
    if started >= 0:
        others.append(started)
        outside = _acts_outside(subject, started, int(inside[-1]) if len(inside) else started, below)
    ordered = _in_order(inside.astype(np.int64), np.array(others + outside, np.int64))
    kind_of = capture.columns["kind"][ordered]
    unwanted = np.zeros(len(ordered), np.bool_)
    for kind in _NOT_STEPS:
        unwanted |= kind_of == (capture.strings.find(kind) or -1)
    ordered = ordered[~unwanted]
    hidden = max(0, len(ordered) - MOST_STEPS)
    if hidden:
        # The message is kept in the middle of the steps shown.
        place = int(np.searchsorted(ordered, subject.message))
        low = max(0, min(place - MOST_STEPS // 2, hidden))
        ordered = ordered[low : low + MOST_STEPS]
    times = capture.columns["time_ns"]
    steps: list[ThreadRow] = []
    last = node
    for row in ordered.tolist():
        here = int(held[row]) if row not in outside and row != started else node
        made = _thread_row(subject, row, int(times[row]), started)
        if here != node and not made.text:
            made = replace(made, relation=", ".join(filter(None, (_context_name(analysis, here), made.relation))))
        elif made.text and here != last:
            made = replace(made, where=_context_name(analysis, here) if here != node else "this context")
        last = here if made.text else last
        steps.append(made)
    return steps, hidden, len(outside)


def _in_order(ascending: Rows, others: Rows) -> Rows:
    """Merges both ascending, without duplicates; avoids a set of the large first array."""
    together = np.sort(np.concatenate((ascending, others)), kind="stable")
    return together[np.concatenate(([True], together[1:] != together[:-1]))]


def _nodes_below(analysis: Analysis, node: int) -> list[int]:
    """Returns the context and its descendants, up to a limit."""
    found = [node]
    # The list grows during the loop: a breadth-first walk without recursion.
    for above in found:
        if len(found) >= _MOST_NODES:
            break
        found.extend(analysis.contexts.tree.children.each(above))
    return found[:_MOST_NODES]


def _context_name(analysis: Analysis, node: int) -> str:
    return safe_line(analysis.contexts.label(node), 60) if node != MAIN else "main"


def _acts_outside(subject: Subject, started: int, last: int, inside: list[int]) -> list[int]:
    """Returns tool calls and proposals of the reasoner in other contexts meanwhile."""
    capture, analysis = subject.capture, subject.analysis
    end = analysis.contexts.concluded_by[inside[0]]
    stop = (end if end >= 0 else last) + 1
    columns = capture.columns
    wanted = [capture.strings.find(k) or -1 for k in (kinds.REQUEST, kinds.PROPOSAL)]
    here = np.isin(columns["kind"][started:stop], wanted) & (
        columns["sender"][started:stop] == columns["sender"][started]
    )
    here &= columns["method"][started:stop] == (capture.strings.find("tools/call") or -1)
    here &= columns["space"][started:stop] == columns["space"][started]
    # Some agents call tools in the main context while they reason in another.
    here &= ~np.isin(analysis.contexts.nodes()[started:stop], inside)
    return (np.flatnonzero(here) + started).tolist()


def _thread_row(subject: Subject, row: int, time_ns: int, started: int) -> ThreadRow:
    """Returns one row; times count from the start, or from the shown message without one."""
    origin = started if started >= 0 else subject.message
    base = int(subject.capture.columns["time_ns"][origin])
    step = ChainStep(row, relation_word(subject.analysis, row), None)
    word, token = _outcome_word(subject, row)
    link = chain_row(subject.analysis, step, subject.message, word or None, token)
    if row == started:
        link = replace(link, name="start", relation="")
    if not link.own:
        link = replace(link, delta=delta(time_ns - base) if NO_TIME not in (time_ns, base) else "")
    text = "" if link.own or link.mono or link.kind not in _TEXT_KINDS else _step_text(subject, row)
    # Copied field by field: `dataclasses.asdict` would copy the values too.
    known = {field.name: getattr(link, field.name) for field in fields(link)}
    return ThreadRow(**known, text=text)


def _outcome_word(subject: Subject, row: int) -> tuple[str, str]:
    """Returns a word for the outcome of a call, and its colour."""
    links = subject.analysis.correlation
    kind = subject.capture.string("kind", row)
    if kind == kinds.PROPOSAL:
        if has_failed(subject.analysis, row):
            return "failed", "severity.error"
        return PROPOSAL_STATE_NAMES[int(links.columns["proposal_state"][row])], "ink.tertiary"
    if kind == kinds.REQUEST:
        answer = int(links.columns["answer"][row])
        latency = answer_latency_ns(subject.analysis, answer) if answer >= 0 else None
        if answer < 0:
            return _unanswered_word(subject, row)
        return (formats.duration(latency) if latency is not None else "answered"), "ink.tertiary"
    if kind == "reasoning/conclusion" and not text_of(subject.capture, row):
        return "no message", "severity.note"
    return "", "ink.tertiary"


def _unanswered_word(subject: Subject, row: int) -> tuple[str, str]:
    analysis = subject.analysis
    if is_refused(analysis, row):
        return "refused", "severity.error"
    if is_cancelled(analysis, row):
        return "cancelled", "ink.tertiary"
    if gone := party_who_left(analysis, row):
        return f"{gone} left", "ink.tertiary"
    state = analysis.states.state_of(row)
    return (STATE_NAMES[state], "badge.transient") if is_pending(analysis, row) else ("", "ink.tertiary")


def cost_facts(subject: Subject, node: int, outside: int) -> list[Fact]:
    """Shows messages, tokens and duration of a context; `outside` counts its owner's calls elsewhere."""
    contexts = subject.analysis.contexts
    own, below = contexts.tree.own[node], contexts.tree.subtree[node]
    words = f"{formats.number(own)} here"
    if below > own:
        words += f", {formats.number(below - own)} below"
    if outside:
        words += f", {formats.count_of(outside, 'tool call')} outside"
    space = int(subject.capture.columns["space"][subject.message])
    rows = [fact("Messages", words), *context_tokens(subject.analysis, space, node)]
    started, last = contexts.started_by[node], contexts.last_row[node]
    times = subject.capture.columns["time_ns"]
    first = started if started >= 0 else contexts.first_row[node]
    if first >= 0 and last > first and NO_TIME not in (times[first], times[last]):
        rows.append(fact("Lasted", formats.duration(int(times[last]) - int(times[first]))))
    rows.append(fact("State", contexts.state(node, subject.analysis.now_ns), tooltip=contexts.type_reason(node)))
    return rows


def stream_opener(subject: Subject, started: int) -> int | None:
    """Returns the message that opened a reasoning's stream; the request if it never opened.

    The request comes before the start, with the description `reasoning:<start id>` (docs/protocols.md 8).
    """
    capture = subject.capture
    if started < 0:
        return None
    wanted = f"reasoning:{capture.records.envelope_id(started)}"
    low = max(0, started - _STREAM_NEAR)
    asked = capture.columns["kind"][low : started + _STREAM_NEAR] == (capture.strings.find("stream/request") or -1)
    for row in (np.flatnonzero(asked) + low).tolist():
        if capture.records.payload(row).get("description") == wanted:
            return next((m for m in subject.analysis.correlation.effects(row) if capture.string("stream", m)), row)
    return None


def stream_link(subject: Subject, stream: int) -> Fact:
    """Shows a reasoning's stream with a link to its opening."""
    name = subject.capture.string("stream", stream)
    parts = (
        FactPart(f"{safe_line(name, 80)}, " if name else "asked for, ", "mono" if name else "plain"),
        message_part(stream),
    )
    return Fact("Stream", parts)


def _step_text(subject: Subject, row: int) -> str:
    """Returns a step's text without blank lines."""
    text = plain_words(text_of(subject.capture, row)[:_MAX_THOUGHT])
    return "\n".join(line for line in text.splitlines() if line.strip())
