"""The details pane, used as a user does: read, follow links, copy, filter, turn tabs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QAbstractItemModel, QModelIndex, QPoint, Qt
from PySide6.QtGui import QFontMetrics, QGuiApplication, QTextDocument
from PySide6.QtWidgets import QApplication, QLabel, QMenu, QMessageBox, QPlainTextEdit, QWidget
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from inspector.document.document import CaptureDocument
from inspector.filters import compile_filter
from inspector.present.formats import MINUS
from inspector.present.json_spans import span_at, spans_of, steps_at
from inspector.present.value_tree import ValueTree
from inspector.protocol.payloads.record_tables import table_of
from inspector.protocol.secrets.masking import MASK
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.details.chain_view import ChainView
from inspector.ui.panels.details.content_table import FIRST_ROWS, ContentModel, ContentTable
from inspector.ui.panels.details.facts_view import FactsView
from inspector.ui.panels.details.fitted_list import FittedList, wrap
from inspector.ui.panels.details.json_model import JsonModel, JsonRole
from inspector.ui.panels.details.json_text import JsonColors, JsonText
from inspector.ui.panels.details.json_tree import JsonTree
from inspector.ui.panels.details.panel import EMPTY, TABS, DetailsPanel
from inspector.ui.panels.details.raw_page import RawPage
from inspector.ui.panels.details.section import LinkText, SegmentButton
from inspector.ui.panels.details.text_block import TextView
from tests.builders import delivered, document_of, envelope, received, tool_call, tool_result
from tests.strategies import share_of_examples
from tests.ui.find import child
from tests.ui.panels.details.panels import close_document, details_panel, report_change
from tests.ui.windows import bury

Show = Callable[..., DetailsPanel]

HINTS = {"contextHints": [{"tool": "search", "lifecycle": "transient", "consumedBy": "store"}]}
TRANSIENT = {"context": {"lifecycle": "transient", "summary": "3 records (page 1/1)"}}
CONSUMED = {"context": {"consumed": True}}


@pytest.fixture
def show(qtbot: QtBot, theme_controller: ThemeController) -> Iterator[Show]:
    """A panel that shows one message of some lines or of a document, the last one by default."""
    documents: list[CaptureDocument] = []

    def make(
        *lines: dict[str, Any] | str | bytes, message: int = -1, tab: str = "Overview", hints: bool = False,
        document: CaptureDocument | None = None,
    ) -> DetailsPanel:  # fmt: skip
        document = document or document_of(*lines)
        documents.append(document)
        panel = details_panel(document, theme_controller)
        qtbot.addWidget(panel)
        panel.set_context_hints(hints)
        panel.resize(340, 700)
        panel.show()
        panel.show_tab(tab)
        panel.show_message(message % len(document.capture))
        QApplication.processEvents()
        return panel

    yield make
    for document in documents:
        document.close()


def page(panel: DetailsPanel) -> QWidget:
    return panel.pages[TABS[panel.tabs.currentIndex()]]


def words(panel: DetailsPanel) -> str:
    """Everything a page says, list by list."""
    found: list[str] = []
    for widget in page(panel).findChildren(QWidget):
        if isinstance(widget, FittedList):
            found += [str(widget.model().index(row, 0).data()) for row in range(widget.model().rowCount())]
        elif isinstance(widget, TextView | QPlainTextEdit):
            found.append(widget.toPlainText())
        elif isinstance(widget, QLabel | LinkText):
            found.append(widget.text())
        elif widget.accessibleName():
            found.append(widget.accessibleName())
    return "\n".join(found)


def one(panel: DetailsPanel, kind: type[Any], name: str) -> Any:
    found = page(panel).findChild(kind, name)
    assert found is not None, f"no {name} in\n{words(panel)}"
    return found


def rows(view: FittedList[Any]) -> list[str]:
    return [str(view.model().index(row, 0).data()) for row in range(view.model().rowCount())]


def click_row(qtbot: QtBot, view: FittedList[Any], row: int, x: int | None = None) -> None:
    place = view.visualRect(view.model().index(row, 0)).center()
    if x is not None:
        place = QPoint(x, place.y())
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)


def collapsing() -> list[dict[str, Any]]:
    """A hint, a transient result, and its consumption: messages 0 to 5."""
    step, search, store = (tool_call(name) for name in ("step", "search", "store"))
    records = json.dumps({"records": [{"id": n, "title": f"Visit {n}", "minutes": n * 10} for n in (1, 2, 3)]})
    return [
        step, tool_result(step, meta=HINTS),
        search, tool_result(search, records, meta=TRANSIENT),
        store, tool_result(store, "stored", meta=CONSUMED),
    ]  # fmt: skip


# Head and empty state


def test_without_a_message_it_says_what_to_do(show: Show):
    panel = show(envelope())
    panel.show_message(None)
    assert panel.empty.isVisible()
    assert panel.empty.text() == EMPTY
    assert not panel.tabs.isVisible()
    panel.show_message(0)
    assert not panel.empty.isVisible()


def test_a_message_beyond_the_capture_is_none(show: Show):
    panel = show(envelope())
    panel.show_message(7)
    assert panel.message is None


def test_the_head_says_kind_tool_state_and_route(show: Show):
    request = tool_call("grep", sender="lead", to="files")
    panel = show(request, tool_result(request), message=0)
    assert (panel.head.namespace, panel.head.name, panel.head.tool) == ("mcp/", "request", "grep")
    assert panel.head.state is not None
    assert panel.head.state.word == "answered"
    assert "No. 1" in panel.head.second_line
    assert "lead → files" in panel.head.second_line
    assert "answered" in panel.head.accessibleName()


def proposal_with(*kinds: str) -> list[dict[str, Any]]:
    proposal = envelope(
        "mcp/proposal", {"method": "tools/call", "params": {"name": "write", "arguments": {"path": "/a"}}}
    )
    lines = [proposal]
    for kind in kinds:
        sender = "lead" if kind == "mcp/withdraw" else "human"
        payload = proposal["payload"] if kind == "mcp/request" else {"reason": "unsafe"}
        lines.append(envelope(kind, payload, sender=sender, to=["files"], correlation_id=[proposal["id"]]))
    return lines


@pytest.mark.parametrize(
    ("kinds", "word"),
    [((), "waiting"), (("mcp/reject",), "rejected"), (("mcp/withdraw",), "withdrawn"), (("mcp/request",), "fulfilled")],
)
def test_the_pill_of_a_proposal(show: Show, kinds: tuple[str, ...], word: str):
    panel = show(*proposal_with(*kinds), message=0)
    assert panel.head.state is not None
    assert panel.head.state.word == word


def test_badges_are_shown_only_with_context_hints(show: Show):
    panel = show(*collapsing(), message=3)
    assert panel.head.state is None
    panel.set_context_hints(True)
    assert panel.head.state is not None
    assert panel.head.state.word == "collapsed"


# Overview by kind


def test_a_collapsed_result_says_what_the_model_sees_now(show: Show):
    panel = show(*collapsing(), message=3, hints=True)
    assert rows(one(panel, FactsView, "seenNow"))[0] == "3 records (page 1/1)"
    assert "Collapsed by No. 6 store" in rows(one(panel, FactsView, "seenNow"))[1]
    told = [row.split(", ")[-3:-1] for row in rows(one(panel, ChainView, "chain"))]
    assert told[-3:] == [["search", "collapsed"], ["store", "asked"], ["store", "consumed"]]
    assert ["step", "hinted"] in told
    table = one(panel, ContentTable, "contentTable")
    assert table.model().rowCount() == 3
    assert table.model().index(2, 1).data() == "Visit 3"
    assert (
        table.model().data(table.model().index(0, 2), Qt.ItemDataRole.TextAlignmentRole) & Qt.AlignmentFlag.AlignRight
    )


def test_content_can_be_seen_as_text_and_json(show: Show, qtbot: QtBot):
    panel = show(*collapsing(), message=3)
    qtbot.mouseClick(one(panel, SegmentButton, "contentAsJSON"), Qt.MouseButton.LeftButton)
    assert '"title": "Visit 1"' in one(panel, TextView, "contentJson").toPlainText()
    qtbot.mouseClick(one(panel, SegmentButton, "contentAsText"), Qt.MouseButton.LeftButton)
    assert "Visit 3" in one(panel, TextView, "contentText").toPlainText()


def test_more_records_come_on_request(show: Show, qtbot: QtBot):
    request = tool_call("search")
    many = json.dumps([{"id": n, "title": "t"} for n in range(FIRST_ROWS + 5)])
    panel = show(request, tool_result(request, many))
    table = one(panel, ContentTable, "contentTable")
    assert table.model().rowCount() == FIRST_ROWS
    more = one(panel, LinkText, "contentTableMore")
    assert more.text() == "5 more records"
    qtbot.mouseClick(more, Qt.MouseButton.LeftButton)
    assert table.model().rowCount() == FIRST_ROWS + 5


def test_a_failed_result_shows_its_error(show: Show):
    request = tool_call("grep")
    panel = show(
        request,
        envelope(
            "mcp/response", {"error": {"code": -32000, "message": "no such file"}}, correlation_id=[request["id"]]
        ),
    )
    assert "no such file" in rows(one(panel, FactsView, "error"))[0]
    assert panel.head.state is not None
    assert panel.head.state.word == "failed"


def test_a_request_says_its_state_first(show: Show):
    request = tool_call("grep", arguments={"pattern": "x", "deep": {"a": 1}})
    panel = show(request, tool_result(request), message=0)
    assert rows(one(panel, FactsView, "requestState"))[0].startswith("Answered by files after ")
    assert rows(one(panel, FactsView, "arguments")) == ["pattern: x", 'deep: {"a":1}']


def test_a_request_nobody_answered_says_so(show: Show):
    panel = show(tool_call("grep"), envelope(), message=0)
    assert rows(one(panel, FactsView, "requestState"))[0].startswith("No answer in the ")
    assert panel.head.state is not None
    assert panel.head.state.word == "waiting"
    assert rows(one(panel, FactsView, "addressedTo")) == ["files: never seen"]


def test_a_rejected_proposal_says_who_and_why(show: Show):
    panel = show(*proposal_with("mcp/reject", "mcp/request"), message=0)
    assert rows(one(panel, FactsView, "arguments")) == ["path: /a"]
    acted = rows(one(panel, FactsView, "whoActed"))
    assert acted[0].startswith("Rejected by: human, No. 2 unsafe")
    assert acted[1].startswith("Fulfilled by: human, No. 3")


def test_a_thought_opens_on_its_own_text_then_on_the_whole_sequence(show: Show):
    lines = [
        envelope("reasoning/start", {"message": "why"}, id="r1"),
        envelope("reasoning/thought", {"message": "because"}, context="r1"),
        tool_call("grep", sender="lead"),
        envelope("reasoning/conclusion", {}, context="r1"),
    ]
    panel = show(*lines, message=1)
    assert one(panel, TextView, "thoughtText").toPlainText() == "because"
    listed = rows(one(panel, ChainView, "thoughts"))
    assert [row.rpartition("No. ")[2] for row in listed] == ["1", "2", "3", "4"]
    assert "this, because" in listed[1]
    assert "waiting" in listed[2]
    assert "no message" in listed[3]


def test_a_long_sequence_is_cut_and_offers_its_scope(show: Show, qtbot: QtBot):
    lines = [envelope("reasoning/start", {"message": "why"}, id="r1")]
    lines += [envelope("reasoning/thought", {"message": f"t{n}"}, context="r1") for n in range(80)]
    panel = show(*lines, message=60)
    assert len(rows(one(panel, ChainView, "thoughts"))) == 50
    assert any("this" in row for row in rows(one(panel, ChainView, "thoughts")))
    more = one(panel, LinkText, "moreThoughts")
    assert more.text() == "31 more, scope to this context"
    with qtbot.waitSignal(panel.links.scope_requested) as asked:
        qtbot.mouseClick(more, Qt.MouseButton.LeftButton)
    assert asked.args == [60]


def test_chat_in_markdown_is_rendered_without_html_or_resources(show: Show):
    text = "# Plan\n\n**bold** <b>raw</b> ![p](file:///etc/passwd) [site](https://example.org)"
    panel = show(envelope("chat", {"text": text, "format": "markdown"}))
    view = one(panel, TextView, "chatText")
    plain = view.toPlainText()
    assert plain.startswith("Plan\nbold <b>raw</b>")
    assert "[picture: file:///etc/passwd]" in plain
    assert "<img" not in view.toHtml()


def test_chat_is_markdown_without_html(show: Show):
    panel = show(envelope("chat", {"text": "**not** <b>bold</b>"}))
    assert one(panel, TextView, "chatText").toPlainText() == "not <b>bold</b>"


def test_a_link_opens_only_after_a_question(show: Show, monkeypatch: pytest.MonkeyPatch):
    opened: list[str] = []
    monkeypatch.setattr(
        "inspector.ui.dialogs.link_question.QDesktopServices.openUrl", lambda url: opened.append(url.toString())
    )
    panel = show(envelope("chat", {"text": "[site](https://example.org/a)", "format": "markdown"}))
    view = one(panel, TextView, "chatText")
    view.anchorClicked.emit("https://example.org/a")
    box = view.findChild(QMessageBox, "openLinkQuestion")
    assert box is not None
    assert box.textFormat() == Qt.TextFormat.PlainText
    assert "https://example.org/a" in box.text()
    assert opened == []
    next(button for button in box.buttons() if button.text() == "Open").click()
    assert opened == ["https://example.org/a"]


def test_a_question_about_a_link_names_its_host_whatever_stands_before_it(show: Show) -> None:
    panel = show(envelope("chat", {"text": "x", "format": "markdown"}))
    view = one(panel, TextView, "chatText")
    view.anchorClicked.emit(f"https://github.com{'-' * 600}@\u0435vil.example/")
    box = view.findChild(QMessageBox, "openLinkQuestion")
    assert box.text().startswith("A message leads to xn--vil-qdd.example. ")
    box.close()


def test_a_link_to_anything_but_the_web_is_not_opened(show: Show):
    panel = show(envelope("chat", {"text": "x", "format": "markdown"}))
    view = one(panel, TextView, "chatText")
    view.anchorClicked.emit("file:///etc/passwd")
    box = view.findChild(QMessageBox, "openLinkQuestion")
    assert "Open" not in [button.text() for button in box.buttons()]
    box.close()


def test_acknowledgements_are_listed(show: Show):
    chat = envelope("chat", {"text": "hello"})
    panel = show(
        chat, envelope("chat/acknowledge", {"status": "read"}, sender="human", correlation_id=[chat["id"]]), message=0
    )
    assert rows(one(panel, FactsView, "acknowledgements"))[0].startswith("human: read, No. 2")


def test_participant_status_shows_gauge_and_history(show: Show):
    reports = [
        envelope("participant/status", {"tokens": t, "max_tokens": 20_000, "messages_in_context": 3}, ts=at)
        for t, at in ((5_000, "2026-01-05T09:00:00.000Z"), (19_000, "2026-01-05T09:00:01.000Z"))
    ]
    panel = show(*reports)
    assert one(panel, QWidget, "usageGauge").accessibleName() == "19,000 of 20,000 tokens, 95 %"
    assert one(panel, QWidget, "usageLine").accessibleName().startswith("2 reports, from 5,000 to 19,000 tokens")


@pytest.mark.parametrize(("kind", "sign"), [("capability/grant", "+"), ("capability/revoke", MINUS)])
def test_capabilities_are_a_list_with_signs(show: Show, kind: str, sign: str):
    pattern = {"kind": "mcp/request", "payload": {"method": "tools/call", "params": {"name": "read_*"}}}
    panel = show(envelope(kind, {"recipient": "fs", "capabilities": [pattern, {"kind": "chat"}]}))
    assert rows(one(panel, FactsView, "capabilityFacts"))[0] == "Participant: fs"
    assert rows(one(panel, FactsView, "patterns")) == [f"{sign}: mcp/request:tools/call:read_*", f"{sign}: chat"]


def test_a_stream_counts_its_frames(show: Show):
    lines = [
        {"ctxcap": 1},
        {"t": 1, "dir": "in", "src": 0, "frame": envelope("stream/open", {"stream_id": "s1", "owner": "lead"})},
        {"t": 2, "dir": "in", "src": 0, "text": "#s1#hello"},
        {"t": 3, "dir": "in", "src": 0, "text": "#s1#world"},
        {"t": 4, "dir": "in", "src": 0, "frame": envelope("stream/close", {"stream_id": "s1", "reason": "complete"})},
    ]
    panel = show(*lines, message=0)
    said = words(panel)
    assert "Owner: lead" in said
    assert "Frames: 2 frames" in said
    assert "closed, complete, No. 4" in said
    assert "world" in said


def test_an_error_shows_the_offending_message_first(show: Show):
    request = tool_call("delete")
    payload = {
        "error": "capability_violation",
        "attempted_kind": "mcp/request",
        "your_capabilities": [{"kind": "chat"}],
    }
    panel = show(
        request, envelope("system/error", payload, sender="system:gateway", to=["lead"], correlation_id=[request["id"]])
    )
    assert rows(one(panel, FactsView, "offending"))[0].startswith("No. 1 delete")
    said = words(panel)
    assert said.index("Offending message") < said.index("capability_violation")
    assert rows(one(panel, FactsView, "patterns")) == ["chat"]


def test_welcome_lists_who_is_there(show: Show):
    payload = {
        "you": {"id": "me", "capabilities": [{"kind": "*"}]},
        "participants": [{"id": "fs", "capabilities": [{"kind": "chat"}]}],
    }
    panel = show(envelope("system/welcome", payload, sender="system:gateway", to=["me"]))
    assert "Joined as: me" in words(panel)
    assert rows(one(panel, FactsView, "othersPresent")) == ["fs: chat"]


def test_a_spoofed_presence_is_marked(show: Show):
    panel = show(envelope("system/presence", {"event": "join", "participant": {"id": "x"}}, sender="mallory"))
    assert "mallory, who is not the gateway" in words(panel)


def test_an_unreadable_line_shows_where_it_broke_and_hides_secrets(show: Show):
    panel = show(envelope(), '{"token":"abcdef","kind":')
    assert panel.head.name == "unreadable"
    assert "cut after 25 B" in rows(one(panel, FactsView, "broke"))[0]
    dump = rows(one(panel, FactsView, "bytes"))
    assert dump[0].startswith("0000: 7b 22 74 6f 6b 65 6e 22")
    assert dump[-1].endswith("here")
    assert "abcdef" not in words(panel)
    assert "61 62 63" not in words(panel)


@pytest.mark.parametrize("kind", ["custom/thing", "mcp/other", "x"])
def test_any_kind_has_its_payload_and_envelope(show: Show, kind: str):
    panel = show(envelope(kind, {"a": 1, "b": {"c": [1]}}))
    assert rows(one(panel, FactsView, "payload")) == ["a: 1", 'b: {"c":[1]}']
    assert any(row.startswith("Protocol: mew/v0.4") for row in rows(one(panel, FactsView, "envelopeFacts")))


# Envelope


def test_the_envelope_names_deliveries_and_correlation(show: Show):
    chat = envelope("chat", {"text": "hi"})
    reply = envelope("chat", {"text": "ho"}, correlation_id=[chat["id"], "lost"])
    panel = show(received(chat), received(reply), delivered(reply, "a"), delivered(reply, "b"))
    said = rows(one(panel, FactsView, "envelopeFacts"))
    assert f"Correlation: No. 1 {chat['id']}" in said
    assert any("not seen lost" in row for row in said)
    assert any("delivered to 2" in row for row in said)
    view = one(panel, FactsView, "envelopeFacts")
    place = next(i for i, row in enumerate(said) if "delivered to" in row)
    assert "a, b" in str(view.model().index(place, 0).data(Qt.ItemDataRole.ToolTipRole))


def test_copy_as_gives_json_id_and_filter(show: Show):
    panel = show(envelope("chat", {"text": "hi", "token": "SECRET"}, id="abc"))
    menu = panel.findChild(QMenu, "copyAsMenu")
    assert menu is not None
    actions = {action.text(): action for action in menu.actions()}
    clipboard = QGuiApplication.clipboard()
    actions["JSON"].trigger()
    assert json.loads(clipboard.text())["payload"] == {"text": "hi", "token": MASK}
    actions["Id"].trigger()
    assert clipboard.text() == "abc"
    actions["Filter"].trigger()
    assert clipboard.text() == 'id == "abc"'
    compile_filter(clipboard.text())


# Links and keyboard


def test_a_click_in_the_chain_asks_for_the_message(show: Show, qtbot: QtBot):
    request = tool_call("grep")
    panel = show(request, tool_result(request))
    chain = one(panel, ChainView, "chain")
    with qtbot.waitSignal(panel.links.message_requested) as asked:
        click_row(qtbot, chain, 0)
    assert asked.args == [0]


def test_the_chain_is_walked_with_the_keyboard(show: Show, qtbot: QtBot):
    request = tool_call("grep")
    panel = show(request, tool_result(request))
    chain = one(panel, ChainView, "chain")
    chain.setFocus(Qt.FocusReason.TabFocusReason)
    assert chain.currentIndex().row() == 1  # the message itself
    qtbot.keyClick(chain, Qt.Key.Key_Up)
    with qtbot.waitSignal(panel.links.message_requested) as asked:
        qtbot.keyClick(chain, Qt.Key.Key_Return)
    assert asked.args == [0]


def test_following_a_link_replaces_the_page_it_stands_on(show: Show, qtbot: QtBot):
    request = tool_call("grep")
    panel = show(request, tool_result(request))
    panel.links.message_requested.connect(panel.show_message)
    click_row(qtbot, one(panel, ChainView, "chain"), 0)
    assert panel.message == 0
    assert panel.head.name == "request"


def test_a_long_value_opens_and_closes(show: Show, qtbot: QtBot):
    long = "\n".join(f"line {n}" for n in range(40))
    panel = show(tool_call("write", arguments={"content": long}))
    view = one(panel, FactsView, "arguments")
    before = view.heightForWidth(view.width())
    click_row(qtbot, view, 0)
    assert view.heightForWidth(view.width()) > 3 * before
    click_row(qtbot, view, 0)
    assert view.heightForWidth(view.width()) == before


def test_a_long_name_breaks_after_an_underscore(theme_controller: ThemeController):
    font = theme_controller.theme.font("mono")
    name = "mcp__files__search"
    room = QFontMetrics(font).horizontalAdvance(name[:-1]) + 1
    assert wrap(name, font, room, 2) == ["mcp__files__", "search"]
    assert wrap("a_" + "b" * 40, font, room, 9)[0] == "a_" + "b" * (len(name) - 3), "lines stay full"


def test_wrap_keeps_to_its_lines_and_says_that_more_follows(theme_controller: ThemeController):
    font = theme_controller.theme.font("body")
    assert wrap("", font, 200, 3) == [""]
    assert wrap("one\ntwo\n", font, 200, 3) == ["one", "two"]
    lines = wrap("word " * 400, font, 200, 3)
    assert len(lines) == 3
    assert lines[-1].endswith("…")
    assert wrap("a\nb\nc", font, 200, 2)[-1].endswith("…")


# Tree


def test_the_tree_shows_the_envelope_masked(show: Show):
    panel = show(envelope("chat", {"text": "a\u202eb", "token": "SECRET"}), tab="Tree")
    model = one(panel, JsonTree, "jsonTree").model()
    shown = dict(walk(model))
    assert shown["payload.token"] == MASK
    assert shown["payload.text"] == "a⟨U+202E⟩b"
    assert shown["from"] == "lead"


def walk(model: QAbstractItemModel, parent: QModelIndex | None = None) -> Iterator[tuple[str, str]]:
    parent = parent or QModelIndex()
    for row in range(model.rowCount(parent)):
        index = model.index(row, 0, parent)
        yield str(index.data(JsonRole.PATH)), str(index.siblingAtColumn(1).data())
        yield from walk(model, index)


@pytest.mark.parametrize(
    ("fields", "path", "wanted"),
    [
        ({"payload": {"a": {"b": "x"}}}, "payload.a.b", 'payload.a.b == "x"'),
        ({"payload": {"odd key": [True]}}, 'payload."odd key".0', 'payload."odd key".0 == true'),
        ({"payload": {"n": 2.5}}, "payload.n", "payload.n == 2.5"),
        ({"payload": {"o": {"p": 1}}}, "payload.o", "payload.o"),
        ({"payload": {"n": None}}, "payload.n", ""),
        ({"payload": {}, "to": ["human"]}, "to.0", 'to == "human"'),
        ({"payload": {}, "correlation_id": ["m0"]}, "correlation_id.0", 'correlation == "m0"'),
        ({"payload": {}, "to": ["human"]}, "to", "to"),
        ({"payload": {}, "correlation_id": ["m0"]}, "correlation_id", "correlation"),
        ({"payload": {}, "context": "a/b"}, "context", 'context under "a/b"'),
        ({"payload": {}}, "from", 'from == "lead"'),
        ({"payload": {}}, "kind", 'kind.raw == "x/y"'),
    ],
)
def test_a_value_becomes_a_filter_that_finds_its_message(show: Show, fields: dict[str, Any], path: str, wanted: str):
    document = document_of(envelope("x/y", **fields))
    panel = show(document=document, tab="Tree")
    tree = one(panel, JsonTree, "jsonTree")
    index = next(i for i in indexes(tree.model()) if i.data(JsonRole.PATH) == path)
    assert tree.filter_of(index) == wanted
    asked: list[str] = []
    panel.links.filter_requested.connect(lambda text, _mode: asked.append(text))
    menu = tree.menu_for(index)
    action = next(a for a in menu.actions() if a.text() == "Filter by this")
    assert action.isEnabled() == bool(wanted)
    action.trigger()
    assert asked == ([wanted] if wanted else [])
    if wanted:
        assert compile_filter(wanted).mask(document.analysis, np.arange(1)).tolist() == [True]


def indexes(model: QAbstractItemModel, parent: QModelIndex | None = None) -> Iterator[QModelIndex]:
    parent = parent or QModelIndex()
    for row in range(model.rowCount(parent)):
        index = model.index(row, 0, parent)
        yield index
        yield from indexes(model, index)


def test_a_json_rpc_line_is_its_own_payload(show: Show):
    panel = show({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"x": "y"}}, tab="Tree")
    tree = one(panel, JsonTree, "jsonTree")
    index = next(i for i in indexes(tree.model()) if i.data(JsonRole.PATH) == "params.x")
    assert tree.filter_of(index) == 'payload.params.x == "y"'


def test_a_whole_value_is_one_step_away(show: Show):
    panel = show(envelope("chat", {"text": "long " * 2_000}), tab="Tree")
    tree = one(panel, JsonTree, "jsonTree")
    index = next(i for i in indexes(tree.model()) if i.data(JsonRole.PATH) == "payload.text")
    tree.show_whole(index)
    text = tree.findChild(QPlainTextEdit, "valueText")
    assert text is not None
    assert text.toPlainText() == "long " * 2_000
    text.window().close()


def model_of(value: object) -> JsonModel:
    """Returns the model of an envelope; further rows arrive at once."""
    tree = ValueTree(value, is_envelope=True)
    return JsonModel(
        tree.rows_below(()), lambda steps, take: take(tree.rows_below(steps))
    )  # fmt: skip


@pytest.mark.parametrize(
    "value",
    [{}, [], {"a": {"b": [1, 2, {"c": None}]}, "d": "x"}, [[[[]]]], {"many": list(range(3_000))}],
    ids=["object", "array", "nested", "deep", "many"],
)
def test_the_tree_model_is_sound(qtmodeltester: ModelTester, theme_controller: ThemeController, value: object):
    model = model_of(value)
    qtmodeltester.check(model)


def test_a_wide_array_is_cut_and_says_so():
    model = model_of({"payload": list(range(2_500))})
    payload = model.index(0, 0)
    assert model.rowCount(payload) == 2_001
    assert model.index(2_000, 1, payload).data() == "500 more, see Raw"


def test_rows_of_a_large_value_are_fetched_when_it_is_expanded(show: Show, qtbot: QtBot):
    rows = {f"list {n}": [{"text": f"{n} {place}"} for place in range(1_000)] for n in range(8)}
    panel = show(envelope("chat", rows), tab="Tree")
    tree = one(panel, JsonTree, "jsonTree")
    qtbot.waitUntil(lambda: tree.model() is not None)
    model = tree.model()
    payload = next(index for row in range(model.rowCount()) if (index := model.index(row, 0)).data() == "payload")
    last = model.index(7, 0, payload)
    assert model.canFetchMore(last)
    assert model.hasChildren(last)
    tree.expand(payload)
    tree.expand(last)
    qtbot.waitUntil(lambda: model.rowCount(last) == 1_000)
    tree.choose(["payload", "list 7", 999, "text"])
    assert tree.currentIndex().siblingAtColumn(1).data() == "7 999"
    menu = tree.menu_for(tree.currentIndex())
    next(action for action in menu.actions() if action.text() == "Copy value").trigger()
    assert QApplication.clipboard().text() == "7 999"
    menu.deleteLater()


def test_the_content_model_is_sound(qtmodeltester: ModelTester, theme_controller: ThemeController):
    model = ContentModel(table_of([{"a": n, "b": "x"} for n in range(40)]), 10)
    qtmodeltester.check(model)
    model.show_rows(30)
    assert model.rowCount() == 30


def test_row_lists_are_sound_models(show: Show, qtmodeltester: ModelTester):
    panel = show(*collapsing(), message=3)
    for view in page(panel).findChildren(FittedList):
        qtmodeltester.check(view.model())


# Raw


def test_raw_shows_exact_bytes_and_the_line_around_them(show: Show, qtbot: QtBot):
    inner = envelope("chat", {"text": "é ☃"})
    panel = show(received(inner, "lead"), tab="Raw")
    text = one(panel, QPlainTextEdit, "rawText")
    assert text.toPlainText() == json.dumps(inner)
    qtbot.mouseClick(one(panel, SegmentButton, "rawWhatLine"), Qt.MouseButton.LeftButton)
    assert text.toPlainText() == json.dumps(received(inner, "lead"))


def test_raw_shows_the_lines_a_text_was_put_together_of(show: Show):
    def piece(text: str) -> dict[str, Any]:
        update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
        return {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": update}}

    panel = show(piece("He"), piece("llo"), message=0, tab="Raw")
    lines = one(panel, QPlainTextEdit, "rawText").toPlainText().splitlines()
    assert [json.loads(line) for line in lines] == [piece("He"), piece("llo")]
    assert one(panel, QLabel, "rawSentence").text() == "Assembled from 2 lines, shown as logged."


def test_raw_hides_secrets_until_asked(show: Show, qtbot: QtBot):
    hello = {"type": "join", "space": "demo", "token": "SECRET", "participantId": "x"}
    panel = show(hello, tab="Raw")
    text = one(panel, QPlainTextEdit, "rawText")
    toggle = one(panel, SegmentButton, "showSecrets")
    assert "SECRET" not in text.toPlainText()
    qtbot.mouseClick(one(panel, LinkText, "copyRaw"), Qt.MouseButton.LeftButton)
    assert "SECRET" not in QGuiApplication.clipboard().text()
    qtbot.mouseClick(toggle, Qt.MouseButton.LeftButton)
    assert "SECRET" in text.toPlainText()
    panel.show_message(0)
    assert "SECRET" not in text.toPlainText()


def test_raw_makes_controls_visible(show: Show):
    line = '{"protocol":"mew/v0.4","id":"a","from":"x","kind":"chat","payload":{"text":"\u202e"}}'
    panel = show(line, tab="Raw")
    assert "⟨U+202E⟩" in one(panel, QPlainTextEdit, "rawText").toPlainText()


def test_no_page_shows_a_secret(show: Show):
    payload = {
        "participant_id": "new",
        "token": "S3CRET",
        "connection_url": "ws://h/?token=S3CRET",
        "note": "Bearer S3CRET",
    }
    panel = show(envelope("space/invite-ack", payload))
    for tab in TABS:
        panel.show_tab(tab)
        assert "S3CRET" not in words(panel)
        tree = page(panel).findChild(JsonTree)
        if tree is not None:
            assert all("S3CRET" not in value for _, value in walk(tree.model()))


@pytest.fixture(scope="module")
def large() -> dict[str, Any]:
    return envelope("chat", {"text": "x" * 3_000_000})


@pytest.mark.in_process("watches reads of the log")
def test_a_large_message_is_shown_by_its_head_and_its_end(
    show: Show, large: dict[str, Any], monkeypatch: pytest.MonkeyPatch
):
    document = document_of(large, envelope())
    panel = show(document=document, message=1)
    read: list[int] = []
    source = document.capture.sources[0]
    whole = source.read
    monkeypatch.setattr(source, "read", lambda offset, length: (read.append(length), whole(offset, length))[1])
    panel.show_message(0)
    for tab in TABS:
        panel.show_tab(tab)
    assert max(read) < 100_000  # nothing above 1 MB is read whole
    panel.show_tab("Overview")
    said = words(panel)
    assert "This message has 3.0 MB; only the first 65.5 kB are decoded here." in said
    assert "Beginning" in said
    assert large["id"] in " ".join(rows(one(panel, FactsView, "envelopeFacts")))
    panel.show_tab("Tree")
    assert "Only the first 65.5 kB of 3.0 MB are decoded." in words(panel)
    tree = dict(walk(one(panel, JsonTree, "jsonTree").model()))
    assert tree["kind"] == "chat"
    panel.show_tab("Raw")
    assert "The line has 3.0 MB; only beginning and end are shown." in words(panel)
    raw = one(panel, QPlainTextEdit, "rawText").toPlainText()
    assert raw.startswith('{"protocol"')
    assert raw.endswith('xxx"}}')
    assert "MB not shown" in raw


def test_raw_shows_more_step_by_step_and_never_all_of_a_large_message(show: Show, large: dict[str, Any]):
    panel = show(large, tab="Raw")
    more = one(panel, LinkText, "rawMore")
    sizes: list[int] = []
    while not more.isHidden():
        sizes.append(len(one(panel, QPlainTextEdit, "rawText").toPlainText()))
        more.click()
    assert sizes == sorted(sizes)
    assert len(one(panel, QPlainTextEdit, "rawText").toPlainText()) < 400_000


def test_saving_is_offered_wherever_a_message_is_shown(show: Show, large: dict[str, Any], qtbot: QtBot):
    panel = show(large)
    asked: list[int] = []
    panel.links.save_requested.connect(asked.append)
    one(panel, LinkText, "saveLarge").click()
    panel.show_tab("Raw")
    one(panel, LinkText, "saveRaw").click()
    assert asked == [0, 0]


# Related and Lifecycle


def test_related_lists_causes_effects_and_deliveries(show: Show):
    request = tool_call("grep")
    panel = show(
        received(request), delivered(request, "files"), received(tool_result(request)), message=0, tab="Related"
    )
    said = words(panel)
    assert "Direct effects" in said
    assert "Direct causes" not in said
    assert rows(one(panel, FactsView, "deliveries")) == ["files: delivered"]


def test_related_of_a_lone_message_says_so(show: Show):
    assert "No causes or effects in this log." in words(show(envelope(), tab="Related"))


@pytest.mark.parametrize(
    ("message", "wanted"),
    [
        (1, "search → store"),
        (3, "+2.0 s, store, consumed, No. 6"),
        (5, "search, collapsed, No. 4"),
        (2, "Only results of tool calls have a lifecycle"),
    ],
    ids=["hint", "transient", "consumer", "request"],
)
def test_lifecycle_tells_the_story(show: Show, message: int, wanted: str):
    lines = collapsing()
    for second, line in enumerate(lines):
        line["ts"] = f"2026-01-05T09:00:{second:02d}.000Z"
    assert wanted in words(show(*lines, message=message, tab="Lifecycle"))


def test_lifecycle_of_a_pending_result(show: Show):
    assert "Still pending" in words(show(*collapsing()[:4], message=3, tab="Lifecycle"))


# Changes


def grow(document: CaptureDocument, *lines: dict[str, Any]) -> None:
    """Append to the document's file and take it in."""
    assert document.path is not None
    with document.path.open("ab") as file:
        file.writelines(json.dumps(line).encode() + b"\n" for line in lines)
    assert document.poll()


