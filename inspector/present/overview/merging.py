"""Updates an overview without moving a line, while the pointer rests on it."""

from __future__ import annotations

import msgspec

from inspector.present.overview.cards import Card, Overview, Row, Section


def update_in_place(before: Overview, after: Overview) -> Overview:
    """Returns the shown overview with new texts. No card and no row appears, disappears or moves."""
    cards = {card.id: card for card in after.cards}
    kept = tuple(_card(card, cards[card.id]) if card.id in cards else card for card in before.cards)
    return msgspec.structs.replace(after, below=before.below, cards=kept)


def _card(before: Card, after: Card) -> Card:
    rows = {row.key: row for section in after.sections for row in section.rows}
    sections = tuple(
        Section(section.heading, tuple(_row(row, rows.get(row.key, row)) for row in section.rows))
        for section in before.sections
    )
    return msgspec.structs.replace(
        before, sections=sections, figure=after.figure, unit=after.unit, bar=after.bar, bar_words=after.bar_words,
        curve=after.curve,
    )  # fmt: skip


def _row(before: Row, after: Row) -> Row:
    """Returns the new row if its links lead to the same places."""
    same = [one.link for one in (*before.label, *before.words)] == [one.link for one in (*after.label, *after.words)]
    return after if same else before
