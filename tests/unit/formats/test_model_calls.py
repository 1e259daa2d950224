"""Calls of models in recordings of HTTP: requests, answers put together, what is sent again."""

from __future__ import annotations

import json
from itertools import count
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from inspector.analysis.views.steps.step_table import step_table
from inspector.document.document import CaptureDocument
from inspector.present.answers import summary_answer
from tests.builders import GrowingLog, document_at, document_of, field_values, lines_of, log_file
from tests.samples import FORMAT_SAMPLES

RECORDING = FORMAT_SAMPLES["model-calls.jsonl"]


_clock = count(1)


def line(kind: str, x: int = 1, way: str = "server->client", **more: Any) -> dict[str, Any]:
    at = next(_clock)
    return {"t": f"2026-09-01T08:{at // 60 % 60:02}:{at % 60:02}Z", "dir": way, "kind": kind, "x": x, **more}


def asked(x: int, path: str = "/v1/chat/completions", *, headers: Any = None, **body: Any) -> dict[str, Any]:
    message = {"model": "m-1", **body}
    return line("http-request", x, "client->server", method="POST", path=path, headers=headers or {}, message=message)


def head(x: int, status: int = 200, **more: Any) -> dict[str, Any]:
    return line("http-response", x, status=status, **more)


def event(x: int, message: Any) -> dict[str, Any]:
    return line("sse-event", x, sse={}, **({"text": message} if isinstance(message, str) else {"message": message}))


def end(x: int, how: str = "complete") -> dict[str, Any]:
    return line("http-end", x, how=how)


def chunk(**delta: Any) -> dict[str, Any]:
    return {"id": "c", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta}]}


USER = {"role": "user", "content": "Can she come in?"}


def test_the_figures_of_a_recording() -> None:
    document = document_at(RECORDING)
    found = field_values(document, "kind", "method", "http.status", "stop_reason", "usage.input", "usage.cache_write",
                   "usage.cache_read", "usage.output")  # fmt: skip
    assert [row[2:] for row in found if row[:2] == ("mcp/response", "messages.create")] == [
        (200, "tool_use", 412, 300, 0, 57), (200, "end_turn", 412, 0, 300, 21),
        (200, "tool_use", 412, 0, 300, 57), (200, "end_turn", 412, 0, 300, 21),
        (529, None, None, None, None, None), (529, None, None, None, None, None), (200, None, 412, 0, 300, 1),
    ]  # fmt: skip
    assert document.unreadable == 0
    answers = [document.capture.records.payload(row)["model_call"] for row, _ in enumerate(found) if found[row][3]]
    assert [answer.get("events") for answer in answers] == [None, None, 15, 14]
    requests = [row[0] for row in found if row[1] == "messages.create"].count("mcp/request")
    assert (requests, document.analysis.usage.calls_by_model()) == (7, {"claude-test-1": 5, "overloaded": 1})


def test_an_answer_that_was_streamed_says_what_one_at_once_says() -> None:
    document = document_at(RECORDING)
    said = field_values(document, "kind", "info", "model", "repeats", "tokens")
    at_once, streamed = ([row for row, _ in enumerate(said) if said[row][2]][start : start + 6] for start in (0, 6))
    spoken = [
        [document.capture.records.payload(row) for row in rows if said[row][0] != "mcp/response"]
        for rows in (at_once, streamed)
    ]
    assert spoken[0] == spoken[1]
    assert [payload.get("text", payload.get("params")) for payload in spoken[0]] == [
        "I will look at the tide.", {"name": "tide", "arguments": {"port": "Elbe"}}, "3.4 m is enough.",
        "Yes: the tide stands at 3.4 m.",
    ]  # fmt: skip
    assert spoken[0][2]["signature"].startswith("4 characters, sha256 ")
    assert all(said[row][3] is None for row in (*at_once, *streamed))


def test_the_first_piece_of_a_stream_is_timed() -> None:
    found = field_values(document_at(RECORDING), "first_token")
    assert [round(row[0]) for row in found if row[0] is not None] == [43, 38, 34]