def test_an_answer_that_arrives_is_shown(show: Show):
    request = tool_call("grep")
    document = document_of(request)
    panel = show(document=document)
    assert panel.head.state is not None
    assert panel.head.state.word == "waiting"
    grow(document, tool_result(request))
    report_change(panel)
    assert panel.head.state.word == "answered"
    assert len(rows(one(panel, ChainView, "chain"))) == 2


def test_traffic_of_others_changes_nothing(show: Show):
    document = document_of(envelope("chat", {"text": "hi"}))
    panel = show(document=document)
    before = one(panel, TextView, "chatText")
    grow(document, envelope(), envelope())
    report_change(panel)
    assert one(panel, TextView, "chatText") is before


def test_a_growing_sequence_is_followed(show: Show):
    document = document_of(envelope("reasoning/start", {"message": "why"}, id="r1"))
    panel = show(document=document)
    grow(document, envelope("reasoning/thought", {"message": "new"}, context="r1"))
    report_change(panel)
    assert "new" in words(panel)


def test_a_refresh_keeps_place_and_focus(show: Show):
    lines = [envelope("reasoning/start", {"message": "why"}, id="r1")]
    lines += [envelope("reasoning/thought", {"message": f"t{n}"}, context="r1") for n in range(45)]
    document = document_of(*lines)
    panel = show(document=document, message=0)
    bar = panel.pages["Overview"].verticalScrollBar()  # pyright: ignore[reportAttributeAccessIssue]
    bar.setValue(200)
    chain = one(panel, ChainView, "thoughts")
    chain.setCurrentIndex(chain.model().index(5, 0))
    grow(document, envelope("reasoning/thought", {"message": "new"}, context="r1"))
    report_change(panel)
    assert bar.value() == 200
    assert one(panel, ChainView, "thoughts") is not chain


