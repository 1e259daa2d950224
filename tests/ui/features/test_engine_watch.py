"""The engine of a window is killed: the window keeps what it shows, says so, and opens the document again."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QPushButton

from inspector.base.paths import cache_folder
from inspector.engine.request import RequestError
from inspector.engine.requests.gateways import Connection, Secret
from inspector.engine.requests.summaries import SummarizeLog
from inspector.sources.recorder_places import recorders_folder
from inspector.store.files.capture_folder import unsaved_captures
from inspector.store.files.spool import remove_dead_spools
from inspector.ui.app.application import Application, run_loop
from inspector.ui.app.engines import Engines
from inspector.ui.dialogs.connect import ConnectDialog
from inspector.ui.features import gateway_window
from inspector.ui.features.engine_watch import ENGINE_NOTICE
from inspector.ui.features.opening import READ_ONCE
from inspector.ui.pipe_client import PipeClient
from inspector.ui.widgets.buttons import LinkButton
from inspector.ui.widgets.notice import MESSAGE
from inspector.ui.window.main_window import MainWindow
from tests.builders import envelope, lines_of
from tests.msp_samples import desk, said, session, subsession, written
from tests.numbered import NumberedGateway
from tests.ui.dialogs.test_connect import value
from tests.ui.features.test_capture_saving import answer, open_question
from tests.ui.find import child
from tests.ui.windows import panes_of, until

pytestmark = [
    pytest.mark.real,
    pytest.mark.usefixtures("late_clients"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
_SAID = "The engine has ended unexpectedly."


def log_of(tmp_path: Path, messages: int) -> Path:
    path = tmp_path / "log.jsonl"
    path.write_bytes(
        b"".join(msgspec.json.encode(envelope("chat", {"text": str(one)})) + b"\n" for one in range(messages))
    )
    return path


def run_with_engines(qapp: QApplication, steps: Callable[[Application], Awaitable[None]]) -> None:
    """Runs an async test whose windows have engine processes; all of them have ended afterwards."""
    engines = Engines(keeps_spare=False)
    pids: list[int] = []

    async def main() -> int:
        application = Application(qapp, theme="light", bundled_fonts=True, remembers=False, engines=engines)

        async def start() -> None:
            try:
                await steps(application)
            finally:
                pids.extend(engines.pids)
                await application.close_all()

        await application.run(start())
        return 0

    assert run_loop(main(), qapp) == 0
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def kill_engine(window: MainWindow) -> None:
    assert isinstance(window.shown.client, PipeClient)
    os.kill(window.shown.client.pid, signal.SIGKILL)


def click_reopen(window: MainWindow, key: str, label: str = "Reopen") -> None:
    notice = window.notices.notice(key)
    assert notice is not None
    link = next(one for one in notice.findChildren(LinkButton) if one.label == label)
    QTest.mouseClick(link, Qt.MouseButton.LeftButton)


async def opened(application: Application, path: Path) -> MainWindow:
    window = application.new_window()
    window.opening.open_path(path)
    await until(lambda: window.panes is not None and not window.opening.reading, "the log", 120)
    return window


def words_of(window: MainWindow, key: str) -> str:
    notice = window.notices.notice(key)
    assert notice is not None
    return notice.text


async def watching(application: Application, gateway: NumberedGateway, token: str = "") -> MainWindow:
    """A window that has received 50 messages from a gateway."""
    window = application.new_window()
    assert window.gateway.watch(Connection(url=gateway.url, space="demo", token=Secret(token)))
    await gateway.joined()
    await gateway.say(50)
    await until(lambda: window.shown.state.messages == 52, "the messages", 120)
    return window


async def reopened(application: Application, window: MainWindow, count: int) -> None:
    """Waits for the window that replaces another one."""
    await until(lambda: window not in application.windows, "the end of the old window", 120)
    (other,) = application.windows
    await until(lambda: other.panes is not None and other.shown.state.messages == count, "the document", 120)


def test_a_log_is_opened_again_after_its_engine_was_killed(qapp: QApplication, tmp_path: Path) -> None:
    async def steps(application: Application) -> None:
        window = await opened(application, log_of(tmp_path, 5))
        client = window.shown.client
        assert client is not None
        failures: list[object] = []
        assert isinstance(client, PipeClient)
        os.kill(client.pid, signal.SIGSTOP)
        client.send_request(SummarizeLog(), failures.append, failures.append)
        kill_engine(window)
        await until(lambda: window.notices.notice(ENGINE_NOTICE) is not None, "the notice", 60)
        await until(lambda: bool(failures), "the failure of the request", 60)
        assert failures == [_SAID]
        assert window.panes is not None
        assert len(window.panes.rows.visible) == 5
        notice = window.notices.notice(ENGINE_NOTICE)
        assert notice is not None
        assert _SAID in notice.accessibleName() or _SAID in notice.text
        # What the user does meanwhile fails with a sentence, and nothing hangs.
        with contextlib.suppress(RequestError):
            window.filtering.apply("chat")
        window.panes.go_to(2)
        click_reopen(window, ENGINE_NOTICE)
        await reopened(application, window, 5)

    run_with_engines(qapp, steps)


def test_the_view_is_kept_when_a_log_is_opened_again(qapp: QApplication, tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(lines_of(*(envelope("chat", {"text": str(one)}, context="why/deep") for one in range(300))))

    async def steps(application: Application) -> None:
        window = await opened(application, path)
        before = panes_of(window)
        before.details.links.scope_requested.emit(10)
        await until(lambda: before.rows.scope is not None, "the scope")
        before.filter_state.apply_filter('kind == "chat" and no > 20')
        await until(lambda: len(before.rows) == 280, "the filter")
        before.messages.go_to(250)
        before.details.show_tab("Raw")
        window.marking.toggle(30)
        await until(lambda: window.shown.state.marks == 1, "the mark")
        before.messages.view.anchor.put_at_top(240, 0)
        await asyncio.sleep(2.5)  # marks are written, and the scope has its name
        kill_engine(window)
        await until(lambda: window.notices.notice(ENGINE_NOTICE) is not None, "the notice", 60)
        await asyncio.sleep(0.5)  # the notice makes the table shorter
        place = before.messages.view.anchor.at_top()
        assert "watching the file" not in window.status.words()
        click_reopen(window, ENGINE_NOTICE)
        await reopened(application, window, 300)
        (other,) = application.windows
        after = panes_of(other)
        await until(
            lambda: len(after.rows) == 280 and after.rows.scope == before.rows.scope, "the filter and the scope"
        )
        await until(lambda: after.messages.current_message() == 250, "the selection")
        await until(lambda: after.messages.view.anchor.at_top() == place, "the place")
        assert after.filter_state.stack == before.filter_state.stack
        assert after.details.tabs.tabText(after.details.tabs.currentIndex()) == "Raw"
        await until(lambda: other.shown.state.marks == 1, "the mark")
        await until(lambda: "watching the file" in other.status.words(), "following")

    run_with_engines(qapp, steps)


def test_lost_edits_of_sub_sessions_are_reported(qapp: QApplication, tmp_path: Path) -> None:
    async def steps(application: Application) -> None:
        window = await opened(application, written(tmp_path, desk()))
        window.msp.view.show_subsessions()
        await until(lambda: window.msp.view.sub is not None, "the sub-sessions")
        window.msp.add_message("user", "A question")
        await until(lambda: window.msp.saving.dirty, "the edit")
        kill_engine(window)
        await until(lambda: window.notices.notice(ENGINE_NOTICE) is not None, "the notice", 60)
        notice = window.notices.notice(ENGINE_NOTICE)
        assert notice is not None
        assert "Unsaved edits of sub-sessions are lost." in notice.text
        click_reopen(window, ENGINE_NOTICE)
        await until(lambda: window not in application.windows, "the end of the old window", 120)
        (other,) = application.windows
        await until(lambda: other.shown.state.is_sessions and not other.opening.reading, "the sessions", 120)
        assert not other.msp.saving.dirty

    run_with_engines(qapp, steps)


def test_sessions_of_several_files_are_opened_again(qapp: QApplication, tmp_path: Path) -> None:
    other = {"session": session("m2", said("b1"), lists=("s3",)), "subsessions": [subsession("s3", "m2", said("b2"))]}
    files = [written(tmp_path, desk()), written(tmp_path, other, "other.json")]

    async def steps(application: Application) -> None:
        window = application.new_window()
        window.opening.open_paths(list(map(str, files)))
        await until(lambda: window.panes is not None and not window.opening.reading, "the sessions", 120)
        count = window.shown.state.messages
        assert window.shown.state.session_files == files
        kill_engine(window)
        await until(lambda: window.notices.notice(ENGINE_NOTICE) is not None, "the notice", 60)
        click_reopen(window, ENGINE_NOTICE)
        await reopened(application, window, count)
        (other,) = application.windows
        await until(lambda: not other.opening.reading, "the end of reading", 120)
        assert other.shown.state.is_sessions
        assert other.shown.state.session_files == files

    run_with_engines(qapp, steps)


def test_a_stream_is_opened_again_as_far_as_it_was_read(qapp: QApplication) -> None:
    async def steps(application: Application) -> None:
        read, write = os.pipe()
        window = application.new_window()
        window.opening.open_path(Path(f"/dev/fd/{read}"))
        os.write(write, lines_of(*(envelope("chat", {"text": str(one)}) for one in range(3))))
        await until(lambda: window.shown.state.messages == 3, "the messages", 120)
        kill_engine(window)
        await until(lambda: window.notices.notice(ENGINE_NOTICE) is not None, "the notice", 60)
        assert f"Reopen shows all that was read from {read} until then." in words_of(window, ENGINE_NOTICE)
        # Others remove the copies of ended programs.
        remove_dead_spools()
        click_reopen(window, ENGINE_NOTICE)
        await reopened(application, window, 3)
        (other,) = application.windows
        assert other.shown.state.name == str(read)
        other.close()
        await until(lambda: not application.windows, "the end of the window", 60)
        os.close(read)
        os.close(write)
        assert list(cache_folder().glob("spool-*")) == []

    run_with_engines(qapp, steps)


def test_a_stream_whose_engine_ended_before_its_first_message_is_not_opened_again(qapp: QApplication) -> None:
    async def steps(application: Application) -> None:
        read, write = os.pipe()
        window = application.new_window()
        window.opening.open_path(Path(f"/dev/fd/{read}"))
        await until(lambda: bool(application.engines.pids), "the engine", 60)
        os.kill(application.engines.pids[0], signal.SIGKILL)
        await until(lambda: _SAID in words_of(window, MESSAGE), "the sentence", 60)
        assert words_of(window, MESSAGE) == f"{_SAID} {READ_ONCE}"
        notice = window.notices.notice(MESSAGE)
        assert notice is not None
        assert [one for one in notice.findChildren(LinkButton) if one.label == "Reopen"] == []
        os.close(read)
        os.close(write)

    run_with_engines(qapp, steps)


def test_an_engine_killed_while_it_joins_leaves_no_recorder(qapp: QApplication) -> None:
    async def steps(application: Application) -> None:
        silent = asyncio.Event()

        async def hold(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            silent.set()
            with contextlib.suppress(OSError):
                await _reader.read(-1)
            writer.close()

        server = await asyncio.start_server(hold, "127.0.0.1", 0)
        host, port = server.sockets[0].getsockname()
        window = application.new_window()
        assert window.gateway.watch(Connection(url=f"ws://{host}:{port}", space="demo"))
        await silent.wait()
        await until(lambda: window.panes is not None, "the document", 60)
        kill_engine(window)
        await until(lambda: window.notices.notice(ENGINE_NOTICE) is not None, "the notice", 60)
        assert words_of(window, ENGINE_NOTICE) == f"{_SAID} It was joining the gateway."
        await until(lambda: list(recorders_folder().iterdir()) == [], "the end of the recorder", 60)
        silent.clear()
        click_reopen(window, ENGINE_NOTICE, "Reconnect")
        await silent.wait()
        await until(lambda: window not in application.windows, "the end of the old window", 60)
        server.close()

    run_with_engines(qapp, steps)


def test_an_engine_killed_while_it_opens_a_log(qapp: QApplication, tmp_path: Path) -> None:
    async def steps(application: Application) -> None:
        window = application.new_window()
        window.opening.open_path(log_of(tmp_path, 60_000))
        await until(lambda: window.panes is not None, "the first rows", 120)
        assert window.opening.reading
        kill_engine(window)
        await until(lambda: window.notices.notice(ENGINE_NOTICE) is not None, "the notice", 60)
        await until(lambda: not window.opening.reading, "the end of reading", 60)
        assert 0 < window.shown.state.messages <= 60_000
        click_reopen(window, ENGINE_NOTICE)
        await reopened(application, window, 60_000)

    run_with_engines(qapp, steps)


def test_an_engine_killed_before_the_first_message(qapp: QApplication, tmp_path: Path) -> None:
    async def steps(application: Application) -> None:
        engines = application.engines
        window = application.new_window()
        window.opening.open_path(log_of(tmp_path, 5))
        await until(lambda: bool(engines.pids), "the engine", 60)
        os.kill(engines.pids[0], signal.SIGKILL)
        await until(lambda: window.notices.notice(MESSAGE) is not None, "the sentence", 60)
        assert window.panes is None
        click_reopen(window, MESSAGE)
        await until(lambda: window.panes is not None and window.shown.state.messages == 5, "the log", 120)

    run_with_engines(qapp, steps)


def test_a_live_capture_is_opened_again_with_all_its_messages(qapp: QApplication) -> None:
    async def steps(application: Application) -> None:
        async with NumberedGateway() as gateway:
            window = await watching(application, gateway)
            kill_engine(window)
            await until(lambda: window.notices.notice(ENGINE_NOTICE) is not None, "the notice", 60)
            assert not window.shown.state.is_live
            notice = window.notices.notice(ENGINE_NOTICE)
            assert notice is not None
            assert "the capture goes on" in notice.text
            await gateway.say(50)
            click_reopen(window, ENGINE_NOTICE)
            await until(lambda: window not in application.windows, "the end of the old window", 120)
            (other,) = application.windows
            await until(lambda: other.panes is not None and other.shown.state.messages == 102, "the capture", 120)
            assert other.shown.state.unsaved is not None
            assert other.gateway.connection == window.gateway.connection
            await gateway.say(50)
            await until(lambda: other.shown.state.messages == 152, "more messages", 60)
            other.actions_by_id["capture.disconnect"].trigger()
            await until(lambda: not other.shown.state.is_live, "the end of the connection", 60)
            assert other.shown.state.messages == 152

    run_with_engines(qapp, steps)


def test_a_start_page_recovers_a_capture_that_goes_on(qapp: QApplication) -> None:
    async def steps(application: Application) -> None:
        async with NumberedGateway() as gateway:
            window = await watching(application, gateway)
            kill_engine(window)
            await until(lambda: window.notices.notice(ENGINE_NOTICE) is not None, "the notice", 60)
            await gateway.say(50)
            (unsaved,) = unsaved_captures()
            other = application.new_window()
            other.capture_saving.recover(unsaved)
            await until(lambda: other.shown.state.is_live and other.shown.state.messages == 102, "the capture", 120)
            connection = other.gateway.connection
            assert connection is not None
            assert (connection.url, connection.space) == (gateway.url, "demo")
            await gateway.say(50)
            await until(lambda: other.shown.state.messages == 152, "more messages", 60)

    run_with_engines(qapp, steps)


def test_the_token_is_asked_for_after_the_program_that_joined_has_ended(qapp: QApplication) -> None:
    async def steps(application: Application) -> None:
        async with NumberedGateway() as gateway:
            window = await watching(application, gateway, "a-secret-token")
            kill_engine(window)
            await until(lambda: window.notices.notice(ENGINE_NOTICE) is not None, "the notice", 60)
            (unsaved,) = unsaved_captures()
            other = application.new_window()
            other.capture_saving.recover(unsaved)
            await until(lambda: other.shown.state.is_live and other.shown.state.messages == 52, "the capture", 120)
            (recorder,) = recorders_folder().iterdir()
            os.kill(int(recorder.name), signal.SIGKILL)
            await until(lambda: other.notices.notice(MESSAGE) is not None, "the end of the recorder", 60)
            click_reopen(other, MESSAGE, "Reconnect")
            dialog = child(other, ConnectDialog, "connectDialog")
            assert value(dialog, "Address") == gateway.url
            assert value(dialog, "Space") == "demo"
            assert value(dialog, "Token") == ""
            child(dialog, QLineEdit, "connectToken").setText("a-secret-token")
            QTest.mouseClick(child(dialog, QPushButton, "connectConnect"), Qt.MouseButton.LeftButton)
            await until(lambda: len(gateway.joins) == 2, "the join", 60)
            assert [one["token"] for one in gateway.joins] == ["a-secret-token"] * 2
            assert b"a-secret-token" not in unsaved.path.read_bytes()

    run_with_engines(qapp, steps)


def test_a_closed_window_whose_engine_has_ended_leaves_the_gateway(qapp: QApplication) -> None:
    async def steps(application: Application) -> None:
        async with NumberedGateway() as gateway:
            window = await watching(application, gateway)
            path = window.shown.state.path
            assert path is not None
            kill_engine(window)
            await until(lambda: window.notices.notice(ENGINE_NOTICE) is not None, "the notice", 60)
            window.close()
            await until(lambda: window not in application.windows, "the end of the window", 60)
            await until(lambda: b'"mark":"closed"' in path.read_bytes(), "the close", 60)
            await until(lambda: list(recorders_folder().iterdir()) == [], "the end of the recorder", 60)

    run_with_engines(qapp, steps)


def test_a_closed_window_whose_engine_hangs_leaves_the_gateway(
    qapp: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gateway_window, "_LEAVE_S", 0.5)

    async def steps(application: Application) -> None:
        async with NumberedGateway() as gateway:
            window = await watching(application, gateway)
            path = window.shown.state.path
            assert path is not None
            assert isinstance(window.shown.client, PipeClient)
            os.kill(window.shown.client.pid, signal.SIGSTOP)
            window.gateway.leave_gateway()
            await application.close_all()
            await until(lambda: b'"mark":"closed"' in path.read_bytes(), "the close", 60)
            await until(lambda: list(recorders_folder().iterdir()) == [], "the end of the recorder", 60)

    run_with_engines(qapp, steps)


def test_a_capture_is_discarded_although_its_engine_hangs(qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gateway_window, "_LEAVE_S", 0.5)

    async def steps(application: Application) -> None:
        async with NumberedGateway() as gateway:
            window = await watching(application, gateway)
            path, client = window.shown.state.path, window.shown.client
            assert path is not None
            assert isinstance(client, PipeClient)
            os.kill(client.pid, signal.SIGSTOP)
            for _ in range(2_000):  # more than the pipe holds
                client.send_request(SummarizeLog(), lambda _answer: None)
            window.close()
            await until(lambda: open_question(window) is not None, "the question", 60)
            dialog = open_question(window)
            assert dialog is not None
            answer(dialog, "Discard")
            await until(lambda: window not in application.windows, "the end of the window", 60)
            await until(lambda: list(recorders_folder().iterdir()) == [], "the end of the recorder", 60)
            assert list(path.parent.iterdir()) == []

    run_with_engines(qapp, steps)


def test_closing_a_window_ends_its_engine(qapp: QApplication, tmp_path: Path) -> None:
    async def steps(application: Application) -> None:
        engines = application.engines
        application.new_window()
        window = await opened(application, log_of(tmp_path, 5))
        assert len(engines.pids) == 1
        window.close()
        await until(lambda: not engines.pids, "the end of the engine", 60)

    run_with_engines(qapp, steps)