def test_what_is_sent_again_is_marked_and_an_answer_never_is() -> None:
    answer = {"role": "assistant", "content": "Yes."}
    document = document_of(
        asked(1, messages=[{"role": "system", "content": "today: 1"}, USER]),
        head(1, message={"choices": [{"message": answer}], "usage": {"prompt_tokens": 5, "completion_tokens": 1}}),
        end(1),
        asked(2, messages=[{"role": "system", "content": "today: 2"}, USER, answer, USER]),
        head(2, message={"choices": [{"message": answer}]}), end(2),
    )  # fmt: skip
    assert field_values(document, "text", "repeats")[1:] == [
        ("today: 1", None), ("Can she come in?", None), ("answered; 5 tokens in, 1 out", None),
        ("Yes.", None), ("m-1: 4 messages", None), ("today: 2", None), ("Can she come in?", 3), ("Yes.", 5),
        ("Can she come in?", None), ("answered", None), ("Yes.", None),
    ]  # fmt: skip
    assert len({row[0] for row in field_values(document, "space")}) == 1


def test_a_tool_is_answered_where_it_was_called_first() -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "tide", "arguments": '{"port":"Elbe"}'}}
    said = {"role": "assistant", "content": None, "tool_calls": [call]}
    document = document_of(
        asked(1, messages=[USER]), head(1, message={"choices": [{"message": said}]}), end(1),
        asked(2, messages=[USER, said, {"role": "tool", "tool_call_id": "call_1", "content": "3.4 m"}]),
    )  # fmt: skip
    found = field_values(document, "kind", "tool", "answered", "repeats", "state")
    assert found[3] == ("mcp/request", "tide", 8, None, "answered")
    assert found[6] == ("mcp/request", "tide", None, 4, "answered")


def test_a_request_that_has_lost_its_beginning_is_of_the_same_conversation() -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "tide", "arguments": "{}"}}
    said = {"role": "assistant", "content": None, "tool_calls": [call]}
    result = {"role": "tool", "tool_call_id": "call_1", "content": "3.4 m"}
    summary, more = ({"role": "user", "content": text} for text in ("So far: she may.", "And he?"))
    document = document_of(
        asked(1, messages=[USER]), head(1, message={"choices": [{"message": said}]}), end(1),
        asked(2, messages=[summary, said, result]), head(2, message={"choices": [{"message": {"content": "Yes."}}]}),
        end(2), asked(3, messages=[summary, more]), asked(4, messages=[more]),
    )  # fmt: skip
    requests = [row[0] for row in field_values(document, "space", "method", "kind") if row[1:] == (
        "chat.completions.create", "mcp/request")]  # fmt: skip
    assert [one == requests[0] for one in requests] == [True, True, True, False]


def test_streams_of_two_exchanges_do_not_mix_and_end_with_done() -> None:
    document = document_of(
        asked(1, messages=[USER], stream=True),
        asked(2, messages=[{"role": "user", "content": "And he?"}], stream=True), head(1), head(2),
        event(1, chunk(content="She ")), event(2, chunk(content="He ")), event(2, chunk(content="can.")),
        event(1, chunk(content="may.")),
        event(2, {"id": "c", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}), event(2, "[DONE]"),
        end(2), event(1, "[DONE]"), end(1),
    )  # fmt: skip
    rows = field_values(document, "kind", "text", "answers", "stop_reason", "from")
    assert [row[1] for row in rows if row[0] == "chat" and row[4] == "assistant"] == ["He can.", "She may."]
    assert [row[2:4] for row in rows if row[0] == "mcp/response"] == [(3, "stop"), (1, None)]
    assert document.capture.record_count == 13


def test_a_client_that_hangs_up_has_what_had_come() -> None:
    document = document_of(
        asked(1, messages=[USER]), head(1), event(1, chunk(content="She m")), end(1, "client-closed")
    )
    rows = field_values(document, "kind", "text", "error")
    assert rows[2:] == [
        ("mcp/response", "cut: the client hung up; first token after 2,000 ms", None),
        ("chat", "She m", None),
    ]


def test_a_connection_that_fails_is_the_failed_answer_of_its_call() -> None:
    lines = [asked(1, messages=[USER]), line("http-error", 1, error="connection refused")]
    lines += [asked(2, messages=[USER]), line("http-error", 2, status=502, text="no certificate")]
    lines += [asked(3, messages=[USER]), end(3, "server-broke")]
    log = GrowingLog()
    for one in lines:
        log.write(one)
    for document in (document_of(*lines), log.end()):
        rows = field_values(document, "kind", "state", "text", "error")
        assert [row[1] for row in rows if row[0] == "mcp/request"] == ["failed"] * 3
        assert [row[2:] for row in rows if row[0] == "mcp/response"] == [
            ("connection refused", True), ("status 502 no certificate", True), ("the server broke off", True),
        ]  # fmt: skip
        about = {one["about"] for one in summary_answer(document, "log", step_table(document.analysis))[0]["account"]}
        assert "Failed" in about
        assert "Left open" not in about


