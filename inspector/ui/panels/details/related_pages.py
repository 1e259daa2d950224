"""Related tab (causes, effects, recipients) and Lifecycle tab (steps of a result) of a message."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtWidgets import QWidget

from inspector.analysis.views.causes.chain import MAX_STEPS, ChainStep, relation_word
from inspector.analysis.views.summaries.lifecycles import Lifecycle, lifecycle_of
from inspector.present import formats
from inspector.present.facts import Fact, fact, words_fact
from inspector.present.lifecycle_facts import (
    attempt_facts,
    consumed_facts,
    lifecycle_rows,
    origin_facts,
    pair_facts,
    pending_sentences,
    seen_label,
    why_no_lifecycle,
)
from inspector.present.wire_text import safe_line
from inspector.ui.panels.details.figures import SavingBar
from inspector.ui.panels.details.page_builder import Sheet


def related_sections(sheet: Sheet) -> list[QWidget]:
    """Returns the sections of Related: causal chain, direct causes and effects, deliveries."""
    subject = sheet.subject
    made: list[QWidget] = []
    if len(subject.likely_chain.steps) > 1:
        body: list[QWidget] = [sheet.chain(took=True)]
        if len(subject.likely_chain.steps) >= MAX_STEPS:
            words = f"The nearest {MAX_STEPS} messages; further ones have chains of their own."
            body.append(sheet.facts([fact("", words, "dim", lines=2)], name="chainCut", label="More"))
        made.append(sheet.section("Causal chain", *body, action=sheet.alone_link() if len(subject.chain) > 1 else None))
    else:
        alone = [fact("", "No causes or effects in this log.", "dim", lines=2)]
        made.append(sheet.section("Causal chain", sheet.facts(alone, name="alone", label="Causal chain")))
    for label, rows in (("Direct causes", subject.causes), ("Direct effects", subject.effects)):
        if rows:
            steps = [ChainStep(m, relation_word(subject.analysis, m), subject.delta_ns(m)) for m in rows[:_MOST_LINKS]]
            body = [sheet.chain(steps, label=label)]
            if len(rows) > _MOST_LINKS:
                more = [fact("", f"{formats.number(len(rows) - _MOST_LINKS)} more", "dim")]
                body.append(sheet.facts(more, name="moreLinks", label="More"))
            made.append(sheet.section(label, *body))
    made += _delivery_sections(sheet)
    return made


_MOST_LINKS = 100
_MOST_DELIVERIES = 50


def _delivery_sections(sheet: Sheet) -> list[QWidget]:
    found = list(sheet.subject.capture.deliveries.deliveries_of(sheet.subject.message))
    if not found:
        return []
    # A transcript repeats a message only as progress.
    if sheet.subject.is_derived:
        told = [fact("Repeated", f"{formats.number(len(found) - 1)} times as progress")]
        facts = sheet.facts(told, name="deliveries", label="Ticks")
        return [sheet.section("Ticks", facts, name="deliveriesSection")] if len(found) > 1 else []
    rows: list[Fact] = [
        fact(safe_line(d.participant or "somebody", 120), d.event, "bad" if d.event == "rejected" else "plain")
        for d in found[:_MOST_DELIVERIES]
    ]
    if len(found) > _MOST_DELIVERIES:
        rows.append(fact("", f"{formats.number(len(found) - _MOST_DELIVERIES)} more", "dim"))
    facts = sheet.facts(rows, name="deliveries", label="Deliveries")
    return [sheet.section(f"Deliveries, {len(found)}", facts, name="deliveriesSection")]


def lifecycle_sections(sheet: Sheet) -> list[QWidget]:
    """Returns the sections of Lifecycle: steps of a result, the model's view of it, and pending consumers."""
    subject = sheet.subject
    story, life = subject.lifecycle, lifecycle_of(subject.analysis, subject.message)
    made: list[QWidget] = []
    steps = lifecycle_rows(subject, life)
    if len(steps) > 1 or story.badges:
        made.append(sheet.section("Lifecycle", sheet.rail(steps, label="Lifecycle", name="life")))
    if "transient" in story.badges:
        label = "Origin"
        made.append(sheet.section(label, sheet.facts(origin_facts(subject, life), name="how", label=label)))
        if life.saving is not None:
            made.append(_model_view_section(sheet, life))
        if story.collapsed_by is None:
            rows = [fact("", sentence, lines=4) for sentence in pending_sentences(subject, life)]
            made.append(sheet.section("Pending", sheet.facts(rows, name="pending", label="Pending")))
    if life.attempts:
        rows = attempt_facts(life)
        label = "Consumers that did not collapse it"
        made.append(sheet.section(label, sheet.facts(rows, name="attempts", label=label)))
    if story.consumes is not None:
        made.append(_consumed_section(sheet, story.consumes))
    if story.note:
        made.append(sheet.section("Note", sheet.facts([fact("", story.note, lines=3)], name="lifeNote", label="Note")))
    if life.pairs:
        rows = [row for pair in life.pairs for row in pair_facts(subject, pair)]
        if life.pairs_total > len(life.pairs):
            rows.append(fact("", f"{formats.number(life.pairs_total - len(life.pairs))} more pairs, see Tree", "dim"))
        label = "Registered pairs"
        made.append(sheet.section(label, sheet.facts(rows, name="pairs", label=label)))
    if not made:
        facts = sheet.facts([fact("", why_no_lifecycle(subject), "dim", lines=3)], name="noLife", label="Lifecycle")
        made.append(sheet.section("Lifecycle", facts))
    return made


def seen_now(sheet: Sheet, *, name: str, label: str, rows: Iterable[Fact], collapsed: bool) -> QWidget:
    """Makes a card with the model's view of a transient result and its savings in tokens."""
    subject = sheet.subject
    saving = lifecycle_of(subject.analysis, subject.message).saving
    facts = [*rows]
    if saving is None:
        return sheet.fact_card(facts, name=name, label=label)
    if saving.before is None or saving.summary is None:
        facts.append(fact("", "Tokens are not counted yet.", "dim"))
        return sheet.fact_card(facts, name=name, label=label)
    bar = SavingBar(sheet.themes, saving, collapsed=collapsed)
    return sheet.card(sheet.facts(facts, name=name, label=label, in_card=True, name_width=66), bar, name=f"{name}Card")


# The model's view


def _model_view_section(sheet: Sheet, life: Lifecycle) -> QWidget:
    story = sheet.subject.lifecycle
    collapsed = story.collapsed_by is not None
    label = seen_label(sheet.subject) if collapsed else "Seen by the model once consumed"
    rows = [words_fact(safe_line(story.summary or "", 2_000))]
    if not life.summary_given:
        rows.append(fact("", "Generated; its server gave no summary.", "dim"))
    card = seen_now(sheet, name="summary", label=label, rows=rows, collapsed=collapsed)
    return sheet.section(label, card)


def _consumed_section(sheet: Sheet, result: int) -> QWidget:
    rows = consumed_facts(sheet.subject, result)
    saving = lifecycle_of(sheet.subject.analysis, result).saving
    if saving is not None and saving.before is not None and saving.summary is not None:
        bar = SavingBar(sheet.themes, saving, collapsed=True)
        card = sheet.card(sheet.facts(rows, name="collapsedIt", label="Collapsed result", in_card=True), bar)
        return sheet.section("Collapsed result", card)
    return sheet.section("Collapsed result", sheet.fact_card(rows, name="collapsedIt", label="Collapsed result"))
