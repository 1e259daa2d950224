"""Each badge is declared twice, how it comes about and how it looks; both belong together."""

from __future__ import annotations

import pytest

from inspector.analysis.badges import BADGE_SETS
from inspector.analysis.badges import Badge as Bit
from inspector.present.badges import BADGE_BY_ID, BADGES, Badge, shown_in_row
from inspector.ui.look.design_tokens import COLORS


def test_every_badge_that_can_be_is_seen_and_no_other() -> None:
    words = [bit.name.lower() for bit in Bit if bit.name]
    assert [badge.id for badge in BADGES] == words, "a Badge in inspector/analysis/badges.py and one in inspector/ui"
    assert BADGE_SETS[-1] == tuple(words)


@pytest.mark.parametrize("badge", BADGES, ids=lambda badge: badge.id)
def test_it_can_be_painted_and_is_explained(badge: Badge) -> None:
    assert badge.token in COLORS, "its colour in inspector/ui/look/design_tokens.py"
    assert badge.tooltip.endswith(".")
    assert set(badge.hides) <= BADGE_BY_ID.keys()
    assert badge in shown_in_row([badge.id])
