"""Sessions that lie in several files: chosen together, or with their folder, they are one document."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest
import shiboken6
from PySide6.QtWidgets import QApplication, QFileDialog

from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.filters.visible import Scope
from inspector.msp.document import SessionDocument
from inspector.ui.app.application import Application
from inspector.ui.widgets.buttons import LinkButton
from inspector.ui.widgets.scope_chip import PathLabel
from inspector.ui.widgets.status_button import StatusButton
from inspector.ui.window.main_window import MainWindow
from tests.ui.features.test_window_restoring import log_of, read
from tests.ui.find import child
from tests.ui.msp.sessions import sessions_of
from tests.ui.windows import ask_engine, numbers, panes_of, run_in_window, state_of, until

SESSION = {"session_id": "m1", "created_at": "2026-01-05T09:00:00Z", "subsessions": ["s1"], "messages": []}
SUBSESSION = {"subsession_id": "s1", "parent_session_id": "m1", "label": "units", "status": "open", "messages": []}


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    made = []
    for name, value in (("a.json", SESSION), ("b.json", SUBSESSION)):
        (tmp_path / "chat").mkdir(exist_ok=True)
        (tmp_path / "chat" / name).write_text(json.dumps(value), encoding="utf-8")
        made.append(str(tmp_path / "chat" / name))
    return made


def test_files_chosen_together_are_one_document_and_a_log_among_them_another(
    qapp: QApplication, files: list[str], tmp_path: Path
) -> None:
    log = log_of(tmp_path, count=20)

    async def whole(application: Application) -> None:
        window = application.new_window()
        window.opening.open_paths([files[0], str(log), files[1]])
        await until(lambda: len(application.windows) == 2, "a second window")
        for one in application.windows:
            await read(one)
        msp = ask_engine(application.windows[0], sessions_of)
        assert ([sub.label for sub in msp.subsessions], msp.problems) == (["units"], [])
        assert not state_of(application.windows[1]).is_sessions

    run_in_window(qapp, whole)


def test_a_session_opened_by_its_file_alone_offers_its_sub_agents(qapp: QApplication) -> None:
    orders = Path(__file__).parents[2] / "data" / "transcripts" / "orders"
    (session,) = orders.glob("*.jsonl")

    async def whole(application: Application) -> None:
        window = application.new_window()
        window.opening.open_path(session)
        await read(window)
        await until(lambda: window.notices.notice("subAgentsNotOpened") is not None, "the offer")
        notice = window.notices.notice("subAgentsNotOpened")
        assert notice is not None
        assert notice.text == "This session has sub-agents in 3 files that are not open."
        panes_of(window).filter_state.apply_filter('kind == "chat"')
        panes_of(window).go_to(int(panes_of(window).rows.visible[1]))
        before = window.document.capture.records.envelope(panes_of(window).messages.current_message() or 0)
        assert state_of(window).messages == 131
        child(notice, LinkButton, "notice_subAgentsNotOpenedLink0").click()
        await until(lambda: state_of(window).messages == 148, "the session with its sub-agents")
        assert application.windows == [window], "in place"
        panes = panes_of(window)
        assert panes.filter_state.stack.text == 'kind == "chat"'
        assert window.document.capture.records.envelope(panes.messages.current_message() or 0) == before
        assert window.notices.keys() == []
        assert window.shown.location.is_session
        (space,) = ask_engine(window, lambda document: [one for one in document.analysis.contexts.spaces if one])
        panes.filter_state.set_scope(Scope(space, None))
        assert child(window.view_head, PathLabel).text == "Rounding of order totals"

    run_in_window(qapp, whole)


def test_a_folder_is_asked_for(qapp: QApplication, files: list[str]) -> None:
    async def whole(application: Application) -> None:
        window = application.new_window()
        window.actions_by_id["file.open_folder"].trigger()
        dialog = child(window, QFileDialog, "openFolderDialog")
        assert dialog.fileMode() is QFileDialog.FileMode.Directory
        dialog.close()
        dialog.filesSelected.emit([str(Path(files[0]).parent)])
        await read(window)
        msp = ask_engine(window, sessions_of)
        assert [sub.label for sub in msp.subsessions] == ["units"]

    run_in_window(qapp, whole)


def test_tree_table_and_status_bar_count_the_same_messages(qapp: QApplication) -> None:
    sample = Path(__file__).parents[2] / "data" / "msp" / "weekly-report.json"

    def words(window: MainWindow) -> tuple[str, str]:
        status = child(window, StatusButton, "statusCounts").accessibleName()
        return status, window.filter_bar.counts_text()

    async def whole(application: Application) -> None:
        window = application.new_window()
        window.opening.open_path(sample)
        await read(window)
        panes = panes_of(window)
        assert words(window)[0] == "44 messages"
        assert panes.counts() == (44, 44)
        (space,) = ask_engine(window, lambda document: list(document.analysis.contexts.spaces))
        panes.filter_state.set_scope(Scope(space, MAIN))
        await until(lambda: panes.counts() == (23, 44), "main alone")
        assert words(window)[0] == "44 messages, 23 shown"
        assert len(numbers(window)) == 30  # what tells of sessions is listed all the same

    run_in_window(qapp, whole)


@pytest.mark.in_process("holds up reading by an event")
def test_sessions_whose_reading_is_cancelled_before_there_is_anything_leave_the_start_page(
    qapp: QApplication, files: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    free, read_whole = threading.Event(), SessionDocument.read

    def slowly(paths: Sequence[Path]) -> SessionDocument:
        assert free.wait(60)
        return read_whole(paths)

    monkeypatch.setattr(SessionDocument, "read", slowly)

    async def whole(application: Application) -> None:
        window = application.new_window()
        window.opening.open_paths(files[:1])
        await until(window.opening.cancel_reading, "something to cancel")
        await until(lambda: not window.opening.reading, "it to end")
        assert window.panes is None
        notice = window.notices.notice("message")
        assert notice is not None
        assert notice.text == "Opening a.json was cancelled."
        free.set()
        window.opening.open_paths(files[:1])
        await read(window)
        assert state_of(window).is_sessions

    run_in_window(qapp, whole)


@pytest.mark.parametrize(("ask", "name"), [("ask_for_files", "openDialog"), ("ask_for_folder", "openFolderDialog")])
def test_the_dialogs_begin_at_the_last_file_and_at_home_once_it_is_gone(
    qapp: QApplication, tmp_path: Path, ask: str, name: str
) -> None:
    (tmp_path / "logs").mkdir()

    async def whole(application: Application) -> None:
        window = application.new_window()
        for folder, shown in ((tmp_path / "logs", tmp_path / "logs"), (tmp_path / "gone", Path.home())):
            application.settings.recent_files = [str(folder / "a.jsonl")]
            getattr(window.opening, ask)()
            dialog = child(window, QFileDialog, name)
            assert Path(dialog.directory().absolutePath()) == shown
            shiboken6.delete(dialog)

    run_in_window(qapp, whole)
