"""Agents ask about captures by the real client of the `mcp` package, in this process and over stdio."""

from __future__ import annotations

import gzip
import json
import os
import sqlite3
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError

from inspector.engine.log import Log
from inspector.engine.requests.log_facts import DescribeLog
from inspector.mcp_server import captures
from inspector.mcp_server.captures import Captures
from inspector.mcp_server.fence import identity_inside
from inspector.mcp_server.server import UNTRUSTED, server_of, without_lone_surrogates
from inspector.mcp_server.tools import TOOLS
from tests.builders import envelope, lines_of
from tests.commands import printed
from tests.unit.formats.test_opencode import database as open_code_database

LOOP = Path("tests/data/recordings/mcp-rune/01-loop-current-names.jsonl").resolve()


@asynccontextmanager
async def asking(*paths: Path) -> AsyncGenerator[Client]:
    """A client of a server over some files and folders."""
    with closing(Captures(paths)) as captures:
        async with Client(server_of(captures)) as client:
            yield client


async def answer(client: Client, tool: str, **arguments: Any) -> Any:
    """What a tool answers, without the sentence before it."""
    result = await client.call_tool(tool, arguments)
    text = text_of(result)
    assert not result.is_error, text
    found = json.loads(text)
    assert found["untrusted"] == UNTRUSTED
    return found["answer"]


