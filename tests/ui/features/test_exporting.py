"""Exporting and copying, from the menu to the file and the clipboard."""

from __future__ import annotations

import csv
import errno
import io
import json
import re
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QDesktopServices
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QFileDialog, QLabel, QLineEdit

from inspector.base.paths import cache_folder
from inspector.document.document import CaptureDocument
from inspector.engine.request import RequestError
from inspector.engine.requests import exports
from inspector.export import Format, files
from inspector.ui.app.application import Application
from inspector.ui.dialogs.export import ExportDialog
from inspector.ui.docview.panel import CONVERSATION
from inspector.ui.widgets.buttons import IconButton, LinkButton
from inspector.ui.widgets.segmented import LEAST_WIDTH, SegmentButton, SegmentedControl
from inspector.ui.window.main_window import MainWindow
from tests.builders import document_at, document_of, envelope, tool_call, tool_result
from tests.ui.engines import patch_engine
from tests.ui.find import child
from tests.ui.slow_answers import answer_slowly
from tests.ui.windows import panes_of, run_in_window, story, until, window_on


def said(window: MainWindow) -> str:
    notice = window.notices.notice("message")
    return notice.text if notice is not None else ""


def asked(window: MainWindow) -> ExportDialog:
    """The dialog the menu's action opens."""
    window.actions_by_id["file.export"].trigger()
    (dialog,) = (one for one in window.findChildren(ExportDialog, "exportMessages") if one.isVisible())
    return dialog


def press(dialog: ExportDialog, *names: str) -> None:
    """Click what stands under these names, one after the other."""
    for name in names:
        button = dialog.findChild(QAbstractButton, name)
        assert button is not None, name
        assert button.isVisible(), name
        button.click()


def shown(dialog: ExportDialog, name: str) -> str:
    label = dialog.findChild(QLabel, name)
    assert label is not None
    return "" if label.isHidden() else label.text()


def to_file(window: MainWindow, target: Path) -> None:
    """Give a name in the file dialog that follows."""
    dialog = window.findChild(QFileDialog, "exportDialog")
    assert dialog is not None
    name = Path(dialog.selectedFiles()[0]).name
    assert re.fullmatch(r"\w+-(export|self-contained|traces|conversation)(-unmasked)?\.\w+", name)
    dialog.fileSelected.emit(str(target))
    dialog.close()
    dialog.setObjectName("done")


def chosen(window: MainWindow, target: Path, *names: str) -> None:
    """What the user does: the menu's action, the choices, Export, then a name."""
    press(asked(window), *names, "exportExport")
    to_file(window, target)


def login() -> CaptureDocument:
    ask = tool_call("login", id="q", arguments={"password": "hunter2", "user": "me"})
    return document_of(ask, tool_result(ask, "Bearer abcdef.ghi"), envelope("chat", {"text": "Done"}))


def test_the_view_is_exported_and_said(qapp: QApplication, tmp_path: Path) -> None:
    ask = tool_call("read_file", id="q", arguments={"token": "abcdef123"})
    target = tmp_path / "out.jsonl"

    async def steps(application: Application) -> None:
        window = window_on(application, document_of(ask, tool_result(ask), envelope()))
        panes_of(window).filter_state.apply_filter('kind == "mcp/response"')
        await until(lambda: len(panes_of(window).rows) == 1, "the rows of the filter")
        chosen(window, target, "exportSelfContained")
        await until(lambda: said(window), "a notice")
        assert said(window).startswith(f"Exported 1 message, the messages of this view, as {target}, ")
        assert said(window).endswith("Secrets are masked.")

    run_in_window(qapp, steps)
    (line,) = map(json.loads, target.read_text().splitlines())
    assert line["response_context"]["target"] == "read_file"
    assert "abcdef123" not in target.read_text()


def test_the_file_dialog_goes_when_it_is_closed_and_watches_no_folder_any_more(qapp: QApplication) -> None:
    async def steps(application: Application) -> None:
        window = window_on(application, login())
        press(asked(window), "exportExport")
        child(window, QFileDialog, "exportDialog").reject()
        await until(lambda: not window.findChildren(QFileDialog), "the end of the dialog")

    run_in_window(qapp, steps)


