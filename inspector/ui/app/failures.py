"""Error reports: collects internal errors, shows one dialog, and later a notice.

Five hooks lead here: `sys.excepthook` for Qt's virtual methods and slots, threads, unraisable errors, the event loop's
handler, and Qt's own messages. All errors are counted and logged. The dialog opens once; while it is open, and
afterwards, errors only count, so that an error in painting cannot open it again and again. Then a notice with fixed
words says that there were more.

A `RequestError` is no error of the program: an engine that has ended or is busy cannot answer an act of the user. The
window shows its sentence.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
from collections.abc import Coroutine, Sequence
from importlib import import_module
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol

from PySide6.QtCore import QMessageLogContext, QObject, Qt, QTimer, QtMsgType, Signal
from PySide6.QtWidgets import QApplication, QDialog, QWidget

from inspector.diagnostics import crash_report, hard_crashes, program_log
from inspector.diagnostics.crash_report import Environment, Failure, Failures, ReportChoices
from inspector.present.wire_text import safe_line
from inspector.protocol.secrets.masking import mask_text

if TYPE_CHECKING:
    from inspector.settings import Settings
    from inspector.ui.dialogs.report_dialog import ReportDialog
    from inspector.ui.look.theme import ThemeController
    from inspector.ui.window.main_window import MainWindow

_log = logging.getLogger(__name__)

_AGAIN_KEY = "failed-again"
_REPORT_MODULES = ("inspector.ui.dialogs.report_dialog", "inspector.ui.dialogs.environment_facts")
_EARLY_MS = 2_000
"""Delay after the start: the window is painted and mostly idle."""
_REFRESH_MS = 1_000
_MAX_REFRESHED = 1_000
"""Errors counted in the open dialog; beyond, it says that there are more."""
_MAX_TRACEBACKS = 3
"""Equal errors logged with their traceback; later only each tenth, hundredth... in one line."""
_QUIT, _GO_ON = "quit", "go_on"


class FailingProgram(Protocol):
    """The program that a report describes."""

    settings: Settings
    theme: ThemeController
    log: program_log.LogFile | None

    @property
    def windows(self) -> Sequence[MainWindow]: ...

    @property
    def front(self) -> MainWindow | None: ...

    def spawn(self, coro: Coroutine[Any, Any, Any], name: str) -> asyncio.Task[Any]: ...

    async def quit(self) -> None:
        """Closes every window, unless the user cancels."""
        ...


class FailureDialog(QObject):
    """Collects errors from anywhere, and shows them once.

    Attributes:
        failures: all errors of this run.
        dialog: the dialog while it is open.
    """

    _failure_queued = Signal()
    _sentence_queued = Signal(str)

    def __init__(self, program: FailingProgram) -> None:
        super().__init__()
        self._program = program
        self.failures = Failures()
        self.dialog: ReportDialog | None = None
        self._shown = False
        self._awaited = False  # the queued signal is pending
        self._installed = False
        # Errors may occur during painting and in threads, so the dialog must wait for the event loop.
        self._failure_queued.connect(self._on_failure_queued, Qt.ConnectionType.QueuedConnection)
        self._sentence_queued.connect(self._show_sentence, Qt.ConnectionType.QueuedConnection)
        self._refresh = QTimer(self)
        self._refresh.setSingleShot(True)
        self._refresh.setInterval(_REFRESH_MS)
        self._refresh.timeout.connect(self._refresh_dialog)

        self._early = QTimer(self)
        self._early.setSingleShot(True)
        self._early.setInterval(_EARLY_MS)
        self._early.timeout.connect(_import_early)

    # Hooks

    def install(self) -> None:
        """Installs the hooks for uncaught errors."""
        global _in_force
        if self._installed:
            return
        self._installed = True
        self._before = (sys.excepthook, threading.excepthook, sys.unraisablehook)
        sys.excepthook, threading.excepthook, sys.unraisablehook = self._on_raised, self._on_thread, self._on_clean_up
        _in_force = self
        self._early.start()

    def uninstall(self) -> None:
        """Restores the previous hooks."""
        global _in_force
        self._refresh.stop()
        self._early.stop()
        if self._installed:
            self._installed = False
            sys.excepthook, threading.excepthook, sys.unraisablehook = self._before
            _in_force = None

    def _on_raised(self, kind: type[BaseException], error: BaseException, _trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):  # the loop's runner ends the program
            self._before[0](kind, error, _trace)
            return
        # PySide passes exceptions of slots and virtual methods to this hook.
        self.report("event", error)

    def _on_thread(self, args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None and not isinstance(args.exc_value, SystemExit):
            self.report("thread", args.exc_value)

    def _on_clean_up(self, args: sys.UnraisableHookArgs) -> None:
        # The object is being destroyed, so its name is not read. It is not urgent: no dialog.
        if args.exc_value is not None:
            self.report("clean-up", args.exc_value, shows=False)

    def on_loop_failure(self, _loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Exception handler of the event loop: failed tasks and callbacks."""
        error = context.get("exception")
        self.report("task", error if isinstance(error, BaseException) else None, str(context.get("message", "")))

    # Collecting

    def report(self, origin: str, error: BaseException | None, words: str = "", *, shows: bool = True) -> None:
        """Counts, logs and shows an error; callable from any thread, never raises.

        Args:
            origin: hook that received it.
            error: the exception.
            words: further information.
            shows: open the dialog; else the error is only in the log and in a later report.
        """
        try:
            # Without an engine its module is not imported, since a start page does without msgspec.
            if "inspector.engine.request" in sys.modules and _is_request_error(error):
                _log.warning("A request failed (%s): %s", origin, mask_text(str(error)))
                self._sentence_queued.emit(safe_line(str(error)))
                return
            known = self.failures.count_failure(origin, error, words)
            self._log_it(known, origin, error, words)
            if shows and not self._awaited:
                self._awaited = True
                self._failure_queued.emit()
        except Exception:  # noqa: BLE001 - a failure of this method would lead here again
            if sys.__stderr__ is not None:
                sys.__stderr__.write("An error in the program could not be reported.\n")

    def _log_it(self, known: Failure | None, origin: str, error: BaseException | None, words: str) -> None:
        count = known.count if known is not None else self.failures.total
        if count <= _MAX_TRACEBACKS and known is not None:
            _log.error("An error in the program (%s) %s", origin, words, exc_info=error)
        elif str(count).strip("0") == "1":
            _log.error("An error in the program (%s) came for the %d. time", origin, count)

    def _show_sentence(self, sentence: str) -> None:
        if (window := self._program.front) is not None:
            window.notices.show_sentence(sentence, "severity.warning")

    def _on_failure_queued(self) -> None:
        self._awaited = False
        if self.dialog is not None:
            if not self._refresh.isActive() and self.failures.total <= _MAX_REFRESHED:
                self._refresh.start()
        elif not self._shown:
            self.show_report()
        else:
            self._show_again()

    def _show_again(self) -> None:
        window = self._program.front
        if window is not None:
            sentence = "Another internal error occurred."
            window.notices.show_notice(
                _AGAIN_KEY,
                "error",
                sentence,
                [("Show report", self.show_report)],
                token="severity.error",
                closable=True,
            )

    # The dialog

    def show_report(self) -> None:
        """Opens the dialog about all errors so far."""
        window = self._program.front
        if window is None or self.dialog is not None:
            return
        self._shown = True
        # While a modal dialog is open, Qt accepts input only in it and its children.
        modal = QApplication.activeModalWidget()
        try:
            from inspector.ui.dialogs.report_dialog import ReportDialog

            self.dialog = ReportDialog(
                self._program.theme, "Internal error", self._sentence(),
                self._compose, answers=((_QUIT, "Quit"), (_GO_ON, "Continue")), parent=modal or window,
            )  # fmt: skip
            self.dialog.answered.connect(self._on_answered)
            self.dialog.destroyed.connect(self._on_gone)
            self.dialog.open()
            window.notices.dismiss(_AGAIN_KEY)
        except Exception:  # noqa: BLE001 - tried once: it would fail again
            self.dialog = None
            _log.exception("The report of an error could not be shown")
            self._leave_half_made(modal or window)
            self._show_not_shown(window)

    def _leave_half_made(self, parent: QWidget) -> None:
        """Deletes a dialog whose constructor failed, since it would stay a child of the window."""
        directly = Qt.FindChildOption.FindDirectChildrenOnly
        for dialog in parent.findChildren(QDialog, "reportDialog", directly):
            if not dialog.isVisible():
                dialog.deleteLater()

    def _show_not_shown(self, window: MainWindow) -> None:
        log = self._program.log
        where = f"; see the log: {log.path}" if log is not None and log.path is not None else ""
        sentence = f"An internal error occurred, and its report could not be shown{where}."
        window.notices.show_notice(_AGAIN_KEY, "error", sentence, [], token="severity.error", closable=True)

    def _sentence(self) -> str:
        kinds, total = self.failures.kinds, self.failures.total
        first = kinds[0] if kinds else None
        named = safe_line(
            f"{first.title}: {first.words}" if first and first.words else first.title if first else "", 200
        )
        often = "" if total <= 1 else f" {total if total <= _MAX_REFRESHED else 'More than a thousand'} errors so far."
        if first is not None and first.title == "ModuleNotFoundError" and "'inspector." in first.words:
            often += " A program file is missing, perhaps after an upgrade: restart the program."
        return (
            f"{named.rstrip('.')}.{often} Open documents are not affected, and captures are still written. "
            "If the window behaves unexpectedly, save your work and restart the program."
        )

    def _compose(self, choices: ReportChoices) -> str:
        traces = crash_report.describe_failures(self.failures, choices)
        try:
            where = self._environment()
        except Exception:  # noqa: BLE001 - the settings themselves may be broken
            _log.exception("The place of an error could not be determined")
            where = Environment([("Surroundings", "could not be determined; see the program's log")])
        return crash_report.compose_report("Error in Context Inspector", traces, where, choices, mask_text)

    def _environment(self) -> Environment:
        from inspector.ui.dialogs.environment_facts import opened, surroundings

        program, log = self._program, self._program.log
        documents = [opened(one.panes.client, *one.panes.counts()) for one in program.windows if one.panes is not None]
        return surroundings(
            program.settings, program.theme.theme, log.path if log else None, len(program.windows), documents
        )

    def _refresh_dialog(self) -> None:
        if self.dialog is not None:
            self.dialog.set_summary(self._sentence())
            self.dialog.refresh()

    def _on_answered(self, answer: str) -> None:
        self.dialog = None
        self._refresh.stop()
        if answer == _QUIT:
            self._program.spawn(self._program.quit(), "quit")

    def _on_gone(self) -> None:
        """Its window was closed."""
        self.dialog = None


