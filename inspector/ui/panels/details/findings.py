"""Findings tab: each finding of a message with reason and advice; the worst also leads the Overview."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QHBoxLayout, QWidget
from typing_extensions import override

from inspector.analysis.findings import Severity
from inspector.analysis.findings.store import StoredFinding
from inspector.present.facts import Fact, FactPart, fact, message_part
from inspector.present.findings import why_check_matters
from inspector.present.formats import delta, number
from inspector.present.subject import Subject, name_of
from inspector.present.wire_text import safe_line
from inspector.protocol.payloads.markdown_text import plain_words
from inspector.protocol.secrets.masking import mask_text
from inspector.ui.look import icons
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.details.facts_view import FactsView
from inspector.ui.panels.details.page_builder import Sheet
from inspector.ui.panels.details.section import Section

FINDINGS_TAB = "Findings"
"""Title of the tab."""
_MAX_LINES = 8
_MAX_FINDINGS = 50
# A blank name reserves the space of the icon.
_BLANK = " "


class FindingSentence(FactsView):
    """A finding's sentence beside its severity icon, with the code below."""

    def __init__(self, themes: ThemeController, rows: Sequence[Fact], severity: Severity, *, name: str) -> None:
        super().__init__(themes, rows, name=name, label=f"Finding, {severity.word}", surface="surface.inset")
        self.severity = severity

    @override
    def row_text(self, row: Fact) -> str:
        word = self.severity.word.capitalize()
        value = safe_line(row.value, 2_000)
        return f"{word}: {value}" if row is self.rows[0] else " ".join(filter(None, (value, row.right)))

    @override
    def _names_width(self, width: int) -> int:
        metrics = self.themes.theme.metrics
        return metrics.icon_row + 2 * metrics.unit

    @override
    def paint_row(self, painter: QPainter, rect: QRect, row: int, hovered: bool) -> None:
        super().paint_row(painter, rect, row, hovered)
        if row == 0:
            metrics, word = self.themes.theme.metrics, self.severity.word
            side = metrics.icon_row
            pixmap = icons.pixmap(word, f"severity.{word}", side, self.devicePixelRatioF())
            painter.drawPixmap(QRect(rect.left(), rect.top() + (metrics.content_row - side) // 2, side, side), pixmap)


def finding_sections(sheet: Sheet) -> list[QWidget]:
    """Returns the sections of the tab, one a finding, the most severe first."""
    found = sheet.subject.findings
    if not found:
        rows = [fact("", "No findings for this message.", "dim")]
        return [sheet.section(FINDINGS_TAB, sheet.facts(rows, name="noFindings", label=FINDINGS_TAB))]
    made: list[QWidget] = [_section(sheet, one) for one in found[:_MAX_FINDINGS]]
    if len(found) > _MAX_FINDINGS:
        rest = fact("", f"{number(len(found) - _MAX_FINDINGS)} more", "dim")
        made.append(sheet.facts([rest], name="moreFindings", label="More"))
    return made


def worst_finding_sections(sheet: Sheet) -> list[QWidget]:
    """Returns the Overview section of the worst finding; empty if the message has no finding."""
    found = sheet.subject.findings
    if not found:
        return []
    worst, rest = found[0], len(found) - 1
    link = sheet.link(
        f"All {number(rest + 1)} findings" if rest else "Show advice",
        lambda: sheet.links.tab_requested.emit(FINDINGS_TAB), name="openFindings",
    )  # fmt: skip
    key = sheet.links.key_of("go.problem_next") if worst.check.severity > Severity.NOTE else ""
    hint = f"{key} next problem" if key else ""
    return [sheet.section("Finding", _sentence_card(sheet, worst, hint, name="overviewFinding"), action=link)]


def _section(sheet: Sheet, found: StoredFinding) -> Section:
    check = found.check
    facts = sheet.facts(_facts(sheet.subject, found), name=f"findingFacts-{check.code}", label=check.title)
    card = _sentence_card(sheet, found, check.severity.word, name=f"finding-{check.code}")
    gap = QWidget()
    gap.setObjectName(f"findingGap-{check.code}")
    gap.setFixedHeight(sheet.themes.theme.metrics.unit)
    return sheet.section(check.title, card, gap, facts, _actions(sheet, found), name=f"findingSection-{check.code}")


def _sentence_card(sheet: Sheet, found: StoredFinding, right: str, *, name: str) -> QWidget:
    code = found.check.code
    sentence = plain_words(mask_text(sheet.subject.analysis.findings.in_words(found).text))
    rows = [
        Fact(_BLANK, (FactPart(sentence),), lines=_MAX_LINES, tooltip=""),
        Fact(_BLANK, (FactPart(code, "mono-dim"),), right=right, filter=filter_by(code), tooltip=found.check.title),
    ]
    view = FindingSentence(sheet.themes, rows, found.check.severity, name=name)
    view.filter_requested.connect(sheet.links.filter_requested)
    return sheet.card(view, name=f"{name}Card")


def _facts(subject: Subject, found: StoredFinding) -> list[Fact]:
    check = found.check
    rows = [
        fact("Why it matters", why_check_matters(check), lines=_MAX_LINES, tooltip=""),
        fact("Advice", plain_words(mask_text(subject.analysis.findings.hint(found))), lines=_MAX_LINES, tooltip=""),
    ]
    if found.other >= 0:
        name, mono = name_of(subject.analysis, found.other)
        name, when = safe_line(name, 200), delta(subject.delta_ns(found.other))
        parts = (message_part(found.other), FactPart("  "), FactPart(name, "mono" if mono else "plain"))
        rows.append(Fact("Refers to", parts, right=when))
    rows.append(fact("Source", check.source, "dim", lines=3, tooltip=""))
    return rows


def _actions(sheet: Sheet, found: StoredFinding) -> QWidget:
    code, links = found.check.code, sheet.links
    shown = sheet.link("Show all of this code", lambda: links.code_requested.emit(code), name=f"showCode-{code}")
    filtered = sheet.link(
        "Filter by this code",
        lambda: links.filter_requested.emit(filter_by(code), "replace"),
        name=f"filterCode-{code}",
    )
    row = QWidget()
    row.setObjectName(f"findingActions-{code}")
    layout = QHBoxLayout(row)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(4 * sheet.themes.theme.metrics.unit)
    for link in (filtered, shown):
        layout.addWidget(link, 0, Qt.AlignmentFlag.AlignLeft)
    layout.addStretch(1)
    return row


def filter_by(code: str) -> str:
    return f'finding == "{code}"'
