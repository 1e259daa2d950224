"""Tokens fill in behind a window: in the table, the tree, the details and filters; as the settings want it."""

from __future__ import annotations

import multiprocessing
import os
import signal
from types import SimpleNamespace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox
from pytestqt.qtbot import QtBot

from inspector.analysis.passes.tokens import token_counting as analysis_counting
from inspector.document.document import CaptureDocument
from inspector.filters.search import Search
from inspector.tokens.worker import CountingProcess
from inspector.ui import budgets
from inspector.ui.app.application import Application
from inspector.ui.dialogs.settings_dialog import SettingsDialog
from inspector.ui.features import token_counting
from inspector.ui.panels.details.facts_view import FactsView
from inspector.ui.window.main_window import MainWindow
from tests.builders import GrowingLog, envelope, received
from tests.ui.budgeting import set_budgets
from tests.ui.waiting import pass_time
from tests.ui.windows import panes_of, story, window_on

pytestmark = pytest.mark.real


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch, no_hurry: None) -> None:
    set_budgets(monkeypatch, counting_start_ms=1)


def counted(qtbot: QtBot, window: MainWindow) -> CaptureDocument:
    document = window.document
    qtbot.waitUntil(lambda: document.analysis.tokens.done)
    window.document.notify_counted()
    panes_of(window).bridge.flush()
    return document


def facts_of(window: MainWindow) -> dict[str, str]:
    views = panes_of(window).details.findChildren(FactsView)
    return {row.name: row.value for view in views if view.isVisible() for row in view.rows}


