"""Cards about traffic: participants, waits, proposals, contexts, tools, changed definitions, slow spans and agents."""

from __future__ import annotations

from collections import Counter

import numpy as np

from inspector.analysis import Analysis
from inspector.analysis.arrays.array_views import as_numpy
from inspector.analysis.passes.contexts.node_facts import CANCELLED, CONCLUDED
from inspector.analysis.passes.participants.participant_table import GONE
from inspector.analysis.passes.tokens.reported_usage import USAGE_KINDS
from inspector.analysis.states.state_pass import MessageState
from inspector.analysis.views.account.account import Deed
from inspector.analysis.views.latency.latency import latency_by_tool
from inspector.analysis.views.latency.server_tools import changed_tools
from inspector.analysis.views.steps.call_facts import Outcome
from inspector.analysis.views.steps.step_columns import StepKind, StepState
from inspector.analysis.views.summaries.participant_queries import shown_participants
from inspector.document.summary import conclusion_of
from inspector.filters.strings import quote
from inspector.present import formats
from inspector.present.account_sentences import WAITING_NOW, AccountSentences
from inspector.present.overview.cards import MESSAGES, STEPS, Card, Link, Row, Section, Tone, Words
from inspector.present.overview.facts import OverviewFacts, number_link
from inspector.present.overview.problem_cards import line_row
from inspector.present.step_texts import span_words
from inspector.present.subject import name_of
from inspector.present.wire_text import excerpt, safe_line
from inspector.protocol import kinds
from inspector.protocol.secrets.masking import mask_text
from inspector.store.columns.hashes import NO_ROW

_MOST = 8
_NAME, _TEXT = 40, 120
_PARTICIPANT = 72
"""Longest name of a participant or a context; those of sub-agents are whole tasks and differ at their ends."""
_CALLS = 'kind == "mcp/request" && method == "tools/call"'
_OUTCOMES: dict[int, tuple[str, Tone]] = {
    MessageState.FULFILLED: ("fulfilled", "good"), MessageState.REJECTED: ("rejected", "bad"),
    MessageState.WITHDRAWN: ("withdrawn", "quiet"), MessageState.WAITING: ("open", "warn"),
    MessageState.CANCELLED: ("abandoned", "quiet"),
}  # fmt: skip


def people_card(facts: OverviewFacts) -> Card | None:
    """Returns the card of the participants and other senders, most messages first, if there are two participants.

    Messages of this program's earlier connections count for its present name. A gateway is no participant.
    """
    analysis, strings = facts.analysis, facts.document.capture.strings
    everyone = analysis.participants.all
    known: dict[str, bool] = {}  # by name: it has left
    for key in shown_participants(analysis):
        known[key[1]] = everyone.here[everyone.find(*key)] == GONE and known.get(key[1], True)
    if len(known) < 2:
        return None
    senders = facts.document.capture.columns["sender"]
    sent = Counter({strings[code]: n for code, n in Counter(senders[: len(analysis)].tolist()).items() if code})
    calls = Counter(strings[code] for code in senders[[call.row for call in facts.calls.calls]].tolist() if code)
    former = {name: own for name, own in _former_names(analysis).items() if name not in known}
    for counts in (sent, calls):
        for name in [name for name in counts if name in former]:
            counts[former[name]] += counts.pop(name)
    names = sorted(dict.fromkeys((*known, *sent)), key=lambda name: -sent[name])
    most = max(1, max(sent.values(), default=0))
    rows: list[Row] = []
    for name in names[:_MOST]:
        alike = [name, *(one for one, own in former.items() if own == name)]
        link = Link(MESSAGES, filter=" || ".join(f"from == {quote(one)}" for one in alike))
        words = [Words(formats.count_of(sent[name], "message"), "quiet")]
        words += [Words(f", {formats.count_of(calls[name], 'call')}", "quiet")] if calls[name] else []
        label = [Words(safe_line(facts.document.capture.shown_name(name), _PARTICIPANT), link=link)]
        remark = ", not a participant" if name not in known else ", left" if known[name] else ""
        label += [Words(remark, "quiet")] if remark else []
        rows.append(Row(f"who {name}", tuple(label), share=sent[name] / most, end=tuple(words)))
    if len(names) > _MOST:
        rest = formats.count_of(sum(sent[name] for name in names[_MOST:]), "message")
        rows.append(Row("more", words=(Words(f"{len(names) - _MOST:,} more", "quiet"),), end=(Words(rest, "quiet"),)))
    counts, left = AccountSentences(facts.document, facts.tally).counts(), sum(known.values())
    return Card(
        "people",
        "Who is here?",
        (Section("", tuple(rows)),),
        f"{len(known):,}",
        (Words(f"participants, {f'{left:,} left, ' if left else ''}{counts.partition(' of ')[0]}", "quiet"),),
    )


