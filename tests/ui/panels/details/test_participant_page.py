"""The page of a participant, read and used as a user does; and what grants, revocations and presence change."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from inspector.document.document import CaptureDocument
from inspector.document.participant_summary import story_steps
from inspector.document.summary import participant_stories
from inspector.engine.requests import pages
from inspector.filters import compile_filter
from inspector.filters.visible import VisibleRows
from inspector.present import formats
from inspector.present.formats import MINUS
from inspector.ui.app.application import Application
from inspector.ui.document_client import DocumentClient
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.details.chain_view import ChainView
from inspector.ui.panels.details.facts_view import FactsView
from inspector.ui.panels.details.figures import FiguresView, UsageGauge, UsageLine
from inspector.ui.panels.details.fitted_list import FittedList
from inspector.ui.panels.details.links import Links
from inspector.ui.panels.details.panel import DetailsPanel
from inspector.ui.panels.details.parts_page import PartsPage
from inspector.ui.panels.details.section import LinkText, SegmentButton
from tests.builders import (
    delivered,
    document_at,
    document_of,
    envelope,
    lines_of,
    log_file,
    received,
    tool_call,
    tool_result,
)
from tests.ui.live import Live
from tests.ui.panels.details.panels import close_document, details_panel, report_change, wait_for_page
from tests.ui.windows import panes_of, run_in_window, window_on

Show = Callable[..., PartsPage]

READ = {"kind": "mcp/request", "payload": {"method": "tools/call", "params": {"name": "read_*"}}}
CHAT = {"kind": "chat"}
NOT_DELETE = {"kind": "mcp/request", "payload": {"method": "tools/call", "params": {"name": "!delete_*"}}}


def gateway(kind: str, payload: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return envelope(kind, payload, sender="system:gateway", **fields)


def joined(name: str, *capabilities: Any, event: str = "join") -> dict[str, Any]:
    return gateway("system/presence", {"event": event, "participant": {"id": name, "capabilities": list(capabilities)}})


def test_the_head_the_page_and_the_command_line_mean_the_same_since(
    qtbot: QtBot, theme_controller: ThemeController
) -> None:
    at = [f"2026-01-05T09:00:0{second}.000Z" for second in range(4)]
    lines = [joined("human"), joined("human", event="leave"), joined("human")]
    lines = [envelope(sender="human", ts=at[0]), *(line | {"ts": at[n]} for n, line in enumerate(lines, 1))]
    for count, word, told in ((3, "left", "Left: "), (4, "since", "Here since: ")):
        document = document_of(*lines[:count])
        space = document.analysis.contexts.spaces[0]
        panel = details_panel(document, theme_controller)
        qtbot.addWidget(panel)
        panel.show()
        panel.show_participant(space, "human")
        clock = document.capture.columns["time_ns"][count - 1]
        assert panel.head.second_line.endswith(f"{word} {formats.clock(int(clock))}")
        view = panel.findChild(FactsView, "presence")
        assert view is not None
        said = [str(view.model().index(row, 0).data()) for row in range(view.model().rowCount())]
        assert [row for row in said if row.startswith(told + formats.clock(int(clock)))]
        (story,) = participant_stories(document)
        assert story["since"] == at[count - 1]


def test_capabilities_that_read_alike_are_said_once(show: Show) -> None:
    answers = ({"id": "mcp-response", "kind": "mcp/response"}, {"kind": "mcp/response"})
    page = show(document_of(joined("files", {"kind": "chat"}, *answers)), "files")
    view = page.findChild(FactsView, "held")
    assert view is not None
    assert [row.value for row in view.rows] == ["chat", "answer requests"]
    assert "mcp-response" in (view.rows[1].tooltip or "")
    assert (view.rows[1].copy or "").count("mcp/response") == 2


def grant(name: str, *capabilities: Any, **fields: Any) -> dict[str, Any]:
    return envelope("capability/grant", {"recipient": name, "capabilities": list(capabilities)}, to=[name], **fields)


def revoke(name: str, **payload: Any) -> dict[str, Any]:
    return envelope("capability/revoke", {"recipient": name, **payload}, to=[name])


@pytest.fixture
def links() -> Links:
    return Links()


@pytest.fixture
def show(qtbot: QtBot, theme_controller: ThemeController, links: Links) -> Show:
    """A page that shows one participant of a document."""

    def make(document: CaptureDocument, name: str, *, space: int = 0) -> PartsPage:
        panel = details_panel(document, theme_controller)
        panel.links.message_requested.connect(links.message_requested)
        panel.links.filter_requested.connect(links.filter_requested)
        qtbot.addWidget(panel)
        panel.resize(340, 760)
        panel.show()
        panel.show_participant(space, name)
        QApplication.processEvents()
        return panel.participant_page

    return make


def rows(page: PartsPage | DetailsPanel, name: str) -> list[str]:
    view = page.findChild(FittedList, name)
    assert view is not None, f"no {name} among {[one.objectName() for one in page.findChildren(FittedList)]}"
    return [str(view.model().index(row, 0).data()) for row in range(view.model().rowCount())]


def has(page: PartsPage, name: str) -> bool:
    return page.findChild(FittedList, name) is not None


def test_presence_says_when_it_came_and_left(show: Show) -> None:
    page = show(document_of(joined("coder"), envelope(sender="coder"), joined("coder", event="leave")), "coder")
    said = rows(page, "presence")
    assert said[0].startswith("Here since: ") or said[0].startswith("Joined: ")
    assert said[0].endswith("No. 1")
    assert said[1].startswith("Left: ")
    assert said[1].endswith("No. 3")
    assert "Messages: 1 sent" in said


def test_who_was_never_announced_or_seen_says_so(show: Show) -> None:
    document = document_of(envelope(sender="coder"))
    assert "Presence: never announced" in rows(show(document, "coder"), "presence")
    assert rows(show(document, "coder"), "held") == ["Its capabilities were not announced."]
    assert rows(show(document, "nobody"), "nobody") == ["No participant of this name in the space."]


def test_capabilities_are_read_in_words_and_raw(qtbot: QtBot, show: Show) -> None:
    page = show(document_of(joined("coder", CHAT), grant("coder", READ)), "coder")
    assert rows(page, "held") == ["chat", "call tools named read_* granted, unconfirmed No. 2"]
    raw = page.findChild(SegmentButton, "heldAsRaw")
    qtbot.mouseClick(raw, Qt.MouseButton.LeftButton)
    assert rows(page, "held")[0] == '{"kind": "chat"}'
    assert '"read_*"' in rows(page, "held")[1]


def test_how_that_came_leads_to_each_change(qtbot: QtBot, show: Show, links: Links) -> None:
    document = document_of(joined("coder", CHAT), grant("coder", READ, id="g"), revoke("coder", grant_id="g"))
    page = show(document, "coder")
    said = rows(page, "changes")
    assert "1 capability, announced" in said[0]
    assert "+ call tools named read_*, by lead" in said[1]
    assert f"{MINUS} call tools named read_*, by lead" in said[2]
    assert rows(page, "held") == ["chat"]
    view = page.findChild(ChainView, "changes")
    assert view is not None
    with qtbot.waitSignal(links.message_requested) as asked:
        qtbot.mouseClick(
            view.viewport(), Qt.MouseButton.LeftButton, pos=view.visualRect(view.model().index(1, 0)).center()
        )
    assert asked.args == [1]


def with_decisions(*results: tuple[str, str], lines: list[dict[str, Any]]) -> CaptureDocument:
    """A gateway's log and its decisions: (envelope id, result) each."""
    path = log_file(lines_of(*lines), "envelope-history.jsonl")
    decisions = [
        {"timestamp": "2026-01-05T09:00:00.000Z", "event": "capability_check", "envelope_id": identifier,
         "participant": "coder", "space_id": "demo", "result": result, "required_capability": "mcp/request",
         "matched_capability": NOT_DELETE if result == "allowed" else None, "matched_source": "static"}
        for identifier, result in results
    ]  # fmt: skip
    Path(path).with_name("capability-decisions.jsonl").write_bytes(lines_of(*decisions))
    return document_at(path)


