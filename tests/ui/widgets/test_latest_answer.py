"""The answer to a question that a view keeps current: choices that change, failures, views out of sight."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot
from typing_extensions import override

from inspector.engine.request import Request
from inspector.ui.document_client import DocumentClient
from inspector.ui.widgets.latest_answer import LatestAnswer


class Question(Request[str], frozen=True):
    choice: str


class Sent:
    """A request on its way."""

    def __init__(self, asked: Question, answered: Callable[[str], object], failed: Callable[[str], object]) -> None:
        self.asked, self.answered, self.failed = asked, answered, failed
        self.is_cancelled = False

    def cancel(self) -> None:
        self.is_cancelled = True


class Engine(DocumentClient):
    """Notes requests; the test answers them."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[Sent] = []

    @override
    def send_request(
        self, request: Any, answered: Callable[[Any], object], failed: Callable[[str], object] = lambda _words: None
    ) -> Sent:
        self.sent.append(Sent(request, answered, failed))
        return self.sent[-1]


class View(QWidget):
    """A view of one choice."""

    def __init__(self) -> None:
        super().__init__()
        self.engine, self.choice, self.shown = Engine(), "first", ""
        self.latest = LatestAnswer(
            self, self.engine, lambda: Question(self.choice), self.show_answer, every_ms=lambda: 0
        )

    def show_answer(self, answer: str) -> None:
        self.shown = answer


@pytest.fixture
def view(qtbot: QtBot) -> View:
    view = View()
    qtbot.addWidget(view)
    view.show()
    return view


def test_another_choice_ends_the_question_about_the_one_before(view: View) -> None:
    view.choice = "second"
    view.latest.request_now()
    first, second = view.engine.sent
    assert (first.is_cancelled, second.is_cancelled, second.asked.choice) == (True, False, "second")
    second.answered("2")
    assert (view.shown, view.latest.is_current) == ("2", True)


def test_a_change_meanwhile_is_asked_for_after_the_answer_and_after_a_failure(view: View, qtbot: QtBot) -> None:
    view.engine.changed.emit()
    view.engine.sent[0].answered("old")
    assert not view.latest.is_current
    qtbot.waitUntil(lambda: len(view.engine.sent) == 2)
    view.engine.changed.emit()
    view.engine.sent[1].failed("It cannot be read.")
    qtbot.waitUntil(lambda: len(view.engine.sent) == 3)
    view.engine.sent[2].answered("new")
    assert (view.shown, view.latest.is_current) == ("new", True)


def test_a_failed_question_is_asked_again_after_a_change_or_when_shown(view: View, qtbot: QtBot) -> None:
    view.engine.sent[0].failed("It cannot be read.")
    qtbot.wait(20)
    assert (len(view.engine.sent), view.latest.is_pending, view.latest.is_current) == (1, False, False)
    view.hide()
    view.show()
    assert len(view.engine.sent) == 2
    view.engine.sent[1].failed("It cannot be read.")
    view.engine.changed.emit()
    qtbot.waitUntil(lambda: len(view.engine.sent) == 3)


def test_a_question_asked_while_an_answer_is_shown_can_be_cancelled(view: View) -> None:
    engine, latest = view.engine, view.latest

    def send_at_once(request: Question, answered: Callable[[str], object], failed: Callable[[str], object]) -> Sent:
        sent = Sent(request, answered, failed)
        engine.sent.append(sent)
        if len(engine.sent) == 2:
            latest.answered.connect(lambda _answer: latest.request_now())
            answered("at once")
        return sent

    engine.send_request = send_at_once  # pyright: ignore[reportAttributeAccessIssue] - replaced for this test
    latest.request_now()
    assert len(engine.sent) == 3
    latest.stop()
    assert engine.sent[2].is_cancelled
    engine.changed.emit()
    assert len(engine.sent) == 3


def test_out_of_sight_nothing_is_asked(view: View, qtbot: QtBot) -> None:
    view.hide()
    assert view.engine.sent[0].is_cancelled
    view.engine.changed.emit()
    view.latest.request_now()
    qtbot.wait(20)
    assert len(view.engine.sent) == 1
    view.show()
    assert len(view.engine.sent) == 2
