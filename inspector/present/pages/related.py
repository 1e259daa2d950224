"""Related tab (causes, effects, recipients) and Lifecycle tab (steps of a result) of a message."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from inspector.analysis.views.causes.chain import MAX_STEPS, ChainStep, relation_word
from inspector.analysis.views.summaries.lifecycles import Lifecycle, Saving, lifecycle_of
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
from inspector.present.pages.factories import alone_link, chain_part, fact_card, facts_part, section_part
from inspector.present.pages.parts import CardPart, ChainPart, FactsPart, Part, SavingPart
from inspector.present.subject import Subject
from inspector.present.wire_text import safe_line


def related_sections(subject: Subject) -> list[Part]:
    """Returns the sections of Related: causal chain, direct causes and effects, deliveries."""
    made: list[Part] = []
    if len(subject.likely_chain.steps) > 1:
        body: list[Part] = [chain_part(subject, took=True)]
        if len(subject.likely_chain.steps) >= MAX_STEPS:
            words = f"The nearest {MAX_STEPS} messages; further ones have chains of their own."
            body.append(facts_part([fact("", words, "dim", lines=2)], name="chainCut", label="More"))
        made.append(section_part("Causal chain", *body, action=alone_link(subject) if len(subject.chain) > 1 else None))
    else:
        alone = [fact("", "No causes or effects in this log.", "dim", lines=2)]
        made.append(section_part("Causal chain", facts_part(alone, name="alone", label="Causal chain")))
    for label, rows in (("Direct causes", subject.causes), ("Direct effects", subject.effects)):
        if rows:
            steps = [ChainStep(m, relation_word(subject.analysis, m), subject.delta_ns(m)) for m in rows[:_MOST_LINKS]]
            body = [chain_part(subject, steps, label=label)]
            if len(rows) > _MOST_LINKS:
                more = [fact("", f"{formats.number(len(rows) - _MOST_LINKS)} more", "dim")]
                body.append(facts_part(more, name="moreLinks", label="More"))
            made.append(section_part(label, *body))
    made += _delivery_sections(subject)
    return made


_MOST_LINKS = 100
_MOST_DELIVERIES = 50


def _delivery_sections(subject: Subject) -> list[Part]:
    found = list(subject.capture.deliveries.deliveries_of(subject.message))
    if not found:
        return []
    # A transcript repeats a message only as progress.
    if subject.is_derived:
        told = [fact("Repeated", f"{formats.number(len(found) - 1)} times as progress")]
        facts = facts_part(told, name="deliveries", label="Ticks")
        return [section_part("Ticks", facts, name="deliveriesSection")] if len(found) > 1 else []
    rows: list[Fact] = [
        fact(safe_line(d.participant or "somebody", 120), d.event, "bad" if d.event == "rejected" else "plain")
        for d in found[:_MOST_DELIVERIES]
    ]
    if len(found) > _MOST_DELIVERIES:
        rows.append(fact("", f"{formats.number(len(found) - _MOST_DELIVERIES)} more", "dim"))
    facts = facts_part(rows, name="deliveries", label="Deliveries")
    return [section_part(f"Deliveries, {len(found)}", facts, name="deliveriesSection")]


def lifecycle_sections(subject: Subject) -> list[Part]:
    """Returns the sections of Lifecycle: steps of a result, the model's view of it, and pending consumers."""
    story, life = subject.lifecycle, lifecycle_of(subject.analysis, subject.message)
    made: list[Part] = []
    steps = lifecycle_rows(subject, life)
    if len(steps) > 1 or story.badges:
        made.append(section_part("Lifecycle", ChainPart(rows=steps, label="Lifecycle", name="life")))
    if "transient" in story.badges:
        label = "Origin"
        made.append(section_part(label, facts_part(origin_facts(subject, life), name="how", label=label)))
        if life.saving is not None:
            made.append(_model_view_section(subject, life))
        if story.collapsed_by is None:
            rows = [fact("", sentence, lines=4) for sentence in pending_sentences(subject, life)]
            made.append(section_part("Pending", facts_part(rows, name="pending", label="Pending")))
    if life.attempts:
        rows = attempt_facts(life)
        label = "Consumers that did not collapse it"
        made.append(section_part(label, facts_part(rows, name="attempts", label=label)))
    if story.consumes is not None:
        made.append(_consumed_section(subject, story.consumes))
    if story.note:
        made.append(section_part("Note", facts_part([fact("", story.note, lines=3)], name="lifeNote", label="Note")))
    if life.pairs:
        rows = [row for pair in life.pairs for row in pair_facts(subject, pair)]
        if life.pairs_total > len(life.pairs):
            rows.append(fact("", f"{formats.number(life.pairs_total - len(life.pairs))} more pairs, see Tree", "dim"))
        label = "Registered pairs"
        made.append(section_part(label, facts_part(rows, name="pairs", label=label)))
    if not made:
        facts = facts_part([fact("", why_no_lifecycle(subject), "dim", lines=3)], name="noLife", label="Lifecycle")
        made.append(section_part("Lifecycle", facts))
    return made


def seen_now(subject: Subject, *, name: str, label: str, rows: Iterable[Fact], collapsed: bool) -> Part:
    """Makes a card with the model's view of a transient result and its savings in tokens."""
    saving = lifecycle_of(subject.analysis, subject.message).saving
    facts = [*rows]
    if saving is None:
        return fact_card(facts, name=name, label=label)
    if saving.before is None or saving.summary is None:
        facts.append(fact("", "Tokens are not counted yet.", "dim"))
        return fact_card(facts, name=name, label=label)
    card = fact_card(facts, name=name, label=label)
    return msgspec.structs.replace(card, body=[*card.body, _saving_part(saving, collapsed=collapsed)])


def _saving_part(saving: Saving, *, collapsed: bool) -> SavingPart:
    """Makes the bar of a saving with known counts."""
    assert saving.before is not None
    assert saving.summary is not None
    return SavingPart(before=saving.before, summary=saving.summary, tokenizer=saving.tokenizer, collapsed=collapsed)


# The model's view


def _model_view_section(subject: Subject, life: Lifecycle) -> Part:
    story = subject.lifecycle
    collapsed = story.collapsed_by is not None
    label = seen_label(subject) if collapsed else "Seen by the model once consumed"
    rows = [words_fact(safe_line(story.summary or "", 2_000))]
    if not life.summary_given:
        rows.append(fact("", "Generated; its server gave no summary.", "dim"))
    card = seen_now(subject, name="summary", label=label, rows=rows, collapsed=collapsed)
    return section_part(label, card)


def _consumed_section(subject: Subject, result: int) -> Part:
    rows = consumed_facts(subject, result)
    saving = lifecycle_of(subject.analysis, result).saving
    if saving is not None and saving.before is not None and saving.summary is not None:
        facts = FactsPart(rows=rows, name="collapsedIt", label="Collapsed result", in_card=True)
        card = CardPart(body=[facts, _saving_part(saving, collapsed=True)], name="card")
        return section_part("Collapsed result", card)
    return section_part("Collapsed result", fact_card(rows, name="collapsedIt", label="Collapsed result"))
