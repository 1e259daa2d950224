"""Names of any length are kept in little room, and stay different from one another."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from inspector.filters.fields import FIELD_BY_NAME
from inspector.store.columns.name_sets import MAX_NAMES
from inspector.store.columns.stored_names import MAX_NAME_LENGTH, STORED_LENGTH, stored_name
from tests.builders import document_of, envelope

LONG = "n" * (MAX_NAME_LENGTH + 1)


@given(st.text(max_size=200))
def test_ordinary_names_stay_as_they_are(name: str) -> None:
    assert stored_name(name) is name


@given(st.text(max_size=5), st.text(max_size=5))
def test_long_names_are_cut_and_stay_different(one: str, other: str) -> None:
    first, second = stored_name(LONG + one), stored_name(LONG + other)
    assert (first == second) == (one == other)
    assert len(first) < STORED_LENGTH + 100


def test_a_half_character_is_no_obstacle() -> None:
    assert stored_name(LONG + "\ud800").startswith("nnn")


def test_of_a_crowd_the_first_are_kept_and_the_rest_counted() -> None:
    names = [f"a{n}" for n in range(MAX_NAMES + 5)]
    capture = document_of(envelope(to=names), envelope(to=names[:3])).capture
    kept = capture.recipients(0)
    assert kept[:MAX_NAMES] == tuple(names[:MAX_NAMES])
    assert kept[MAX_NAMES:] == ("… 5 more",)
    assert capture.recipients(1) == tuple(names[:3])


def test_a_capture_keeps_long_names_short_and_the_message_has_all_of_them() -> None:
    document = document_of(*(envelope(LONG + kind, {"text": "x"}, sender=LONG, context=LONG) for kind in "ab"))
    capture = document.capture
    assert sum(len(text) for text in capture.strings) < 10_000
    kinds = {FIELD_BY_NAME["kind"].value(document.analysis, message) for message in range(2)}
    assert len(kinds) == 2
    assert (capture.records.envelope(0) or {})["kind"] == LONG + "a"
