"""What is copied of messages: whole or not at all, even rows, said in the status bar, and nothing held up by it."""

from __future__ import annotations

import json
import time
from itertools import pairwise

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from inspector.document.document import CaptureDocument
from inspector.engine.requests import copies
from inspector.present import copied_text
from inspector.settings import TableColumn
from inspector.store.messages.records import Records
from inspector.ui.app.application import Application
from inspector.ui.window.main_window import MainWindow
from tests.builders import document_of, envelope, tool_call
from tests.ui.engines import patch_engine
from tests.ui.find import child
from tests.ui.slow_answers import answer_slowly
from tests.ui.windows import panes_of, window_on

KEYS, CONTROL, SHIFT = Qt.Key, Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


def shown(application: Application, qtbot: QtBot, document: CaptureDocument) -> MainWindow:
    window = window_on(application, document)
    with qtbot.waitExposed(window):
        window.activateWindow()
    panes_of(window).go_to(0)
    panes_of(window).messages.view.setFocus()
    QGuiApplication.clipboard().setText("before")
    return window


def press(window: MainWindow, key: Qt.Key, modifiers: Qt.KeyboardModifier) -> None:
    QTest.keyClick(panes_of(window).messages.view, key, modifiers)


def clipboard() -> str:
    return QGuiApplication.clipboard().text()


def told(window: MainWindow) -> list[str]:
    return [words for words in window.status.words() if words.startswith("Cop")]


def refusal(window: MainWindow) -> str:
    notice = window.notices.notice("message")
    assert notice is None or notice.links == ["Export..."]
    return notice.text if notice is not None else ""


# Whole or not at all


@pytest.fixture
def big() -> CaptureDocument:
    rows = [{"row": number, "text": "x" * 60} for number in range(15_000)]
    return document_of(envelope("chat", {"text": "one"}), envelope("chat", {"text": "two", "rows": rows}))


@pytest.mark.parametrize("action", ["edit.copy_json", "edit.copy_markdown"])
def test_a_big_message_is_not_copied_in_part(
    application: Application, qtbot: QtBot, big: CaptureDocument, action: str
) -> None:
    window = shown(application, qtbot, big)
    assert big.capture.records.is_big(1)
    panes_of(window).go_to(1)
    window.actions_by_id[action].trigger()
    assert clipboard() == "before"
    assert refusal(window) == "No. 2 is too large to copy (1.3 MB). Export it to a file instead."
    window.notices.dismiss("message")
    press(window, KEYS.Key_A, CONTROL)
    window.actions_by_id[action].trigger()
    assert clipboard() == "before"
    assert refusal(window) == "No. 2 is too large to copy (1.3 MB). Export it to a file instead."
    window.actions_by_id["edit.copy_value"].trigger()
    assert len(clipboard().splitlines()) == 2


# Said


def test_the_status_bar_says_what_was_copied(application: Application, qtbot: QtBot) -> None:
    window = shown(application, qtbot, document_of(*(envelope("chat", {"text": "x"}) for _ in range(3))))
    for what, one, several in (
        ("row", "the row", "3 rows"),
        ("value", "the value", "3 values"),
        ("json", "No. 1 as JSON", "3 messages as JSON Lines"),
        ("markdown", "No. 1 as Markdown", "3 messages as Markdown"),
        ("id", "the id", "3 ids"),
        ("filter", "a filter", "a filter for 3 messages"),
    ):
        window.actions_by_id["go.first"].trigger()
        assert told(window) == []
        window.actions_by_id[f"edit.copy_{what}"].trigger()
        assert told(window) == [f"Copied {one}"]
        press(window, KEYS.Key_A, CONTROL)
        window.actions_by_id[f"edit.copy_{what}"].trigger()
        assert told(window) == [f"Copied {several}"]
        child(window.status, QTimer, "statusMessageTimer").timeout.emit()  # some seconds later
        assert told(window) == []


def test_what_was_not_copied_is_not_said(application: Application, qtbot: QtBot, big: CaptureDocument) -> None:
    window = shown(application, qtbot, big)
    panes_of(window).go_to(1)
    window.actions_by_id["edit.copy_json"].trigger()
    assert told(window) == []


