"""Rows of a context's page: start, end, messages, kinds, participants, children, findings, spellings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from inspector.analysis import Analysis
from inspector.analysis.findings import Severity
from inspector.analysis.findings.naming_problems import naming_problems
from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.views.summaries.context_summary import ContextTally, children_of, findings_below, notations_of
from inspector.document.conclusions import conclusion_row
from inspector.document.document import CaptureDocument
from inspector.filters.strings import quote
from inspector.present import formats
from inspector.present.facts import Fact, FactPart, Ink, fact, message_part, value_facts, words_fact
from inspector.present.formats import count_of, full_time, log_moment
from inspector.present.log_topics import spoken_kinds
from inspector.present.places import ContextPlace, ParticipantPlace
from inspector.present.sub_agent_facts import usage_facts
from inspector.present.subject import sender_of, text_of
from inspector.present.token_facts import context_tokens
from inspector.present.wire_text import safe_line
from inspector.protocol.context_places import PLACE_EXPLANATIONS, PLACE_NAMES
from inspector.protocol.secrets.masking import mask_secrets
from inspector.protocol.timestamps import NO_TIME

MOST_ROWS = 20
"""Limit of listed participants, contexts and findings; the rest is counted."""
_SEVERITY_INKS: dict[Severity, Ink] = {Severity.ERROR: "bad", Severity.WARNING: "warn", Severity.NOTE: "dim"}


_KNOWN_METADATA = ("trigger", "confidence", "started", "ended")
"""Metadata keys of the drafts, shown first."""


@dataclass(frozen=True, slots=True)
class FactSection:
    """A section of rows."""

    name: str
    label: str
    rows: Sequence[Fact]
    card: bool = False


@dataclass(frozen=True, slots=True)
class ContextSubject:
    """A context with the totals of its messages.

    Attributes:
        node: the resolved node; MAIN for a main context.
        tally: updated totals.
    """

    document: CaptureDocument
    space: int
    node: int
    tally: ContextTally

    @property
    def analysis(self) -> Analysis:
        """The passes."""
        return self.document.analysis

    @property
    def path(self) -> str:
        """Path; "" for a main context."""
        return self.analysis.contexts.tree.path(self.node)

    @property
    def several_spaces(self) -> bool:
        """Returns True if there are other spaces."""
        return len(self.analysis.contexts.spaces) > 1

    @property
    def filter(self) -> str:
        """Display filter for the context and its descendants."""
        part = "!context" if self.node == MAIN else f"context under {quote(self.path)}"
        if not self.several_spaces:
            return part
        space = self.document.capture.strings[self.space]
        # The same path may occur in several spaces.
        return f"{f'space == {quote(space)}' if space else '!space'} && {part}"

    @property
    def now_ns(self) -> int:
        """The wall clock while live, else the time of the last record."""
        now = self.analysis.now_ns
        return now if self.document.live and now is not None else self.analysis.contexts.clock_ns


def context_fact_sections(subject: ContextSubject) -> list[FactSection]:
    """Returns the sections, top to bottom, without empty ones."""
    inside = subject.node != MAIN
    blocks = [
        FactSection("contextAsked", "Asked", _start_rows(subject), card=True),
        FactSection("contextEnded", _end_label(subject), _end_rows(subject), card=True),
        FactSection("contextFacts", "Context", _facts(subject)),
        FactSection("contextMetadata", "Metadata", _metadata(subject)),
        FactSection("contextMessages", "Messages", _messages(subject)),
        FactSection("contextParticipants", "Participants", _participants(subject)),
        FactSection("contextChildren", "Nested contexts" if inside else "Root contexts", _children(subject)),
        FactSection("contextFindings", "Findings here and below" if inside else "Findings", _findings(subject)),
        FactSection("contextWritten", "Written as", _spelling_rows(subject)),
    ]
    return [block for block in blocks if block.rows]


# Start and end


def _start_rows(subject: ContextSubject) -> list[Fact]:
    return _message_facts(subject, subject.analysis.contexts.started_by[subject.node]) if subject.node != MAIN else []


def _end_rows(subject: ContextSubject) -> list[Fact]:
    if subject.node == MAIN:
        return []
    contexts = subject.analysis.contexts
    end, start = conclusion_row(subject.analysis, subject.node), contexts.started_by[subject.node]
    return _message_facts(subject, end, since=start if start >= 0 else subject.tally.first)


def _end_label(subject: ContextSubject) -> str:
    state = subject.analysis.contexts.state(subject.node) if subject.node != MAIN else ""
    return "Cancelled" if state == "cancelled" else "Concluded"


def _message_facts(subject: ContextSubject, message: int, since: int = -1) -> list[Fact]:
    """Shows a message's text, sender and time: by the clock, or the time since another one."""
    if message < 0:
        return []
    capture = subject.document.capture
    times = capture.columns["time_ns"]
    when = log_moment(int(times[message]))
    # Clocks of participants differ, so an end can lie before its start.
    if since >= 0 and NO_TIME not in (times[message], times[since]) and times[message] >= times[since]:
        when = f"after {formats.duration(int(times[message]) - int(times[since]))}"
    text = text_of(capture, message).strip()
    written = words_fact(text, lines=8) if text else fact("", "No text.", "dim")
    return [written, Fact("", (FactPart(f"by {sender_of(capture, message)}, "), message_part(message)), right=when)]


