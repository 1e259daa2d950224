"""Rows of a causal chain or turn: time difference, icon, name, relation word, No.; also a missing answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from inspector.analysis import Analysis
from inspector.analysis.views.account.unanswered import (
    is_cancelled,
    is_pending,
    is_refused,
    party_who_left,
    pending_age_ns,
)
from inspector.analysis.views.causes.chain import ChainStep, causes_of, steps_of_turn
from inspector.analysis.views.causes.likely_links import LikelyLink
from inspector.analysis.views.summaries.participant_queries import messages_from
from inspector.present import formats
from inspector.present.formats import delta
from inspector.present.states import ANSWER_WITHIN_NS
from inspector.present.subject import TEXT_KINDS, Subject, name_of
from inspector.present.wire_text import safe_line
from inspector.protocol import kinds
from inspector.protocol.timestamps import NO_TIME
from inspector.store.columns.hashes import NO_ROW

NO_MESSAGE = -1
"""Message of a row for an event that did not happen."""
_CLOCK_ICON = "ri.timer-line"
_MORE_ICON = "more"


@dataclass(frozen=True, slots=True)
class ChainRow:
    """A row of a chain.

    Attributes:
        message: message index; NOWHERE for an event that did not happen.
        icon: replaces the kind's icon.
        likely: its relation to the row above is only likely.
        hides: stands for further rows.
    """

    message: int
    kind: str
    delta: str
    name: str
    mono: bool = False
    relation: str = ""
    own: bool = False
    token: str = "ink.tertiary"
    tooltip: str = ""
    took: str = ""
    icon: str = ""
    likely: bool = False
    hides: bool = False

    @property
    def is_link(self) -> bool:
        """Returns True if it links to another message."""
        return not self.own and self.message != NO_MESSAGE

    @property
    def number(self) -> str:
        """Message number; "" without a message."""
        return "" if self.message == NO_MESSAGE else str(self.message + 1)


def chain_row(
    analysis: Analysis, step: ChainStep, own: int, relation: str | None = None, token: str = "ink.tertiary"
) -> ChainRow:
    """Returns the row of one step.

    Args:
        analysis: the passes.
        step: the step.
        own: the message of the chain.
        relation: replaces the step's relation word.
        token: colour of the relation.
    """
    name, mono = name_of(analysis, step.message)
    kind = analysis.capture.string("kind", step.message) or ""
    word = step.relation if relation is None else relation
    last = kinds.short_kind(kind)
    if not mono and (kind in TEXT_KINDS or word == last) and relation is None:
        word = "" if name != last and kind.startswith("reasoning/") else word
        word = "" if word == name else word
    if relation is None and (came_to_nothing := _unanswered_word(analysis, step.message, word)):
        word, token = came_to_nothing, "severity.warning"
    when = "this" if step.message == own else delta(step.delta_ns)
    sender = analysis.capture.shown_name(analysis.capture.string("sender", step.message) or "")
    took = "" if step.took_ns is None or step.took_ns < 0 else formats.duration(step.took_ns)
    later = "" if step.since_ns is None or step.since_ns < 0 else formats.duration(step.since_ns)
    since = f"{later} after No. {step.after + 1}" if later and step.after is not None else ""
    tooltip = "\n".join(filter(None, (name[:600], f"from {sender}" if sender else "", since)))
    shown = safe_line(word, 80)
    return ChainRow(
        step.message, kind, when, safe_line(name, 200), mono, shown, step.message == own, token, tooltip, took
    )


def chain_rows(
    analysis: Analysis, steps: Sequence[ChainStep], own: int, likely: Sequence[LikelyLink] = ()
) -> list[ChainRow]:
    """Returns the rows of a chain.

    Args:
        analysis: the passes.
        steps: the steps.
        own: the message of the chain.
        likely: links that are only likely; the later row of each states the reason.
    """
    by_effect = {link.effect: link for link in likely}
    rows = (chain_row(analysis, step, own) for step in steps)
    return [_with_likely(analysis, row, by_effect.get(row.message)) for row in rows]


def turn_rows(
    analysis: Analysis, steps: Sequence[ChainStep], own: int, likely: Sequence[LikelyLink] = ()
) -> list[ChainRow]:
    """Returns the rows of the steps that explain a message, and one row that counts the others.

    Args:
        analysis: the passes.
        steps: the whole chain.
        own, likely: as for `chain_rows`.
    """
    kept = steps_of_turn(analysis, steps, own)
    shown = {step.message for step in kept}
    rows = chain_rows(analysis, kept, own, likely)
    hidden = [step.message for step in steps if step.message not in shown]
    if not hidden:
        return rows
    more = ChainRow(
        NO_MESSAGE, "", "", f"{len(hidden):,} more", icon=_MORE_ICON, hides=True, tooltip="Show the whole chain"
    )
    # At the place of most hidden steps: after the prompt, or else before the message.
    place = next((n for n, row in enumerate(rows) if row.message > hidden[0]), len(rows))
    return [*rows[:place], more, *rows[place:]]


def _with_likely(analysis: Analysis, row: ChainRow, link: LikelyLink | None) -> ChainRow:
    if link is None:
        return row
    words = f"probably {link.relation} {formats.message_number(link.cause)}"
    why = safe_line(f"{words[0].upper()}{words[1:]}: {link.why}.", 300)
    named = causes_of(analysis, row.message)
    said = row.relation if named or row.token != "ink.tertiary" else words  # a named cause and a state come first
    return replace(row, relation=said, tooltip=f"{row.tooltip}\n{why}", likely=not named)


def _unanswered_word(analysis: Analysis, message: int, word: str) -> str:
    """Returns a word for an unanswered call; "" for other messages."""
    kind = analysis.capture.string("kind", message)
    if kind not in (kinds.REQUEST, kinds.PROPOSAL) or analysis.correlation.columns["answer"][message] != NO_ROW:
        return ""
    if is_refused(analysis, message):
        return "refused"
    if not is_pending(analysis, message):
        gone = party_who_left(analysis, message)
        return f"{gone} left" if gone else "cancelled" if is_cancelled(analysis, message) else ""
    # In a log, the age at the last record is shown by `missing_answer`.
    if analysis.now_ns is None:
        return word if kind == kinds.PROPOSAL else "no answer"
    age = pending_age_ns(analysis, message)
    return word if age is None else formats.waiting_words(age)


def missing_answer(subject: Subject) -> list[ChainRow]:
    """Returns a row for the missing answer of a request in a log; empty while live."""
    analysis, message = subject.analysis, subject.message
    waits = is_pending(analysis, message) or (
        party_who_left(analysis, message) == "asked" and analysis.correlation.columns["answer"][message] == NO_ROW
    )
    if subject.kind != kinds.REQUEST or analysis.now_ns is not None or not waits:
        return []
    last = subject.last_ns()
    waited = None if NO_TIME in (subject.time_ns, last) else max(0, min(last - subject.time_ns, ANSWER_WITHIN_NS))
    space = int(subject.capture.columns["space"][subject.message])
    sent = messages_from(subject.analysis, space, subject.sender or "")
    went_on = len(sent) > 0 and int(sent[-1]) > subject.message
    words = f"{safe_line(subject.shown_sender, 40)} went on" if went_on else "until the last record"
    when = delta(waited)
    return [ChainRow(NO_MESSAGE, "", when, "no answer", relation=words, token="severity.warning", icon=_CLOCK_ICON)]
