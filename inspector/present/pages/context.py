"""Page of a context: state and reason, authors, start and end."""

from __future__ import annotations

from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.passes.user_marks import ContextTarget
from inspector.present.context_facts import ContextSubject, FactSection, context_fact_sections
from inspector.present.pages.factories import link_part, note_sections, section_part
from inspector.present.pages.parts import CardPart, FactsPart, LinksPart, Part
from inspector.present.places import ContextPlace
from inspector.protocol.secrets.masking import mask_text

_NAME_WIDTH = 78


def context_sections(subject: ContextSubject) -> list[Part]:
    """Returns the sections of a context's page."""
    target = ContextTarget(subject.space, subject.node)
    notes = note_sections(target, subject.analysis.marks.note(target))
    return [*notes, _links(subject), *map(_section, context_fact_sections(subject))]


def _section(block: FactSection) -> Part:
    facts = FactsPart(
        rows=list(block.rows), name=f"{block.name}Rows", label=block.label, in_card=block.card, name_width=_NAME_WIDTH
    )
    body = CardPart(body=[facts], name=f"{block.name}Card") if block.card else facts
    return section_part(block.label, body, name=block.name)


def _links(subject: ContextSubject) -> Part:
    place = ContextPlace(subject.space, subject.node)
    links = [
        link_part("Scope to this context", "scope_context", place, name="contextScope"),
        link_part("Filter by this", "filter", subject.filter, name="contextFilter"),
    ]
    if subject.node != MAIN:
        links.append(link_part("Copy path", "copy", mask_text(subject.path), name="contextCopyPath"))
    return LinksPart(links=links, name="contextActions", label="Actions")
