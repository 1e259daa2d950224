"""From the demo's gateway over a real socket to the painted table, on Qt's own event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from inspector.demo.script import Demo
from inspector.document.document import CaptureDocument
from inspector.engine.requests.summaries import SummarizeLog
from inspector.sources.connection import Connection
from inspector.ui.app.application import Application, run_loop
from inspector.ui.window.main_window import MainWindow

pytestmark = [pytest.mark.real, pytest.mark.timeout(300)]


async def until(condition: Callable[[], object], what: str, seconds: float = 100) -> None:
    """Wait for a condition of the window."""
    try:
        async with asyncio.timeout(seconds):
            while not condition():  # noqa: ASYNC110  a window has no event for "painted"
                await asyncio.sleep(0.02)
    except TimeoutError:
        pytest.fail(f"waited {seconds} s for {what}")


def run_in_window(qapp: QApplication, steps: Callable[[Application], object]) -> None:
    """Run an async test with an application on Qt's loop."""

    async def main() -> int:
        application = Application(qapp, theme="light", bundled_fonts=True)

        async def start() -> None:
            try:
                await steps(application)  # type: ignore[misc]  # an async function
            finally:
                await application.close_all()

        await application.run(start())
        return 0

    assert run_loop(main(), qapp) == 0


def texts(window: MainWindow) -> list[str]:
    """What the table shows, a row a line."""
    assert window.panes is not None
    model = window.panes.messages.model
    return [
        " | ".join(
            str(model.index(row, column).data(Qt.ItemDataRole.DisplayRole) or "")
            for column in range(model.columnCount())
        )
        for row in range(model.rowCount())
    ]


def test_demo_reaches_the_painted_table(qapp: QApplication) -> None:
    async def steps(application: Application) -> None:
        demo = Demo()
        await demo.start(pace=0.02)
        window = application.new_window()
        assert window.gateway.watch(Connection(url=demo.url, space=demo.space))
        window.gateway.adopt_demo(demo)
        await until(lambda: window.panes and len(window.panes.rows) > 60, "60 rows")
        panes = window.panes
        assert panes is not None
        client = panes.client
        await until(lambda: client.answer_now(SummarizeLog()).figures["badges"]["collapsed"] >= 2, "two collapses")
        await until(lambda: "search_records" in "\n".join(texts(window)), "a call in the table")
        await until(lambda: panes.contexts.model.rowCount() >= 1, "the contexts")
        assert window.grab().toImage().pixelColor(640, 400).isValid()
        window.gateway.leave_gateway()
        await until(lambda: not client.state.is_live, "the end of the session")
        path = client.state.path
        assert path is not None
        again = CaptureDocument()
        again.load(path)
        assert len(again.capture) == client.state.messages
        shown = client.answer_now(SummarizeLog()).figures
        assert again.analysis.transients.totals()["collapsed"] == shown["badges"]["collapsed"]
        assert path.read_bytes().startswith(b'{"ctxcap":1')
        again.close()

    run_in_window(qapp, steps)


@pytest.mark.parametrize("url", ["ws://127.0.0.1:9", "ws://127.0.0.1:1"])
def test_a_refused_connection_is_a_sentence_in_the_window(qapp: QApplication, url: str) -> None:
    async def steps(application: Application) -> None:
        window = application.new_window()
        window.gateway.watch(Connection(url=url, space="demo"))
        await until(lambda: window.notices.notice("message"), "the sentence")
        notice = window.notices.notice("message")
        assert notice is not None
        assert "refused" in notice.text.lower() or "no program" in notice.text.lower()

    run_in_window(qapp, steps)


def test_a_log_that_is_none_is_refused_with_a_sentence(qapp: QApplication, tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("milk\neggs\n")

    async def steps(application: Application) -> None:
        window = application.new_window()
        window.opening.open_path(path)
        await until(lambda: window.notices.notice("message"), "the sentence")
        notice = window.notices.notice("message")
        assert notice is not None
        assert "notes.txt is no log that can be read" in notice.text
        assert window.panes is None

    run_in_window(qapp, steps)