def _former_names(analysis: Analysis) -> dict[str, str]:
    """Returns the present name of this program by each of its earlier ones."""
    trust = analysis.trust
    return {name: next(reversed(trust.own[space])) for space in trust.own for name in trust.former_ids(space)}


def waits_card(facts: OverviewFacts) -> Card | None:
    """Returns the card of live waits; it keeps its place while messages arrive."""
    tally = facts.tally
    if not facts.document.is_arriving or not any(
        tally.count(deed) for deed in (Deed.CALL, Deed.REQUEST, Deed.PROPOSAL)
    ):
        return None
    lines = AccountSentences(facts.document, facts.tally).wait_lines()
    rows = [line_row(line, view=MESSAGES) for line in lines] or [
        Row("nobody", words=(Words("Nobody waits right now.", "quiet", link=Link(panel="Waiting")),))
    ]
    corner = Words(WAITING_NOW, link=Link(panel="Waiting"))
    return Card("waits", "Who waits for whom?", (Section("", tuple(rows)),), corner=corner)


def proposals_card(facts: OverviewFacts) -> Card | None:
    """Returns the card of proposals with their outcomes, undecided and rejected ones first, if there are any."""
    tally = facts.tally
    if not tally.count(Deed.PROPOSAL):
        return None
    lines = AccountSentences(facts.document, tally).proposal_lines()
    capture, analysis = facts.document.capture, facts.analysis
    code = capture.strings.find(kinds.PROPOSAL) or -1
    rows = np.flatnonzero(capture.columns["kind"][: len(analysis)] == code)
    rows = rows[~capture.repeated_messages(rows)[1]]
    states = analysis.states.states_at(rows)
    ranks = np.where(states == MessageState.WAITING, 0, np.where(states == MessageState.REJECTED, 1, 2))
    order = np.lexsort((-rows, ranks))[:_MOST]
    found = [Row("all", words=(Words(lines[0].text, link=Link(MESSAGES, filter=lines[0].filter)),))] if lines else []
    for place in sorted(order.tolist()):
        row = int(rows[place])
        word, tone = _OUTCOMES.get(int(states[place]), ("unknown", "quiet"))
        name, _ = name_of(analysis, row)
        sender = safe_line(capture.shown_name(capture.string("sender", row) or "somebody"), _NAME)
        decision = _decision_words(facts, row, int(states[place]))
        words = Words(safe_line(mask_text(name), _NAME), mono=True), Words(f" proposed by {sender}{decision}", "quiet")
        found.append(Row(f"proposal {row}", (Words(word, tone, pill=True),), words, end=(number_link(row),)))
    if len(rows) > _MOST and lines:
        more = Words(f"{len(rows) - _MOST:,} more", link=Link(MESSAGES, filter=lines[0].filter))
        found.append(Row("more", words=(more,)))
    return Card("proposals", "What was proposed, and what came of it?", (Section("", tuple(found)),))