# Rows


def test_rows_are_even_and_can_be_read_by_other_programs(application: Application, qtbot: QtBot) -> None:
    call = tool_call("read\tfile", ts="2026-01-05T09:00:02.500Z")
    said = envelope("chat", {"text": "a\tb"}, ts="2026-01-05T09:00:00.000Z")
    window = shown(application, qtbot, document_of(call, said))
    names = ("no", "time", "kind", "message", "from-to", "context", "latency", "size")
    seen = names[:4]
    table = [TableColumn(name=name, shown="yes" if name in seen else "no") for name in names]
    panes_of(window).messages.choose_columns(table)
    press(window, KEYS.Key_A, CONTROL)
    press(window, KEYS.Key_C, CONTROL)
    lines = [line.split("\t") for line in clipboard().splitlines()]
    assert lines[0] == ["No.", "Time", "Kind", "Message"]
    assert [len(line) for line in lines] == [4, 4, 4]
    assert [line[:3] for line in lines[1:]] == [["1", "0.000", "mcp/request"], ["2", "-2.500", "chat"]]
    press(window, KEYS.Key_Escape, Qt.KeyboardModifier.NoModifier)
    press(window, KEYS.Key_C, CONTROL)
    assert len(clipboard().splitlines()) == 1


def test_the_palette_says_the_keys_of_the_table(application: Application, qtbot: QtBot) -> None:
    window = shown(application, qtbot, document_of(envelope()))
    lines = {line.id: line for line in window.command_palette.find("copy row")}
    assert lines["edit.copy_row"].keys == ("Ctrl+C",)


# Many


def many(count: int) -> CaptureDocument:
    return document_of(*(envelope("chat", {"text": f"message {number}"}) for number in range(1, count + 1)))


def test_many_are_copied_in_slices(application: Application, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    window = shown(application, qtbot, many(300))
    slow, done = copied_text.json_line, 0

    def slowly(envelope: object) -> str:
        nonlocal done
        time.sleep(0.002)
        done += 1
        return slow(envelope)

    monkeypatch.setattr(copied_text, "json_line", slowly)
    monkeypatch.setattr(copies, "_BLOCK_BYTES", 1_000)
    answer_slowly(monkeypatch, panes_of(window).client)
    press(window, KEYS.Key_A, CONTROL)
    window.actions_by_id["edit.copy_json"].trigger()
    assert done < 50  # at once it would be 0.6 s
    assert clipboard() == "before"
    assert told(window) == ["Copying 300 messages as JSON Lines"]
    qtbot.waitUntil(lambda: clipboard() != "before")
    assert told(window) == ["Copied 300 messages as JSON Lines"]
    numbers = [int(json.loads(line)["payload"]["text"].split()[1]) for line in clipboard().splitlines()]
    assert all(one < other for one, other in pairwise(numbers))
    assert len(numbers) == 300


def test_the_next_copy_takes_the_place_of_one_at_work(
    application: Application, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copies, "_BLOCK_BYTES", 1)
    window = shown(application, qtbot, many(50))
    answer_slowly(monkeypatch, panes_of(window).client)
    press(window, KEYS.Key_A, CONTROL)
    window.actions_by_id["edit.copy_json"].trigger()
    clip = panes_of(window).messages.view.copies.clipboard
    assert clip.at_work
    window.actions_by_id["edit.copy_id"].trigger()
    qtbot.waitUntil(lambda: not clip.at_work)
    assert len(clipboard().splitlines()) == 50
    assert "{" not in clipboard()


def test_a_log_that_cannot_be_read_is_said(
    application: Application, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = shown(application, qtbot, many(3))
    press(window, KEYS.Key_A, CONTROL)

    def fail(_records: Records, _message: int) -> object:
        raise OSError(5, "Input/output error")

    patch_engine(monkeypatch, Records, "envelope", fail)
    window.actions_by_id["edit.copy_json"].trigger()
    assert (clipboard(), told(window)) == ("before", [])
    assert refusal(window) == "The log cannot be read: Input/output error."