def space_of(document: CaptureDocument) -> int:
    return next(space for space, name in document.analysis.participants.all if name == "coder")


def test_a_verdict_that_differs_from_the_rules_stands_beside_them(show: Show) -> None:
    call = tool_call("delete_file", sender="coder", id="c")
    document = with_decisions(("c", "allowed"), lines=[delivered(joined("coder", NOT_DELETE), "coder"), received(call)])
    page = show(document, "coder", space=space_of(document))
    said = rows(page, "differing")
    assert said[0] == "Message: delete_file No. 2"
    assert said[1] == "Gateway: allowed by mcp/request:tools/call:!delete_*"
    assert said[2] == "Expected: denied"
    (story,) = (one for one in participant_stories(document) if one["name"] == "coder")
    assert [one["no"] for one in story["differing"]] == [2]


def test_verdicts_that_agree_take_one_sentence(show: Show) -> None:
    call = tool_call("read_file", sender="coder", id="c")
    document = with_decisions(("c", "allowed"), lines=[delivered(joined("coder", NOT_DELETE), "coder"), received(call)])
    page = show(document, "coder", space=space_of(document))
    assert rows(page, "differing") == ["Consistent with its capabilities, for its last 1 message with a verdict."]


def refusal(kind: str, **fields: Any) -> dict[str, Any]:
    payload = {"error": "capability_violation", "attempted_kind": kind}
    return gateway("system/error", payload, to=["coder"], **fields)


