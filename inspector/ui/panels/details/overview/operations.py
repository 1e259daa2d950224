"""Operations on contexts of the MEUP v0.2 SDK: push, pop, resume, and what each is about (docs/protocols.md 7)."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtWidgets import QWidget

from inspector.analysis.context_tree import MAIN
from inspector.protocol.payloads.outline import value_text
from inspector.protocol.secrets.masking import mask_secrets
from inspector.ui.panels.details.facts import fact
from inspector.ui.panels.details.sheet import Sheet, value_facts, words_fact
from inspector.ui.panels.details.words import sender_of

_WORDS = {
    "push": "{} opens a context below the one it was in.",
    "pop": "{} leaves its context for the one around it.",
    "resume": "{} goes back to a context.",
}


def build(sheet: Sheet) -> list[QWidget]:
    """Sections of an operation marker."""
    subject = sheet.subject
    envelope = subject.capture.envelope(subject.message)
    context = mask_secrets(envelope.get("context")) if isinstance(envelope, dict) else None
    operation = context.get("operation") if isinstance(context, Mapping) else None
    sender = sender_of(subject.capture, subject.message)
    words = _WORDS.get(operation, "{} names an operation that is not known.") if isinstance(operation, str) else (
        "{} names no operation."
    )  # fmt: skip
    tree = subject.analysis.contexts.tree
    if operation == "push" and subject.node != MAIN and tree.parent[subject.node] == MAIN:
        words = "{} opens a context."
    rows = [words_fact(words.format(sender))]
    if isinstance(context, Mapping):
        if isinstance(context.get("topic"), str):
            rows.append(fact("Topic", context["topic"], "strong", lines=3))
        if context.get("correlation_id") is not None:
            rows.append(fact("Id", value_text(context["correlation_id"]), "mono", middle=True))
        if operation is not None and not (isinstance(operation, str) and operation in _WORDS):
            rows.append(fact("Operation", value_text(operation), "mono"))
        rows += value_facts(context, skip=("operation", "topic", "correlation_id"))
    if subject.node != MAIN:
        rows.append(fact("Context", subject.analysis.contexts.tree.path(subject.node), middle=True))
    rows += value_facts(subject.payload)
    scope = sheet.link(
        "Scope to this context", lambda: sheet.links.scope_requested.emit(subject.message), name="scopeTo"
    ) if subject.node != MAIN else None  # fmt: skip
    card = sheet.fact_card(rows, name="operation", label="Context operation")
    return [sheet.section("Context operation", card, action=scope), *sheet.chain_section()]
