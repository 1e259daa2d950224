"""Reasoning: what was asked, then thoughts and acts with their times. A thought opens on its own text."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from PySide6.QtWidgets import QWidget

from inspector.analysis.chain import ChainStep, relation_word
from inspector.analysis.context_tree import MAIN
from inspector.analysis.proposals import ProposalState
from inspector.protocol import kinds
from inspector.ui import formats
from inspector.ui.panels.details.chain_view import Link, link_of
from inspector.ui.panels.details.facts import Fact, Part, fact
from inspector.ui.panels.details.sheet import Sheet, message_part, value_facts, words_fact
from inspector.ui.panels.details.subject import Subject
from inspector.ui.panels.details.words import delta, sender_of

MOST_STEPS = 50
_TEXT_KEYS = ("message", "reasoning", "thought", "text", "input", "conclusion", "description", "decision")


def build(sheet: Sheet) -> list[QWidget]:
    """Sections of a reasoning message."""
    subject = sheet.subject
    sections: list[QWidget] = []
    if subject.kind == "reasoning/start":
        sections.append(sheet.section("Asked", sheet.fact_card(_asked(subject), name="asked", label="Asked")))
    else:
        sections += _own_text(sheet)
    node = subject.reasoning_node
    if node == MAIN:
        return sections + sheet.chain_section()
    rows, hidden, outside = _steps(subject, node)
    body: list[QWidget] = [sheet.rail(rows, label="Thoughts and acts", name="thoughts")]
    if hidden:
        more = f"{formats.number(hidden)} more, scope to this context"
        body.append(sheet.link(more, lambda: sheet.links.scope_requested.emit(subject.message), name="moreThoughts"))
    scope = sheet.link(
        "Scope to this context", lambda: sheet.links.scope_requested.emit(subject.message), name="scopeTo"
    )
    sections.append(sheet.section("Thoughts and acts", *body, action=scope))
    sections.append(sheet.section("Cost", sheet.facts(_cost(subject, node, outside), name="cost", label="Cost")))
    return sections


def _asked(subject: Subject) -> list[Fact]:
    rows = [words_fact(subject.text or "Nothing was written.", lines=8)]
    cause = next(iter(subject.causes), None)
    if cause is not None:
        by = Part(f"by {sender_of(subject.capture, cause)}, ")
        gap = subject.delta_ns(cause)
        right = f"{formats.duration(-gap)} before" if gap is not None and gap <= 0 else ""
        return [*rows, Fact("", (by, message_part(cause)), right=right)]
    return [*rows, fact("", "It names no message that asked for it.", "dim")]


def _own_text(sheet: Sheet) -> list[QWidget]:
    subject = sheet.subject
    last = subject.kind.rpartition("/")[2]
    label = {"thought": "Thought", "conclusion": "Conclusion", "cancel": "Cancelled"}.get(last, last.capitalize())
    shown = next((k for k in _TEXT_KEYS if isinstance(subject.payload.get(k), str)), None)
    sections: list[QWidget] = []
    if shown is not None:
        sections.append(sheet.section(label, sheet.text(subject.text, name="thoughtText", label=label)))
    rest = value_facts(subject.payload, skip=(shown,) if shown else ())
    if rest:
        sections.append(
            sheet.section("Also" if shown else label, sheet.fact_card(rest, name="thoughtMore", label="Also"))
        )
    elif shown is None:
        sections.append(sheet.section(label, sheet.facts([fact("", "No message.", "dim")], name="noText", label=label)))
    return sections


def _steps(subject: Subject, node: int) -> tuple[list[Link], int, int]:
    """Rows of the context and of tool calls made meanwhile; how many more there are; how many calls lie outside."""
    analysis, capture = subject.analysis, subject.capture
    inside = np.flatnonzero(analysis.contexts.nodes() == node)
    started = analysis.contexts.started_by[node]
    rows = set(inside[: MOST_STEPS + 1].tolist()) | {subject.message}
    outside: list[int] = []
    if started >= 0:
        rows.add(started)
        outside = _acts_outside(subject, started, int(inside[-1]) if len(inside) else started, node)
        rows.update(outside[:MOST_STEPS])
    ordered = sorted(r for r in rows if capture.string("kind", r) != kinds.RESPONSE)
    if len(ordered) > MOST_STEPS:
        place = ordered.index(subject.message)
        low = max(0, min(place - MOST_STEPS // 2, len(ordered) - MOST_STEPS))
        ordered = ordered[low : low + MOST_STEPS]
    total = len(inside) + len(outside) + (started >= 0)
    answers = int(np.count_nonzero(capture.columns["kind"][inside] == (capture.strings.find(kinds.RESPONSE) or -1)))
    hidden = max(0, total - answers - len(ordered))
    times = capture.columns["time_ns"]
    return [_step(subject, row, int(times[row]), started) for row in ordered], hidden, len(outside)


def _acts_outside(subject: Subject, started: int, last: int, node: int) -> list[int]:
    """Tool calls and proposals the one who reasons made meanwhile in other contexts."""
    capture, analysis = subject.capture, subject.analysis
    end = analysis.contexts.concluded_by[node]
    stop = (end if end >= 0 else last) + 1
    columns = capture.columns
    wanted = [capture.strings.find(k) or -1 for k in (kinds.REQUEST, kinds.PROPOSAL)]
    here = np.isin(columns["kind"][started:stop], wanted) & (
        columns["sender"][started:stop] == columns["sender"][started]
    )
    here &= columns["method"][started:stop] == (capture.strings.find("tools/call") or -1)
    here &= columns["space"][started:stop] == columns["space"][started]
    here &= analysis.contexts.nodes()[started:stop] != node
    return (np.flatnonzero(here) + started).tolist()


def _step(subject: Subject, row: int, time_ns: int, started: int) -> Link:
    """One row; times count from the start, or from the shown message where the start was not seen."""
    origin = started if started >= 0 else subject.message
    base = int(subject.capture.columns["time_ns"][origin])
    step = ChainStep(row, relation_word(subject.analysis, row), None)
    word, token = _outcome(subject, row)
    link = link_of(subject.analysis, step, subject.message, word or None, token)
    if row == started:
        link = replace(link, name="start", relation="")
    if link.own:
        return link
    known = min(time_ns, base) > -(2**62)
    shown = delta(time_ns - base) if known else ""
    return replace(link, delta=shown)


def _outcome(subject: Subject, row: int) -> tuple[str, str]:
    """A word for what became of an act."""
    links = subject.analysis.correlation
    kind = subject.capture.string("kind", row)
    if kind == kinds.PROPOSAL:
        state = ProposalState(int(links.columns["proposal_state"][row]))
        return state.name.lower(), "ink.tertiary"
    if kind == kinds.REQUEST:
        answer = int(links.columns["answer"][row])
        latency = links.latency_ns(answer) if answer >= 0 else None
        if answer < 0:
            return "no answer", "badge.transient"
        return (formats.duration(latency) if latency is not None else "answered"), "ink.tertiary"
    if kind == "reasoning/conclusion" and not subject.capture.payload(row).get("message"):
        return "no message", "severity.note"
    return "", "ink.tertiary"


def _cost(subject: Subject, node: int, outside: int) -> list[Fact]:
    contexts = subject.analysis.contexts
    own, below = contexts.tree.own[node], contexts.tree.subtree[node]
    words = f"{formats.number(own)} here"
    if below > own:
        words += f", {formats.number(below - own)} below"
    if outside:
        words += f", {formats.count_of(outside, 'tool call')} outside"
    rows = [fact("Messages", words)]
    started, last = contexts.started_by[node], contexts.last_row[node]
    times = subject.capture.columns["time_ns"]
    first = started if started >= 0 else contexts.first_row[node]
    if first >= 0 and last > first and min(int(times[first]), int(times[last])) > -(2**62):
        rows.append(fact("Lasted", formats.duration(int(times[last]) - int(times[first]))))
    rows.append(fact("State", contexts.state(node, subject.analysis.now_ns), tooltip=contexts.type_reason(node)))
    stream = _stream(subject, started)
    return [*rows, stream] if stream is not None else rows


def _stream(subject: Subject, started: int) -> Fact | None:
    """The stream asked for before the start, described as `reasoning:<start id>` (protocols.md 8)."""
    capture = subject.capture
    if started < 0:
        return None
    wanted = f"reasoning:{capture.envelope_id(started)}"
    low = max(0, started - 20)
    asked = (
        np.flatnonzero(capture.columns["kind"][low : started + 20] == (capture.strings.find("stream/request") or -1))
        + low
    )
    for row in asked.tolist():
        if capture.payload(row).get("description") == wanted:
            opened = [m for m in subject.analysis.correlation.effects(row) if capture.string("stream", m)]
            name = capture.string("stream", opened[0]) if opened else None
            parts = (
                Part(f"{name}, " if name else "asked for, ", "mono" if name else "plain"),
                message_part(opened[0] if opened else row),
            )
            return Fact("Stream", parts)
    return None