def test_a_refusal_names_what_was_missing_even_of_a_message_never_seen(show: Show) -> None:
    document = document_of(joined("coder", CHAT), refusal("capability/grant"), refusal("chat"))
    said = rows(show(document, "coder"), "refused")
    assert said == [
        "Missing: capability/grant No. 2", "Verdict: denied, consistent with its capabilities",
        "Missing: chat No. 3", "Gateway: denied", "Expected: allowed",
    ]  # fmt: skip


def test_waiting_messages_lead_there_and_filter(qtbot: QtBot, show: Show, links: Links) -> None:
    document = document_of(tool_call("slow", sender="coder"), envelope(sender="files"), envelope())
    page = show(document, "coder")
    assert rows(page, "waitsFor") == ["2 s, slow, to files, No. 1"]
    assert rows(show(document, "files"), "waitsBy") == ["2 s, slow, from coder, No. 1"]
    button = page.findChild(LinkText, "waitsForFilter")
    assert button is not None
    with qtbot.waitSignal(links.filter_requested) as asked:
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert asked.args is not None
    visible = VisibleRows(document.analysis)
    visible.apply_filter(compile_filter(asked.args[0]), None)
    assert visible.visible.tolist() == [0]


def test_tools_and_what_its_answers_took(qtbot: QtBot, show: Show, links: Links) -> None:
    asked = envelope("mcp/request", {"method": "tools/list"}, to=["files"])
    tools = [{"name": "read", "description": "Reads a file"}, {"name": "odd\u202e"}]
    listed = tool_result(asked, result={"tools": tools}, ts=asked["ts"])
    calls = [tool_call("read") for _ in range(3)]
    answers = [tool_result(call) for call in calls]
    document = document_of(asked, listed, *calls, *answers)
    page = show(document, "files")
    assert rows(page, "toolsOffered") == ["read: Reads a file", "odd⟨U+202E⟩: no description"]
    assert rows(page, "answersTook") == [
        "Tool, Answers, p50", "read: Answers 3, p50 3.0 s",
        "all answers: Answers 4, p50 3.0 s",
    ]  # fmt: skip
    view = page.findChild(FiguresView, "answersTook")
    assert view is not None
    view.setFocus()
    view.setCurrentIndex(view.model().index(1, 0))
    with qtbot.waitSignal(links.filter_requested) as wanted:
        qtbot.keyClick(view, Qt.Key.Key_Return)
    assert wanted.args is not None
    visible = VisibleRows(document.analysis)
    visible.apply_filter(compile_filter(wanted.args[0]), None)
    assert visible.visible.tolist() == [5, 6, 7]