def test_a_call_whose_client_hangs_up_before_the_answer_is_cancelled() -> None:
    document = document_of(asked(1, messages=[USER]), end(1, "client-closed"))
    assert field_values(document, "kind", "state")[0] == ("mcp/request", "cancelled")
    waiting = document_of(asked(1, messages=[USER]), end(1, "tap-ended"))
    assert field_values(waiting, "kind", "state")[0] == ("mcp/request", "waiting")


def test_what_has_not_ended_with_the_recording_is_as_far_as_it_came() -> None:
    document = document_of(asked(1, messages=[USER]), head(1), event(1, chunk(content="She m")))
    assert [row[0] for row in field_values(document, "text")[-2:]] == [
        "the recording ends in the middle of it; first token after 2,000 ms", "She m",
    ]  # fmt: skip


def test_a_stream_is_one_answer_while_its_recording_grows() -> None:
    log = GrowingLog()
    log.write(asked(1, messages=[USER]), head(1), event(1, chunk(content="She ")))
    assert len(log.document.capture) == 2
    log.write(event(1, chunk(content="may.")), event(1, "[DONE]"), end(1))
    assert [row[0] for row in field_values(log.document, "text")[-1:]] == ["She may."]


def test_half_a_surrogate_is_borne() -> None:
    odd = "I \ud800 know"
    document = document_of(
        asked(1, "/v1/responses", input=odd), head(1, message={"object": "response", "id": "r", "output": []}), end(1),
        asked(2, "/v1/responses", input=odd, previous_response_id="r"), head(2), event(2, chunk(content=odd)),
        event(2, "[DONE]"),
    )  # fmt: skip
    assert [row[0] for row in field_values(document, "text")].count(odd) == 3


def test_a_request_made_again_is_the_same_call() -> None:
    error = {"error": {"message": "slow down", "type": "rate_limit"}}
    document = document_of(
        asked(1, messages=[USER]), head(1, 429, message=error), end(1),
        asked(2, headers={"x-stainless-retry-count": "1"}, messages=[USER]),
        head(2, message={"id": "r", "choices": [{"message": {"content": "Yes."}, "finish_reason": "stop"}],
                         "usage": {"prompt_tokens": 3}}), end(2),
    )  # fmt: skip
    rows = field_values(document, "kind", "text", "repeats", "error")
    assert rows[2] == ("mcp/response", "status 429 rate_limit: slow down", None, True)
    assert rows[3] == ("mcp/request", "m-1: 1 message, attempt 2", 1, None)
    assert [row[2] for row in rows[3:]] == [1, 2, None, None]
    assert len({document.capture.records.envelope_id(row) for row in (0, 3)}) == 1
    assert [row[0] for row in field_values(document, "state") if row[0]] == ["answered", "answered"]
    assert document.analysis.usage.calls_by_model() == {"m-1": 1}
    assert summary_answer(document, "log", step_table(document.analysis))[0]["rpc"]["requests"] == 0


def test_a_call_that_fails_whenever_it_is_made_is_one_that_failed() -> None:
    error = {"error": {"message": "slow down", "type": "rate_limit"}}
    tries: list[dict[str, Any]] = []
    for x in (1, 2, 3):
        headers = {"x-stainless-retry-count": str(x - 1)}
        tries += [asked(x, messages=[USER], headers=headers), head(x, 500, message=error), end(x)]
    document = document_of(*tries)
    requests = [row for row in field_values(document, "kind", "repeats", "state") if row[0] == "mcp/request"]
    assert [row[1:] for row in requests] == [(None, "failed"), (1, "failed"), (1, "failed")]
    assert document.analysis.usage.calls_by_model() == {"m-1": 1}
    account = summary_answer(document, "log", step_table(document.analysis))[0]["account"]
    assert [one["text"] for one in account if one["about"] == "Failed"] == ["1 request failed: m-1, asked by client"]


