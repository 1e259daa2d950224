"""Which messages are selected, against a plain set, whatever rows are filtered, sorted, appended and selected."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.analysis import AnalysisChanges
from inspector.analysis.passes.changed_rows import NO_ROWS
from inspector.base.slices import run_to_end
from inspector.filters.compile import compile_filter
from inspector.filters.naming import field_named
from inspector.filters.sorting import SortBy, Sorting
from inspector.filters.visible import VisibleRows
from inspector.ui.panels.messages.selection import SelectedMessages
from tests.builders import GrowingLog, envelope

FILTERS = ("", "no > 3", "no <= 4", "no in {2, 3, 7, 9}", 'text contains "a"', "no > 99")
ORDERS = (("", False), ("no", True), ("text", False), ("size", True))
TEXTS = ("a", "bb", "caa", "", "ab" * 9, "zz")


@dataclass
class Plain:
    """The same with sets and lists: what the rows show is given to it, in the order they stand."""

    chosen: set[int] | None = None
    current: int | None = None
    anchor: int | None = None
    standing: list[int] = field(default_factory=list)

    @property
    def several(self) -> bool:
        return bool(self.chosen and self.chosen & set(self.standing))

    @property
    def held(self) -> set[int]:
        """What is kept: hidden ones too where there are several."""
        if self.several:
            return set(self.chosen or ())
        return {self.current} & set(self.standing) if self.current is not None else set()

    @property
    def shown(self) -> list[int]:
        return [message for message in self.standing if message in self.held]

    def click(self, message: int) -> None:
        self.chosen, self.current, self.anchor = None, message, None

    def toggle(self, message: int) -> None:
        alone = not self.several and message == self.current
        self.chosen = self.held if alone else self.held ^ {message}
        self.current = self.anchor = message

    def extend(self, message: int, *, add: bool) -> None:
        if self.anchor not in self.standing:
            self.anchor = self.current if self.current in self.standing else message
        first, last = sorted((self.standing.index(self.anchor or 0), self.standing.index(message)))
        run = set(self.standing[first : last + 1])
        self.chosen = self.held | run if add else run
        if len(run) == 1 and not add:
            self.chosen = None
        self.current = message


class Table:
    """The rows and the selection of a table, and the plain ones beside them."""

    def __init__(self) -> None:
        self.log = GrowingLog()
        self.rows = VisibleRows(self.log.document.analysis)
        self.rows.apply_filter(compile_filter(""), None)
        self.selected = SelectedMessages(self.rows)
        self.plain = Plain()

    def say(self, texts: list[str]) -> None:
        told = self.log.write(*(envelope("chat", {"text": text}) for text in texts))
        for changes in told or [AnalysisChanges(0, 0, NO_ROWS, tree_moved=False)]:
            self.rows.apply(self.rows.prepare(changes))

    def show(self, text: str) -> None:
        self.rows.apply_filter(compile_filter(text), None)

    def sort(self, order: tuple[str, bool]) -> None:
        if not order[0]:
            self.rows.sort(None)
            return
        work = Sorting(self.rows.analysis, SortBy(field_named(order[0]), order[1]), self.rows.visible)
        self.rows.sort(work.by.order, run_to_end(work.find_order()), work.messages)

    def select(self, how: str, place: int) -> None:
        standing = self.rows.in_order().tolist()
        if not standing:
            return
        message, before = standing[place % len(standing)], self.plain.current
        if how == "click":
            self.selected.alone()
            self.plain.click(message)
        elif how == "toggle":
            self.selected.toggle(message, before)
            self.plain.toggle(message)
        elif how == "all":
            self.selected.everything()
            self.plain.chosen = set(standing)
        else:
            self.selected.begin(None, before, add=how == "add")
            self.selected.reach(message)
            self.plain.extend(message, add=how == "add")

    def check(self) -> None:
        self.plain.standing = standing = self.rows.in_order().tolist()
        assert self.selected.several == self.plain.several
        assert self.selected.count == (len(self.plain.shown) if self.plain.several else 0)
        holds = [message for message in standing if self.selected.is_selected(message, self.plain.current)]
        assert holds == self.plain.shown
        if self.plain.several:
            assert self.selected.shown_in_order().tolist() == self.plain.shown
            assert self.selected.shown().tolist() == sorted(self.plain.shown)


steps = st.one_of(
    st.tuples(st.just("say"), st.lists(st.sampled_from(TEXTS), min_size=1, max_size=4)),
    st.tuples(st.just("show"), st.sampled_from(FILTERS)),
    st.tuples(st.just("sort"), st.sampled_from(ORDERS)),
    st.tuples(st.sampled_from(("click", "toggle", "toggle", "extend", "extend", "add", "all")), st.integers(0, 30)),
)


@given(st.lists(steps, min_size=4, max_size=25))
def test_it_is_what_a_plain_set_would_be(told: list[tuple[str, object]]) -> None:
    table = Table()
    table.say(list(TEXTS))
    table.check()
    for how, what in told:
        if isinstance(what, list):
            table.say(what)
        elif isinstance(what, int):
            table.select(how, what)
        elif isinstance(what, str):
            table.show(what)
        elif isinstance(what, tuple):
            table.sort(what)
        table.check()


def table_of(count: int) -> Table:
    table = Table()
    table.say(["a"] * count)
    table.check()
    return table


def test_what_a_filter_hides_does_not_count_until_it_is_shown_again() -> None:
    table = table_of(6)
    table.select("click", 1)
    table.select("extend", 4)
    table.show("no <= 3")
    assert table.selected.shown().tolist() == [1, 2]
    table.show("no > 5")
    assert not table.selected.several
    table.show("")
    assert table.selected.shown().tolist() == [1, 2, 3, 4]


def test_what_comes_is_not_selected() -> None:
    table = table_of(3)
    table.select("all", 0)
    table.say(["b", "c"])
    assert table.selected.shown().tolist() == [0, 1, 2]
    assert not table.selected.is_selected(4, None)


@pytest.mark.parametrize("order", ORDERS)
def test_ranges_go_by_rows_as_they_stand(order: tuple[str, bool]) -> None:
    table = Table()
    table.say(list(TEXTS))
    table.sort(order)
    table.check()
    table.select("click", 1)
    table.select("extend", 3)
    assert table.selected.shown_in_order().tolist() == table.rows.in_order().tolist()[1:4]
