"""Sorted rows: the order is that of `sorted`, and nothing that comes moves what is shown."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.base.slices import run_to_end
from inspector.document.document import CaptureDocument
from inspector.filters import FilterError, compile_filter, sorting
from inspector.filters.fields import FIELDS
from inspector.filters.naming import field_named
from inspector.filters.order import Order
from inspector.filters.sorting import SortBy, Sorting, sort_key, stable_order
from inspector.filters.visible import VisibleRows
from tests.builders import GrowingLog, clean_up, document_of, envelope
from tests.strategies import context_conversations, conversations, gateway_logs, traffic

anything = st.one_of(conversations, context_conversations, gateway_logs(), traffic())
NAMES = [field.name for field in FIELDS] + ["payload.tokens", "payload.text", "payload.params", "payload.0"]


def rows_of(document: CaptureDocument, text: str = "") -> VisibleRows:
    rows = VisibleRows(document.analysis)
    rows.apply_filter(compile_filter(text), None)
    return rows


def sort(rows: VisibleRows, name: str, *, descending: bool = False) -> list[int]:
    """Sort rows by a field; the messages as they stand."""
    work = Sorting(rows.analysis, SortBy(field_named(name), descending), rows.visible)
    rows.sort(work.by.order, run_to_end(work.find_order()))
    return rows.in_order().tolist()


def slowly(rows: VisibleRows, name: str, *, descending: bool) -> list[int]:
    """What the order is by definition."""
    field = field_named(name)
    column = field.column(rows.analysis)
    keys = {m: sort_key(field, column.value(m)) for m in rows.visible.tolist()}
    held = sorted((m for m in keys if keys[m] is not None), key=lambda m: keys[m] or (0, 0), reverse=descending)
    return held + [m for m in keys if keys[m] is None]


def texts(*said: Any) -> CaptureDocument:
    return document_of(*(envelope("chat", {"text": one}) for one in said))


@given(anything, st.sampled_from(NAMES), st.booleans(), st.sampled_from(["", "!context", "no > 2"]), st.booleans())
def test_the_order_is_that_of_sorted(
    lines: list[dict[str, Any]], name: str, descending: bool, text: str, in_slices: bool
) -> None:
    rows = rows_of(document_of(*lines), text)
    with (
        patch.object(sorting, "_RUN", 2 if in_slices else 1 << 12),
        patch.object(sorting, "_MERGE_BATCH", 2),
        patch.object(sorting, "_MAX_INTERNED", 3 if in_slices else 1 << 17),
    ):
        found = sort(rows, name, descending=descending)
    assert found == slowly(rows, name, descending=descending)
    clean_up()


@given(st.lists(st.one_of(st.integers(-5, 5), st.none())), st.booleans())
def test_arrays_are_ordered_as_lists_are(values: list[int | None], descending: bool) -> None:
    present = np.array([value is not None for value in values], np.bool_)
    numbers = np.array([value or 0 for value in values], np.int64)
    held = [place for place, value in enumerate(values) if value is not None]
    expected = sorted(held, key=lambda place: values[place] or 0, reverse=descending)
    absent = [place for place, value in enumerate(values) if value is None]
    assert stable_order(numbers, present, descending=descending).tolist() == expected + absent


ascending = st.sets(st.integers(0, 30)).map(sorted)


@given(ascending, ascending, st.integers(0, 5), st.randoms(use_true_random=False))
def test_an_order_is_carried_over(before: list[int], after: list[int], come: int, random: Any) -> None:
    """What stays keeps its order, what is new stands behind it as it came."""
    places = list(range(max(0, len(before) - come)))
    random.shuffle(places)
    order = Order(np.array(places, np.uint32))
    old, new = np.array(before, np.uint32), np.array(after, np.uint32)
    shown = order.in_order(old).tolist()
    carried = order.carry_over(old, new)
    kept = [message for message in shown if message in after]
    assert carried.in_order(new).tolist() == kept + [message for message in after if message not in before]
    assert carried.sorted == len([message for message in shown[: len(places)] if message in after])
    assert [carried.position_of(carried.place_at(position)) for position in range(len(new) + 3)] == [
        *range(len(new) + 3)
    ]


@given(anything, st.sampled_from(["size", "kind", "text"]), st.sampled_from(["", "!answered", "badge || from"]))
def test_what_comes_stands_below_and_moves_nothing(lines: list[dict[str, Any]], name: str, text: str) -> None:
    log = GrowingLog()
    half = len(lines) // 2
    log.write(*lines[:half])
    rows = rows_of(log.document, text)
    sort(rows, name)
    for line in lines[half:]:
        for changes in log.write(line):
            before = rows.in_order().tolist()
            update = rows.prepare(changes)
            rows.apply(update)
            after = rows.in_order().tolist()
            assert sorted(after) == rows.visible.tolist()
            assert [m for m in after if m in before] == [m for m in before if m in after]
            assert not update.appended or after[: len(before)] == before
            assert [rows.row_of(rows.row_at(row)[0]) for row in range(len(rows))] == [*range(len(rows))]
    below = rows.in_order().tolist()[len(rows.visible) - rows.unsorted_count :]
    assert below == sorted(below)
    assert sort(rows, name) == slowly(rows, name, descending=False)
    assert rows.unsorted_count == 0
    clean_up()


@given(
    st.lists(st.text("ab", max_size=2), min_size=1, max_size=8),
    st.lists(st.tuples(st.integers(0, 7), st.integers(1, 3))),
)
def test_rows_and_messages_agree_however_much_is_expanded(said: list[str], expanded: list[tuple[int, int]]) -> None:
    rows = rows_of(texts(*said))
    for message, parts in expanded:
        if message < len(said):
            rows.expand(message, parts)
    order = sort(rows, "text", descending=True)
    expected = [(m, part) for m in order for part in range(rows.part_count(m) + 1)]
    assert [rows.row_at(row) for row in range(len(rows))] == expected
    assert [rows.row_of(*one) for one in expected] == [*range(len(expected))]
    every = np.arange(len(said))
    assert rows.rows_of(every).tolist() == sorted(rows.row_of(m) or 0 for m in range(len(said)))
    clean_up()


def test_numbers_come_before_texts_and_nothing_comes_last() -> None:
    document = texts("b", 10, None, "A", 9, True, ["c"], 2**80)
    assert sort(rows_of(document), "payload.text") == [4, 1, 7, 5, 3, 0, 6, 2]
    assert sort(rows_of(document), "payload.text", descending=True) == [6, 0, 3, 5, 7, 1, 4, 2]


def test_letter_case_does_not_count_and_what_is_equal_stays() -> None:
    document = texts("b", "A", "B", "a")
    assert sort(rows_of(document), "text") == [1, 3, 0, 2]
    assert sort(rows_of(document), "text", descending=True) == [0, 2, 1, 3]


def test_neighbours_go_by_how_the_rows_stand() -> None:
    rows = rows_of(texts("c", "a", "b"))
    sort(rows, "text")
    assert [rows.neighbour_of(1, by) for by in (-1, 0, 1, 2, 3)] == [None, 1, 2, 0, None]
    assert rows.nearest_row(0) == 2
    rows.sort(None)
    assert rows.in_order().tolist() == [0, 1, 2]


def test_another_filter_keeps_the_order_of_what_stays() -> None:
    rows = rows_of(texts("c", "a", "b", "d"), "no != 3")
    assert sort(rows, "text") == [1, 0, 3]
    rows.apply_filter(compile_filter("no != 1"), None)
    assert rows.in_order().tolist() == [1, 3, 2]
    assert rows.unsorted_count == 1


@pytest.mark.parametrize(("name", "said"), [("sise", "size"), ("payload", "payload.text"), ("a == 1", ""), ("", "")])
def test_a_wrong_name_says_which_may_be_meant(name: str, said: str) -> None:
    with pytest.raises(FilterError) as raised:
        field_named(name)
    assert said in str(raised.value)


def test_a_quoted_key_names_a_value() -> None:
    assert field_named('payload.a."odd key"').name == 'payload.a."odd key"'


def test_a_step_is_short_where_records_are_decoded() -> None:
    rows = rows_of(texts(*map(str, range(3000))))
    work = Sorting(rows.analysis, SortBy(field_named("text")), rows.visible)
    fractions = [work.fraction for _ in work.find_order()]
    assert len(fractions) > 3
    assert fractions == sorted(fractions)
    assert fractions[-1] <= 1
