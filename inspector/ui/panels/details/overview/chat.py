"""Chat: the text, plain or formatted, who answered, who acknowledged."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from inspector.present.wire_text import plain
from inspector.protocol.payloads.blocks import is_markdown
from inspector.ui.panels.details.content_view import SaidView
from inspector.ui.panels.details.facts import Fact, Part, fact
from inspector.ui.panels.details.sheet import Sheet, message_part, value_facts
from inspector.ui.panels.details.subject import Subject, text_of
from inspector.ui.panels.details.visibility import visibility_facts
from inspector.ui.panels.details.words import delta, sender_of


def build(sheet: Sheet) -> list[QWidget]:
    """Sections of a chat message."""
    subject = sheet.subject
    sections: list[QWidget] = [said_section(sheet, subject.text, declared=subject.payload.get("format") == "markdown")]
    seen = visibility_facts(subject)
    skip = ("text", "format", "message", "method", "params", "jsonrpc", *(("role", "visibility") if seen else ()))
    rest = [*seen, *value_facts(subject.payload, skip=skip)]
    if rest:
        sections.append(sheet.section("Also", sheet.facts(rest, name="chatMore", label="Also")))
    sections += sheet.chain_section("Conversation")
    acknowledged = _acknowledgements(subject)
    if acknowledged:
        facts = sheet.facts(acknowledged, name="acknowledgements", label="Acknowledged by")
        sections.append(sheet.section("Acknowledged by", facts))
    return sections


def said_section(sheet: Sheet, text: str, *, declared: bool, label: str = "Text", name: str = "chatText") -> QWidget:
    """A text; where it is Markdown, formatted or as it was written.

    Args:
        declared: the message says that it is Markdown, so that it is formatted at first.
    """
    if not text:
        return sheet.section(label, sheet.facts([fact("", "No text.", "dim")], name="noText", label=label))
    if not declared and not is_markdown(text):
        return sheet.section(label, sheet.text(text, name=name, label=label))
    view = SaidView(sheet.themes, text, formatted=declared, name=name)
    return sheet.section(label, view, name="said", action=view.segments)


def _acknowledgements(subject: Subject) -> list[Fact]:
    rows: list[Fact] = []
    for effect in subject.effects[:50]:
        if subject.capture.string("kind", effect) not in ("chat/acknowledge", "chat/cancel"):
            continue
        status = subject.capture.payload(effect)
        word = status.get("status") or status.get("reason") or ""
        parts = (Part(f"{plain(str(word), 80)}, " if word else ""), message_part(effect))
        rows.append(Fact(sender_of(subject.capture, effect), parts, right=delta(subject.delta_ns(effect))))
    return rows


def build_about_chat(sheet: Sheet) -> list[QWidget]:
    """Sections of an acknowledgement or a cancellation."""
    subject = sheet.subject
    rows = value_facts(subject.payload)
    about = next(iter(subject.causes), None)
    if about is not None:
        sender = sender_of(subject.capture, about)
        rows.append(Fact("Chat", (message_part(about), Part(f"  {sender}", "dim"))))
        rows.append(fact("", text_of(subject.capture, about), lines=6))
    else:
        rows.append(fact("Chat", "the message it names was not seen", "dim"))
    label = "Acknowledged" if subject.kind == "chat/acknowledge" else "Cancelled"
    return [sheet.section(label, sheet.fact_card(rows, name="acknowledged", label=label)), *sheet.chain_section()]
