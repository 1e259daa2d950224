"""A survey in one window: its page in the place of the start page, and its runs in windows of their own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from inspector.present.formats import count_of
from inspector.present.wire_text import window_title
from inspector.protocol.secrets.masking import mask_text
from inspector.survey.folder import SurveyError
from inspector.survey.runs import SurveyRuns
from inspector.ui.panels.runs.page import RunsPage

if TYPE_CHECKING:
    from inspector.ui.docview.shown import Shown
    from inspector.ui.features.undo import UndoHistory
    from inspector.ui.look.theme import ThemeController
    from inspector.ui.services import Services
    from inspector.ui.widgets.notice import NoticeStack
    from inspector.ui.widgets.status_bar import StatusBar


class Surveys(QObject):
    """Shows a survey.

    Signals:
        attached(RunsPage): a survey is shown.
        failed: nothing came of it.
        run_requested(Path, object): open a log in another window, at the message of a No., or None.

    Attributes:
        path: of the survey shown, or on its way to be; None.
    """

    attached = Signal(object)
    failed = Signal()
    run_requested = Signal(object, object)

    def __init__(
        self, parent: QWidget, shown: Shown, themes: ThemeController, services: Services, history: UndoHistory, *,
        notices: NoticeStack, status: StatusBar, put: Callable[[QWidget], object],
    ) -> None:  # fmt: skip
        """Show nothing yet.

        Args:
            parent: the window.
            shown: what the window shows.
            themes: give the look.
            services: work in the background.
            history: where a filter that was in force can be returned to.
            notices: where failures are said.
            status: where it is said what is shown.
            put: shows a page in the place of the start page.
        """
        super().__init__(parent)
        self._parent, self._shown, self._themes, self._services = parent, shown, themes, services
        self._history, self._notices, self._status, self._put = history, notices, status, put
        self.path: Path | None = None

    def show(self, path: Path) -> None:
        """Read a survey and show it."""
        self.path = path
        self._services.spawn(self._show(path), f"open {path.name}")

    async def _show(self, path: Path) -> None:
        try:
            runs = await asyncio.to_thread(SurveyRuns, path)
        except SurveyError as error:
            self.path = None
            self.failed.emit()
            self._notices.say(mask_text(str(error)), "severity.error")
            return
        page = self._shown.runs = RunsPage(runs, self._themes, self._parent)
        page.filter_requested.connect(self._choose)
        page.run_requested.connect(lambda log, number: self.run_requested.emit(Path(log), number))
        page.refused.connect(lambda why: self._notices.say(mask_text(why), "severity.warning"))
        self._put(page)
        self._parent.setWindowTitle(window_title(path.name))
        self._status.show_log(path.name, f"survey of {count_of(len(runs), 'run')}", path=str(path))
        self.attached.emit(page)
        page.setFocus()

    def _choose(self, text: str) -> None:
        """Show the runs of a filter; that can be undone."""
        page = self._shown.runs
        if page is not None and text != page.filter:
            self._history.do(
                "filter of runs", partial(page.apply_filter, text), partial(page.apply_filter, page.filter)
            )
