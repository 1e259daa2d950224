"""Where Back and Forward lead."""

from __future__ import annotations

from inspector.engine.requests.filters import ValidFilter
from inspector.present.places import ContextPlace
from inspector.ui.docview.navigation_history import NavigationHistory, Stop
from inspector.ui.panels.trail import MOST_STOPS

ALL = ValidFilter()


def trail_of(*shown: int) -> NavigationHistory:
    trail = NavigationHistory()
    for one in shown:
        trail.add(Stop(one, ALL, None))
    return trail


def shown(way: tuple[Stop, Stop] | None) -> tuple[object, object] | None:
    return None if way is None else (way[0].shown, way[1].shown)


def test_back_and_forward_lead_over_the_stops_and_end_at_both_ends() -> None:
    trail = trail_of(1, 2, 3)
    assert [shown(trail.back()) for _ in range(3)] == [(2, 3), (1, 2), None]
    assert [shown(trail.forward()) for _ in range(3)] == [(2, 1), (3, 2), None]


def test_another_way_forgets_what_was_ahead() -> None:
    trail = trail_of(1, 2)
    trail.back()
    trail.add(Stop(7, ALL, None))
    assert trail.forward() is None
    assert shown(trail.back()) == (1, 7)


def test_only_so_many_are_kept() -> None:
    trail = trail_of(*range(3 * MOST_STOPS))
    steps = 0
    while trail.back() is not None:
        steps += 1
    assert steps == MOST_STOPS


def test_a_page_is_found_where_it_was_left() -> None:
    trail, place = NavigationHistory(), ContextPlace(0, 1)
    trail.add(Stop(place, ALL, None))
    trail.note_scroll(None, 5)
    trail.note_scroll(ContextPlace(0, 2), 6)
    assert trail.last is not None
    assert trail.last.scrolled == 0
    trail.note_scroll(place, 7)
    assert trail.last.scrolled == 7


def test_a_filter_that_went_on_is_found_as_it_is_now() -> None:
    trail, grown = trail_of(1, 2, 3), ValidFilter("no in {1, 2}")
    trail.back()
    trail.replace(ALL, grown)
    ahead, back = trail.forward(), trail.back()
    assert ahead is not None
    assert back is not None
    assert ahead[0].filter is back[0].filter is grown
