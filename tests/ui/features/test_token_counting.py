"""Tokens fill in behind a window: in the table, the tree, the details and filters; as the settings want it."""

from __future__ import annotations

import multiprocessing
import os
import signal
from typing import Any, NamedTuple

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox
from pytestqt.qtbot import QtBot

from inspector.base.workers.pool import WorkerPool
from inspector.document.document import CaptureDocument
from inspector.engine import idle_work
from inspector.tokens import worker
from inspector.ui.app.application import Application
from inspector.ui.dialogs.settings_dialog import SettingsDialog
from inspector.ui.panels.details.facts_view import FactsView
from inspector.ui.window.main_window import MainWindow
from tests.builders import GrowingLog, envelope, received
from tests.ui.engines import patch_engine
from tests.ui.windows import ask_engine, panes_of, story, window_on

pytestmark = pytest.mark.real


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch, window_settings: None) -> None:
    patch_engine(monkeypatch, idle_work, "START_S", 0.0)
    patch_engine(monkeypatch, worker, "_NICE", 0)  # a busy machine would never run it


class Counts(NamedTuple):
    """Tokens in the engine: of each message, of all, and of a space's main context and its others."""

    of_messages: list[int]
    total: int
    main: dict[int, int]


def counts_of(document: CaptureDocument) -> Counts:
    tokens = document.analysis.tokens
    return Counts(tokens.columns["tokens"].tolist(), tokens.total, dict(tokens.node_sums().main))


def is_counted(window: MainWindow) -> bool:
    return ask_engine(window, lambda document: document.analysis.tokens.done)


def counting_pids(window: MainWindow) -> list[int]:
    return ask_engine(window, lambda document: list(document.counting.pids))


def counted(qtbot: QtBot, window: MainWindow) -> Counts:
    qtbot.waitUntil(lambda: is_counted(window))
    ask_engine(window, CaptureDocument.notify_counted)
    panes_of(window).bridge.flush()
    return ask_engine(window, counts_of)


class Clock(NamedTuple):
    """A stopped clock in the place of the module `time`."""

    now: float

    def monotonic(self) -> float:
        return self.now


_start = WorkerPool.start


def start_and_stop(pool: WorkerPool[Any], most: int | None = None) -> None:
    """Starts a process that returns no counts: another may have counted all messages before it is killed."""
    _start(pool, most)
    for pid in pool.pids:
        os.kill(pid, signal.SIGSTOP)


def facts_of(window: MainWindow) -> dict[str, str]:
    views = panes_of(window).details.findChildren(FactsView)
    return {row.name: row.value for view in views if view.isVisible() for row in view.rows}


def test_every_view_shows_them(application: Application, qtbot: QtBot) -> None:
    window = window_on(application, story())
    panes = panes_of(window)
    window.show()
    panes.go_to(3)
    counts = counted(qtbot, window)
    own = counts.of_messages[3]
    qtbot.waitUntil(lambda: facts_of(window).get("Tokens", "").endswith("estimate (cl100k_base)"))
    model = panes.contexts.model
    panes.contexts.tokens_action.trigger()
    main = counts.main[model.space(0)]
    assert [model.token_count(row) for row in range(len(model.rows))] == [counts.total, main, counts.total - main]
    assert f"{counts.total:,} tokens, estimate" in model.describe(0)
    assert panes.contexts.grab().toImage().width()
    panes.filter_state.apply_filter(f"tokens == {own}")
    assert 3 in panes.rows.visible
    panes.go_to(5)
    qtbot.waitUntil(lambda: "Tokens" in facts_of(window))
    assert facts_of(window)["Tokens"] == f"{counts.of_messages[5]} tokens, estimate (cl100k_base)"


def test_the_column_is_off_at_first_and_right_aligned(application: Application, qtbot: QtBot) -> None:
    window = window_on(application, story())
    model = panes_of(window).messages.model
    assert model.columns.named("tokens") is None
    application.settings.table.columns = model.columns.with_field("tokens")
    window.apply_settings()
    column = model.columns.named("tokens")
    assert column is not None
    assert model.is_right_aligned(column)
    counts = counted(qtbot, window)
    index = model.index(1, column)
    qtbot.waitUntil(lambda: index.data(Qt.ItemDataRole.DisplayRole) == str(counts.of_messages[1]))


def test_it_goes_on_as_messages_come(application: Application, qtbot: QtBot) -> None:
    log = GrowingLog()
    log.write(received(envelope("chat", {"text": "one two"})))
    window = window_on(application, log.document)
    counted(qtbot, window)
    log.write(received(envelope("chat", {"text": "three"})))
    panes_of(window).bridge.flush()
    assert counted(qtbot, window).total == 3


def test_it_waits_while_very_many_messages_come(
    application: Application, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    patch_engine(monkeypatch, idle_work, "FLOOD", 1)
    patch_engine(monkeypatch, idle_work, "time", Clock(100.0))
    log = GrowingLog()
    window = window_on(application, log.document)
    patch_engine(monkeypatch, idle_work, "time", Clock(101.1))
    log.write(*(received(envelope("chat", {"text": "one two"})) for _ in range(50)))
    panes_of(window).bridge.flush()
    qtbot.wait(100)
    assert panes_of(window).client.state.uncounted
    assert not counting_pids(window)
    patch_engine(monkeypatch, idle_work, "time", Clock(102.2))  # no message arrived for a second
    assert counted(qtbot, window).total == 100


def test_a_process_that_has_nothing_to_do_is_ended(
    application: Application, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    patch_engine(monkeypatch, idle_work, "COUNTER_IDLE_S", 0.0)
    window = window_on(application, story())
    counted(qtbot, window)
    qtbot.waitUntil(lambda: not counting_pids(window))


def test_the_setting_turns_it_off(application: Application, qtbot: QtBot) -> None:
    application.settings.display.count_tokens = False
    window = window_on(application, story())
    qtbot.wait(100)
    assert not counting_pids(window)
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
    assert not counting_pids(window)
    assert is_counted(window), "existing counts stay"
    dialog.close()


def test_closing_ends_the_process(application: Application, qtbot: QtBot) -> None:
    window = window_on(application, story())
    qtbot.waitUntil(lambda: bool(counting_pids(window)))
    (pid,) = counting_pids(window)
    window.close()

    def is_gone() -> bool:
        multiprocessing.active_children()  # takes leave of those that ended
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        return False

    qtbot.waitUntil(is_gone)


def test_it_is_said_once_when_it_is_given_up(
    application: Application, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    patch_engine(monkeypatch, WorkerPool, "start", start_and_stop)
    window = window_on(application, story())
    for _ in range(3):
        qtbot.waitUntil(lambda: bool(counting_pids(window)))
        (killed,) = counting_pids(window)
        os.kill(killed, signal.SIGKILL)
        qtbot.waitUntil(lambda killed=killed: killed not in counting_pids(window))
    qtbot.waitUntil(lambda: window.notices.notice("tokens-given-up") is not None)


def test_the_status_bar_says_how_far_it_is(application: Application) -> None:
    window = window_on(application, story())
    window.status.set_counting(0.456)
    assert "counting tokens 45 %" in window.status.words()
    window.status.set_counting(None)
    assert not any("counting" in words for words in window.status.words())
