"""Lines of a capture out of what passes."""

from __future__ import annotations

import base64
import gzip
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.base.bounded_buffers import BoundedBuffer, BufferLimit
from inspector.protocol.json_size import TOO_LARGE
from inspector.tap.http.entries import Entry, Sort, packed, unpacked
from inspector.tap.http.lines import ExchangeLines, Line, Missing
from inspector.tap.http.unwritten import ModelUnwritten, Unwritten

CALL = b'{ "jsonrpc": "2.0", "id": 7, "method": "tools/list" }'
JSON = [["Content-Type", "application/json"]]
STREAM = [["content-type", "Text/Event-Stream; charset=utf-8"]]


def entry(sort: Sort, data: bytes | dict[str, Any] = b"", exchange: int = 1, t: int = 0) -> Entry:
    return Entry(sort, exchange, t or int(sort) + 1, data if isinstance(data, bytes) else json.dumps(data).encode())


def asked(body: bytes = CALL, **facts: Any) -> list[Entry]:
    begin = {"method": "POST", "target": "/mcp", "headers": JSON} | facts
    return [entry(Sort.BEGIN, begin), entry(Sort.ASKED, body), entry(Sort.ASKED_ALL)]


def lines(entries: list[Entry], **limits: int) -> list[dict[str, Any] | str]:
    made = ExchangeLines(Unwritten(), **limits)
    whole = [one for each in unpacked(packed(entries)) for one in made.feed(each)]
    return [json.loads(f"{one.head}{one.value}}}") if isinstance(one, Line) else one.why for one in whole]


def test_an_exchange_is_a_request_an_answer_and_its_end() -> None:
    answer = {"status": 200, "headers": JSON}
    entries = [*asked(), entry(Sort.HEAD, answer), entry(Sort.ANSWERED, b'{"id":'), entry(Sort.ANSWERED, b"7}")]
    request, response, end = lines([*entries, entry(Sort.END, {"how": "complete"})])
    assert request == {
        "t": 3, "dir": "client->server", "kind": "http-request", "x": 1, "method": "POST", "path": "/mcp",
        "headers": {"content-type": "application/json"}, "message": json.loads(CALL),
    }  # fmt: skip
    assert response == {
        "t": 9, "dir": "server->client", "kind": "http-response", "x": 1, "status": 200, "first_ms": 0.0,
        "headers": {"content-type": "application/json"}, "message": {"id": 7},
    }  # fmt: skip
    assert end == {
        "t": 9, "dir": "server->client", "kind": "http-end", "x": 1, "how": "complete", "bytes": 8, "took_ms": 0.0,
    }  # fmt: skip


def test_a_message_is_written_byte_for_byte() -> None:
    made = ExchangeLines(Unwritten())
    (line,) = [one for each in asked() for one in made.feed(each)]
    assert isinstance(line, Line)
    assert line.value == CALL.decode()


def test_a_stream_is_its_head_and_its_events_as_they_come() -> None:
    made = lines([
        *asked(), entry(Sort.HEAD, {"status": 200, "headers": STREAM}),
        entry(Sort.ANSWERED, b": ping\n\nid: 1\nevent: message\ndata: {\"a\":1}\n\ndata: [DONE]\n\ndata: ha"),
        entry(Sort.END, {"how": "server-broke", "why": "gone"}),
    ])  # fmt: skip
    assert [one["kind"] for one in made if isinstance(one, dict)] == [
        "http-request", "http-response", "sse-event", "sse-event", "sse-event", "sse-event", "http-end",
    ]  # fmt: skip
    said = [
        {k: v for k, v in one.items() if k not in ("t", "dir", "kind", "x")}
        for one in made[2:]
        if isinstance(one, dict)
    ]
    assert said[:4] == [
        {"sse": {"comment": "ping"}},
        {"sse": {"id": "1", "event": "message"}, "message": {"a": 1}},
        {"sse": {}, "text": "[DONE]"},
        {"sse": {}, "cut": True, "text": "ha"},
    ]
    assert said[4]["how"] == "server-broke"


def test_what_is_no_json_is_text_and_what_is_no_text_base64() -> None:
    assert lines(asked(b"two\nlines"))[0]["text"] == "two\nlines"  # pyright: ignore[reportArgumentType]
    assert lines(asked(b"\xff\x00"))[0]["b64"] == "/wA="  # pyright: ignore[reportArgumentType]
    assert lines(asked(b'{"a":\n1}'))[0]["text"] == '{"a":\n1}'  # pyright: ignore[reportArgumentType]


def test_no_base64_and_no_path_of_an_endpoint_holds_a_secret() -> None:
    (line,) = lines(asked(b'\xe9 {"api_key": "plantedValue0123"}'))
    assert b"plantedValue0123" not in base64.b64decode(line["b64"])  # pyright: ignore[reportArgumentType]
    stream = [*asked(), entry(Sort.HEAD, {"status": 200, "headers": STREAM})]
    stream.append(entry(Sort.ANSWERED, b"event: endpoint\ndata: /m/planted0Value1planted2Value?session_id=one\n\n"))
    assert lines(stream)[-1]["text"] == "/m/••••••••?session_id=one"  # pyright: ignore[reportArgumentType]