def test_the_theme_can_change_while_a_message_is_shown(show: Show, theme_controller: ThemeController):
    panel = show(*collapsing(), message=3)
    for tab in TABS:
        panel.show_tab(tab)
        shown, before = words(panel), panel.grab().toImage()
        theme_controller.set_setting("dark" if theme_controller.setting == "light" else "light")
        assert words(panel) == shown
        assert panel.grab().toImage() != before


# All of it


RECORDINGS = Path(__file__).parents[3] / "data" / "recordings"


@pytest.mark.sweep
@pytest.mark.parametrize("path", sorted(RECORDINGS.rglob("*.jsonl")), ids=lambda p: f"{p.parent.name}/{p.name}")
def test_every_kind_of_recorded_message_has_every_page(qtbot: QtBot, theme_controller: ThemeController, path: Path):
    document = CaptureDocument()
    document.load(path)
    panel = details_panel(document, theme_controller)
    qtbot.addWidget(panel)
    panel.resize(340, 600)
    panel.show()
    kinds = [document.capture.string("kind", message) for message in range(len(document.capture))]
    for message in sorted({kinds.index(kind) for kind in kinds}):
        panel.show_message(message)
        for tab in TABS:
            panel.show_tab(tab)
            assert words(panel)
        bury()
    close_document(panel)