def test_nothing_is_counted_while_the_user_waits_for_a_search(
    application: Application, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as held:
        held.setattr(Search, "step", lambda _search, _until: False)
        set_budgets(held, counting_start_ms=1, rest_s=3_600.0)
        window = window_on(application, story())
        panes_of(window).filter_state.apply_filter('"slow"')
        pass_time(3 * budgets.current.background_ms)
        assert window.document.analysis.tokens.counted == 0
    counted(qtbot, window)


def test_a_search_that_never_ends_does_not_keep_it_waiting_for_ever(
    application: Application, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Search, "step", lambda _search, _until: False)
    set_budgets(monkeypatch, rest_s=0.0)
    window = window_on(application, story())
    panes_of(window).filter_state.apply_filter('"slow"')
    counted(qtbot, window)
    assert panes_of(window).awaited


def test_every_view_shows_them(application: Application, qtbot: QtBot) -> None:
    window = window_on(application, story())
    panes = panes_of(window)
    window.show()
    panes.go_to(3)
    document = counted(qtbot, window)
    tokens = document.analysis.tokens
    own = int(tokens.columns["tokens"][3])
    qtbot.waitUntil(lambda: facts_of(window).get("Tokens", "").endswith("estimate (cl100k_base)"))
    model = panes.contexts.model
    panes.contexts.tokens_action.trigger()
    sums = tokens.node_sums()
    assert [model.token_count(row) for row in range(len(model.rows))] == [
        tokens.total, sums.main[model.space(0)], tokens.total - sums.main[model.space(0)],
    ]  # fmt: skip
    assert f"{tokens.total:,} tokens, estimate" in model.describe(0)
    assert panes.contexts.grab().toImage().width()
    panes.filter_state.apply_filter(f"tokens == {own}")
    assert 3 in panes.rows.visible
    panes.go_to(5)
    qtbot.waitUntil(lambda: "Tokens" in facts_of(window))
    cost = int(tokens.columns["tokens"][5])
    assert facts_of(window)["Tokens"] == f"{cost} tokens, estimate (cl100k_base)"


def test_the_column_is_off_at_first_and_right_aligned(application: Application, qtbot: QtBot) -> None:
    window = window_on(application, story())
    model = panes_of(window).messages.model
    assert model.columns.named("tokens") is None
    application.settings.table.columns = model.columns.with_field("tokens")
    window.apply_settings()
    column = model.columns.named("tokens")
    assert column is not None
    assert model.is_right_aligned(column)
    document = counted(qtbot, window)
    shown = model.data(model.index(1, column), Qt.ItemDataRole.DisplayRole)
    assert shown == str(document.analysis.tokens.columns["tokens"][1])


def test_it_goes_on_as_messages_come(application: Application, qtbot: QtBot) -> None:
    log = GrowingLog()
    log.write(received(envelope("chat", {"text": "one two"})))
    window = window_on(application, log.document)
    counted(qtbot, window)
    log.write(received(envelope("chat", {"text": "three"})))
    panes_of(window).bridge.flush()
    counted(qtbot, window)
    assert log.document.analysis.tokens.total == 3


def test_it_waits_while_very_many_messages_come(
    application: Application, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr(token_counting, "FLOOD", 1)
    monkeypatch.setattr(token_counting, "time", SimpleNamespace(monotonic=lambda: now))
    log = GrowingLog()
    window = window_on(application, log.document)
    now += 1.1
    log.write(*(received(envelope("chat", {"text": "one two"})) for _ in range(50)))
    panes_of(window).bridge.flush()
    qtbot.wait(100)
    assert window.counting.active
    assert not log.document.counting.pids
    now += 1.1  # nothing came for a second
    counted(qtbot, window)
    assert log.document.analysis.tokens.total == 100


def test_a_process_that_has_nothing_to_do_is_ended(
    application: Application, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_budgets(monkeypatch, counter_idle_s=0.0)
    window = window_on(application, story())
    counted(qtbot, window)
    qtbot.waitUntil(lambda: not window.document.counting.pids)
    assert not window.counting.active


def test_the_setting_turns_it_off(application: Application, qtbot: QtBot) -> None:
    application.settings.display.count_tokens = False
    window = window_on(application, story())
    qtbot.wait(100)
    assert not window.document.counting.pids
    assert "Tokens" not in facts_of(window)
    assert not panes_of(window).contexts.tokens_action.isEnabled()
    window.settings_editing.open()
    dialog = window.findChild(SettingsDialog)
    assert dialog is not None
    box = dialog.findChild(QCheckBox, "settingsTokens")
    assert box is not None
    assert not box.isChecked()
    box.click()
    assert panes_of(window).contexts.tokens_action.isEnabled()
    counted(qtbot, window)
    assert application.settings.display.count_tokens
    box.click()
    assert not window.document.counting.pids
    assert window.document.analysis.tokens.done  # what was counted stays
    dialog.close()


def test_closing_ends_the_process(application: Application, qtbot: QtBot) -> None:
    window = window_on(application, story())
    document = window.document
    qtbot.waitUntil(lambda: bool(document.counting.pids))
    (pid,) = document.counting.pids
    window.close()

    def is_gone() -> bool:
        multiprocessing.active_children()  # takes leave of those that ended
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        return False

    qtbot.waitUntil(is_gone)


class Stopped(CountingProcess):
    """One that brings nothing back: another may have counted all there is before it is killed."""

    def __init__(self) -> None:
        super().__init__()
        assert self.pid is not None
        os.kill(self.pid, signal.SIGSTOP)


def test_it_is_said_once_when_it_is_given_up(
    application: Application, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(analysis_counting, "CountingProcess", Stopped)
    window = window_on(application, story())
    counting_ = window.document.counting
    for _ in range(3):
        qtbot.waitUntil(lambda: bool(counting_.pids))
        (killed,) = counting_.pids
        os.kill(killed, signal.SIGKILL)
        qtbot.waitUntil(lambda killed=killed: killed not in counting_.pids)
    qtbot.waitUntil(lambda: window.notices.notice("tokens-given-up") is not None)


def test_the_status_bar_says_how_far_it_is(application: Application) -> None:
    window = window_on(application, story())
    window.status.set_counting(0.456)
    assert "counting tokens 45 %" in window.status.words()
    window.status.set_counting(None)
    assert not any("counting" in words for words in window.status.words())
