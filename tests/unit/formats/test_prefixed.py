"""Lines with a time, a process or a level before a message, as programs, containers and services log them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from inspector.analysis.views.account.tool_calls import tool_calls
from inspector.base.slices import run_to_end
from inspector.document.summary import summary
from inspector.filters.fields import FIELD_BY_NAME
from inspector.formats.line_reading import read_line, read_line_as
from inspector.protocol.record import Shape
from inspector.protocol.timestamps import NO_TIME, format_time
from inspector.reading.files.source_reader import UnknownFormatError
from tests.builders import document_at, log_file
from tests.pages import ROOT

CHAT = '{"kind":"chat","id":"c1","from":"lead","payload":{"text":"say \\"{\\" twice"}}'
CALL = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
NINE = "2026-01-05T09:00:00.000Z"


@pytest.mark.parametrize(
    ("prefix", "time"),
    [
        ("2026-01-05T09:00:00.000000001Z ", "2026-01-05T09:00:00.000000001Z"),  # docker logs -t
        ("gateway-1  | ", None),  # docker compose logs
        ("2026-01-05T09:00:00.000000000Z stdout F ", NINE),  # Kubernetes
        ("0|gateway  | ", None),  # pm2 logs
        ("0|gateway  | 2026-01-05T09:00:00: ", NINE),
        ("Jan 05 09:00:00 host mew[1234]: ", None),  # journalctl
        ("2026-01-05T10:00:00+0100 host mew[1234]: ", NINE),
        ("[2026-01-05T09:00:00.000Z] ", NINE),
        ("2026-01-05 09:00:00,250 INFO mcp.client received ", "2026-01-05T09:00:00.250Z"),
        ("data: ", None),  # server-sent events
        ("data:", None),
        ("< ", None),
        ("\x1b[32m", None),
        ("expected { but got: ", None),
    ],
)
def test_what_stands_before_a_message_is_passed_over(prefix: str, time: str | None) -> None:
    record, known_as = read_line_as((prefix + CHAT).encode())
    assert (record.shape, record.raw, known_as) == (Shape.ENVELOPE, CHAT.encode(), "prefixed")
    assert format_time(record.time_ns) == time


@pytest.mark.parametrize("behind", [" { metadata: undefined }", "\x1b[0m", "  ", " (12 ms)"])
def test_what_stands_behind_it_too(behind: str) -> None:
    record = read_line((f"{NINE} [info] " + CHAT + behind).encode())
    assert (record.shape, record.raw) == (Shape.ENVELOPE, CHAT.encode())


@pytest.mark.parametrize(
    "line",
    [
        '{"timestamp":"2026-01-05T09:00:00Z","event":"received","envelope":' + CHAT + ',"direct',  # torn at its end
        'eived","envelope":' + CHAT + ',"direction":"inbound"}',  # and at its beginning
        ":" + CHAT + ',"direction":"inbound"}',
        "[{" + CHAT,
        '["a", ' + CHAT,
        '2026-01-05T09:00:00Z ERROR failed {"error":"ECONNREFUSED"}',  # a program's own
        '2026-01-05T09:00:00Z INFO listening {"port":8080}',
        'I0105 09:00:00 controller.go:114] created {"kind":"Pod","id":"a"}',
        '2026-01-05T09:00:00Z INFO request {"method":"GET","path":"/"}',
        '2026-01-05T09:00:00Z {"event":"startup","timestamp":"2026-01-05T09:00:00Z"}',
        "2026-01-05T09:00:00Z INFO sent { kind: 'chat' }",
        "2026-01-05T09:00:00Z INFO " + CHAT[:-2],
        "x" * 600 + CHAT,
        'INFO "quoted" ' + CHAT,
        f"{NINE} {CHAT}{NINE} {CHAT}",  # one of the two would be lost
    ],
)
def test_what_may_be_a_piece_of_something_else_is_no_message(line: str) -> None:
    assert read_line(line.encode()).shape is Shape.UNREADABLE


@pytest.mark.parametrize(
    "line", [b"event: message", b"id: 17", b"id:", b"retry: 3000", b": ping - 2026-01-05", b":ping"]
)
def test_lines_of_an_event_stream_beside_its_data_are_no_records(line: bytes) -> None:
    assert read_line(line).shape is Shape.NO_MESSAGE


@pytest.mark.parametrize("line", [b":", b": anything", b"event loop: slow", b"id: 3, closed"])
def test_other_words_are_shown(line: bytes) -> None:
    assert read_line(line).shape is Shape.UNREADABLE


def test_a_client_says_whose_message_it_was() -> None:
    asked = read_line(f"{NINE} [info] [files] Message from client: {CALL}".encode())
    answered = read_line(f"{NINE} [files] [info] Message from server: {CALL} {{ metadata: undefined }}".encode())
    other = read_line(f"{NINE} [info] [git] Message from client: {CALL}".encode())
    assert (asked.direction, answered.direction) == ("client->files", "files->client")
    assert asked.src == answered.src != other.src


def test_servers_in_one_log_keep_their_answers_apart() -> None:
    def line(server: str, way: str, **message: object) -> bytes:
        return f"{NINE} [info] [{server}] Message from {way}: {json.dumps({'jsonrpc': '2.0', **message})}\n".encode()

    def called(server: str, tool: str) -> bytes:
        return line(server, "client", id=2, method="tools/call", params={"name": tool})

    lines = [
        called("files", "read_file"),
        called("git", "git_log"),
        line("files", "server", id=2, result={"content": []}),
        line("git", "server", id=2, result={"content": []}),
    ]
    document = document_at(log_file(b"".join(lines)))
    field = FIELD_BY_NAME["tool"]
    tools = [field.value(document.analysis, row) for row in range(4)]
    assert (document.format, tools) == ("prefixed", ["read_file", "git_log", "read_file", "git_log"])


@pytest.mark.parametrize(
    ("line", "time"),
    [
        ({"log": CHAT + "\n", "stream": "stdout", "time": NINE}, NINE),  # Docker's own files
        ({"__REALTIME_TIMESTAMP": "1767603600000000", "PRIORITY": "6", "MESSAGE": CHAT}, NINE),  # journalctl -o json
        ({"level": 30, "time": 1767603600000, "msg": CHAT}, NINE),
        ({"log": f"[{NINE}] [info] {CHAT}\n", "stream": "stdout"}, NINE),
    ],
)
def test_services_wrap_lines_in_json(line: dict[str, object], time: str) -> None:
    record, known_as = read_line_as(json.dumps(line).encode())
    assert (record.shape, known_as, format_time(record.time_ns)) == (Shape.ENVELOPE, "wrapped", time)


def test_a_long_line_is_read_and_a_torn_one_is_not() -> None:
    long = json.dumps({"kind": "chat", "payload": {"text": "x" * (1 << 20)}})
    assert read_line(f"gateway-1 | {long}".encode()).shape is Shape.ENVELOPE
    assert read_line(f"gateway-1 | {long[:-1]}".encode()).shape is Shape.UNREADABLE
    assert read_line(f"gateway-1 | {long}".encode()).time_ns == NO_TIME


def test_a_line_in_brackets_makes_no_array(tmp_path: Path) -> None:
    path = tmp_path / "gateway.log"
    path.write_text(f"[{NINE}] Starting\n[{NINE}] {CHAT}\n", encoding="utf-8")
    document = document_at(path)
    assert (document.format, len(document.capture), document.unreadable) == ("prefixed", 2, 1)


@pytest.mark.parametrize(
    ("name", "people", "calls", "failures", "unreadable"),
    [
        ("cd-inspect", ["client", "pantry"], [], 1, 0),  # a server that disconnects
        ("cd-two-servers", ["client", "garden", "pantry"], ["count_jars", "count_beds"], 1, 0),
        ("vscode-mcp", ["client", "server"], ["count_jars"], 1, 0),
    ],
)
def test_logs_of_clients_name_servers_and_directions(
    name: str, people: list[str], calls: list[str], failures: int, unreadable: int
) -> None:
    document = document_at(ROOT / f"tests/data/mcp_logs/{name}.log")
    found = summary(document, "x")
    assert sorted(found["participants"]) == people
    assert list(tool_calls(document.analysis).by_tool) == calls
    assert (document.capture.failed_count, document.unreadable) == (failures, unreadable)
    assert document.format == "prefixed"


def test_a_log_whose_messages_have_no_content_is_refused(tmp_path: Path) -> None:
    redacted = ROOT / "tests/data/mcp_logs/cd-redacted.log"
    with pytest.raises(UnknownFormatError, match=r"^cd-redacted\.log is a log of Claude Desktop that has no messages"):
        document_at(redacted)
    other = tmp_path / "other.log"
    swapped = redacted.read_text().replace("[info] [vault]", "[vault] [info]")
    other.write_text(swapped)
    with pytest.raises(UnknownFormatError, match="a log of Claude Desktop that has no messages in it"):
        document_at(other)
    other.write_text(swapped + f"2026-07-22T20:23:55Z [vault] [info] Message from client: {CALL}\n")
    document = document_at(other)
    assert (len(document.capture), document.unreadable) == (7, 0)
    assert document.capture.string("method", 6) == "tools/list"
    lost = "2026-07-22T20:23:55Z [vault] [error] Server disconnected.\n"
    other.write_text(swapped + lost)
    document = document_at(other)
    run_to_end(document.postponed_checks())
    assert document.capture.failed_count == 1
    assert "mcp-server-lost" in document.analysis.findings.found.counts()


BRIDGED = """\
[4242] Using automatically selected callback port: 9553
[4242] [4242] Connecting to remote server: https://mcp.example/mcp
[4242] Proxy established successfully between local STDIO and remote StreamableHTTPClientTransport
[4242] [Local→Remote] initialize
[4242] {
  "jsonrpc": "2.0",
  "id": 0
}
[4242] [Remote→Local] 0
[4242] Error from remote server: Error: closed
    at SSEClientTransport (file:///w/index.js:1:2)
"""


def test_a_log_of_a_bridge(tmp_path: Path) -> None:
    path = tmp_path / "bridge.log"
    path.write_text(BRIDGED, encoding="utf-8")
    document = document_at(path)
    assert (len(document.capture), document.unreadable, document.capture.failed_count) == (6, 0, 1)
    senders = [document.capture.string("sender", row) for row in range(6)]
    assert senders == ["server", "server", "server", "client", "server", "server"]
    path.write_text(
        "".join(line for line in BRIDGED.splitlines(keepends=True) if "Error" not in line), encoding="utf-8"
    )
    with pytest.raises(UnknownFormatError, match=r"^bridge\.log is a log of mcp-remote that has no messages in it"):
        document_at(path)


EDITED = """\
2026-03-01 08:00:00.000 [info] Starting server from LocalProcess extension host
2026-03-01 08:00:00.001 [info] Connection state: Starting
2026-03-01 08:00:00.190 [warning] [server stderr] Traceback (most recent call last):
  File "kite.py", line 3
2026-03-01 08:00:00.200 [info] Connection state: Error Process exited with code 1
2026-03-01 08:00:00.200 [error] Server exited before responding to `initialize` request.
"""


def test_a_server_that_ends_at_its_start_in_an_editor(tmp_path: Path) -> None:
    path = tmp_path / "editor.log"
    path.write_text(EDITED, encoding="utf-8")
    document = document_at(path)
    run_to_end(document.postponed_checks())
    assert (len(document.capture), document.unreadable, document.capture.failed_count) == (5, 0, 2)
    assert document.analysis.findings.found.counts() == {"mcp-server-lost": 1}


def test_an_arrow_between_a_program_and_a_remote_server_is_a_direction() -> None:
    record = read_line(f"[4242] Local→Remote message: {CALL}".encode())
    assert record.direction == "client->server"
    assert read_line(f"[4242] [Remote→Local] {CALL}".encode()).direction == "server->client"


_EVENTS: tuple[dict[str, object], ...] = (
    {"type": "message_start", "message": {
        "id": "msg_k1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "content": [],
        "usage": {"input_tokens": 12, "output_tokens": 1}}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Three\nkites."}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 9}},
    {"type": "message_stop"},
)  # fmt: skip


@pytest.mark.parametrize("named", [True, False], ids=["named", "unnamed"])
@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_data_of_an_event_over_several_lines_is_read_as_on_one(named: bool, end: str) -> None:
    figures = []
    for indent in (None, 2):
        text = ""
        for event in _EVENTS:
            lines = json.dumps(event, indent=indent).splitlines()
            text += f"event: {event['type']}{end}" if named else ""
            text += "".join(f"data: {line}{end}" for line in lines) + end
        told = summary(document_at(log_file(text.encode())), "")
        figures.append({key: told[key] for key in ("format", "messages", "unreadable", "kinds", "usage", "models")})
    assert figures[0] == figures[1]
    assert figures[0]["usage"] == {"input": 12, "output": 9, "cache_read": 0, "cache_write": 0}


def test_data_over_several_lines_that_is_no_json_stays_visible() -> None:
    document = document_at(log_file(f"data: {{\ndata:  torn\n\ndata: {CHAT}\n".encode()))
    assert [document.capture.records.envelope_id(row) for row in range(len(document.capture))] == [None, "c1"]
