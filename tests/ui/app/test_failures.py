"""Errors in the program itself: five hooks, one dialog, once."""

from __future__ import annotations

import asyncio
import gc
import os
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
from PySide6.QtCore import QMessageLogContext, QTimer, QtMsgType
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QApplication, QCheckBox, QPlainTextEdit, QPushButton, QWidget
from typing_extensions import override

from inspector.diagnostics import program_log
from inspector.diagnostics.crash_report import Failures
from inspector.engine.request import RequestError
from inspector.protocol.secrets.masking import mask_text
from inspector.reading.files import source_reader
from inspector.reading.workers import parallel_reader
from inspector.store.columns.block import Block
from inspector.ui.app.application import Application
from inspector.ui.app.failures import on_qt_message
from inspector.ui.dialogs import environment_facts
from inspector.ui.dialogs.report_dialog import ReportDialog
from inspector.ui.widgets.notice import MESSAGE
from tests.ui.engines import client_class
from tests.ui.find import child
from tests.ui.windows import run_in_window, story, until, window_on

pytestmark = pytest.mark.logs_warnings


@contextmanager
def hooked(application: Application) -> Generator[None]:
    """The hooks of a real run, in place of those of the test's own library."""
    application.failures.install()
    try:
        yield
    finally:
        application.failures.uninstall()


async def dialog_of(application: Application) -> ReportDialog:
    """The dialog, once it is open."""
    await until(lambda: application.failures.dialog is not None, "the dialog")
    assert application.failures.dialog is not None
    return application.failures.dialog


def fail(words: object = "said by alice") -> None:
    raise ValueError(words)


async def fail_later() -> None:
    fail()


class Careless:
    def __del__(self) -> None:
        fail()


def in_slot(_application: Application) -> None:
    QTimer.singleShot(0, fail)


def in_thread(_application: Application) -> None:
    thread = threading.Thread(target=fail)
    thread.start()
    thread.join()


def in_task(application: Application) -> None:
    application.spawn(fail_later(), "fail")


def in_callback(_application: Application) -> None:
    asyncio.get_running_loop().call_soon(fail)


def in_qt(_application: Application) -> None:
    on_qt_message(QtMsgType.QtCriticalMsg, QMessageLogContext(), "no context could be made")


@pytest.mark.parametrize("happen", [in_slot, in_thread, in_task, in_callback, in_qt])
def test_each_hook_leads_to_the_dialog(qapp: QApplication, happen) -> None:
    async def steps(application: Application) -> None:
        with hooked(application):
            window = window_on(application, story())
            happen(application)
            dialog = await dialog_of(application)
            assert dialog.parent() is window
            shown = child(dialog, QPlainTextEdit, "reportView").toPlainText()
            assert "Error in Context Inspector" in shown
            assert "alice" not in shown
            dialog.accept()

    run_in_window(qapp, steps)


def test_an_act_that_the_engine_cannot_answer_ends_with_a_sentence(
    qapp: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_client: object, _request: object) -> None:
        raise RequestError("The engine has ended, token sk-abcdefghijkl0123456789MNOPQRSTuv.")

    async def steps(application: Application) -> None:
        with hooked(application):
            window = window_on(application, story())
            monkeypatch.setattr(client_class(), "answer_now", refuse)
            window.actions_by_id["go.problem_next"].trigger()
            await until(lambda: window.notices.notice(MESSAGE) is not None, "the sentence")
            notice = window.notices.notice(MESSAGE)
            assert notice is not None
            assert notice.text.startswith("The engine has ended")
            assert "abcdefghijkl" not in notice.text
            assert application.failures.dialog is None
            assert not application.failures.failures.kinds

    run_in_window(qapp, steps)


def test_what_fails_in_cleaning_up_is_counted_and_shown_to_nobody(qapp: QApplication) -> None:
    async def steps(application: Application) -> None:
        with hooked(application):
            window_on(application, story())
            gc.collect()  # what tests before left is none of ours
            application.failures.failures = Failures()
            careless = Careless()
            del careless
            gc.collect()
            await asyncio.sleep(0.05)
            assert [one.origin for one in application.failures.failures.kinds] == ["clean-up"]
            assert application.failures.dialog is None

    run_in_window(qapp, steps)


