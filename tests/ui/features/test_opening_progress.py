"""Progress while a log is read, and cancelling it: what was read stays usable."""

from __future__ import annotations

import asyncio
import gzip
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from inspector.document.document import CaptureDocument
from inspector.engine import opening, served_document
from inspector.ui import intervals
from inspector.ui.app.application import Application
from inspector.ui.widgets.status_button import StatusButton
from inspector.ui.window.main_window import MainWindow
from tests.builders import envelope, lines_of, log_file
from tests.ui.engines import patch_engine
from tests.ui.windows import ask_engine, numbers, panes_of, run_in_window, state_of, until

COUNT = 2_000


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> Path:
    """A log that takes many steps to read, each of which is told of; with no time at all nothing would be begun."""
    read_log = opening._read

    def read_slowly(*arguments: Any, **options: Any) -> Generator[object]:
        for step in read_log(*arguments, **options):
            time.sleep(0.002)
            yield step

    for module in (opening, served_document):
        patch_engine(monkeypatch, module, "LIVE_BLOCK_BYTES", 4_096)
    patch_engine(monkeypatch, opening, "_read", read_slowly)
    monkeypatch.setattr(intervals, "QUIET_S", 0.0)
    monkeypatch.setattr(intervals, "TELL_S", 0.0)
    return log_file(lines_of(*(envelope("chat", {"text": f"line {n}"}) for n in range(COUNT))))


def button(window: MainWindow, name: str) -> StatusButton:
    found = window.status.findChild(StatusButton, name)
    assert found is not None
    return found


async def begun(application: Application, log: Path) -> MainWindow:
    """A window that has read some of a log and not all of it."""
    window = application.new_window()
    window.show()
    window.opening.open_path(log)
    await until(lambda: window.panes is not None and state_of(window).messages > 100, "rows")
    assert state_of(window).messages < COUNT
    return window


async def stopped(window: MainWindow) -> None:
    await until(lambda: not button(window, "statusGoOn").isHidden(), "the end of reading")


def test_progress_is_shown_with_a_button_to_cancel(qapp: QApplication, log: Path) -> None:
    async def steps(application: Application) -> None:
        window = await begun(application, log)
        await until(lambda: any(word.startswith("reading, ") for word in window.status.words()), "progress")
        assert button(window, "statusCancel").isVisible()
        await until(lambda: state_of(window).messages == COUNT, "all messages")
        await until(lambda: button(window, "statusCancel").isHidden(), "the end of reading")
        await until(lambda: not any("reading" in word.lower() for word in window.status.words()), "the status bar")

    run_in_window(qapp, steps)


def test_cancelling_keeps_what_was_read_and_says_so(qapp: QApplication, log: Path) -> None:
    async def steps(application: Application) -> None:
        window = await begun(application, log)
        QTest.mouseClick(button(window, "statusCancel"), Qt.MouseButton.LeftButton)
        await stopped(window)
        read = state_of(window).messages
        assert 100 < read < COUNT
        assert any(word.startswith("Reading stopped at ") for word in window.status.words())
        said = [word for word in window.status.words() if f"{read:,}" in word]
        assert said == [f"{read:,} messages"]
        panes = panes_of(window)
        assert numbers(window) == list(range(1, read + 1))
        panes.filter_state.apply_filter("no <= 3")
        panes.go_to(2)
        assert (numbers(window), panes.details.message) == ([1, 2, 3], 2)
        await asyncio.sleep(0.05)
        assert state_of(window).messages == read

    run_in_window(qapp, steps)


def test_escape_cancels_too_and_go_on_reads_the_rest_here(qapp: QApplication, log: Path) -> None:
    async def steps(application: Application) -> None:
        window = await begun(application, log)
        for _ in range(2):
            QTest.keyClick(window, Qt.Key.Key_Escape)
            await stopped(window)
            read = state_of(window).messages
            assert button(window, "statusGoOn").accessibleName() == "Continue"
            button(window, "statusGoOn").click()
            await until(lambda least=read: state_of(window).messages > least, "more messages")
        await until(lambda: "watching the file" in window.status.words(), "the end of reading")
        assert state_of(window).messages == COUNT
        assert application.windows == [window]
        assert not [word for word in window.status.words() if "eading" in word or word == "Continue"]
        with log.open("ab") as file:
            file.write(lines_of(envelope("chat", {"text": "later"})))
        await until(lambda: len(numbers(window)) == COUNT + 1, "what the log gains")

    run_in_window(qapp, steps)


