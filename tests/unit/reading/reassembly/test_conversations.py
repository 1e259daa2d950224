"""Conversations on one wire are told apart, and each request is compared with the one it goes on from."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.analysis.views.model_context import ModelContext, Moment, find_reader
from inspector.analysis.views.model_context.chat_messages import content_of_entry
from inspector.analysis.views.model_context.growth import compactions
from inspector.analysis.views.model_context.request_change import RequestChange, request_at
from inspector.document.document import CaptureDocument
from tests.builders import document_of

MAIN, SUB = ({"role": "system", "content": f"You are the {who} agent"} for who in ("main", "sub"))
BEGINS = {"role": "user", "content": "This is the CLI, setting up the context"}
READY = {"role": "assistant", "content": "Got it. Thanks for the context!"}
TOOLS = [{"type": "function", "function": {"name": "oven"}}]


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def model(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


class Wire:
    """Requests and their answers, one after the other."""

    def __init__(self) -> None:
        self.lines: list[Any] = []

    def ask(self, *given: dict[str, Any], answer: str = "", headers: dict[str, str] | None = None, **more: Any) -> None:
        x = len(self.lines) + 1
        line = {"t": f"2026-09-01T08:{x // 60:02}:{x % 60:02}Z", "x": x}
        body = {"model": "m-1", "messages": list(given), **more}
        self.lines.append({**line, "dir": "client->server", "kind": "http-request", "method": "POST",
                           "path": "/v1/chat/completions", "headers": headers or {}, "message": body})  # fmt: skip
        if answer:
            body = {"id": f"c{x}", "choices": [{"index": 0, "message": model(answer)}]}
            self.lines.append(
                {**line, "dir": "server->client", "kind": "http-response", "status": 200, "message": body}
            )

    def document(self) -> CaptureDocument:
        return document_of(*self.lines)


def requests(document: CaptureDocument) -> list[int]:
    capture = document.capture
    return [row for row in range(len(capture)) if capture.string("kind", row) == "mcp/request"
            and capture.string("sender", row) == "client"]  # fmt: skip


def moments(document: CaptureDocument) -> list[Moment]:
    found: list[Moment] = []
    for row in requests(document):
        reader = find_reader(document.analysis, None, row)
        assert reader is not None
        found.append(ModelContext(document.analysis, reader).moment_at(row))
    return found


def spaces(document: CaptureDocument) -> list[int]:
    columns = [int(document.capture.columns["space"][row]) for row in requests(document)]
    return [columns.index(space) for space in columns]


def texts(moment: Moment) -> list[str]:
    return [content_of_entry(moment, entry) for entry in moment.entries()]


def changes(document: CaptureDocument) -> list[RequestChange]:
    found = [request_at(moment) for moment in moments(document)]
    return [one for one in found if one is not None]


def shared_beginning() -> CaptureDocument:
    wire = Wire()
    wire.ask(MAIN, BEGINS, READY, user("do the work"), answer="done")
    wire.ask(SUB, BEGINS, READY, user("count files"), answer="three")
    wire.ask(MAIN, BEGINS, READY, user("do the work"), model("done"), user("more"), answer="all done")
    wire.ask(SUB, BEGINS, READY, user("count files"), model("three"), user("again"), answer="four")
    return wire.document()


def test_conversations_that_begin_alike_are_two_and_each_goes_on() -> None:
    document = shared_beginning()
    assert spaces(document) == [0, 1, 0, 1]
    assert [texts(one)[0] for one in moments(document)] == [f"You are the {who} agent" for who in ("main", "sub")] * 2
    assert texts(moments(document)[2])[1:] == [
        BEGINS["content"], READY["content"], "do the work", "done", "more",
    ]  # fmt: skip
    found = changes(document)
    assert [(len(one.added), len(one.dropped)) for one in found] == [(4, 0), (4, 0), (2, 0), (2, 0)]
    assert [one.before.message if one.before else None for one in found] == [None, None, *requests(document)[:2]]


def test_conversations_are_named_by_their_asks() -> None:
    document = shared_beginning()
    asks = ["assistant, “do the work”", "assistant, “count files”"]
    assert [one.context.reader.title for one in moments(document)] == asks * 2
    for words in ("count files", "assistant, “count files”"):
        found = find_reader(document.analysis, words, None)
        assert found is not None
        assert found.title == asks[1]
    last = requests(document)[3]
    at = find_reader(document.analysis, "assistant", last)
    assert at is not None
    assert at.title == asks[1]


def test_a_router_and_a_title_are_conversations_of_their_own() -> None:
    wire = Wire()
    wire.ask({"role": "system", "content": "You are a task routing model"}, user("bake"), answer="large")
    wire.ask(MAIN, user("bake"), answer="baked", tools=TOOLS)
    wire.ask({"role": "system", "content": "You write a title"}, user("bake"), answer="Baking")
    wire.ask(MAIN, user("bake"), model("baked"), user("more"), answer="more baked", tools=TOOLS)
    document = wire.document()
    assert spaces(document)[1] == spaces(document)[3] == 1
    assert spaces(document)[0] == 0
    assert len(changes(document)[3].added) == 2
    titles = [one.context.reader.title for one in moments(document)]
    assert titles[0] == "assistant, router: “bake”"


def test_a_router_that_is_given_the_end_of_a_history_is_none_of_it() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "oven", "arguments": "{}"}}
    made = {"role": "assistant", "content": None, "tool_calls": [call]}
    result = {"role": "tool", "tool_call_id": "c1", "content": "on"}
    wire = Wire()
    wire.ask(MAIN, user("bake"), answer="-", tools=TOOLS)
    wire.lines[-1]["message"]["choices"][0]["message"] = made
    wire.ask(MAIN, user("bake"), made, result, answer="baked", tools=TOOLS)
    wire.ask({"role": "system", "content": "You are a task routing model"}, made, result, user("more"), answer="large")
    wire.ask(MAIN, user("bake"), made, {**result, "content": "off"}, result, model("baked"), user("more"),
             answer="more", tools=TOOLS)  # fmt: skip
    document = wire.document()
    assert spaces(document) == [0, 0, 2, 0]
    assert texts(moments(document)[3])[2:] == ["bake", "oven {}", "off", "on", "baked", "more"]


@pytest.mark.parametrize("names", [("session-id", "thread-id"), ("x-claude-code-session-id", "x-claude-code-agent-id")])
def test_ids_in_headers_tell_conversations_apart(names: tuple[str, str]) -> None:
    wire = Wire()
    first, second = ({names[0]: "s-1", names[1]: agent} for agent in ("a-1", "a-2"))
    wire.ask(MAIN, user("count"), answer="one", headers=first)
    wire.ask(MAIN, user("count"), answer="two", headers=second)
    wire.ask(MAIN, user("count"), model("one"), user("more"), answer="three", headers=first)
    wire.ask(MAIN, user("Summary: one was counted"), answer="ok", headers=first, tools=TOOLS)
    wire.ask(MAIN, user("Summary: all was counted"), answer="ok", headers=first, tools=TOOLS)
    assert spaces(wire.document()) == [0, 1, 0, 3, 3]


def test_a_programs_own_header_goes_before_a_usual_one() -> None:
    wire = Wire()
    usual = dict.fromkeys(("session-id", "session_id", "x-session-id", "x-session-affinity"), "machine")
    for number, own in enumerate(("s-1", "s-2", "s-1")):
        said = [model("one"), user("more")] if number == 2 else []
        wire.ask(MAIN, user("count"), *said, answer="one", headers={**usual, "x-opencode-session": own})
    assert spaces(wire.document()) == [0, 1, 0]


def test_a_compacted_history_is_of_the_same_conversation_and_says_so() -> None:
    wire = Wire()
    wire.ask(MAIN, user("bake"), answer="first")
    wire.ask(MAIN, user("bake"), model("first"), user("go on"), answer="second")
    wire.ask(MAIN, user("bake"), user("Summary: much was baked"), answer="third")
    wire.ask(MAIN, user("bake"), user("Summary: much was baked"), model("third"), user("end"), answer="fourth")
    document = wire.document()
    assert spaces(document) == [0, 0, 0, 0]
    found = changes(document)
    assert [(len(one.added), len(one.dropped), len(one.compacted)) for one in found[1:]] == [
        (2, 0, 0), (1, 2, 2), (2, 0, 0),
    ]  # fmt: skip
    assert compactions(found[3].context).tolist() == [requests(document)[2]]


def test_a_side_question_is_no_predecessor() -> None:
    wire = Wire()
    wire.ask(MAIN, user("bake"), answer="first", tools=TOOLS)
    wire.ask(MAIN, user("bake"), model("first"), user("What may the user say next?"), answer="more", tools=TOOLS)
    wire.ask(MAIN, user("bake"), model("first"), user("go on"), answer="second", tools=TOOLS)
    document = wire.document()
    assert spaces(document) == [0, 0, 0]
    last = changes(document)[2]
    assert last.before is not None
    assert last.before.message == requests(document)[0]
    assert (len(last.added), len(last.dropped)) == (2, 0)


def test_the_same_question_asked_anew_is_a_conversation_of_its_own() -> None:
    wire = Wire()
    wire.ask(user("bake"), answer="first")
    wire.ask(user("bake"), model("first"), user("go on"), answer="second")
    wire.ask(user("bake"), answer="other")
    wire.ask(user("bake"), model("other"), user("stop"), answer="stopped")
    assert spaces(wire.document()) == [0, 0, 2, 2]


def test_a_request_without_an_answer_reports_nothing() -> None:
    wire = Wire()
    wire.ask(MAIN, user("bake"))
    wire.ask(MAIN, user("bake"), user("hello?"), answer="baked")
    document = wire.document()
    assert [one.usage for one in changes(document)] == [None, None]
    assert [one.reported() for one in moments(document)] == [None, None]


def test_nobody_who_only_asks_is_a_model() -> None:
    wire = Wire()
    wire.ask(MAIN, user("bake"), answer="baked")
    found = find_reader(wire.document().analysis, None, None)
    assert found is not None
    assert found.name == "assistant"
