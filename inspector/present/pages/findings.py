"""Findings tab: each finding of a message with reason and advice; the worst also leads the Overview."""

from __future__ import annotations

from inspector.analysis.findings import Severity
from inspector.analysis.findings.store import StoredFinding
from inspector.present.facts import Fact, FactPart, fact, message_part
from inspector.present.findings import why_check_matters
from inspector.present.formats import delta, number
from inspector.present.pages.factories import facts_part, link_part, section_part
from inspector.present.pages.parts import CardPart, FindingPart, GapPart, LinksPart, Part
from inspector.present.subject import Subject, name_of
from inspector.present.wire_text import safe_line
from inspector.protocol.payloads.markdown_text import plain_words
from inspector.protocol.secrets.masking import mask_text

FINDINGS_TAB = "Findings"
"""Title of the tab."""
_MAX_LINES = 8
_MAX_FINDINGS = 50
# A blank name reserves the space of the icon.
_BLANK = " "


def finding_sections(subject: Subject) -> list[Part]:
    """Returns the sections of the tab, one a finding, the most severe first."""
    found = subject.findings
    if not found:
        rows = [fact("", "No findings for this message.", "dim")]
        return [section_part(FINDINGS_TAB, facts_part(rows, name="noFindings", label=FINDINGS_TAB))]
    made: list[Part] = [_section(subject, one) for one in found[:_MAX_FINDINGS]]
    if len(found) > _MAX_FINDINGS:
        rest = fact("", f"{number(len(found) - _MAX_FINDINGS)} more", "dim")
        made.append(facts_part([rest], name="moreFindings", label="More"))
    return made


def worst_finding_sections(subject: Subject) -> list[Part]:
    """Returns the Overview section of the worst finding; empty if the message has no finding."""
    found = subject.findings
    if not found:
        return []
    worst, rest = found[0], len(found) - 1
    words = f"All {number(rest + 1)} findings" if rest else "Show advice"
    is_problem = worst.check.severity > Severity.NOTE
    card = _sentence_card(subject, worst, "", name="overviewFinding", names_next=is_problem)
    return [section_part("Finding", card, action=link_part(words, "tab", FINDINGS_TAB, name="openFindings"))]


def _section(subject: Subject, found: StoredFinding) -> Part:
    check = found.check
    facts = facts_part(_facts(subject, found), name=f"findingFacts-{check.code}", label=check.title)
    card = _sentence_card(subject, found, check.severity.word, name=f"finding-{check.code}")
    gap = GapPart(name=f"findingGap-{check.code}")
    return section_part(check.title, card, gap, facts, _actions(check.code), name=f"findingSection-{check.code}")


def _sentence_card(subject: Subject, found: StoredFinding, right: str, *, name: str, names_next: bool = False) -> Part:
    code = found.check.code
    sentence = plain_words(mask_text(subject.analysis.findings.in_words(found).text))
    rows = [
        Fact(_BLANK, (FactPart(sentence),), lines=_MAX_LINES, tooltip=""),
        Fact(_BLANK, (FactPart(code, "mono-dim"),), right=right, filter=filter_by(code), tooltip=found.check.title),
    ]
    part = FindingPart(rows=rows, severity=found.check.severity.word, name=name, names_next=names_next)
    return CardPart(body=[part], name=f"{name}Card")


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


def _actions(code: str) -> Part:
    filtered = link_part("Filter by this code", "filter", filter_by(code), name=f"filterCode-{code}")
    shown = link_part("Show all of this code", "code", code, name=f"showCode-{code}")
    return LinksPart(links=[filtered, shown], name=f"findingActions-{code}")


def filter_by(code: str) -> str:
    return f'finding == "{code}"'
