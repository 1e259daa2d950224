"""A survey in one window: its page in the place of the start page, and its runs in windows of their own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from inspector.present.formats import count_of
from inspector.protocol.secrets.masking import mask_text
from inspector.survey.folder import SurveyError
from inspector.survey.runs import SurveyRuns
from inspector.ui.panels.runs.page import RunsPage

if TYPE_CHECKING:
    from inspector.ui.look.theme import ThemeController
    from inspector.ui.services import Services
    from inspector.ui.widgets.notice import NoticeStack
    from inspector.ui.widgets.status_bar import StatusBar


class Surveys(QObject):
    """Shows a survey.

    Attributes:
        page: of the survey shown; None.
    """

    def __init__(
        self, parent: QWidget, themes: ThemeController, services: Services, *, notices: NoticeStack, status: StatusBar,
        put: Callable[[QWidget], object], open_run: Callable[[Path, int | None], object],
        failed: Callable[[], object],
    ) -> None:  # fmt: skip
        """Show nothing yet.

        Args:
            parent: the window.
            themes: give the look.
            services: work in the background.
            notices: where failures are said.
            status: where it is said what is shown.
            put: shows a page in the place of the start page.
            open_run: opens a log in another window, at the message of a No.
            failed: nothing came of it: back to the start page.
        """
        super().__init__(parent)
        self._parent, self._themes, self._services = parent, themes, services
        self._notices, self._status = notices, status
        self._put, self._open_run, self._failed = put, open_run, failed
        self.page: RunsPage | None = None

    def show(self, path: Path) -> None:
        """Read a survey and show it."""
        self._services.spawn(self._show(path), f"open {path.name}")

    async def _show(self, path: Path) -> None:
        try:
            runs = await asyncio.to_thread(SurveyRuns, path)
        except SurveyError as error:
            self._failed()
            self._notices.say(mask_text(str(error)), "severity.error")
            return
        page = self.page = RunsPage(runs, self._themes, self._parent)
        page.run_requested.connect(lambda log, number: self._open_run(Path(log), number))
        page.refused.connect(lambda why: self._notices.say(mask_text(why), "severity.warning"))
        self._put(page)
        self._parent.setWindowTitle(f"{path.name} — Context Inspector")
        self._status.show_log(path.name, f"survey of {count_of(len(runs), 'run')}", path=str(path))
        page.table.setFocus()