def _import_early() -> None:
    """Imports the report's modules early, in case the program's files are removed later."""
    try:
        for name in _REPORT_MODULES:
            import_module(name)
    except ImportError:
        _log.exception("Reports of errors cannot be shown")


_in_force: FailureDialog | None = None
"""Receiver of Qt's messages."""


def on_qt_message(kind: QtMsgType, _context: QMessageLogContext, text: str) -> None:
    """Handles Qt's messages: logs warnings, collects critical ones as errors, dumps fatal ones."""
    if text.startswith("This plugin does not support"):  # the offscreen platform prints it for every window
        return
    if kind == QtMsgType.QtFatalMsg:
        hard_crashes.write_dump(f"Qt\n{crash_report.marked_message(mask_text(text))}")
    if kind == QtMsgType.QtCriticalMsg and _in_force is not None:
        _in_force.report("Qt", None, text)
        return
    level = logging.ERROR if kind in (QtMsgType.QtCriticalMsg, QtMsgType.QtFatalMsg) else logging.WARNING
    _log.log(logging.DEBUG if kind in (QtMsgType.QtDebugMsg, QtMsgType.QtInfoMsg) else level, "Qt: %s", text)


def _is_request_error(error: BaseException | None) -> bool:
    from inspector.engine.request import RequestError

    return isinstance(error, RequestError)