def test_selected_shown_and_all_in_every_format(qapp: QApplication, tmp_path: Path) -> None:
    async def steps(application: Application) -> None:
        window = window_on(application, login())
        panes_of(window).go_to(2)
        panes_of(window).filter_state.apply_filter('kind != "mcp/request"')
        asked_for = (
            ("selected", "csv"), ("shown", "md"), ("all", "html"), ("all", "jsonl"), ("all", "parquet"),
            ("shown", "otlp"), ("all", "conversation"),
        )  # fmt: skip
        assert {format_ for _, format_ in asked_for} == set(Format), "one line here for each format"
        for which, format_ in asked_for:
            target = tmp_path / f"{which}.{format_}"
            more = {"parquet": ["exportRaw"], "otlp": ["exportContent"]}.get(format_, [])
            chosen(window, target, f"exportWhich_{which}", f"exportFormat_{format_}", *more)
            await until(target.exists, "the file")

    run_in_window(qapp, steps)
    assert [row[0] for row in csv.reader(io.StringIO((tmp_path / "selected.csv").read_text()))] == ["no", "3"]
    told = (tmp_path / "shown.md").read_text()
    assert told.count("\n## No. ") == 2
    assert "Messages that match the filter kind != " in told
    assert (tmp_path / "all.html").read_text().count("<details ") == 3
    assert len((tmp_path / "all.jsonl").read_text().splitlines()) == 3
    again = document_at(tmp_path / "all.parquet")
    assert [again.capture.string("kind", row) for row in range(3)] == ["mcp/request", "mcp/response", "chat"]
    assert "<!DOCTYPE html>" in (tmp_path / "all.conversation").read_text()
    traces = (tmp_path / "shown.otlp").read_text()
    assert "Done" in traces
    assert "abcdef.ghi" not in traces


def test_the_conversation_is_exported_as_a_page_from_its_view_and_by_its_own_button(
    qapp: QApplication, tmp_path: Path
) -> None:
    async def steps(application: Application) -> None:
        window = window_on(application, login())
        dialog = asked(window)
        assert child(dialog, SegmentedControl, "exportFormat").value() == "jsonl"
        dialog.reject()
        dialog.setObjectName("closed")
        window.show()
        window.center.show_view(CONVERSATION)
        panes_of(window).filter_state.apply_filter("error")  # the conversation shows all messages
        dialog = asked(window)
        assert child(dialog, SegmentedControl, "exportFormat").value() == "conversation"
        assert child(dialog, SegmentedControl, "exportWhich").value() == "all"
        dialog.reject()
        target = tmp_path / "page.html"
        child(window, IconButton, "conversationExport").click()
        to_file(window, target)
        await until(target.exists, "the page")
        assert "<!DOCTYPE html>" in target.read_text()

    run_in_window(qapp, steps)


def test_marked_messages_are_a_choice_once_there_are_some(qapp: QApplication, tmp_path: Path) -> None:
    async def steps(application: Application) -> None:
        window = window_on(application, login())
        dialog = asked(window)
        assert dialog.findChild(QAbstractButton, "exportWhich_marked") is None
        dialog.reject()
        dialog.setObjectName("closed")
        panes_of(window).go_to(1)
        window.actions_by_id["edit.mark"].trigger()
        chosen(window, tmp_path / "out.csv", "exportWhich_marked", "exportFormat_csv")
        await until(lambda: "the marked messages" in said(window), "a notice")

    run_in_window(qapp, steps)
    rows = csv.reader(io.StringIO((tmp_path / "out.csv").read_text()))
    assert [row[0] for row in rows] == ["no", "2"]