def test_what_takes_the_keyboard_has_a_name(show: Show):
    panel = show(*collapsing(), message=3)
    for tab in TABS:
        panel.show_tab(tab)
        for widget in page(panel).findChildren(QWidget):
            if widget.focusPolicy() != Qt.FocusPolicy.NoFocus and not widget.objectName().startswith("qt_"):
                assert widget.objectName(), widget
                assert widget.accessibleName() or widget.focusProxy(), widget.objectName()


def test_no_label_guesses_rich_text(show: Show):
    panel = show(envelope("chat", {"text": "<b>x</b>"}, sender="<i>me</i>"))
    for tab in TABS:
        panel.show_tab(tab)
    assert all(label.textFormat() == Qt.TextFormat.PlainText for label in panel.findChildren(QLabel))


KINDS = st.sampled_from(
    ["mcp/request", "mcp/response", "mcp/proposal", "mcp/reject", "chat", "chat/acknowledge", "reasoning/start",
     "reasoning/thought", "participant/status", "capability/grant", "space/invite-ack", "stream/open", "stream/close",
     "system/presence", "system/welcome", "system/error", "odd"]
)  # fmt: skip
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from(
    ["text", "message", "method", "params", "result", "error", "tokens", "max_tokens", "capabilities", "recipient",
     "stream_id", "owner", "authorized_writers", "participant", "participants", "you", "your_capabilities", "status",
     "format", "reason", "event", "messages_in_context", "active_streams", "attempted_kind", "description"]
)  # fmt: skip


