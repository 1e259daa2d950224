"""The application: owns event loop, windows, settings and services; opens files, quits, runs the demo."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import sys
from collections.abc import Callable, Coroutine, Generator, Iterable, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import qasync
from PySide6.QtCore import QTimer, qInstallMessageHandler
from PySide6.QtWidgets import QApplication

from inspector import settings as stored
from inspector.base import gc_control
from inspector.base.async_tasks import cancel_and_wait, start_task
from inspector.base.file_lock import FileLock
from inspector.base.instance_lock import ListeningPlace, OpenRequest
from inspector.base.targets import target_path
from inspector.diagnostics import program_log
from inspector.present import secret_settings
from inspector.protocol.secrets.masking import mask_text
from inspector.protocol.tool_aliases import ToolAliases
from inspector.settings import Settings
from inspector.settings.credentials import TokenStore
from inspector.settings.window_state import SavedWindow, lock_window_state
from inspector.ui.app.desktop_files import DesktopFiles
from inspector.ui.app.engines import Engines
from inspector.ui.app.failures import FailureDialog, on_qt_message
from inspector.ui.app.last_open import LastOpenKeeper
from inspector.ui.app.previous_run import PreviousRun
from inspector.ui.dialogs.key_validation import drop_unusable_keys, dropped_keys_words
from inspector.ui.features.version_check import VersionCheck
from inspector.ui.input.action import keyed_actions
from inspector.ui.look import icons
from inspector.ui.look.theme import FUSION, ThemeController, ThemeSetting
from inspector.ui.services import SettingsChanges
from inspector.ui.window.actions import ACTIONS
from inspector.ui.window.main_window import MainWindow
from inspector.ui.window.tabbed_windows import TabbedWindows

if TYPE_CHECKING:
    from PySide6.QtCore import QObject

    from inspector.engine.request import Request
    from inspector.engine.start_files import UnsavedCapture
    from inspector.ui.app.single_instance import SingleInstance
    from inspector.ui.document_client import DocumentClient
    from inspector.ui.widgets.notice import NoticeStack

AnswerT = TypeVar("AnswerT")
_log = logging.getLogger(__name__)

DEVELOPER_VARIABLE = "CONTEXT_INSPECTOR_DEVELOPER"
"""Environment variable that enables the Developer menu and detailed logging."""
_NOT_SAVED = "settings-not-saved"
RETRY_MS = 20_000
"""Delay before unsaved settings are written again."""
_COLLECT_MS, _COLLECT_YOUNG_MS = 60_000, 1_000
"""Intervals of garbage collections."""


class Application:
    """Owns the windows, the settings, the theme and the tasks.

    Attributes:
        settings: as stored; `save_settings` writes them.
        theme: controller of the theme.
        tokens: the system keyring with tokens of saved connections.
        windows: open documents and start pages, in tabs or windows of their own.
        tabs: the windows with tabs.
        remembers: True if recents and settings are written to disk.
        last_open: saves the open documents for the next start; None if another process does, or none should.
        aliases_here: tool aliases for this run, with priority over the settings.
        engines: engine processes of the windows.
        failures: internal errors, and the dialog about them.
        log: the program's own log, or None.
        previous_run: dumps of crashed runs.
        versions: newer versions of the program, if the settings allow the request.
        developer: shows the Developer menu regardless of the settings.
    """

    def __init__(
        self, qt: QApplication, *, theme: str | None = None, bundled_fonts: bool = False, remembers: bool = True,
        engines: Engines | None = None,
    ) -> None:  # fmt: skip
        loaded = stored.load_settings() if remembers else stored.LoadedSettings(Settings(), None)
        self.settings: Settings = loaded.settings
        dropped = drop_unusable_keys(self.settings, keyed_actions(ACTIONS))
        sentences = [loaded.message or "", dropped_keys_words(dropped) if dropped else ""]
        self.notice = " ".join(filter(None, sentences))
        self.remembers = remembers
        self._plugins_loaded = False
        self._not_written: set[str] = set()  # secrets that were already reported
        self.tokens = TokenStore()
        self.windows: list[MainWindow] = []
        self.tabs = TabbedWindows(self)
        self.tasks: set[asyncio.Task[Any]] = set()
        self.aliases_here: Sequence[str] = ()
        self.last_open: LastOpenKeeper | None = None
        self._instance: SingleInstance | None = None
        self.engines = engines or Engines()
        self.failures = FailureDialog(self)
        self.log: program_log.LogFile | None = None
        self.previous_run = PreviousRun(self)
        self.versions = VersionCheck(self)
        self.versions.changed.connect(self._show_available_version)
        self.developer = os.environ.get(DEVELOPER_VARIABLE, "") not in ("", "0")
        self._closed: asyncio.Event | None = None
        self._retry = QTimer()
        self._retry.setSingleShot(True)
        self._retry.setInterval(RETRY_MS)
        self._retry.timeout.connect(self.save_settings)
        # The oldest generation is collected here only: amid reading it would take 100 ms for 20,000 participants.
        self._tidying = QTimer()
        self._tidying.setInterval(_COLLECT_MS)
        self._tidying.timeout.connect(self._collect_garbage)
        self._collecting_young = QTimer()
        self._collecting_young.setInterval(_COLLECT_YOUNG_MS)
        self._collecting_young.timeout.connect(gc_control.collect_young)
        display = self.settings.display
        self.settings_changes = SettingsChanges()
        self.theme = ThemeController(
            qt, setting=cast("ThemeSetting", theme or display.theme), density=display.density,
            zoom=display.zoom_percent / 100, bundled_fonts=bundled_fonts, parent=qt,
        )  # fmt: skip
        if qt.windowIcon().isNull():
            qt.setWindowIcon(icons.app_icon())
        # Sessions must leave their gateways first, see `run`.
        qt.setQuitOnLastWindowClosed(False)

    @property
    def tool_aliases(self) -> ToolAliases:
        """Tool aliases: first from the command line, then from the settings."""
        return ToolAliases.from_texts([*self.aliases_here, *self.settings.tool_aliases])

    @property
    def front(self) -> MainWindow | None:
        """The active window, or the owner of the active dialog, else the window opened last."""
        active = QApplication.activeWindow()
        while active is not None and active not in self.windows:
            active = self.tabs.front_document(active) or active.parentWidget()
        return next((window for window in self.windows if window is active), next(reversed(self.windows), None))

    def spawn(self, coro: Coroutine[Any, Any, Any], name: str) -> asyncio.Task[Any]:
        """Runs a coroutine in the background; it is cancelled when the application ends."""
        return start_task(coro, name=name, owner=self.tasks)

    def load_plugins(self) -> None:
        """Loads the plug-ins that are switched on, once, and names the unused ones in all windows."""
        if self._plugins_loaded:
            return
        self._plugins_loaded = True
        if not self.settings.plugins:
            return
        from inspector.plugins import loading  # with filters and checks: not for a start page

        loading.load(self.settings.plugins)
        unused = loading.troubles()
        self.notice = " ".join(filter(None, [self.notice, *unused]))
        for window in self.windows if unused else ():
            window.notices.show_sentence(self.notice, "severity.warning")

    def keep_last_open(self) -> None:
        """Saves open documents for the next start, unless another process does."""
        lock = lock_window_state() if self.remembers else None
        if lock is not None:
            self.last_open = LastOpenKeeper(self, lock)

    def take_second_starts(self, place: ListeningPlace, lock: FileLock) -> None:
        """Handles requests of later starts of the program, so that they need not run themselves."""
        from inspector.ui.app.single_instance import SingleInstance  # Qt's network, which no window waits for

        self._instance = SingleInstance(self, place, lock)
        # In the next iteration, when the first window is open to take the files.
        QTimer.singleShot(0, self._instance, self._instance.listen)

    def new_window(
        self, opening: str = "", *, saved: SavedWindow | None = None, beside: MainWindow | None = None,
        alone: bool = False,
    ) -> MainWindow:  # fmt: skip
        """Opens a tab or window on the start page, or for a document that is about to be loaded.

        Args:
            opening: name of the document.
            saved: state of an earlier window.
            beside: the document whose window gets the tab; by default the one in front.
            alone: opens a window also if documents open in tabs.
        """
        beside = beside or self.front
        window = MainWindow(self, ACTIONS)
        self.windows.append(window)
        _log.debug("Window %d is made", len(self.windows))
        if opening:
            window.show_opening(opening)
        if saved is not None:
            window.restoring.begin(saved)
        self.tabs.place(window, beside, saved, alone=alone)
        # The objects of a window live long, so later collections skip them.
        gc_control.freeze_and_trim()
        return window

    def _collect_garbage(self) -> None:
        """Collects garbage, unless a log is being read; see `run_loop`."""
        if not any(window.opening.reading for window in self.windows):
            gc_control.collect_garbage()

    def window_closing(self, window: MainWindow) -> None:
        """Called before a window closes."""
        if self.last_open is not None:
            self.last_open.window_closing(window)

    def window_closed(self, window: MainWindow) -> None:
        """Removes a closed window; the last one ends the application."""
        if window in self.windows:
            self.windows.remove(window)
            self.tabs.removed(window)
            if not self.windows and self._retry.isActive():  # last attempt
                self.save_settings()
                self._retry.stop()
            gc.unfreeze()  # so that the objects of the window can be freed
        if not self.windows and self._closed is not None:
            self._closed.set()

    def save_settings(self) -> None:
        """Writes the settings; a failure is reported in the windows and changes nothing else."""
        edited_in = self.front
        # Undo works without a settings file too, so this comes before the return.
        for window in self.windows:
            window.undo_history.note_lists(edited_here=window is edited_in)
        if not self.remembers:
            return
        written, left_out = secret_settings.without_secrets(self.settings)
        self._report_left_out(left_out)
        try:
            stored.save_settings(written)
        except OSError as error:
            sentence = f"The settings could not be saved: {error.strerror or error}. They apply until the program ends."
            for window in self.windows:
                window.notices.show_notice(
                    _NOT_SAVED, "warning", sentence, [("Try again", self.save_settings)], token="severity.warning",
                    closable=True,
                )  # fmt: skip
            self._retry.start()
        else:
            self._retry.stop()
            for window in self.windows:
                window.notices.dismiss(_NOT_SAVED)

    def apply_settings(self, *, hints: bool = False) -> None:
        """Applies edited settings to every window.

        Args:
            hints: context hints were edited, so overrides of single windows are dropped.
        """
        for window in self.windows:
            if hints:
                window.display.hints_here = None
            window.apply_settings()
        self.versions.check()

    def _show_available_version(self) -> None:
        """Shows or hides the newer version on every start page."""
        for window in self.windows:
            if window.panes is None:
                self.versions.show_on(window.start_page)

    def _report_left_out(self, left_out: list[str]) -> None:
        """Reports new secrets that are not saved, in the front window."""
        new = [words for words in left_out if words not in self._not_written]
        self._not_written = set(left_out)
        if new and self.front is not None:
            self.front.notices.show_sentence(secret_settings.left_out_words(new), "severity.warning")

    def open_targets(self, targets: list[str]) -> None:
        """Opens a window for each file or address, or the start page."""
        if not targets:
            self.new_window()
            return
        from inspector.engine.log_files import is_stream  # with numpy: not for a start page

        for target in targets:
            is_file = "://" not in target and not is_stream(target_path(target))
            window = self.new_window(target_path(target).name if is_file else "")
            if "://" in target:  # the dialog reports invalid addresses
                window.gateway.ask_for_gateway(target)
                continue
            window.opening.open_target(target)

    def open_file(self, path: str) -> None:
        """Opens a file sent by the desktop to the running program, like a later start."""
        from inspector.ui.app.single_instance import open_request

        open_request(self, OpenRequest((path,)))

    async def run(self, start: Coroutine[Any, Any, None]) -> None:
        """Runs until the last window is closed.

        Args:
            start: opens the first windows.
        """
        self._closed = asyncio.Event()
        self._tidying.start()
        self._collecting_young.start()
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(self.failures.on_loop_failure)
        try:
            await start
            self.versions.check_soon()
            if self.windows:
                await self._closed.wait()
        finally:  # also on Ctrl+C: sessions leave their gateways, captures are written
            if self._instance is not None:  # first, so that no request reaches a program that ends
                self._instance.close()
            self.versions.stop()
            await self.close_all()
            await cancel_and_wait(self.tasks)
            await self.engines.end()
            if self.last_open is not None:
                self.last_open.close()

    def unsaved(self) -> list[UnsavedCapture]:
        """Returns captures that earlier runs did not save."""
        from inspector.engine.start_files import unsaved_captures

        return unsaved_captures() if self.remembers else []

    def document_names(self, own: DocumentClient | None) -> list[str]:
        """Returns the names of the documents of all other windows, without start pages."""
        shown = (window.shown.client for window in self.windows)
        return [client.state.name for client in shown if client is not None and client is not own]

    def new_client(self, parent: QObject, stream: Path | None = None) -> DocumentClient:
        """Returns a client without a document; the parent owns it until it is shown.

        Args:
            parent: the owner.
            stream: the stream that the document reads, such as the standard input of this process.
        """
        return self.engines.new_client(parent, stream)

    def warm_engine(self) -> None:
        """Starts an engine process for the next document."""
        self.engines.warm()

    def ask_spare(
        self, request: Request[AnswerT], answered: Callable[[AnswerT], object], failed: Callable[[], object]
    ) -> None:
        """Asks the engine for the next document a question about this machine. Calls one of both functions, later."""
        self.engines.ask_spare(request, answered, failed)

    def notices_of(self, own: NoticeStack) -> NoticeStack | None:
        """Returns `own` while its window is open, else notices of another window; None without windows."""
        open_ones = [window.notices for window in self.windows]
        return own if any(one is own for one in open_ones) else next(iter(open_ones), None)

    def show_recents(self) -> None:
        """Updates recent files and connections on every start page."""
        for window in self.windows:
            if window.panes is None:
                window.start_page.show_recents(self.settings)

    def look_for_unsaved(self) -> None:
        """Updates unsaved captures on every start page."""
        found = self.unsaved()
        for window in self.windows:
            if window.panes is None:
                window.start_page.show_unsaved(found)

    async def quit(self) -> None:
        """Closes every window, unless the user cancels when asked about an unsaved capture."""
        await self.close_windows(self.windows)

    async def close_windows(self, windows: Iterable[MainWindow]) -> None:
        """Closes some windows, unless the user cancels when asked about an unsaved capture."""
        # During one question another window may be edited or opened; it is then asked, or asked again.
        while (window := next((one for one in windows if one.closing.may_lose_any), None)) is not None:
            self.tabs.bring_up(window)
            if not await window.closing.may_close():
                for other in self.windows:
                    other.closing.stay_after_all()
                return
        closing = list(windows)
        if all(one in closing for one in self.windows):
            await self.close_all()
        for one in closing:
            if one in self.windows:
                await one.closing.aclose()

    async def close_all(self) -> None:
        """Closes every window without asking and waits for their sessions; unsaved captures stay on disk."""
        if self.last_open is not None and self.windows:
            self.last_open.end()
        for window in list(self.windows):
            await window.closing.aclose()


def make_qt() -> QApplication:
    """Returns the QApplication, made on the first call."""
    # Before Qt starts, so that its first messages are logged.
    qInstallMessageHandler(on_qt_message)
    qt = QApplication.instance()
    if not isinstance(qt, QApplication):
        # As an argument: asking Qt for its style would wrap sixteen enums, a tenth of the start time.
        qt = DesktopFiles([sys.argv[0], "-style", "fusion"])
        qt.setProperty(FUSION, True)
    qt.setApplicationName("context-inspector")
    qt.setApplicationDisplayName("Context Inspector")
    qt.setDesktopFileName("context-inspector")
    return qt


def run_loop(main: Coroutine[Any, Any, int], qt: QApplication) -> int:
    """Runs a coroutine on Qt's event loop. Returns 130 on Ctrl+C."""
    try:
        with (
            gc_control.manual_collection(),
            asyncio.Runner(loop_factory=lambda: qasync.QEventLoop(qt)) as runner,
        ):
            return runner.run(main)
    except KeyboardInterrupt:
        # 128 + SIGINT, as shells report an interrupt.
        return 130


