"""Results: what the model sees now, chain, content."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtWidgets import QWidget

from inspector.protocol.payloads.content import content_of
from inspector.ui import formats
from inspector.ui.panels.details.content_view import ContentView
from inspector.ui.panels.details.facts import Fact, Part, fact
from inspector.ui.panels.details.sheet import Sheet, message_part, value_facts, words_fact
from inspector.ui.panels.details.subject import Subject, name_of
from inspector.ui.panels.details.words import delta
from inspector.ui.wire_text import plain


def build(sheet: Sheet) -> list[QWidget]:
    """Sections of a response."""
    subject = sheet.subject
    sections: list[QWidget] = []
    if "transient" in subject.story.badges:
        card = sheet.fact_card(_seen_now(subject), name="seenNow", label="What the model sees now")
        sections.append(sheet.section("What the model sees now", card))
    elif subject.story.consumes is not None or subject.story.note:
        card = sheet.fact_card(_signal(subject), name="signal", label="Context signal")
        sections.append(sheet.section("Context signal", card))
    error = subject.payload.get("error")
    if error is not None:
        sections.append(sheet.section("Error", sheet.fact_card(_error(error), name="error", label="Error")))
    sections += sheet.chain_section()
    if "result" in subject.payload:
        sections.append(_content(sheet))
    return sections


def _seen_now(subject: Subject) -> list[Fact]:
    story, analysis = subject.story, subject.analysis
    rows = [words_fact(plain(story.summary or "", 2_000), lines=4)]
    if story.collapsed_by is not None:
        name, mono = name_of(analysis, story.collapsed_by)
        parts = (
            Part("Collapsed by "),
            message_part(story.collapsed_by),
            Part("  "),
            Part(plain(name, 80), "mono-dim" if mono else "dim"),
        )
        return [*rows, Fact("", parts, right=delta(subject.delta_ns(story.collapsed_by)))]
    rows[0] = words_fact("All of it: no tool has consumed it yet.")
    return [*rows, fact("", f"Then only: {plain(story.summary or '', 2_000)}", "dim", lines=4)]


def _signal(subject: Subject) -> list[Fact]:
    story = subject.story
    if story.consumes is None:
        return [words_fact(story.note or "")]
    name, mono = name_of(subject.analysis, story.consumes)
    parts = (
        Part("Consumed "),
        message_part(story.consumes),
        Part("  "),
        Part(plain(name, 80), "mono-dim" if mono else "dim"),
    )
    return [Fact("", parts, right=delta(subject.delta_ns(story.consumes)))]


def _error(error: object) -> list[Fact]:
    if not isinstance(error, Mapping):
        return [words_fact(str(error))]
    message = error.get("message")
    rows = [fact("", message, "bad", lines=6)] if isinstance(message, str) else []
    return rows + value_facts(error, skip=("message",))


def _content(sheet: Sheet) -> QWidget:
    content = content_of(sheet.subject.payload["result"])
    view = ContentView(sheet.themes, content)
    label = "The tool failed" if content.failed else "Content"
    if content.table is not None:
        label += f", {formats.count_of(content.table.total, 'record')}"
    return sheet.section(label, view, name="content", action=view.segments)
