"""Windows for tests: made on the start page or on a document, with or without an event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from inspector.analysis.passes.user_marks import Target
from inspector.base.slices import run_to_end
from inspector.document.document import CaptureDocument
from inspector.engine.document_state import DocumentState
from inspector.filters.visible import VisibleRows
from inspector.ui.app.application import Application, run_loop
from inspector.ui.docview.panes import Panes
from inspector.ui.look.theme import Theme
from inspector.ui.panels.messages.view_rows import VIEW
from inspector.ui.window.main_window import MainWindow
from tests.builders import document_of, envelope, received, tool_call, tool_result
from tests.conftest import MS
from tests.ui.engines import client_of, in_engine
from tests.ui.local_client import LocalClient

Result = TypeVar("Result")


def story() -> CaptureDocument:
    """Messages in main and in a reasoning context, and a tool result that was collapsed.

    As `story_lines` has them.
    """
    return document_of(*story_lines())


def story_lines() -> list[dict[str, Any]]:
    """Lines of a gateway's log.

    No. 1 and 2 in main; 3 to 8 in `why-1`: start, thought, call, collapsed result, call, consuming result; 9 in main.
    """
    start = envelope("reasoning/start", {"message": "Find the slow part"}, id="why-1")
    inside = {"context": "why-1"}
    search = tool_call("search_records", **inside)
    meta = {
        "contextHints": [{"tool": "search_records", "lifecycle": "transient", "consumedBy": "analysis_store"}],
        "context": {"lifecycle": "transient", "summary": "15 records (page 1)"},
    }
    rows = "\n".join(f"record {n}" for n in range(15))
    found = tool_result(search, rows, meta=meta, **inside)
    store = tool_call("analysis_store", **inside)
    stored = tool_result(store, "Stored", meta={"context": {"consumed": True}}, **inside)
    said = [
        envelope("chat", {"text": "Hello"}), envelope("chat", {"text": "Why is it slow?"}), start,
        envelope("reasoning/thought", {"message": "Look first"}, **inside), search, found, store, stored,
        envelope("chat", {"text": "Done"}),
    ]  # fmt: skip
    return [received(one) for one in said]


def window_on(application: Application, document: CaptureDocument) -> MainWindow:
    """A window that shows a document, at the usual size."""
    window = application.new_window()
    run_to_end(window.showing(client_of(document, window)))
    return window


def application_of(window: MainWindow) -> Application:
    """The application that opened a window."""
    assert isinstance(window.application, Application)
    return window.application


def panes_of(window: MainWindow) -> Panes:
    """The panes of a window that shows a document."""
    assert window.panes is not None
    return window.panes


def panel_of(panes: Panes, name: str, kind: type[Result]) -> Result:
    """A panel of the panes by its id, created on first use."""
    panel = panes.panel(name)
    assert isinstance(panel, kind)
    return panel


def state_of(window: MainWindow) -> DocumentState:
    """The state of the document of a window."""
    return panes_of(window).client.state


def ask_engine(window: MainWindow, function: Callable[..., Result], *arguments: Any) -> Result:
    """Calls a function with the document of a window, where its engine is."""
    return in_engine(panes_of(window).client, function, *arguments)


def engine_view(window: MainWindow) -> VisibleRows:
    """The rows of the table in the engine, which is in this process."""
    client = panes_of(window).client
    assert isinstance(client, LocalClient)
    return client.engine_rows(VIEW)


def theme_of(widget: QWidget) -> Theme:
    """The look of the window a widget stands in."""
    window = widget.window()
    assert isinstance(window, MainWindow)
    return window.theme.theme


def write_comment(window: MainWindow, target: Target, text: str) -> None:
    """Write a comment on a message or a context, as in the editor."""
    window.marking.comment(target)
    window.marking.editor.text.setPlainText(text)
    window.marking.editor.save()


def numbers(window: MainWindow) -> list[int]:
    """Numbers of the messages shown, as the first column says them."""
    return [int(message) + 1 for message in panes_of(window).rows.visible]


def texts(window: MainWindow, most: int | None = None) -> list[str]:
    """What the table shows, a row a line; of its first rows only where a number is given."""
    model = panes_of(window).messages.model
    return [
        " | ".join(
            str(model.index(row, column).data(Qt.ItemDataRole.DisplayRole) or "")
            for column in range(model.columnCount())
        )
        for row in range(model.rowCount())[:most]
    ]


def shows(application: Application, count: int) -> bool:
    """Whether the first window shows so many messages, or counts them as bookkeeping rows above the table."""
    window = application.windows[0]
    if window.panes is None:
        return False
    rows = window.panes.rows
    return len(numbers(window)) + (rows.bookkeeping if rows.hides_bookkeeping else 0) == count


Act = Callable[[MainWindow, QtBot], None]


def in_turn(acts: Sequence[Act], begin_again: Callable[[MainWindow], None]) -> Callable[..., None]:
    """A test that does one act after the other in one window, which is dear to make; a failure names the act.

    Args:
        acts: each looks at something of its own.
        begin_again: puts the window back to what an act begins with.
    """

    def test(window: MainWindow, qtbot: QtBot, subtests: pytest.Subtests) -> None:
        for act in acts:
            with subtests.test(act.__name__):
                begin_again(window)
                act(window, qtbot)

    return test


def bury() -> None:
    """Delete what was to be deleted later: without a loop nobody else does."""
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


async def until(condition: Callable[[], object], what: str, seconds: float = 120) -> None:
    """Wait for a condition; fails the test when it does not come. An engine takes long to start on a busy machine."""
    try:
        async with asyncio.timeout(seconds * 1_000 * MS):
            while not condition():  # noqa: ASYNC110  what a window shows sets no event
                await asyncio.sleep(0.01)
    except TimeoutError:
        pytest.fail(f"waited {seconds} s for {what}")


def run_in_window(qapp: QApplication, steps: Callable[[Application], Awaitable[None]]) -> None:
    """Run an async test with an application on Qt's loop; the windows are closed at the end."""

    async def main() -> int:
        application = Application(qapp, theme="light", bundled_fonts=True)

        async def start() -> None:
            try:
                await steps(application)
            finally:
                await application.close_all()

        await application.run(start())
        return 0

    assert run_loop(main(), qapp) == 0
