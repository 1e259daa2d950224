"""What becomes of a window's capture: recovered, saved, asked about, thrown away; and a disk that is full."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel, QPushButton, QWidget

from inspector.demo.script import Demo
from inspector.sources.connection import Connection
from inspector.sources.recorder_places import recorders_folder
from inspector.store.files.capture_folder import captures_folder, lock_capture, new_capture, unsaved_captures
from inspector.store.files.capture_writer import CaptureWriter
from inspector.ui.app.application import Application
from inspector.ui.dialogs.message_dialog import MessageDialog
from inspector.ui.widgets.buttons import LinkButton
from inspector.ui.widgets.notice import Notice
from inspector.ui.window.main_window import MainWindow
from tests.numbered import NumberedGateway, numbered
from tests.ui.find import child
from tests.ui.windows import run_in_window, state_of, until


def left(space: str, count: int, start_s: int = 1_700_000_000) -> Path:
    """An unsaved capture of an earlier run."""
    own = new_capture(space)
    writer = CaptureWriter(own.path, origin={"source": "gateway", "space": space})
    for number in range(count):
        writer.add_frame(numbered(number + 1), direction="in", time_ns=(start_s + number) * 1_000_000_000)
    writer.close()
    own.release()
    return own.path


def notices(window: MainWindow) -> list[str]:
    """What the start page says of unsaved captures."""
    stack = window.start_page.notices
    return [notice.text for key in stack.keys() if (notice := stack.notice(key)) is not None]  # noqa: SIM118


def click_link(notice: Notice | None, words: str) -> None:
    assert notice is not None
    link = next(one for one in notice.findChildren(LinkButton) if one.label == words)
    QTest.mouseClick(link, Qt.MouseButton.LeftButton)


async def question(window: MainWindow) -> MessageDialog:
    await until(lambda: open_question(window) is not None, "a question")
    found = open_question(window)
    assert found is not None
    return found


def open_question(window: MainWindow) -> MessageDialog | None:
    return next((one for one in window.findChildren(MessageDialog) if one.isVisible()), None)


def answer(dialog: MessageDialog, words: str) -> None:
    button = next(one for one in dialog.findChildren(QPushButton) if one.text() == words)
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


async def choose_file(window: MainWindow, target: Path) -> None:
    """As in the file dialog: a name, and Enter."""
    await until(lambda: window.findChild(QFileDialog, "saveDialog") is not None, "the file dialog")
    dialog = child(window, QFileDialog, "saveDialog")
    dialog.fileSelected.emit(str(target))
    dialog.close()
    dialog.setObjectName("answered")


def said(window: MainWindow) -> str:
    notice = window.notices.notice("message")
    return notice.text if notice is not None else ""


async def watching(application: Application, gateway: NumberedGateway, count: int) -> MainWindow:
    """A window that has received so many messages."""
    window = application.new_window()
    assert window.gateway.watch(Connection(url=gateway.url, space="demo"))
    await gateway.joined()
    await gateway.say(count)
    await until(lambda: window.document.kind_counts().get("chat", 0) == count, "messages")
    if window.panes is not None:
        window.panes.bridge.flush()
    return window


def chats(path: Path) -> list[int]:
    frames = [json.loads(line).get("frame", {}) for line in path.read_bytes().splitlines()]
    return [frame["payload"]["n"] for frame in frames if frame.get("kind") == "chat"]


# Recovering


def test_an_unsaved_capture_is_offered_and_recovered(qapp: QApplication) -> None:
    path = left("demo", 1_234)

    async def steps(application: Application) -> None:
        window = application.new_window()
        (words,) = notices(window)
        assert words.startswith("A capture was not saved when the program last ended: demo, 1,234 messages, 1")
        click_link(window.start_page.notices.notice("unsaved0"), "Recover")
        await until(lambda: window.panes is not None and state_of(window).messages == 1_234, "its messages")
        await until(window.isWindowModified, "the mark of an unsaved document")
        assert window.windowTitle() == "demo[*] — Context Inspector"
        assert window.actions_by_id["file.save"].isEnabled()
        assert unsaved_captures() == []  # held by us
        assert application.settings.recent_files == []
        another = application.new_window()
        assert notices(another) == []
        window.close()
        answer(await question(window), "Discard")
        await until(lambda: window not in application.windows, "the window to close")
        assert not path.exists()

    run_in_window(qapp, steps)


@pytest.mark.trouble
def test_a_recovered_capture_that_is_neither_saved_nor_discarded_is_offered_again(qapp: QApplication) -> None:
    path = left("demo", 3)

    async def steps(application: Application) -> None:
        window = application.new_window()
        click_link(window.start_page.notices.notice("unsaved0"), "Recover")
        await until(lambda: window.panes is not None, "the document")

    run_in_window(qapp, steps)  # ends it as Ctrl+C does
    assert [one.path for one in unsaved_captures()] == [path]


@pytest.mark.trouble
@pytest.mark.parametrize("way", ["quit", "Ctrl+C"])
def test_a_recovered_capture_of_which_nothing_shows_yet_stays(qapp: QApplication, way: str) -> None:
    path = left("demo", 5_000)

    async def steps(application: Application) -> None:
        window = application.new_window()
        click_link(window.start_page.notices.notice("unsaved0"), "Recover")
        assert window.panes is None or state_of(window).messages == 0
        if way == "quit":
            await application.quit()

    run_in_window(qapp, steps)
    assert [(one.path, one.messages) for one in unsaved_captures()] == [(path, 5_000)]


@pytest.mark.trouble
def test_discarding_an_unsaved_capture_asks_first(qapp: QApplication) -> None:
    path = left("demo", 3)

    async def steps(application: Application) -> None:
        window, another = application.new_window(), application.new_window()
        for words, stays in [("Cancel", True), ("Discard", False)]:
            click_link(window.start_page.notices.notice("unsaved0"), "Discard")
            answer(await question(window), words)
            await until(lambda: open_question(window) is None, "the end of the question")
            if stays:
                await asyncio.sleep(0.05)
            await until(lambda stays=stays: path.exists() is stays, "the file")
            await until(lambda stays=stays: bool(notices(window)) is stays, "the notice")
            await until(lambda stays=stays: bool(notices(another)) is stays, "the notice in the other window")

    run_in_window(qapp, steps)


@pytest.mark.trouble
def test_of_many_the_latest_stand_first_and_all_can_be_seen(qapp: QApplication) -> None:
    for number in range(6):
        left(f"space-{number}", 2, 1_700_000_000 + 1_000 * number)

    async def steps(application: Application) -> None:
        window = application.new_window()
        shown = notices(window)
        assert [next(n for n in range(6) if f"space-{n}" in words) for words in shown[:3]] == [5, 4, 3]
        assert shown[3].startswith("3 more captures were not saved, ")
        click_link(window.start_page.notices.notice("unsavedMore"), "Show all")
        assert len(notices(window)) == 6

    run_in_window(qapp, steps)


@pytest.mark.trouble
def test_a_capture_taken_by_another_instance_meanwhile_is_said_to_be_open(qapp: QApplication) -> None:
    path = left("demo", 3)

    async def steps(application: Application) -> None:
        window = application.new_window()
        other = lock_capture(path)
        assert other is not None
        click_link(window.start_page.notices.notice("unsaved0"), "Recover")
        assert said(window) == f"The capture {path.name} is open in another window."
        assert notices(window) == []
        other.release()

    run_in_window(qapp, steps)


# The question


def test_closing_asks_about_a_live_capture(qapp: QApplication, tmp_path: Path) -> None:
    target = tmp_path / "kept.ctxcap"

    async def steps(application: Application) -> None:
        async with NumberedGateway() as gateway:
            window = await watching(application, gateway, 5)
            assert window.isWindowModified()
            window.close()
            dialog = await question(window)
            buttons = [button.text() for button in dialog.findChildren(QPushButton)]
            assert buttons == ["Discard", "Cancel", "Save..."]
            window.close()
            await asyncio.sleep(0.05)  # asked twice, there is one question
            assert len([one for one in window.findChildren(MessageDialog) if one.isVisible()]) == 1
            answer(dialog, "Cancel")
            await until(lambda: open_question(window) is None, "the end of the question")
            await gateway.say(5)  # it goes on
            await until(lambda: window.document.kind_counts()["chat"] == 10, "more messages")
            window.close()
            answer(await question(window), "Save...")
            await choose_file(window, target)
            await until(lambda: window not in application.windows, "the window to close")
        assert chats(target) == list(range(1, 11))
        assert list(captures_folder().iterdir()) == []
        assert application.settings.recent_files == [str(target)]

    run_in_window(qapp, steps)


@pytest.mark.trouble
def test_no_name_chosen_means_not_closed(qapp: QApplication) -> None:
    async def steps(application: Application) -> None:
        async with NumberedGateway() as gateway:
            window = await watching(application, gateway, 5)
            window.close()
            answer(await question(window), "Save...")
            await until(lambda: window.findChild(QFileDialog, "saveDialog") is not None, "the file dialog")
            child(window, QFileDialog, "saveDialog").reject()
            await asyncio.sleep(0.05)
            assert window in application.windows
            assert window.shown.state.is_live

    run_in_window(qapp, steps)
    assert len(unsaved_captures()) == 1


@pytest.mark.trouble
def test_nothing_is_asked_when_nothing_was_received(qapp: QApplication) -> None:
    async def steps(application: Application) -> None:
        async with NumberedGateway() as gateway:
            greeted = await watching(application, gateway, 0)
            await until(lambda: "system/welcome" in greeted.document.kind_counts(), "the welcome")
            refused = application.new_window()
            refused.gateway.watch(Connection(url="ws://127.0.0.1:9", space="demo"))
            await until(lambda: not refused.shown.state.is_live, "the refusal")
            for window in (greeted, refused):
                assert not window.isWindowModified()
                window.close()
            await until(lambda: not application.windows, "the windows to close")
        await until(lambda: list(captures_folder().iterdir()) == [], "the engine to delete the captures")

    run_in_window(qapp, steps)


@pytest.mark.trouble
def test_a_demo_is_thrown_away_without_a_question(qapp: QApplication) -> None:
    async def steps(application: Application) -> None:
        window = application.new_window()
        await window.gateway.start_demo_session(Demo())
        await until(lambda: "chat" in window.document.kind_counts(), "messages")
        assert not window.isWindowModified()
        assert window.actions_by_id["file.save"].isEnabled()  # who wants it can have it
        window.close()
        await until(lambda: not application.windows, "the window to close")
        assert list(captures_folder().iterdir()) == []

    run_in_window(qapp, steps)


@pytest.mark.trouble
def test_quitting_asks_each_window_and_one_cancel_keeps_all(qapp: QApplication) -> None:
    async def steps(application: Application) -> None:
        async with NumberedGateway() as one, NumberedGateway() as other:
            first, second = await watching(application, one, 2), await watching(application, other, 2)
            first.actions_by_id["file.quit"].trigger()
            answer(await question(first), "Discard")
            answer(await question(second), "Cancel")
            await asyncio.sleep(0.05)
            assert application.windows == [first, second]
            assert first.shown.state.is_live
            assert first.isWindowModified() or first.capture_saving.unsaved
            second.actions_by_id["file.quit"].trigger()
            answer(await question(first), "Discard")
            answer(await question(second), "Discard")
            await until(lambda: not application.windows, "the windows to close")
        assert list(captures_folder().iterdir()) == []

    run_in_window(qapp, steps)


@pytest.mark.trouble
def test_captures_of_one_name_are_told_apart_by_their_gateways(qapp: QApplication) -> None:
    async def steps(application: Application) -> None:
        async with NumberedGateway() as one, NumberedGateway() as other:
            first = await watching(application, one, 1)
            assert first.windowTitle() == "demo[*] — Context Inspector"
            second = await watching(application, other, 1)
            names = [f"demo at {urlsplit(gateway.url).netloc}" for gateway in (one, other)]
            assert [window.windowTitle() for window in (first, second)] == [
                f"{n}[*] — Context Inspector" for n in names
            ]
            second.close()
            dialog = await question(second)
            assert any(label.text() == f"Save the capture of {names[1]}?" for label in dialog.findChildren(QLabel))
            answer(dialog, "Discard")
            await until(lambda: application.windows == [first], "the window to close")
            first.close()
            answer(await question(first), "Discard")
            await until(lambda: not application.windows, "the window to close")

    run_in_window(qapp, steps)


@pytest.mark.trouble
def test_a_capture_that_names_no_gateway_that_can_be_read_is_called_by_its_name(
    qapp: QApplication, tmp_path: Path
) -> None:
    for place in ("one", "other"):
        (tmp_path / place).mkdir()
        writer = CaptureWriter(tmp_path / place / "demo.ctxcap", origin={"source": "gateway", "url": "ws://[::1/x"})
        writer.add_frame(numbered(1), direction="in", time_ns=1_700_000_000_000_000_000)
        writer.close()

    async def steps(application: Application) -> None:
        for place in ("one", "other"):
            await application.new_window().opening.load(tmp_path / place / "demo.ctxcap")
        titles = [window.windowTitle().replace("[*]", "") for window in application.windows]
        assert titles == ["demo.ctxcap — Context Inspector"] * 2

    run_in_window(qapp, steps)


# Saving


def test_a_saved_live_capture_goes_on_under_its_name(qapp: QApplication, tmp_path: Path) -> None:
    target = tmp_path / "kept.ctxcap"

    async def steps(application: Application) -> None:
        async with NumberedGateway() as gateway:
            window = await watching(application, gateway, 5)
            QTest.keySequence(window, "Ctrl+S")
            await choose_file(window, target)
            await until(lambda: said(window) == f"Saved as {target}.", "the sentence")
            assert window.windowTitle() == "kept.ctxcap — Context Inspector"
            assert not window.isWindowModified()
            assert not window.actions_by_id["file.save"].isEnabled()
            assert window.actions_by_id["file.save_as"].isEnabled()
            await gateway.say(5)
            await until(lambda: window.document.kind_counts()["chat"] == 10, "more messages")
            window.close()
            await until(lambda: window not in application.windows, "the window to close, unasked")
        assert chats(target) == list(range(1, 11))
        assert list(captures_folder().iterdir()) == []

    run_in_window(qapp, steps)


@pytest.mark.trouble
def test_what_cannot_be_saved_is_a_sentence_and_the_capture_goes_on(qapp: QApplication, tmp_path: Path) -> None:
    async def steps(application: Application) -> None:
        async with NumberedGateway() as gateway:
            window = await watching(application, gateway, 5)
            window.actions_by_id["file.save_as"].trigger()
            await choose_file(window, tmp_path / "none" / "kept.ctxcap")
            await until(lambda: said(window), "the sentence")
            assert said(window) == (
                f"kept.ctxcap could not be saved in {tmp_path / 'none'}: No such file or directory. "
                "Choose a folder that exists; the capture is where it was."
            )
            await gateway.say(5)
            await until(lambda: window.document.kind_counts()["chat"] == 10, "more messages")
            assert window.isWindowModified()

    run_in_window(qapp, steps)


def test_save_as_of_a_log_is_a_copy_and_the_window_stays_with_its_own(qapp: QApplication, tmp_path: Path) -> None:
    log, target = tmp_path / "log.jsonl", tmp_path / "copy.jsonl"
    log.write_bytes(numbered(1).encode() + b"\r\n torn")

    async def steps(application: Application) -> None:
        window = application.new_window()
        await window.opening.load(log)
        assert not window.actions_by_id["file.save"].isEnabled()
        window.actions_by_id["file.save_as"].trigger()
        await choose_file(window, target)
        await until(lambda: said(window) == f"Saved a copy as {target}.", "the sentence")
        assert target.read_bytes() == log.read_bytes()
        assert window.document.path == log
        window.close()
        assert window not in application.windows

    run_in_window(qapp, steps)


# A full disk


@pytest.mark.trouble
@pytest.mark.skipif(sys.platform != "linux", reason="no process limits the files of another one")
def test_a_full_disk_stops_the_capture_and_nothing_received_is_lost(qapp: QApplication, tmp_path: Path) -> None:
    target = tmp_path / "kept.ctxcap"

    def leave_room(limit: int) -> None:
        import resource  # not on Windows

        (recorder,) = recorders_folder().iterdir()
        resource.prlimit(int(recorder.name), resource.RLIMIT_FSIZE, (limit, -1))

    async def steps(application: Application) -> None:
        async with NumberedGateway() as gateway:
            window = await watching(application, gateway, 5)
            path = window.document.path
            assert path is not None
            leave_room(path.stat().st_size + 10_000)
            await gateway.say(60, 500)
            await until(lambda: not window.shown.state.is_live, "the end of the capture")
            assert said(window).startswith(f"The capture was stopped: there is no space left for {path}. ")
            notice = window.notices.notice("message")
            assert notice is not None
            assert notice.links == ["Save as..."]
            assert path is not None
            on_disk = chats(path)
            assert on_disk == list(range(1, len(on_disk) + 1))
            assert 5 < len(on_disk) < 65
            assert window.document.kind_counts()["chat"] == len(on_disk)
            assert window.document.unreadable == 0
            assert path.read_bytes().endswith(b"\n")
            assert window.isWindowModified()
            leave_room(-1)
            click_link(notice, "Save as...")
            await choose_file(window, target)
            await until(lambda: said(window) == f"Saved as {target}.", "the sentence")
            kept = chats(target)
            assert kept == list(range(1, len(kept) + 1))
            assert len(kept) > len(on_disk)
            assert window.document.kind_counts()["chat"] == len(kept)
            window.close()
            await until(lambda: window not in application.windows, "the window to close, unasked")
        assert list(captures_folder().iterdir()) == []

    run_in_window(qapp, steps)


@pytest.mark.trouble
def test_no_room_for_a_capture_at_all_is_said(qapp: QApplication, user_folders: Path) -> None:
    (user_folders / "data").mkdir()
    (user_folders / "data" / "captures").write_text("in the way")

    async def steps(application: Application) -> None:
        window = application.new_window()
        window.gateway.watch(Connection(url="ws://127.0.0.1:9", space="demo"))
        await until(lambda: "File exists" in said(window), "the reason")
        assert window.panes is None

    run_in_window(qapp, steps)


@pytest.mark.trouble
def test_the_question_counts_the_messages_that_the_status_bar_counts(qapp: QApplication) -> None:
    own = new_capture("demo")
    writer = CaptureWriter(own.path, origin={"source": "gateway", "space": "demo"})
    writer.add_frame(numbered(1), direction="in", time_ns=1_700_000_000_000_000_000)
    writer.add_mark("gap", time_ns=1_700_000_001_000_000_000, reason="the gateway is gone")
    writer.add_frame(numbered(2), direction="in", time_ns=1_700_000_002_000_000_000)
    writer.close()
    own.release()

    async def steps(application: Application) -> None:
        window = application.new_window()
        click_link(window.start_page.notices.notice("unsaved0"), "Recover")
        await until(lambda: window.panes is not None and state_of(window).messages == 3, "its messages and the gap")
        counted = window.findChild(QWidget, "statusCounts")
        assert counted is not None
        await until(lambda: counted.accessibleName().startswith("2 messages"), "the count")
        window.close()
        dialog = await question(window)
        assert any(label.text().startswith("2 messages are not saved yet.") for label in dialog.findChildren(QLabel))
        answer(dialog, "Discard")
        await until(lambda: window not in application.windows, "the window to close")

    run_in_window(qapp, steps)