# Identity


def _facts(subject: ContextSubject) -> list[Fact]:
    contexts, tree, node = subject.analysis.contexts, subject.analysis.contexts.tree, subject.node
    rows: list[Fact] = []
    if subject.several_spaces:
        rows.append(fact("Space", subject.document.capture.strings[subject.space] or "none named"))
    if node == MAIN:
        return [*rows, fact("Content", "Messages without a context.", lines=2)]
    rows += _type(subject)
    if labels := contexts.facts.labels_of(node):
        rows.append(fact("Labels", ", ".join(labels), lines=3, filter=f"labels == {quote(labels[0])}"))
    state = contexts.state(node, subject.analysis.now_ns)
    rows.append(fact("State", _state_words(subject, state), tooltip="Contexts have no end marker and never close."))
    rows.append(fact("Path", subject.path, "mono", middle=True, filter=f"context == {quote(subject.path)}"))
    if tree.name[node] != subject.path:
        rows.append(fact("Id", tree.name[node], "mono", middle=True))
    if (told := contexts.first_context_place(node)) in PLACE_EXPLANATIONS:
        rows.append(
            fact("Declared by", PLACE_EXPLANATIONS[told], lines=2, filter=f"context.told == {quote(PLACE_NAMES[told])}")
        )
    above = tree.parent[node]
    name = contexts.label(above) if above != MAIN else "main"
    rows.append(Fact("Parent", (FactPart(name, "link", place=ContextPlace(subject.space, above)),)))
    if tree.implicit[node]:
        rows.append(fact("Implied", "Only nested contexts have messages.", lines=2))
    if note := contexts.note(node):
        rows.append(fact("Irregular", note, "warn", lines=4))
    return rows


def _type(subject: ContextSubject) -> list[Fact]:
    contexts, node = subject.analysis.contexts, subject.node
    kind = contexts.type(node)
    if kind is None:
        return [fact("Type", "none declared", "dim")]
    return [
        fact("Type", kind, filter=f"context.type == {quote(kind)}"),
        _type_reason(subject),
    ]


