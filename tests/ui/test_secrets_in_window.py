"""No secret of a log is anywhere in the window, wherever the log holds it and whatever is looked at."""

from __future__ import annotations

import json
from typing import Any

import pytest
from PySide6.QtGui import QGuiApplication, QPainter
from PySide6.QtWidgets import QWidget

from inspector.document.document import CaptureDocument
from inspector.present.wire_text import plain, tool_tip
from inspector.ui.app.application import Application
from inspector.ui.docview.panes import Panes
from inspector.ui.panels.details.fitted_list import FittedList
from inspector.ui.panels.details.panel import TABS
from tests.builders import document_of, envelope, lines_of, received, tool_call, tool_result
from tests.ui.walking import said_by
from tests.ui.windows import panes_of, window_on

SECRET = "Zq7secretvalue"
BEARER = f"Authorization: Bearer {SECRET}"
QUERY = f"token={SECRET}"
ADDRESS = f"http://user:{SECRET}@host/?{QUERY}"
KEYED: dict[str, Any] = {"token": SECRET, "api_key": SECRET, "note": BEARER, "deep": [{"password": SECRET}]}


def _requests() -> list[dict[str, Any]]:
    """Calls, their answers, resources, prompts and completions."""
    grep = tool_call("grep", arguments=KEYED, id="q-grep", context={"id": "c-1", "type": QUERY, "metadata": KEYED})
    blocks = [
        {"type": "text", "text": json.dumps(KEYED)},
        {"type": "resource_link", "uri": ADDRESS, "name": BEARER, "description": BEARER, "mimeType": QUERY},
        {"type": "image", "data": "AAAA", "mimeType": QUERY, "annotations": {"audience": [QUERY]}},
        {"type": "resource", "resource": {"uri": ADDRESS, "text": BEARER, "mimeType": "text/plain"}},
    ]
    meta = {"context": {"lifecycle": "transient", "summary": BEARER}, "contextHints": [
        {"tool": QUERY, "lifecycle": "transient", "consumedBy": ADDRESS}]}  # fmt: skip
    named = tool_call(ADDRESS, id="q-named")
    hinted = tool_call("search", id="q-search")
    store = tool_call(QUERY, id="q-store")
    read = envelope("mcp/request", {"method": "resources/read", "params": {"uri": ADDRESS}}, id="q-read", to=["files"])
    prompt = {"method": "prompts/get", "params": {"name": QUERY, "arguments": KEYED}}
    ask = envelope("mcp/request", prompt, id="q-ask", to=["files"])
    lists = envelope("mcp/request", {"method": "tools/list"}, id="q-list", to=["files"])
    tool = {"name": QUERY, "description": BEARER, "inputSchema": {"properties": {"q": {"description": BEARER}}}}
    elicit = {"method": "elicitation/create", "params": {"message": BEARER, "requestedSchema": KEYED}}
    argument = {"name": "token", "value": BEARER}
    complete = {"method": "completion/complete", "params": {"ref": KEYED, "argument": argument}}
    odd = {"method": QUERY, "params": KEYED}
    return [
        grep, tool_result(grep, result={"content": blocks, "structuredContent": KEYED}, meta=meta),
        named, tool_result(named, BEARER), tool_call(ADDRESS),
        hinted, tool_result(hinted, "\n".join(f"{BEARER} {n}" for n in range(12)), meta=meta),
        store, tool_result(store, "stored", meta={"context": {"consumed": True}}),
        read, envelope("mcp/response", {"result": {"contents": [{"uri": ADDRESS, "text": BEARER}]}}, sender="files",
                       to=["lead"], correlation_id=["q-read"]),
        ask, envelope("mcp/response", {"error": {"code": KEYED, "message": BEARER, "data": KEYED}}, sender="files",
                      to=["lead"], correlation_id=["q-ask"]),
        lists, envelope("mcp/response", {"result": {"tools": [tool]}}, sender="files", to=["lead"],
                        correlation_id=["q-list"]),
        envelope("mcp/request", elicit, to=["files"]), envelope("mcp/request", complete, to=["files"]),
        envelope("mcp/request", odd, to=["files"]),
        envelope("mcp/notification", {"method": "notifications/message", "params": {"level": QUERY, "logger": QUERY,
                                                                                    "data": KEYED}}),
        envelope("mcp/proposal", {"method": "tools/call", "params": {"name": ADDRESS, "arguments": KEYED}}, id="p-1"),
        envelope("mcp/reject", {"reason": BEARER}, correlation_id=["p-1"], sender="files"),
        envelope("mcp/proposal", {"method": "resources/read", "params": {"uri": ADDRESS}}, id="p-2"),
        envelope("mcp/withdraw", {"reason": BEARER}, correlation_id=["p-2"]),
    ]  # fmt: skip


