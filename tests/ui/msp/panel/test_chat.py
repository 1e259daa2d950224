"""A sub-session in the conversation: long ones, places that are kept, odd and hostile text, and an empty session."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel

from inspector.present.msp_words import age
from inspector.ui.msp.dialogs import NewSubsessionDialog
from inspector.ui.msp.panel.list import NOTHING
from inspector.ui.msp.panel.panel import SubsessionsPanel
from inspector.ui.panels.conversation.view import ConversationView
from inspector.ui.widgets.buttons import LinkButton
from inspector.ui.window.main_window import MainWindow
from tests.ui.find import child
from tests.ui.msp.sessions import add_message, at_work
from tests.ui.msp.test_editing import open_subsession, said, until_said
from tests.ui.windows import ask_engine, until

SECRET = "ghp_" + "Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4zBc7e"


def written(path: Path, messages: list[dict[str, object]], **sub: object) -> Path:
    """Writes a session with one sub-session that has these messages."""
    one = {"subsession_id": "s1", "parent_session_id": "m1", "label": "units", "status": "open", "messages": messages}
    session = {"session_id": "m1", "messages": [{"id": "p1", "role": "user", "content": "before"}]}
    path.write_text(json.dumps([session, {**one, **sub}]))
    return path


def texts_at(path: Path, texts: list[str], **sub: object) -> Path:
    messages: list[dict[str, object]] = [
        {"id": f"q{number}", "role": ("user", "assistant")[number % 2], "content": text}
        for number, text in enumerate(texts)
    ]
    return written(path, messages, **sub)


def top_of(view: ConversationView, row: int) -> int:
    return view.visualRect(view.model().index(row, 0)).top()


def test_only_what_is_in_sight_of_a_long_one_is_laid_out(qapp: QApplication, tmp_path: Path) -> None:
    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        view = panel.chat.conversation.view
        bar = view.verticalScrollBar()
        await until_said(panel, lambda _rows: view.model().rowCount() == 10_001, "all cards")
        await until(lambda: bar.value() == bar.maximum() > 0, "the end")
        assert view.measured_count < 200
        bar.setValue(bar.maximum() // 2)
        row = view.rows_in_sight()[len(view.rows_in_sight()) // 2]
        await until(lambda: panel.chat.conversation.model.card(row) is not None, "cards in the middle")
        assert view.measured_count < 400

    at_work(qapp, texts_at(tmp_path / "a.json", [f"message {n} " * (n % 40 + 1) for n in range(10_000)]), steps)


def test_new_messages_are_followed_only_from_the_end(qapp: QApplication, tmp_path: Path) -> None:
    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        view = panel.chat.conversation.view
        bar = view.verticalScrollBar()
        await until_said(panel, lambda rows: rows[-1].endswith("some words"))
        await until(lambda: bar.value() == bar.maximum() > 0, "the end")
        ask_engine(window, add_message, "s1", "one more")
        await until_said(panel, lambda rows: rows[-1].endswith("one more"))
        await until(lambda: bar.value() == bar.maximum(), "the end")
        bar.setValue(100)
        seen = view.rows_in_sight().start
        before = top_of(view, seen)
        ask_engine(window, add_message, "s1", "another")
        await until_said(panel, lambda rows: rows[-1].endswith("another"))
        assert (view.rows_in_sight().start, top_of(view, seen)) == (seen, before)

    at_work(qapp, texts_at(tmp_path / "a.json", ["some words"] * 50), steps)


def test_a_sub_session_comes_back_at_its_place_with_its_draft(qapp: QApplication, tmp_path: Path) -> None:
    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        view = panel.chat.conversation.view
        await until_said(panel, lambda rows: len(rows) == 61)
        view.verticalScrollBar().setValue(700)
        place = view.place
        QTest.keyClicks(panel.chat.input.text, "half a")
        other = ask_engine(window, open_subsession, "other")
        panel.show_subsession(other)
        await until_said(panel, lambda rows: len(rows) == 1)
        assert panel.chat.input.text.toPlainText() == ""
        panel.show_subsession("s1")
        await until_said(panel, lambda rows: len(rows) == 61)
        assert view.place == place
        assert panel.chat.input.text.toPlainText() == "half a"

    at_work(qapp, texts_at(tmp_path / "a.json", ["word " * 30] * 60), steps)


def test_an_undo_keeps_the_place(qapp: QApplication, tmp_path: Path) -> None:
    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        await until_said(panel, lambda rows: len(rows) == 61)
        panel.chat.focus_input()
        QTest.keyClicks(panel.chat.input.text, "too much")
        QTest.keyClick(panel.chat.input.text, Qt.Key.Key_Return)
        await until_said(panel, lambda rows: len(rows) == 62)
        before = panel.chat.conversation
        before.view.verticalScrollBar().setValue(700)
        place = before.view.place
        window.actions_by_id["edit.undo"].trigger()
        await until(lambda: panel.chat.conversation is not before, "the conversation of the next projection")
        await until_said(panel, lambda rows: len(rows) == 61)
        await until(lambda: panel.chat.conversation.view.place == place, "its place")
        assert window.focusWidget() is panel.chat.input.text

    at_work(qapp, texts_at(tmp_path / "a.json", ["word " * 30] * 60), steps)


def test_an_undo_keeps_cards_open(qapp: QApplication, tmp_path: Path) -> None:
    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        await until_said(panel, lambda rows: len(rows) == 4)
        before = panel.chat.conversation
        before.open_row(2)
        before.open_row(0)
        await until(lambda: len(before.model) > 4 or before.model.is_inherited(1), "the messages of the parent chat")
        count, long = len(before.model), len(before.model) - 2
        assert before.model.key(long) in before.model.whole
        panel.chat.focus_input()
        QTest.keyClicks(panel.chat.input.text, "too much")
        QTest.keyClick(panel.chat.input.text, Qt.Key.Key_Return)
        await until(lambda: len(panel.chat.conversation.model) == count + 1, "the new message")
        window.actions_by_id["edit.undo"].trigger()
        await until(lambda: panel.chat.conversation is not before, "the conversation of the next projection")
        await until(lambda: len(panel.chat.conversation.model) == count, "the same cards")
        model = panel.chat.conversation.model
        assert model.key(long) in model.whole
        assert model.is_inherited(1)

    at_work(qapp, texts_at(tmp_path / "a.json", ["short", "word " * 4_000, "short"]), steps)


def test_hostile_and_odd_messages_are_shown(qapp: QApplication, tmp_path: Path) -> None:
    messages: list[dict[str, object]] = [
        {"content": 7}, {"role": 3, "content": None}, {"role": "tool", "content": [{"type": "text", "text": "x"}]}, {},
        {"role": "user", "content": "", "visibility": 5, "timestamp": "never"},
        {"role": "user", "content": f"<b>html</b> \u202e {SECRET}"},
        {"role": "assistant", "content": "\u05e9\u05dc\u05d5\u05dd, **\u05e2\u05d5\u05dc\u05dd**"},
    ]  # fmt: skip

    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        await until_said(panel, lambda rows: rows[-1].endswith("\u05e9\u05dc\u05d5\u05dd, \u05e2\u05d5\u05dc\u05dd"))
        panel.grab()
        rows = said(panel)
        assert len(rows) == 8
        assert [", tool" in row for row in rows[1:4]] == [False, False, True]
        assert ", no role" in rows[1]
        assert "<b>html</b>" in rows[-2]
        assert "\u202e" not in rows[-2]
        assert SECRET not in rows[-2]
        assert panel.chat.head.label.toolTip().startswith("x")

    at_work(qapp, written(tmp_path / "a.json", messages, label="x" * 500, status=4), steps)


def test_a_nested_one_inherits_from_the_one_above_it(qapp: QApplication) -> None:
    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        nested = [key for key, depth in zip(panel.list.source.listed.keys, panel.list.source.listed.depths, strict=True)
                  if depth]  # fmt: skip
        panel.show_subsession(nested[0])
        await until(lambda: panel.sub is not None and panel.sub.key == nested[0], "the nested one")
        await until_said(panel, lambda rows: rows and "of the parent chat" in rows[0])

    at_work(qapp, Path("tests/data/msp/nested.json"), steps)


def test_words_for_ages() -> None:
    second = 1_000_000_000
    assert [age(0, n * second) for n in (5, 60, 7_200, 200_000)] == ["5 s", "1 min", "2 h", "2 d"]
    assert age(5, 3) == ""


def test_a_session_without_sub_sessions_says_so_and_offers_one(qapp: QApplication, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"session_id": "m1", "messages": []}))

    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        assert child(panel, QLabel, "subsessionsNothing").text() == NOTHING
        child(panel, LinkButton, "subsessionsNew").click()
        assert child(window, NewSubsessionDialog).isVisible()

    at_work(qapp, path, steps)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_closed_one_ends_with_its_summary_in_both_themes(qapp: QApplication, tmp_path: Path, theme: str) -> None:
    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        window.theme.set_setting(theme)  # pyright: ignore[reportArgumentType]
        await until_said(panel, lambda rows: rows[-1].endswith("Summary: Done."))
        panel.grab()
        assert said(panel)[-1].startswith("units closed at ")

    closed = {"status": "closed", "closed_at": "2026-01-05T09:10:00Z", "summary": "**Done.**"}
    at_work(qapp, texts_at(tmp_path / "a.json", ["a"], **closed), steps)
