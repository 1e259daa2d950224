"""Marks as they are kept while the user works: after a failed write, undone and done again, after a rename."""

from __future__ import annotations

import asyncio
import json
import shutil
import time
from pathlib import Path

import pytest
from PySide6.QtWidgets import QAbstractButton, QApplication, QFileDialog, QLineEdit
from shiboken6 import isValid

from inspector.analysis.passes.user_marks import Note
from inspector.document.document import CaptureDocument
from inspector.document.marks_file import MarksFile, Snapshot, beside_capture, places
from inspector.engine.requests.marks import WriteMarks
from inspector.ui.app.application import Application
from inspector.ui.dialogs.export import ExportDialog
from inspector.ui.features import marking
from inspector.ui.window.main_window import MainWindow
from tests.builders import envelope, lines_of
from tests.ui.engines import WaitingClient, patch_engine
from tests.ui.find import child
from tests.ui.local_client import LocalClient
from tests.ui.waiting import time_passes
from tests.ui.windows import ask_engine, run_in_window, until, write_comment

pytestmark = pytest.mark.trouble

PLAIN = [envelope("chat", {"text": f"m{number}"}) for number in range(6)]


def log(path: Path) -> Path:
    path.write_bytes(lines_of(*PLAIN))
    return path


async def opened(application: Application, path: Path) -> MainWindow:
    window = application.new_window()
    window.opening.open_path(path)
    await until(lambda: window.panes is not None and not window.opening.reading, "the log")
    return window


def notes(window: MainWindow) -> dict[int, Note]:
    def notes_of(document: CaptureDocument) -> dict[int, Note]:
        marks = document.analysis.marks
        return {row + 1: marks.note(row) for row in marks.rows.tolist()}

    return ask_engine(window, notes_of)


def on_disk(path: Path) -> list[int]:
    file = beside_capture(path)
    return [entry["no"] for entry in json.loads(file.read_bytes())["messages"]] if file.exists() else []


def note_call(file: Path) -> None:
    with file.open("ab") as opened_file:
        opened_file.write(b"x")