@share_of_examples(3)
@given(st.lists(st.tuples(KINDS, st.dictionaries(KEYS, VALUES, max_size=4)), min_size=1, max_size=3))
def test_any_payload_has_an_overview(show: Show, messages: list[tuple[str, dict[str, Any]]]):
    panel = show(*(envelope(kind, payload) for kind, payload in messages))
    for message in range(len(messages)):
        panel.show_message(message)
        assert words(panel)
    panel.grab()
    panel.close()
    bury()


NESTED = {"text": '{"status": "ok", "rows": [{"id": 7}]}', "odd key": [1, None, True]}


def test_json_in_a_text_opens_in_the_tree_and_has_its_filter() -> None:
    model, tree = model_of(envelope("chat", NESTED)), ValueTree(envelope("chat", NESTED), is_envelope=True)
    text = model.index_at(["payload", "text"])
    assert text.data(JsonRole.TYPE) == "string"
    assert model.hasChildren(text)
    assert not model.hasChildren(model.index_at(["kind"]))
    status, number = model.index_at(["payload", "text", "status"]), model.index_at(["payload", "text", "rows", 0, "id"])
    assert tree.filter_of(model.steps_of(status)) == 'json(payload.text).status == "ok"'
    assert number.data(JsonRole.PATH) == "json(payload.text).rows.0.id"
    compile_filter(tree.filter_of(model.steps_of(number)))


