"""Overview sections of plug-ins: facts, texts, code and tables."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from inspector.plugins.declarations import Code, Facts, Part, Text
from inspector.present.facts import fact
from inspector.present.plugin_views import record_table, view_sections
from inspector.present.wire_text import safe_line
from inspector.ui.panels.details.content_view import TableBody
from inspector.ui.panels.details.page_builder import Sheet

_FACT_LINES = 4


def added_sections(sheet: Sheet) -> list[QWidget]:
    """Returns the sections that payload views of plug-ins add to a message."""
    return [
        sheet.section(one.title, *(_part(sheet, part) for part in one.parts), name=f"added_{one.name}")
        for one in view_sections(sheet.subject)
    ]


def _part(sheet: Sheet, part: Part) -> QWidget:
    if isinstance(part, Facts):
        rows = [fact(safe_line(name, 60), value, lines=_FACT_LINES) for name, value in part.rows]
        return sheet.facts(rows, name="addedFacts", label="Facts")
    if isinstance(part, Text):
        return sheet.text(part.text, name="addedText", label="Text", markdown=part.markdown)
    if isinstance(part, Code):
        return sheet.text(part.text, name="addedCode", label="Code", mono=True)
    return TableBody(sheet.themes, record_table(part))
