"""Makes parts of pages from facts, texts, links and chains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from inspector.analysis.passes.user_marks import ContextTarget, Note, Target
from inspector.analysis.views.causes.chain import ChainStep
from inspector.present.chain_rows import chain_rows, missing_answer, turn_rows
from inspector.present.facts import Fact
from inspector.present.pages.parts import (
    CardPart,
    ChainPart,
    CopyPart,
    FactsPart,
    LinkAct,
    LinkPart,
    NotePart,
    Part,
    SectionPart,
    TextPart,
)
from inspector.present.places import ContextPlace, ParticipantPlace
from inspector.present.subject import MAX_TEXT, Subject
from inspector.protocol.secrets.masking import masked_beginning


def section_part(
    label: str, *body: Part, name: str = "", action: LinkPart | CopyPart | None = None
) -> SectionPart:  # fmt: skip
    """Makes a section; its name is made from the label by default."""
    name = name or "section" + "".join(word.capitalize() for word in label.split())
    return SectionPart(label=label, body=list(body), name=name, action=action)


def facts_part(rows: Sequence[Fact], *, name: str, label: str, name_width: int = 96) -> FactsPart:
    """Makes a list of facts."""
    return FactsPart(rows=list(rows), name=name, label=label, name_width=name_width)


def fact_card(rows: Sequence[Fact], *, name: str, label: str, name_width: int = 66) -> CardPart:
    """Makes a card with a list of facts."""
    facts = FactsPart(rows=list(rows), name=name, label=label, in_card=True, name_width=name_width)
    return CardPart(body=[facts], name=f"{name}Card")


def text_part(text: str, *, name: str, label: str, mono: bool = False, markdown: bool = False) -> TextPart:
    """Makes a text; its beginning if it is too long to be shown whole."""
    return TextPart(text=bounded_text(text), name=name, label=label, markdown=markdown, mono=mono)


def link_part(
    words: str, act: LinkAct, target: int | str | ContextPlace | ParticipantPlace, *, name: str
) -> LinkPart:  # fmt: skip
    """Makes a link."""
    return LinkPart(words=words, act=act, target=target, name=name)


def bounded_text(text: str) -> str:
    """Returns a text, or the beginning of one that is too long to be shown whole."""
    return text if len(text) <= MAX_TEXT else masked_beginning(text, MAX_TEXT)


def note_sections(target: Target, note: Note) -> list[Part]:
    """Makes the section of a note, with a link to edit it.

    Args:
        target: the message or context of the page.
        note: its mark and comment.
    """
    if not note:
        return []
    place = ContextPlace(*target) if isinstance(target, ContextTarget) else target
    edit = link_part("Edit" if note.comment else "Comment", "comment", place, name="editComment")
    label = "Your comment" if note.comment else "Marked"
    body = [NotePart(text=note.comment)] if note.comment else []
    return [section_part(label, *body, name="noteSection", action=edit)]


def chain_part(
    subject: Subject, steps: Sequence[ChainStep] | None = None, *, label: str = "Causal chain", took: bool = False
) -> ChainPart:
    """Makes a causal chain, by default of the subject.

    Args:
        subject: the message.
        steps: replace the subject's own chain.
        label: accessible name.
        took: show each step's duration.
    """
    analysis, message = subject.analysis, subject.message
    found = subject.likely_chain.steps if steps is None else steps
    likely = subject.likely_chain.links if steps is None else ()
    rows = chain_rows(analysis, found, message, likely)
    missing = missing_answer(subject) if steps is None else []
    # The row of the missing answer already states the wait.
    if missing:
        rows = [replace(row, relation="asked", token="ink.tertiary") if row.own else row for row in rows]
    rows += missing
    short = turn_rows(analysis, found, message, likely) if steps is None and not missing else rows
    return ChainPart(rows=short, name="chain", label=label, whole=rows, took=took)


def chain_section(subject: Subject, label: str = "Causal chain") -> list[Part]:
    """Makes the section of the chain; empty for a message without causes and effects."""
    if len(subject.likely_chain.steps) < 2:
        return [section_part(label, chain_part(subject, label=label))] if missing_answer(subject) else []
    certain = len(subject.chain) > 1
    return [section_part(label, chain_part(subject, label=label), action=alone_link(subject) if certain else None)]


def alone_link(subject: Subject) -> LinkPart:
    """Makes the link that shows only the chain in the table."""
    return link_part("Show only this chain", "chain", subject.message, name="showChainAlone")