@contextmanager
def guarded(application: Application) -> Generator[None]:
    """Enables logging, error reports and reports of earlier crashes while windows run."""
    application.log = program_log.start_logging(mask_text, detailed=application.developer)
    application.failures.install()
    application.previous_run.look_soon()
    try:
        yield
    finally:
        application.previous_run.close()
        application.failures.uninstall()
        program_log.stop_logging(application.log)


def run_windows(
    targets: list[str], *, theme: str | None = None, tool_aliases: Sequence[str] = (), standalone: bool = False,
    new_window: bool = False, first: tuple[ListeningPlace, FileLock] | None = None,
) -> int:  # fmt: skip
    """Opens the windows and runs until the last one is closed.

    Args:
        targets: files and addresses.
        theme: theme for this run.
        tool_aliases: aliases for this run.
        standalone: an independent process that does not restore or save open documents.
        new_window: do not restore earlier windows.
        first: address for second starts, and the lock that makes this process the first.
    """
    qt = make_qt()

    async def main() -> int:
        application = Application(qt, theme=theme)
        application.aliases_here = tool_aliases

        if not standalone:
            application.keep_last_open()

        async def start() -> None:
            if first is not None:
                application.take_second_starts(*first)
            if targets or new_window or application.last_open is None or not application.last_open.open_before():
                application.open_targets(targets)
            if isinstance(qt, DesktopFiles):
                qt.take_files(application.open_file)

        with guarded(application):
            await application.run(start())
        return 0

    return run_loop(main(), qt)


def run_demo(*, seconds: float | None, screenshot: str | None, theme: str | None = None) -> int:
    """Runs the window on an embedded gateway with scripted agents, with context hints on."""
    from inspector.demo.script import Demo

    qt = make_qt()

    async def main() -> int:
        application = Application(qt, theme=theme, bundled_fonts=screenshot is not None, remembers=screenshot is None)
        window: MainWindow | None = None

        async def start() -> None:
            nonlocal window
            window = application.new_window()
            await window.gateway.start_demo_session(Demo())
            if seconds is not None:
                application.spawn(finish(), "end the demo")

        async def finish() -> None:
            await asyncio.sleep(seconds or 0)
            if screenshot is not None and window is not None:
                window.grab().save(screenshot)
            await application.close_all()

        with guarded(application):
            await application.run(start())
        return 0

    return run_loop(main(), qt)
