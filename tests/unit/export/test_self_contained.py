"""Export: one line a message, responses that say what they answer, secrets masked, nothing lost on the way back."""

from __future__ import annotations

import io
import json
from collections import deque
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from typer.testing import CliRunner

from inspector.cli import app
from inspector.document.document import CaptureDocument
from inspector.export import Exported, ExportOptions, Redaction, export_file, export_to, matching, writer_for
from inspector.filters import compile_filter
from inspector.filters.fields import FIELD_BY_NAME
from inspector.store.columns.flags import Flag
from tests.builders import (
    clean_up,
    document_at,
    document_of,
    envelope,
    lines_of,
    log_file,
    received,
    tool_call,
    tool_result,
)
from tests.samples import DATA, LINE_SAMPLES, folders_swept


def exported(document: CaptureDocument, *, self_contained: bool = True, masked: bool = True) -> list[Any]:
    out, options = io.BytesIO(), ExportOptions(self_contained=self_contained, masked=masked)
    deque(export_to(document, range(len(document.capture)), out, options), maxlen=0)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_a_response_says_what_it_answers_and_others_stay_as_they_are() -> None:
    ask = tool_call("read_file", id="q", arguments={"path": "a"})
    answer, chat = tool_result(ask), envelope()
    assert exported(document_of(ask, answer, chat)) == [
        ask,
        {
            **answer, "payload": {**answer["payload"], "method": "tools/call", "params": {"name": "read_file"}},
            "response_context": {
                "method": "tools/call", "target": "read_file", "rule": "correlation", "request": ask,
            },
        },
        chat,
    ]  # fmt: skip
    assert exported(document_of(ask, answer), self_contained=False) == [ask, answer]


def test_a_request_that_was_never_seen() -> None:
    answer = envelope("mcp/response", {"result": {}}, correlation_id=["gone"])
    found = exported(document_of(answer))[0]["response_context"]
    assert found == {"method": None, "target": None, "rule": "unknown", "request": None}


def test_a_line_of_json_rpc_says_it_too() -> None:
    ask = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "grep"}}
    answer = {"jsonrpc": "2.0", "id": 1, "result": {"content": []}}
    document = document_of({"dir": "a->b", "message": ask}, {"dir": "b->a", "message": answer})
    found = exported(document)[1]
    assert found["response_context"] == {"method": "tools/call", "target": "grep", "rule": "rpc id", "request": ask}
    assert found["result"] == {"content": []}


def test_what_was_exported_before_says_it_once() -> None:
    ask = tool_call("grep", id="q")
    once = exported(document_of(ask, tool_result(ask)))
    assert exported(document_of(*once)) == once


def test_secrets_are_masked_in_requests_too_unless_asked_for() -> None:
    ask = tool_call("login", id="q", arguments={"password": "hunter2"})
    document = document_of(ask, tool_result(ask, "Bearer abcdefgh"))
    masked = json.dumps(exported(document))
    assert "hunter2" not in masked
    assert "abcdefgh" not in masked
    assert exported(document, masked=False)[1]["response_context"]["request"] == ask


def test_what_is_no_json_is_wrapped_and_reads_as_what_it_was() -> None:
    document = document_of("{torn", b"\xff\xfe{", '{"t":1,"dir":"in","src":0,"text":"#s1#data"}', envelope())
    lines = exported(document)
    assert lines[0] == {"text": "{torn"}
    assert set(lines[1]) == {"b64"}
    again = document_of(*lines)
    kinds = [[one.capture.string("kind", row) for row in range(4)] for one in (document, again)]
    assert kinds[0] == kinds[1]


def test_elements_over_several_lines_become_one() -> None:
    text = json.dumps([envelope(id="a"), envelope(id="b")], indent=2).encode()
    assert [one["id"] for one in exported(document_at(log_file(text, "array.json")))] == ["a", "b"]


def test_a_big_response_is_whole_and_masked() -> None:
    ask = tool_call("dump", id="q")
    answer = tool_result(ask, "x" * 1_200_000 + " token=abcdef")
    found = exported(document_of(ask, answer))[1]
    assert found["response_context"]["target"] == "dump"
    assert len(found["payload"]["result"]["content"][0]["text"]) > 1_200_000
    assert "abcdef" not in json.dumps(found)


def test_a_file_is_replaced_only_when_it_is_complete(tmp_path: Path) -> None:
    document, target = document_of(*(envelope() for _ in range(200))), tmp_path / "out.jsonl"
    target.write_text("before")
    steps = export_file(document, range(200), target)
    next(steps)
    steps.close()
    assert target.read_text() == "before"
    assert list(tmp_path.iterdir()) == [target]
    last: Exported = deque(export_file(document, range(200), target), maxlen=1)[0]
    assert (last.messages, last.size_bytes) == (200, target.stat().st_size)


