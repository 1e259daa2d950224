"""Card of failures, refusals and findings, and if they were put right."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.analysis.views.steps.call_facts import CallFact, Outcome
from inspector.present import formats
from inspector.present.account_sentences import AccountLine, AccountSentences
from inspector.present.overview.cards import CONVERSATION, MESSAGES, Card, Link, Row, Section, Tone, Words
from inspector.present.overview.facts import OverviewFacts, number_link
from inspector.present.states import BY_USER
from inspector.present.usage_sentences import UsageSentences
from inspector.present.wire_text import safe_line

_MOST_FAILED, _MOST_REJECTED, _COMMAND = 6, 4, 56
_REQUESTS = 'kind in {"mcp/request", "jsonrpc/request"}'
_FAILED = f'{_REQUESTS} && state == "failed"'
_REJECTED = f'{_REQUESTS} && state == "rejected"'
_TONES: dict[str, Tone] = {"plain": "plain", "quiet": "quiet", "bad": "bad", "warn": "warn"}
_CALLS = ("Failed", "Failures", "Rejected")
"""Topics of account lines that rows of calls replace."""


def problem_card(facts: OverviewFacts) -> Card | None:
    """Returns the card, if something went wrong."""
    words = AccountSentences(facts.document, facts.tally)
    others = [*words.failure_lines(), *words.crash_lines(), *words.compaction_lines()]
    if not facts.document.is_arriving:
        others += words.wait_lines()
    others += words.problem_lines()
    others += [line for line in words.pause_lines() if line.about != "Silence"]
    rows = [
        *_failed_rows(facts), *_rejected_rows(facts),
        *(line_row(line) for line in _with_topics(others) if line.about not in _CALLS or (line.message is None and
          "outside calls" in line.text)),
        *_waste_rows(facts),
    ]  # fmt: skip
    if not rows:
        return None
    return Card("problems", "What went wrong, and was it put right?", (Section("", tuple(rows)),), wide=True)


def _failed_rows(facts: OverviewFacts) -> Iterator[Row]:
    failed = [place for place, call in enumerate(facts.calls.calls) if call.outcome is Outcome.FAILED]
    repairs = facts.calls.repairs
    # Failures that were not put right matter most; a stable sort keeps the order of time.
    shown = sorted(sorted(failed, key=lambda place: place in repairs)[:_MOST_FAILED])
    for place in shown:
        call, repair = facts.calls.calls[place], repairs.get(place)
        words = [facts.call_name(call)]
        if reason := facts.reason_of(call):
            words += [Words("  "), Words(reason, "quiet")]
        if repair is not None:
            later = facts.calls.calls[repair.place]
            as_ = f" as {safe_line(repair.command, _COMMAND)}" if repair.command else ""
            changes = f" after {formats.count_of(repair.changes, 'change')}" if repair.changes else ""
            after = f"{as_}{changes}" or " later"
            words.append(Words("  "))
            words.append(Words(f"Succeeded{after}", link=Link(CONVERSATION, message=later.row)))
        pill = Words("failed, fixed", "good", pill=True) if repair is not None else Words("failed", "bad", pill=True)
        yield Row(f"failed {call.row}", (pill,), tuple(words), end=(number_link(call.row),))
    total = facts.totals.failed
    if total > len(shown):
        more = formats.count_of(total - len(shown), "more failed call")
        words = (Words(more, link=Link(MESSAGES, filter=_FAILED)),)
        yield Row("failed more", (Words("failed", "bad", pill=True),), words)


def _rejected_rows(facts: OverviewFacts) -> Iterator[Row]:
    rejected = [call for call in facts.calls.calls if call.outcome is Outcome.REJECTED]
    for call in rejected[:_MOST_REJECTED]:
        words = [facts.call_name(call)]
        waited = _waited(facts, call)
        if waited:
            words.append(Words(f"  after {waited}", "quiet"))
        yield Row(
            f"rejected {call.row}", (Words(BY_USER, "warn", pill=True),), tuple(words),
            end=(number_link(call.row),),
        )  # fmt: skip
    if len(rejected) > _MOST_REJECTED:
        more = formats.count_of(len(rejected) - _MOST_REJECTED, "more rejected call")
        words = [Words(more, link=Link(MESSAGES, filter=_REJECTED))]
        yield Row("rejected more", (Words(BY_USER, "warn", pill=True),), tuple(words))


def _waited(facts: OverviewFacts, call: CallFact) -> str:
    step = int(facts.steps.step_of[call.row])
    took = int(facts.steps.took_ns[step]) if step >= 0 else 0
    return formats.duration(took) if took > 0 else ""


def _with_topics(lines: list[AccountLine]) -> Iterator[AccountLine]:
    """Fills in the topics of lines that continue the one before."""
    about = ""
    for line in lines:
        about = line.about or about
        yield AccountLine(about, line.text, line.message, line.filter, line.panel, line.tone)


def line_row(line: AccountLine, *, view: str = CONVERSATION) -> Row:
    """Converts a sentence of the account into a row.

    Args:
        line: the sentence with its topic.
        view: view that a message leads to.
    """
    link = Link(view if line.message is not None else "", line.message, line.filter, line.panel or "")
    if line.filter is not None:
        link = Link(MESSAGES, filter=line.filter)
    pill = Words(line.about.lower(), _TONES[line.tone], pill=True)
    end = (number_link(line.message),) if line.message is not None else ()
    text = Words(line.text, link=None if end else link)
    return Row(f"{line.about} {line.message} {line.filter or line.text}", (pill,), (text,), end=end)


def _waste_rows(facts: OverviewFacts) -> Iterator[Row]:
    lines = UsageSentences(facts.document, facts.waste, None).token_lines()
    for line in lines:
        if line.panel == "Waste" and facts.waste is not None and facts.waste.first is not None:
            sentence = UsageSentences(facts.document, facts.waste, None).largest_waste()
            words = Words(line.text, link=Link(panel="Waste")), Words(f": {sentence}", "quiet")
            yield Row("waste", (Words("avoidable", "quiet", pill=True),), words)