def test_an_archive_is_opened_again_in_place_of_the_window(qapp: QApplication, log: Path, tmp_path: Path) -> None:
    packed = tmp_path / "log.jsonl.gz"
    packed.write_bytes(gzip.compress(log.read_bytes()))

    async def steps(application: Application) -> None:
        window = await begun(application, packed)
        QTest.keyClick(window, Qt.Key.Key_Escape)
        await stopped(window)
        assert button(window, "statusGoOn").accessibleName() == "Open again"
        place = window.geometry()
        button(window, "statusGoOn").click()
        await until(lambda: window not in application.windows, "the window to go")
        assert len(application.windows) == 1
        again = application.windows[0]
        assert again.geometry() == place
        await until(lambda: again.panes is not None and state_of(again).messages == COUNT, "all messages")

    run_in_window(qapp, steps)


@pytest.mark.parametrize("packed", [False, True])
def test_without_a_filter_nothing_says_of_how_many(qapp: QApplication, log: Path, tmp_path: Path, packed: bool) -> None:
    if packed:
        data = log.read_bytes()
        log = tmp_path / "log.jsonl.gz"
        log.write_bytes(gzip.compress(data))

    async def steps(application: Application) -> None:
        window = await begun(application, log)
        said: set[str] = set()
        while state_of(window).messages < COUNT:
            window.document_status.refresh_counts()
            said |= {window.filter_bar.counts_text(), *window.status.words()}
            await asyncio.sleep(0)
        await until(lambda: f"{COUNT:,} messages" in window.status.words(), "the number of messages")
        assert not [words for words in said if " of " in words or "shown" in words]
        panes_of(window).filter_state.apply_filter("no <= 3")
        assert window.filter_bar.counts_text() == f"3 of {COUNT:,}"
        assert f"{COUNT:,} messages, 3 shown" in window.status.words()

    run_in_window(qapp, steps)


def test_the_table_has_the_focus_in_every_window(qapp: QApplication, log: Path) -> None:
    async def steps(application: Application) -> None:
        for _ in range(2):
            application.open_targets([str(log)])
            window = application.windows[-1]
            assert window.status.words() == [f"opening {log.name}"]
            assert not window.start_page.isVisible()
            await until(lambda window=window: window.panes is not None, "rows")
            assert window.focusWidget() is panes_of(window).messages.view

    run_in_window(qapp, steps)


def test_a_file_that_cannot_be_read_leaves_the_start_page(
    qapp: QApplication, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log.write_bytes(b"[" * 300_000)

    async def steps(application: Application) -> None:
        application.open_targets([str(log)])
        (window,) = application.windows
        assert not window.start_page.isVisible()
        await until(lambda: window.notices.notice("message"), "the sentence")
        assert window.start_page.isVisible()
        assert window.status.words()[0] == "No capture open"

    run_in_window(qapp, steps)


@pytest.mark.logs_warnings  # what is checked while the window is at rest may meet the same disk
def test_a_disk_that_fails_while_reading_ends_the_progress(
    qapp: QApplication, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def steps(application: Application) -> None:
        window = await begun(application, log)
        ask_engine(window, break_disk)
        await until(lambda: window.notices.notice("message"), "the sentence")
        assert not [word for word in window.status.words() if "reading" in word or word == "Cancel"]
        assert not window.opening.cancel_reading()

    def fail(offset: int, length: int) -> bytes:
        raise OSError(5, "Input/output error")

    def break_disk(document: CaptureDocument) -> None:
        document.capture.sources[0].read = fail

    run_in_window(qapp, steps)


def test_rows_filter_and_selection_work_while_a_log_is_read(qapp: QApplication, log: Path) -> None:
    async def steps(application: Application) -> None:
        window = await begun(application, log)
        panes = panes_of(window)
        panes.filter_state.apply_filter('text contains "line 1"')
        panes.go_to(1)
        assert panes.details.message == 1
        await until(lambda: state_of(window).messages == COUNT, "all messages")
        panes.bridge.flush()
        assert panes.details.message == 1
        wanted = sum("line 1" in f"line {n}" for n in range(COUNT))
        await until(lambda: len(numbers(window)) == wanted, "the rows of the last slices")

    run_in_window(qapp, steps)


def test_closing_the_window_ends_reading(qapp: QApplication, log: Path) -> None:
    async def steps(application: Application) -> None:
        window = await begun(application, log)
        client = panes_of(window).client
        window.close()
        await until(lambda: not application.windows, "the window to go")
        assert client.state.messages < COUNT

    run_in_window(qapp, steps)


def test_short_work_shows_no_progress(qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intervals, "QUIET_S", 10.0)  # short is what a busy machine calls so

    async def steps(application: Application) -> None:
        window = application.new_window()
        said: list[str] = []
        window.status.set_progress = lambda *_: said.append("progress")  # type: ignore[method-assign]
        await window.opening.load(log_file(lines_of(envelope(), envelope())))
        assert not said

    run_in_window(qapp, steps)
