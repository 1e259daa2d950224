"""An MCP server tapped from the window: chosen, changed, watched, and taken out again."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QListView, QPushButton, QWidget

from inspector.tap.backlog import CLIENT, Backlog
from inspector.tap.recorder import TapRecorder
from inspector.ui.app.application import Application
from inspector.ui.dialogs.tap_server import TapServerDialog
from inspector.ui.widgets.labels import TextLabel
from inspector.ui.window.main_window import MainWindow
from tests.http_server import serving
from tests.ui.find import child
from tests.ui.windows import run_in_window, shows, until

pytestmark = pytest.mark.usefixtures("quick_following")


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / ".config"))
    monkeypatch.delenv("CODEX_HOME", raising=False)
    monkeypatch.chdir(tmp_path)
    found = tmp_path / ".cursor" / "mcp.json"
    found.parent.mkdir()
    return found


async def opened(window: MainWindow) -> TapServerDialog:
    window.actions_by_id["capture.tap"].trigger()
    dialog = window.findChild(TapServerDialog)
    assert dialog is not None
    await until(lambda: says(dialog, "Says") != "Looking for servers...", "the servers")
    return dialog


def says(dialog: TapServerDialog, what: str) -> str:
    return child(dialog, TextLabel, f"tapServer{what}").text()


def text_of(file: Path) -> str:
    return file.read_text()


def entry(file: Path) -> dict[str, Any]:
    return json.loads(text_of(file))["mcpServers"]["records"]


def folder_of(arguments: list[str]) -> Path:
    folder = Path(arguments[arguments.index("-o") + 1])
    folder.mkdir(parents=True)
    return folder


def press(dialog: TapServerDialog, button: str) -> None:
    QTest.mouseClick(child(dialog, QPushButton, f"tapServer{button}"), Qt.MouseButton.LeftButton)


def test_a_server_that_is_started_is_tapped_and_its_capture_opens(qapp: QApplication, file: Path) -> None:
    before = json.dumps({"mcpServers": {"records": {"command": "npx", "args": ["-y", "x"], "env": {"K": "secret-1"}}}})
    file.write_text(before)

    async def whole(application: Application) -> None:
        window = application.new_window()
        dialog = await opened(window)
        assert child(dialog, QListView, "tapServerList").model().index(0, 0).data() == "records"
        assert "+ args: tap -o " in says(dialog, "Changes")
        assert "secret-1" not in says(dialog, "Changes") + says(dialog, "Says")
        press(dialog, "Change")
        arguments = entry(file)["args"]
        assert arguments[-4:] == ["--", "npx", "-y", "x"]
        capture, backlog = folder_of(arguments) / "npx.ctxcap", Backlog()  # as when the client starts its server
        recorder = TapRecorder(capture, backlog, origin=lambda: {"source": "tap"}, say=pytest.fail)
        recorder.start()
        backlog.append_data(CLIENT, b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n')
        try:
            await until(lambda: shows(application, 1), "what it says, in the window")
            assert "npx.ctxcap is open" in says(dialog, "Says")
        finally:
            recorder.close("")
        press(dialog, "Close")
        assert entry(file)["args"] == arguments, "it stays tapped"
        await until(lambda: window.findChild(TapServerDialog) is None, "the dialog's end")
        again = await opened(window)
        await until(lambda: "- args: tap" in says(again, "Changes"), "the way back")
        press(again, "Change")
        assert text_of(file) == before
        again.close()

    run_in_window(qapp, whole)


@pytest.mark.real
def test_a_server_at_an_address_is_tapped_while_the_dialog_is_open(qapp: QApplication, file: Path) -> None:
    async def whole(application: Application) -> None:
        window = application.new_window()
        dialog = await opened(window)
        press(dialog, "Change")
        address = entry(file)["url"]
        assert address != f"{origin}/call"

        async def asked() -> bool:
            try:
                async with aiohttp.ClientSession() as session, session.post(address, json={"id": 1}) as answer:
                    return answer.status == 200
            except aiohttp.ClientError:
                return False

        while not await asked():  # noqa: ASYNC110 - it is being started
            await asyncio.sleep(0.05)
        await until(lambda: shows(application, 3), "the exchange, in the window")
        window.close()  # and the dialog with it
        assert text_of(file) == before
        assert not await asked(), "the tap has ended"

    with serving() as (origin, _):
        before = json.dumps({"mcpServers": {"records": {"url": f"{origin}/call"}}})
        file.write_text(before)
        run_in_window(qapp, whole)


def test_without_servers_it_says_where_it_looked(qapp: QApplication, file: Path) -> None:
    async def whole(application: Application) -> None:
        window = application.new_window()
        dialog = await opened(window)
        assert "Searched places\n~" in child(dialog, QListView, "tapServerList").accessibleDescription()
        assert not child(dialog, QWidget, "tapServerChange").isEnabled()
        dialog.close()

    run_in_window(qapp, whole)