def _gateway() -> list[dict[str, Any]]:
    """What a gateway says: who is there, what they may do, errors, invitations, streams."""
    may = [{"kind": "mcp/*", "payload": KEYED}, BEARER]
    known = [{"id": "files", "capabilities": [{"kind": "mcp/*", "token": SECRET}, QUERY], "name": BEARER}]
    gateway = {"sender": "system:gateway", "to": ["lead"]}
    error = {"attempted_kind": KEYED, "your_capabilities": [KEYED, QUERY], "message": BEARER}
    return [
        envelope("system/welcome", {"you": {"id": "lead", "capabilities": may}, "participants": known}, **gateway),
        envelope("system/presence", {"event": QUERY, "participant": {"id": QUERY}}, **gateway),
        envelope("system/error", {"error": KEYED, **error}, correlation_id=["q-grep"], **gateway),
        envelope("system/error", {"error": "capability_violation", **error}, correlation_id=["q-grep"], **gateway),
        envelope("system/error", {"error": BEARER, **error, "attempted_kind": QUERY}, **gateway),
        envelope("capability/grant", {"recipient": QUERY, "capabilities": may, "reason": BEARER}, id="g-1"),
        envelope("capability/grant", {"recipient": "lead", "capabilities": may, "reason": BEARER}, id="g-2"),
        envelope("capability/revoke", {"recipient": "lead", "capabilities": may, "grant_id": QUERY, "reason": QUERY}),
        envelope("space/invite-ack", {"participant_id": QUERY, "token": SECRET, "connection_url": ADDRESS}, **gateway),
        envelope("space/invite", {"participant_id": QUERY, "email": QUERY, "initial_capabilities": [KEYED]}),
        envelope("stream/request", {"direction": QUERY, "description": BEARER, "metadata": KEYED}, id="s-1"),
        envelope("stream/open", {"stream_id": QUERY, "token": SECRET}, sender="gateway", correlation_id=["s-1"]),
        envelope("stream/close", {"stream_id": QUERY, "reason": BEARER}, correlation_id=["s-1"]),
        envelope("participant/status", {"tokens": 1, "status": BEARER, "auth": {"token": SECRET}}, sender="files"),
        envelope("participant/request-status", {"fields": [QUERY]}, to=["files"]),
    ]


def _odd() -> list[dict[str, Any]]:
    """Names where nobody expects secrets: kinds, senders, recipients, contexts, reasoning, ids."""
    return [
        envelope("chat", {"text": f"{json.dumps(KEYED)} {BEARER} {ADDRESS}"}),
        envelope("chat", {"text": f"# {BEARER}\n\n[here]({ADDRESS}) ![p]({ADDRESS})", "format": "markdown"}),
        envelope(f"shop/{QUERY}", {**KEYED, "nested": {"a": [KEYED]}}, sender=QUERY, to=[ADDRESS], id=QUERY),
        envelope(QUERY, {"x": 1}),
        envelope("reasoning/start", {"message": f"use {BEARER}"}, id="why-1"),
        envelope("reasoning/thought", {"reasoning": BEARER, "action": "call", "actionInput": KEYED}, context="why-1"),
        envelope("reasoning/start", {"message": f"{'see ' * 15}http://user:{SECRET}@host/"}, id="why-2"),
        envelope("reasoning/conclusion", {"message": BEARER}, context="why-1"),
        envelope("chat", {"text": "in a context"}, context=f"{QUERY}/below/{QUERY}"),
        envelope("chat", {"text": "of a type"}, context={"id": "c-2", "type": QUERY, "trigger": QUERY}),
        envelope("chat", {"text": "unseen"}, correlation_id=[QUERY]),
        envelope("chat", {"text": "again"}, id=QUERY, sender=f"{QUERY}&x"),
    ]


