"""Saving sessions while the window is used: what is edited meanwhile is kept, and closing waits for it."""

from __future__ import annotations

import asyncio
import errno
import os
import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog

from inspector.base.async_tasks import start_task
from inspector.engine.requests.msp_files import SaveSessions, SaveSessionsAs
from inspector.msp import saving
from inspector.ui.app.application import Application
from inspector.ui.document_client import DocumentClient
from inspector.ui.msp.panel.panel import SubsessionsPanel
from inspector.ui.msp.projection_update import MspFollowing
from inspector.ui.widgets.status_button import StatusButton
from inspector.ui.window.main_window import MainWindow
from tests.conftest import MS
from tests.ui.engines import WaitingClient, patch_engine
from tests.ui.features.test_window_restoring import read
from tests.ui.find import child
from tests.ui.local_client import LocalClient
from tests.ui.msp.test_editing import SAMPLE, answer, at_work, bytes_of, open_question, write
from tests.ui.windows import application_of, run_in_window, state_of, until

pytestmark = pytest.mark.trouble


class Disk:
    """A disk that does not write before it is free. It uses files, since the engine may be another process."""

    def __init__(self, folder: Path) -> None:
        self._asked, self._free = folder / "asked", folder / "free"

    def is_asked(self) -> bool:
        return self._asked.exists()

    def set_free(self) -> None:
        self._free.touch()

    def wait(self) -> None:
        """Waits in the thread that writes."""
        self._asked.touch()
        until = time.monotonic() + 60_000 * MS
        while not self._free.exists():
            assert time.monotonic() < until
            time.sleep(0.005)


@pytest.fixture
def report(tmp_path: Path) -> Path:
    """A document of sessions that may be written."""
    return Path(shutil.copy(SAMPLE, tmp_path / "weekly-report.json"))


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Disk]:
    disk, real = Disk(tmp_path_factory.mktemp("disk")), saving.content_of

    def content_of(file: saving.MspFile) -> bytes:
        disk.wait()
        return real(file)

    patch_engine(monkeypatch, saving, "content_of", content_of)
    monkeypatch.setattr(LocalClient, "waits_for_threads", False)
    monkeypatch.setattr(WaitingClient, "not_awaited", (SaveSessions, SaveSessionsAs))
    yield disk
    disk.set_free()


def save(window: MainWindow) -> None:
    QTest.keyClick(window, Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)


def folder_of(path: Path) -> list[Path]:
    return list(path.parent.iterdir())


def told(window: MainWindow) -> str:
    button = child(window, StatusButton, "statusMessage")
    return "" if button.isHidden() else button.accessibleName()


def test_what_is_written_while_it_is_saved_is_kept_and_saved_by_the_next_save(
    qapp: QApplication, report: Path, slow: Disk
) -> None:
    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        write(panel, "the first")
        save(window)
        await until(slow.is_asked, "it to be written")
        await until(lambda: told(window) == "Saving", "that it is being saved")
        write(panel, "the second")
        assert panel.chat.input.text.toPlainText() == ""
        slow.set_free()
        await until(lambda: told(window) == "Saved", "it to be saved")
        assert b"the first" in bytes_of(report)
        assert b"the second" not in bytes_of(report)
        assert window.isWindowModified()
        save(window)
        await until(lambda: not window.isWindowModified(), "the rest to be saved")
        assert b"the second" in bytes_of(report)

    at_work(qapp, report, steps)


def test_what_is_undone_while_it_is_saved_can_be_saved_without_it(qapp: QApplication, report: Path, slow: Disk) -> None:
    before = report.read_bytes()

    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        write(panel, "the first")
        save(window)
        await until(slow.is_asked, "it to be written")
        window.actions_by_id["edit.undo"].trigger()
        save(window)  # waits for the other
        both = asyncio.ensure_future(window.msp.saving.wait_for_write())  # noqa: TID251  is awaited
        await asyncio.sleep(0.05)  # so does this, behind it
        slow.set_free()
        await both
        await until(lambda: not window.isWindowModified(), "it to be said")
        assert bytes_of(report) == before

    at_work(qapp, report, steps)


def test_nobody_else_is_said_to_write_while_it_is_saved(qapp: QApplication, report: Path, slow: Disk) -> None:
    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        write(panel, "the first")
        save(window)
        await until(slow.is_asked, "it to be written")
        window.msp.saving.check_files()
        slow.set_free()
        await until(lambda: not window.isWindowModified(), "it to be saved")
        window.msp.saving.check_files()
        assert window.notices.keys() == []

    at_work(qapp, report, steps)