def _decision_words(facts: OverviewFacts, row: int, state: int) -> str:
    """Returns ", fulfilled by ann", or ", rejected by ann: unsafe"; "" for other states of a proposal."""
    capture, links = facts.document.capture, facts.analysis.correlation
    if state == MessageState.FULFILLED:
        word, by, why = "fulfilled", int(links.columns["answer"][row]), None
    elif state == MessageState.REJECTED and (by := links.rejected_by(row)) is not None:
        word, why = "rejected", capture.records.payload(by).get("reason")
    else:
        return ""
    if by == NO_ROW:
        return ""
    who = safe_line(capture.shown_name(capture.string("sender", by) or "somebody"), _NAME)
    reason = f": {safe_line(mask_text(why), _NAME)}" if isinstance(why, str) and why else ""
    return f", {word} by {who}{reason}"


def contexts_card(facts: OverviewFacts) -> Card | None:
    """Returns the card of contexts with their conclusions, the latest ones, if there are any."""
    contexts = facts.analysis.contexts
    end, ended = as_numpy(contexts.facts.end), as_numpy(contexts.concluded_by)
    count = min(len(end), len(ended))
    nodes = np.flatnonzero((end[:count] == CONCLUDED) | (end[:count] == CANCELLED))
    nodes = nodes[ended[nodes] >= 0]
    if not len(nodes):
        return None
    rows: list[Row] = []
    for node in nodes[np.argsort(ended[nodes], kind="stable")][-_MOST:].tolist():
        row, cancelled = int(ended[node]), int(end[node]) == CANCELLED
        text = excerpt(conclusion_of(facts.document, node) or "", _TEXT)
        pill = Words("cancelled", "quiet", pill=True) if cancelled else Words("concluded", "good", pill=True)
        path = contexts.tree.path(node)
        link = Link(MESSAGES, filter=f"context under {quote(path)}")
        label = Words(safe_line(mask_text(contexts.label(node)), _PARTICIPANT), link=link)
        rows.append(Row(f"context {node}", (pill,), (label, Words(f"  {text}", "quiet")), end=(number_link(row),)))
    if len(nodes) > _MOST:
        more = f"{len(nodes) - _MOST:,} earlier"
        rows.insert(
            0, Row("more", words=(Words(more, "quiet", link=Link(MESSAGES, filter='kind == "reasoning/conclusion"')),))
        )
    return Card("contexts", "What did the contexts conclude?", (Section("", tuple(rows)),), wide=True)


def tools_card(facts: OverviewFacts) -> Card | None:
    """Returns the card of called tools, most calls first, if there are any."""
    totals = facts.totals
    if not totals.tools:
        return None
    took, failed = latency_by_tool(facts.analysis), Counter[str]()
    for call in facts.calls.calls:
        failed[call.tool] += call.outcome is Outcome.FAILED
    rows: list[Row] = []
    most = max(totals.by_tool.values())
    for tool, count in list(totals.by_tool.items())[:_MOST]:
        link = Link(MESSAGES, filter=f"{_CALLS} && tool == {quote(tool)}" if tool else f"{_CALLS} && !tool")
        label = (Words(safe_line(tool or "no name", _NAME), mono=True, link=link),)
        words = [Words(formats.count_of(count, "call"))]
        words += [Words(f", {failed[tool]:,} failed", "bad")] if failed[tool] else []
        if tool in took:
            words.append(Words(f", {formats.duration(round(took[tool].p50 * 1e6))} median", "quiet"))
        rows.append(Row(f"tool {tool}", label, share=count / most, end=tuple(words)))
    if len(totals.by_tool) > _MOST:
        more = formats.count_of(len(totals.by_tool) - _MOST, "more tool")
        rows.append(Row("more", words=(Words(more, link=Link(panel="Latency")),)))
    answers = ", ".join(filter(None, (
        "calls" if totals.tools != 1 else "call",
        f"{totals.failed:,} failed" if totals.failed else "",
        f"{totals.rejected:,} rejected" if totals.rejected else "",
        f"{totals.unanswered:,} without an answer" if totals.unanswered else "",
    )))  # fmt: skip
    return Card(
        "tools", "Which tools were called?", (Section("", tuple(rows)),), f"{totals.tools:,}",
        (Words(answers, "quiet", link=Link(MESSAGES, filter=_CALLS)),),
        corner=Words("Latency", link=Link(panel="Latency")),
    )  # fmt: skip