def test_compressed_bodies_are_read_and_what_cannot_be_is_said() -> None:
    for encoding, body in (("gzip", gzip.compress(CALL)), ("br", b"\x00\x01")):
        answer = {"status": 200, "headers": [*JSON, ["Content-Encoding", encoding]]}
        made = lines(
            [*asked(), entry(Sort.HEAD, answer), entry(Sort.ANSWERED, body), entry(Sort.END, {"how": "complete"})]
        )
        response = made[1]
        assert isinstance(response, dict)
        assert response.get("message") == (json.loads(CALL) if encoding == "gzip" else None)
        assert response.get("compressed") == (None if encoding == "gzip" else "br")


def test_what_was_lost_is_said_in_its_place() -> None:
    head = entry(Sort.HEAD, {"status": 200, "headers": STREAM})
    stream = [
        *asked(), head, entry(Sort.ANSWERED, b"data: 1\n\ndata: 2"), entry(Sort.LOST, (9).to_bytes(8)),
        entry(Sort.ANSWERED, b"9\n\ndata: 10\n\n"),
    ]  # fmt: skip
    made = lines(stream)
    *events, gap = made[2:]
    assert [one["text"] for one in events if isinstance(one, dict)] == ["1", "10"]
    assert gap == "an event was too long to be kept"
    whole = [
        *asked(), entry(Sort.HEAD, {"status": 200, "headers": JSON}), entry(Sort.ANSWERED, b'{"a":'),
        entry(Sort.LOST, (9).to_bytes(8)), entry(Sort.ANSWERED, b"}"), entry(Sort.END, {"how": "complete"}),
    ]  # fmt: skip
    response, gap, _ = lines(whole)[1:]
    assert "message" not in response
    assert gap == "an answer's body is missing here: messages came faster than they could be written"


def test_exchanges_that_overlap_are_told_apart_and_ended_with_the_tap() -> None:
    made = ExchangeLines(Unwritten())
    for number in (1, 2):
        for one in asked():
            list(made.feed(one._replace(exchange=number)))
    ends = [json.loads(f"{one.head}{one.value}}}") for one in made.close(99, "done") if isinstance(one, Line)]
    assert [(one["x"], one["how"]) for one in ends] == [(1, "tap-ended"), (2, "tap-ended")]
    assert list(made.close(100, "done")) == []


def test_an_answer_of_the_tap_itself_ends_an_exchange() -> None:
    made = lines([*asked(), entry(Sort.ERROR, {"status": 502, "text": "nobody answers: Bearer abcdefgh12345678"})])
    assert isinstance(made[1], dict)
    assert made[1]["kind"] == "http-error"
    assert "abcdefgh" not in made[1]["text"]


def test_frames_of_a_websocket_are_lines() -> None:
    made = lines([*asked(b""), entry(Sort.FRAME, b"\x00" + CALL), entry(Sort.FRAME, b"\x03\xff")])
    assert [(one["dir"], one["kind"], one.get("bin")) for one in made[1:] if isinstance(one, dict)] == [
        ("client->server", "websocket-frame", None), ("server->client", "websocket-frame", True),
    ]  # fmt: skip


@given(st.lists(st.tuples(st.sampled_from(list(Sort)[1:7]), st.binary(max_size=60)), max_size=12))
def test_any_bytes_in_any_order_make_lines(said: list[tuple[Sort, bytes]]) -> None:
    facts = {Sort.HEAD: json.dumps({"status": 200, "headers": STREAM}).encode(), Sort.LOST: (3).to_bytes(8)}
    entries = [*asked(), *(entry(sort, facts.get(sort, data or b"\x00")) for sort, data in said)]
    lines([*entries, entry(Sort.END, {"how": "complete"})])


def test_a_body_beyond_measure_is_missing() -> None:
    made = ExchangeLines(Unwritten(), longest_body=10)
    found = [one for each in asked() for one in made.feed(each)]
    assert [type(one) for one in found] == [Line, Missing]


