"""Pages of the details: a message, a context or a participant, with all that they show."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Literal

import msgspec

from inspector.analysis.passes.changed_rows import Rows
from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.passes.user_marks import ContextTarget as ContextTarget
from inspector.analysis.views.account.unanswered import is_pending
from inspector.analysis.views.summaries.context_summary import ContextTally
from inspector.document.participant_summary import story_steps
from inspector.engine.open_document import OpenDocument
from inspector.engine.request import Query, Request, RequestError, Steps
from inspector.engine.requests.stories import require_message
from inspector.engine.threads import in_thread_if_large
from inspector.present.context_facts import ContextSubject
from inspector.present.head_words import HeadWords, context_words, message_words, participant_words, resolve_node
from inspector.present.pages.context import context_sections
from inspector.present.pages.findings import FINDINGS_TAB, finding_sections
from inspector.present.pages.overview import overview_sections
from inspector.present.pages.participant import MOST_REFUSED, participant_sections, unknown_sections
from inspector.present.pages.parts import Part
from inspector.present.pages.related import lifecycle_sections, related_sections
from inspector.present.places import ContextPlace, ParticipantPlace
from inspector.present.subject import Subject
from inspector.protocol.secrets.masking import mask_secrets

Tab = Literal["Overview", "Tree", "Raw", "Related", "Lifecycle", "Findings"]
TABS: tuple[Tab, ...] = ("Overview", "Tree", "Raw", "Related", "Lifecycle", "Findings")
"""Titles of the tabs of a message. Tree and Raw have requests of their own."""


class DetailPage(msgspec.Struct, frozen=True):
    """A page of the details.

    Attributes:
        head: words of its head.
        sections: its sections, top to bottom.
        ages: it changes with the clock.
        findings: number of the message's findings.
        has_lifecycles: the document has context signals, so that the tab Lifecycle is of use.
    """

    head: HeadWords
    sections: list[Part]
    ages: bool = False
    findings: int = 0
    has_lifecycles: bool = False


class DescribeMessage(Request[DetailPage], frozen=True):
    """The page of a message.

    Attributes:
        message: its index.
        tab: the tab; Tree and Raw have no sections.
        hints: the head shows badges of context hints.
    """

    message: int
    tab: Tab = "Overview"
    hints: bool = False

    is_urgent: ClassVar[bool] = True


class DescribeContext(Request[DetailPage], frozen=True):
    """The page of a context; of its target if it has been merged.

    Attributes:
        space: string id of its space.
        node: the context, MAIN for the space's main context.
    """

    space: int
    node: int

    is_urgent: ClassVar[bool] = True


class DescribeParticipant(Request[DetailPage], frozen=True):
    """The page of a participant of a space (string id)."""

    space: int
    name: str

    is_urgent: ClassVar[bool] = True


_SECTIONS: dict[Tab, Callable[[Subject], list[Part]]] = {
    "Overview": overview_sections, "Related": related_sections, "Lifecycle": lifecycle_sections,
    FINDINGS_TAB: finding_sections,
}  # fmt: skip


class _LastMessage:
    """The last message of the details. Live traffic asks for it again and again; its payload is decoded once."""

    subject: Subject | None = None

    def note_changed(self, changed: Rows, /) -> None:
        """Ignores changes: a payload never changes."""


def _message(held: OpenDocument, asked: DescribeMessage) -> Steps[DetailPage]:
    require_message(held, asked.message)
    analysis = held.document.analysis
    last = held.kept("message of the details", _LastMessage)
    subject = Subject(held.document, asked.message, hints=asked.hints, before=last.subject)
    yield from _read_payload(subject)
    last.subject = subject
    build = _SECTIONS.get(asked.tab)
    sections = build(subject) if build is not None else []
    chain = (step.message for step in subject.likely_chain.steps)
    ages = analysis.now_ns is not None and any(is_pending(analysis, message) for message in chain)
    count, signals = len(subject.findings), len(analysis.transients.signals)
    return DetailPage(message_words(subject), sections, ages, count, signals > 0)


def _read_payload(subject: Subject) -> Steps[None]:
    """Masks the payload, unless it is known: 1 MB of short values takes 0.2 s."""
    if "payload" not in vars(subject):
        payload = subject.capture.records.payload(subject.message)
        subject.payload = yield from in_thread_if_large(lambda: mask_secrets(payload), subject.size)


class _KeptTally(ContextTally):
    """Totals of a context, kept between requests."""

    def note_changed(self, changed: Rows, /) -> None:
        """Ignores earlier messages: `update` notices merges of contexts, and nothing else changes totals."""


def _context(held: OpenDocument, asked: DescribeContext) -> DetailPage:
    document, analysis = held.document, held.document.analysis
    _require_space(held, asked.space)
    if asked.node != MAIN and not 0 <= asked.node < len(analysis.contexts.tree):
        raise RequestError(f"There is no context {asked.node}.")
    place = ContextPlace(asked.space, asked.node)
    node = resolve_node(analysis, place)
    tally = held.kept(("tally", asked.space, node), lambda: _KeptTally(analysis, asked.space, node))
    tally.update()
    sections = context_sections(ContextSubject(document, asked.space, node, tally))
    return DetailPage(context_words(document, place), sections, ages=analysis.now_ns is not None)


def _participant(held: OpenDocument, asked: DescribeParticipant) -> Steps[DetailPage]:
    document = held.document
    _require_space(held, asked.space)
    head = participant_words(document, ParticipantPlace(asked.space, asked.name))
    story = yield from story_steps(document, asked.space, asked.name, most_refused=MOST_REFUSED)
    if story is None:
        return DetailPage(head, unknown_sections())
    yield
    waits = bool(story.asks or story.asked)
    return DetailPage(head, participant_sections(document, story), waits and document.analysis.now_ns is not None)


def _require_space(held: OpenDocument, space: int) -> None:
    if not 0 <= space < len(held.document.capture.strings):
        raise RequestError(f"There is no space {space}.")


QUERIES = (
    Query(DescribeMessage, DetailPage, _message),
    Query(DescribeContext, DetailPage, _context),
    Query(DescribeParticipant, DetailPage, _participant),
)