async def refused(client: Client, tool: str, **arguments: Any) -> str:
    """What a tool says of a question it does not answer, which may name what was captured."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    found = json.loads(text_of(result))
    assert found["untrusted"] == UNTRUSTED
    return found["error"]


def write_log(path: Path, envelopes: list[dict[str, Any]]) -> Path:
    path.write_bytes(lines_of(*envelopes))
    return path


def text_of(result: Any) -> str:
    (content,) = result.content
    return content.text


async def test_answers_are_those_of_the_commands() -> None:
    async with asking(LOOP) as client:
        summary = await answer(client, "summary")
        commanded = json.loads(printed("summary", LOOP, "--json", "--tokens"))
        assert summary == commanded | {"file": LOOP.name}
        listed = await answer(client, "list", filter='kind == "mcp/response"', fields=["no", "tool", "state"])
        lines = printed("list", LOOP, "-Y", 'kind == "mcp/response"', "-e", "no,tool,state", "--format", "jsonl")
        assert listed == {"rows": [json.loads(line) for line in lines.splitlines()], "next": None}
        assert (await answer(client, "show", no=9)) == json.loads(printed("show", LOOP, 9, "--json"))
        found = await answer(client, "check")
        assert found["rows"] == json.loads(printed("check", LOOP, "--json"))
        sees, commanded = await answer(client, "model_sees"), json.loads(printed("model-sees", LOOP, "--json"))
        sees["entries"] = sees["entries"]["rows"]
        for entry in (*sees["entries"], *commanded["entries"]):
            entry["content"] = entry["content"][:200]  # the end of a long one is cut
        assert sees == commanded
        waste = await answer(client, "waste")
        assert waste | {"wastes": waste["wastes"]["rows"]} == json.loads(printed("waste", LOOP, "--json"))
        chain = (await answer(client, "chain", no=9))["chain"]
        assert [step["no"] for step in chain] == [
            step["no"] for step in json.loads(printed("show", LOOP, 9, "--json"))["chain"]
        ]
        assert chain[0]["relation"] == "asked"
        tokens = await answer(client, "tokens")
        assert tokens["estimated"]["total"] == summary["tokens"]["total"]


async def test_pages_follow_one_another_to_the_end() -> None:
    async with asking(LOOP) as client:
        numbers: list[int] = []
        offset: int | None = 0
        while offset is not None:
            found = await answer(client, "list", fields=["no"], limit=7, offset=offset)
            numbers += [row["no"] for row in found["rows"]]
            offset = found["next"]
        assert numbers == list(range(1, (await answer(client, "summary"))["messages"] + 1))


async def test_what_is_asked_wrongly_is_said(tmp_path: Path) -> None:
    async with asking(LOOP) as client:
        assert "kind" in await refused(client, "list", filter="kid == 3")
        assert "limit" in await refused(client, "list", limit=0)
        assert "Extra inputs" in await refused(client, "summary", capure="x")
        assert "There is no message 9999" in await refused(client, "show", no=9999)
        assert "There is no tool nope" in await refused(client, "nope")
        assert "client" in await refused(client, "model_sees", participant="nobody")
    (tmp_path / "a.jsonl").write_text("nothing\nknown\n")
    async with asking(tmp_path) as client:
        assert "captures" in await refused(client, "summary")
        assert "a.jsonl" in await refused(client, "summary", capture="a.jsonl")


async def test_only_what_was_named_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    for folder in (inside, outside):
        folder.mkdir()
        write_log(folder / "log.jsonl", [envelope()])
    (inside / "link.jsonl").symlink_to(outside / "log.jsonl")
    (inside / "folder").symlink_to(outside)
    (inside / "circle.jsonl").symlink_to(inside / "circle.jsonl")
    os.mkfifo(inside / "pipe.jsonl")
    for number, source in enumerate(("../outside/log.jsonl", str(outside / "log.jsonl"), "link.jsonl")):
        (inside / f"{number}.ctxsources").write_text(json.dumps({"ctxsources": 1, "sources": [{"path": source}]}))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(outside))
    monkeypatch.setenv("CODEX_HOME", str(outside))
    async with asking(inside) as client:
        names = [row["capture"] for row in (await answer(client, "captures"))["rows"]]
        assert names == ["log.jsonl"]
        resources = (await client.list_resources()).resources
        assert [resource.name for resource in resources] == names
        assert (await answer(client, "summary", capture="log.jsonl"))["messages"] == 1
        assert (await answer(client, "summary", capture="."))["messages"] == 1
        for name in (
            "link.jsonl", "folder/log.jsonl", "../outside/log.jsonl", str(outside / "log.jsonl"), "last", "..",
            "circle.jsonl", "pipe.jsonl", "/dev/zero", "a\0b", "x" * 5_000,
            "0.ctxsources", "1.ctxsources", "2.ctxsources",
        ):  # fmt: skip
            assert await refused(client, "summary", capture=name)
            with pytest.raises(MCPError):
                await client.read_resource(f"capture:///{name}")
        (contents,) = (await client.read_resource(str(resources[0].uri))).contents
        assert json.loads(getattr(contents, "text", ""))["answer"]["messages"] == 1
    async with asking(inside / "0.ctxsources") as client:  # it was named itself
        assert (await answer(client, "summary"))["messages"] == 1


@pytest.mark.parametrize("packed", [False, True])
async def test_a_link_that_is_swapped_in_while_a_log_is_read_gives_nothing_away(
    packed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    for folder, count in ((inside, 1), (outside, 3)):
        folder.mkdir()
        log = write_log(folder / "log.jsonl", [envelope() for _ in range(count)])
        if packed:
            (folder / "log.jsonl.gz").write_bytes(gzip.compress(log.read_bytes()))
    name = "log.jsonl.gz" if packed else "log.jsonl"
    log, kept, read, swaps = inside / name, tmp_path / "kept", captures._read, 0

    def swapped(path: Path, *, together: bool) -> Log:
        nonlocal swaps
        if path != log:
            return read(path, together=together)
        swaps += 1
        log.rename(kept)
        log.symlink_to(outside / name)
        opened = read(path, together=together)
        assert opened.answer_to(DescribeLog()).messages == 3
        log.unlink()
        kept.rename(log)
        return opened

    monkeypatch.setattr(captures, "_read", swapped)
    async with asking(inside) as client:
        if packed:
            assert (await answer(client, "summary", capture=name))["messages"] == 1
            assert [row["no"] for row in (await answer(client, "list", capture=name))["rows"]] == [1]
        else:
            assert "changed while it was read" in await refused(client, "summary", capture=name)
    assert swaps == 1


def test_a_link_on_any_level_is_opened_by_no_descriptor(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "log").write_text("x")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    (tmp_path / "a" / "other").symlink_to(tmp_path / "a" / "b" / "log")
    assert identity_inside(tmp_path, tmp_path / "a" / "b" / "log")[1] == (tmp_path / "a/b/log").stat().st_ino
    for name in ("link/b/log", "a/other"):
        with pytest.raises(OSError, match=r"symbolic links|Not a directory"):
            identity_inside(tmp_path, tmp_path / name)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (r'"\ud800"', r'"\ufffd"'), (r'"\uDC00x\ud83d"', r'"\ufffdx\ufffd"'), (r'"\ud83d\ude00"', r'"\ud83d\ude00"'),
        (r'"\\ud800"', r'"\\ud800"'), (r'"\\\ud800"', r'"\\\ufffd"'), ('"é"', '"é"'),
    ],
)  # fmt: skip
def test_halves_of_characters_are_replaced(written: str, read: str) -> None:
    assert without_lone_surrogates(written) == read


async def test_a_log_that_was_written_to_is_read_anew(tmp_path: Path) -> None:
    log = write_log(tmp_path / "log.jsonl", [envelope()])
    async with asking(log) as client:
        assert (await answer(client, "summary"))["messages"] == 1
        write_log(log, [envelope(), envelope(), envelope()])
        assert (await answer(client, "summary"))["messages"] == 3


async def test_sessions_of_a_database_are_asked_about(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(variable, str(tmp_path / "none"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    (tmp_path / "opencode").mkdir()
    path = open_code_database(tmp_path / "opencode" / "opencode.db")
    async with asking() as client:
        name = (await answer(client, "captures"))["rows"][0]["capture"]
        before = (await answer(client, "summary", capture=name))["messages"]
        assert before > 1
        assert (await answer(client, "summary", capture="last"))["messages"] == before
        with closing(sqlite3.connect(path)) as written, written:
            told = [
                name.removeprefix("session:"),
                json.dumps({"role": "user"}),
                json.dumps({"type": "text", "text": "Go"}),
            ]
            written.execute("INSERT INTO message VALUES ('msg_z', ?, 1, ?)", told[:2])
            written.execute("INSERT INTO part VALUES ('prt_z', ?, 1, ?, 'msg_z')", (told[0], told[2]))
        assert (await answer(client, "summary", capture=name))["messages"] > before


async def test_a_secret_in_a_file_name_is_masked_and_the_masked_name_opens_the_log(tmp_path: Path) -> None:
    secret = "plantedValue0123"
    write_log(tmp_path / f"token={secret}.jsonl", [envelope("chat", {"text": "in here"})])
    write_log(tmp_path / "other.jsonl", [envelope("chat", {"text": "elsewhere"})])
    async with asking(tmp_path) as client:
        listed = await answer(client, "captures")
        assert secret not in json.dumps(listed)
        (name,) = (row["capture"] for row in listed["rows"] if row["capture"] != "other.jsonl")
        rows = await answer(client, "list", capture=name)
        assert "in here" in json.dumps(rows)
        # Two files with one masked name are told apart by neither.
        write_log(tmp_path / "token=plantedValue4567.jsonl", [])
        assert "no capture" in await refused(client, "list", capture=name)


async def test_sessions_outside_of_a_folder_are_not_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "outside"))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "outside"))
    (tmp_path / "inside").mkdir()
    places = [tmp_path / "outside" / "projects" / name for name in ("a", "b")]
    for place in places:
        place.mkdir(parents=True)
        record = {"type": "user", "sessionId": "0000aaaa", "timestamp": "2026-01-05T09:00:00Z",
                  "message": {"role": "user", "content": "hidden"}}  # fmt: skip
        (place / "0000aaaa.jsonl").write_text(json.dumps(record) + "\n")
    async with asking(tmp_path / "inside") as client:
        for name in ("session:0000aaaa", "session:0000", "session:nowhere", "last"):
            said = await refused(client, "list", capture=name)
            assert said == f"There is no capture {name}: `captures` lists them."


async def test_answers_are_small_and_hold_no_secret(tmp_path: Path) -> None:
    secret = "sk-ant-api03-" + "abcDEF0123456789" * 3
    long = [envelope(payload={"text": f"{secret} " + "many words " * 2_000}) for _ in range(30)]
    log = write_log(tmp_path / "log.jsonl", long)
    async with asking(log) as client:
        for tool, arguments in (
            ("list", {"fields": ["no", "text", "payload.text"], "limit": 200}), ("show", {"no": 3}),
            ("model_sees", {}), ("check", {}), ("summary", {}), ("chain", {"no": 3}),
        ):  # fmt: skip
            text = text_of(await client.call_tool(tool, arguments))
            assert secret not in text
            assert len(text) < 45_000


async def test_tools_only_read_and_say_what_they_take() -> None:
    async with asking(LOOP) as client:
        declared = (await client.list_tools()).tools
        assert [tool.name for tool in declared] == [tool.name for tool in TOOLS]
        assert all(tool.annotations is not None and tool.annotations.read_only_hint for tool in declared)
        assert all(tool.description and tool.input_schema["type"] == "object" for tool in declared)
        assert UNTRUSTED in (client.instructions or "")


@pytest.mark.real
async def test_over_stdio() -> None:
    started = StdioServerParameters(command=sys.executable, args=["-m", "inspector", "mcp", str(LOOP)])
    async with Client(stdio_client(started)) as client:
        assert (await answer(client, "summary", capture=LOOP.name))["format"] == "wrapped"


@pytest.mark.real
async def test_a_question_with_half_a_character_is_answered() -> None:
    command = [sys.executable, "-m", "inspector", "mcp", str(LOOP)]
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    asked = [
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}),
        r'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"summary","arguments":{"capture":"\ud800"}}}',
    ]
    async with await anyio.open_process(command) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        await process.stdin.send("".join(f"{line}\n" for line in asked).encode())
        told = b""
        with anyio.fail_after(60):
            while told.count(b"\n") < 2:
                told += await process.stdout.receive()
        await process.stdin.aclose()
    assert "There is no capture " in json.loads(told.splitlines()[1])["result"]["content"][0]["text"]