def test_secrets_in_a_text_that_is_opened_are_masked() -> None:
    model = model_of({"payload": {"text": '{"password": "hunter2secret", "a": 1}'}})
    assert "hunter2secret" not in str(model.index_at(["payload", "text", "password"]).siblingAtColumn(1).data())


def test_the_tree_model_with_texts_is_sound(qtmodeltester: ModelTester, theme_controller: ThemeController) -> None:
    qtmodeltester.check(model_of(envelope("chat", NESTED)))


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4), max_leaves=20,
    ),
    st.sampled_from([None, 2]),
)  # fmt: skip
def test_each_value_is_found_where_it_is_written(value: object, indent: int | None) -> None:
    text = json.dumps(value, indent=indent)
    spans = {span.steps: span for span in spans_of(text)}

    def check(one: object, steps: tuple[str | int, ...]) -> None:
        span = spans[steps]
        assert json.loads(text[span.start : span.stop]) == one
        assert span_at(text, steps) == span
        assert steps_at(text, span.start) is not None
        inner = one.items() if isinstance(one, dict) else enumerate(one) if isinstance(one, list) else ()
        for key, below in inner:
            check(below, (*steps, key))

    check(value, ())


def test_a_text_that_ends_early_gives_what_is_whole() -> None:
    assert [span.steps for span in spans_of('{"a": [1, {"b": "x"}, "unfin')][:2] == [("a", 0), ("a", 1, "b")]


