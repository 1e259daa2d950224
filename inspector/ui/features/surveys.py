"""Shows a survey in a window in place of the start page, and opens its runs in other windows."""

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
    from inspector.ui.docview.window_content import Shown
    from inspector.ui.features.undo import UndoHistory
    from inspector.ui.look.theme import ThemeController
    from inspector.ui.services import Services
    from inspector.ui.widgets.notice import NoticeStack
    from inspector.ui.widgets.status_bar import StatusBar


class Surveys(QObject):
    """Shows a survey.

    Signals:
        attached(RunsPage): a survey is shown.
        failed: the survey cannot be read.
        run_requested(Path, object): open a log in another window, at a message number or None.

    Attributes:
        path: path of the shown or loading survey, or None.
    """

    attached = Signal(object)
    failed = Signal()
    run_requested = Signal(object, object)

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
        page.run_requested.connect(lambda log, number: self.run_requested.emit(Path(log), number))
        page.refused.connect(lambda why: self._notices.show_sentence(mask_text(why), "severity.warning"))
        self._put(page)
        self._parent.setWindowTitle(window_title(path.name))
        self._status.show_log(path.name, f"survey of {count_of(len(runs), 'run')}", path=str(path))
        self.attached.emit(page)
        page.setFocus()

    def _filter_runs(self, text: str) -> None:
        """Filters the runs as an undo step."""
        page = self._shown.runs
        if page is not None and text != page.filter:
            self._history.do(
                "filter of runs", partial(page.apply_filter, text), partial(page.apply_filter, page.filter)
            )
