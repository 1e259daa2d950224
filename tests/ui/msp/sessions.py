"""A window that shows the sub-sessions of a file, as tests of the view and its dialogs want it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from copy import copy
from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication

from inspector.document.document import CaptureDocument
from inspector.msp.document import SessionDocument
from inspector.ui.app.application import Application
from inspector.ui.msp.panel.panel import SubsessionsPanel
from inspector.ui.msp.panel.sessions_client import SessionsClient
from inspector.ui.window.main_window import MainWindow
from tests.ui.local_client import LocalClient
from tests.ui.windows import run_in_window, until

SAMPLE = Path(__file__).parents[2] / "data" / "msp" / "weekly-report.json"

CAPTURES: list[CaptureDocument] = []
"""Captures of this test, closed at its end."""

Steps = Callable[[MainWindow, SubsessionsPanel], Awaitable[None]]


def at_work(qapp: QApplication, path: Path, steps: Steps) -> None:
    """Run steps in a window that shows the sub-sessions of a file."""

    async def whole(application: Application) -> None:
        window = application.new_window()
        await window.opening.load(path)
        window.show()
        window.activateWindow()
        await until(window.isActiveWindow, "the window is active")  # else nothing has the focus
        window.actions_by_id["view.subsessions"].trigger()
        panel = window.center.currentWidget()
        assert isinstance(panel, SubsessionsPanel)
        await steps(window, panel)

    run_in_window(qapp, whole)


def sessions_of(document: CaptureDocument) -> SessionDocument:
    """The present sessions of a document, without observers and figures."""
    assert document.msp is not None
    found = copy(document.msp)
    found.observers = []
    vars(found).pop("figures", None)
    return found


def add_message(document: CaptureDocument, key: str, text: str) -> None:
    """Adds a message of the user to a sub-session."""
    assert document.msp is not None
    sub = document.msp.subsession(key)
    assert sub is not None
    document.msp.add_message(sub, "user", text)


def close_captures() -> None:
    """Closes the captures that `client_of` opened."""
    while CAPTURES:
        CAPTURES.pop().close()


def client_of(document: SessionDocument, parent: QObject) -> SessionsClient:
    """A client of sessions, for a view without a window. It reports edits at once."""
    capture = CaptureDocument()
    CAPTURES.append(capture)
    for _ in capture.open_sessions(document.paths, sessions=document):
        pass
    client = LocalClient.with_document(capture, parent)
    client.state_changed.connect(client.changed)
    return SessionsClient(client, parent)
