"""The sessions of coding agents, listed and opened from the window."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QListView

from inspector.base.targets import session_target
from inspector.ui.app.application import Application
from inspector.ui.dialogs.agent_sessions import AgentSessionsDialog
from inspector.ui.features.agent_sessions import NOT_LOOKED
from inspector.ui.window.main_window import MainWindow
from tests.ui.features.test_window_restoring import read
from tests.ui.find import child
from tests.ui.windows import panes_of, run_in_window, until

DATA = Path(__file__).parents[2] / "data" / "transcripts"
SESSION = "00000000-0000-4000-8000-000000000001"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folders of two agents, with their sessions."""
    project = tmp_path / "claude" / "projects" / "-work-demo-project"
    shutil.copytree(DATA / "claude-code", project)
    shutil.copytree(DATA / "codex", tmp_path / "codex")
    for path in (*project.rglob("*"), *(tmp_path / "codex").rglob("*")):
        os.utime(path, (1_700_000_000, 1_700_000_000))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path


async def listed(window: MainWindow) -> AgentSessionsDialog:
    window.actions_by_id["file.sessions"].trigger()
    dialog = window.findChild(AgentSessionsDialog)
    assert dialog is not None
    await until(lambda: says(dialog) != "Looking for sessions...", "the list")
    return dialog


def says(dialog: AgentSessionsDialog) -> str:
    label = dialog.findChild(QLabel, "agentSessionsSays")
    assert label is not None
    return label.text()


def rows(dialog: AgentSessionsDialog) -> list[str]:
    view = dialog.findChild(QListView)
    assert view is not None
    model = view.model()
    return [str(model.index(row, 0).data()) for row in range(model.rowCount())]


def test_sessions_are_found_and_one_is_opened_with_its_sub_agents(qapp: QApplication, home: Path) -> None:
    async def whole(application: Application) -> None:
        window = application.new_window()
        dialog = await listed(window)
        assert sorted(rows(dialog)) == ["Count files, in the background.", "Make the totals round once.", "audit-A"]
        assert says(dialog) == "3 sessions."
        field = child(dialog, QLineEdit, "agentSessionsFind")
        QTest.keyClicks(field, "demo count")
        assert rows(dialog) == ["Count files, in the background."]
        assert says(dialog) == "1 of 3 sessions."
        QTest.keyClick(field, Qt.Key.Key_Return)
        await read(window)
        assert [source.name for source in window.document.capture.sources][1:] == ["agent-a0000000000000001.jsonl"]
        assert window.windowTitle() == "Count files, in the background. — Context Inspector"
        tree = panes_of(window).contexts.model
        assert tree.label(0) == "Count files, in the background."
        assert f"reported {sum(tree.reported(0)[:1]):,} tokens in" in tree.describe(0)
        own = home / "claude" / "projects" / "-work-demo-project" / f"{SESSION}.jsonl"
        assert application.settings.recent_files == [session_target(own)]

    run_in_window(qapp, whole)


def test_nothing_found_says_where_it_looked(
    qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "a"))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "b"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))

    async def whole(application: Application) -> None:
        dialog = await listed(application.new_window())
        assert rows(dialog) == []
        listing = dialog.findChild(QListView)
        assert listing is not None
        places = listing.accessibleDescription().partition("Searched places\n")[2].splitlines()
        assert places[:2] == [str(tmp_path / "a"), str(tmp_path / "b")]
        assert places[2].startswith("~")

    run_in_window(qapp, whole)


def test_a_setting_switches_the_lookup_off(qapp: QApplication, home: Path) -> None:
    async def whole(application: Application) -> None:
        application.settings.start.agent_sessions = False
        window = application.new_window()
        window.actions_by_id["file.sessions"].trigger()
        assert window.findChild(AgentSessionsDialog) is None
        assert any(NOT_LOOKED in label.text() for label in window.findChildren(QLabel))

    run_in_window(qapp, whole)


def test_a_recent_session_opens_with_its_sub_agents_again_and_its_file_alone(qapp: QApplication, home: Path) -> None:
    [thread] = home.rglob("*09-00-00*.jsonl")

    async def whole(application: Application) -> None:
        window, alone = application.new_window(), application.new_window()
        for one, target, count in ((window, session_target(thread), 2), (alone, str(thread), 1)):
            one.opening.open_target(target)
            await read(one)
            assert len(one.document.capture.sources) == count
        assert application.settings.recent_files == [str(thread), session_target(thread)]

    run_in_window(qapp, whole)
