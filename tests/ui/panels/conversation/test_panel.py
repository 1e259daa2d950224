"""The tab Conversation as a user works it: reading, keys, folds, selection, copying, growth."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QBuffer, QIODevice, QPoint, QPointF, Qt
from PySide6.QtGui import QAccessible, QFontMetrics, QGuiApplication, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu, QMessageBox
from pytestqt.qtbot import QtBot

from inspector.analysis.views.steps import call_facts
from inspector.document.document import CaptureDocument
from inspector.engine.requests.turns import StepState, Turn
from inspector.present.conversation.blocks import ListBlock, ListItem, Paragraph, Run
from inspector.present.conversation.cards import CallCard, CardKind, TextCard
from inspector.present.conversation.outline import Outline
from inspector.ui.app.application import Application
from inspector.ui.panels.conversation.card_layout import Zone
from inspector.ui.panels.conversation.panel import ConversationPanel
from inspector.ui.panels.conversation.rich_text import RichWriter
from inspector.ui.panels.conversation.turns import fitting_facts
from inspector.ui.panels.model_sees.panel import ModelSeesPanel
from inspector.ui.window.main_window import MainWindow
from tests.builders import GrowingLog, closed_at_end, document_at, envelope, log_file, received
from tests.samples import DATA
from tests.ui.windows import panes_of, window_on

SESSION = DATA / "transcripts/claude-code/00000000-0000-4000-8000-000000000001.jsonl"
ORDERS = DATA / "transcripts/orders/3b8a2a8e-5b0f-4a57-9f37-0c1f6d2f7e10"
_START = "2026-11-20T10:00:{:02d}.000Z"


def claude_line(number: int, role: str, content: Any, **more: Any) -> dict[str, Any]:
    """A line of a Claude session."""
    message: dict[str, Any] = {"role": role, "content": content}
    if role == "assistant":
        message |= {"id": f"msg_{number}", "model": "claude-sonnet-4-5", "type": "message"}
    return {
        "type": role, "uuid": f"u-{number}", "parentUuid": f"u-{number - 1}" if number else None,
        "sessionId": "5b1c7c1e-2f53-4f4b-9f2a-0d6b5f6c1a11", "timestamp": _START.format(number % 60),
        "version": "2.1.0", "cwd": "/home/user/shop", "message": message, **more,
    }  # fmt: skip


def session(turns: int = 3) -> list[dict[str, Any]]:
    """A session: in each turn a prompt, a thought, a failing command, an edit, and an answer in Markdown."""
    lines: list[dict[str, Any]] = []

    def add(role: str, content: Any, **more: Any) -> None:
        lines.append(claude_line(len(lines), role, content, **more))

    for turn in range(turns):
        add("user", f"Please fix `part {turn}` of the shop")
        add("assistant", [{"type": "thinking", "thinking": f"I should look at part {turn} first.\nThen at its tests.",
                           "signature": "s"}])  # fmt: skip
        add("assistant", [{"type": "tool_use", "id": f"call-{turn}", "name": "Bash",
                           "input": {"command": "make lint", "description": "Run the linter"}}])  # fmt: skip
        output = "\n".join([*(f"checked file {n}" for n in range(30)), "error: unknown field total"])
        add("user", [{"type": "tool_result", "tool_use_id": f"call-{turn}", "content": f"Exit code 1\n{output}",
                      "is_error": True}])  # fmt: skip
        add("assistant", [{"type": "text", "text": (
            f"## Done {turn}\n\nThe field **total** was wrong, see [the page](https://example.org/page).\n\n"
            "- first\n- second\n\n```python\nprint(1)\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
        )}])  # fmt: skip
    return lines


def data_of(lines: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def opened(application: Application, path: Path) -> tuple[MainWindow, ConversationPanel]:
    return shown(application, document_at(path))


def shown(application: Application, document: CaptureDocument) -> tuple[MainWindow, ConversationPanel]:
    window = window_on(application, document)
    window.show()
    window.actions_by_id["view.conversation"].trigger()
    panel = window.center.currentWidget()
    assert isinstance(panel, ConversationPanel)
    return window, panel


@pytest.fixture
def shop(application: Application) -> tuple[MainWindow, ConversationPanel]:
    return opened(application, log_file(data_of(session())))


def kinds(panel: ConversationPanel) -> list[CardKind]:
    assert panel.model.outline is not None
    return [CardKind(kind) for kind in panel.model.outline.kinds.tolist()]


def press(panel: ConversationPanel, key: Qt.Key, modifiers: Qt.KeyboardModifier | None = None) -> None:
    QTest.keyClick(panel.view, key, modifiers or Qt.KeyboardModifier.NoModifier)


def row(panel: ConversationPanel) -> int:
    return panel.view.currentIndex().row()


def test_a_session_reads_as_prompts_thoughts_calls_and_answers(shop: tuple[MainWindow, ConversationPanel]) -> None:
    _, panel = shop
    turn = [CardKind.PROMPT, CardKind.THOUGHT, CardKind.CALL, CardKind.ANSWER]
    assert kinds(panel) == turn * 3
    call = panel.model.card(2)
    assert isinstance(call, CallCard)
    assert (call.subject, call.state) == ("make lint", StepState.FAILED)
    answer = panel.model.card(3)
    assert isinstance(answer, TextCard)
    assert [type(block).__name__ for block in answer.blocks] == [
        "Heading", "Paragraph", "ListBlock", "CodeBlock", "Table",
    ]  # fmt: skip


def test_cards_are_read_to_screen_readers_with_their_heading(shop: tuple[MainWindow, ConversationPanel]) -> None:
    _, panel = shop
    texts = [str(panel.model.index(n).data(Qt.ItemDataRole.AccessibleTextRole)) for n in range(4)]
    assert texts[0] == "Prompt from user. Please fix part 0 of the shop"
    assert texts[1].startswith("Thought. I should look at part 0 first.")
    assert texts[2].startswith("Call $ make lint, exit 1. ")
    assert texts[3].startswith("Answer from claude. Done 0\nThe field total was wrong")
    assert texts[2].count("error: unknown field total") == 1


def test_cards_are_articles_with_headings(shop: tuple[MainWindow, ConversationPanel]) -> None:
    _, panel = shop
    reader = QAccessible.queryAccessibleInterface(panel.view)
    name = QAccessible.Text.Name
    assert (reader.role(), reader.text(name), reader.childCount()) == (QAccessible.Role.List, "Conversation", 12)
    cards = [reader.child(n) for n in range(4)]
    assert {card.role() for card in cards} == {QAccessible.Role.Section}
    headings = [card.child(0) for card in cards]
    assert {heading.role() for heading in headings} == {QAccessible.Role.Heading}
    assert [heading.text(name) for heading in headings] == [
        "Prompt from user", "Thought", "Call $ make lint, exit 1", "Answer from claude",
    ]  # fmt: skip
    assert cards[0].text(name) == "Prompt from user. Please fix part 0 of the shop"
    panel.view.setFocus()
    press(panel, Qt.Key.Key_Home)
    press(panel, Qt.Key.Key_Down)
    assert [card.state().selected for card in cards] == [0, 1, 0, 0]
    assert reader.focusChild().text(name).startswith("Thought.")
    assert cards[1].rect().height() == panel.view.visualRect(panel.model.index(1)).height()
    assert reader.child(11).state().offscreen
    turns = QAccessible.queryAccessibleInterface(panel.side.turns_view)
    assert [turns.child(n).role() for n in range(turns.childCount())] == [QAccessible.Role.ListItem] * 3
    assert turns.child(1).text(name).startswith("Turn 2: Please fix part 1 of the shop")


def test_turns_are_listed_with_their_calls_and_failures(shop: tuple[MainWindow, ConversationPanel]) -> None:
    _, panel = shop
    rows = [str(panel.side.turns_model.index(n).data()) for n in range(panel.side.turns_model.rowCount())]
    assert len(rows) == 3
    assert rows[1].startswith("Turn 2: Please fix part 1 of the shop. ")
    assert rows[1].endswith("1 call, 1 failed")
    panel.side.turns_view.turn_requested.emit(2)
    assert (row(panel), panel.turn_in_sight()) == (8, 2)
    assert panel.head.title == "Turn 3"


def test_keys_step_through_turns_failures_and_cards(shop: tuple[MainWindow, ConversationPanel]) -> None:
    window, panel = shop
    press(panel, Qt.Key.Key_J)
    assert row(panel) == 4
    press(panel, Qt.Key.Key_J)
    assert row(panel) == 8
    press(panel, Qt.Key.Key_K)
    assert row(panel) == 4
    press(panel, Qt.Key.Key_N)
    assert row(panel) == 6
    press(panel, Qt.Key.Key_N, Qt.KeyboardModifier.ShiftModifier)
    assert row(panel) == 2
    assert panes_of(window).messages.current_message() == 2
    press(panel, Qt.Key.Key_Down)
    assert row(panel) == 3
    window.actions_by_id["view.messages"].trigger()
    assert window.center.current == "messages"
    assert panes_of(window).messages.current_message() == 4


def test_a_message_selected_elsewhere_is_the_current_card(shop: tuple[MainWindow, ConversationPanel]) -> None:
    window, panel = shop
    panes_of(window).go_to(8)  # the result of the second call: its card
    assert row(panel) == 6
    assert 6 in panel.view.rows_in_sight()


def test_enter_opens_a_thought_and_the_whole_output_of_a_call(shop: tuple[MainWindow, ConversationPanel]) -> None:
    _, panel = shop
    panel.view.show_row(1)
    before = panel.view.heights.height(1)
    press(panel, Qt.Key.Key_Return)
    assert panel.view.heights.height(1) > before
    assert "Then at its tests." in panel.view.layout_of(1).texts[0].text()
    press(panel, Qt.Key.Key_Return)
    assert panel.view.heights.height(1) == before
    panel.view.show_row(2)
    shown = panel.view.layout_of(2).texts[0].text()
    assert "error: unknown field total" in shown
    assert "checked file 0\n" not in shown
    press(panel, Qt.Key.Key_Return)
    whole = "\n".join(text.text() for text in panel.view.layout_of(2).texts)
    assert "checked file 0\n" in whole
    assert "error: unknown field total" in whole


def test_e_opens_all_cards_and_closes_them(shop: tuple[MainWindow, ConversationPanel]) -> None:
    _, panel = shop
    press(panel, Qt.Key.Key_E)
    assert "Then at its tests." in panel.view.layout_of(5).texts[0].text()
    press(panel, Qt.Key.Key_E)
    assert "Then at its tests." not in panel.view.layout_of(5).texts[0].text()


def test_copy_gives_markdown(shop: tuple[MainWindow, ConversationPanel]) -> None:
    _, panel = shop
    panel.view.show_row(3)
    QTest.keyClick(panel.view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    copied = QGuiApplication.clipboard().text()
    assert copied.startswith("## Done 0\n\nThe field **total** was wrong, see [the page](<https://example.org/page>).")
    for part in ("- first\n", "```python\nprint(1)\n```", "| 1 | 2 |"):
        assert part in copied


def at_text(panel: ConversationPanel, card: int, text: int, *, end: bool = False) -> QPoint:
    piece = panel.view.layout_of(card).texts[text]
    origin = QPointF(panel.view.column()[0], panel.view._top(card) + panel.view._above(card))
    inside = QPointF(piece.x + (piece.ideal_width() + 20 if end else 0), piece.y + (piece.height - 3 if end else 3))
    return (origin + inside).toPoint()


def test_text_is_selected_across_cards(shop: tuple[MainWindow, ConversationPanel]) -> None:
    _, panel = shop
    viewport = panel.view.viewport()
    first, last = at_text(panel, 0, 0), at_text(panel, 2, 0, end=True)
    QTest.mousePress(viewport, Qt.MouseButton.LeftButton, pos=first)
    QTest.mouseMove(viewport, (first + last) / 2)
    QTest.mouseMove(viewport, last)
    QTest.mouseRelease(viewport, Qt.MouseButton.LeftButton, pos=last)
    QTest.keyClick(panel.view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    copied = QGuiApplication.clipboard().text()
    assert copied.startswith(
        "Please fix part 0 of the shop\n\n> *Thought, 1.0 s*\n>\n> I should look at part 0 first. Then at its tests."
    )
    assert copied.endswith("error: unknown field total")
    press(panel, Qt.Key.Key_Escape)
    assert not panel.view.has_selected_text


def test_links_ask_before_they_leave(shop: tuple[MainWindow, ConversationPanel]) -> None:
    window, panel = shop
    layout = panel.view.layout_of(3)
    piece = layout.texts[0]
    place = next(
        QPointF(x, y) for y in range(int(piece.y), int(piece.bottom), 4) for x in range(int(piece.x), 700, 6)
        if piece.link_at(QPointF(x, y))
    )  # fmt: skip
    panel.view.show_row(3)
    origin = QPointF(panel.view.column()[0], panel.view._top(3))
    QTest.mouseClick(panel.view.viewport(), Qt.MouseButton.LeftButton, pos=(origin + place).toPoint())
    question = window.findChild(QMessageBox, "openLinkQuestion")
    assert question is not None
    assert "https://example.org/page" in question.text()
    question.close()


def test_markup_from_the_log_is_text(application: Application) -> None:
    lines = [
        claude_line(0, "user", "<b>bold</b> <img src='file:///etc/passwd'> <script>x</script>"),
        claude_line(1, "assistant", [{"type": "text", "text": "<table><tr><td>cell</td></tr></table>\n\n![p](https://example.org/p.png)"}]),
    ]  # fmt: skip
    _, panel = opened(application, log_file(data_of(lines)))
    prompt = panel.view.layout_of(0).texts[0]
    assert prompt.text() == "<b>bold</b> <img src='file:///etc/passwd'> <script>x</script>"
    assert "<table>" in panel.view.layout_of(1).texts[0].text()
    assert not any(text.document.allFormats()[n].isImageFormat() for text in panel.view.layout_of(1).texts
                   for n in range(len(text.document.allFormats())))  # fmt: skip


def said(number: int) -> dict[str, Any]:
    return received(envelope("chat", {"text": f"Line {number} of the talk, " + "and more words " * 20}))


def test_new_messages_do_not_move_the_text_one_reads(application: Application) -> None:
    log = GrowingLog()
    log.write(*(said(n) for n in range(60)))
    _, panel = shown(application, log.document)
    panel.go_to_row(20)
    seen = panel.view.rows_in_sight()
    tops = [panel.view._top(n) for n in seen]
    before = len(panel.model)
    log.write(*(said(n) for n in range(60, 63)))
    panel.outline.request_now()
    assert len(panel.model) == before + 3
    assert [panel.view._top(n) for n in seen] == tops
    assert panel.pill.text() == "3 new"
    panel.pill.click()
    assert panel.pill.isHidden()
    log.write(said(64))
    panel.outline.request_now()
    assert len(panel.model) - 1 in panel.view.rows_in_sight()


def long_session(turns: int) -> bytes:
    return data_of(session(turns))


def test_a_long_session_measures_only_cards_in_sight(application: Application) -> None:
    _, panel = opened(application, log_file(long_session(600)))
    assert len(panel.model) == 2_400
    panel.grab()
    assert panel.view.measured_count <= 40
    panel.go_to_turn(599)
    panel.grab()
    assert row(panel) == 2_396
    assert panel.view.measured_count <= 80
    assert int(np.count_nonzero(panel.view.heights.exact)) <= 80


def test_sub_agents_open_in_place_and_become_the_scope(application: Application) -> None:
    document = closed_at_end(CaptureDocument())
    for _ in document.open_log(SESSION, together=True):
        pass
    window, panel = shown(application, document)
    agents = [n for n, kind in enumerate(kinds(panel)) if kind == CardKind.AGENT]
    assert agents
    before = len(panel.model)
    panel.view.show_row(agents[0])
    top = panel.view._top(agents[0])
    press(panel, Qt.Key.Key_Return)
    assert len(panel.model) > before
    assert (panel.view._top(agents[0]), row(panel)) == (top, agents[0])
    assert panel.model.outline is not None
    assert panel.model.outline.depths[agents[0] + 1] == 1
    press(panel, Qt.Key.Key_Return)
    assert len(panel.model) == before
    panel.view.acted.emit(agents[0], "scope")
    assert panes_of(window).filter_state.scope is not None
    assert 0 < len(panel.model) < before


def test_find_highlights_in_place_and_opens_what_hides_a_hit(
    shop: tuple[MainWindow, ConversationPanel], qtbot: QtBot
) -> None:
    window, panel = shop
    press(panel, Qt.Key.Key_Slash)
    assert panel.find_in_text.bar.isVisible()
    panel.find_in_text.bar.editor.setText("Then at its tests")
    qtbot.waitUntil(lambda: panel.find_in_text.bar.words == "1 of 3")
    assert panel.find_in_text.rows().tolist() == [1, 5, 9]
    assert any(text.hits for text in panel.view.layout_of(1).texts)
    QTest.keyClick(panel.find_in_text.bar.editor, Qt.Key.Key_Return)
    assert (row(panel), panel.find_in_text.bar.words) == (5, "2 of 3")
    window.actions_by_id["edit.find_previous"].trigger()
    assert row(panel) == 1
    window.actions_by_id["edit.find_next"].trigger()
    assert row(panel) == 5
    window.actions_by_id["edit.find_previous"].trigger()
    window.actions_by_id["edit.find_previous"].trigger()
    assert (row(panel), panel.find_in_text.bar.words) == (9, "wrapped, 3 of 3")
    QTest.keyClick(panel.find_in_text.bar.editor, Qt.Key.Key_Escape)
    assert not panel.find_in_text.bar.isVisible()
    assert not panel.view.layout_of(9).texts[0].hits


def test_find_shows_a_hit_in_a_closed_output(shop: tuple[MainWindow, ConversationPanel], qtbot: QtBot) -> None:
    _, panel = shop
    panel.find_in_text.open()
    panel.find_in_text.bar.editor.setText("checked file 0")
    qtbot.waitUntil(lambda: panel.find_in_text.bar.words == "1 of 3")
    layout = panel.view.layout_of(2)
    assert any(text.hits for text in layout.texts)
    panel.find_in_text.step(1)
    assert row(panel) == 6


def hit_tops(panel: ConversationPanel) -> list[float]:
    """The tops of the highlights in the viewport."""
    view = panel.view
    return [
        view._top(seen) + view._above(seen) + text.top_of(start)
        for seen in view.rows_in_sight()
        for text in view.layout_of(seen).texts
        for start, _ in text.hits
        if text.top_of(start) < text.bottom
    ]


def test_typing_scrolls_to_the_first_hit_and_escape_returns(application: Application, qtbot: QtBot) -> None:
    _, panel = opened(application, log_file(data_of(session(40))))
    find, view = panel.find_in_text, panel.view
    panel.go_to_row(8)
    view.place_at_top(9)
    before, selected = view.place, row(panel)
    find.open()
    for text, count in (("Please fix `part 3", "1 of 11"), ("Please fix `part 31", "1 of 1")):
        find.bar.editor.setText(text)
        qtbot.waitUntil(lambda count=count: find.bar.words == count)
        assert find.rows()[0] in view.rows_in_sight()
    assert row(panel) == selected, "typing selects no card"
    QTest.keyClick(find.bar.editor, Qt.Key.Key_Escape)
    assert view.place == before
    find.open()
    find.bar.editor.setText("part 33")
    qtbot.waitUntil(lambda: find.bar.words.startswith("1 of"))
    QTest.keyClick(find.bar.editor, Qt.Key.Key_Return)
    chosen = view.place
    QTest.keyClick(find.bar.editor, Qt.Key.Key_Escape)
    assert view.place == chosen, "a hit that the user went to stays in sight"


def test_typing_opens_the_card_of_a_hit_and_escape_closes_it(application: Application, qtbot: QtBot) -> None:
    _, panel = opened(application, log_file(data_of(session(40))))
    find = panel.find_in_text
    before = panel.reading_place()
    find.open()
    find.bar.editor.setText("checked file 17")
    qtbot.waitUntil(lambda: find.bar.words == "1 of 40")
    assert panel.model.opened
    assert any(0 <= top < panel.view.viewport().height() for top in hit_tops(panel))
    find.bar.editor.setText("checked file 17 is absent")
    qtbot.waitUntil(lambda: find.bar.words == "Nothing found")
    assert panel.reading_place() == before
    find.bar.editor.setText("checked file 17")
    qtbot.waitUntil(lambda: find.bar.words == "1 of 40")
    QTest.keyClick(find.bar.editor, Qt.Key.Key_Escape)
    assert panel.reading_place() == before


def test_typing_unfolds_a_sub_agent_and_escape_folds_it(application: Application, qtbot: QtBot) -> None:
    document = closed_at_end(CaptureDocument())
    for _ in document.open_log(ORDERS, together=True):
        pass
    _, panel = shown(application, document)
    before, count = panel.reading_place(), len(panel.model)
    panel.find_in_text.open()
    panel.find_in_text.bar.editor.setText("web/cart.ts")
    qtbot.waitUntil(lambda: panel.find_in_text.bar.words.startswith("1 of"))
    qtbot.waitUntil(lambda: any(0 <= top < panel.view.viewport().height() for top in hit_tops(panel)))
    QTest.keyClick(panel.find_in_text.bar.editor, Qt.Key.Key_Escape)
    assert (panel.reading_place(), len(panel.model)) == (before, count)


def test_find_unfolds_a_sub_agent(application: Application, qtbot: QtBot) -> None:
    document = closed_at_end(CaptureDocument())
    for _ in document.open_log(SESSION, together=True):
        pass
    _, panel = shown(application, document)
    outline = panel.model.outline
    assert outline is not None
    agent = kinds(panel).index(CardKind.AGENT)
    hidden = [n for n in range(len(outline.items)) if outline.items[n] == agent and n not in
              (outline.messages[agent], outline.lasts[agent])]  # fmt: skip
    assert hidden
    panel.reveal(hidden[0], lambda: panel.go_to_row(panel.model.row_of_message(hidden[0])))
    assert row(panel) > agent
    assert panel.model.outline is not None
    assert panel.model.outline.is_open[agent]


def test_n_reaches_failures_in_folded_sub_agents(application: Application) -> None:
    document = closed_at_end(CaptureDocument())
    for _ in document.open_log(ORDERS, together=True):
        pass
    _, panel = shown(application, document)
    outline = panel.model.outline
    assert outline is not None
    folded = [int(one) for one in outline.failures if one not in outline.messages]
    assert folded, "a failure of a sub-agent"
    panel.go_to_row(0)
    visited: list[int] = []
    for _ in range(len(outline.failures)):
        panel.step_failure(1)
        visited.append(panel.model.key(row(panel))[1])
    assert visited == outline.failures.tolist()
    for expected in visited[-2::-1]:
        panel.step_failure(-1)
        assert panel.model.key(row(panel))[1] == expected


def test_changed_files_and_agents_are_listed_beside_the_turns(application: Application) -> None:
    document = closed_at_end(CaptureDocument())
    for _ in document.open_log(ORDERS, together=True):
        pass
    window, panel = shown(application, document)
    side = panel.side
    names = [str(side.files.model.index(n).data()) for n in range(side.files.model.rowCount())]
    assert "orders.py" in names
    spoken = [str(side.agents.model.index(n).data(Qt.ItemDataRole.AccessibleTextRole))
              for n in range(side.agents.model.rowCount())]  # fmt: skip
    assert spoken[0].startswith("claude, ")
    assert " tokens in context" in spoken[0]
    assert " model calls, " in spoken[0], "calls of turns and cards are of tools"
    panel.side.resize(300, 900)
    for section in (side.files, side.agents):
        bar = section.view.verticalScrollBar()
        assert not bar.isVisible() or side.turns_view.verticalScrollBar().isVisible(), "no list scrolls beside space"
    panel.go_to_row(0)
    edits = []
    for _ in range(3):
        side.files.view.picked.emit(names.index("orders.py"), True)
        edits.append(row(panel))
    assert edits[0] < edits[1], "each choice goes to the next change"
    assert edits[2] == edits[0]
    side.agents.view.entered.emit(1)
    assert panes_of(window).filter_state.scope is not None
    side.files.view.entered.emit(0)
    assert window.center.current == "files"


@pytest.mark.parametrize("is_open", [False, True], ids=["opened later", "open before"])
def test_model_sees_shows_the_chosen_agent(application: Application, qtbot: QtBot, is_open: bool) -> None:
    document = closed_at_end(CaptureDocument())
    for _ in document.open_log(ORDERS, together=True):
        pass
    window, panel = shown(application, document)
    if is_open:
        window.actions_by_id["view.model_sees"].trigger()
        window.actions_by_id["view.conversation"].trigger()
    qtbot.waitUntil(lambda: panel.side.agents.model.rowCount() > 1)
    panel.side.agents.view.picked.emit(1, True)
    agent = panel.side._agents[1]
    window.actions_by_id["view.model_sees"].trigger()
    sees = window.center.currentWidget()
    assert isinstance(sees, ModelSeesPanel)

    def has_entries_of_agent() -> bool:
        seen = sees.context_state.seen
        return seen.reader is not None and seen.reader.title.startswith(agent.name) and len(sees.source) > 1

    qtbot.waitUntil(has_entries_of_agent)
    window.actions_by_id["view.conversation"].trigger()
    panel.side.agents.view.picked.emit(0, True)
    window.actions_by_id["view.model_sees"].trigger()
    qtbot.waitUntil(lambda: sees.context_state.seen.reader is not None
                    and sees.context_state.seen.reader.name == "claude")  # fmt: skip


def test_switches_open_thoughts_and_fold_results(shop: tuple[MainWindow, ConversationPanel]) -> None:
    _, panel = shop
    before = panel.view.layout_of(2).height
    press(panel, Qt.Key.Key_R)
    assert panel.view.layout_of(2).height < before
    press(panel, Qt.Key.Key_T)
    assert "Then at its tests." in panel.view.layout_of(5).texts[0].text()
    panel.view.show_row(2)
    press(panel, Qt.Key.Key_Return)
    assert "checked file 0" in "".join(text.text() for text in panel.view.layout_of(2).texts)


def test_pictures_of_the_log_are_shown_in_place(application: Application, qtbot: QtBot) -> None:
    image = QImage(600, 400, QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.red)
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")  # type: ignore[call-overload]
    encoded = bytes(buffer.data().toBase64().data()).decode()

    def block(text: str) -> dict[str, Any]:
        return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": text}}

    content = [{"type": "text", "text": "Look"}, block(encoded), block("AAAA"),
               {"type": "image", "source": {"type": "url", "url": "https://example.org/p.png"}}]  # fmt: skip
    _, panel = opened(application, log_file(data_of([claude_line(0, "user", content)])))
    rows = range(len(panel.model))
    panel.grab()

    def zones() -> list[Zone]:
        return [zone for n in rows for zone in panel.view.layout_of(n).zones if zone.act.startswith("picture")]

    qtbot.waitUntil(lambda: any(zone.rect.height() > 100 for zone in zones()))
    shown_one = max(zones(), key=lambda zone: zone.rect.height())
    assert shown_one.rect.height() <= 321 * panel._themes.theme.zoom
    assert "image/png" in shown_one.words
    texts = " ".join(str(panel.model.index(n).data(Qt.ItemDataRole.AccessibleTextRole)) for n in rows)
    assert "Picture: image/png" in texts


@pytest.mark.in_process("changes the number of calls that a first picture reads")
def test_a_first_picture_folds_near_its_place_and_the_rest_later(
    application: Application, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    monkeypatch.setattr(call_facts, "NEAR_CALLS", 6)
    lines: list[dict[str, Any]] = []
    for number in range(24):
        if number in (0, 12):
            lines.append(claude_line(len(lines), "user", f"Read all parts of {number}"))
        use = {"type": "tool_use", "id": f"r-{number}", "name": "Bash", "input": {"command": f"cat part-{number}"}}
        lines.append(claude_line(len(lines), "assistant", [use]))
        result = {"type": "tool_result", "tool_use_id": f"r-{number}", "content": "a part"}
        lines.append(claude_line(len(lines), "user", [result]))
    outlines: list[Outline] = []
    show = ConversationPanel._show_outline  # pyright: ignore[reportPrivateUsage] - each picture is of interest

    def note(panel: ConversationPanel, outline: Outline) -> None:
        outlines.append(outline)
        show(panel, outline)

    monkeypatch.setattr(ConversationPanel, "_show_outline", note)
    _, panel = opened(application, log_file(data_of(lines)))
    kept = [CardKind.PROMPT, CardKind.CALL, CardKind.FOLD]
    qtbot.waitUntil(lambda: kinds(panel) == kept * 2)
    assert outlines[0].is_partial
    assert [CardKind(kind) for kind in outlines[0].kinds[:3].tolist()] == kept
    assert len(outlines[0]) > len(outlines[-1])
    assert not outlines[-1].is_partial


def test_a_document_without_turns_has_no_empty_list_of_turns(application: Application) -> None:
    write = {"name": "write_file", "arguments": {"path": "/work/hello.txt", "content": "Hello"}}
    call = envelope("mcp/request", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": write}, to=["tools"])
    answer = envelope(
        "mcp/response", {"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": "Written"}]}},
        sender="tools", correlation_id=[call["id"]],
    )  # fmt: skip
    _window, panel = opened(application, log_file(data_of([call, answer])))
    side = panel.side
    assert not side.turns_model.count
    assert not side.files.isHidden()
    assert side.turns_view.isHidden()
    assert side.legend.isHidden()
    assert side.head.isHidden()


def test_facts_of_a_turn_leave_out_whole_facts_and_failures_last(application: Application) -> None:
    turn = Turn(0, 0, 0, 60 * 10**9, 1, 1, 0, 0, 22, 2, 3, 3, 60 * 10**9, float("nan"))
    metrics = QFontMetrics(application.theme.theme.font("small"))
    for width in (400, 220, 160, 60):
        words = [one for one, _token in fitting_facts(turn, metrics, width)]
        assert "2 failed" in words
        assert metrics.horizontalAdvance(" · ".join(words)) <= width or words == ["2 failed", "3 rejected by the user"]


@pytest.mark.parametrize(("text", "hangs"), [("first", True), ("\u0646\u0642\u0637\u0629", False), ("1.", True)])
def test_marks_of_lists_from_right_to_left_stay_in_the_page(application: Application, text: str, hangs: bool) -> None:
    item = ListItem((Paragraph((Run(text),)),))
    document = RichWriter(application.theme.theme).write([ListBlock((item,))])
    block = document.firstBlock()
    assert text in block.text()
    assert (block.blockFormat().textIndent() < 0) is hangs


def test_messages_of_cards_are_copied_as_json(shop: tuple[MainWindow, ConversationPanel]) -> None:
    _, panel = shop

    def copied(card: int, name: str) -> dict[str, Any]:
        panel._show_menu(card, QPoint())
        menu = panel.findChildren(QMenu, "conversationMenu")[-1]
        {one.objectName(): one for one in menu.actions()}[name].trigger()
        menu.close()
        return json.loads(QGuiApplication.clipboard().text())

    assert "Please fix `part 0`" in json.dumps(copied(0, "conversation.json"))
    assert "make lint" in json.dumps(copied(2, "conversation.json"))
    assert "unknown field total" in json.dumps(copied(2, "conversation.result_json"))
