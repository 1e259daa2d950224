"""A window on the capture that a tap is writing: its rows come as they are said."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QWidget

from inspector.tap.backlog import CLIENT, SERVER, Backlog
from inspector.tap.recorder import TapRecorder
from inspector.ui.app.application import Application
from tests.ui.find import child
from tests.ui.windows import panes_of, run_in_window, shows, texts, until

pytestmark = pytest.mark.usefixtures("quick_following")


def test_a_window_follows_what_is_said_from_the_first_line_on(qapp: QApplication, tmp_path: Path) -> None:
    capture, backlog = tmp_path / "tap.ctxcap", Backlog()
    recorder = TapRecorder(capture, backlog, origin=lambda: {"source": "tap"}, say=pytest.fail)
    recorder.start()
    assert recorder.capture.begun.wait(30)

    async def steps(application: Application) -> None:
        application.open_targets([str(capture)])  # as --open does: nothing was said yet
        window = application.windows[0]
        await until(lambda: window.panes is not None, "the window")
        backlog.append_data(
            CLIENT, b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}\n{"jsonrpc"'
        )
        await until(lambda: shows(application, 1), "the call")
        backlog.append_data(CLIENT, b':"2.0","method":"notifications/initialized"}\n')
        backlog.append_data(SERVER, b'{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"heard"}]}}\n')
        await until(lambda: shows(application, 3), "the rest of the line, and the answer")
        assert "heard" in texts(window)[2]
        assert window.document.analysis.correlation.columns["cause"][2] == 0
        backlog.end(CLIENT, "")
        status = child(window, QWidget, "statusWatched")
        assert status.accessibleName() == "watching the file"
        recorder.close("the server ended with exit code 3", 3)
        await until(lambda: shows(application, 4), "the row of its end")
        assert "the server ended with exit code 3" in texts(window)[3]
        await until(lambda: "ended" in status.accessibleName(), "the status bar")
        assert "The server ended with exit code 3." in status.toolTip()
        assert [found.code for found in window.document.analysis.findings.findings_about(3)] == ["server-ended"]
        panes = panes_of(window)
        assert panes.rows.state.gaps == 0, "nothing is missing"
        panes.go_to(3)
        assert child(window, QWidget, "gap").accessibleName() == "Server ended"
        backlog.append_data(SERVER, b"too late")
        window.close()

    try:
        run_in_window(qapp, steps)
    finally:
        recorder.close("")
