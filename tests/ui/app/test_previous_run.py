"""What a run left that crashed is offered at the next start."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QPlainTextEdit, QPushButton

from inspector.base.paths import log_folder
from inspector.diagnostics.hard_crashes import earlier_crashes
from inspector.ui.app.application import Application
from inspector.ui.app.previous_run import SENTENCE
from inspector.ui.dialogs.report_dialog import ReportDialog
from tests.ui.find import child
from tests.ui.windows import run_in_window, until

pytestmark = [pytest.mark.real, pytest.mark.skipif(sys.platform == "win32", reason="signals")]

_KEY = "ended-hard"


def crash() -> None:
    """A process that ends by SIGABRT, watched."""
    code = (
        "import os\nfrom inspector.diagnostics.hard_crashes import record_crashes\nwith record_crashes(str): os.abort()"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode < 0


def test_nothing_is_offered_after_a_good_end(qapp: QApplication) -> None:
    async def steps(application: Application) -> None:
        window = application.new_window()
        application.previous_run.find_crashes()
        assert window.notices.notice(_KEY) is None

    run_in_window(qapp, steps)


def test_a_crash_is_offered_in_the_window_in_front_and_read(qapp: QApplication) -> None:
    crash()

    async def steps(application: Application) -> None:
        second, first = application.new_window(), application.new_window()
        await until(first.isActiveWindow, "the one in front")
        application.previous_run.find_crashes()
        notice = first.notices.notice(_KEY)
        assert notice is not None
        assert notice.text == SENTENCE
        assert notice.links == ["Show report", "Discard"]
        assert second.notices.notice(_KEY) is None
        child(notice, QPushButton, f"notice_{_KEY}Link0").click()
        dialogs = [child(one, ReportDialog) for one in (first, second) if one.findChild(ReportDialog)]
        report = child(dialogs[0], QPlainTextEdit, "reportView").toPlainText()
        assert "Fatal Python error: Aborted" in report
        assert "Platform plugin: offscreen" in report
        child(dialogs[0], QPushButton, "reportAnswer_close").click()
        assert first.notices.notice(_KEY) is not None  # until it is discarded
        application.previous_run.close()

    run_in_window(qapp, steps)
    kept = earlier_crashes()
    assert len(kept) == 1
    kept[0].discard()


def test_discarding_throws_it_away(qapp: QApplication) -> None:
    crash()

    async def steps(application: Application) -> None:
        window = application.new_window()
        application.previous_run.find_crashes()
        notice = window.notices.notice(_KEY)
        assert notice is not None
        child(notice, QPushButton, f"notice_{_KEY}Link1").click()
        assert window.notices.notice(_KEY) is None
        assert list(log_folder().glob("*.run")) == []

    run_in_window(qapp, steps)


def test_discarding_in_the_report_does_so_too(qapp: QApplication) -> None:
    crash()

    async def steps(application: Application) -> None:
        window = application.new_window()
        application.previous_run.find_crashes()
        application.previous_run.show_report()
        child(child(window, ReportDialog), QPushButton, "reportAnswer_discard").click()
        await until(lambda: window.notices.notice(_KEY) is None, "the notice to go")
        assert list(log_folder().glob("*.run")) == []

    run_in_window(qapp, steps)


_PROGRAM = """
import sys
sys.argv = ["context-inspector", "demo", "--seconds", "150"]
from PySide6.QtCore import QTimer
import inspector.ui.app.application as app
class Crashing(app.Application):
    def new_window(self, opening="", **more):
        window = super().new_window(opening, **more)
        QTimer.singleShot(300, self.crash)
        return window
    def crash(self):
        import faulthandler
        faulthandler._sigsegv()  # Python crashes for tests in no other way
app.Application = Crashing
from inspector.__main__ import main
main()
"""


def test_the_program_itself_leaves_a_dump(user_folders: Path) -> None:
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM], capture_output=True, timeout=140, check=False, env=environment,
        cwd=Path(__file__).parents[3],
    )  # fmt: skip
    assert done.returncode < 0, done.stderr
    (found,) = earlier_crashes()
    try:
        assert "Segmentation fault" in found.dump
        assert "inspector/ui/app/application.py" in found.dump.replace("\\", "/")
    finally:
        found.discard()