def calls(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0


def said(window: MainWindow, name: str) -> str:
    notice = window.notices.notice(name)
    return notice.text if notice is not None else ""


@pytest.mark.parametrize("reason", ["No space left on device", "Permission denied"])
def test_a_full_disk_loses_nothing_and_is_tried_again(
    qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reason: str
) -> None:
    path = log(tmp_path / "log.jsonl")

    # Files, since the engine may be another process: a byte for each call.
    refused, written = tmp_path / "refused", tmp_path / "written"

    def refuse(_place: Path, _data: bytes) -> None:
        note_call(refused)
        raise OSError(28, reason)

    def note_write(file: MarksFile, snapshot: Snapshot) -> None:
        write(file, snapshot)
        note_call(written)

    monkeypatch.setattr(marking, "RETRY_MS", 20)
    write = MarksFile.write
    patch_engine(monkeypatch, MarksFile, "write", note_write)

    async def steps(application: Application) -> None:
        window = await opened(application, path)
        with monkeypatch.context() as patch:
            patch_engine(patch, places, "replace_whole", refuse)
            window.marking.toggle(1)
            write_comment(window, 2, "Here it began")
            await until(lambda: said(window, "marks-not-saved"), "the sentence")
            assert reason in said(window, "marks-not-saved")
            assert notes(window) == {2: Note(True), 3: Note(comment="Here it began")}
            window.actions_by_id["edit.undo"].trigger()
            assert notes(window) == {2: Note(True)}
            window.actions_by_id["edit.redo"].trigger()
            assert notes(window) == {2: Note(True), 3: Note(comment="Here it began")}
            tries = calls(refused)
            await until(lambda: calls(refused) > tries + 2, "further tries")
        assert on_disk(path) == []
        await until(lambda: on_disk(path) == [2, 3], "the marks")
        await until(lambda: not said(window, "marks-not-saved"), "no sentence any more")
        await time_passes(3 * marking.RETRY_MS)
        assert calls(written) == 1, "it is not tried any more"

    run_in_window(qapp, steps)


@pytest.mark.parametrize("fails", [False, True])
def test_a_window_that_is_closed_while_marks_are_written_is_not_told(
    qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    path = log(tmp_path / "log.jsonl")
    begun, go_on, ended = (tmp_path / name for name in ("begun", "go-on", "ended"))
    write = MarksFile.write

    def slowly(file: MarksFile, snapshot: Snapshot) -> None:
        begun.touch()
        until_s = time.monotonic() + 60
        while not go_on.exists() and time.monotonic() < until_s:  # the engine ends, also after a killed run
            time.sleep(0.005)
        try:
            if fails:
                raise OSError(28, "No space left on device")
            write(file, snapshot)
        finally:
            ended.touch()

    async def steps(application: Application) -> None:
        window = await opened(application, path)
        failed: list[object] = []
        asyncio.get_running_loop().set_exception_handler(lambda _loop, context: failed.append(context))
        patch_engine(monkeypatch, MarksFile, "write", slowly)
        monkeypatch.setattr(LocalClient, "waits_for_threads", False)
        monkeypatch.setattr(WaitingClient, "not_awaited", (WriteMarks,))
        window.marking.toggle(1)
        await until(begun.exists, "the write")
        window.close()
        await until(lambda: not isValid(window), "the window's end")
        go_on.touch()
        await until(ended.exists, "the end of the write")
        assert not failed
        assert on_disk(path) == ([] if fails else [2])

    run_in_window(qapp, steps)


def test_undo_and_redo_reach_the_file(qapp: QApplication, tmp_path: Path) -> None:
    path = log(tmp_path / "log.jsonl")

    async def steps(application: Application) -> None:
        window = await opened(application, path)
        undo, redo = window.actions_by_id["edit.undo"], window.actions_by_id["edit.redo"]
        for row in (1, 3):
            window.marking.toggle(row)
        write_comment(window, 4, "x")
        await until(lambda: on_disk(path) == [2, 4, 5], "the marks")
        window.marking.clear()
        await until(lambda: on_disk(path) == [], "none")
        undo.trigger()
        await until(lambda: on_disk(path) == [2, 4, 5], "all again")
        undo.trigger()
        assert undo.text() == "&Undo mark No. 4"
        await until(lambda: on_disk(path) == [2, 4], "two")
        redo.trigger()
        redo.trigger()
        assert not redo.isEnabled()
        await until(lambda: on_disk(path) == [], "none once more")

    run_in_window(qapp, steps)


def test_a_renamed_log_says_where_its_marks_were(qapp: QApplication, tmp_path: Path) -> None:
    path = log(tmp_path / "log.jsonl")

    async def steps(application: Application) -> None:
        window = await opened(application, path)
        window.marking.toggle(1)
        window.close()
        await until(lambda: on_disk(path) == [2], "the marks of the log")
        new = path.rename(tmp_path / "renamed.jsonl")
        again = await opened(application, new)
        await until(lambda: said(again, "marks-elsewhere"), "the sentence")
        assert "renamed.jsonl was renamed or moved since." in said(again, "marks-elsewhere")
        await until(lambda: notes(again) == {2: Note(True)}, "the notes")
        await until(lambda: on_disk(new) == [2] and not beside_capture(path).exists(), "the marks")

    run_in_window(qapp, steps)


def test_the_marks_of_a_copy_are_taken_over_on_request_and_given_back(qapp: QApplication, tmp_path: Path) -> None:
    path = log(tmp_path / "log.jsonl")

    async def steps(application: Application) -> None:
        window = await opened(application, path)
        window.marking.toggle(1)
        write_comment(window, 2, "theirs")
        window.close()
        await until(lambda: on_disk(path) == [2, 3], "the marks of the log")
        copy = Path(shutil.copy(path, tmp_path / "copy.jsonl"))
        again = await opened(application, copy)
        again.marking.toggle(4)
        await until(lambda: said(again, "marks-elsewhere"), "the offer")
        assert said(again, "marks-elsewhere") == ("log.jsonl, a capture with the same first 6 messages, has marks.")
        notice = again.notices.notice("marks-elsewhere")
        assert notice is not None
        assert notice.links == ["Import its marks"]
        again.marking.take_offered()
        await until(
            lambda: notes(again) == {2: Note(True), 3: Note(comment="theirs"), 5: Note(True)}, "the imported notes"
        )
        again.actions_by_id["edit.undo"].trigger()
        assert notes(again) == {5: Note(True)}
        again.actions_by_id["edit.redo"].trigger()
        await until(lambda: on_disk(copy) == [2, 3, 5], "the marks of the copy")
        assert on_disk(path) == [2, 3]

    run_in_window(qapp, steps)


def test_an_export_takes_the_marks_along_when_asked(qapp: QApplication, tmp_path: Path) -> None:
    path, target = log(tmp_path / "log.jsonl"), tmp_path / "out.jsonl"

    async def steps(application: Application) -> None:
        window = await opened(application, path)
        window.actions_by_id["file.export"].trigger()
        dialog = child(window, ExportDialog, "exportMessages")
        assert not child(dialog, QAbstractButton, "exportMarks").isVisible()
        dialog.reject()
        dialog.setObjectName("done")
        window.marking.toggle(1)
        window.actions_by_id["file.export"].trigger()
        dialog = child(window, ExportDialog, "exportMessages")
        assert child(dialog, QLineEdit, "exportColumns").text().endswith("mark, comment")
        child(dialog, QAbstractButton, "exportMarks").click()
        child(dialog, QAbstractButton, "exportExport").click()
        files = child(window, QFileDialog, "exportDialog")
        files.fileSelected.emit(str(target))
        files.close()
        await until(lambda: "Its marks are beside it." in said(window, "message"), "the sentence")
        assert on_disk(target) == [2]

    run_in_window(qapp, steps)