def test_it_opens_once_and_counts_then_a_line_tells_of_more(qapp: QApplication) -> None:
    async def steps(application: Application) -> None:
        with hooked(application):
            window = window_on(application, story())
            in_task(application)
            first = await dialog_of(application)
            for _ in range(5):
                in_slot(application)
            await until(lambda: application.failures.failures.total == 6, "all of them")
            assert len(window.findChildren(ReportDialog)) == 1
            await until(lambda: "6 errors so far" in first.accessibleDescription(), "the count")
            child(first, QPushButton, "reportAnswer_go_on").click()
            in_task(application)
            await until(lambda: window.notices.notice("failed-again") is not None, "the line")
            assert application.failures.dialog is None
            application.failures.show_report()
            assert window.notices.notice("failed-again") is None
            assert "7 errors so far" in (await dialog_of(application)).accessibleDescription()

    run_in_window(qapp, steps)


class Broken(QWidget):
    """Fails whenever it is painted, and asks to be painted again."""

    painted = 0

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        self.painted += 1
        self.update()
        fail()


def test_an_endless_painting_error_opens_it_once(qapp: QApplication) -> None:
    async def steps(application: Application) -> None:
        with hooked(application):
            window = window_on(application, story())
            broken = Broken(window)
            broken.resize(40, 40)
            broken.show()
            dialog = await dialog_of(application)
            await until(lambda: broken.painted > 20, "many paintings")
            assert window.findChildren(ReportDialog) == [dialog]
            dialog.accept()
            before = broken.painted
            await until(lambda: broken.painted > before + 20, "more of them")
            assert application.failures.dialog is None
            assert application.failures.failures.kinds[0].count > 40
            broken.hide()

    run_in_window(qapp, steps)


