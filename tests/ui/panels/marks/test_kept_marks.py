"""Marks as they are kept while the user works: after a failed write, undone and done again, after a rename."""

from __future__ import annotations

import asyncio
import json
import shutil
import threading
from pathlib import Path

import pytest
from PySide6.QtWidgets import QAbstractButton, QApplication, QFileDialog, QLineEdit
from shiboken6 import isValid

from inspector.analysis.passes.user_marks import Note
from inspector.document.marks_file import MarksFile, Snapshot, beside_capture, places
from inspector.ui.app.application import Application
from inspector.ui.dialogs.export import ExportDialog
from inspector.ui.features import marking
from inspector.ui.window.main_window import MainWindow
from tests.builders import envelope, lines_of
from tests.ui.find import child
from tests.ui.waiting import time_passes
from tests.ui.windows import run_in_window, until, write_comment

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
    marks = window.document.analysis.marks
    return {row + 1: marks.note(row) for row in marks.rows.tolist()}


def on_disk(path: Path) -> list[int]:
    file = beside_capture(path)
    return [entry["no"] for entry in json.loads(file.read_bytes())["messages"]] if file.exists() else []


def said(window: MainWindow, name: str) -> str:
    notice = window.notices.notice(name)
    return notice.text if notice is not None else ""


@pytest.mark.parametrize("reason", ["No space left on device", "Permission denied"])
def test_a_full_disk_loses_nothing_and_is_tried_again(
    qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reason: str
) -> None:
    path = log(tmp_path / "log.jsonl")

    refused, written = list[Path](), list[Path]()

    def refuse(place: Path, _data: bytes) -> None:
        refused.append(place)
        raise OSError(28, reason)

    monkeypatch.setattr(marking, "RETRY_MS", 20)
    write = MarksFile.write
    monkeypatch.setattr(MarksFile, "write", lambda file, snapshot: (write(file, snapshot), written.append(path)))

    async def steps(application: Application) -> None:
        window = await opened(application, path)
        with monkeypatch.context() as patch:
            patch.setattr(places, "replace_whole", refuse)
            window.marking.toggle(1)
            write_comment(window, 2, "Here it began")
            await until(lambda: said(window, "marks-not-saved"), "the sentence")
            assert reason in said(window, "marks-not-saved")
            assert notes(window) == {2: Note(True), 3: Note(comment="Here it began")}
            window.actions_by_id["edit.undo"].trigger()
            assert notes(window) == {2: Note(True)}
            window.actions_by_id["edit.redo"].trigger()
            assert notes(window) == {2: Note(True), 3: Note(comment="Here it began")}
            tries = len(refused)
            await until(lambda: len(refused) > tries + 2, "further tries")
        assert on_disk(path) == []
        await until(lambda: on_disk(path) == [2, 3], "the marks")
        await until(lambda: not said(window, "marks-not-saved"), "no sentence any more")
        await time_passes(3 * marking.RETRY_MS)
        assert len(written) == 1, "it is not tried any more"

    run_in_window(qapp, steps)


@pytest.mark.parametrize("fails", [False, True])
def test_a_window_that_is_closed_while_marks_are_written_is_not_told(
    qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    path = log(tmp_path / "log.jsonl")
    begun, go_on, real = threading.Event(), threading.Event(), MarksFile.write

    def slowly(file: MarksFile, snapshot: Snapshot) -> None:
        begun.set()
        go_on.wait(60)
        if fails:
            raise OSError(28, "No space left on device")
        real(file, snapshot)

    async def steps(application: Application) -> None:
        window = await opened(application, path)
        failed: list[object] = []
        asyncio.get_running_loop().set_exception_handler(lambda _loop, context: failed.append(context))
        spawned: list[asyncio.Task[None]] = []
        spawn = application.spawn
        monkeypatch.setattr(application, "spawn", lambda *args: spawned.append(spawn(*args)) or spawned[-1])
        monkeypatch.setattr(MarksFile, "write", slowly)
        window.marking.toggle(1)
        await until(begun.is_set, "the write")
        window.close()
        await until(lambda: not isValid(window), "the window's end")
        go_on.set()
        await asyncio.wait(spawned[-1:], timeout=60)
        assert spawned[-1].exception() is None
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
        new = path.rename(tmp_path / "renamed.jsonl")
        again = await opened(application, new)
        await until(lambda: said(again, "marks-elsewhere"), "the sentence")
        assert "renamed.jsonl was renamed or moved since." in said(again, "marks-elsewhere")
        assert notes(again) == {2: Note(True)}
        await until(lambda: on_disk(new) == [2] and not beside_capture(path).exists(), "the marks")

    run_in_window(qapp, steps)


def test_the_marks_of_a_copy_are_taken_over_on_request_and_given_back(qapp: QApplication, tmp_path: Path) -> None:
    path = log(tmp_path / "log.jsonl")

    async def steps(application: Application) -> None:
        window = await opened(application, path)
        window.marking.toggle(1)
        write_comment(window, 2, "theirs")
        window.close()
        copy = Path(shutil.copy(path, tmp_path / "copy.jsonl"))
        again = await opened(application, copy)
        again.marking.toggle(4)
        await until(lambda: said(again, "marks-elsewhere"), "the offer")
        assert said(again, "marks-elsewhere") == ("log.jsonl, a capture with the same first 6 messages, has marks.")
        notice = again.notices.notice("marks-elsewhere")
        assert notice is not None
        assert notice.links == ["Import its marks"]
        again.marking.take_offered()
        assert notes(again) == {2: Note(True), 3: Note(comment="theirs"), 5: Note(True)}
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