def test_what_will_be_masked_is_counted_and_unmasked_needs_a_choice_each_time(
    qapp: QApplication, tmp_path: Path
) -> None:
    target = tmp_path / "out.jsonl"

    async def steps(application: Application) -> None:
        window = window_on(application, login())
        dialog = asked(window)
        await until(lambda: "will be masked" in shown(dialog, "exportSecretsHeadline"), "the count")
        assert shown(dialog, "exportSecretsHeadline") == "2 secrets in 2 messages will be masked."
        assert shown(dialog, "exportRule_key") == "Values under secret keys"
        assert (shown(dialog, "exportRule_keyCount"), shown(dialog, "exportRule_keyWhere")) == ("1", "No. 1")
        assert (shown(dialog, "exportRule_bearerCount"), shown(dialog, "exportRule_jwtCount")) == ("1", "")
        press(dialog, "exportUnmasked")
        assert shown(dialog, "exportSecretsHeadline") == "2 secrets in 2 messages will be written unmasked."
        export = dialog.findChild(QAbstractButton, "exportExport")
        assert export is not None
        assert export.text() == "Export unmasked..."
        press(dialog, "exportExport")
        to_file(window, target)
        await until(lambda: said(window), "a notice")
        assert said(window).endswith("Secrets are not masked.")
        again = asked(window)
        box = again.findChild(QAbstractButton, "exportUnmasked")
        assert box is not None
        assert not box.isChecked()
        again.reject()

    run_in_window(qapp, steps)
    assert "hunter2" in target.read_text()


def test_other_messages_are_counted_anew(qapp: QApplication) -> None:
    async def steps(application: Application) -> None:
        window = window_on(application, login())
        panes_of(window).go_to(2)
        dialog = asked(window)
        press(dialog, "exportWhich_selected")
        await until(lambda: "No secrets" in shown(dialog, "exportSecretsHeadline"), "the count")
        assert shown(dialog, "exportSecretsHeadline") == "No secrets found."
        press(dialog, "exportWhich_all")
        await until(lambda: "2 secrets" in shown(dialog, "exportSecretsHeadline"), "the count")
        dialog.reject()

    run_in_window(qapp, steps)


def test_a_column_that_is_no_field_is_said_in_place(qapp: QApplication, tmp_path: Path) -> None:
    async def steps(application: Application) -> None:
        window = window_on(application, login())
        dialog = asked(window)
        segments = dialog.findChildren(SegmentButton)
        narrow = [one.text() for one in segments if one.width() < LEAST_WIDTH - 1]
        assert narrow == [], "words that are cut"
        press(dialog, "exportFormat_csv")
        field = dialog.findChild(QLineEdit, "exportColumns")
        assert field is not None
        field.setText("no, txt")
        press(dialog, "exportExport")
        assert dialog.isVisible()
        assert "Did you mean text?" in shown(dialog, "exportColumnsHelp")
        field.clear()
        QTest.keyClicks(field, "no, payload.text")
        QTest.keyClick(field, Qt.Key.Key_Return)
        to_file(window, tmp_path / "out.csv")
        await until(lambda: said(window), "a notice")

    run_in_window(qapp, steps)
    assert (tmp_path / "out.csv").read_text().splitlines()[0] == "no,payload.text"


