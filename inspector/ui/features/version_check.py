"""Checks for newer versions of the program if the settings allow it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, QUrl, Signal
from PySide6.QtWidgets import QWidget

from inspector import version
from inspector.present.update_words import about_words, available_version, is_check_due
from inspector.settings import KnownRelease

if TYPE_CHECKING:
    from inspector.engine.requests.releases import FoundRelease
    from inspector.ui.panels.start.panel import StartPage
    from inspector.ui.services import Services

_DELAY_MS = 3_000
"""Delay of the first check, so that it does not slow down the start."""


class VersionCheck(QObject):
    """Requests the release feed, at most once a day, and keeps its answer in the settings.

    Signals:
        changed(): the newest version is known, or is not shown any more.
    """

    changed = Signal()

    def __init__(
        self, services: Services, parent: QObject | None = None, *, now_s: Callable[[], float] = time.time
    ) -> None:
        """Stores its collaborators.

        Args:
            services: the settings, and the engine that requests the feed.
            parent: the owner.
            now_s: returns the Unix time in seconds.
        """
        super().__init__(parent)
        self._services = services
        self._now_s = now_s
        self._problem = ""
        self._shown = ""
        self._start = QTimer(self)
        self._start.setSingleShot(True)
        self._start.setInterval(_DELAY_MS)
        self._start.timeout.connect(self.check)

    @property
    def available(self) -> str:
        """Number of a newer version, or ""."""
        return available_version(self._services.settings, version())

    @property
    def words(self) -> str:
        """Fact for Help > About."""
        return about_words(self._services.settings, version(), self._problem)

    @property
    def page(self) -> str:
        """Https address of the newer version, or ""."""
        return self._services.settings.known_release.page if self.available else ""

    def show_on(self, page: StartPage) -> None:
        """Names the newer version on a start page."""
        page.show_version(self.available, has_page=bool(self.page))

    def check_soon(self) -> None:
        """Checks when the first windows are shown."""
        self._start.start()

    def stop(self) -> None:
        """Cancels a check that has not begun."""
        self._start.stop()

    def check(self) -> None:
        """Requests the feed if the settings allow it and the last request is a day old."""
        settings, now_s = self._services.settings, self._now_s()
        self._tell()
        if not (self._services.remembers and is_check_due(settings, now_s)):
            return
        from inspector.engine.requests.releases import LatestRelease  # not for a start

        feed = settings.updates.feed
        # Before the answer, so that a feed without one is not requested again at the next start.
        known = settings.known_release
        kept = known.model_copy(update={"asked_s": int(now_s)}) if known.feed == feed else None
        settings.known_release = kept or KnownRelease(feed=feed, asked_s=int(now_s))
        self._problem = ""
        self._services.save_settings()
        self._services.ask_spare(
            LatestRelease(feed), lambda found: self._on_answer(feed, found), lambda: self._on_failure(feed)
        )

    def ask_to_open(self, parent: QWidget) -> None:
        """Asks to open the page of the newer version in the browser."""
        if self.page:
            from inspector.ui.dialogs.link_question import ask_to_open

            ask_to_open(QUrl(self.page), parent, origin=f"The page of version {self.available} is on")

    def _on_answer(self, feed: str, found: FoundRelease) -> None:
        known = self._services.settings.known_release
        if known.feed != feed:  # another feed was entered meanwhile
            return
        self._problem = found.problem
        if not found.problem:
            update = {"version": found.version, "page": found.page}
            self._services.settings.known_release = known.model_copy(update=update)
            self._services.save_settings()
        self._tell()

    def _on_failure(self, feed: str) -> None:
        if self._services.settings.known_release.feed == feed:
            self._problem = "The release feed was not requested: no engine answered."

    def _tell(self) -> None:
        if self._shown != self.available:
            self._shown = self.available
            self.changed.emit()
