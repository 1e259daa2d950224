"""Offers reports of earlier runs that crashed, in a notice of one window."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject, QTimer

from inspector import version
from inspector.diagnostics import crash_report, hard_crashes, program_log
from inspector.diagnostics.crash_report import Environment, ReportChoices
from inspector.diagnostics.hard_crashes import HardCrash
from inspector.protocol.secrets.masking import mask_text

if TYPE_CHECKING:
    from inspector.ui.look.theme import ThemeController
    from inspector.ui.window.main_window import MainWindow

_log = logging.getLogger(__name__)

_NOTICE = "ended-hard"
_SOON_MS = 600
"""Delay after the start: the window is painted by then."""
_MAX_DUMPS = 3
"""Dumps in one report."""
_LOG_LINES = 200
_DISCARD, _CLOSE = "discard", "close"
SENTENCE = "The program ended unexpectedly last time."


class StartedProgram(Protocol):
    """The program with its windows."""

    theme: ThemeController
    log: program_log.LogFile | None

    @property
    def windows(self) -> Sequence[MainWindow]: ...

    @property
    def front(self) -> MainWindow | None: ...


class PreviousRun(QObject):
    """Looks for crash dumps once, some time after the start.

    Attributes:
        crashes: found dumps that are not discarded, latest first.
    """

    def __init__(self, program: StartedProgram) -> None:
        super().__init__()
        self._program = program
        self.crashes: list[HardCrash] = []
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_SOON_MS)
        self._timer.timeout.connect(self.find_crashes)

    def look_soon(self) -> None:
        self._timer.start()

    def find_crashes(self) -> None:
        """Finds dumps and offers them; also logs facts on this run that would delay the start."""
        hard_crashes.write_fact("version", version())
        _log.info("Context Inspector %s runs as process %d", version(), os.getpid())
        self.crashes = hard_crashes.earlier_crashes()
        window = self._program.front
        if self.crashes and window is not None:
            self._offer(window)

    def _offer(self, window: MainWindow) -> None:
        links = [("Show report", self.show_report), ("Discard", self.discard)]
        window.notices.show_notice(_NOTICE, "warning", SENTENCE, links, token="severity.warning")

    def show_report(self) -> None:
        from inspector.ui.dialogs.report_dialog import ReportDialog

        dialog = ReportDialog(
            self._program.theme, "The program ended unexpectedly", self._sentence(), self._compose,
            answers=((_DISCARD, "Discard"), (_CLOSE, "Close")), parent=self._program.front,
        )  # fmt: skip
        dialog.answered.connect(self._on_answered)
        dialog.open()

    def _sentence(self) -> str:
        latest = self.crashes[0]
        when = datetime.fromtimestamp(latest.ended).astimezone()
        earlier = len(self.crashes) - 1
        others = (
            ""
            if not earlier
            else f" There {'is one earlier report' if earlier == 1 else f'are {earlier} earlier reports'}, too."
        )
        return (
            f"It ended on {when.day} {when:%B} at {when:%H:%M}, and left a report.{others} "
            "Its unsaved captures are on the start page."
        )

    def _compose(self, choices: ReportChoices) -> str:
        from inspector.ui.dialogs.environment_facts import desktop_facts, version_facts

        log = self._program.log
        where = Environment(
            [*version_facts(), *desktop_facts(self._program.theme.theme, len(self._program.windows))],
            log_lines=program_log.last_lines(log.path if log is not None else None, _LOG_LINES),
        )
        traces = [_run_words(crash, choices) for crash in self.crashes[:_MAX_DUMPS]]
        return crash_report.compose_report("Context Inspector ended unexpectedly", traces, where, choices, mask_text)

    def _on_answered(self, answer: str) -> None:
        if answer == _DISCARD:
            self.discard()

    def discard(self) -> None:
        for crash in self.crashes:
            crash.discard()
        self.crashes = []
        for window in self._program.windows:
            window.notices.dismiss(_NOTICE)

    def close(self) -> None:
        """Leaves the remaining dumps to the next start."""
        self._timer.stop()
        for crash in self.crashes:
            crash.release()
        self.crashes = []


def _run_words(crash: HardCrash, choices: ReportChoices) -> str:
    facts = ", ".join(f"{name} {value}" for name, value in crash.facts)
    return f"The run: {facts}\n{crash_report.describe_dump(crash.dump, choices)}"
