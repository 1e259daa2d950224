"""Tests of `inspector.ui.features.version_check` in real windows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

import pytest
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QAbstractButton, QApplication, QCheckBox, QLabel, QLineEdit, QMessageBox
from pytestqt.qtbot import QtBot

from inspector import version
from inspector.engine.requests.releases import FoundRelease, LatestRelease
from inspector.present.update_words import NO_FEED, NOT_CHECKED
from inspector.settings import KnownRelease, Settings, Updates, load_settings
from inspector.ui.app.application import Application
from inspector.ui.dialogs.about import AboutDialog
from inspector.ui.dialogs.settings_dialog import SettingsDialog
from inspector.ui.window.main_window import MainWindow
from tests.ui.find import child
from tests.ui.windows import story, window_on

FEED = "https://127.0.0.1:1/releases/latest"
PAGE = "https://example.com/releases/v99.0"
NOW_S = 1_800_000_000.0
DAY_S = 86_400


class Feed:
    """Takes the requests of an application in place of its engine."""

    def __init__(self) -> None:
        self.asked: list[LatestRelease] = []
        self._answer: Callable[[FoundRelease], object] | None = None

    def ask_spare(self, request: Any, answered: Callable[[Any], object], failed: Callable[[], object]) -> None:
        del failed
        if isinstance(request, LatestRelease):
            self.asked.append(request)
            self._answer = answered

    def answer(self, found: FoundRelease) -> None:
        assert self._answer is not None
        self._answer(found)


@pytest.fixture
def feed() -> Feed:
    return Feed()


@pytest.fixture
def application(qapp: QApplication, feed: Feed, monkeypatch: pytest.MonkeyPatch) -> Iterator[Application]:
    application = Application(qapp, theme="light", bundled_fonts=True)
    monkeypatch.setattr(application.engines, "ask_spare", feed.ask_spare)
    application.versions._now_s = lambda: NOW_S
    yield application
    for window in list(application.windows):
        window.close()
    application.theme.dispose()


def allow(application: Application) -> None:
    application.settings.updates = Updates(check=True, feed=FEED)


def line(window: MainWindow) -> str:
    label = child(window.start_page, QAbstractButton, "startVersion")
    return "" if label.isHidden() else label.text()


def about(window: MainWindow) -> str:
    window.actions_by_id["help.about"].trigger()
    dialog = child(window, AboutDialog)
    (fact,) = [row for row in child(dialog, QLabel, "aboutFacts").text().split("\n") if row.startswith("Updates: ")]
    dialog.accept()
    dialog.setParent(None)
    return fact.removeprefix("Updates: ")


def test_nothing_is_requested_unless_the_user_allows_it(application: Application, feed: Feed) -> None:
    window = application.new_window()
    application.versions.check()
    assert about(window) == NOT_CHECKED
    application.settings.updates = Updates(feed=FEED)
    application.versions.check()
    application.settings.updates = Updates(check=True)
    application.versions.check()
    assert about(window) == NO_FEED
    allow(application)
    application.remembers = False  # else every such run would request it
    application.versions.check()
    assert feed.asked == []
    assert Updates() == Updates(check=False, feed="")


def test_a_newer_version_is_named_on_start_pages_and_in_about(application: Application, feed: Feed) -> None:
    window = application.new_window()
    allow(application)
    application.versions.check()
    assert feed.asked == [LatestRelease(FEED)]
    assert (line(window), about(window)) == ("", "not known yet")
    feed.answer(FoundRelease("99.0", PAGE))
    assert line(window) == "Version 99.0 is available"
    assert line(application.new_window()) == "Version 99.0 is available"
    assert about(window) == "version 99.0 is available"
    assert load_settings().settings.known_release == KnownRelease(
        feed=FEED, asked_s=int(NOW_S), version="99.0", page=PAGE
    )
    application.settings.updates = Updates(feed=FEED)
    application.apply_settings()
    assert (line(window), about(window)) == ("", NOT_CHECKED)


def test_it_is_requested_once_a_day(application: Application, feed: Feed) -> None:
    application.new_window()
    allow(application)
    application.versions.check()
    feed.answer(FoundRelease(problem="The release feed at 127.0.0.1 cannot be reached."))
    application.versions.check()
    application.versions._now_s = lambda: NOW_S + DAY_S - 1
    application.apply_settings()
    assert len(feed.asked) == 1
    application.versions._now_s = lambda: NOW_S + DAY_S
    application.versions.check()
    assert len(feed.asked) == 2
    application.versions._now_s = lambda: NOW_S - DAY_S  # the clock was wrong
    application.versions.check()
    assert len(feed.asked) == 3


def test_the_newest_version_and_a_problem(application: Application, feed: Feed) -> None:
    window = application.new_window()
    allow(application)
    application.versions.check()
    feed.answer(FoundRelease(problem="The release feed names no version."))
    assert (line(window), about(window)) == ("", "The release feed names no version.")
    application.versions._now_s = lambda: NOW_S + DAY_S
    application.versions.check()
    feed.answer(FoundRelease(version()))
    day = f"{datetime.fromtimestamp(NOW_S + DAY_S):%Y-%m-%d}"
    assert (line(window), about(window)) == ("", f"this is the newest version, as of {day}")


def test_the_answer_of_a_replaced_feed_is_ignored(application: Application, feed: Feed) -> None:
    window = application.new_window()
    allow(application)
    application.versions.check()
    first = feed._answer
    application.settings.updates = Updates(check=True, feed=f"{FEED}/2")
    application.versions.check()
    assert [one.feed for one in feed.asked] == [FEED, f"{FEED}/2"]
    assert first is not None
    first(FoundRelease("99.0", PAGE))
    assert line(window) == ""


def test_the_link_asks_before_the_browser_opens(
    application: Application, feed: Feed, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toString()) or True)
    window = application.new_window()
    allow(application)
    application.versions.check()
    feed.answer(FoundRelease("99.0", PAGE))
    child(window.start_page, QAbstractButton, "startVersion").click()
    box = child(window, QMessageBox, "openLinkQuestion")
    assert box.text() == f"The page of version 99.0 is on example.com. Open it in the browser?\n\n{PAGE}"
    assert opened == []
    next(button for button in box.buttons() if button.text() == "Open").click()
    assert opened == [PAGE]


def test_without_a_page_there_is_no_question(application: Application, feed: Feed) -> None:
    window = application.new_window()
    allow(application)
    application.versions.check()
    feed.answer(FoundRelease("99.0"))
    button = child(window.start_page, QAbstractButton, "startVersion")
    assert line(window) == "Version 99.0 is available"
    assert not button.isEnabled()


def test_a_window_with_a_document_keeps_its_content(application: Application, feed: Feed) -> None:
    window = window_on(application, story())
    allow(application)
    application.versions.check()
    feed.answer(FoundRelease("99.0", PAGE))
    assert about(window) == "version 99.0 is available"


def test_the_settings_allow_it(application: Application, feed: Feed, qtbot: QtBot) -> None:
    window = application.new_window()
    dialog: SettingsDialog = window.settings_editing.open("updates")
    field = child(dialog, QLineEdit, "updatesFeed")
    assert not field.isEnabled()
    child(dialog, QCheckBox, "updatesCheck").click()
    assert field.isEnabled()
    field.setText("http://127.0.0.1/")
    field.editingFinished.emit()
    assert "https://" in child(dialog, QLabel, "updatesFeedField").text()
    assert application.settings.updates.feed == ""
    field.setText(f" {FEED} ")
    field.editingFinished.emit()
    assert feed.asked == [LatestRelease(FEED)]
    child(dialog, QAbstractButton, "settingsRestore").click()
    assert application.settings.updates == Updates()
    assert (field.text(), field.isEnabled()) == ("", False)
    dialog.accept()


def test_an_address_with_a_secret_is_not_written() -> None:
    from inspector.present.secret_settings import without_secrets

    key = "ghp_" + "Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4zBc7e"
    feed = f"https://h/{key}"
    settings = Settings(updates=Updates(check=True, feed=feed), known_release=KnownRelease(feed=feed))
    written, left_out = without_secrets(settings)
    assert left_out == ["the release feed"]
    assert key not in written.model_dump_json()
    assert settings.updates.feed == feed