def definitions_card(facts: OverviewFacts) -> Card | None:
    """Returns the card of changed tool definitions, the latest ones, if there are any."""
    changes = changed_tools(facts.analysis)
    if not changes:
        return None
    rows = [
        Row(
            f"change {change.row} {change.tool}", (Words(safe_line(mask_text(change.tool), _NAME), mono=True),),
            (Words(safe_line(mask_text(", ".join(change.what)), _TEXT), "quiet"),), end=(number_link(change.row),),
        )
        for change in changes[-_MOST:]
    ]  # fmt: skip
    return Card("definitions", "Which definitions changed?", (Section("", tuple(rows)),), f"{len(changes):,}",
                (Words("changes of tool definitions", "quiet"),))  # fmt: skip


def slowest_card(facts: OverviewFacts) -> Card | None:
    """Returns the card of the slowest spans and steps of a trace, if durations are known."""
    steps = facts.steps
    took = steps.took_ns
    timed = np.flatnonzero((took > 0) & np.isin(steps.kinds, (StepKind.SPAN, StepKind.CALL, StepKind.MODEL)))
    own = [int(steps.rows[step]) for step in timed.tolist()]
    if not len(timed):
        return None
    order = np.argsort(-took[timed], kind="stable")[:_MOST]
    most, rows, seen = int(took[timed].max()), list[Row](), set[int]()
    for place in order.tolist():
        step, row = int(timed[place]), own[place]
        if row in seen:
            continue
        seen.add(row)
        name, mono = name_of(facts.analysis, row)
        if steps.kinds[step] == StepKind.MODEL:
            name, mono = "model output", False
        elif steps.kinds[step] == StepKind.SPAN:
            name, mono = span_words(facts.document, row) or name, False
        label = Words(excerpt(mask_text(name), _NAME), mono=mono, link=Link(STEPS, message=row))
        tone: Tone = "bad" if steps.states[step] == StepState.FAILED else "plain"
        words = Words(formats.duration(int(took[step])), tone), Words("  "), number_link(row)
        rows.append(Row(f"slow {row}", (label,), share=int(took[step]) / most, end=words))
    return Card("slowest", "What was slow?", (Section("", tuple(rows)),), corner=Words("Steps", link=Link(STEPS)))


def agents_card(facts: OverviewFacts) -> Card | None:
    """Returns the card of reported tokens by agent, if there are two or more."""
    rows, held = facts.analysis.usage.reported()
    senders = facts.document.capture.columns["sender"][rows]
    strings, columns = facts.document.capture.strings, dict[int, np.ndarray]()
    for code in np.unique(senders).tolist():
        columns[code] = held[senders == code].sum(axis=0)
    if len(columns) < 2:
        return None
    output = USAGE_KINDS.index("output")
    totals = {code: int(sums.sum()) for code, sums in columns.items()}
    found: list[Row] = []
    for code in sorted(totals, key=lambda one: -totals[one])[:_MOST]:
        name = strings[code] if code else ""
        link = Link(MESSAGES, filter=f"usage.output >= 0 && {f'from == {quote(name)}' if name else '!from'}")
        label = (Words(safe_line(facts.document.capture.shown_name(name or "somebody"), _PARTICIPANT), link=link),)
        end = (Words(f"{totals[code]:,} tokens, {int(columns[code][output]):,} of them output"),)
        found.append(Row(f"agent {name}", label, share=totals[code] / max(totals.values()), end=end))
    return Card(
        "agents",
        "Who used the tokens?",
        (Section("", tuple(found)),),
        corner=Words("Tokens", link=Link(panel="Tokens")),
    )


def contents_card(facts: OverviewFacts) -> Card | None:
    """Returns the card of a log without other cards: its kinds of messages."""
    lines = AccountSentences(facts.document, facts.tally).kind_lines()
    rows = tuple(line_row(line) for line in lines)
    return Card("contents", "What is in it?", (Section("", rows),)) if rows else None