def _type_reason(subject: ContextSubject) -> Fact:
    """Shows the reason for the type: the sentence of tooltips and command line, with a link to its message."""
    contexts, node = subject.analysis.contexts, subject.node
    reason, started_by = contexts.type_reason(node), contexts.started_by[node]
    declared = contexts.facts.declared.get(node)
    if declared is not None:
        return Fact("Why", (FactPart(f"{reason.rstrip('.')}, ", "dim"), message_part(declared[0])), copy=reason)
    # The number in the sentence becomes a link.
    words, number, _ = reason.partition(f"No. {started_by + 1}")
    if started_by < 0 or not number:
        return fact("Why", reason, "dim", lines=3)
    return Fact("Why", (FactPart(words, "dim"), message_part(started_by)), copy=reason)


def _state_words(subject: ContextSubject, state: str) -> str:
    last = subject.tally.last_ns
    if state not in ("active", "idle") or last == NO_TIME:
        return state
    ago = subject.now_ns - last
    # In a log, the time since the last message says nothing about the context.
    if ago < 1_000_000_000 or not subject.document.live:
        return state
    return f"{state}, last message {formats.duration(ago // 1_000_000_000 * 1_000_000_000).replace('.0 s', ' s')} ago"


def _metadata(subject: ContextSubject) -> list[Fact]:
    rows: list[Fact] = []
    if subject.node == MAIN:
        return rows
    values = mask_secrets(subject.analysis.contexts.metadata(subject.node))
    known = [key for key in _KNOWN_METADATA if key in values]
    # Known keys first, then the rest in written order.
    for key in dict.fromkeys([*known, *values]):
        value = values[key]
        named = subject.document.capture.records.find_id(value) if isinstance(value, str) and value else []
        if len(named):
            parts = (FactPart(f"{value}, ", "mono"), message_part(int(named[0])))
            rows.append(Fact(key, parts, mono_name=True, copy=value))
        else:
            rows += value_facts({key: value})
    return rows


# Content


def _messages(subject: ContextSubject) -> list[Fact]:
    tally = subject.tally
    tree = subject.analysis.contexts.tree
    total = tree.subtree[subject.node] if subject.node != MAIN else tally.messages
    counted = f"{tally.messages:,} here" + (f", {total:,} including nested contexts" if total != tally.messages else "")
    rows = [fact("Messages", counted), *context_tokens(subject.analysis, subject.space, subject.node)]
    rows += usage_facts(subject.analysis, subject.space, subject.node)
    if not tally.messages:
        return rows
    columns = subject.document.capture.columns
    rows += [
        fact("Rate", _rate(subject), lines=2),
        Fact("Size", (FactPart(f"{formats.size(tally.size)}, largest "
                               f"{formats.size(int(columns['size'][tally.largest]))} "),
                      message_part(tally.largest))),
        _moment_row("First", subject, tally.first),
        _moment_row("Last", subject, tally.last),
        fact("Kinds", _kinds(subject), lines=12),
    ]  # fmt: skip
    return [row for row in rows if row.value]


def _rate(subject: ContextSubject) -> str:
    tally = subject.tally
    rate = tally.rate
    parts = [] if rate is None else [f"{_per_second(rate)} over {formats.duration(tally.span_ns)}"]
    if subject.document.live and (recent := tally.recent(subject.now_ns)):
        parts.append(f"{recent:,} in the last minute")
    return ", ".join(parts)


def _per_second(rate: float) -> str:
    if rate >= 0.95:
        # From 9.95 on, one decimal would round to 10.0.
        return f"{rate:,.0f}/s" if rate >= 9.95 else f"{rate:.1f}/s"
    return f"{rate * 60:.0f}/min" if rate * 60 >= 1 else f"{rate * 3600:.1f}/h"


def _moment_row(name: str, subject: ContextSubject, message: int) -> Fact:
    columns = subject.document.capture.columns
    time = int(columns["time_ns"][message])
    sender = sender_of(subject.document.capture, message)
    return Fact(
        name, (message_part(message), FactPart(f" by {sender}")), right=log_moment(time), tooltip=full_time(time)
    )


