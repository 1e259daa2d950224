"""Each badge is declared twice, how it comes about and how it looks; both belong together."""

from __future__ import annotations

import pytest

from inspector.analysis.passes.results.result_badges import BADGE_SETS
from inspector.analysis.passes.results.result_badges import Badge as Bit
from inspector.present.badges import BADGE_BY_ID, BADGES, Badge, badge_words, shown_in_row
from inspector.ui.look.design_tokens import COLORS
from tests.unit.analysis.transient_traffic import WRAPPINGS, Call, Opened, fetch, hint, in_turn, store


def test_every_badge_that_can_be_is_seen_and_no_other() -> None:
    words = [bit.name.lower() for bit in Bit if bit.name]
    assert [badge.id for badge in BADGES] == words, (
        "a Badge in inspector/analysis/passes/results/result_badges.py and one in inspector/ui"
    )
    assert BADGE_SETS[-1] == tuple(words)


@pytest.mark.parametrize("badge", BADGES, ids=lambda badge: badge.id)
def test_it_can_be_painted_and_is_explained(badge: Badge) -> None:
    assert badge.token in COLORS, "its colour in inspector/ui/look/design_tokens.py"
    assert badge.tooltip.endswith(".")
    assert set(badge.hides) <= BADGE_BY_ID.keys()
    assert badge in shown_in_row([badge.id])


def test_a_consumption_that_collapsed_nothing_is_neutral() -> None:
    hinted = Call("get_workflow_step", {"contextHints": [hint()]})
    calls = [hinted, fetch(), store(), store()]
    opened = Opened(WRAPPINGS["mew"], in_turn(*calls))
    transients = opened.document.analysis.transients
    shown = [shown_in_row(badge_words(transients, opened.rows[call])) for call in calls]
    assert [[badge.text for badge in row] for row in shown] == [[], ["collapsed"], ["consumed"], ["consumed nothing"]]
    assert shown[3][0].token == BADGE_BY_ID["collapsed"].token
    assert opened.badges(calls[3]) == ["consumed"]  # what filters compare with