def test_a_response_goes_on_from_the_one_it_names() -> None:
    def answered(x: int, name: str, text: str) -> dict[str, Any]:
        item = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}
        return head(x, message={"object": "response", "id": name, "status": "completed", "output": [item]})

    path = "/v1/responses"
    document = document_of(
        asked(1, path, input="Can she?"), answered(1, "resp_1", "Yes."), end(1),
        asked(2, path, input="Can she?", previous_response_id="resp_1"), answered(2, "resp_2", "Yes."), end(2),
        asked(3, path, input="Really?", previous_response_id="resp_0"),
    )  # fmt: skip
    rows = field_values(document, "text", "repeats", "space")
    assert [row[:2] for row in rows] == [
        ("m-1: 1 message", None), ("Can she?", None), ("completed", None), ("Yes.", None),
        ("m-1: 1 message, goes on from resp_1", None), ("Can she?", None), ("completed", None), ("Yes.", None),
        ("m-1: 1 message, goes on from resp_0, which was not seen: the earlier messages are unknown", None),
        ("Really?", None),
    ]  # fmt: skip
    assert [rows[0][2] == row[2] for row in rows] == [True] * 8 + [False] * 2


def test_what_the_models_side_carries_out_is_a_call_and_its_result() -> None:
    items = [
        {"type": "web_search_call", "id": "ws", "status": "completed", "action": {"query": "tide"}},
        {"type": "mcp_call", "id": "mcp", "name": "now", "arguments": "{}", "output": "noon", "server_label": "clock"},
        {"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "abcd"},
    ]
    document = document_of(
        asked(1, "/v1/responses", input="When?"),
        head(1, message={"object": "response", "id": "r", "status": "completed", "output": items}),
    )
    rows = field_values(document, "kind", "target", "answered", "text")[3:]
    assert [row[:3] for row in rows] == [
        ("mcp/request", "web_search", 5), ("mcp/response", "web_search", None), ("mcp/request", "now", 7),
        ("mcp/response", "now", None), ("reasoning/thought", None, None),
    ]  # fmt: skip
    assert rows[3][3] == "noon"
    assert document.capture.records.payload(7)["encrypted_content"].startswith("4 characters, sha256 ")


def test_other_traffic_of_the_same_recording_is_as_it_was() -> None:
    document = document_of(
        line("http-request", 1, "client->server", method="POST", path="/v1/messages/count_tokens",
             message={"messages": [USER], "model": "m"}),
        head(1, message={"input_tokens": 4}), end(1),
        line("http-request", 2, "client->server", method="POST", path="/mcp",
             message={"jsonrpc": "2.0", "id": 1, "method": "ping"}),
        line("sse-event", 2, message={"jsonrpc": "2.0", "id": 1, "result": {}}), end(2),
    )  # fmt: skip
    assert [row[0] for row in field_values(document, "kind")] == [
        "http/request", "http/response", "http/end", "mcp/request", "mcp/response", "http/end",
    ]  # fmt: skip


def test_a_recording_that_begins_in_a_stream_has_its_answer() -> None:
    document = document_of(event(4, chunk(content="may.")), event(4, "[DONE]"), end(4))
    assert field_values(document, "kind", "text")[1:] == [("chat", "may.")]


_MEMBERS = ("role", "content", "type", "id", "messages", "input", "usage", "error", "output", "choices")
_BODIES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["user", "assistant", "tool", "x", ""]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_MEMBERS), inner, max_size=4),
    max_leaves=10,
)
_LINES = st.lists(
    st.tuples(
        st.sampled_from(("http-request", "http-response", "sse-event", "http-end", "http-error")),
        st.integers(1, 2),
        _BODIES,
    ),
    max_size=8,
)


@given(_LINES, st.integers(1, 400))
def test_bodies_of_any_shape_are_read_however_they_come(lines: list[tuple[str, int, Any]], cut: int) -> None:
    usual = {"t": "2026-09-01T08:00:00Z", "dir": "a->b", "path": "/v1/messages", "status": 200}
    written = [{**usual, "kind": kind, "x": x, "message": body} for kind, x, body in lines]
    data = lines_of(*written)
    document = CaptureDocument()
    for _ in document.open_log(log_file(data), block_bytes=cut) if data else ():
        pass
    whole = document_of(*written) if data else document
    for name in ("text", "info", "stop_reason", "first_token", "repeats", "space"):
        assert [row[0] for row in field_values(document, name)] == [row[0] for row in field_values(whole, name)]
    document.close()


def test_a_million_pieces_cost_what_their_bytes_cost() -> None:
    pieces = 20_000
    data = json.dumps(event(1, chunk(content="x"))).encode() + b"\n"
    document = document_at(log_file(lines_of(asked(1, messages=[USER]), head(1)) + data * pieces + lines_of(end(1))))
    assert len(document.capture) == 4
    assert len(document.capture.records.payload(3)["text"]) == pieces