def test_the_log_itself_is_never_overwritten() -> None:
    document = document_of(envelope())
    assert document.path is not None
    with pytest.raises(OSError, match="the log itself"):
        next(export_file(document, [0], document.path))


def test_a_filter_chooses() -> None:
    document = document_of(*(envelope("chat" if n % 3 else "stream/open", {"n": n}) for n in range(30)))
    assert list(matching(document, compile_filter("payload.n >= 27"))) == [27, 28, 29]
    assert list(matching(document, compile_filter('kind == "stream/open"'))) == list(range(0, 30, 3))


@pytest.mark.parametrize(
    "path", folders_swept(sorted([*DATA.rglob("*.jsonl"), *LINE_SAMPLES])), ids=lambda path: path.parent.name
)
def test_real_traffic_comes_back_as_it_was(path: Path) -> None:
    document = document_at(path)
    writer = writer_for(document, ExportOptions(self_contained=True, masked=False), Redaction(masked=False))
    lines = [writer.message(row) for row in range(len(document.capture))]
    for line in lines:
        json.loads(line)
    again = document_at(log_file(b"".join(lines))) if lines else document
    assert len(again.capture) == len(document.capture)
    kinds = [[one.capture.string("kind", row) for row in range(len(lines))] for one in (document, again)]
    assert kinds[0] == kinds[1]


@given(st.lists(st.sampled_from(["ask", "answer", "late", "chat", "torn"]), max_size=8))
def test_every_line_is_json_and_everything_is_there(what: list[str]) -> None:
    asks = [tool_call("grep", id=f"q{n}") for n in range(len(what))]
    made = {
        "ask": lambda n: asks[n], "answer": lambda n: tool_result(asks[max(0, n - 1)]),
        "late": lambda n: tool_result(asks[-1]), "chat": lambda n: envelope(), "torn": lambda n: '{"a":',
    }  # fmt: skip
    lines = [made[word](n) for n, word in enumerate(what)]
    try:
        found = exported(document_of(envelope(), *lines))
        assert len(found) == len(lines) + 1
        for line, out in zip(lines, found[1:], strict=True):
            if isinstance(line, dict):
                said = {key: value for key, value in out.items() if key != "response_context"}
                if "result" in line["payload"]:  # an answer has its call in the payload, as far as that is known
                    said["payload"] = {"result": out["payload"]["result"], "id": out["payload"].get("id")}
                    line = line | {"payload": {"result": line["payload"]["result"], "id": line["payload"].get("id")}}
                assert said == line
    finally:
        clean_up()


_METHODS: tuple[dict[str, Any], ...] = (
    {"method": "tools/call", "params": {"name": "grep", "arguments": {"path": "a"}}},
    {"method": "tools/call", "params": {}},
    {"method": "tools/list"},
    {"method": "resources/read", "params": {"uri": "file:///a"}},
    {"method": "prompts/get", "params": {"name": "hello"}},
)
_OUTCOMES: tuple[dict[str, Any], ...] = (
    {"result": {}},
    {"error": {"code": 1, "message": "no"}},
    {"result": [1.50, "é"]},
)


@st.composite
def _conversation(draw: st.DrawFn) -> tuple[list[dict[str, Any]], list[int]]:
    """Requests and answers as envelopes or as lines of JSON-RPC, in any order, and the places of some."""
    enveloped, lines = draw(st.booleans()), list[dict[str, Any]]()
    for number in range(draw(st.integers(1, 5))):
        call, outcome = draw(st.sampled_from(_METHODS)), draw(st.sampled_from(_OUTCOMES))
        ask: dict[str, Any] = {"jsonrpc": "2.0", "id": number, **call}
        answer: dict[str, Any] = {"jsonrpc": "2.0", "id": number, **outcome}
        if enveloped:
            kind = draw(st.sampled_from(["mcp/response", "mcp/response:tools/call", "mcp/response:tools/call:grep"]))
            said = draw(
                st.sampled_from([{}, {"method": "tools/call"}, {"method": "tools/call", "params": {"name": "x"}}])
            )
            named = draw(st.sampled_from([{"correlation_id": [f"q{number}"]}, {}]))
            ask = envelope("mcp/request", ask, id=f"q{number}", to=["files"])
            answer = envelope(kind, answer | said, id=f"a{number}", sender="files", to=["lead"], **named)
        else:
            ask, answer = {"dir": "a->b", "message": ask}, {"dir": "b->a", "message": answer}
        pair = [(ask, True), (answer, True)]
        lines += [line for line, _ in pair if draw(st.integers(0, 5))]
    return lines, sorted(draw(st.sets(st.integers(0, 9))))


