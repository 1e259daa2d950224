"""The context tree and the marks of a document in an engine process."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from inspector.document.marks_file import beside_capture
from inspector.engine.process import start_engine
from inspector.engine.requests.marks import (
    ContextTarget,
    LookForMarks,
    NameTarget,
    Note,
    NotesOfTargets,
    RestoreMarks,
    SetNotes,
    TargetNote,
    WriteMarks,
)
from inspector.engine.targets import OpenOptions, Target
from inspector.ui.engine_process import EngineProcess
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.contexts.panel import ContextsPanel
from inspector.ui.pipe_client import PipeClient
from tests.builders import envelope, lines_of, received
from tests.ui.waiting import PATIENCE_MS

pytestmark = pytest.mark.real
_WAIT_MS = 3 * PATIENCE_MS  # an engine starts


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.jsonl"
    path.write_bytes(lines_of(*(received(envelope("chat", context=f"c{n}/x")) for n in range(30))))
    return path


@pytest.fixture
def client(log: Path, theme_controller: ThemeController, qtbot: QtBot) -> Iterator[PipeClient]:
    engine = EngineProcess(start_engine())
    made = PipeClient(engine, theme_controller)
    made.updated.connect(lambda _update: made.changed.emit())
    with qtbot.waitSignal(made.progressed, timeout=_WAIT_MS, check_params_cb=lambda progress: progress.ended):
        made.open([Target(log)], OpenOptions(follow=True))
    yield made
    made.close()
    engine.client.close()


def test_the_tree_follows_a_log(client: PipeClient, log: Path, theme_controller: ThemeController, qtbot: QtBot) -> None:
    panel = ContextsPanel(client, theme_controller)
    qtbot.addWidget(panel)
    panel.resize(320, 300)
    with qtbot.waitExposed(panel):
        panel.show()
    qtbot.waitUntil(lambda: panel.model.rowCount() == 62, timeout=_WAIT_MS)
    qtbot.waitUntil(lambda: [panel.model.label(row) for row in range(4)] == ["demo", "main", "c0", "x"])
    with log.open("ab") as file:
        file.write(lines_of(received(envelope("chat", context="c0/y"))))
    qtbot.waitUntil(lambda: panel.model.rowCount() == 63, timeout=_WAIT_MS)
    qtbot.waitUntil(lambda: (panel.model.count(0), panel.model.count(2), panel.model.label(4)) == (31, 2, "y"))
    titles = [action.text() for action in panel.menu_for(2).actions()]
    assert {"Copy path", "Copy id", "Mark", "This context and below"} <= set(titles)
    tips: list[str] = []
    panel.model.request_tip(4, tips.append)
    qtbot.waitUntil(lambda: bool(tips))
    assert "1 message here" in tips[0]
    QTest.keyClicks(panel.find_box, "c17")
    qtbot.waitUntil(lambda: panel.model.rowCount() == 2)
    QTest.keyClick(panel.find_box, Qt.Key.Key_Escape)
    panel.stop()


def test_marks_are_set_and_written(client: PipeClient, log: Path, qtbot: QtBot) -> None:
    client.answer_now(LookForMarks(log))
    client.answer_now(RestoreMarks(complete=True))
    context = ContextTarget(0, 0)
    named = client.answer_now(NameTarget(context))
    assert (named.target, named.name, named.note) == (context, "c0", Note())
    changed = client.answer_now(SetNotes((TargetNote(3, Note(True)), TargetNote(context, Note(comment="Here")))))
    assert changed.tolist() == [3]
    assert client.answer_now(NotesOfTargets((3, context))) == [Note(True), Note(comment="Here")]
    qtbot.waitUntil(lambda: client.state.marks == 2)
    written: list[None] = []
    client.send_request(WriteMarks(), written.append)
    qtbot.waitUntil(lambda: bool(written), timeout=_WAIT_MS)
    assert [entry["no"] for entry in json.loads(beside_capture(log).read_bytes())["messages"]] == [4]