def test_what_cannot_be_written_is_said(qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def steps(application: Application) -> None:
        window = window_on(application, story())
        chosen(window, tmp_path / "nowhere" / "out.jsonl")
        await until(lambda: said(window), "a notice")
        assert said(window).startswith("out.jsonl could not be written: No such file or directory; choose another")
        log = window.document.path
        assert log is not None
        before = log.read_bytes()
        chosen(window, log)
        await until(lambda: "the log itself" in said(window), "a notice")
        assert log.read_bytes() == before

        def full(*_: object) -> bytes:
            raise OSError(errno.ENOSPC, "No space left on device")

        patch_engine(monkeypatch, files.LinesWriter, "lines", full)
        chosen(window, tmp_path / "out.jsonl")
        await until(lambda: "No space left" in said(window), "a notice")
        assert said(window).endswith("No space left on device; free some space, or choose another disk.")

    run_in_window(qapp, steps)
    assert list(tmp_path.iterdir()) == []


def test_an_engine_that_does_not_answer_is_said(qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> None:
    async def steps(application: Application) -> None:
        window = window_on(application, login())

        def refuse(_request: object) -> None:
            raise RequestError("The engine has ended.")

        monkeypatch.setattr(panes_of(window).client, "answer_now", refuse)
        window.actions_by_id["file.export"].trigger()
        assert window.findChild(ExportDialog, "exportMessages") is None
        assert said(window) == "The engine has ended."

    run_in_window(qapp, steps)


def write_slowly(monkeypatch: pytest.MonkeyPatch) -> None:
    write = files.LinesWriter.lines

    def lines(writer: files.LinesWriter, message: int) -> Iterable[bytes]:
        time.sleep(0.002)
        return write(writer, message)

    patch_engine(monkeypatch, files.LinesWriter, "lines", lines)
    patch_engine(monkeypatch, files, "PROGRESS_MESSAGES", 1)


def test_a_long_export_says_how_far_it_is_and_can_be_cancelled(
    qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    patch_engine(monkeypatch, exports, "PROGRESS_S", 0.0)
    write_slowly(monkeypatch)
    target = tmp_path / "out.jsonl"

    async def steps(application: Application) -> None:
        window = window_on(application, document_of(*(envelope() for _ in range(3_000))))
        answer_slowly(monkeypatch, panes_of(window).client)
        window.exporting.export(target)
        await until(lambda: window.notices.notice("export"), "progress")
        notice = window.notices.notice("export")
        assert notice is not None
        assert "of 3,000 messages" in notice.text
        child(notice, LinkButton).click()
        await until(lambda: window.notices.notice("export") is None, "the end of the progress")
        assert said(window) == "Export cancelled. No file was written."

    run_in_window(qapp, steps)
    assert list(tmp_path.iterdir()) == []


def test_a_window_that_is_closed_gives_it_up(
    qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_slowly(monkeypatch)

    async def steps(application: Application) -> None:
        window = window_on(application, document_of(*(envelope() for _ in range(3_000))))
        answer_slowly(monkeypatch, panes_of(window).client)
        window.exporting.export(tmp_path / "out.jsonl")
        await until(lambda: list(tmp_path.iterdir()), "some of it")
        window.close()
        await until(lambda: not list(tmp_path.iterdir()), "it to be given up")

    run_in_window(qapp, steps)
    assert list(tmp_path.iterdir()) == []


def copied(window: MainWindow, action: str) -> str:
    QApplication.clipboard().clear()
    window.actions_by_id[action].trigger()
    return QApplication.clipboard().text()


def test_a_message_is_copied_as_row_value_json_id_and_filter_with_its_secrets_masked(qapp: QApplication) -> None:
    async def steps(application: Application) -> None:
        window = window_on(application, login())
        panes_of(window).go_to(0)
        assert json.loads(copied(window, "edit.copy_json"))["payload"]["params"]["arguments"]["user"] == "me"
        assert copied(window, "edit.copy_id") == "q"
        assert copied(window, "edit.copy_filter") == 'tool == "login"'
        assert "login" in copied(window, "edit.copy_value")
        assert "\t" in copied(window, "edit.copy_row")
        everything: list[Callable[[], str]] = [
            lambda name=name: copied(window, f"edit.copy_{name}") for name in ("row", "value", "json", "id", "filter")
        ]
        for message, secret in ((0, "hunter2"), (1, "abcdef")):
            panes_of(window).go_to(message)
            assert not [text for text in (read() for read in everything) if secret in text]

    run_in_window(qapp, steps)


def test_the_button_stays_in_place_when_the_format_changes(application: Application) -> None:
    window = window_on(application, story())
    window.show()
    dialog = asked(window)
    export = child(dialog, QAbstractButton, "exportExport")
    seen: set[tuple[int, int]] = set()
    for one in child(dialog, SegmentedControl, "exportFormat").findChildren(QAbstractButton):
        one.click()
        QApplication.processEvents()
        seen.add((dialog.height(), export.y()))
    assert len(seen) == 1


def test_a_page_to_print_lies_where_the_next_start_sweeps(qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = list[Path]()
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(Path(url.toLocalFile())) or True)

    async def steps(application: Application) -> None:
        window = window_on(application, story())
        assert list(cache_folder().iterdir()) == []  # a window alone makes no folder
        window.actions_by_id["file.print"].trigger()
        await until(lambda: opened, "the page")
        assert opened[0].parent.parent == cache_folder()
        assert opened[0].parent.name.startswith("spool-")

    run_in_window(qapp, steps)
