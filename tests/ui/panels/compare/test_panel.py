"""The comparison with another run as the user meets it: chooser, answer, lanes, folds, keys."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from inspector.engine.requests.run_comparisons import CompareRuns, DescribeComparedRows, DifferenceClass
from inspector.ui.app.application import Application
from inspector.ui.dialogs.compare_runs import CompareRunsDialog
from inspector.ui.panels.compare.panel import ComparePanel
from inspector.ui.window.main_window import MainWindow
from tests.builders import document_at
from tests.changed_runs import Pair, session, write
from tests.ui.find import child
from tests.ui.held_requests import hold_requests
from tests.ui.slow_answers import answer_slowly
from tests.ui.windows import panes_of, window_on

CHANGED = Pair(
    "a result, and the next call", session(), session(read="def parse(): x", edit="return 2"), "arguments", "result"
)  # fmt: skip


def window_beside(application: Application, folder: Path, pair: Pair = CHANGED) -> tuple[MainWindow, Path]:
    """A window on the first run of a pair; the second one was opened lately."""
    one, other = write(folder, pair)
    application.settings.recent_files = [str(other)]
    window = window_on(application, document_at(one))
    window.show()
    return window, other


def choose(window: MainWindow, ignore: str = "") -> ComparePanel:
    """Chooses the first run of the list by keys."""
    window.actions_by_id["file.compare"].trigger()
    dialog = child(window, CompareRunsDialog)
    dialog.ignore.setText(ignore)
    QTest.keyClick(dialog, Qt.Key.Key_Return)
    panel = panes_of(window).made["compare"]
    assert isinstance(panel, ComparePanel)
    return panel


def compared(
    application: Application, folder: Path, qtbot: QtBot, pair: Pair = CHANGED
) -> tuple[MainWindow, ComparePanel]:
    window, _ = window_beside(application, folder, pair)
    panel = choose(window)
    qtbot.waitUntil(lambda: panel.shown is not None)
    settle(panel, qtbot)
    return window, panel


def settle(panel: ComparePanel, qtbot: QtBot) -> None:
    QApplication.processEvents()
    qtbot.waitUntil(lambda: all(panel.model.spec(row).text for row in range(panel.model.rowCount())))


def lines(panel: ComparePanel) -> list[str]:
    return [panel.model.spec(row).text for row in range(panel.model.rowCount())]


def current(panel: ComparePanel) -> str:
    return panel.model.spec(panel.view.row).text


def test_the_answer_and_both_lanes_show_where_the_runs_part(
    application: Application, tmp_path: Path, qtbot: QtBot
) -> None:
    window, panel = compared(application, tmp_path, qtbot)
    assert window.view_head.tabs.words()[-1] == "Compare"
    assert panel.answer.sentence.text() == (
        "The runs part at No. 10 of A and No. 10 of B, after another result at No. 9 of A and No. 9 of B"
    )
    assert panel.answer.texts[panel.answer.first].text().startswith("Edit: new_string")
    assert [panel.answer.first.label, panel.answer.cause.label] == [
        "First different act: other arguments, No. 10 of A, No. 10 of B", "Cause: other result, No. 9 of A, No. 9 of B",
    ]  # fmt: skip
    assert lines(panel)[0] == "3 equal steps"
    assert current(panel).startswith("Edit: new_string ")
    assert panel.model.spec(panel.view.row).spoken == (
        "first different act, other arguments, A number 10: Edit  new_string: return 1, "
        "B number 10: Edit  new_string: return 2"
    )
    panel.answer.cause.click()
    assert current(panel).startswith("result of Read a.py offset=1:")


def test_an_act_in_the_place_of_another_is_not_called_only_in_one_run(
    application: Application, tmp_path: Path, qtbot: QtBot
) -> None:
    pair = Pair("another tool", session(), session(tool="Replace"), "missing", "choice")
    _, panel = compared(application, tmp_path, qtbot, pair)
    assert panel.answer.first.label == "First different act: No. 10 of A, No. 10 of B"
    assert panel.answer.texts[panel.answer.first].text().startswith("A: Edit ")


def test_a_folded_stretch_opens_and_folds_with_enter(application: Application, tmp_path: Path, qtbot: QtBot) -> None:
    _, panel = compared(application, tmp_path, qtbot)
    panel.view.setFocus()
    before = lines(panel)
    QTest.keyClick(panel.view, Qt.Key.Key_Home)
    QTest.keyClick(panel.view, Qt.Key.Key_Return)
    settle(panel, qtbot)
    assert lines(panel)[:3] == ["3 equal steps", "Fix the parser.", "I read first."]
    QTest.keyClick(panel.view, Qt.Key.Key_Return)
    assert lines(panel) == before


def test_a_log_that_cannot_be_read_is_reported_in_a_sentence(
    application: Application, tmp_path: Path, qtbot: QtBot
) -> None:
    window, other = window_beside(application, tmp_path)
    other.write_bytes(b"\x00\x01\x02")
    panel = choose(window)
    qtbot.waitUntil(lambda: not panel.is_busy)
    assert other.name in panel.waiting.state.text()
    assert panel.waiting.choose_button.isVisible()


def test_a_comparison_is_cancelled(
    application: Application, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    window, _ = window_beside(application, tmp_path)
    answer_slowly(monkeypatch, panes_of(window).client)
    release = hold_requests(monkeypatch, CompareRuns)
    panel = choose(window)
    assert panel.is_busy
    qtbot.mouseClick(panel.waiting.cancel_button, Qt.MouseButton.LeftButton)
    assert panel.waiting.state.text() == "The comparison was cancelled."
    release()
    assert panel.shown is None


def test_ignored_fields_do_not_count(application: Application, tmp_path: Path, qtbot: QtBot) -> None:
    window, _ = window_beside(application, tmp_path, Pair("", session(), session(seed=2), "", ""))
    panel = choose(window, "seed")
    qtbot.waitUntil(lambda: panel.shown is not None)
    assert panel.answer.sentence.text() == "The runs do the same."
    assert panel.answer.first.isHidden()


def test_keys_go_through_the_differences_and_open_them_in_place(
    application: Application, tmp_path: Path, qtbot: QtBot
) -> None:
    window, panel = compared(application, tmp_path, qtbot)
    panel.view.setFocus()
    window.activateWindow()
    QTest.keyClick(panel.view, Qt.Key.Key_K)
    qtbot.waitUntil(lambda: current(panel).startswith("result of Read a.py"))
    qtbot.waitUntil(lambda: "def parse(): pass" in lines(panel))
    row = lines(panel).index("def parse(): pass")
    assert panel.model.spec(row).spoken == "changed, A: def parse(): pass, B: def parse(): x"
    QTest.keyClick(panel.view, Qt.Key.Key_J)
    qtbot.waitUntil(lambda: current(panel).startswith("Edit: new_string"))
    QTest.keyClick(panel.view, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: "new_string: return 1" not in lines(panel))


def test_a_chip_shows_one_class_alone(application: Application, tmp_path: Path, qtbot: QtBot) -> None:
    _, panel = compared(application, tmp_path, qtbot)
    chips = {chip.text(): chip for chip in panel.bar.chips.values() if chip.isVisible()}
    assert list(chips) == ["other arguments 1", "other result 1"]
    chips["other result 1"].click()
    settle(panel, qtbot)
    assert lines(panel)[-1] == "1 other difference, 8 equal steps"
    chips["other result 1"].click()
    settle(panel, qtbot)
    assert lines(panel)[-1] == "6 equal steps"


def test_a_and_b_are_swapped(application: Application, tmp_path: Path, qtbot: QtBot) -> None:
    pair = Pair("", session(), session(extra=True), "", "")
    _, panel = compared(application, tmp_path, qtbot, pair)
    assert "only in B: Bash git status" in lines(panel)
    panel.bar.swap_requested.emit()
    qtbot.waitUntil(
        lambda: not panel.is_busy and panel.shown is not None and "only in A" in panel.shown.verdict.sentence
    )
    settle(panel, qtbot)
    assert "only in A: Bash git status" in lines(panel)


def test_figures_have_a_b_and_delta(application: Application, tmp_path: Path, qtbot: QtBot) -> None:
    _, panel = compared(application, tmp_path, qtbot, Pair("", session(), session(extra=True), "", ""))
    figures = {name: values for name, *values in panel.figures.rows}
    assert figures["Messages"] == ["20", "22", "+2"]
    assert figures["Calls"] == ["7", "8", "+1"]
    assert figures["Changed files"] == ["2", "2", "="]
    assert figures["Time"] == ["19.0 s", "21.0 s", "+2.0 s"]


def test_both_contexts_before_a_step_show_what_one_model_received(
    application: Application, tmp_path: Path, qtbot: QtBot
) -> None:
    _, panel = compared(application, tmp_path, qtbot)
    panel.bar.contexts.click()
    qtbot.waitUntil(lambda: panel.contexts.shown is not None)
    model = panel.contexts.model
    qtbot.waitUntil(lambda: all(model.spec(row).text for row in range(model.rowCount())))
    assert [model.spec(row).text for row in range(model.rowCount())] == ["8 equal messages", "def parse(): pass"]
    assert model.spec(1).spoken == "other result, A number 9: def parse(): pass, B number 9: def parse(): x"


def test_the_message_opens_in_the_document_of_either_run(
    application: Application, tmp_path: Path, qtbot: QtBot
) -> None:
    window, panel = compared(application, tmp_path, qtbot)
    menu = panel.menu_for(panel.view.row)
    by_title = {action.text(): action for action in menu.actions()}
    other: list[int] = []
    panel.other_requested.disconnect()  # else it opens another window
    panel.other_requested.connect(other.append)
    by_title["Open A here"].trigger()
    assert window.center.current == "messages"
    assert panes_of(window).messages.current_message() == 9
    by_title["Open B here"].trigger()
    assert other == [9]


def test_the_report_is_one_page(application: Application, tmp_path: Path, qtbot: QtBot) -> None:
    _, panel = compared(application, tmp_path, qtbot)
    target = tmp_path / "comparison.html"
    panel.write_report(target)
    qtbot.waitUntil(target.exists)
    page = target.read_text(encoding="utf-8")
    assert "The runs part at No. 10 of A" in page
    assert "<script" not in page
    panel.write_report(tmp_path / "nowhere" / "comparison.html")
    qtbot.waitUntil(lambda: panel.notices.notice("message") is not None)


def test_a_lost_message_is_no_step_of_one_run_alone(application: Application, tmp_path: Path, qtbot: QtBot) -> None:
    _, panel = compared(application, tmp_path, qtbot, Pair("", session(), session(lost=True), "", ""))
    spoken = [panel.model.spec(row).spoken for row in range(panel.model.rowCount())]
    assert any(text.startswith("first difference, lost message, A number 4") for text in spoken)
    assert panel.bar.chips[DifferenceClass.MISSING].text() == "only in A 1"


def test_secrets_are_masked_in_the_lanes_and_below_them(application: Application, tmp_path: Path, qtbot: QtBot) -> None:
    runs = [session(edit=f"password=hunter2secret {n}", read=f"password=hunter2secret {n}") for n in range(2)]
    _, panel = compared(application, tmp_path, qtbot, Pair("", runs[0], runs[1], "", ""))
    panel.step_difference(-1)
    qtbot.waitUntil(lambda: len(panel.rows.places_with_lines) == 2)
    settle(panel, qtbot)
    rows = [panel.model.spec(row) for row in range(panel.model.rowCount())]
    assert any("new_string" in row.text for row in rows)
    texts = [label.text() for label in (panel.answer.sentence, *panel.answer.texts.values())]
    assert "hunter2" not in repr((rows, texts))


def test_a_cancelled_swap_leaves_the_shown_comparison_as_it_was(
    application: Application, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    window, panel = compared(application, tmp_path, qtbot)
    answer_slowly(monkeypatch, panes_of(window).client)
    release = hold_requests(monkeypatch, CompareRuns)
    panel.swap()
    panel.cancel()
    release()
    own: list[int] = []
    panel.message_requested.connect(own.append)
    panel.open_side(panel.current, 0)
    assert own == [9]


def test_another_run_shows_no_text_of_the_one_before(
    application: Application, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    window, panel = compared(application, tmp_path, qtbot, Pair("", session(), session(extra=True), "", ""))
    first = panel.shown
    assert "only in B: Bash git status" in lines(panel)
    answer_slowly(monkeypatch, panes_of(window).client)
    release = hold_requests(monkeypatch, DescribeComparedRows)
    panel.swap()
    qtbot.waitUntil(lambda: panel.shown is not first)
    assert "only in B: Bash git status" not in lines(panel)
    release()