def test_a_disk_that_is_full_is_said_in_place_of_saving(
    qapp: QApplication, report: Path, slow: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, files = report.read_bytes(), list(report.parent.iterdir())

    def full(number: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        write(panel, "the first")
        with monkeypatch.context() as patch:
            patch_engine(patch, os, "fsync", full)
            save(window)
            await until(lambda: told(window) == "Saving", "that it is being saved")
            slow.set_free()
            await until(lambda: window.notices.keys() == ["session-not-saved"], "what is wrong")
        assert told(window) == "Not saved"
        assert window.isWindowModified()
        assert bytes_of(report) == before
        assert folder_of(report) == files
        save(window)
        await until(lambda: not window.isWindowModified(), "it to be saved")
        assert window.notices.keys() == []
        assert b"the first" in bytes_of(report)

    at_work(qapp, report, steps)


def test_saving_by_an_engine_that_hangs_ends_in_a_sentence(
    qapp: QApplication, report: Path, slow: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("inspector.ui.msp.saving._WRITE_S", 0.1)

    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        write(panel, "the first")
        save(window)
        await until(lambda: window.notices.keys() == ["session-not-saved"], "what is wrong")
        assert told(window) == "Not saved"
        assert window.isWindowModified()
        slow.set_free()

    at_work(qapp, report, steps)


def test_a_window_that_is_closed_while_it_is_saved_waits_and_asks_nothing(
    qapp: QApplication, report: Path, slow: Disk
) -> None:
    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        write(panel, "the first")
        save(window)
        await until(slow.is_asked, "it to be written")
        window.close()
        window.close()  # by somebody who does not believe it
        await until(lambda: told(window) == "Saving", "why it stays")
        assert window.isVisible()
        slow.set_free()
        await until(lambda: window not in window.application.windows, "the window to close")
        assert b"the first" in bytes_of(report)

    at_work(qapp, report, steps)


def test_a_window_that_is_closed_while_it_is_saved_asks_about_what_came_later(
    qapp: QApplication, report: Path, slow: Disk
) -> None:
    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        write(panel, "the first")
        save(window)
        await until(slow.is_asked, "it to be written")
        write(panel, "the second")
        window.close()
        slow.set_free()
        await until(lambda: open_question(window) is not None, "a question")
        dialog = open_question(window)
        assert dialog is not None
        dialog.close()
        assert b"the second" not in bytes_of(report)

    at_work(qapp, report, steps)


# What lies in no file


def name_asked_for(window: MainWindow) -> QFileDialog | None:
    return window.findChild(QFileDialog, "saveDialog")


async def save_as_asked(window: MainWindow, target: Path) -> None:
    await until(lambda: name_asked_for(window) is not None, "the file dialog")
    dialog = child(window, QFileDialog, "saveDialog")
    assert dialog.directory().exists()
    dialog.fileSelected.emit(str(target))
    dialog.close()


async def saved_where_it_is_said(window: MainWindow, target: Path) -> None:
    """Sessions that came from nowhere ask for a name once, and go on under it."""
    window.actions_by_id["view.subsessions"].trigger()
    panel = window.center.currentWidget()
    assert isinstance(panel, SubsessionsPanel)
    write(panel, "the first")
    window.msp.saving.check_files()
    assert window.notices.keys() == []
    window.actions_by_id["file.save"].trigger()
    await save_as_asked(window, target)
    await until(lambda: not window.isWindowModified(), "it to be saved")
    await until(lambda: name_asked_for(window) is None, "the dialog to go")
    assert b"the first" in bytes_of(target)
    assert window.windowTitle().startswith("kept.json")
    write(panel, "the second")
    window.actions_by_id["file.save"].trigger()
    await until(lambda: not window.isWindowModified(), "it to be saved")
    assert name_asked_for(window) is None
    assert b"the second" in bytes_of(target)
    assert window.shown.location.kept_file(state_of(window)) == target
    write(panel, "the third")
    window.actions_by_id["edit.undo"].trigger()
    await until(lambda: window.document.sessions is not None and not window.document.sessions.missed_any, "a reading")
    assert window.shown.location.kept_file(state_of(window)) == target


def test_pasted_sessions_are_saved_under_a_name_that_is_asked_for(
    qapp: QApplication, report: Path, tmp_path: Path
) -> None:
    async def whole(application: Application) -> None:
        window = application.new_window()
        QGuiApplication.clipboard().setText(bytes_of(report).decode())
        window.actions_by_id["file.paste"].trigger()
        await read(window)
        await saved_where_it_is_said(window, tmp_path / "kept.json")

    run_in_window(qapp, whole)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
@pytest.mark.parametrize("gone", [False, True], ids=["there", "gone"])
def test_sessions_of_a_pipe_are_saved_under_a_name_that_is_asked_for(
    qapp: QApplication, report: Path, tmp_path: Path, gone: bool
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(report.read_bytes()))

    async def whole(application: Application) -> None:
        writer.start()
        window = application.new_window()
        window.opening.open_path(pipe)
        await read(window)
        if gone:  # as a shell does with that of a `<(...)`
            pipe.unlink()
        await saved_where_it_is_said(window, tmp_path / "kept.json")

    run_in_window(qapp, whole)
    writer.join()


def test_a_window_of_pasted_sessions_that_is_closed_asks_for_a_name(
    qapp: QApplication, report: Path, tmp_path: Path
) -> None:
    async def whole(application: Application) -> None:
        window = application.new_window()
        QGuiApplication.clipboard().setText(bytes_of(report).decode())
        window.actions_by_id["file.paste"].trigger()
        await read(window)
        window.actions_by_id["view.subsessions"].trigger()
        panel = window.center.currentWidget()
        assert isinstance(panel, SubsessionsPanel)
        write(panel, "the first")
        window.close()
        await answer(window, "Save")
        await save_as_asked(window, tmp_path / "kept.json")
        await until(lambda: window not in window.application.windows, "the window to close")
        assert b"the first" in bytes_of(tmp_path / "kept.json")

    run_in_window(qapp, whole)


def test_a_program_that_ends_writes_to_the_end_what_it_is_saving(qapp: QApplication, report: Path, slow: Disk) -> None:
    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        write(panel, "the first")
        save(window)
        await until(slow.is_asked, "it to be written")
        ending = start_task(application_of(window).close_all(), name="end")
        await asyncio.sleep(0.02)
        window.close()  # by a user at the same moment
        await asyncio.sleep(0.02)
        assert window in window.application.windows
        slow.set_free()
        await ending
        assert b"the first" in bytes_of(report)

    at_work(qapp, report, steps)


def test_what_is_written_while_a_window_is_saved_to_be_closed_is_asked_about(
    qapp: QApplication, report: Path, slow: Disk
) -> None:
    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        write(panel, "the first")
        window.close()
        await answer(window, "Save")
        await until(slow.is_asked, "it to be written")
        write(panel, "the second")
        slow.set_free()
        await until(lambda: open_question(window) is not None, "another question")
        assert window.isVisible()
        await answer(window, "Save")
        await until(lambda: window not in window.application.windows, "the window to close")
        assert b"the second" in bytes_of(report)

    at_work(qapp, report, steps)


def test_quitting_asks_again_where_something_was_written_while_another_window_was_asked(
    qapp: QApplication, report: Path, tmp_path: Path
) -> None:
    other = Path(shutil.copy(SAMPLE, tmp_path / "other.json"))

    async def steps(first: MainWindow, panel: SubsessionsPanel) -> None:
        application = first.application
        second = application.new_window()
        await second.opening.load(other)
        second.actions_by_id["view.subsessions"].trigger()
        beside = second.center.currentWidget()
        assert isinstance(beside, SubsessionsPanel)
        write(panel, "given up")
        write(beside, "kept")
        first.actions_by_id["file.quit"].trigger()
        await answer(first, "Discard")
        await until(lambda: open_question(second) is not None, "a question in the other window")
        write(panel, "came later")
        await answer(second, "Discard")
        await until(lambda: open_question(first) is not None, "the first window is asked again")
        await answer(first, "Cancel")
        await until(lambda: open_question(first) is None, "the end of the question")
        assert application.windows == [first, second]
        first.actions_by_id["file.quit"].trigger()  # what was answered does not count any more
        await answer(first, "Save")
        await answer(second, "Save")
        await until(lambda: not application.windows, "the windows to close")

    at_work(qapp, report, steps)
    assert b"came later" in bytes_of(report)
    assert b"kept" in bytes_of(other)


def test_a_name_that_is_given_while_the_rows_are_read_anew_stays(
    qapp: QApplication, report: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # How long the rows take to be read is up to the machine: nothing but that is another here.
    target, read_anew, is_saved = tmp_path / "kept.json", MspFollowing._read_projection, asyncio.Event()

    async def slowly(following: MspFollowing) -> DocumentClient | None:
        fresh = await read_anew(following)
        await is_saved.wait()
        return fresh

    monkeypatch.setattr(MspFollowing, "_read_projection", slowly)

    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        write(panel, "the first")
        write(panel, "the second")
        window.actions_by_id["file.save_as"].trigger()
        await until(lambda: name_asked_for(window) is not None, "the file dialog")
        shown = window.document
        window.actions_by_id["edit.undo"].trigger()
        await save_as_asked(window, target)
        await until(lambda: not window.isWindowModified(), "it to be saved")
        is_saved.set()
        await until(lambda: window.document is not shown, "the rows to be read")
        assert window.windowTitle().startswith("kept.json")
        assert window.shown.location.kept_file(state_of(window)) == target

    at_work(qapp, report, steps)
