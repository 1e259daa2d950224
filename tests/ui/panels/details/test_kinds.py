"""What the Overview says of each kind: read as a user reads it."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QBuffer, QIODevice, Qt
from PySide6.QtGui import QColor, QFontMetrics, QGuiApplication, QImage
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from inspector.document.document import CaptureDocument
from inspector.protocol.secrets.masking import MASK
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.details.chain_view import ChainView, ThreadView
from inspector.ui.panels.details.content_table import ContentTable
from inspector.ui.panels.details.facts_view import FactsView
from inspector.ui.panels.details.fitted_list import FittedList
from inspector.ui.panels.details.head import fitted_line
from inspector.ui.panels.details.panel import DetailsPanel
from inspector.ui.panels.details.pictures import MAX_PIXELS, PictureView, decode_picture
from inspector.ui.panels.details.section import Section, SegmentButton
from inspector.ui.panels.details.text_block import TextView
from tests.builders import GrowingLog, document_of, envelope, tool_call, tool_result
from tests.strategies import share_of_examples
from tests.ui.panels.details.panels import close_document, details_panel, report_change
from tests.ui.windows import bury

Show = Callable[..., DetailsPanel]


@pytest.fixture
def show(qtbot: QtBot, theme_controller: ThemeController) -> Iterator[Show]:
    """A panel that shows the Overview of one message of some lines, the last one by default."""
    documents: list[CaptureDocument] = []

    def make(*lines: dict[str, Any] | str | bytes, message: int = -1) -> DetailsPanel:
        document = document_of(*lines)
        documents.append(document)
        panel = details_panel(document, theme_controller)
        qtbot.addWidget(panel)
        panel.resize(360, 700)
        panel.show()
        panel.show_message(message % len(document.capture))
        QApplication.processEvents()
        return panel

    yield make
    for document in documents:
        document.close()
    bury()


def rows(panel: DetailsPanel, name: str, kind: type[FittedList[Any]] = FactsView) -> list[str]:
    view = panel.pages["Overview"].findChild(kind, name)
    assert view is not None, f"no {name}: {labels(panel)}"
    return [str(view.model().index(row, 0).data()) for row in range(view.model().rowCount())]


def text(panel: DetailsPanel, name: str) -> str:
    view = panel.pages["Overview"].findChild(TextView, name)
    assert view is not None, f"no {name}: {labels(panel)}"
    return view.toPlainText()


def labels(panel: DetailsPanel) -> list[str]:
    return [section.label for section in panel.pages["Overview"].findChildren(Section)]


def answered(method: str, params: dict[str, Any], result: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    request = envelope("mcp/request", {"id": 1, "method": method, "params": params}, to=["files"])
    response = envelope("mcp/response", {"id": 1, "result": result}, to=["lead"], correlation_id=[request["id"]])
    return request, response | {"from": "files"}


def picture(width: int, height: int) -> str:
    image = QImage(width, height, QImage.Format.Format_ARGB32)
    image.fill(QColor(40, 90, 200, 128))
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")  # pyright: ignore[reportCallIssue, reportArgumentType]  the stub lacks str
    return base64.b64encode(buffer.data().data()).decode()


# Results and what they answer


def test_a_response_says_by_which_rule_it_is_named(show: Show):
    request = tool_call("grep")
    assert rows(show(request, tool_result(request)), "answers") == ["Tool: grep", "Answer to: the request No. 1"]


def test_a_response_that_names_itself_says_so(show: Show):
    panel = show(envelope("mcp/response:tools/call:grep", {"result": {}}))
    assert rows(panel, "answers") == ["Tool: grep", "Matched by: its own kind"]
    told = {"method": "tools/call", "params": {"name": "grep"}, "result": {}}
    assert rows(show(envelope("mcp/response", told)), "answers")[1] == "Matched by: its own payload"


def test_a_response_before_its_request_says_so(show: Show):
    request = tool_call("grep")
    said = rows(show(tool_result(request), request, message=0), "answers")
    assert said[0] == "Tool: grep"
    assert said[2].startswith("Order: listed before its request")


def test_a_response_whose_request_was_not_seen_mends_itself(
    qtbot: QtBot, theme_controller: ThemeController
):  # fmt: skip
    request = tool_call("grep")
    growing = GrowingLog()
    growing.write(tool_result(request))
    panel = details_panel(growing.document, theme_controller)
    qtbot.addWidget(panel)
    panel.show()
    panel.show_message(0)
    assert rows(panel, "answers")[0] == "Tool: unknown, its request is not in the log"
    growing.write(request)
    report_change(panel)
    assert rows(panel, "answers")[0] == "Tool: grep"
    close_document(panel)


def test_a_picture_is_decoded_and_told(show: Show, qtbot: QtBot):
    content = [{"type": "text", "text": "As it is now."}, {"type": "image", "mimeType": "image/png"}]
    content[1]["data"] = picture(60, 40)
    panel = show(*answered("tools/call", {"name": "shot"}, {"content": content}))
    shown = panel.pages["Overview"].findChild(PictureView, "picture1")
    assert shown is not None
    assert shown.height() == 42  # its room is kept free
    qtbot.waitUntil(lambda: shown.image is not None)
    assert shown.image is not None
    assert (shown.image.width(), shown.image.height(), shown.height()) == (60, 40, 42)
    assert rows(panel, "block1")[0].endswith("60 by 40 pixels")
    assert text(panel, "blockText0") == "As it is now."
    assert "Content, 2 blocks" in labels(panel)
    shown.copy()
    assert QGuiApplication.clipboard().image().width() == 60


def test_a_wide_picture_keeps_its_shape_within_the_pane(show: Show):
    content = [{"type": "image", "mimeType": "image/png", "data": picture(1200, 300)}]
    panel = show(*answered("tools/call", {"name": "shot"}, {"content": content}))
    shown = panel.pages["Overview"].findChild(PictureView, "picture0")
    assert shown is not None
    assert shown.height() == pytest.approx(shown.width() / 4, abs=4)


def test_a_picture_that_is_none_is_told_in_words(show: Show):
    content = [{"type": "image", "mimeType": "image/png", "data": "aGVsbG8="}]
    panel = show(*answered("tools/call", {"name": "shot"}, {"content": content}))
    assert panel.pages["Overview"].findChild(PictureView) is None
    assert rows(panel, "block0") == ["image, image/png, 5 B, unsupported format"]


@pytest.mark.parametrize("data", [b"", b"<svg xmlns='http://www.w3.org/2000/svg'/>", b"\x89PNG\r\n\x1a\n", b"GIF89a"])
def test_what_is_no_picture_is_refused(data: bytes):
    image, _, reason = decode_picture(data)
    assert image is None
    assert reason


def test_more_pixels_than_the_bound_are_not_decoded():
    side = int(MAX_PIXELS**0.5) + 10
    head = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + side.to_bytes(4, "big") * 2 + b"\x08\x02\x00\x00\x00"
    image, _, reason = decode_picture(head + b"\x00" * 40)
    assert image is None
    assert reason in ("too many pixels to show", "damaged", "unsupported format")


def test_links_audio_and_blobs_are_facts(show: Show):
    content = [
        {"type": "resource_link", "uri": "file:///a.md", "name": "a.md", "description": "A page", "size": 1834},
        {"type": "audio", "mimeType": "audio/wav", "data": "AAAA"},
        {"type": "resource", "resource": {"uri": "file:///b", "blob": "AAAA"}},
    ]
    panel = show(*answered("tools/call", {"name": "x"}, {"content": content}))
    assert rows(panel, "block0") == [
        "Link to: file:///a.md", "Name: a.md", "About: A page", "Size: 1.8 kB, as stated",
    ]  # fmt: skip
    assert rows(panel, "block1") == ["Audio: audio/wav", "Size: 3 B"]
    assert rows(panel, "block2") == ["Resource: file:///b", "Size: 3 B"]


def test_structured_content_stands_beside_the_text(show: Show):
    result = {"content": [{"type": "text", "text": "12 degrees"}], "structuredContent": {"t": 12, "wind": "north"}}
    panel = show(*answered("tools/call", {"name": "weather"}, result))
    assert text(panel, "contentText") == "12 degrees"
    assert rows(panel, "structured") == ["t: 12", "wind: north"]


def test_a_failed_tool_says_why_before_anything_else(show: Show):
    result = {"content": [{"type": "text", "text": "Permission denied"}], "isError": True}
    panel = show(*answered("tools/call", {"name": "grep"}, result))
    found = [label for label in labels(panel) if label != "Finding"]
    assert found[0] == "The tool failed"


def test_a_json_rpc_error_explains_its_code(show: Show):
    request = tool_call("grep")
    panel = show(request, envelope("mcp/response", {"error": {"code": -32602, "message": "no pattern"}},
                                   correlation_id=[request["id"]]))  # fmt: skip
    assert rows(panel, "error") == ["no pattern", "code: -32602 invalid params"]


def press(panel: DetailsPanel, qtbot: QtBot, name: str) -> None:
    button = panel.pages["Overview"].findChild(SegmentButton, name)
    assert button is not None
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    bury()


def test_markdown_is_formatted_until_the_user_wants_text(show: Show, qtbot: QtBot):
    written = "# Plan\n\nThree **steps** <b>x</b>\nand more"
    panel = show(
        envelope("chat", {"text": written}), envelope("reasoning/thought", {"message": "- `a` is new\n- b"}), message=0
    )
    assert "Three steps <b>x</b>\nand more" in text(panel, "chatText")
    press(panel, qtbot, "textAsText")
    assert text(panel, "chatText") == written
    panel.show_message(1)
    assert text(panel, "thoughtText") == "- `a` is new\n- b"
    press(panel, qtbot, "textAsFormatted")
    panel.show_message(0)
    assert text(panel, "chatText").startswith("Plan\nThree steps")


def test_output_of_a_tool_is_plain_until_the_user_wants_it_formatted(show: Show, qtbot: QtBot):
    built = "# example.com/shop\n./cart.go:3:2: **total** declared\n\n# example.com/till\n./till.go:9: `x` and `y`"
    declared = {
        "type": "resource",
        "resource": {"uri": "a:/plan", "mimeType": "text/markdown", "text": "# Plan\n\n- a"},
    }
    panel = show(
        *answered("tools/call", {"name": "build"}, {"content": [{"type": "text", "text": built}]}),
        *answered("tools/call", {"name": "read"}, {"content": [declared]}), message=1,
    )  # fmt: skip
    assert text(panel, "contentText") == built
    press(panel, qtbot, "contentAsFormatted")
    assert text(panel, "contentText").startswith("example.com/shop\n")
    # The choice of another text does not make the next output formatted.
    panel.show_message(1)
    assert text(panel, "contentText") == built


def test_a_heading_is_larger_than_the_text_below_it(show: Show):
    panel = show(envelope("chat", {"text": "# Plan\n\ntext\n\n## Steps\n\n- a\n\n### Last\n\nend"}))
    view = panel.pages["Overview"].findChild(TextView, "chatText")
    assert view is not None
    sizes: dict[str, int] = {}
    block = view.document().begin()
    while block.isValid():
        sizes[block.text()] = block.begin().fragment().charFormat().font().pixelSize()
        block = block.next()
    assert sizes["Plan"] > sizes["Steps"] > sizes["Last"] >= view.font().pixelSize()


def test_chat_that_declares_markdown_is_formatted_and_can_be_read_as_written(show: Show, qtbot: QtBot):
    panel = show(envelope("chat", {"text": "It is **done**", "format": "markdown"}))
    assert text(panel, "chatText") == "It is done"
    button = panel.pages["Overview"].findChild(SegmentButton, "textAsText")
    assert button is not None
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    bury()
    assert text(panel, "chatText") == "It is **done**"


# Other methods of MCP


def test_listings_are_tables(show: Show):
    panel = show(*answered("tools/list", {}, {"tools": [{"name": "grep", "description": "Finds."}]}))
    assert "Content, 1 tool" in labels(panel)


def test_a_prompt_shows_who_says_what(show: Show):
    said = [{"role": "user", "content": {"type": "text", "text": "Review it"}},
            {"role": "assistant", "content": {"type": "text", "text": "Fine"}}]  # fmt: skip
    panel = show(*answered("prompts/get", {"name": "review"}, {"messages": said}))
    assert [label for label in labels(panel) if label in ("User", "Assistant")] == ["User", "Assistant"]


def test_completions_are_listed_with_how_many_more_there_are(show: Show):
    result = {"completion": {"values": ["short", "sharp"], "total": 5, "hasMore": True}}
    panel = show(*answered("completion/complete", {"ref": {"type": "ref/prompt", "name": "r"}}, result))
    assert rows(panel, "completions") == ["short", "sharp", "3 more"]


def test_a_handshake_says_who_is_there(show: Show):
    hello = {"protocolVersion": "2025-06-18", "capabilities": {"roots": {"listChanged": True}},
             "clientInfo": {"name": "lead", "version": "1.2"}}  # fmt: skip
    result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "files"},
              "instructions": "Paths are relative."}  # fmt: skip
    pair = answered("initialize", hello, result)
    assert rows(show(*pair, message=0), "arguments") == [
        "Name: lead", "Version: 1.2", "MCP version: 2025-06-18", "Capabilities: roots (listChanged)",
    ]  # fmt: skip
    panel = show(*pair)
    assert rows(panel, "server")[0] == "Name: files"
    assert text(panel, "instructions") == "Paths are relative."


@pytest.mark.parametrize(
    ("method", "params", "name", "expected"),
    [
        ("tools/list_changed", {}, "notification", ["The tools of files changed."]),
        ("resources/updated", {"uri": "file:///a"}, "notification",
         ["This resource changed.", "Resource: file:///a"]),
        ("progress", {"progressToken": "p", "progress": 3, "total": 10, "message": "Reading"}, "progress",
         ["Reading", "Done: 3 of 10, 30 %", "Of: No. 1 token p"]),
        ("message", {"level": "error", "logger": "db", "data": {"host": "h"}}, "logged",
         ["Level: error", "Logger: db", "host: h"]),
        ("cancelled", {"requestId": 7, "reason": "over"}, "notification",
         ["Cancels: No. 1 asked by lead", "Reason: over"]),
        ("cancelled", {"requestId": "7"}, "notification", ["Cancels: request 7, not in the log"]),
        ("own/thing", {"a": 1}, "notification", ["A notification; it has no answer.", "a: 1"]),
    ],
)  # fmt: skip
def test_notifications_are_told_in_words(
    show: Show, method: str, params: dict[str, Any], name: str, expected: list[str]
):
    asked = {"id": 7, "method": "tools/call", "params": {"name": "x", "_meta": {"progressToken": "p"}}}
    request = envelope("mcp/request", asked, to=["files"])
    said = envelope("mcp/request", {"method": f"notifications/{method}", "params": params}) | {"from": "files"}
    assert rows(show(request | {"from": "lead"}, said), name) == expected


def test_where_nobody_is_ever_announced_a_recipient_is_not_said_to_be_missing(show: Show):
    lines: list[dict[str, Any]] = [
        {"t": 1.0, "dir": "client->server", "message": {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}},
        {"t": 2.0, "dir": "server->client", "message": {"jsonrpc": "2.0", "id": 1, "result": {"tools": []}}},
    ]
    assert "Addressed to" not in labels(show(*lines, message=0))


def test_arguments_are_names_and_values_however_deep(show: Show):
    findings = json.dumps([{"finding": "Health takes longest", "category": "pattern"}])
    panel = show(tool_call("store", arguments={"id": "r", "findings": findings}))
    assert rows(panel, "arguments") == [
        "id: r", "findings: 1 entry", "1: 2 entries", "finding: Health takes longest", "category: pattern",
    ]  # fmt: skip


def test_a_draft_shows_the_call_it_wraps(show: Show):
    inner = {"kind": "mcp/request", "payload": {"method": "tools/call",
                                                "params": {"name": "write", "arguments": {"path": "/a"}}}}  # fmt: skip
    accept = envelope("meup/proposal/accept", {"accepted_by": "lead", "envelope": inner})
    assert rows(show(accept), "arguments") == ["path: /a"]


# Reasoning and streams


def reasoning() -> list[dict[str, Any]]:
    long = "The header moved, so that I look at it first, then at who includes it, and only then at the makefile."
    return [
        envelope("reasoning/start", {"message": "why"}, id="why"),
        envelope("reasoning/thought", {"message": long}, context="why"),
        envelope("reasoning/thought", {"message": "three files"}, context="why/search"),
        tool_call("grep", context="why/search"),
        envelope("conclusion", {"text": "done"}, context="why"),
    ]


@pytest.mark.parametrize("message", range(3))
def test_a_sequence_is_one_thread_over_the_contexts_below(show: Show, message: int):
    listed = rows(show(*reasoning(), message=message), "thoughts", ThreadView)
    assert [row.rpartition("No. ")[2] for row in listed] == ["1", "2", "3", "4", "5"]
    assert "search" in listed[2]
    assert "grep, search, waiting" in listed[3]
    assert "in this context" in listed[4] or message == 2
    assert "no message" not in listed[4]


def released_agent() -> list[dict[str, Any]]:
    """What the released agent says: its calls and proposals name neither reasoning nor thought."""
    step = {"reasoning": "Now I write it.", "action": "tool", "actionInput": {"tool": "fs/write_file"}}
    return [
        envelope("chat", {"text": "Write it"}, sender="human", to=["lead"]),
        envelope("reasoning/start", {"input": "Write it"}, id="r"),
        tool_call("list_directory"),
        envelope("reasoning/thought", step, context="r"),
        envelope("mcp/proposal", {"method": "tools/call", "params": {"name": "write_file"}}, to=["files"]),
        envelope("reasoning/conclusion", {}, context="r"),
        tool_call("write_file"),
    ]


def test_a_proposal_shows_the_thought_it_came_after_and_leads_to_it(show: Show, qtbot: QtBot):
    panel = show(*released_agent(), message=4)
    said, where = rows(panel, "thoughtBefore")
    assert said == "Now I write it."
    assert where.startswith("Thought in No. 4 it names this tool")
    view = panel.pages["Overview"].findChild(FactsView, "thoughtBefore")
    assert view is not None
    with qtbot.waitSignal(panel.links.message_requested) as asked:
        view.setCurrentIndex(view.model().index(1, 0))
        qtbot.keyClick(view, Qt.Key.Key_Return)
    assert asked.args == [3]


def test_a_call_shows_what_was_asked_and_one_after_the_reasoning_shows_no_thought(show: Show):
    assert rows(show(*released_agent(), message=2), "thoughtBefore")[1].startswith("Asked in No. 2")
    assert "Preceding thought" not in labels(show(*released_agent(), message=6))


def test_a_start_that_names_nothing_leads_to_the_chat_with_the_same_words(show: Show):
    assert rows(show(*released_agent(), message=1), "asked")[1].startswith("human wrote the same text in No. 1")
    other = [envelope("chat", {"text": "Read it"}, sender="human", to=["lead"]), *released_agent()[1:]]
    assert rows(show(*other, message=1), "asked")[1] == "It names no request."


def test_a_thought_is_read_in_full_lines(show: Show):
    panel = show(*reasoning(), message=0)
    thread = panel.pages["Overview"].findChild(ThreadView, "thoughts")
    assert thread is not None
    line = thread.row_height(0, thread.viewport().width())
    assert thread.row_height(1, thread.viewport().width()) > 2 * line
    assert not panel.grab().isNull()


def test_what_was_streamed_meanwhile_is_joined(show: Show):
    asked = envelope("stream/request", {"direction": "upload", "description": "reasoning:why"}, id="s0")
    opened = envelope("stream/open", {"stream_id": "stream-1"}, correlation_id=["s0"], ts=None)
    frames = [b'#stream-1#{"type":"token","context":"why","value":"%s"}' % word for word in (b"The ", b"brief")]
    panel = show(asked, opened, *reasoning(), *frames, message=2)
    assert text(panel, "joinedText") == "The brief"
    panel = show(asked, opened, *reasoning(), *frames, message=1)
    assert text(panel, "joinedText") == "The brief"
    assert rows(panel, "frames") == ["No. 8 The token", "No. 9 brief token"]


def test_secrets_in_a_stream_are_masked_even_over_frames(show: Show):
    opened = envelope("stream/open", {"stream_id": "stream-1"})
    panel = show(opened, b'#stream-1#{"pass', b'#stream-1#word":"hunter2 is long"}', message=0)
    assert "hunter2" not in text(panel, "joinedText")
    assert MASK in text(panel, "joinedText")


def test_bytes_of_a_stream_are_hex(show: Show):
    panel = show(envelope("stream/open", {"stream_id": "stream-1"}), b"#stream-1#\xff\xfe\x00", message=0)
    assert rows(panel, "joinedBytes")[0].startswith("0000: ff fe 00")


# Controls, operations, and what is unknown


@pytest.mark.parametrize(
    ("kind", "payload", "expected"),
    [
        ("pause", {"timeout_seconds": 30, "reason": "lunch"},
         ["lead asks coder to pause for 30.0 s.", "Reason: lunch"]),
        ("resume", {}, ["lead asks coder to resume."]),
        ("forget", {"direction": "oldest", "entries": 1}, ["lead asks coder to forget its oldest 1 entry."]),
        ("compact", {"target_tokens": 12000}, ["lead asks coder to compact its context to 12,000 tokens."]),
        ("compact-done", {"freed_tokens": 19240, "freed_messages": 52, "status": "compacted"},
         ["lead compacted its context and freed 19,240 tokens in 52 messages."]),
        ("requestStatus", {"fields": ["tokens"]}, ["lead asks coder to report its tokens."]),
        ("clear", None, ["lead asks coder to forget its whole context."]),
        ("pause", {"timeout_seconds": "soon", "own": 1},
         ["lead asks coder to pause until resumed.", "timeout_seconds: soon", "own: 1"]),
        ("other", {"a": 1}, ["lead asks something of coder.", "a: 1"]),
    ],
)  # fmt: skip
def test_controls_are_sentences(show: Show, kind: str, payload: Any, expected: list[str]):
    control = envelope(f"participant/{kind}", payload, to=["coder"]) | {"from": "lead"}
    if payload is None:
        del control["payload"]
    assert rows(show(control), "control") == expected


def test_what_a_control_led_to_is_reported(show: Show):
    control = envelope("participant/clear", {}, to=["coder"], id="c1")
    status = envelope("participant/status", {"messages_in_context": 2, "tokens": 1200}, correlation_id=["c1"])
    assert rows(show(control, status, message=0), "reports") == ["In context: 2 messages", "Tokens: 1,200 tokens"]


def test_an_operation_on_contexts_is_a_sentence(show: Show):
    context = {"operation": "push", "topic": "Plan", "correlation_id": "ctx"}
    said = rows(show(envelope("meup/context", {}, context=context) | {"from": "lead"}), "operation")
    assert said == ["lead opens a context.", "Topic: Plan", "Id: ctx", "Context: ctx"]
    first = envelope("meup/context", {}, context={"operation": "push", "topic": "Plan"})
    below = envelope("meup/context", {}, context={"operation": "push", "topic": "Write"})
    assert rows(show(first, below), "operation")[0] == "lead opens a nested context."


def test_a_kind_nobody_knows_stands_under_its_namespace(show: Show):
    said = {"message": "Deploying to the staging machines, one after the other, in three steps.", "target": "db"}
    panel = show(envelope("acme/deploy", said))
    assert rows(panel, "unknownKind")[:3] == ["Namespace: acme", "Kind: deploy", "Messages: 1 of this kind"]
    assert text(panel, "chatText").startswith("Deploying")
    assert rows(panel, "payload") == ["target: db"]


def test_a_gateways_refusal_without_an_envelope_is_an_error(show: Show):
    panel = show(envelope(), '{"error":"Invalid message format","details":"kind is required"}')
    assert rows(panel, "systemError")[:2] == ["Invalid message format", "kind is required"]


def test_a_correlation_that_names_a_context_says_so(show: Show):
    panel = show(envelope("chat", {"text": "a"}, context="plan"), envelope(correlation_id=["plan"]))
    assert "Correlation: context plan" in rows(panel, "envelopeFacts")


def test_the_bytes_of_an_unreadable_frame_are_the_frames_own(show: Show):
    header = '{"ctxcap":1}'
    panel = show(header, '{"t":1767603600600000000,"dir":"in","src":0,"text":"not JSON"}')
    assert "not JSON" in " ".join(rows(panel, "bytes"))


# Streams whose close names them by its correlation alone


OPENED = {"stream_id": "stream-7", "encoding": "text"}


@pytest.mark.parametrize("names", ["open", "request", "stream-7"])
def test_a_close_says_which_stream_it_closes(show: Show, names: str):
    lines = [
        envelope("stream/request", {"modes": ["text"]}, id="request"),
        envelope("stream/open", OPENED, id="open", correlation_id=["request"], sender="gateway"),
        envelope("stream/close", {"reason": "complete"}, id="close", correlation_id=[names]),
        envelope("stream/open", {"stream_id": "stream-8"}, correlation_id=["other"], sender="gateway"),
    ]
    assert rows(show(*lines, message=2), "streamFacts")[:2] == [
        "Id: stream-7", "State: closed by this message, complete",
    ]  # fmt: skip
    for opened in (0, 1):
        assert rows(show(*lines, message=opened), "streamFacts")[:2] == [
            "Id: stream-7", "State: closed, complete, No. 3",
        ]  # fmt: skip
    assert rows(show(*lines, message=3), "streamFacts")[1] == "State: open since this message"
    assert "stream-7, closed, No. 3" in rows(show(*lines, message=0), "chain", FittedList)[-1]


def test_a_close_of_a_stream_nobody_opened_does_not_say_that_it_will_be_opened(show: Show):
    panel = show(envelope("stream/close", {"reason": "complete"}, correlation_id=["gone"]))
    assert rows(panel, "streamFacts")[0] == "Id: not stated"


# Who may do what in drafts, and what became of proposals


def draft(file: str) -> list[str]:
    """The lines of a recorded dialect."""
    path = Path(__file__).parents[3] / "data" / "dialects" / file
    return path.read_text("utf-8").splitlines()


def test_a_response_capability_with_a_method_lets_answer(show: Show):
    lines = draft("mcpx-v0.1.jsonl")
    assert rows(show(*lines, message=2), "addressedTo") == ["files: present; may use mcp/response:*"]
    assert "files: answers tools" in rows(show(*lines, message=0), "othersPresent")


def test_what_a_welcome_of_the_first_draft_does_not_announce_is_not_claimed(show: Show):
    lines = draft("mcp-x-v0.0.jsonl")
    panel = show(*lines, message=1)
    assert rows(panel, "othersPresent") == ["alice: not announced", "calc: not announced"]
    assert rows(panel, "welcome")[0] == "Joined as: bob"
    panel = show(*lines, message=0)
    assert rows(panel, "welcome") == ["Joined as: alice", "Topic: sums", "History: empty"]
    assert rows(panel, "othersPresent") == ["calc: not announced"]
    assert "Also" not in labels(panel)


def test_a_failed_fulfilment_is_no_success(show: Show):
    panel = show(*draft("mcpx-v0.1.jsonl"), message=6)
    assert rows(panel, "proposalState") == ["Fulfilled, but the call failed."]
    assert rows(panel, "arguments") == ["no arguments"]
    assert panel.head.state is not None
    assert panel.head.state.word == "fulfilled"
    assert rows(panel, "chain", FittedList)[-1] == "+2.0 s, write_file, failed, No. 9"


def test_a_proposal_without_parameters_still_says_what_is_proposed(show: Show):
    assert rows(show(*draft("meup-v0.2.jsonl"), message=11), "arguments") == ["rm no arguments"]


def test_a_request_nobody_answered_ends_its_chain_and_says_who_answered_elsewhere(show: Show):
    def ask(whom: str, identifier: str) -> dict[str, Any]:
        return envelope(
            "mcp/request", {"id": 1, "method": "tools/list"}, to=[whom], id=identifier, ts="2026-01-05T09:00:00.000Z"
        )

    answer = envelope("mcp/response", {"result": {"tools": []}}, sender="bridge", to=["lead"], correlation_id=["b"],
                      ts="2026-01-05T09:00:00.015Z")  # fmt: skip
    lines = [ask("human", "a"), ask("bridge", "b"), answer, envelope(ts="2026-01-05T09:01:00.000Z")]
    panel = show(*lines, message=0)
    chain = panel.pages["Overview"].findChild(ChainView, "chain")
    assert chain is not None
    assert [chain.row_text(row) for row in chain.rows] == [
        "this, tools/list, asked, No. 1", "+15.0 s, no answer, lead went on",
    ]  # fmt: skip
    asked: list[int] = []
    chain.message_requested.connect(asked.append)
    chain.activate_row(1)
    assert asked == [], "what did not happen leads nowhere"
    assert "Elsewhere: answered by bridge in 15 ms" in rows(panel, "addressedTo")


def test_the_names_of_tools_are_not_cut_for_their_descriptions(show: Show, theme_controller: ThemeController):
    name = "list_the_activities_of_a_session"
    tools = [{"name": name, "description": "Says what a session has done. " * 9, "inputSchema": {"properties": {
        "session": {}, "limit": {}, "offset": {}}}}]  # fmt: skip
    panel = show(*answered("tools/list", {}, {"tools": tools}))
    panel.resize(340, 700)
    QApplication.processEvents()
    table = panel.pages["Overview"].findChild(ContentTable)
    assert table is not None
    needed = QFontMetrics(theme_controller.theme.font("mono-row")).horizontalAdvance(name)
    assert table.columnWidth(0) >= needed


def test_the_name_of_a_tool_goes_before_what_is_said_of_it(show: Show, theme_controller: ThemeController):
    request = tool_call("list_activities")
    panel = show(request, tool_result(request))
    panel.show_tab("Related")
    chain = panel.pages["Related"].findChild(ChainView, "chain")
    assert chain is not None
    link = chain.rows[0]
    needed = QFontMetrics(theme_controller.theme.font("mono-row")).horizontalAdvance(link.name)
    assert chain.words_in(link, needed + 100) == (["list_activities"], "asked", False)
    assert chain.words_in(link, needed + 2) == (["list_activities"], "asked", True)
    lines, relation, below = chain.words_in(link, needed * 2 // 3)
    assert ("".join(lines), relation, below) == ("list_activities", "asked", True)
    probable = replace(link, relation="probably follows")
    room = QFontMetrics(theme_controller.theme.font("small")).horizontalAdvance(probable.relation) - 4
    assert chain.words_in(probable, room)[1:] == ("probably follows", True), "it passes under the number"
    assert chain.took
    assert not chain.shows_took, "at this width the tooltip alone says how long a step took"
    assert " after No. 1" in chain.row_tooltip(chain.rows[1])
    panel.resize(600, 700)
    QApplication.processEvents()
    assert chain.shows_took
    assert "took 1.0 s" in chain.row_text(chain.rows[1])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
KEYS = st.sampled_from([
    "method", "params", "result", "error", "message", "text", "reason", "fields", "entries", "timeout_seconds",
    "freed_tokens", "target_tokens", "stream_id", "format", "code", "skipped",
])  # fmt: skip
KINDS = [
    "mcp/request", "mcp/response", "mcp/proposal", "chat", "chat/acknowledge", "reasoning/start", "reasoning/cancel",
    "participant/forget", "participant/compact-done", "stream/open", "meup/context", "acme/x", "system/heartbeat",
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@share_of_examples(5)
@given(payload=st.dictionaries(KEYS, JSON, max_size=4) | JSON, context=JSON)
def test_any_payload_of_any_kind_has_an_overview(
    qtbot: QtBot, theme_controller: ThemeController, kind: str, payload: Any, context: Any
):
    document = document_of(envelope(kind, payload, context=context))
    panel = details_panel(document, theme_controller)
    panel.show()
    panel.show_message(0)
    assert labels(panel)
    panel.deleteLater()
    bury()
    document.close()


@pytest.mark.parametrize("method", ["initialize", "prompts/get", "completion/complete", "sampling/createMessage",
                                    "tools/list", "tools/call", "resources/read"])  # fmt: skip
@share_of_examples(5)
@given(params=JSON, result=JSON, inner=JSON)
def test_any_answer_has_an_overview(
    theme_controller: ThemeController, method: str, params: Any, result: Any, inner: Any
):
    key = {"initialize": "serverInfo", "prompts/get": "messages", "completion/complete": "completion",
           "tools/list": "tools", "resources/read": "contents"}.get(method, "content")  # fmt: skip
    document = document_of(*answered(method, params, {key: inner} if result is None else result))
    panel = details_panel(document, theme_controller)
    panel.show()
    for message in range(2):
        panel.show_message(message)
        assert labels(panel)
    panel.deleteLater()
    bury()
    document.close()


def test_every_part_of_every_overview_has_a_name(show: Show):
    panel = show(*answered("tools/call", {"name": "x"}, {"content": [{"type": "audio", "data": "AAAA"}]}))
    named = [w for w in panel.pages["Overview"].findChildren(QWidget) if isinstance(w, FittedList | PictureView)]
    assert all(widget.objectName() and widget.accessibleName() for widget in named)


def scenario(seconds: float) -> list[dict[str, Any]]:
    asked = envelope("chat", {"text": "Can you add 7 and 9?"}, sender="alice", to=["calc"], ts="2026-01-05T10:00:00Z")
    answer = envelope("chat", {"text": "16"}, sender="calc", to=["alice"], ts=f"2026-01-05T10:00:{seconds:06.3f}Z")
    return [asked, answer]


def test_a_likely_answer_says_probably_and_why_and_its_rail_is_dashed(show: Show) -> None:
    panel = show(*scenario(2.1), message=0)
    view = panel.pages["Overview"].findChild(ChainView, "chain")
    assert view is not None
    assert rows(panel, "chain", ChainView)[1] == "+2.1 s, 16, probably answers No. 1, No. 2"
    assert view.rows[1].tooltip.endswith("Probably answers No. 1: the next chat from calc to alice, 2.1 s later.")
    assert [row.likely for row in view.rows] == [False, True]
    # Dashes of two pixels in a line of twenty are not told from letters in a picture: the pen is asked.
    assert view._rail_into(1).style() == Qt.PenStyle.CustomDashLine
    assert view._rail_into(0).style() == Qt.PenStyle.SolidLine
    assert panel.pages["Overview"].findChild(QWidget, "showChainAlone") is None  # the table shows what is certain


def test_a_likely_answer_comes_in_while_its_question_is_shown(qtbot: QtBot, theme_controller: ThemeController) -> None:
    log = GrowingLog()
    asked, answer = scenario(2.1)
    log.write(asked)
    panel = details_panel(log.document, theme_controller)
    qtbot.addWidget(panel)
    panel.show()
    panel.show_message(0)
    assert panel.pages["Overview"].findChild(ChainView, "chain") is None
    log.write(answer)
    report_change(panel)
    assert panel.pages["Overview"].findChild(ChainView, "chain") is not None


def test_a_span_is_no_bookkeeping(show: Show):
    around, within = (
        {"traceId": "ab" * 16, "spanId": own * 8, "parentSpanId": above, "name": name, "startTimeUnixNano": 17 * 10**8,
         "endTimeUnixNano": "3200000000", "attributes": []}
        for own, above, name in (("01", "", "supper"), ("02", "01" * 8, "bake"))
    )  # fmt: skip
    line = {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {}, "spans": [around, within]}]}]}
    panel = show(line, message=0)
    assert rows(panel, "span") == ["Kind: Span", "Duration: 1.5 s", "Status: ok"]
    assert "Span: No. 2 bake, 1,500 ms" in rows(panel, "within")
    assert not any("Bookkeeping" in label for label in labels(panel))
    assert panel.head.name == "span"


def test_the_size_gives_way_before_a_figure_of_the_head_is_cut(theme_controller: ThemeController) -> None:
    metrics = QFontMetrics(theme_controller.theme.font("small"))
    line = "No. 25  ·  13.277 s  ·  human → mcp-fs-bridge  ·  343 B"
    whole = metrics.horizontalAdvance(line)
    assert fitted_line(line, metrics, whole) == line
    assert fitted_line(line, metrics, whole - 4) == "No. 25  ·  13.277 s  ·  human → mcp-fs-bridge"
    assert fitted_line("12 messages sent  ·  left 20:41:05", metrics, 100).startswith("12 messages")
