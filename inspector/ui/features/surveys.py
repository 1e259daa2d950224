"""Shows runs in place of the start page, and opens them in other windows: of a survey, a file or a folder."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from inspector.base.targets import session_target
from inspector.present.formats import count_of
from inspector.present.wire_text import window_title
from inspector.protocol.secrets.masking import mask_text
from inspector.survey.folder import SurveyError
from inspector.survey.log_figures import LogFigures, Tables
from inspector.survey.runs import SurveyRuns
from inspector.ui.panels.runs.page import RunsPage

if TYPE_CHECKING:
    from inspector.ui.docview.window_content import Shown
    from inspector.ui.features.undo import UndoHistory
    from inspector.ui.look.theme import ThemeController
    from inspector.ui.services import Services
    from inspector.ui.widgets.notice import NoticeStack
    from inspector.ui.widgets.status_bar import StatusBar


_LOOK_S, _SHOW_S = 0.02, 0.5
"""Seconds between two looks for figures of logs, and between two updates of the table."""
_SHARE = 20
"""Seconds between two updates for each second that one takes."""


class Surveys(QObject):
    """Shows a survey.

    Signals:
        attached(RunsPage): a survey is shown.
        failed: the survey cannot be read.
        run_requested(Path, object, bool): open a log in another window, at a message number or None; True for a session
            with its sub-agents, or for all runs of a file.
        compare_requested(str, str): compare the logs of two runs; "" asks for the second.

    Attributes:
        path: path of the shown or loading survey, or None.
    """

    attached = Signal(object)
    failed = Signal()
    run_requested = Signal(object, object, bool)
    compare_requested = Signal(str, str)

    def __init__(
        self, parent: QWidget, shown: Shown, themes: ThemeController, services: Services, history: UndoHistory, *,
        notices: NoticeStack, status: StatusBar, put: Callable[[QWidget], object],
    ) -> None:  # fmt: skip
        """Stores its collaborators.

        Args:
            parent: the window.
            shown: the document and its panes.
            themes: gives the look.
            services: background tasks.
            history: receives undo steps of filters.
            notices: shows failures.
            status: shows the survey's name and size.
            put: shows a page in place of the start page.
        """
        super().__init__(parent)
        self._parent, self._shown, self._themes, self._services = parent, shown, themes, services
        self._history, self._notices, self._status, self._put = history, notices, status, put
        self.path: Path | None = None

    def show(self, path: Path) -> None:
        self.path = path
        self._services.load_plugins()  # its tables take their columns once
        self._services.spawn(self._show(path), f"open {path.name}")

    async def _show(self, path: Path) -> None:
        try:
            runs = await asyncio.to_thread(SurveyRuns, path)
        except SurveyError as error:
            self.path = None
            self.failed.emit()
            self._notices.show_sentence(mask_text(str(error)), "severity.error")
            return
        page = self._shown.runs = RunsPage(runs, self._themes, self._parent)
        page.filter_requested.connect(self._filter_runs)
        page.run_requested.connect(
            lambda log, number: self.run_requested.emit(Path(log), number, log in page.runs.sessions)
        )
        page.compare_requested.connect(
            lambda *paths: self.compare_requested.emit(*(
                session_target(Path(path)) if path in page.runs.sessions else path for path in paths
            ))
        )  # fmt: skip
        page.together_requested.connect(lambda: self.run_requested.emit(path, None, True))
        page.figures_requested.connect(
            lambda: self._services.spawn(self._read_figures(page), f"read the runs of {path.name}")
        )
        page.refused.connect(lambda why: self._notices.show_sentence(mask_text(why), "severity.warning"))
        self._put(page)
        self._parent.setWindowTitle(window_title(path.name))
        count = count_of(len(runs), "run")
        self._status.show_log(path.name, f"survey of {count}" if runs.is_survey else count, path=str(path))
        self.attached.emit(page)
        page.setFocus()
        if runs.unread and not runs.reads_on_request:
            await self._read_figures(page)

    async def _read_figures(self, page: RunsPage) -> None:
        """Reads the figures of a folder's logs one by one until the window closes."""
        prices = self._services.settings.prices
        figures = LogFigures(page.runs.places_to_read(), prices.lines, prices.dated, listed=prices.listed)
        task = asyncio.current_task()
        self._shown.closing.connect(lambda: task and task.cancel())
        page.show_unread(figures.left)
        read: list[tuple[str, Tables]] = []
        due = time.monotonic() + _SHOW_S
        try:
            while figures.left or read:
                read += figures.poll()
                began = time.monotonic()
                if read and (not figures.left or began > due):
                    page.show_unread(figures.left)
                    page.add_figures(read)
                    read = []
                    # A table of many runs takes long to update.
                    due = time.monotonic() + max(_SHOW_S, _SHARE * (time.monotonic() - began))
                await asyncio.sleep(_LOOK_S)
        finally:
            figures.end()

    def _filter_runs(self, text: str) -> None:
        """Filters the runs as an undo step."""
        page = self._shown.runs
        if page is not None and text != page.filter:
            self._history.do(
                "filter of runs", partial(page.apply_filter, text), partial(page.apply_filter, page.filter)
            )
