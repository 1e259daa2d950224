"""The application: one event loop, windows with their documents, and what they share."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import sys
import threading
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, cast

import qasync
from PySide6.QtCore import QMessageLogContext, QtMsgType, qInstallMessageHandler
from PySide6.QtWidgets import QApplication

from inspector import settings as stored
from inspector.aio import cancel_and_wait, spawn
from inspector.settings import Settings
from inspector.ui import icons
from inspector.ui.main_window import MainWindow
from inspector.ui.theme import ThemeController, ThemeSetting

_log = logging.getLogger(__name__)


class Application:
    """Owns the windows, the settings, the theme and the tasks.

    Attributes:
        settings: as stored; `save_settings` writes them.
        theme: the theme in force.
        windows: the open ones.
        remembers: whether recents and settings are written to disk.
    """

    def __init__(
        self, qt: QApplication, *, theme: str | None = None, bundled_fonts: bool = False, remembers: bool = True
    ) -> None:
        loaded = stored.load() if remembers else stored.LoadedSettings(Settings(), None)
        self.settings: Settings = loaded.settings
        self.notice = loaded.message
        self.remembers = remembers
        self.windows: list[MainWindow] = []
        self.tasks: set[asyncio.Task[Any]] = set()
        self._closed: asyncio.Event | None = None
        display = self.settings.display
        self.theme = ThemeController(
            qt, setting=cast("ThemeSetting", theme or display.theme), density=display.density,
            zoom=display.zoom_percent / 100, bundled_fonts=bundled_fonts, parent=qt,
        )  # fmt: skip
        qt.setWindowIcon(icons.app_icon())
        qt.setQuitOnLastWindowClosed(False)

    def spawn(self, coro: Coroutine[Any, Any, Any], name: str) -> asyncio.Task[Any]:
        """Run something in the background; it ends with the application at the latest."""
        return spawn(coro, name=name, owner=self.tasks)

    def new_window(self) -> MainWindow:
        """A new window on the start page, shown."""
        window = MainWindow(self)
        self.windows.append(window)
        window.show()
        return window

    def window_closed(self, window: MainWindow) -> None:
        """Forget a window; the last one ends the application."""
        if window in self.windows:
            self.windows.remove(window)
        if not self.windows and self._closed is not None:
            self._closed.set()

    def save_settings(self) -> None:
        """Write the settings; a failure is said in the windows and changes nothing else."""
        if not self.remembers:
            return
        try:
            stored.save(self.settings)
        except OSError as error:
            for window in self.windows:
                window.say(f"The settings could not be saved: {error.strerror or error}.", "severity.warning")

    def open_targets(self, targets: list[str]) -> None:
        """One window for each file or address; the start page when there is none."""
        for target in targets or [""]:
            window = self.new_window()
            if "://" in target:  # the dialog says so if it cannot be used
                window.opening.ask_for_gateway(target)
            elif target == "-":
                self.spawn(self._open_input(window), "read standard input")
            elif target:
                window.opening.open_path(Path(target))

    async def _open_input(self, window: MainWindow) -> None:
        """Read standard input to its end beside the loop, then open it; a thread that still waits ends with us."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[bytes] = loop.create_future()

        def read() -> None:
            # Not through sys.stdin: a thread that still held its lock would abort the program's end.
            blocks = iter(lambda: os.read(sys.stdin.fileno(), 1 << 20), b"")
            data = b"".join(blocks)
            with contextlib.suppress(RuntimeError):  # the loop is gone
                loop.call_soon_threadsafe(lambda: None if done.done() else done.set_result(data))

        threading.Thread(target=read, name="standard input", daemon=True).start()
        window.say("Reading standard input...")
        data = await done
        if window in self.windows:
            window.notices.dismiss("message")
            window.opening.open_text(data, "standard input")

    async def run(self, start: Coroutine[Any, Any, None]) -> None:
        """Run until the last window is closed.

        Args:
            start: opens the first windows.
        """
        self._closed = asyncio.Event()
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(self._on_failure)
        try:
            await start
            if self.windows:
                await self._closed.wait()
        finally:  # also on Ctrl+C: sessions leave their gateways, captures are written
            await self.close_all()
            await cancel_and_wait(self.tasks)

    def _on_failure(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        _log.error("%s", context.get("message"), exc_info=error if isinstance(error, BaseException) else None)
        for window in self.windows:
            window.say(
                f"Something went wrong in the program itself: {error or context.get('message')}", "severity.error"
            )

    async def close_all(self) -> None:
        """Close every window and wait for their sessions."""
        for window in list(self.windows):
            await window.aclose()


def make_qt() -> QApplication:
    """The QApplication, made once."""
    qInstallMessageHandler(_on_qt_message)
    qt = cast("QApplication", QApplication.instance() or QApplication([sys.argv[0]]))
    qt.setApplicationName("context-inspector")
    qt.setApplicationDisplayName("Context Inspector")
    qt.setDesktopFileName("context-inspector")
    return qt


def _on_qt_message(kind: QtMsgType, _context: QMessageLogContext, text: str) -> None:
    if text.startswith("This plugin does not support"):  # what the offscreen platform says of every window
        return
    level = logging.ERROR if kind in (QtMsgType.QtCriticalMsg, QtMsgType.QtFatalMsg) else logging.WARNING
    _log.log(logging.DEBUG if kind in (QtMsgType.QtDebugMsg, QtMsgType.QtInfoMsg) else level, "Qt: %s", text)


def run_loop(main: Coroutine[Any, Any, int], qt: QApplication) -> int:
    """Run a coroutine on Qt's event loop. Ends with 130 on Ctrl+C."""
    try:
        with asyncio.Runner(loop_factory=lambda: qasync.QEventLoop(qt)) as runner:
            return runner.run(main)
    except KeyboardInterrupt:
        return 130


def run_windows(targets: list[str], *, theme: str | None = None) -> int:
    """Open the windows and run until the last one is closed."""
    qt = make_qt()

    async def main() -> int:
        application = Application(qt, theme=theme)

        async def start() -> None:
            application.open_targets(targets)

        await application.run(start())
        return 0

    return run_loop(main(), qt)


def run_demo(*, seconds: float | None, screenshot: str | None, theme: str | None = None) -> int:
    """The window on an embedded gateway with scripted agents; hints are shown in it."""
    from inspector.demo.script import Demo

    qt = make_qt()

    async def main() -> int:
        application = Application(qt, theme=theme, bundled_fonts=screenshot is not None, remembers=screenshot is None)
        window: MainWindow | None = None

        async def start() -> None:
            nonlocal window
            window = application.new_window()
            await window.opening.start_demo_session(Demo())
            if seconds is not None:
                application.spawn(finish(), "end the demo")

        async def finish() -> None:
            await asyncio.sleep(seconds or 0)
            if screenshot is not None and window is not None:
                window.grab().save(screenshot)
            await application.close_all()

        await application.run(start())
        return 0

    return run_loop(main(), qt)
