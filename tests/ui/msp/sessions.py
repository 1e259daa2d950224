"""A window that shows the sub-sessions of a file, as tests of the view and its dialogs want it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

from PySide6.QtWidgets import QApplication

from inspector.ui.app.application import Application
from inspector.ui.msp.panel.panel import SubsessionsPanel
from inspector.ui.window.main_window import MainWindow
from tests.ui.windows import run_in_window, until

SAMPLE = Path(__file__).parents[2] / "data" / "msp" / "weekly-report.json"

Steps = Callable[[MainWindow, SubsessionsPanel], Awaitable[None]]


def at_work(qapp: QApplication, path: Path, steps: Steps) -> None:
    """Run steps in a window that shows the sub-sessions of a file."""

    async def whole(application: Application) -> None:
        window = application.new_window()
        await window.opening.load(path)
        window.show()
        window.activateWindow()
        await until(window.isActiveWindow, "the window is active")  # else nothing has the focus
        window.actions_by_id["view.subsessions"].trigger()
        panel = window.center.currentWidget()
        assert isinstance(panel, SubsessionsPanel)
        await steps(window, panel)

    run_in_window(qapp, whole)
