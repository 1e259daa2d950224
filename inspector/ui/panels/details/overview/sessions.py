"""What tells of sessions: what one is for, its snapshots, and how sub-sessions were opened and closed."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtWidgets import QWidget

from inspector.analysis.context_tree import MAIN
from inspector.present.wire_text import plain
from inspector.protocol import msp
from inspector.protocol.payloads.outline import value_text
from inspector.ui.panels.details.facts import Fact, Part, fact
from inspector.ui.panels.details.overview.chat import said_section
from inspector.ui.panels.details.places import ContextPlace
from inspector.ui.panels.details.sheet import Sheet, value_facts, words_fact

_AGREED = (("constraints", "Constraint"), ("decisions", "Decision"), ("facts", "Fact"))
_MOST = 50
_POLICY = (
    ("include_sub_context", "Sub-context"), ("include_snapshots", "Snapshots"),
    ("recent_parent_messages", "Recent messages"),
)  # fmt: skip


def build_session(sheet: Sheet) -> list[QWidget]:
    """Sections of how a session began: what it is for, and what was agreed."""
    payload = sheet.subject.payload
    agreed = payload.get("sub_context")
    agreed = agreed if isinstance(agreed, Mapping) else {}
    rows = [words_fact(str(agreed.get("intent") or "No intent is written down."), lines=6)]
    for name, label in _AGREED:
        listed = agreed.get(name)
        values = listed[:_MOST] if isinstance(listed, list) else []
        rows += [fact(label, value_text(value), lines=4) for value in values]
    rows += value_facts(agreed, skip=("intent", *(name for name, _ in _AGREED)))
    sections: list[QWidget] = [sheet.section("Intent", sheet.fact_card(rows, name="subContext", label="Intent"))]
    listed = payload.get("subsessions")
    about = [fact("Session", value_text(payload.get("label") or payload.get("session_id")), "strong", lines=2)]
    if isinstance(listed, list):
        names = ", ".join(plain(str(one), 60) for one in listed[:_MOST] if isinstance(one, str))
        about.append(fact("Lists", names or "no sub-sessions", lines=4))
    about += value_facts(payload, skip=("sub_context", "subsessions", "label", "created_at"))
    return [*sections, sheet.section("Session", sheet.facts(about, name="session", label="Session"))]


def build_snapshot(sheet: Sheet) -> list[QWidget]:
    """Sections of a snapshot: what it says, and of which messages."""
    subject = sheet.subject
    sections: list[QWidget] = [said_section(sheet, subject.text, declared=True, label="Summary snapshot")]
    rows: list[Fact] = []
    covers = subject.payload.get("covers_messages")
    if isinstance(covers, list) and len(covers) == 2:
        rows.append(fact("Covers", f"messages {value_text(covers[0])} to {value_text(covers[1])}"))
        skip = ("text", "content", "covers_messages", "created_at")
    else:
        skip = ("text", "content", "created_at")
    rows += value_facts(subject.payload, skip=skip)
    return [*sections, sheet.section("Also", sheet.facts(rows, name="snapshot", label="Also"))] if rows else sections


def build_opened(sheet: Sheet) -> list[QWidget]:
    """Sections of how a sub-session began: its label, and what it takes along."""
    payload = sheet.subject.payload
    rows = [fact("Sub-session", value_text(payload.get("label") or ""), "strong", lines=3), *_link(sheet)]
    policy = payload.get("context_policy")
    if isinstance(policy, Mapping):
        for name, label in _POLICY:
            if name in policy:
                rows.append(fact(label, _policy_words(policy[name])))
        rows += value_facts(policy, skip=tuple(name for name, _ in _POLICY))
    else:
        rows.append(fact("Takes along", "no policy is written: everything, and 5 recent messages", "dim", lines=2))
    rows += value_facts(payload, skip=("label", "context_policy", "created_at", "parent_session_id"))
    card = sheet.fact_card(rows, name="subsessionOpened", label="Opened")
    return [sheet.section("Opens a sub-session", card)]


def build_closed(sheet: Sheet) -> list[QWidget]:
    """Sections of how a sub-session ended: its summary."""
    payload = sheet.subject.payload
    discarded = payload.get("status") == msp.DISCARDED
    label = "Discarded" if discarded else "Closed"
    rows = [fact("Sub-session", value_text(payload.get("label") or ""), "strong", lines=3), *_link(sheet)]
    rows += value_facts(payload, skip=("label", "summary", "closed_at"))
    sections: list[QWidget] = [sheet.section(label, sheet.fact_card(rows, name="subsessionClosed", label=label))]
    summary = payload.get("summary")
    if isinstance(summary, str) and summary:
        sections.append(said_section(sheet, summary, declared=True, label="Summary", name="summaryText"))
    elif not discarded:
        none = sheet.facts([fact("", "None was written.", "dim")], name="noSummary", label="Summary")
        sections.append(sheet.section("Summary", none))
    return sections


def _policy_words(value: object) -> str:
    if isinstance(value, bool):
        return "taken along" if value else "left out"
    return value_text(value)


def _link(sheet: Sheet) -> list[Fact]:
    """The way to the sub-session's own page."""
    subject = sheet.subject
    name = subject.payload.get("subsession_id")
    if not isinstance(name, str):
        return []
    space = int(subject.capture.columns["space"][subject.message])
    node = subject.analysis.contexts.tree.find(space, name)
    if node == MAIN:
        return []
    path = subject.analysis.contexts.tree.path(node)
    return [Fact("Context", (Part(path, "link", place=ContextPlace(space, node)),), middle=True)]