def _kinds(subject: ContextSubject) -> str:
    strings = subject.document.capture.strings
    found = subject.tally.kinds.most_common(MOST_ROWS)
    spoken = spoken_kinds(subject.document)
    names = [safe_line(spoken.get(strings[kind]) or _kind(strings[kind]), 60) for kind, _ in found]
    words = [f"{count:,}\N{NO-BREAK SPACE}{name}" for name, (_, count) in zip(names, found, strict=True)]
    rest = len(subject.tally.kinds) - len(found)
    return ", ".join([*words, f"{rest} more"] if rest > 0 else words)


def _kind(kind: str) -> str:
    """Shortens a kind: removes the two most common namespaces."""
    return kind.removeprefix("mcp/").removeprefix("reasoning/") or "without a kind"


def _participants(subject: ContextSubject) -> list[Fact]:
    strings, tally = subject.document.capture.strings, subject.tally
    rows: list[Fact] = []
    for code, count in tally.senders.most_common(MOST_ROWS):
        if code:
            name = strings[code]
            link = FactPart(name, "link", place=ParticipantPlace(subject.space, name))
            filter_ = f"{subject.filter} && from == {quote(name)}"
            rows.append(Fact("", (link,), right=formats.count_of(count, "message"), filter=filter_))
        else:
            rows.append(fact("", "no sender", "dim", right=formats.count_of(count, "message")))
    rest = len(tally.senders) - len(rows)
    return [*rows, fact("", f"{rest:,} more", "dim")] if rest > 0 else rows


def _children(subject: ContextSubject) -> list[Fact]:
    contexts, tree = subject.analysis.contexts, subject.analysis.contexts.tree
    shown, count = children_of(subject.analysis, subject.space, subject.node, MOST_ROWS)
    rows = [
        Fact("", (FactPart(contexts.label(node), "link", place=ContextPlace(subject.space, node)),
                  FactPart(f"  {contexts.state(node, subject.analysis.now_ns)}", "dim")),
             right=formats.count_of(tree.subtree[node], "message"), tooltip=tree.path(node), copy=tree.path(node),
             filter=f"context under {quote(tree.path(node))}")
        for node in shown
    ]  # fmt: skip
    return [*rows, fact("", f"{count - len(rows):,} more", "dim")] if count > len(rows) else rows


def _findings(subject: ContextSubject) -> list[Fact]:
    analysis, node = subject.analysis, subject.node
    by_context = analysis.findings.by_context
    some = by_context.in_main(subject.space) if node == MAIN else by_context.subtree_tally(node)
    found = findings_below(analysis, subject.space, node) if any(some) else []
    # An oddity of the context itself leads to the row that caused it.
    odd = {one.check: one for one in naming_problems(analysis.contexts, node)}
    listed = {check for check, _, _ in found}
    found += [(check, one.times, one.row) for check, one in odd.items() if check not in listed]
    rows: list[Fact] = []
    for check, count, row in found[:MOST_ROWS]:
        parts = [FactPart(check.title, "plain")]
        if count > 1:
            parts.append(FactPart(f"  {count:,} times", "dim"))
        if check in odd:
            row = odd[check].row
        rows.append(
            Fact(check.severity.word, tuple(parts), right=f"No. {row + 1}", right_message=row, tooltip=check.matters,
                 filter=f"{subject.filter} && finding == {quote(check.code)}", copy=check.code,
                 name_ink=_SEVERITY_INKS[check.severity])
        )  # fmt: skip
    return rows


def _spelling_rows(subject: ContextSubject) -> list[Fact]:
    """Lists the spellings of the context in messages, if they differ from its path."""
    found = notations_of(subject.analysis, subject.tally)
    if subject.node == MAIN or all(one.form == "path" and one.text == subject.path for one in found):
        return []
    return [
        Fact(one.form, (FactPart(one.text or "empty", "mono" if one.text else "dim"),), middle=True,
             right=f"No. {one.first + 1}", right_message=one.first,
             tooltip=f"{one.text}\n{count_of(one.messages, 'message')}")
        for one in found
    ]  # fmt: skip