def test_reported_usage_is_drawn(show: Show) -> None:
    reports = [envelope("participant/status", {"messages_in_context": n, "tokens": n * 1_000, "max_tokens": 9_000},
                        sender="coder") for n in (2, 5)]  # fmt: skip
    page = show(document_of(*reports), "coder")
    assert page.findChild(FactsView, "usageReport") is not None
    assert rows(page, "usageReport")[0].endswith("No. 2")
    gauge, line = page.findChild(UsageGauge, "usageGauge"), page.findChild(UsageLine, "usageLine")
    assert gauge is not None
    assert line is not None
    assert gauge.accessibleName() == "5,000 of 9,000 tokens, 56 %"
    assert line.accessibleName().startswith("2 reports, from 2,000 to 5,000 tokens")


def test_text_of_the_wire_stays_plain_and_masked(show: Show) -> None:
    secret = {"kind": "chat", "payload": {"token": "abcdefgh12345"}}
    page = show(document_of(joined("<b>x", secret, "mcp/\u202e*"), envelope(sender="<b>x")), "<b>x")
    raw = page.findChild(SegmentButton, "heldAsRaw")
    assert raw is not None
    raw.click()
    said = "\n".join(rows(page, "held"))
    assert "abcdefgh12345" not in said
    assert "\u202e" not in said


def panel_of(page: PartsPage) -> DetailsPanel:
    panel = page.window()
    assert isinstance(panel, DetailsPanel)
    return panel


def test_while_live_rows_change_in_place(tmp_path: Path, show: Show) -> None:
    live = Live(tmp_path, joined("coder", CHAT), tool_call("slow", sender="coder", id="c"))
    asked_ns = int(live.document.capture.columns["time_ns"][1])
    live.document.analysis.now_ns = asked_ns + 4_000_000_000
    page = show(live.document, "coder")
    waits = page.findChild(FittedList, "waitsFor")
    assert waits is not None
    live.document.analysis.now_ns = asked_ns + 5_000_000_000
    panel_of(page).tick()
    wait_for_page(panel_of(page))
    assert rows(page, "waitsFor") == ["5 s, slow, to files, No. 2"]
    assert page.findChild(FittedList, "waitsFor") is waits
    live.say(envelope("mcp/response", {"result": {}}, sender="files", to=["coder"], correlation_id=["c"]))
    report_change(panel_of(page))
    assert not has(page, "waitsFor")
    close_document(panel_of(page))


