"""Streams in the window: the switch that is remembered, search that leads to the row, details that grow along."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from inspector.engine.requests.exports import CountExportable
from inspector.ui.app.application import Application
from inspector.ui.panels.details.facts_view import FactsView
from inspector.ui.panels.details.text_block import TextView
from inspector.ui.panels.messages.view_rows import VIEW
from inspector.ui.window.main_window import MainWindow
from tests.builders import GrowingLog, document_of
from tests.streamed import HEAD, asked, chunk, closed, opened, speech
from tests.ui.docview.test_find_in_view import look_for, shown
from tests.ui.find import child
from tests.ui.panels.filtering import follow
from tests.ui.windows import application_of, in_turn, panes_of, window_on

WORDS = "First I will look at the directory."
STREAM = 2
"""The first frame."""


@pytest.fixture
def window(application: Application) -> MainWindow:
    said = [chunk("s", piece) for piece in ("First I will lo", "ok at the dir", "ectory.")]
    return shown(application, document_of(HEAD, asked("r1"), opened("s"), *said, closed("s")))


def text_of(window: MainWindow) -> str:
    return child(window, TextView, "joinedText").toPlainText()


def test_the_switch_is_remembered_and_holds_for_all_windows(application: Application, window: MainWindow) -> None:
    action = window.actions_by_id["view.frames"]
    other = window_on(application, document_of(HEAD, opened("s"), *speech("s", WORDS)))
    assert not action.isChecked()
    action.trigger()
    assert [panes_of(one).messages.model.rowCount() for one in (window, other)] == [6, 10]
    assert action.isChecked()
    assert application_of(window).settings.display.fold_streams is False
    action.trigger()
    assert [panes_of(one).messages.model.rowCount() for one in (window, other)] == [4, 2]


def the_preset_shows_frames_one_by_one(window: MainWindow, qtbot: QtBot) -> None:
    preset = next(one for one in application_of(window).settings.presets if one.name == "Stream frames")
    panes = panes_of(window)
    panes.filter_state.apply_filter(preset.filter)
    assert panes.messages.model.rowCount() == 3
    panes.filter_state.apply_filter("")
    assert panes.messages.model.rowCount() == 4


def counts_are_of_messages(window: MainWindow, qtbot: QtBot) -> None:
    panes = panes_of(window)
    assert panes.counts() == (6, 6)
    panes.filter_state.apply_filter("from == mew")
    assert panes.counts() == (5, 6)


def find_goes_to_the_row(window: MainWindow, qtbot: QtBot) -> None:
    bar = look_for(window, "the directory")
    qtbot.waitUntil(lambda: bar.words in ("1 found", "1 of 1"))
    QTest.keyClick(window, Qt.Key.Key_F3)
    assert panes_of(window).messages.current_message() == STREAM


def a_text_filter_leads_to_the_row(window: MainWindow, qtbot: QtBot) -> None:
    panes = panes_of(window)
    panes.filter_state.apply_filter('text contains "directory"')
    assert panes.messages.model.rowCount() == 1
    assert panes.messages.model.content(3).text == WORDS


def details_say_the_joined_text_and_list_the_frames(window: MainWindow, qtbot: QtBot) -> None:
    panes = panes_of(window)
    panes.go_to(STREAM)
    assert text_of(window) == WORDS
    frames = child(window, FactsView, "frames")
    assert frames.model().rowCount() == 3
    panes.go_to(STREAM + 1)  # a frame in the row of its stream: its own page
    assert panes.messages.current_message() == STREAM
    assert panes.details.message == STREAM + 1


def test_details_grow_along(application: Application, qtbot: QtBot) -> None:
    log = GrowingLog()
    log.write(HEAD, asked("r1"), opened("s"), *speech("s", WORDS)[:-1])
    window = shown(application, log.document)
    panes = panes_of(window)
    panes.go_to(STREAM)
    panes.messages.toggle_original()
    before = text_of(window)
    for n in range(3):
        for changes in log.write(*(chunk("s", f"{n}-{m} ") for m in range(100))):
            follow(panes.messages, changes)
            panes.client.changed.emit()
    qtbot.waitUntil(lambda: panes.details.latest.is_current)
    assert panes.messages.current_message() == STREAM
    assert text_of(window).startswith(before)
    assert text_of(window).rstrip().endswith("2-99")
    assert np.asarray(panes.messages.selected_messages()).tolist() in ([], [STREAM])


def test_export_of_what_is_selected_has_every_frame(window: MainWindow) -> None:
    counts = panes_of(window).client.answer_now(CountExportable(VIEW, np.array([STREAM], np.uint32)))
    assert counts.selected == 3


def begun_again(window: MainWindow) -> None:
    """Everything is shown."""
    panes_of(window).filter_state.clear()


test_a_folded_stream_is_counted_found_and_read = in_turn([
    the_preset_shows_frames_one_by_one, counts_are_of_messages, find_goes_to_the_row,
    a_text_filter_leads_to_the_row, details_say_the_joined_text_and_list_the_frames,
], begun_again)  # fmt: skip
