"""Items, tools and figures of the newest model APIs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from inspector.document.document import CaptureDocument
from inspector.formats.entry_builders import media_words
from inspector.formats.line_reading import read_line
from inspector.protocol.record import Shape
from tests.builders import document_at, document_of, field_values

DATA = Path(__file__).parents[2] / "data" / "model-apis"
USER = {"role": "user", "content": "Is the oven on?"}
UNKNOWN = {"type": "weather_report", "degrees": 21}


def asked(path: str, **body: Any) -> CaptureDocument:
    message = {"model": "m-1", **body}
    return document_of({"t": "2026-09-01T08:00:00Z", "dir": "client->server", "kind": "http-request", "x": 1,
                        "method": "POST", "path": path, "headers": {}, "message": message})  # fmt: skip


def texts(document: CaptureDocument) -> list[str]:
    return [row[0] for row in field_values(document, "text")[1:]]


@pytest.mark.parametrize("place", [0, 1, 8, 9])
@pytest.mark.parametrize(
    ("path", "key"), [("/v1/messages", "messages"), ("/v1/chat/completions", "messages"), ("/v1/responses", "input")]
)
def test_an_unknown_item_is_one_entry_and_hides_none_of_its_neighbours(path: str, key: str, place: int) -> None:
    given: list[Any] = [USER] * 9
    given.insert(place, UNKNOWN)
    found = texts(asked(path, **{key: given}))
    assert found[place] == '{"type":"weather_report","degrees":21}'
    assert found[:place] + found[place + 1 :] == ["Is the oven on?"] * 9


def test_an_unknown_part_of_gemini_hides_none_of_its_neighbours() -> None:
    contents = ["odd", {"role": "user", "parts": [{"weather": 21}, {"text": "Is the oven on?"}]},
                {"role": "function", "parts": [{"functionResponse": {"name": "oven", "response": {}}}]}]  # fmt: skip
    document = asked("/v1beta/models/m-1:generateContent", contents=contents)
    found = field_values(document, "kind", "text")[1:]
    assert [row[1] for row in found[:3]] == ["odd", '{"weather":21}', "Is the oven on?"]
    assert found[3][0] == "mcp/response"


def test_a_result_of_gemini_that_names_its_tool_alone_answers_the_call_of_it() -> None:
    calls = [{"functionCall": {"id": f"f{number}", "name": "oven", "args": {"rack": number}}} for number in (1, 2)]
    results = [{"functionResponse": {"name": "oven", "response": {"output": str(number)}}} for number in (1, 2, 2)]
    contents = [{"role": "user", "parts": [{"text": "heat"}]}, {"role": "model", "parts": calls},
                {"role": "user", "parts": results}]  # fmt: skip
    document = asked("/v1beta/models/m-1:generateContent", contents=contents)
    assert [row[0] for row in field_values(document, "answers")] == [None, None, None, None, 3, 4, 4]


def test_items_whose_text_is_known_keep_it() -> None:
    items = [
        {"type": "compaction", "id": "c1", "encrypted_content": "gAAAAB" * 50},
        {"type": "compaction_summary", "encrypted_content": "gAAAAB" * 50},
        {"type": "agent_message", "author": "/root/judge", "recipient": "/root",
         "content": [{"type": "input_text", "text": "It is on."}]},
        {"type": "mcp_approval_request", "id": "r1", "name": "heat", "server_label": "oven", "arguments": "{}"},
        {"type": "mcp_approval_response", "approval_request_id": "r1", "approve": True}, USER,
    ]  # fmt: skip
    document = asked("/v1/responses", input=items)
    found = field_values(document, "from", "text")[1:]
    assert found[2] == ("user", "It is on.")
    assert [row[0] for row in found] == ["assistant", "assistant", "user", "assistant", "user", "user"]
    assert all("300 characters, sha256" in text and "gAAAAB" not in text for _, text in found[:2])


def test_tools_within_the_messages_and_within_lists_are_counted_singly() -> None:
    oven, mill = ({"type": "function", "name": name} for name in ("oven", "mill"))
    kitchen = {"type": "namespace", "name": "kitchen", "tools": [oven, mill]}
    more = {"type": "additional_tools", "role": "developer", "tools": [kitchen, {"type": "web_search"}]}
    document = asked("/v1/responses", input=[more, USER], tools=[mill])
    assert field_values(document, "text") == [("m-1: 2 messages, 4 tools",), ("Is the oven on?",)]
    told = document.capture.records.payload(0)["model_call"]["tools"]
    assert [one.get("name") for one in told] == ["mill", "oven", "mill", None]
    assert told[1]["namespace"] == "kitchen"
    declared = [{"functionDeclarations": [{"name": str(number)} for number in range(15)]}, {"googleSearch": {}}]
    document = asked("/v1beta/models/m-1:generateContent", contents=[{"parts": [{"text": "hi"}]}], tools=declared)
    assert field_values(document, "text")[0] == ("m-1: 1 message, 16 tools",)


def test_arguments_of_gemini_that_come_in_pieces_are_one_call() -> None:
    document = document_at(DATA / "gemini-partial-args.jsonl")
    assert field_values(document, "kind", "tool", "usage.input", "usage.output") == [("mcp/request", "set_oven", 26, 7)]
    assert document.capture.records.payload(0)["params"]["arguments"] == {"rack": "upper"}


@pytest.mark.parametrize(
    ("name", "input", "output"), [("iterations.json", 9_050, 127), ("xai.json", 10, 105), ("sse-openai.txt", 9, 3)]
)
def test_usage_that_stands_beside_the_totals_counts(name: str, input: int, output: int) -> None:
    document = document_at(DATA / name)
    assert field_values(document, "usage.input", "usage.output")[-1] == (input, output)
    assert document.unreadable == 0


@pytest.mark.parametrize("empty", ["", [], None])
def test_an_empty_message_is_one(empty: Any) -> None:
    document = document_of({"messages": [{"role": "user", "content": empty}]}, {"role": "user", "content": "a"})
    assert field_values(document, "from", "kind", "text") == [("user", "chat", ""), ("user", "chat", "a")]
    assert document.unreadable == 0


def test_a_compaction_is_told_by_its_text() -> None:
    assert field_values(document_at(DATA / "iterations.json"), "text")[0] == ("Summary: the bakery opens at six.",)


def test_a_listing_of_tools_is_no_call() -> None:
    found = field_values(document_at(DATA / "mcp-list-tools.json"), "kind", "tool", "text")
    assert [row[:2] for row in found if row[0] == "mcp/request"] == [("mcp/request", "heat")]
    assert found[0][2] == "tools of oven: heat"


def test_a_block_with_a_lone_surrogate_is_shown_with_its_escape() -> None:
    line = b'{"role":"user","content":[{"functionCall":"\\ud800"}]}'
    assert read_line(line).shape is Shape.DERIVED
    assert media_words({"functionCall": "\ud800"}) == '{"functionCall":"\\ud800"}'