def test_a_dialog_that_cannot_be_shown_is_not_tried_again(qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[int] = []

    def refresh(_dialog: ReportDialog, *_on: object) -> None:
        tried.append(1)
        fail()

    async def steps(application: Application) -> None:
        monkeypatch.setattr(ReportDialog, "refresh", refresh)
        with hooked(application):
            window = window_on(application, story())
            in_task(application)
            await until(lambda: tried, "the attempt")
            in_task(application)
            await until(lambda: window.notices.notice("failed-again") is not None, "the line")
            assert len(tried) == 1

    run_in_window(qapp, steps)


def test_a_report_that_cannot_be_shown_leaves_a_line_and_no_half_made_dialog(
    qapp: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def steps(application: Application) -> None:
        monkeypatch.setattr(ReportDialog, "refresh", lambda *_: fail())
        with hooked(application):
            window = window_on(application, story())
            in_task(application)
            await until(lambda: window.notices.notice("failed-again") is not None, "the line")
            notice = window.notices.notice("failed-again")
            assert notice is not None
            assert "could not be shown" in notice.text
            await until(lambda: not window.findChildren(ReportDialog), "the dialog to go")

    run_in_window(qapp, steps)


def test_where_it_happened_may_be_what_is_broken(qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> None:
    async def steps(application: Application) -> None:
        monkeypatch.setattr(environment_facts, "surroundings", fail)
        with hooked(application):
            window_on(application, story())
            in_task(application)
            shown = child(await dialog_of(application), QPlainTextEdit, "reportView").toPlainText()
            assert "ValueError (task)" in shown
            assert "could not be determined" in shown

    run_in_window(qapp, steps)


async def no_module() -> None:
    raise ModuleNotFoundError("No module named 'inspector.ui.dialogs.connect'")


def test_files_that_are_gone_are_said_to_be(qapp: QApplication) -> None:
    async def steps(application: Application) -> None:
        with hooked(application):
            window_on(application, story())
            application.spawn(no_module(), "fail")
            words = (await dialog_of(application)).accessibleDescription()
            assert "file is missing, perhaps after an upgrade: restart the program" in words

    run_in_window(qapp, steps)


def test_one_full_stop_ends_a_sentence(qapp: QApplication) -> None:
    async def steps(application: Application) -> None:
        with hooked(application):
            window_on(application, story())
            QTimer.singleShot(0, lambda: fail("It was asked for."))
            words = (await dialog_of(application)).accessibleDescription()
            assert "It was asked for. Open documents" in words

    run_in_window(qapp, steps)


_REMOVED_MEANWHILE = """
import sys, time
sys.argv = ["context-inspector", "demo", "--seconds", "150"]
from PySide6.QtCore import QTimer
import inspector.ui.app.application as app
import inspector.ui.app.failures as failures
class Upgraded(app.Application):
    def new_window(self, opening="", **more):
        window = super().new_window(opening, **more)
        self.wait()
        return window
    def wait(self):
        early = all(name in sys.modules for name in failures._REPORT_MODULES)
        QTimer.singleShot(1000 if early else 50, self.fail if early else self.wait)
    def fail(self):
        import builtins
        found = builtins.__import__
        def gone(name, *rest):
            if name.startswith("inspector") and name not in sys.modules:
                raise ModuleNotFoundError(f"No module named {name!r}")
            return found(name, *rest)
        builtins.__import__ = gone
        QTimer.singleShot(50, self.look)
        raise ModuleNotFoundError("No module named 'inspector.ui.dialogs.connect'")
    def look(self):
        again = [window.notices.notice("failed-again") for window in self.windows]
        if self.failures.dialog is None and not any(again):
            QTimer.singleShot(50, self.look)
            return
        print("DIALOG" if self.failures.dialog is not None else "NONE", flush=True)
        import os
        os._exit(0)
app.Application = Upgraded
from inspector.__main__ import main
main()
"""


@pytest.mark.real
def test_the_report_is_shown_although_the_programs_files_are_gone() -> None:
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    done = subprocess.run(
        [sys.executable, "-c", _REMOVED_MEANWHILE], capture_output=True, timeout=140, check=False, env=environment,
        cwd=Path(__file__).parents[3], text=True,
    )  # fmt: skip
    assert done.stdout.endswith("DIALOG\n"), done.stdout + done.stderr


def test_for_developers_the_log_says_more(qapp: QApplication) -> None:
    async def steps(application: Application) -> None:
        handler = program_log.start_logging(mask_text, detailed=True)
        try:
            path = story().path
            assert path is not None
            application.open_targets([str(path)])
            await until(lambda: application.windows[0].panes is not None, "the log")
            await until(lambda: not application.windows[0].opening.reading, "the end of it")
            lines = " ".join(program_log.last_lines(handler.path, 20))
        finally:
            program_log.stop_logging(handler)
        assert "DEBUG inspector.ui.features.opening: Read" in lines
        assert str(path) not in lines

    run_in_window(qapp, steps)


def test_quit_closes_the_windows(qapp: QApplication) -> None:
    async def steps(application: Application) -> None:
        with hooked(application):
            application.new_window()
            in_task(application)
            child(await dialog_of(application), QPushButton, "reportAnswer_quit").click()
            await until(lambda: not application.windows, "the end")

    run_in_window(qapp, steps)


def test_the_window_may_go_with_the_dialog(qapp: QApplication) -> None:
    async def steps(application: Application) -> None:
        with hooked(application):
            window = application.new_window()
            in_task(application)
            await dialog_of(application)
            await window.closing.aclose()
            await until(lambda: application.failures.dialog is None, "the dialog to go")

    run_in_window(qapp, steps)


def test_what_is_ticked_comes_into_the_report(qapp: QApplication) -> None:
    async def steps(application: Application) -> None:
        with hooked(application):
            window_on(application, story())
            in_task(application)
            dialog = await dialog_of(application)
            report = child(dialog, QPlainTextEdit, "reportView")
            name = str(application.windows[0].document.path)
            assert "said by alice" not in report.toPlainText()
            assert name not in report.toPlainText()
            child(dialog, QCheckBox, "reportChoice_error_words").click()
            child(dialog, QCheckBox, "reportChoice_file_names").click()
            assert "said by alice" in report.toPlainText()
            child(dialog, QPushButton, "reportCopy").click()
            assert QApplication.clipboard().text() == report.toPlainText()

    run_in_window(qapp, steps)


@pytest.mark.in_process("the dialog is about errors of this process")
def test_a_log_that_cannot_be_read_for_a_fault_of_ours_leads_to_the_dialog(
    qapp: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What ends a reading process fails here when its part is read again, and is heard of."""
    path = story().path
    assert path is not None

    def no_part(*_arguments: object) -> Block:
        raise ValueError("half a record")

    monkeypatch.setattr(source_reader, "WORTHWHILE_BYTES", 0)
    monkeypatch.setattr(parallel_reader, "reader_count", lambda: 0)
    monkeypatch.setattr(parallel_reader, "read_part", no_part)

    async def steps(application: Application) -> None:
        with hooked(application):
            application.open_targets([str(path)])
            dialog = await dialog_of(application)
            assert "half a record" in dialog.accessibleDescription()

    run_in_window(qapp, steps)


def test_hooks_are_given_back(qapp: QApplication) -> None:
    before = (sys.excepthook, threading.excepthook, sys.unraisablehook)

    async def steps(application: Application) -> None:
        with hooked(application):
            assert sys.excepthook not in before

    run_in_window(qapp, steps)
    assert (sys.excepthook, threading.excepthook, sys.unraisablehook) == before
