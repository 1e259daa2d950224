"""Acts of the user after the engine process of the window has ended: each does nothing, or ends with its sentence."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QDialog, QMenu

from inspector.engine.request import RequestError
from inspector.ui.app.application import Application, run_loop
from inspector.ui.app.engines import Engines
from inspector.ui.features.engine_watch import ENGINE_NOTICE
from inspector.ui.panels.details.json_tree import JsonTree, TreePage
from inspector.ui.pipe_client import PipeClient
from inspector.ui.window.main_window import MainWindow
from tests.builders import lines_of
from tests.ui.windows import panes_of, story_lines, until

pytestmark = [pytest.mark.real, pytest.mark.logs_warnings, pytest.mark.usefixtures("late_clients")]

_NOT_HERE = ("file.", "app.", "help.", "window.")


def tree_of(window: MainWindow) -> JsonTree:
    page = panes_of(window).details.pages["Tree"]
    assert isinstance(page, TreePage)
    return page.tree


def acts_of(window: MainWindow) -> dict[str, Callable[[], object]]:
    """Acts in the panels of a document, by name."""
    panes, tree = panes_of(window), tree_of(window)
    acts: dict[str, Callable[[], object]] = {
        name: action.trigger
        for name, action in window.actions_by_id.items()
        if action.isEnabled() and not name.startswith(_NOT_HERE)
    }
    return acts | {
        "menu of a row": lambda: panes.messages.view.menu.build(0, 5),
        "menu of a context": lambda: panes.contexts.menu_for(0),
        "menu of a value": lambda: tree.menu_for(tree.model().index(0, 1)),
        "chain": lambda: panes.chain.show(1),
        "hidden message": lambda: panes.go_to(3),
        "mark": lambda: window.marking.toggle(1),
        "filter": lambda: panes.filter_state.apply_filter("no == 1"),
        "find": lambda: (panes.find_in_view.bar.editor.setText("a"), panes.find_in_view.step(1)),
        "scope": lambda: panes.details.links.scope_requested.emit(1),
    }


def test_no_act_fails_otherwise_than_with_a_sentence(
    qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(lines_of(*story_lines()))
    raised: list[tuple[str, BaseException | None]] = []

    async def steps(application: Application) -> None:
        window, act_name = application.new_window(), "none"
        window.show()
        window.opening.open_path(path)
        await until(lambda: window.panes is not None and not window.opening.reading, "the log")
        panes = panes_of(window)
        panes.go_to(5)
        panes.details.show_tab("Tree")
        await until(lambda: tree_of(window).model() is not None, "the tree")
        monkeypatch.setattr(sys, "excepthook", lambda _kind, error, _trace: raised.append((act_name, error)))
        asyncio.get_running_loop().set_exception_handler(
            lambda _loop, context: raised.append((act_name, context.get("exception")))
        )
        assert isinstance(panes.client, PipeClient)
        os.kill(panes.client._client.pid, signal.SIGKILL)
        await until(lambda: window.notices.notice(ENGINE_NOTICE) is not None, "the notice")
        for act_name, act in acts_of(window).items():
            try:
                act()
            except RequestError as error:  # a call of a method of Qt would lead it to the hook
                raised.append((act_name, error))
            await asyncio.sleep(0.01)
            for widget in QApplication.topLevelWidgets():
                if isinstance(widget, QDialog | QMenu) and widget.isVisible():
                    widget.close()

    async def main() -> int:
        engines = Engines(keeps_spare=False)
        application = Application(qapp, theme="light", bundled_fonts=True, remembers=False, engines=engines)

        async def start() -> None:
            try:
                await steps(application)
            finally:
                await application.close_all()

        await application.run(start())
        return 0

    assert run_loop(main(), qapp) == 0
    assert "go.problem_next" in dict(raised)
    assert {name: error for name, error in raised if not isinstance(error, RequestError)} == {}
