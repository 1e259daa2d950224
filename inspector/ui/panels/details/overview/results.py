"""Results: what the model sees, what was answered, chain, content. What failed says why before anything else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtWidgets import QWidget

from inspector.capture.flags import Flag
from inspector.present import formats
from inspector.present.wire_text import plain
from inspector.protocol.payloads.content import content_of
from inspector.protocol.payloads.listings import listing_in
from inspector.protocol.payloads.outline import value_text
from inspector.ui.panels.details.content_view import ContentView
from inspector.ui.panels.details.facts import Fact, Part, fact
from inspector.ui.panels.details.lifecycle import seen_label, seen_now
from inspector.ui.panels.details.overview.answers import answer_section
from inspector.ui.panels.details.overview.talk import hello_facts, talk
from inspector.ui.panels.details.sheet import Sheet, message_part, value_facts, words_fact
from inspector.ui.panels.details.subject import Subject, name_of
from inspector.ui.panels.details.words import delta

_MOST_VALUES = 50
_LISTED = {"tools": "tool", "prompts": "prompt", "resources": "resource", "resourceTemplates": "resource template"}
_CODES = {
    -32700: "not JSON", -32600: "no valid request", -32601: "no such method", -32602: "wrong parameters",
    -32603: "internal error", -32002: "no such resource",
}  # fmt: skip
"""JSON-RPC 2.0, 5.1, and MCP 2025-06-18, Resources."""


def build(sheet: Sheet) -> list[QWidget]:
    """Sections of a response."""
    subject = sheet.subject
    sections: list[QWidget] = []
    if "transient" in subject.story.badges:
        label, collapsed = seen_label(subject), subject.story.collapsed_by is not None
        card = seen_now(sheet, name="seenNow", label=label, rows=_seen_now(subject), collapsed=collapsed)
        sections.append(sheet.section(label, card))
    elif subject.story.consumes is not None or subject.story.note:
        card = sheet.fact_card(_signal(subject), name="signal", label="Context signal")
        sections.append(sheet.section("Context signal", card))
    error = subject.payload.get("error")
    if error is not None:
        sections.append(sheet.section("Error", sheet.fact_card(_error(error), name="error", label="Error")))
    content = _content(sheet) if "result" in subject.payload else []
    if subject.flags & Flag.ERROR:
        return [*sections, *content, *answer_section(sheet), *sheet.chain_section()]
    return [*sections, *answer_section(sheet), *sheet.chain_section(), *content]


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
        return [fact("", value_text(error), "bad", lines=6)]
    message = error.get("message")
    rows = [fact("", message, "bad", lines=6)] if isinstance(message, str) else []
    code = error.get("code")
    if isinstance(code, int) and code in _CODES:
        rows.append(Fact("code", (Part(str(code), "mono"), Part(f"  {_CODES[code]}", "dim")), mono_name=True))
    skip = ("message", "code") if isinstance(code, int) and code in _CODES else ("message",)
    return rows + value_facts(error, skip=skip)


def _content(sheet: Sheet) -> list[QWidget]:
    result = sheet.subject.payload["result"]
    build = _BY_METHOD.get(sheet.subject.method or "")
    if build is not None and isinstance(result, Mapping) and (made := build(sheet, result)):
        return made
    return [content_section(sheet, result)]


def content_section(sheet: Sheet, result: object) -> QWidget:
    """What a result holds, in the ways it can be shown."""
    content = content_of(result)
    listing = listing_in(result)
    label = "The tool failed" if content.failed else "Content"
    if listing is not None:
        noun = _LISTED[listing[0]]
        label += f", {formats.count_of(listing[1].total, noun)}"
        return _viewed(sheet, label, ContentView(sheet.themes, content, sheet.links.pictures, listing[1]))
    if content.table is not None:
        label += f", {formats.count_of(content.table.total, 'record')}"
    elif content.others or len(content.blocks) > 1:
        label += f", {formats.count_of(len(content.blocks) or len(content.others), 'block')}"
    view = ContentView(sheet.themes, content, sheet.links.pictures)
    if content.structured is None or content.table is not None:
        return _viewed(sheet, label, view)
    rows = value_facts(content.structured) if isinstance(content.structured, Mapping) else [
        fact("", value_text(content.structured), "mono", lines=8)
    ]  # fmt: skip
    other = sheet.fact_card(rows, name="structured", label="Structured content")
    body = sheet.section("Structured content", other, name="structuredContent")
    return sheet.section(label, view, body, name="content", action=view.segments)


def _viewed(sheet: Sheet, label: str, view: ContentView) -> QWidget:
    return sheet.section(label, view, name="content", action=view.segments)


def _initialize(sheet: Sheet, result: Mapping[str, Any]) -> list[QWidget]:
    rows = hello_facts(result, "serverInfo")
    sections: list[QWidget] = [
        sheet.section("Server", sheet.fact_card(rows, name="server", label="Server", name_width=80))
    ]
    if isinstance(result.get("instructions"), str):
        text = sheet.text(result["instructions"], name="instructions", label="Instructions")
        sections.append(sheet.section("Instructions", text))
    return sections


def _completion(sheet: Sheet, result: Mapping[str, Any]) -> list[QWidget]:
    completion = result.get("completion")
    if not isinstance(completion, Mapping) or not isinstance(completion.get("values"), list):
        return []
    values = completion["values"]
    rows = [fact("", value_text(value), "mono") for value in values[:_MOST_VALUES]] or [fact("", "none", "dim")]
    total = completion.get("total")
    more = total - len(values) if isinstance(total, int) and total > len(values) else 0
    if more or completion.get("hasMore") is True or len(values) > _MOST_VALUES:
        known = more + max(0, len(values) - _MOST_VALUES)
        rows.append(fact("", f"{formats.number(known)} more" if known else "and more", "dim"))
    facts = sheet.facts(rows, name="completions", label="Completions")
    return [sheet.section(f"Completions, {len(values)}", facts, name="content")]


def _prompt(sheet: Sheet, result: Mapping[str, Any]) -> list[QWidget]:
    sections = talk(sheet, result.get("messages"))
    if sections and isinstance(result.get("description"), str):
        about = sheet.facts([fact("", result["description"], lines=4)], name="promptAbout", label="About")
        sections.insert(0, sheet.section("Prompt", about))
    return sections


def _sampled(sheet: Sheet, result: Mapping[str, Any]) -> list[QWidget]:
    rows = value_facts(result, skip=("content", "role", "_meta"))
    sections = talk(sheet, [result])
    if rows and sections:
        sections.append(sheet.section("Model", sheet.fact_card(rows, name="sampled", label="Model")))
    return sections


_BY_METHOD = {
    "initialize": _initialize,
    "completion/complete": _completion,
    "prompts/get": _prompt,
    "sampling/createMessage": _sampled,
}