def leaky() -> CaptureDocument:
    """A log with secrets in every place."""
    said = [*_gateway()[:1], *_requests(), *_gateway()[1:], *_odd()]
    broken = lines_of({"kind": "chat", "token": SECRET})[:-3]
    document = document_of(*(received(one, space_id=QUERY) for one in said), *said[:3], broken)
    assert len(document.capture) > len(said)
    return document


@pytest.fixture
def panes(application: Application) -> Panes:
    window = window_on(application, leaky())
    window.resize(2_400, 1_600)
    window.show()
    for dock in ("Findings", "Latency"):
        window.docks[dock].show()
    return panes_of(window)


@pytest.fixture
def painted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every text that is painted."""
    found: list[str] = []
    paint = QPainter.drawText

    def recording(painter: QPainter, *args: Any) -> Any:
        found.extend(arg for arg in args if isinstance(arg, str))
        return paint(painter, *args)

    monkeypatch.setattr(QPainter, "drawText", recording)
    return found


def leaks(shown: QWidget, painted: list[str], what: str) -> set[str]:
    """Where a widget holds the secret now."""
    shown.grab()
    said = [*said_by(shown), *(("painted", text) for text in painted)]
    painted.clear()
    return {f"{what}: {where}: {text[:160]}" for where, text in said if SECRET[:6] in text}


def test_no_message_shows_a_secret_or_copies_one(panes: Panes, painted: list[str]) -> None:
    window = panes.messages.window()
    found = leaks(window, painted, "window")
    clipboard = QGuiApplication.clipboard()
    for message in range(len(panes.document.capture)):
        panes.go_to(message)
        for tab in TABS:
            panes.details.show_tab(tab)
            panes.details.grab()
        found |= leaks(panes.details, painted, f"No. {message + 1}")
        for view in panes.details.findChildren(FittedList):
            for row in range(len(view.rows)):
                view.copy_row(row)
                found |= {f"copied: {clipboard.text()}"} if SECRET in clipboard.text() else set()
    found |= leaks(window, painted, "window")
    assert sorted(found) == []


def test_no_context_participant_scope_or_panel_shows_a_secret(panes: Panes, painted: list[str]) -> None:
    window = panes.messages.window()
    found: set[str] = set()
    contexts = panes.document.analysis.contexts
    for space in contexts.spaces:
        for node in [-1, *contexts.tree.walk(space)]:
            panes.show_context(space, node)
            found |= leaks(panes.details, painted, "context page")
    for space, name in list(panes.document.analysis.participants.all):
        panes.details.show_participant(space, name)
        found |= leaks(panes.details, painted, "participant page")
    for row in range(panes.participants.model.rowCount()):
        found |= {text for _, text in said_by(panes.participants.menu_for(row)) if SECRET[:6] in text}
    panes.contexts.expand_all()
    for row in range(panes.contexts.model.rowCount()):
        menu = panes.contexts.menu_for(row)
        found |= {text for _, text in said_by(menu) if SECRET[:6] in text}
        next(action for action in menu.actions() if action.isCheckable()).trigger()
        scope = window.findChild(QWidget, "scopeChip")
        assert scope is not None
        found |= leaks(scope, painted, "scope")
    panes.latency.choice.buttons["By participant"].click()
    found |= leaks(window, painted, "window")
    assert sorted(found) == []


@pytest.mark.parametrize("text", [f"{'x' * 480} {ADDRESS}", f"eyJhbGciOiJ9.{SECRET * 900}.c2ln", f"Bearer {SECRET}"])
def test_a_long_text_is_masked_before_it_is_cut(text: str) -> None:
    for limit in (20, 60, 500):
        assert SECRET[:6] not in plain(text, limit)
        assert SECRET[:6] not in tool_tip(text, limit)
        assert SECRET[:6] not in plain(text + " more" * 50_000, limit)


def test_masking_twice_is_masking_once() -> None:
    for text in (BEARER, QUERY, ADDRESS, json.dumps(KEYED), json.dumps(json.dumps(KEYED))):
        assert plain(plain(text)) == plain(text)
