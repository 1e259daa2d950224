"""Ways to a comparison: two runs of a table, two recent logs, the menu of a tab, and the other run beside."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QItemSelectionModel, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from inspector.ui.app.application import Application
from inspector.ui.dialogs.compare_runs import CompareRunsDialog
from inspector.ui.features.run_comparing import differing_folders
from inspector.ui.panels.compare.panel import ComparePanel
from inspector.ui.panels.start.buttons import RecentRow
from inspector.ui.window.main_window import MainWindow
from inspector.ui.window.tabbed_window import _MENU
from tests.changed_runs import Pair, session, write
from tests.ui.find import child
from tests.ui.windows import panes_of, run_in_window, until

CHANGED = Pair("", session(), session(extra=True), "extra", "choice")


def files(folder: Path) -> tuple[Path, Path]:
    one, other = write(folder, CHANGED)
    return one, other


async def compared(application: Application) -> tuple[MainWindow, ComparePanel]:
    """The window that compares, and its comparison."""
    found: list[ComparePanel] = []

    def look() -> bool:
        found[:] = [panel for window in application.windows if window.panes is not None
                    for panel in window.panes.made.values() if isinstance(panel, ComparePanel)]  # fmt: skip
        return any(panel.shown is not None for panel in found)

    await until(look, "the comparison")
    window = next(window for window in application.windows if window.panes and found[0] in window.panes.made.values())
    return window, found[0]


def test_two_recent_logs_chosen_with_ctrl_are_compared(qapp: QApplication, tmp_path: Path) -> None:
    one, other = files(tmp_path)

    async def choose(application: Application) -> None:
        application.settings.recent_files = [str(one), str(other)]
        window = application.new_window()
        rows = window.start_page.findChildren(RecentRow)
        rows = [row for row in rows if row.objectName().startswith("startRecent")]
        QTest.mouseClick(rows[0], Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ControlModifier)
        assert rows[0].accessibleName().endswith(", chosen to compare")
        assert window.start_page._compare.isHidden()
        QTest.keyClick(rows[1], Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
        assert not window.start_page._compare.isHidden()
        window.start_page._compare.click()
        window, panel = await compared(application)
        assert panel.answer.sentence.text().startswith("The runs part at No. 10 of B. The choice of the model: ")
        assert panel.answer.texts[panel.answer.first].text().startswith("only in B: Bash git status")
        assert window.shown.location.opened == one

    run_in_window(qapp, choose)


def test_two_selected_runs_of_a_table_are_compared(qapp: QApplication, tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    folder.mkdir()
    files(folder)

    async def choose(application: Application) -> None:
        window = application.new_window()
        window.opening.open_path(folder, view="runs")
        await until(lambda: window.shown.runs is not None, "the runs")
        assert window.shown.runs is not None
        table = window.shown.runs.table
        flags = QItemSelectionModel.SelectionFlag
        for row in (0, 1):
            table.selectionModel().select(table.model().index(row, 0), flags.Select | flags.Rows)
        actions = {action.text(): action for action in table.menu_for(0).actions()}
        actions["Compare the two runs"].trigger()
        _, panel = await compared(application)
        assert panel.shown is not None
        assert sorted(panel.shown.names) == ["one.jsonl", "other.jsonl"]

    run_in_window(qapp, choose)


def test_the_other_run_opens_at_the_message_and_is_found_again(qapp: QApplication, tmp_path: Path) -> None:
    one, other = files(tmp_path)

    async def choose(application: Application) -> None:
        window = application.new_window()
        window.opening.open_path(one)
        await until(lambda: window.panes is not None and not window.opening.reading, "the log")
        assert "file.compare" in _MENU
        application.settings.recent_files = [str(one), str(other)]
        window.actions_by_id["file.compare"].trigger()
        dialog = child(window, CompareRunsDialog)
        assert [dialog.list.model().index(0, 0).data()] == [f"{tmp_path.name}/other.jsonl"]
        QTest.keyClick(dialog, Qt.Key.Key_Return)
        _, panel = await compared(application)
        place = panel.current
        panel.open_side(place, 1)
        await until(lambda: len(application.windows) == 2, "the other run")
        beside = application.windows[1]
        await until(lambda: beside.panes is not None and not beside.opening.reading, "its log")
        await until(lambda: panes_of(beside).messages.current_message() == 9, "the message")
        panes_of(beside).go_to(0)
        panel.open_side(place, 1)
        await until(lambda: panes_of(beside).messages.current_message() == 9, "the message again")
        assert len(application.windows) == 2

    run_in_window(qapp, choose)


def test_logs_with_equal_titles_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    paths = [tmp_path / where / "runs" / "run.jsonl" for where in ("monday", "tuesday")]
    assert differing_folders(paths) == ["monday/runs", "tuesday/runs"]


def test_the_dialog_names_the_folders_of_logs_with_equal_titles(qapp: QApplication, tmp_path: Path) -> None:
    paths = [tmp_path / where / "runs" / "run.jsonl" for where in ("monday", "tuesday")]
    for path in paths:
        path.parent.mkdir(parents=True)
        path.write_text("{}")

    async def choose(application: Application) -> None:
        window = application.new_window()
        application.settings.recent_files = [str(path) for path in paths]
        window.run_comparing.ask_for_run()
        dialog = child(window, CompareRunsDialog)
        titles = [dialog.list.model().index(row, 0).data() for row in range(2)]
        assert titles == ["runs/run.jsonl in monday/runs", "runs/run.jsonl in tuesday/runs"]

    run_in_window(qapp, choose)
