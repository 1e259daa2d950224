"""A session made from nothing, what was agreed in it, its snapshots and references, in the window as a user does it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QComboBox,
    QFileDialog,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QPushButton,
    QWidget,
)
from typer.testing import CliRunner

from inspector.msp.document import SessionDocument
from inspector.msp.objects import Snapshot
from inspector.startup.program import app as program
from inspector.ui.app.application import Application
from inspector.ui.msp.agreement_dialogs import NewSessionDialog, SnapshotsDialog, SubContextDialog, as_entries, as_lines
from inspector.ui.msp.agreements import NOTHING_TO_REFER
from inspector.ui.msp.panel.order import OrderRow
from inspector.ui.msp.panel.panel import SubsessionsPanel
from inspector.ui.panels.details.section import LinkText
from inspector.ui.widgets.buttons import LinkButton
from inspector.ui.widgets.labels import TextLabel
from inspector.ui.window.main_window import MainWindow
from tests.msp_samples import desk, session, subsession, written
from tests.ui.find import child
from tests.ui.msp.sessions import SAMPLE, at_work, sessions_of
from tests.ui.windows import ask_engine, run_in_window, state_of, until


@pytest.fixture
def report(tmp_path: Path) -> Path:
    """A document of sessions that may be written."""
    return Path(shutil.copy(SAMPLE, tmp_path / "weekly-report.json"))


def sessions(window: MainWindow) -> SessionDocument:
    return ask_engine(window, sessions_of)


def snapshots_of(window: MainWindow) -> list[Snapshot]:
    return sessions(window).sessions[0].snapshots


def summaries_of(window: MainWindow, key: str) -> list[str]:
    found = sessions(window).subsession(key)
    assert found is not None
    return found.policy.include_summaries


def click(parent: QWidget, name: str) -> None:
    QTest.mouseClick(child(parent, QPushButton, name), Qt.MouseButton.LeftButton)


def follow(panel: SubsessionsPanel, name: str) -> None:
    """Press a link by key."""
    link = child(panel, LinkText, name)
    link.setFocus()
    QTest.keyClick(link, Qt.Key.Key_Space)


def type_into(dialog: QWidget, name: str, text: str) -> None:
    """Replace what a field holds."""
    field = child(dialog, QPlainTextEdit, name)
    field.selectAll()
    QTest.keyClicks(field, text)


def order(panel: SubsessionsPanel) -> list[str]:
    return [row.line.text for row in panel.findChildren(OrderRow)]


async def saved(window: MainWindow) -> None:
    window.actions_by_id["file.save"].trigger()
    await until(lambda: not window.isWindowModified(), "it to be saved")


# The sub-context


def test_the_sub_context_is_edited_seen_at_once_undone_and_saved(qapp: QApplication, report: Path) -> None:
    before = report.read_bytes()

    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        follow(panel, "policyEditSubContext")
        dialog = child(window, SubContextDialog)
        type_into(dialog, "subContextIntent", "monthly report")
        facts = child(dialog, QPlainTextEdit, "subContextFacts")
        facts.setFocus()
        QTest.keyClick(facts, Qt.Key.Key_End, Qt.KeyboardModifier.ControlModifier)
        QTest.keyClick(facts, Qt.Key.Key_Return)
        QTest.keyClicks(facts, "March has gaps")
        QTest.keyClick(facts, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
        main = sessions(window).sessions[0]
        assert (main.intent, main.facts[-1]) == ("monthly report", "March has gaps")
        await until(lambda: "intent: monthly report" in order(panel), "what is sent")
        assert window.isWindowModified()
        await saved(window)
        assert json.loads(bytes_of(report))["session"]["sub_context"]["intent"] == "monthly report"
        window.actions_by_id["edit.undo"].trigger()
        await until(lambda: "intent: monthly report" not in order(panel), "what was sent")
        await saved(window)
        assert bytes_of(report) == before

    at_work(qapp, report, steps)


def test_what_is_not_touched_is_no_edit(qapp: QApplication, tmp_path: Path) -> None:
    agreed = {"intent": "a\u00a0b", "constraints": ["one\ntwo", {"rule": 1}], "decisions": ["x\u00a0y"], "facts": []}
    path = written(tmp_path, {"session": session("m1", sub_context=agreed), "subsessions": [subsession("s1", "m1")]})

    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        window.actions_by_id["subsession.sub_context"].trigger()
        click(window, "subContextDone")
        assert sessions(window).revision == 0
        await until(lambda: not window.findChildren(SubContextDialog), "the dialog is gone")
        window.actions_by_id["subsession.sub_context"].trigger()
        type_into(child(window, SubContextDialog), "subContextFacts", "new")
        click(window, "subContextDone")
        assert sessions(window).sessions[0].data["sub_context"] == {**agreed, "facts": ["new"]}

    at_work(qapp, path, steps)


def bytes_of(path: Path) -> bytes:
    return path.read_bytes()


@pytest.mark.parametrize(
    "entries", [[], ["a"], ["a", "b\nc", "d"], ["one\n  two\n\tthree", "four"]], ids=["none", "one", "lines", "blanks"]
)
def test_entries_of_several_lines_stay_one(entries: list[str]) -> None:
    assert as_entries(as_lines(entries)) == entries


# Snapshots


def test_a_snapshot_is_added_changed_and_deleted(qapp: QApplication, report: Path) -> None:
    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        count = len(snapshots_of(window))
        follow(panel, "policyEditSnapshots")
        dialog = child(window, SnapshotsDialog)
        child(dialog, QComboBox, "snapshotsWhich").setCurrentIndex(0)
        assert dialog.ok.text() == "Add"
        assert not dialog.ok.isEnabled()  # it says nothing yet
        type_into(dialog, "snapshotsContent", "What was said since")
        first, last = dialog.first.value(), dialog.last.value()
        click(window, "snapshotsDone")
        assert [(one.content, one.covers) for one in snapshots_of(window)[count:]] == [
            ("What was said since", (first - 1, last))
        ]
        await until(lambda: f"summary of messages {first} to {last}" in order(panel), "what is sent")
        window.actions_by_id["edit.undo"].trigger()
        assert len(snapshots_of(window)) == count
        await until(lambda: not window.findChildren(SnapshotsDialog), "the dialog is gone")
        window.actions_by_id["subsession.snapshots"].trigger()
        dialog = child(window, SnapshotsDialog)
        before = snapshots_of(window)[0]
        type_into(dialog, "snapshotsContent", "Less")
        click(window, "snapshotsDone")
        assert (snapshots_of(window)[0].content, snapshots_of(window)[0].covers) == ("Less", before.covers)
        await until(lambda: not window.findChildren(SnapshotsDialog), "the dialog is gone")
        window.actions_by_id["subsession.snapshots"].trigger()
        click(window, "snapshotsDelete")
        assert len(snapshots_of(window)) == count - 1

    at_work(qapp, report, steps)


def test_a_stretch_that_ends_before_it_begins_is_no_answer(qapp: QApplication, report: Path) -> None:
    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        window.actions_by_id["subsession.snapshots"].trigger()
        dialog = child(window, SnapshotsDialog)
        dialog.first.setValue(9)
        dialog.last.setValue(3)
        assert not dialog.ok.isEnabled()
        assert "The last message comes before the first." in [label.text() for label in dialog.findChildren(TextLabel)]
        QTest.keyClick(dialog, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
        assert dialog.isVisible()
        QTest.keyClick(dialog, Qt.Key.Key_Escape)
        assert sessions(window).revision == 0

    at_work(qapp, report, steps)


# References


def open_menu(window: MainWindow) -> QMenu:
    return next(menu for menu in window.findChildren(QMenu, "summariesMenu") if menu.isVisible())


def test_a_summary_beside_is_referred_to_and_taken_back(qapp: QApplication, tmp_path: Path) -> None:
    done = {"status": "closed", "closed_at": "2026-01-05T09:30:00Z", "summary": "All in kelvin."}
    path = written(tmp_path, {
        "session": session("m1", lists=("s1", "s2")),
        "subsessions": [subsession("s1", "m1", second=1, **done), subsession("s2", "m1", second=2)],
    })  # fmt: skip

    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        assert panel.sub is not None
        assert panel.sub.key == "s2"
        follow(panel, "policyChooseSummaries")
        menu = open_menu(window)
        (offered,) = menu.actions()
        assert (offered.text(), offered.isChecked()) == ("about s1", False)
        QTest.keyClick(menu, Qt.Key.Key_Down)
        QTest.keyClick(menu, Qt.Key.Key_Return)
        assert summaries_of(window, "s2") == ["s1"]
        await until(lambda: "summary of about s1" in order(panel), "what is sent")
        assert child(panel, TextLabel, "policySummaries").text() == "Summaries: about s1"
        await saved(window)
        assert SessionDocument.read([path]).subsessions[1].policy.include_summaries == ["s1"]
        window.actions_by_id["subsession.refer"].trigger()
        menu = open_menu(window)
        assert menu.actions()[0].isChecked()
        menu.actions()[0].trigger()
        menu.close()
        assert summaries_of(window, "s2") == []
        window.actions_by_id["edit.undo"].trigger()
        assert summaries_of(window, "s2") == ["s1"]

    at_work(qapp, path, steps)


def test_where_there_is_none_it_says_so(qapp: QApplication, tmp_path: Path) -> None:
    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        window.actions_by_id["subsession.refer"].trigger()
        assert [action.text() for action in open_menu(window).actions()] == [NOTHING_TO_REFER]
        open_menu(window).close()

    at_work(qapp, written(tmp_path, desk()), steps)


# From nothing


def test_a_session_is_made_from_the_start_page_and_worked_in(qapp: QApplication, tmp_path: Path) -> None:
    path = tmp_path / "desk-units.json"

    async def steps(application: Application) -> None:
        window = application.new_window()
        window.show()
        window.actions_by_id["file.new_session"].trigger()
        dialog = child(window, NewSessionDialog)
        assert not dialog.ok.isEnabled()
        QTest.keyClicks(child(dialog, QLineEdit, "newSessionLabel"), "desk: units")
        type_into(dialog, "newSessionIntent", "Weekly report")
        click(window, "newSessionDone")
        files = child(window, QFileDialog, "saveDialog")
        assert Path(files.selectedFiles()[0]).name == "desk-units.json"
        files.fileSelected.emit(str(path))
        files.close()
        await until(lambda: window.panes is not None and state_of(window).is_sessions, "the session")
        main = sessions(window).sessions[0]
        assert (main.label, main.intent) == ("desk: units", "Weekly report")
        await until(lambda: window.center.current == "conversation", "the conversation")
        assert not window.isWindowModified()
        QTest.mouseClick(child(window, LinkButton, "subsessionsAgree"), Qt.MouseButton.LeftButton)
        type_into(child(window, SubContextDialog), "subContextConstraints", "metric")
        click(window, "subContextDone")
        assert sessions(window).sessions[0].constraints == ["metric"]
        window.actions_by_id["subsession.new"].trigger()
        QTest.keyClicks(child(window, QLineEdit, "newSubsessionLabel"), "units")
        click(window, "newSubsessionDone")
        panel = window.center.currentWidget()
        assert isinstance(panel, SubsessionsPanel)
        QTest.keyClicks(panel.chat.input.text, "what is a kelvin?")
        QTest.keyClick(panel.chat.input.text, Qt.Key.Key_Return)
        await saved(window)
        again = SessionDocument.read([path])
        assert [message.content for message in again.subsessions[0].messages] == ["what is a kelvin?"]
        assert again.problems == []

    run_in_window(qapp, steps)


def test_what_commands_write_the_window_shows_row_by_row(qapp: QApplication, tmp_path: Path) -> None:
    path = str(tmp_path / "desk.json")
    for words in (
        ("new", path, "--id", "m1", "--intent", "Weekly report"), ("add", path, "hello"), ("open", path, "units"),
        ("add", path, "what is a kelvin?", "--to", "units"), ("close", path, "units", "--summary", "All in kelvin."),
        ("open", path, "scales", "--refer", "units"), ("add", path, "Greetings.", "--as", "snapshot", "--covers", "1"),
    ):  # fmt: skip
        result = CliRunner().invoke(program, ["msp", *words])
        assert result.exit_code == 0, result.output

    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        assert panel.sub is not None
        assert panel.sub.label == "scales"
        capture, document = window.document.capture, window.document
        kinds = [capture.strings[code] for code in capture.columns["kind"][: len(capture)].tolist()]
        assert sorted(kinds) == sorted(
            ["msp/session", "msp/snapshot", "chat", "msp/subsession", "chat", "msp/closed", "msp/subsession"]
        )
        assert document.analysis.findings.found.counts() == {}
        await until(lambda: "summary of units" in order(panel), "what is sent")

    at_work(qapp, Path(path), steps)
