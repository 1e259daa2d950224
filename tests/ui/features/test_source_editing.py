"""A window that shows several sources as one document: adding, removing, clocks, a live session beside a log."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication, QDoubleSpinBox, QFileDialog, QPushButton

from inspector.document.document import CaptureDocument
from inspector.document.source_list import is_own_source_list, read_source_list
from inspector.engine.targets import Target
from inspector.filters.scope import Scope
from inspector.ui.app.application import Application
from inspector.ui.dialogs.form_dialog import ValueDialog
from inspector.ui.dialogs.message_dialog import MessageDialog
from inspector.ui.panels.sources.panel import SourcesPanel
from inspector.ui.window.main_window import MainWindow
from tests.builders import envelope, lines_of
from tests.numbered import NumberedGateway, numbered
from tests.ui.features.test_capture_saving import chats, watching
from tests.ui.trees import tip_of
from tests.ui.windows import ask_engine, panes_of, run_in_window, shows, state_of, until
from tests.unit.analysis.views.account.test_same_calls import answered, asked, called, returned

pytestmark = pytest.mark.usefixtures("quick_following")


def _files(folder: Path) -> tuple[Path, Path]:
    agent = [called(1, "toolu_a", "mcp__files__read", path="a.txt"), returned(3, "toolu_a")]
    tap = [asked(1.1, 1, "read", path="a.txt"), answered(2.9, 1)]
    paths = folder / "agent.jsonl", folder / "files.jsonl"
    for path, lines in zip(paths, (agent, tap), strict=True):
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return paths


def _panel(window: MainWindow) -> SourcesPanel:
    window.actions_by_id["view.sources"].trigger()
    return _made(window)


def _made(window: MainWindow) -> SourcesPanel:
    panel = panes_of(window).panel("sources")
    assert isinstance(panel, SourcesPanel)
    return panel


def test_a_source_is_added_its_clock_is_set_and_it_is_removed(qapp: QApplication, tmp_path: Path) -> None:
    agent, tap = _files(tmp_path)

    async def steps(application: Application) -> None:
        application.open_targets([str(agent)])
        window = application.windows[0]
        await until(lambda: shows(application, 2) and not window.opening.reading, "the transcript")
        panes_of(window).messages.go_to(1)
        window.actions_by_id["edit.mark"].trigger()
        window.actions_by_id["file.add_source"].trigger()
        dialog = window.findChild(QFileDialog, "addSourceDialog")
        assert dialog is not None
        dialog.filesSelected.emit([str(tap)])
        dialog.close()
        await until(lambda: shows(application, 4), "both")
        assert panes_of(window).messages.current_message() == 3  # the same message, with its new number
        chain = ask_engine(window, lambda document: [step.message for step in document.likely_chain(0).steps])
        assert chain == [0, 1, 2, 3]
        assert ask_engine(window, lambda document: list(document.analysis.marks.rows)) == [3]
        panel = _panel(window)
        await until(lambda: len(panel.model.rows) == 2, "the rows of the list")
        assert [(one.name, one.state, one.records) for one in panel.model.rows] == [
            ("agent.jsonl", "followed", 2), ("files.jsonl", "followed", 2),
        ]  # fmt: skip
        assert "agent.jsonl and 1 more" in window.windowTitle()
        _look_at_the_tree(application, window)
        kept = window.shown.location.kept_file(state_of(window))
        assert kept is not None
        assert is_own_source_list(kept)
        await until(lambda: list(kept.parent.glob("*.ctxmarks.json")), "the mark beside the list")
        panel.view.enter_row(1)
        clock = window.findChild(ValueDialog, "clockOffsetDialog")
        assert clock is not None
        assert isinstance(clock.field, QDoubleSpinBox)
        clock.field.setValue(-60)
        clock.ok.click()
        await until(lambda: window.document.capture.sources[1].clock_offset_ns == -60_000_000_000, "another clock")
        names = [window.document.capture.sources[int(n)].name for n in window.document.capture.columns["source"]]
        assert names == ["files.jsonl", "files.jsonl", "agent.jsonl", "agent.jsonl"]
        panel = _made(window)
        await until(lambda: len(panel.model.rows) == 2, "the rows of the list")
        panel.view.remove_requested.emit(panel.model.rows[1])
        await until(lambda: shows(application, 2), "the transcript alone")
        assert [source.name for source in window.document.capture.sources] == ["agent.jsonl"]
        window.close()

    run_in_window(qapp, steps)


def test_a_table_of_a_thousand_rows_stays_where_it_is_when_a_source_is_added(
    qapp: QApplication, tmp_path: Path
) -> None:
    later, earlier = tmp_path / "later.jsonl", tmp_path / "earlier.jsonl"
    for path, count, day in ((later, 1_000, 6), (earlier, 40, 5)):
        times = (f"2026-01-{day:02}T09:{n // 60:02}:{n % 60:02}.000Z" for n in range(count))
        path.write_bytes(lines_of(*(envelope(id=f"{path.stem}-{n}", ts=ts) for n, ts in enumerate(times))))

    async def steps(application: Application) -> None:
        application.open_targets([str(later)])
        window = application.windows[0]
        await until(lambda: shows(application, 1_000) and not window.opening.reading, "the log")
        panes_of(window).messages.go_to(600)
        table = panes_of(window).messages.view
        table.verticalScrollBar().setValue(500 * table.rowHeight(0) + 3)
        assert (table.rowAt(0), table.rowViewportPosition(500)) == (500, -3)
        window.actions_by_id["file.add_source"].trigger()
        dialog = window.findChild(QFileDialog, "addSourceDialog")
        assert dialog is not None
        dialog.filesSelected.emit([str(earlier)])
        dialog.close()
        await until(lambda: shows(application, 1_040), "both")
        table = panes_of(window).messages.view
        assert (table.rowAt(0), table.rowViewportPosition(540)) == (540, -3)
        window.close()

    run_in_window(qapp, steps)


def _look_at_the_tree(application: Application, window: MainWindow) -> None:
    """Sources are its first level; a click binds the table to one; without them there are spaces alone."""
    panes = panes_of(window)
    tree, state = panes.contexts, panes.filter_state
    model = tree.model
    assert [(model.label(row), model.count(row)) for row in range(model.rowCount()) if not model.depth(row)] == [
        ("agent.jsonl", 2), ("files.jsonl", 2),
    ]  # fmt: skip
    assert model.describe(0) == "level 1, expanded, 2 messages, followed"
    assert "2 messages read from this source, followed" in tip_of(model, 0)
    row = [model.label(row) for row in range(model.rowCount())].index("files.jsonl")
    tree.view.scope_asked.emit(row)
    assert (state.scope, panes.rows.visible.tolist()) == (Scope(0, None, source=1), [1, 2])
    assert tree.view.marked_row == row
    assert tree.menu_for(row).findChildren(QAction)
    tree.sources_action.trigger()
    assert not application.settings.display.sources_in_contexts
    assert model.rowCount()
    assert all(model.source_of(row) is None for row in range(model.rowCount()))
    tree.sources_action.trigger()
    assert application.settings.display.sources_in_contexts
    tree.view.scope_asked.emit(row)
    assert state.scope is None


def test_what_is_no_log_is_not_added_and_a_list_names_what_is_shown(qapp: QApplication, tmp_path: Path) -> None:
    agent, tap = _files(tmp_path)
    diary = tmp_path / "diary.log"
    diary.write_text("dear diary\n")

    async def steps(application: Application) -> None:
        window = application.new_window()
        window.opening.open_paths([str(agent), str(tap)])
        await until(lambda: window.findChild(MessageDialog), "the question")
        question = window.findChild(MessageDialog)
        assert question is not None
        next(button for button in question.findChildren(QPushButton) if button.text() == "Open together").click()
        await until(lambda: shows(application, 4) and not window.opening.reading, "both")
        window = application.windows[0]
        window.actions_by_id["file.add_source"].trigger()
        dialog = window.findChild(QFileDialog, "addSourceDialog")
        assert dialog is not None
        dialog.filesSelected.emit([str(diary)])
        await until(lambda: window.notices.notice("message"), "what is wrong")
        notice = window.notices.notice("message")
        assert notice is not None
        assert "diary.log is no log that can be read" in notice.text
        assert len(window.document.capture.sources) == 2
        window.actions_by_id["file.save_sources"].trigger()
        await until(lambda: window.findChild(QFileDialog, "saveSourcesDialog"), "a dialog")
        save = window.findChild(QFileDialog, "saveSourcesDialog")
        assert save is not None
        save.fileSelected.emit(str(tmp_path / "both.ctxsources"))
        await until(lambda: (tmp_path / "both.ctxsources").exists(), "the list")
        assert [one.path for one in read_source_list(tmp_path / "both.ctxsources")] == [agent, tap]
        assert '"path": "agent.jsonl"' in (tmp_path / "both.ctxsources").read_text()
        window.close()

    run_in_window(qapp, steps)


@pytest.mark.in_process("looks at one live document again and again")
def test_a_gateways_log_beside_a_live_session_shows_what_it_refused(qapp: QApplication, tmp_path: Path) -> None:
    log = tmp_path / "envelope-history.jsonl"

    def logged(*messages: str, by: str = "numbers") -> None:
        with log.open("a") as file:
            for message in messages:
                envelope = json.loads(message)
                line = {
                    "timestamp": envelope["ts"], "event": "received", "id": envelope["id"], "envelope": envelope,
                    "participant": by, "space_id": "demo", "direction": "inbound", "transport": "websocket",
                }  # fmt: skip
                file.write(json.dumps(line) + "\n")

    async def steps(application: Application) -> None:
        async with NumberedGateway() as gateway:
            window = await watching(application, gateway, 5)
            logged(*heard(window.document), numbered(900), by="mallory")
            window.sources.add([Target(log)])
            await until(lambda: len(window.document.capture.sources) == 2, "both sources")
            document = window.document
            assert document.live
            assert chats_of(document) == {1, 2, 3, 4, 5, 900}
            named = {document.capture.logged_sender(row) for row in range(len(document.capture))}
            assert named == {None, "mallory"}
            await gateway.say(3)
            await until(lambda: 8 in chats_of(document), "what is live")
            logged(*heard(document)[-3:], numbered(901))
            await until(lambda: chats_of(document) == {1, 2, 3, 4, 5, 6, 7, 8, 900, 901}, "what came to each")
            await until(lambda: len(document.capture.sightings) == 8, "what both have")
            assert window.document is document
            assert window.shown.state.connection is not None
            assert window.shown.state.connection.received >= 8
            panel, states = _panel(window), {"demo": "live", log.name: "followed"}
            await until(lambda: {one.name: one.state for one in panel.model.rows} == states, "the list")
            await window.gateway.end_session()
            assert not document.live
            logged(numbered(902))
            await until(lambda: 902 in chats_of(document), "the log, which goes on")
            target = tmp_path / "saved.ctxcap"
            window.capture_saving.save()
            await until(lambda: window.findChild(QFileDialog, "saveDialog"), "the file dialog")
            dialog = window.findChild(QFileDialog, "saveDialog")
            assert dialog is not None
            dialog.fileSelected.emit(str(target))
            await until(lambda: target.exists() and window.shown.state.unsaved is None, "the capture")
            assert chats(target) == [1, 2, 3, 4, 5, 6, 7, 8]
            assert {(one.path, one.is_live) for one in window.document.choices} == {(target, False), (log, False)}
            window.close()

    run_in_window(qapp, steps)


def heard(document: CaptureDocument) -> list[str]:
    """The chats of the live session, as they came."""
    capture = document.capture
    rows = [row for row in range(len(capture)) if capture.string("kind", row) == "chat"]
    live = [row for row in rows if capture.sources[int(capture.columns["source"][row])] is document.sources.live_source]
    return [json.dumps(capture.records.envelope(row)) for row in live]


def chats_of(document: CaptureDocument) -> set[int]:
    """The numbers that messages say."""
    capture = document.capture
    rows = [row for row in range(len(capture)) if capture.string("kind", row) == "chat"]
    return {capture.records.payload(row)["n"] for row in rows}