def test_tree_and_raw_show_the_same_value_and_raw_folds(show: Show) -> None:
    panel = show(envelope("chat", NESTED), tab="Tree")
    tree = child(panel, JsonTree)
    tree.choose(["payload", "odd key"])
    panel.show_tab("Raw")
    raw = child(panel, JsonText)
    assert raw.textCursor().selectedText().replace(" ", "") == "[1,null,true]"
    child(panel, RawPage).what.choose("Formatted")
    line = next(n for n, one in enumerate(raw.toPlainText().splitlines()) if '"odd key"' in one)
    raw.fold(line, True)
    assert [raw.document().findBlockByNumber(line + n).isVisible() for n in range(5)] == [True, *[False] * 3, True]
    panel.show_tab("Overview")
    panel.show_tab("Raw")
    raw.choose(["payload", "odd key", 1])
    assert raw.textCursor().selectedText() == "null"
    assert not raw.is_folded(line)
    raw.value_chosen.emit(("payload", "text"))
    panel.show_tab("Tree")
    assert tree.currentIndex().data(JsonRole.PATH) == "payload.text"
    raw.grab()


def test_raw_colours_each_token_by_its_type(theme_controller: ThemeController) -> None:
    text = '{"a": "x", "b": [[-1.5e3], true], "c" : null}'
    document, names = QTextDocument(), ("ink.secondary", "json.string", "json.number", "json.word", "ink.tertiary")
    colors = JsonColors(theme_controller, document)
    document.setPlainText(text)
    colors.rehighlight()
    by_color = {theme_controller.theme.color(name).name(): name for name in names}
    formats = document.firstBlock().layout().formats()
    found = {
        text[one.start : one.start + one.length]: by_color[one.format.foreground().color().name()] for one in formats
    }
    assert found == {
        "{": "ink.tertiary", ":": "ink.tertiary", ",": "ink.tertiary", "[[": "ink.tertiary",
        "],": "ink.tertiary", "}": "ink.tertiary", '"a"': "ink.secondary", '"b"': "ink.secondary",
        '"c"': "ink.secondary", '"x"': "json.string", "-1.5e3": "json.number", "true": "json.word", "null": "json.word",
    }  # fmt: skip