def test_what_many_exchanges_hold_is_bounded_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few that are large lose what they hold, and leave room for many that are small."""
    monkeypatch.setattr("inspector.tap.http.lines.MOST_HELD_BYTES", 1 << 22)
    small, large = b"a" * (1 << 19), b"data: " + b"a" * (1 << 21)
    streams, bodies = range(1, 6), range(6, 40)
    begin, stream = {"method": "POST", "target": "/", "headers": JSON}, {"status": 200, "headers": STREAM}
    entries = [entry(Sort.BEGIN, begin, number) for number in (*streams, *bodies)]
    entries += [one for x in streams for one in (entry(Sort.HEAD, stream, x), entry(Sort.ANSWERED, large, x))]
    entries += [entry(Sort.ASKED, small, x) for x in bodies]
    entries += [entry(Sort.ANSWERED, b"\n\n", x) for x in streams] + [entry(Sort.ASKED_ALL, b"", x) for x in bodies]
    made = ExchangeLines(Unwritten())
    found = [one for each in entries for one in made.feed(each)]
    kept = [len(one.value) for one in found if isinstance(one, Line) and len(one.value) > len(small)]
    assert [size > 1 << 20 for size in kept] == [True] * 2 + [False] * 8
    lost = [one.why for one in found if isinstance(one, Missing)]
    assert lost.count("an event was too long to be kept") == 3
    assert len(lost) == 3 + len(bodies) - 8
    kinds = [entry(Sort.BEGIN, begin, 99), entry(Sort.ASKED, small, 99), entry(Sort.ASKED_ALL, b"", 99)]
    assert not [one for each in kinds for one in made.feed(each) if isinstance(one, Missing)], "there is room again"


def test_small_pieces_cost_their_bytes_alone() -> None:
    room = BufferLimit(1 << 20)
    held = BoundedBuffer(room)
    assert all(held.append(b"ab") for _ in range(1000))
    assert (len(held), room.taken_bytes) == (2000, 2000)
    assert held.take_contents() == b"ab" * 1000
    assert room.taken_bytes == 0


def test_what_is_made_of_brackets_is_not_searched_for_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would be decoded for that: minutes, and gigabytes."""
    monkeypatch.setattr("inspector.protocol.json_size.MAX_DECODED_BYTES", 1 << 20)
    brackets = b'[{"password":"hunter2hunter2"},' + b"{}," * (1 << 21) + b"1]"
    made = lines([
        *asked(brackets), entry(Sort.HEAD, {"status": 200, "headers": STREAM}),
        entry(Sort.ANSWERED, b"data: " + brackets + b"\n\n"), entry(Sort.FRAME, b"\1" + brackets),
    ])  # fmt: skip
    assert [one["kind"] if isinstance(one, dict) else one for one in made] == [
        "http-request", f"a request's body is missing here: {TOO_LARGE}", "http-response", TOO_LARGE, TOO_LARGE,
    ]  # fmt: skip


KEYS = ("Authorization", "x-api-key", "api-key", "x-goog-api-key", "Proxy-Authorization", "Cookie",
        "openai-organization", "openai-project", "chatgpt-account-id")  # fmt: skip
PLANTED = "plantedValue0123456789"
_CALL = {"name": "tide", "arguments": json.dumps({"key": PLANTED})}
ASKED_OF_MODELS: tuple[dict[str, Any], ...] = (
    {"system": PLANTED, "metadata": {"user_id": PLANTED}, "tools": [{"name": "tide", "description": PLANTED}],
     "messages": [{"role": "user", "content": [
         {"type": "text", "text": PLANTED}, {"type": "tool_use", "id": "t", "name": "tide", "input": {"a": PLANTED}},
         {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": f'{{"a": "{PLANTED}"}}'}]},
     ]}]},
    {"messages": [{"role": "developer", "content": PLANTED}, {"role": "assistant", "tool_calls": [{"function": _CALL}]},
                  {"role": "tool", "tool_call_id": "c", "content": PLANTED}], "user": PLANTED},
    {"instructions": PLANTED, "previous_response_id": PLANTED, "prompt_cache_key": PLANTED,
     "input": [{"type": "function_call", **_CALL}, {"type": "function_call_output", "call_id": "c", "output": PLANTED}],
     },
    {"systemInstruction": {"parts": [{"text": PLANTED}]},
     "contents": [{"parts": [{"functionResponse": {"a": PLANTED}}]}]},
)  # fmt: skip


@pytest.mark.parametrize("header", KEYS)
def test_no_key_of_a_header_comes_into_a_capture_by_way_of_a_body(header: str) -> None:
    value = {"Authorization": f"Bearer {PLANTED}", "Cookie": f"session={PLANTED}"}.get(header, PLANTED)
    said = {"type": "content_block_delta", "delta": {"type": "text_delta", "text": f"your key is {PLANTED}."}}
    made = ExchangeLines(ModelUnwritten())
    written: list[str] = []
    for number, body in enumerate(ASKED_OF_MODELS, 1):
        begin = {"method": "POST", "target": f"/v1/x?key={PLANTED}", "headers": [*JSON, [header, value]]}
        entries = [
            entry(Sort.BEGIN, begin, number), entry(Sort.ASKED, body, number), entry(Sort.ASKED_ALL, b"", number),
            entry(Sort.HEAD, {"status": 200, "headers": [*STREAM, ["Set-Cookie", value], ["x-echo", PLANTED]]}, number),
            entry(Sort.ANSWERED, f"data: {json.dumps(said)}\n\n".encode(), number),
            entry(Sort.ANSWERED, f"data: not JSON {PLANTED}\n\n: {PLANTED}\n\n".encode(), number),
            entry(Sort.END, {"how": "server-broke", "why": f"it said {PLANTED}"}, number),
        ]  # fmt: skip
        for one in (line for each in unpacked(packed(entries)) for line in made.feed(each)):
            written += one[:2] if isinstance(one, Line) else [one.why]
    assert len(written) > 4 * len(ASKED_OF_MODELS)
    assert PLANTED not in "".join(written)