_READ = {"dir": "a->b", "message": {"jsonrpc": "2.0", "id": 0, **_METHODS[3]}}
_NO: list[dict[str, Any]] = [
    {"dir": "b->a", "message": {"jsonrpc": "2.0", "id": number, "error": {"code": 1, "message": "no"}}}
    for number in (0, 1, 2)
]


@example(([_READ, *_NO], [4]))  # MCP whose log began behind a request, and with a part that does not tell that it is
@given(_conversation())
def test_any_part_of_a_log_reads_back_with_the_same_calls(traffic: tuple[list[dict[str, Any]], list[int]]) -> None:
    lines, chosen = traffic
    try:
        document = document_of(envelope(), *lines)
        rows = [row for row in range(len(document.capture)) if row in chosen]
        out = io.BytesIO()
        deque(export_to(document, rows, out, ExportOptions(self_contained=True)), maxlen=0)
        again = document_of(*out.getvalue().splitlines())
        names = ("kind", "method", "tool", "target", "tool.rule", "error", "text")
        for row, place in zip(rows, range(len(rows)), strict=True):
            if document.capture.string("kind", row) != "mcp/response":
                continue
            told = [[FIELD_BY_NAME[name].value(one.analysis, at) for name in names] for one, at in
                    ((document, row), (again, place))]  # fmt: skip
            assert told[0] == told[1]
            codes = [
                {one.code for one in seen.analysis.findings.findings_about(at)}
                for seen, at in ((document, row), (again, place))
            ]
            if "response-names-other-call" in codes[0]:  # a request that it contradicts is not believed
                continue
            assert not (codes[1] - codes[0]) & {"response-without-request", "mcp-answer-to-nothing"}
    finally:
        clean_up()


def test_what_somebody_sent_says_nothing_of_its_call_by_itself() -> None:
    ask = tool_call("grep", id="q")
    (answer,) = exported(document_of(ask, tool_result(ask)))[1:]
    payload = {key: one for key, one in answer["payload"].items() if key not in ("method", "params")}
    bare, other = {**answer, "payload": payload}, {**answer, "correlation_id": ["another"]}
    framed = {"t": 1_767_600_000_000_000_000, "dir": "in", "src": 0, "frame": bare}
    for line, tool in ((answer, "grep"), (bare, None), (framed, None), (received(bare), None)):
        document = document_of(line)
        assert FIELD_BY_NAME["tool"].value(document.analysis, 0) == tool
        codes = [one.code for one in document.analysis.findings.findings_about(0)]
        assert ("response-without-request" in codes) is (tool is None)
    document = document_of(envelope(), other)
    told = document.capture.columns["flags"][1] & Flag.CONTAINS_REQUEST.value
    assert not told, "its request is another"


# The command


def run(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["export", *arguments])


def test_the_command_writes_a_file_or_standard_output(tmp_path: Path) -> None:
    ask = tool_call("grep", id="q", arguments={"token": "abcdef123"})
    log, out = log_file(lines_of(ask, tool_result(ask), envelope())), tmp_path / "out.jsonl"
    done = run(str(log), "-o", str(out), "--self-contained", "-Y", 'kind == "mcp/response"')
    assert (done.exit_code, done.stderr) == (0, f"{out}: 1 message, {out.stat().st_size} bytes.\n")
    assert json.loads(out.read_text())["response_context"]["target"] == "grep"
    assert "abcdef123" not in out.read_text()
    plain = run(str(log), "-o", "-", "--unmasked")
    assert [json.loads(line)["kind"] for line in plain.stdout.splitlines()] == ["mcp/request", "mcp/response", "chat"]
    assert "abcdef123" in plain.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(["-o", "nowhere/out.jsonl"], "cannot be written"), (["-o", "-", "-Y", "kind =="], "kind ==")],
)
def test_the_command_says_what_is_wrong(arguments: list[str], said: str) -> None:
    done = run(str(log_file(lines_of(envelope()))), *arguments)
    assert done.exit_code == 2
    assert said in done.stderr


def test_the_command_does_not_overwrite_its_log() -> None:
    log = log_file(lines_of(envelope()))
    before = log.read_bytes()
    done = run(str(log), "-o", str(log))
    assert done.exit_code == 2
    assert log.read_bytes() == before
