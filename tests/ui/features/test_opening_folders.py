"""Folders with many logs: one document or a table of runs, asked once and remembered."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton

from inspector.base.targets import folder_target
from inspector.survey.folder_runs import MANY
from inspector.ui.app.application import Application
from inspector.ui.dialogs.message_dialog import MessageDialog
from inspector.ui.dialogs.settings_dialog import SettingsDialog
from inspector.ui.panels.runs.table import Column
from inspector.ui.widgets.segmented import SegmentButton
from inspector.ui.window.main_window import MainWindow
from tests.ui.find import child
from tests.ui.windows import panes_of, run_in_window, until

SAMPLE = Path(__file__).parents[3] / "inspector" / "formats" / "claude_code" / "samples" / "claude-code.jsonl"
TITLE = "Why does the total of an order differ from its lines?"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "-home-kim-shop"
    folder.mkdir()
    text = SAMPLE.read_text()
    for number in range(MANY):
        name = f"5f0c3a52-8d17-4a0e-9b3e-6f2f1f6f0a{number:02}"
        (folder / f"{name}.jsonl").write_text(text.replace("5f0c3a52-8d17-4a0e-9b3e-6f2f1f6f0a01", name))
    return folder


@pytest.fixture
def few(project: Path) -> Path:
    folder = project.parent / "few"
    folder.mkdir()
    for one in sorted(project.iterdir())[:2]:
        shutil.copy(one, folder)
    return folder


async def question(window: MainWindow) -> MessageDialog:
    await until(lambda: window.findChild(MessageDialog) is not None, "the question")
    dialog = window.findChild(MessageDialog)
    assert dialog is not None
    return dialog


def press(dialog: MessageDialog, words: str) -> None:
    [button] = [one for one in dialog.findChildren(QPushButton) if one.text().replace("&", "") == words]
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def test_the_choice_of_runs_is_asked_once_and_enter_opens_a_session(qapp: QApplication, project: Path) -> None:
    async def steps(application: Application) -> None:
        window = application.new_window()
        window.show()
        window.opening.open_paths([str(project)])
        press(await question(window), "Table of runs")
        await until(lambda: window.shown.runs is not None, "the runs")
        page = window.shown.runs
        assert page is not None
        assert [page.model.text(one, Column.PATH) for one in page.model.rows] == [TITLE] * MANY
        assert page.head.count().startswith(f"{MANY} ")
        page.table.setCurrentIndex(page.model.index(2, Column.PATH))
        QTest.keyClick(page.table, Qt.Key.Key_Return)
        await until(lambda: len(application.windows) == 2 and application.windows[1].panes is not None, "the session")
        assert application.windows[1].shown.location.is_session
        assert application.settings.start.session_folders == "runs"
        again = application.new_window()
        again.opening.open_paths([str(project)])
        await until(lambda: again.shown.runs is not None, "the runs, without a question")

    run_in_window(qapp, steps)


def test_the_choice_of_one_document_is_remembered_and_the_settings_change_it(qapp: QApplication, project: Path) -> None:
    async def steps(application: Application) -> None:
        window = application.new_window()
        window.show()
        window.opening.open_paths([str(project)])
        press(await question(window), "One document")
        await until(lambda: window.panes is not None, "the document")
        await until(lambda: len(panes_of(window).client.state.sources) == MANY, "its sessions")
        window.actions_by_id["file.preferences"].trigger()
        dialog = window.findChild(SettingsDialog)
        assert dialog is not None
        assert child(dialog, SegmentButton, "settings_session_folders_document").isChecked()
        QTest.mouseClick(child(dialog, SegmentButton, "settings_session_folders_ask"), Qt.MouseButton.LeftButton)
        assert application.settings.start.session_folders == "ask"

    run_in_window(qapp, steps)


def test_a_cancelled_question_leaves_the_start_page_and_remembers_nothing(qapp: QApplication, project: Path) -> None:
    async def steps(application: Application) -> None:
        window = application.new_window()
        window.show()
        window.opening.open_paths([str(project)])
        press(await question(window), "Cancel")
        await until(lambda: not window.is_in_use, "the start page")
        assert application.settings.start.session_folders == "ask"

    run_in_window(qapp, steps)


def test_a_stated_form_and_a_small_folder_ask_nothing(qapp: QApplication, project: Path, few: Path) -> None:
    async def steps(application: Application) -> None:
        runs, document, small = (application.new_window() for _ in range(3))
        runs.opening.open_target(folder_target(project, "runs"))
        await until(lambda: runs.shown.runs is not None, "the runs")
        document.opening.open_target(folder_target(project, "document"))
        await until(lambda: document.panes is not None, "the document")
        small.opening.open_paths([str(few)])
        await until(lambda: small.panes is not None, "the small folder")
        assert application.settings.start.session_folders == "ask"

    run_in_window(qapp, steps)
