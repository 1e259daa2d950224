"""Contents and highlights of rows while answers are on their way."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from typing_extensions import override

from inspector.engine.document_state import DocumentState
from inspector.engine.requests.rows import Look, Looks, MessageRows, RowContent
from inspector.settings import HighlightRule
from inspector.ui.document_client import DocumentClient
from inspector.ui.panels.messages.row_cache import PLAIN_LOOK, LookCache, RowCache

ROSE, TEAL = Look("rose", None, ("old",)), Look("teal", None, ("new",))


class Engine(DocumentClient):
    """Notes requests with the functions for their answers, and the messages of cancelled ones."""

    def __init__(self) -> None:
        super().__init__()
        self.cancelled: list[tuple[int, ...]] = []
        self.sent: list[tuple[tuple[int, ...], Callable[[Any], object], Callable[[str], object]]] = []

    @override
    def send_request(
        self, request: Any, answered: Callable[[Any], object], failed: Callable[[str], object] = lambda _words: None
    ) -> Any:
        self.sent.append((request.messages, answered, failed))
        return SimpleNamespace(cancel=lambda: self.cancelled.append(request.messages))

    @property
    @override
    def state(self) -> DocumentState:
        return DocumentState()

    def answer_rows(self, place: int, text: str) -> None:
        messages, answered, _ = self.sent[place]
        answered([RowContent(message, text) for message in messages])

    def answer_looks(self, place: int, look: Look) -> None:
        messages, answered, _ = self.sent[place]
        answered(Looks([look] * len(messages), False, False))


@pytest.fixture
def engine(qapp: object) -> Engine:
    return Engine()


def test_a_row_that_changes_while_it_is_first_made_is_asked_for_again(engine: Engine) -> None:
    rows = RowCache(engine, MessageRows, engine)
    rows.prepare((1, 2))
    assert 1 not in rows
    rows.invalidate([1])
    engine.answer_rows(0, "old")
    assert rows.content(2).number == "old"
    assert rows.content(1).number == "old"  # until the new one arrives
    assert [messages for messages, *_ in engine.sent] == [(1, 2), (1,)]
    engine.answer_rows(1, "new")
    assert rows.content(1).number == "new"
    assert rows.prepare((1, 2))


def test_failed_rows_are_asked_for_when_they_are_painted_again(engine: Engine) -> None:
    rows = RowCache(engine, MessageRows, engine)
    rows.prepare((1,))
    engine.sent[0][2]("It cannot be read.")
    assert rows.content(1).number == "2"
    assert len(engine.sent) == 2


def _show(rows: RowCache, first: int, engine: Engine, *, count: int = 1_000_000) -> list[int]:
    """Paints 26 rows of a table in which row and message are equal; returns the rows that were not there yet."""
    shown = range(first, first + 26)
    rows.prepare(shown)
    missing = [row for row in shown if row not in rows]
    rows.prefetch(shown.start, shown.stop - 1, count, lambda row: row)
    return missing


def _answer_all(engine: Engine) -> None:
    for messages, answered, _ in engine.sent:
        if messages not in engine.cancelled:
            answered([RowContent(message, "") for message in messages])
    engine.sent.clear()


@pytest.mark.parametrize(("step", "most"), [(3, 35), (-3, 35), (25, 55), (-25, 55), (1, 15)])
def test_rows_are_there_before_the_user_scrolls_to_them(engine: Engine, step: int, most: int) -> None:
    rows, requests = RowCache(engine, MessageRows, engine), 0
    repaints: list[object] = []
    _show(rows, 500_000, engine)
    _answer_all(engine)
    rows.arrived.connect(lambda: repaints.append(None))
    for place in range(1, 101):
        assert _show(rows, 500_000 + place * step, engine) == []
        requests += len(engine.sent)
        _answer_all(engine)
    assert requests <= most
    assert repaints == [], "rows off the screen need no repaint"


def test_a_jump_cancels_requests_for_rows_that_are_out_of_sight(engine: Engine) -> None:
    rows = RowCache(engine, MessageRows, engine)
    _show(rows, 0, engine)
    assert [messages for messages, *_ in engine.sent] == [tuple(range(26)), tuple(range(26, 52))]
    _show(rows, 400_000, engine)
    assert engine.cancelled == [tuple(range(26)), tuple(range(26, 52))]
    assert len(_show(rows, 0, engine)) == 26, "they are asked for again"
    assert engine.sent[-2][0] == tuple(range(26))


def test_no_row_is_asked_for_beyond_the_ends(engine: Engine) -> None:
    rows = RowCache(engine, MessageRows, engine)
    _show(rows, 0, engine, count=30)
    _show(rows, 4, engine, count=30)
    assert sorted(message for messages, *_ in engine.sent for message in messages) == list(range(30))


def test_failed_highlights_are_asked_for_again(engine: Engine) -> None:
    looks = LookCache(engine, engine)
    looks.set_rules([HighlightRule(name="chat", filter='kind == "chat"')])
    looks.prepare((1, 2))
    engine.sent[0][2]("It cannot be read.")
    looks.prepare((1, 2))
    engine.answer_looks(1, TEAL)
    assert looks.cached_look(1) == TEAL


def test_a_highlight_on_its_way_is_dropped_if_its_message_changes(engine: Engine) -> None:
    looks = LookCache(engine, engine)
    looks.set_rules([HighlightRule(name="chat", filter='kind == "chat"')])
    looks.prepare((1, 2))
    looks.on_changes([1], tree_moved=False)
    looks.prepare((1, 2))
    assert [messages for messages, *_ in engine.sent] == [(1, 2), (1,)]
    engine.answer_looks(0, ROSE)
    assert (looks.cached_look(1), looks.cached_look(2)) == (PLAIN_LOOK, ROSE)
    engine.answer_looks(1, TEAL)
    assert (looks.cached_look(1), looks.cached_look(2)) == (TEAL, ROSE)


def test_highlights_of_other_rules_are_dropped(engine: Engine) -> None:
    looks = LookCache(engine, engine)
    looks.set_rules([HighlightRule(name="chat", filter='kind == "chat"')])
    looks.prepare((1,))
    looks.set_rules([HighlightRule(name="error", filter="error")])
    engine.answer_looks(0, ROSE)
    assert looks.cached_look(1) == PLAIN_LOOK
    looks.prepare((1,))
    engine.answer_looks(1, TEAL)
    assert looks.cached_look(1) == TEAL


def test_a_failed_row_names_the_call_that_put_it_right(engine: Engine) -> None:
    rows = RowCache(engine, MessageRows, engine)
    rows.prepare((1, 2))
    failed, fine = RowContent(1, "2", error=True), RowContent(2, "3")
    engine.sent[0][1]([failed, fine])
    assert [messages for messages, *_ in engine.sent] == [(1, 2), (1,)]
    engine.sent[1][1]({1: 6})
    assert (rows.content(1).aside, rows.content(2).aside) == ("fixed by No. 7", "")
