"""Overview sections of plug-ins: facts, texts, code and tables."""

from __future__ import annotations

from inspector.plugins.declarations import Code, Facts, Text
from inspector.plugins.declarations import Part as ViewPart
from inspector.present.facts import fact
from inspector.present.pages.factories import facts_part, section_part, text_part
from inspector.present.pages.parts import Part, TablePart
from inspector.present.plugin_views import record_table, view_sections
from inspector.present.subject import Subject
from inspector.present.wire_text import safe_line

_FACT_LINES = 4


def added_sections(subject: Subject) -> list[Part]:
    """Returns the sections that payload views of plug-ins add to a message."""
    return [
        section_part(one.title, *(_part(part) for part in one.parts), name=f"added_{one.name}")
        for one in view_sections(subject)
    ]


def _part(part: ViewPart) -> Part:
    if isinstance(part, Facts):
        rows = [fact(safe_line(name, 60), value, lines=_FACT_LINES) for name, value in part.rows]
        return facts_part(rows, name="addedFacts", label="Facts")
    if isinstance(part, Text):
        return text_part(part.text, name="addedText", label="Text", markdown=part.markdown)
    if isinstance(part, Code):
        return text_part(part.text, name="addedCode", label="Code", mono=True)
    return TablePart(table=record_table(part))
