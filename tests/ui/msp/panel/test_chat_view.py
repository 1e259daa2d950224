"""The conversation as a list: what is laid out and what is only estimated, staying in place, hostile text, keys."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import QLabel, QMessageBox
from pytestqt.qtbot import QtBot

from inspector.msp.document import SessionDocument
from inspector.present.msp_words import age
from inspector.ui.look.theme import ThemeController
from inspector.ui.msp.panel.bubbles import lay_out
from inspector.ui.msp.panel.chat import ChatPanel
from inspector.ui.msp.panel.panel import NOTHING, SubsessionsPanel, inherited_words
from inspector.ui.panels.details.text_block import ask_to_open
from inspector.ui.widgets.buttons import LinkButton
from inspector.ui.widgets.variable_height_view import Heights
from tests.ui.find import child
from tests.ui.msp.sessions import client_of


def document_of(path: Path, texts: list[str], **sub: object) -> SessionDocument:
    """One session with one sub-session that says these."""
    messages = [
        {"id": f"q{number}", "role": ("user", "assistant")[number % 2], "content": text}
        for number, text in enumerate(texts)
    ]
    one = {"subsession_id": "s1", "parent_session_id": "m1", "label": "units", "status": "open", "messages": messages}
    session = {"session_id": "m1", "messages": [{"id": "p1", "role": "user", "content": "before"}]}
    path.write_text(json.dumps([session, {**one, **sub}]))
    return SessionDocument.read([path])


def chat_of(qtbot: QtBot, themes: ThemeController, document: SessionDocument) -> ChatPanel:
    chat = ChatPanel(client_of(document, themes), themes)
    qtbot.addWidget(chat)
    chat.resize(560, 640)
    chat.show()
    chat.show_subsession(document.subsessions[0].key)
    return chat


def top_of(chat: ChatPanel, row: int) -> int:
    return chat.view.visualRect(chat.model.index(row)).top()


def test_heights_are_summed_as_they_are_found() -> None:
    heights = Heights()
    heights.reset_to(np.full(4, 10, np.int64))
    assert [heights.top(row) for row in range(5)] == [0, 10, 20, 30, 40]
    assert not heights.set_exact([1], [10])
    assert heights.set_exact([2], [25])
    assert heights.total == 55
    assert [heights.row_at(y) for y in (-5, 0, 19, 20, 44, 45, 900)] == [0, 0, 1, 2, 2, 3, 3]
    heights.insert(4, np.array([7]))
    assert (heights.total, len(heights), heights.exact.tolist()) == (62, 5, [False, True, True, False, False])


def test_only_what_is_in_sight_is_laid_out(qtbot: QtBot, theme_controller: ThemeController, tmp_path: Path) -> None:
    document = document_of(tmp_path / "a.json", [f"message {n} " * (n % 40 + 1) for n in range(20_000)])
    chat = chat_of(qtbot, theme_controller, document)
    assert int(chat.view.heights.exact.sum()) < 60
    bar = chat.view.verticalScrollBar()
    assert bar.value() == bar.maximum()  # one begins at the end
    bar.setValue(bar.maximum() // 2)
    assert int(chat.view.heights.exact.sum()) < 120


def test_scrolling_up_never_makes_what_is_in_sight_jump(
    qtbot: QtBot, theme_controller: ThemeController, tmp_path: Path
) -> None:
    texts = ["# Head\n\n- a\n- b\n\n" * (n % 5) + "word " * (n * 7 % 90) for n in range(400)]
    chat = chat_of(qtbot, theme_controller, document_of(tmp_path / "a.json", texts))
    bar = chat.view.verticalScrollBar()
    for _ in range(60):
        row = chat.view.rows_in_sight()[-1]
        before = top_of(chat, row)
        bar.setValue(bar.value() - 90)
        assert top_of(chat, row) == before + 90


def test_what_comes_is_followed_only_from_the_end(
    qtbot: QtBot, theme_controller: ThemeController, tmp_path: Path
) -> None:
    document = document_of(tmp_path / "a.json", ["some words"] * 50)
    chat = chat_of(qtbot, theme_controller, document)
    QAbstractItemModelTester(chat.model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    sub, bar = document.subsessions[0], chat.view.verticalScrollBar()
    document.add_message(sub, "user", "one more")
    chat.refresh()
    assert bar.value() == bar.maximum()
    bar.setValue(100)
    seen = chat.view.rows_in_sight().start
    before = top_of(chat, seen)
    document.add_message(sub, "user", "another")
    chat.refresh()
    assert (chat.view.rows_in_sight().start, top_of(chat, seen)) == (seen, before)


def test_another_width_keeps_the_end_in_sight(qtbot: QtBot, theme_controller: ThemeController, tmp_path: Path) -> None:
    chat = chat_of(qtbot, theme_controller, document_of(tmp_path / "a.json", ["word " * 60] * 80))
    chat.resize(400, 500)
    bar = chat.view.verticalScrollBar()
    assert bar.value() == bar.maximum() > 0
    assert chat.view.visualRect(chat.model.index(chat.model.rowCount() - 1)).bottom() < chat.view.viewport().height()


def test_coming_back_to_a_sub_session_finds_it_where_it_was_left(
    qtbot: QtBot, theme_controller: ThemeController, tmp_path: Path
) -> None:
    document = document_of(tmp_path / "a.json", ["word " * 30] * 60)
    chat = chat_of(qtbot, theme_controller, document)
    sub = document.subsessions[0]
    other = document.open_subsession(document.sessions[0], "other")
    chat.view.verticalScrollBar().setValue(700)
    place = chat.view.place
    QTest.keyClicks(chat.input.text, "half a")
    chat.show_subsession(other.key)
    assert chat.input.text.toPlainText() == ""
    chat.show_subsession(sub.key)
    assert chat.view.place == place
    assert chat.input.text.toPlainText() == "half a"


def test_hostile_text_is_shown_and_loads_nothing(
    qtbot: QtBot, theme_controller: ThemeController, tmp_path: Path
) -> None:
    picture = tmp_path / "picture.png"
    picture.write_bytes(b"not looked at")
    secret = "ghp_" + "Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4zBc7e"
    text = f"**bold** <b>html</b> ![x](file://{picture}) \u202e {secret}"
    shown = lay_out(text, 400, theme_controller.theme).document.toPlainText()
    assert "<b>html</b>" in shown
    assert "[picture: " in shown
    assert "⟨U+202E⟩" in shown
    assert secret not in shown
    plain = lay_out("<b>html</b> & <img src='x'>", 400, theme_controller.theme)
    assert plain.document.toPlainText() == "<b>html</b> & <img src='x'>"
    document = document_of(tmp_path / "a.json", [text])
    chat = chat_of(qtbot, theme_controller, document)
    spoken = str(chat.model.index(1).data(Qt.ItemDataRole.AccessibleTextRole))
    assert "⟨U+202E⟩" in spoken
    assert secret not in spoken


def test_a_link_is_opened_only_after_a_question(
    qtbot: QtBot, theme_controller: ThemeController, tmp_path: Path
) -> None:
    document = document_of(tmp_path / "a.json", ["see [the page](https://example.org/a)"])
    chat = chat_of(qtbot, theme_controller, document)
    asked: list[str] = []
    chat.link_requested.connect(asked.append)
    row = chat.model.row(1)
    assert row is not None
    box = chat.view.painting.box(row, chat.view.visualRect(chat.model.index(1)))
    place = box.text_at.toPoint()
    place.setX(place.x() + round(box.text.size.width()) - 12)
    place.setY(place.y() + 10)
    QTest.mouseClick(chat.view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert asked == ["https://example.org/a"]
    ask_to_open(QUrl(asked[0]), chat)
    question = child(chat, QMessageBox, "openLinkQuestion")
    assert "https://example.org/a" in question.text()
    question.close()


def test_odd_values_are_shown_and_raise_nothing(
    qtbot: QtBot, theme_controller: ThemeController, tmp_path: Path
) -> None:
    path = tmp_path / "a.json"
    messages = [
        {"content": 7},
        {"role": 3, "content": None},
        {"role": "tool", "content": [{"type": "text", "text": "x"}]},
        {},
        {"role": "user", "content": "", "visibility": 5, "timestamp": "never"},
    ]
    path.write_text(json.dumps([
        {"session_id": "m1"},
        {"subsession_id": "s1", "parent_session_id": "m1", "label": "x" * 500, "status": 4, "messages": messages},
    ]))  # fmt: skip
    chat = chat_of(qtbot, theme_controller, SessionDocument.read([path]))
    chat.grab()
    rows = [str(chat.model.index(row).data(Qt.ItemDataRole.AccessibleTextRole)) for row in range(chat.model.rowCount())]
    assert rows[1:] == ["no role: 7", "no role: empty", "tool: x", "no role: empty", "user: empty"]


def test_keys_move_and_read_what_is_higher_than_the_view(
    qtbot: QtBot, theme_controller: ThemeController, tmp_path: Path
) -> None:
    document = document_of(tmp_path / "a.json", ["short", "line\n" * 28, "short again"])
    chat = chat_of(qtbot, theme_controller, document)
    chat.resize(500, 360)
    view = chat.view
    view.setFocus()
    QTest.keyClick(view, Qt.Key.Key_Home)
    assert view.currentIndex().row() == 0
    for _ in range(2):
        QTest.keyClick(view, Qt.Key.Key_Down)
    assert view.currentIndex().row() == 2
    steps = 0
    while view.currentIndex().row() == 2 and steps < 20:
        QTest.keyClick(view, Qt.Key.Key_Down)
        steps += 1
    assert 1 < steps < 20
    QTest.keyClick(view, Qt.Key.Key_End)
    assert view.currentIndex().row() == 3
    assert view.verticalScrollBar().value() == view.verticalScrollBar().maximum()
    QTest.keyClick(view, Qt.Key.Key_PageUp)
    assert view.currentIndex().row() < 3


def test_words_for_ages_and_for_what_is_inherited() -> None:
    second = 1_000_000_000
    assert [age(0, n * second) for n in (5, 60, 7_200, 200_000)] == ["5 s", "1 min", "2 h", "2 d"]
    assert age(5, 3) == ""
    assert inherited_words(1_020, 3) == "inherited from the chat: 1,020 tokens in 3 layers"
    assert inherited_words(0, 1) == "inherited from the chat: 1 layer"
    assert inherited_words(0, 0) == "nothing is inherited from the chat"


def test_a_session_without_sub_sessions_says_so_and_offers_one(
    qtbot: QtBot, theme_controller: ThemeController, tmp_path: Path
) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"session_id": "m1", "messages": []}))
    panel = SubsessionsPanel(client_of(SessionDocument.read([path]), theme_controller), theme_controller)
    qtbot.addWidget(panel)
    panel.show()
    assert child(panel, QLabel, "subsessionsNothing").text() == NOTHING
    with qtbot.waitSignal(panel.new_requested):
        child(panel, LinkButton, "subsessionsNew").click()
    panel.stop()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_closed_one_shows_its_summary_in_both_themes(
    qtbot: QtBot, theme_controller: ThemeController, tmp_path: Path, theme: str
) -> None:
    theme_controller.set_setting(theme)  # pyright: ignore[reportArgumentType]
    document = document_of(
        tmp_path / "a.json", ["a"], status="closed", closed_at="2026-01-05T09:10:00Z", summary="**Done.**"
    )
    chat = chat_of(qtbot, theme_controller, document)
    chat.grab()
    last = chat.model.index(chat.model.rowCount() - 1)
    assert str(last.data(Qt.ItemDataRole.AccessibleTextRole)) == "summary: **Done.**"