@pytest.mark.in_process("counts calls of the engine")
def test_it_is_not_read_again_at_every_flush(
    tmp_path: Path, show: Show, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    live = Live(tmp_path, joined("coder", CHAT))
    read: list[str] = []

    def story(document: CaptureDocument, space: int, name: str, **more: Any) -> Any:
        read.append(name)
        return story_steps(document, space, name, **more)

    monkeypatch.setattr(pages, "story_steps", story)
    page = show(live.document, "coder")
    assert len(read) == 1
    client = page.window().findChild(DocumentClient)
    assert client is not None
    for _ in range(3):
        live.say(envelope(sender="coder"))
        client.changed.emit()
        QApplication.processEvents()
    assert len(read) == 1
    wait_for_page(panel_of(page))
    assert len(read) == 2
    assert "Messages: 3 sent" in rows(page, "presence")
    close_document(panel_of(page))


def test_a_click_on_a_participant_shows_its_page(qapp: QApplication, qtbot: QtBot) -> None:
    async def steps(application: Application) -> None:
        window = window_on(application, document_of(joined("coder", CHAT), envelope(sender="coder"), envelope()))
        panes = panes_of(window)
        view = panes.participants.view
        place: QPoint = view.visualRect(panes.participants.model.index(0, 0)).center()
        qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
        assert panes.details.participant_page.isVisible()
        assert "Messages: 1 sent" in rows(panes.details.participant_page, "presence")
        qtbot.keyClick(view, Qt.Key.Key_Down)
        assert rows(panes.details.participant_page, "held") == ["Its capabilities were not announced."]
        panes.go_to(2)
        assert not panes.details.participant_page.isVisible()

    run_in_window(qapp, steps)


# Overviews


@pytest.fixture
def overview(qtbot: QtBot, theme_controller: ThemeController) -> Callable[..., DetailsPanel]:
    def make(*lines: dict[str, Any], message: int = -1) -> DetailsPanel:
        document = document_of(*lines)
        panel = details_panel(document, theme_controller)
        qtbot.addWidget(panel)
        panel.resize(340, 700)
        panel.show()
        panel.show_message(message % len(document.capture))
        return panel

    return make


def test_a_grant_shows_before_and_after(overview: Callable[..., DetailsPanel]) -> None:
    panel = overview(joined("coder", CHAT), grant("coder", READ), message=1)
    assert rows(panel, "heldBefore") == ["chat"]
    assert rows(panel, "heldAfter") == ["chat", "+: call tools named read_*"]
    assert "Confirmed: not yet: no gateway has announced its capabilities since" in rows(panel, "capabilityFacts")


def test_a_grant_that_a_welcome_shows_is_confirmed(overview: Callable[..., DetailsPanel]) -> None:
    panel = overview(joined("coder", CHAT), grant("coder", READ), joined("coder", CHAT, READ), message=1)
    assert "Confirmed: identical, by No. 3" in rows(panel, "capabilityFacts")
    panel = overview(joined("coder", CHAT), grant("coder", READ), joined("coder", "*"), message=1)
    assert "Confirmed: differently, by No. 3" in rows(panel, "capabilityFacts")


def test_a_revocation_names_the_grant_and_what_goes(overview: Callable[..., DetailsPanel]) -> None:
    panel = overview(joined("coder", CHAT), grant("coder", READ, id="g"), revoke("coder", grant_id="g"))
    assert rows(panel, "heldBefore") == ["chat", f"{MINUS}: call tools named read_*"]
    assert rows(panel, "heldAfter") == ["chat"]
    assert any("Grant: No. 2 mcp/request:tools/call:read_*" in row for row in rows(panel, "capabilityFacts"))


def test_a_revocation_of_nothing_says_so(overview: Callable[..., DetailsPanel]) -> None:
    panel = overview(joined("coder", CHAT), revoke("coder", grant_id="never"))
    said = rows(panel, "capabilityFacts")
    assert "Effect: no change: it has no such capability" in said
    assert "Grant: never, not in the log" in said


def test_a_presence_says_what_it_changes_and_when_it_came_and_left(overview: Callable[..., DetailsPanel]) -> None:
    panel = overview(joined("coder", CHAT, "a"), joined("coder", event="leave"), joined("coder", "a", "b"))
    assert rows(panel, "comings")[-1] == "this, came, No. 3"
    # A leave announces nothing: what comes next is compared with what was held until then.
    assert rows(panel, "heldBefore") == [f"{MINUS}: chat", "send a"]
    assert rows(panel, "heldAfter") == ["send a", "+: send b"]


def test_an_error_says_whether_it_had_to_refuse(overview: Callable[..., DetailsPanel]) -> None:
    panel = overview(joined("coder", CHAT), refusal("chat", correlation_id=["lost"]))
    said = rows(panel, "systemError")
    assert said[-3:-1] == ["Gateway: denied", "Expected: allowed"]
    assert said[-1].startswith("Its message is not in the log")


def test_a_server_has_no_model_and_who_speaks_may_have_one(show: Show) -> None:
    asked = envelope("mcp/request", {"method": "tools/list"}, to=["files"])
    document = document_of(asked, tool_result(asked, result={"tools": [{"name": "read"}]}), envelope("chat"))
    assert show(document, "files").findChild(LinkText, "modelSees") is None
    assert show(document, "lead").findChild(LinkText, "modelSees") is not None
