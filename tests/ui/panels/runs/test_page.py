"""A survey in a window: runs by figure, filtered as messages are, each opened at the message behind a figure."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from inspector.base.targets import FolderView, folder_target
from inspector.survey.folder import SurveyFolder, query_rows
from inspector.survey.one_run import SurveyOptions, survey_run
from inspector.survey.run_places import find_runs
from inspector.survey.runs import SurveyRuns
from inspector.ui.app.application import Application
from inspector.ui.docview.panel import MESSAGES, OVERVIEW
from inspector.ui.look.theme import ThemeSetting
from inspector.ui.panels.overview.panel import OverviewPanel
from inspector.ui.panels.overview.word_link import WordLink
from inspector.ui.panels.runs.page import RunsPage
from inspector.ui.panels.runs.table import Column
from inspector.ui.widgets.buttons import LinkButton
from inspector.ui.widgets.filter_completions import FilterCompletions
from inspector.ui.widgets.filter_editor import FilterEditor
from inspector.ui.widgets.notice import MESSAGE
from inspector.ui.window.main_window import MainWindow
from tests.builders import envelope, lines_of, tool_call, tool_result
from tests.findings import at
from tests.ui.windows import panes_of, run_in_window, until


def write(path: Path, tool: str, *, fails: bool = False, hours: int = 0) -> None:
    call, early = tool_call(tool, ts=at(3_600 * hours)), envelope(ts=at(3_600 * hours))
    answer = tool_result(call, "no", result={"isError": fails}, ts=at(3_600 * hours + 1))
    path.write_bytes(lines_of(early, call, answer, *(envelope(ts=at(3_600 * hours + 2)) for _ in range(3 * hours))))


@pytest.fixture(scope="module")
def survey(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("night")
    write(path / "a.jsonl", "grep")
    write(path / "b.jsonl", "write_file", fails=True, hours=1)
    write(path / "c.jsonl", "write_file", hours=2)
    (path / "empty.jsonl").touch()
    folder = SurveyFolder(path / "survey")
    for place in find_runs([str(path)], path / "survey"):
        folder.add(survey_run(place, SurveyOptions()))
    folder.finish()
    folder.close()
    return path / "survey"


def shown(page: RunsPage, column: Column = Column.PATH) -> list[str]:
    return [page.model.text(one, column) for one in page.model.rows]


def page_of(window: MainWindow) -> RunsPage:
    assert window.shown.runs is not None
    return window.shown.runs


def test_a_survey_opens_as_its_runs_and_a_run_at_what_failed(qapp: QApplication, survey: Path) -> None:
    async def steps(application: Application) -> None:
        window = application.new_window()
        window.show()
        window.opening.open_path(survey)
        await until(lambda: window.shown.runs is not None, "the survey")
        page = page_of(window)
        assert shown(page) == ["c.jsonl", "b.jsonl", "a.jsonl"], "the last one first"
        assert shown(page, Column.FAILED) == ["0", "1", "0"]
        assert page.head.count().endswith(" · 1 log could not be surveyed")
        assert [(one.name, one.count, one.failed, one.runs) for one in page.tools.table.rows] == [
            ("write_file", 2, 1, 2), ("grep", 1, 0, 1),
        ]  # fmt: skip
        assert len(page.trends.trends) == 4
        heads = page.table.horizontalHeader()
        page.table.resize(560, 300)
        assert heads.sectionSize(Column.PATH) >= page.table.least_name
        assert page.table.isColumnHidden(Column.MODELS)
        assert not page.table.isColumnHidden(Column.FAILED)
        assert not page.table.isColumnHidden(Column.STARTED), "the rows are sorted by it"
        at = QPoint(heads.sectionViewportPosition(Column.FAILED) + 10, 5)
        QTest.mouseClick(heads.viewport(), Qt.MouseButton.LeftButton, pos=at)
        assert shown(page)[0] == "b.jsonl", "the worst first"
        page.table.sortByColumn(Column.MESSAGES, Qt.SortOrder.AscendingOrder)
        assert shown(page) == ["a.jsonl", "b.jsonl", "c.jsonl"]
        page.apply_filter('failed_calls > 0 && tool like "write*"')
        assert (shown(page), page.bar.counts_text()) == (["b.jsonl"], "1 of 3")
        page.apply_filter("nonsense >")
        assert page.bar.error() is not None
        assert shown(page) == ["b.jsonl"], "what was in force stays"
        page.apply_filter('"b"')
        error = page.bar.error()
        assert error is not None
        assert error.replacement == 'path contains "b"'
        page.tools.enter_row(page.tools.table.row_of(hash("write_file")))
        assert shown(page) == ["b.jsonl", "c.jsonl"], "all that called it"
        window.actions_by_id["edit.clear_filter"].trigger()
        assert len(shown(page)) == 3
        called = 'tool == "write_file"'
        for action, text in (("undo", called), ("redo", ""), ("undo", called)):
            window.actions_by_id[f"edit.{action}"].trigger()
            assert (page.filter, page.bar.text()) == (text, text)
        QApplication.clipboard().clear()
        window.actions_by_id["edit.copy_sql"].trigger()
        assert QApplication.clipboard().text() == "list_contains(tools, 'write_file')"
        page.table.setCurrentIndex(page.model.index(1, Column.PATH))
        page.apply_filter("messages > 0")
        for action, text, row in (("back", called, 1), ("forward", "messages > 0", 2), ("back", called, 1)):
            window.actions_by_id[f"go.{action}"].trigger()
            assert (page.filter, page.table.currentIndex().row()) == (text, row)
        assert [Path(one).name for one in application.settings.recent_files] == ["survey"]
        page.table.setFocus()
        for area in (page.findings, page.tools, page.bar, page.table):
            window.actions_by_id["go.pane_next"].trigger()
            focus = QApplication.focusWidget()
            assert focus is not None
            assert area is focus or area.isAncestorOf(focus)
        window.actions_by_id["edit.filter"].trigger()
        editor = page.bar.findChild(FilterEditor)
        assert editor is not None
        QTest.keyClicks(editor, "tool == ")
        assert [one.labels() for one in window.findChildren(FilterCompletions) if one.isVisible()] == [
            ["write_file", "grep"]
        ]
        QTest.keyClick(editor, Qt.Key.Key_Tab)
        QTest.keyClick(editor, Qt.Key.Key_Escape)
        page.table.setCurrentIndex(page.model.index(0, Column.FAILED))
        page.table.enter_row(0)
        await until(lambda: len(application.windows) == 2 and application.windows[1].panes is not None, "the run")
        other = application.windows[1]
        await until(lambda: panes_of(other).messages.current_message() == 1, "the call that failed")
        assert window.is_in_use
        window.opening.open_path(survey.parent / "a.jsonl")
        await until(lambda: len(application.windows) == 3, "a log beside the survey")

    run_in_window(qapp, steps)


_FILTERS = (
    'tool == "write_file"', 'tool like "write*" && failed_calls > 0', 'model == "m"', '!(tool == "grep")',
    'finding == "failed-call" || !finding', "finding", 'path contains "b."', "cost", "messages in {3, 9}",
    'first > "2026-01-05T09:30:00Z"', "duration <= 2.5",
)  # fmt: skip


def test_filters_of_runs_choose_as_their_conditions_of_sql_do(survey: Path) -> None:
    runs = SurveyRuns(survey)
    chosen = {
        text: {runs.value(at, "run") for at in runs.matching_places(runs.compile(text)).tolist()} for text in _FILTERS
    }
    conditions = ", ".join(f"list(run) FILTER ({runs.condition(text)})" for text in _FILTERS)
    ((*found,),) = query_rows(survey, f"SELECT {conditions} FROM runs")
    assert {text: set(runs or ()) for text, runs in zip(_FILTERS, found, strict=True)} == chosen


def test_a_survey_that_was_open_is_open_again_as_it_was(qapp: QApplication, survey: Path) -> None:
    async def first(application: Application) -> None:
        application.keep_last_open()
        window = application.new_window()
        window.opening.open_path(survey)
        await until(lambda: window.shown.runs is not None, "the survey")
        page_of(window).bar.applied.emit("messages > 3")
        page_of(window).table.sortByColumn(Column.MESSAGES, Qt.SortOrder.AscendingOrder)
        await application.quit()

    async def second(application: Application) -> None:
        application.keep_last_open()
        assert application.last_open is not None
        assert application.last_open.open_before()
        window = application.windows[0]
        await until(lambda: window.shown.runs is not None, "the survey")
        page = page_of(window)
        assert (page.filter, page.bar.text(), shown(page)) == ("messages > 3",) * 2 + (["b.jsonl", "c.jsonl"],)
        assert page.order == ("messages", False)
        assert not window.undo_history.present, "nobody did anything yet"

    run_in_window(qapp, first)
    run_in_window(qapp, second)


@pytest.mark.parametrize("view", ["runs", "document"])
def test_a_folder_of_logs_is_open_again_in_its_form(qapp: QApplication, tmp_path: Path, view: FolderView) -> None:
    for number in range(12):
        write(tmp_path / f"{number}.jsonl", "grep", hours=number)

    async def is_shown(window: MainWindow) -> None:
        if view == "runs":
            await until(lambda: window.shown.runs is not None, "the runs")
        else:
            await until(lambda: window.panes is not None and not window.opening.reading, "the document")

    async def first(application: Application) -> None:
        application.keep_last_open()
        window = application.new_window()
        window.opening.open_target(folder_target(tmp_path, view))
        await is_shown(window)
        if view == "runs":
            page_of(window).bar.applied.emit('path contains "1.jsonl"')
        await application.quit()

    async def second(application: Application) -> None:
        application.settings.start.log_folders = "runs" if view == "document" else "document"
        application.keep_last_open()
        assert application.last_open is not None
        assert application.last_open.open_before()
        window = application.windows[0]
        await is_shown(window)
        if view == "runs":
            assert (page_of(window).filter, len(shown(page_of(window)))) == ('path contains "1.jsonl"', 2)

    run_in_window(qapp, first)
    run_in_window(qapp, second)


def test_figures_of_a_folder_appear_while_its_logs_are_read(qapp: QApplication, tmp_path: Path) -> None:
    for number in range(12):
        write(tmp_path / f"{number}.jsonl", "grep" if number else "write_file", fails=number == 3, hours=number)
    (tmp_path / "empty.jsonl").touch()

    async def steps(application: Application) -> None:
        window = application.new_window()
        window.show()
        window.opening.open_target(folder_target(tmp_path, "runs"))
        await until(lambda: window.shown.runs is not None, "the runs")
        page = page_of(window)
        assert page.table.isColumnHidden(Column.CALLS), "nothing is known yet"
        page.table.setCurrentIndex(page.model.index(2, Column.PATH))
        current = page.model.rows[2]
        page.bar.applied.emit('path contains "jsonl"')
        await until(lambda: not page.runs.unread, "the figures")
        assert set(shown(page, Column.CALLS)) == {"1", ""}
        assert not page.table.isColumnHidden(Column.CALLS)
        assert (page.filter, page.model.rows[page.table.currentIndex().row()]) == ('path contains "jsonl"', current)
        assert "1 log could not be read" in page.head.count()
        assert "reading" not in page.head.count()
        assert [(one.name, one.count, one.failed) for one in page.tools.table.rows] == [
            ("grep", 11, 1), ("write_file", 1, 0),
        ]  # fmt: skip
        page.apply_filter("failed_calls > 0")
        assert shown(page) == ["3.jsonl"]

    run_in_window(qapp, steps)


def test_a_window_that_closes_stops_reading_figures(qapp: QApplication, tmp_path: Path) -> None:
    for number in range(40):
        write(tmp_path / f"{number}.jsonl", "grep", hours=number)

    async def steps(application: Application) -> None:
        window, other = application.new_window(), application.new_window()
        window.opening.open_target(folder_target(tmp_path, "runs"))
        await until(lambda: window.shown.runs is not None, "the runs")
        page = page_of(window)
        assert page.runs.unread
        window.close()
        await until(lambda: application.windows == [other], "the end of the window")
        await until(lambda: not any("open" in task.get_name() for task in application.tasks), "the end of reading")
        assert page.runs.unread

    run_in_window(qapp, steps)


def test_what_is_no_survey_has_a_sentence(qapp: QApplication, tmp_path: Path) -> None:
    (tmp_path / "runs.parquet").write_text("no parquet")

    async def steps(application: Application) -> None:
        window = application.new_window()
        window.show()
        window.opening.open_path(tmp_path)
        await until(lambda: window.notices.notice(MESSAGE) is not None, "the sentence")
        notice = window.notices.notice(MESSAGE)
        assert notice is not None
        assert "cannot be read" in notice.text
        assert not window.is_in_use

    run_in_window(qapp, steps)


def test_a_file_of_runs_opens_as_its_runs_and_enter_opens_one(qapp: QApplication, tmp_path: Path) -> None:
    prompt = {"role": "user", "content": "One rye."}
    runs = [
        {"task_id": one, "reward": float(one), "info": {}, "traj": [prompt] * (one + 1), "trial": 0} for one in (0, 1)
    ]
    runs.append({"task_id": 2, "reward": 0.0, "info": {"error": "no flour"}, "traj": [], "trial": 0})
    path = tmp_path / "results.json"
    path.write_text(json.dumps(runs))

    async def steps(application: Application) -> None:
        window = application.new_window()
        window.show()
        window.opening.open_path(path)
        await until(lambda: window.shown.runs is not None, "the runs")
        page = page_of(window)
        assert sorted(shown(page)) == ["0-0", "1-0", "2-0"]
        page.sort_by("score", descending=True)
        assert shown(page, Column.SCORE) == ["1", "0", "0"]
        assert shown(page)[0] == "1-0"
        assert sorted(shown(page, Column.TASK)) == ["0", "1", "2"]
        page.apply_filter("run.error contains flour")
        assert shown(page, Column.ERROR) == ["no flour"]
        page.apply_filter("run.passed")
        page.table.setCurrentIndex(page.model.index(0, Column.PATH))
        QTest.keyClick(page.table, Qt.Key.Key_Return)
        await until(lambda: len(application.windows) == 2 and application.windows[1].panes is not None, "the run")
        panes = panes_of(application.windows[1])
        await until(lambda: panes.client.state.messages == 4, "its messages")

    run_in_window(qapp, steps)


def test_the_runs_of_a_file_are_counted_by_outcome_and_read_on_request(qapp: QApplication, tmp_path: Path) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "sell", "arguments": "{}"}}
    path = tmp_path / "results.json"
    path.write_text(json.dumps([
        {"task_id": task, "reward": reward, "info": info, "trial": 0, "traj": [
            {"role": "user", "content": "One rye."}, {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c", "name": "sell", "content": "sold"}]}
        for task, (reward, info) in enumerate(((1.0, {}), (0.0, {}), (0.0, {"error": "no flour"}), (None, {})))
    ]))  # fmt: skip

    async def steps(application: Application) -> None:
        window = application.new_window()
        window.show()
        window.opening.open_path(path)
        await until(lambda: window.shown.runs is not None, "the runs")
        page = page_of(window)
        assert page.head.count() == "4 · 1 solved · 1 not solved · 1 failed · 1 not graded"
        assert page.table.isColumnHidden(Column.CALLS)
        assert page.read.isVisible()
        assert page.tools.empty_text == "Not read yet. Choose \u201cRead all runs\u201d above the table."
        page.read.click()
        await until(lambda: not page.runs.unread, "the figures")
        assert set(shown(page, Column.CALLS)) == {"1"}
        assert [(one.name, one.count) for one in page.tools.table.rows] == [("sell", 4)]
        assert not page.read.isVisible()
        page.apply_filter("!passed && !error")
        assert page.head.count().startswith("2 · 1 not solved · 1 not graded")

    run_in_window(qapp, steps)


def test_the_runs_of_a_file_are_compared_in_one_document(qapp: QApplication, tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    runs = [
        {"task_id": "rye", "trial": trial, "reward": trial % 2, "info": {}, "traj": [
            {"role": "assistant", "content": None, "tool_calls": [
                {"id": "c", "type": "function", "function": {"name": name, "arguments": "{}"}}]},
            {"role": "tool", "tool_call_id": "c", "name": name, "content": "done"}]}
        for trial, name in enumerate(("look", "sell", "look", "sell"))
    ]  # fmt: skip
    path.write_text(json.dumps(runs), "utf-8")

    def tree(window: MainWindow) -> list[str]:
        panel = window.center.view(OVERVIEW)
        cards = panel.page.cards if isinstance(panel, OverviewPanel) else []
        return next((view.card.texts for view in cards if view.card.id == "run_tree"), [])

    async def steps(application: Application) -> None:
        window = application.new_window()
        window.opening.open_path(path)
        await until(lambda: window.shown.runs is not None, "the runs")
        link = page_of(window).findChild(LinkButton, "runsTogether")
        assert isinstance(link, LinkButton)
        link.click()
        await until(lambda: len(application.windows) == 2 and application.windows[1].panes is not None, "the document")
        other = application.windows[1]
        other.center.show_view(OVERVIEW)
        await until(lambda: tree(other), "the tree")
        assert "2 runs 2 not solved" in " ".join(tree(other))
        panel = other.center.view(OVERVIEW)
        assert isinstance(panel, OverviewPanel)
        step = next(one for one in panel.findChildren(WordLink) if one.words.text.strip() == "sell")
        step.click()
        await until(lambda: other.center.current == MESSAGES, "the messages")

    run_in_window(qapp, steps)


_THEMES: tuple[ThemeSetting, ...] = ("light", "dark")


def test_the_filter_field_lies_on_the_surface_of_tool_bars_in_both_themes(qapp: QApplication, survey: Path) -> None:
    async def steps(application: Application) -> None:
        window = application.new_window()
        window.show()
        window.opening.open_path(survey)
        await until(lambda: window.shown.runs is not None, "the survey")
        page = page_of(window)

        def is_on_chrome() -> bool:
            pixel = page.grab().toImage().pixelColor(5, page.bar.geometry().center().y())
            return pixel == window.theme.theme.color("surface.chrome")

        for theme in _THEMES:
            window.theme.set_setting(theme)
            await until(is_on_chrome, f"the strip in {theme}")

    run_in_window(qapp, steps)


def test_runs_that_only_failed_are_counted(qapp: QApplication, tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text(json.dumps([
        {"task_id": task, "reward": None, "info": {"error": "no flour"}, "trial": 0,
         "traj": [{"role": "user", "content": "One rye."}]} for task in range(2)
    ]))  # fmt: skip

    async def steps(application: Application) -> None:
        window = application.new_window()
        window.show()
        window.opening.open_path(path)
        await until(lambda: window.shown.runs is not None, "the runs")
        assert page_of(window).head.count() == "2 \u00b7 2 failed"

    run_in_window(qapp, steps)
