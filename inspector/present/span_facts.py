"""Facts of a span of a trace: its kind, duration, status, the span around it and those within, its exceptions."""

from __future__ import annotations

import numpy as np

from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.views.summaries.context_summary import children_of
from inspector.filters.sentences import info
from inspector.formats.table import SPAN_KINDS
from inspector.formats.vocabulary import ENDED_WELL
from inspector.present import formats
from inspector.present.facts import Fact, FactPart, fact, message_part
from inspector.present.places import ContextPlace
from inspector.present.subject import Subject
from inspector.present.wire_text import safe_line, visible_controls

_MOST_WITHIN = 8
_SEARCHED_AT_ONCE = 4_096
TOLD = frozenset(("text", "duration_ms", "status", "span", "exceptions"))
"""Payload members with rows of their own."""


def span_facts(subject: Subject) -> list[Fact]:
    """Returns the kind of a span, its duration and status, and the span around it as a link."""
    payload = subject.payload
    rows = [fact("Kind", SPAN_KINDS[subject.kind].capitalize())]
    took = payload.get("duration_ms")
    if isinstance(took, int | float):
        rows.append(fact("Duration", formats.duration(round(took * 1_000_000))))
    if isinstance(status := payload.get("status"), str):
        failed = status != ENDED_WELL
        rows.append(fact("Status", safe_line(status, 600), "bad" if failed else "plain", lines=6))
    if subject.node != MAIN:
        label = subject.analysis.contexts.label(subject.node)
        rows.append(Fact("Parent", (FactPart(label, "link", place=ContextPlace(_space(subject), subject.node)),)))
    return rows


def within_facts(subject: Subject) -> list[Fact]:
    """Returns links to the spans and messages within a span, at most 8 of each."""
    named, contexts = subject.payload.get("span"), subject.analysis.contexts
    space = _space(subject)
    node = contexts.tree.find(space, named) if isinstance(named, str) and named else MAIN
    if node == MAIN:
        return []
    shown, count = children_of(subject.analysis, space, node, _MOST_WITHIN)
    rows = [
        Fact("Span", (FactPart(contexts.label(child), "link", place=ContextPlace(space, child)),),
             right=formats.count_of(contexts.tree.subtree[child], "message"))
        for child in shown
    ]  # fmt: skip
    if count > len(shown):
        rows.append(fact("", formats.count_of(count - len(shown), "more span"), "dim"))
    for message in _first_messages(subject, node):
        words = safe_line(info(subject.analysis, message) or "", 120)
        kind = SPAN_KINDS.get(subject.capture.string("kind", message) or "", "message").capitalize()
        rows.append(Fact(kind, (message_part(message), FactPart(f"  {words}", "dim"))))
    if (more := contexts.tree.own[node] - _MOST_WITHIN) > 0:
        rows.append(fact("", formats.count_of(more, "more message"), "dim"))
    return rows


def _first_messages(subject: Subject, node: int) -> list[int]:
    """Returns the first messages in a context, at most 8; reads no further than needed."""
    contexts, found = subject.analysis.contexts, list[int]()
    first, last = contexts.first_row[node], contexts.last_row[node]
    for start in range(first, last + 1, _SEARCHED_AT_ONCE) if first >= 0 else ():
        nodes = contexts.nodes_of(slice(start, min(start + _SEARCHED_AT_ONCE, last + 1)))
        found += (np.flatnonzero(nodes == node) + start).tolist()
        if len(found) >= _MOST_WITHIN:
            break
    return found[:_MOST_WITHIN]


def exception_facts(subject: Subject) -> list[Fact]:
    """Returns the type, message and stack of each exception that a span records."""
    found = subject.payload.get("exceptions")
    rows: list[Fact] = []
    for one in found if isinstance(found, list) else ():
        if isinstance(one, dict):
            words = ": ".join(str(one[key]) for key in ("type", "message") if one.get(key))
            rows.append(fact("Exception", safe_line(words, 2_000), "bad", lines=6))
            if stack := one.get("stacktrace"):
                rows.append(fact("Stack", visible_controls(str(stack)[:20_000]), "mono", lines=8))
    return rows


def _space(subject: Subject) -> int:
    return int(subject.capture.columns["space"][subject.message])
