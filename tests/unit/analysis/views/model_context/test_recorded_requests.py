"""The context of a model whose own API was recorded is what its requests send."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from inspector.analysis.views.model_context import ModelContext, Moment, Role, readers
from inspector.analysis.views.model_context.chat_messages import content_of
from inspector.analysis.views.model_context.origins import Change, origin_of
from inspector.document.document import CaptureDocument
from inspector.document.source_set import SourceChoice
from tests.builders import document_of, lines_of, log_file

TOOLS = [{"name": "tide", "description": "Height of the tide.", "input_schema": {"type": "object"}}]


def request(
    number: int, messages: Sequence[dict[str, Any]], *, tools: Any = TOOLS, system: str = "Be brief."
) -> dict[str, Any]:
    body = {"model": "claude-test-1", "max_tokens": 9, "system": system, "messages": messages}
    return {
        "t": f"2026-11-22T21:35:{number:02}.000000Z", "dir": "client->server", "kind": "http-request", "x": number,
        "method": "POST", "path": "/v1/messages", "headers": {}, "message": body | ({"tools": tools} if tools else {}),
    }  # fmt: skip


def answer(number: int, *content: dict[str, Any]) -> dict[str, Any]:
    return {
        "t": f"2026-11-22T21:35:{number:02}.500000Z", "dir": "server->client", "kind": "http-response", "x": number,
        "status": 200, "headers": {}, "message": {
            "id": f"msg_{number}", "type": "message", "role": "assistant", "model": "claude-test-1",
            "content": list(content), "stop_reason": "end_turn", "usage": {"input_tokens": 10, "output_tokens": 1},
        },
    }  # fmt: skip


def said(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "content": [{"type": "text", "text": text}]}


ASKED = said("user", "How high is the tide?")
CALL = {"type": "tool_use", "id": "toolu_1", "name": "tide", "input": {"port": "Elbe"}}
RESULT = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "3.4 m, rising"}]}
START = {"kind": "start", "transport": "model-api", "t": "2026-11-22T21:35:00.000000Z"}


def moment_of(document: CaptureDocument, message: int | None = None) -> Moment:
    (reader,) = [one for one in readers(document.analysis) if one.name == "assistant"]
    document.count_tokens()
    return ModelContext(document.analysis, reader).moment_at(len(document.capture) - 1 if message is None else message)


def contents(moment: Moment) -> list[tuple[str, str]]:
    return [
        (Role(int(moment.context.roles[place])).word, content_of(moment, place))
        for place in range(len(moment.included))
        if moment.included[place]
    ]


def test_nothing_that_was_sent_is_assumed() -> None:
    document = document_of(
        START, request(1, [ASKED]), answer(1, CALL),
        request(2, [ASKED, {"role": "assistant", "content": [CALL]}, RESULT]),
    )  # fmt: skip
    moment = moment_of(document)
    assert contents(moment) == [
        ("tools", json.dumps(TOOLS, separators=(",", ":"))), ("system", "Be brief."),
        ("user", "How high is the tide?"), ("assistant", 'tide {"port":"Elbe"}'), ("tool", "3.4 m, rising"),
    ]  # fmt: skip
    assert not any(entry.assumed for entry in moment.entries())
    assert all(entry.tokens for entry in moment.entries())
    assert moment.outside() is None


def test_what_is_sent_no_more_has_left_and_may_come_back() -> None:
    long = said("assistant", "It is 3.4 m and rising.")
    document = document_of(
        START, request(1, [ASKED, long, said("user", "And now?")]), request(2, [ASKED, said("user", "Go on.")]),
        answer(2, said("", "Yes.")["content"][0]), request(3, [ASKED, long, said("user", "Go on.")], tools=None),
    )  # fmt: skip
    second = [text for _, text in contents(moment_of(document, 9))]
    assert second[1:] == ["Be brief.", "How high is the tide?", "Go on."]
    last = moment_of(document)
    assert sorted(text for _, text in contents(last)) == [
        "Be brief.", "Go on.", "How high is the tide?", "It is 3.4 m and rising.",
    ]  # fmt: skip
    (back,) = [entry for entry in last.entries() if entry.role is Role.ASSISTANT]
    assert back.tokens
    gone = [entry for entry in last.entries(out=True) if "Not sent again" in entry.reason]
    assert gone


def test_instructions_are_not_inherited_and_messages_are() -> None:
    def answered(x: int) -> dict[str, Any]:
        item = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": f"Yes {x}."}]}
        return {**answer(x), "message": {"object": "response", "id": f"r{x}", "status": "completed", "output": [item]}}

    def asked(x: int, **body: Any) -> dict[str, Any]:
        made = request(x, [])
        return {**made, "path": "/v1/responses", "message": {"model": "m", "input": f"And {x}?", **body}}

    document = document_of(
        START, asked(1, instructions="Be brief."), answered(1),
        asked(2, instructions="Be brief.", previous_response_id="r1"), answered(2),
        asked(3, instructions="Be long.", previous_response_id="r2"), answered(3),
        asked(4, previous_response_id="r3"),
    )  # fmt: skip
    talk = [text for x in (1, 2, 3) for text in (f"And {x}?", f"Yes {x}.")]
    requests = [row for row in range(len(document.capture)) if document.capture.string("kind", row) == "mcp/request"]
    found = [[text for _, text in contents(moment_of(document, row))] for row in requests]
    assert [sorted(texts) for texts in found] == [
        sorted(["Be brief.", *talk[:1]]), sorted(["Be brief.", *talk[:3]]), sorted(["Be long.", *talk[:5]]),
        sorted([*talk, "And 4?"]),
    ]  # fmt: skip


_SAID = st.lists(st.integers(0, 6), min_size=1, max_size=7, unique=True).map(
    lambda numbers: [said("user" if number % 2 else "assistant", f"text {number}") for number in numbers]
)


@given(st.lists(_SAID, min_size=1, max_size=6))
def test_after_a_request_the_context_is_what_it_sends(turns: list[list[dict[str, Any]]]) -> None:
    lines = [request(number, [ASKED, *messages]) for number, messages in enumerate(turns, 1)]
    document = document_of(START, request(0, [ASKED]), answer(0, said("", "Yes.")["content"][0]), *lines)
    texts = sorted(text for _, text in contents(moment_of(document)))
    sent = [block["text"] for message in turns[-1] for block in message["content"]]
    assert texts == sorted([json.dumps(TOOLS, separators=(",", ":")), "Be brief.", "How high is the tide?", *sent])


def test_a_result_leads_to_the_answer_of_its_server_and_says_whether_it_was_cut() -> None:
    long = "a row of the table; " * 40

    def held(text: str) -> CaptureDocument:
        result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": text}]}
        wire = [
            START, request(1, [ASKED]), answer(1, CALL),
            request(9, [ASKED, {"role": "assistant", "content": [CALL]}, result]),
        ]  # fmt: skip
        asked = {"jsonrpc": "2.0", "id": 0, "method": "tools/call",
                 "params": {"name": "tide", "arguments": {"port": "Elbe"}}}  # fmt: skip
        told = {"jsonrpc": "2.0", "id": 0, "result": {"content": [{"type": "text", "text": long}]}}
        tap = [
            {"t": "2026-11-22T21:35:03.000000Z", "dir": "client->server", "message": asked},
            {"t": "2026-11-22T21:35:04.000000Z", "dir": "server->client", "message": told},
        ]
        document = CaptureDocument()
        paths = [log_file(lines_of(*wire), "wire.jsonl"), log_file(lines_of(*tap), "tap.jsonl")]
        for _ in document.open_together([SourceChoice(path) for path in paths]):
            pass
        return document

    for text, change in ((long, Change.WHOLE), (long[:300] + " [cut]", Change.CUT), ("nothing", Change.ALTERED)):
        document = held(text)
        (entry,) = [one for one in moment_of(document).entries() if one.role is Role.TOOL]
        found = origin_of(document.analysis, entry.message)
        assert found is not None, text
        assert found.change is change
        assert document.capture.string("kind", found.message) == "mcp/response"
        document.close()
