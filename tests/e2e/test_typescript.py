"""Clients of both TypeScript SDKs, and official servers, through both taps; left out where there is no Node.js."""

from __future__ import annotations

import asyncio
import json
import shutil
import socket
import subprocess
import sys
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.bench.http_tap import tapping
from tests.commands import printed
from tests.conftest import MS

pytestmark = [pytest.mark.real, pytest.mark.timeout(300)]

HERE = Path(__file__).parent / "typescript"
TAP = (sys.executable, "-m", "inspector", "tap", "-o")
_INSTALL_S, _START_S = 200, 30_000 * MS


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTEXT_INSPECTOR_HOME", str(tmp_path / "home"))


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the SDKs, the servers and the client."""
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        pytest.skip("there is no Node.js")
    folder = tmp_path_factory.mktemp("typescript")
    for file in HERE.iterdir():
        shutil.copy(file, folder)
    options = ("--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
    with suppress(subprocess.TimeoutExpired):
        if subprocess.run([npm, "install", *options], cwd=folder, timeout=_INSTALL_S, check=False).returncode == 0:
            return folder
    pytest.skip("the packages cannot be had")


def official(packages: Path, name: str) -> list[str]:
    """The command of an official server."""
    return ["node", str(packages / "node_modules" / "@modelcontextprotocol" / f"server-{name}" / "dist" / "index.js")]


def asked(packages: Path, sdk: str, *target: str) -> dict[str, object]:
    """What a client of one of the SDKs was told."""
    command = ["node", "client.mjs", sdk, *target]
    done = subprocess.run(command, cwd=packages, capture_output=True, text=True, timeout=_START_S, check=True)
    return json.loads(done.stdout)


def assert_is_quiet(capture: Path, tool: str = "echo") -> None:
    """One call of a tool was recorded, and nothing was found."""
    told = json.loads(printed("summary", capture, "--json"))
    assert (told["tool_counts"], told["unreadable"]) == ({tool: 1}, 0)
    assert told["calls"] == {"tools": 1, "answered": 1, "failed": 0, "unanswered": 0, "rejected": 0}
    assert json.loads(printed("check", capture, "--json")) == []


def test_a_client_of_either_sdk_starts_a_server_behind_the_tap(packages: Path, tmp_path: Path) -> None:
    server = [*official(packages, "everything"), "stdio"]
    told = asked(packages, "1", *TAP, str(tmp_path / "one.ctxcap"), "--", *server)
    assert told["said"] == "Echo: tide"
    assert_is_quiet(tmp_path / "one.ctxcap")
    assert asked(packages, "2", *TAP, str(tmp_path / "two.ctxcap"), "--", *server) == told
    assert_is_quiet(tmp_path / "two-2.ctxcap")  # its first start only asks whether the server knows 2026-07-28
    assert json.loads(printed("check", tmp_path / "two.ctxcap", "--json")) == []


def test_a_client_in_python_asks_an_official_server(packages: Path, tmp_path: Path) -> None:
    capture = tmp_path / "files.ctxcap"
    command = [*TAP, str(capture), "--", *official(packages, "filesystem"), str(tmp_path)]

    async def talk() -> str:
        async with Client(stdio_client(StdioServerParameters(command=command[0], args=command[1:]))) as client:
            await client.list_tools()
            result = await client.call_tool("list_directory", {"path": str(tmp_path)})
            return result.content[0].text  # pyright: ignore[reportAttributeAccessIssue]

    assert "files.ctxcap" in asyncio.run(talk())
    assert_is_quiet(capture, "list_directory")


@pytest.fixture
def address(packages: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[str]:
    """Of an official server over HTTP."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    monkeypatch.setenv("PORT", str(port))
    command = [*official(packages, "everything"), "streamableHttp"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            while "listening" not in (line := server.stderr.readline().lower()):
                assert line, "the server has ended"
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            server.kill()


def test_clients_of_both_sdks_reach_an_official_server_over_http(packages: Path, address: str, tmp_path: Path) -> None:
    for sdk in ("1", "2"):
        capture = tmp_path / f"{sdk}.ctxcap"
        with tapping(address, capture) as (tapped, _):
            assert asked(packages, sdk, tapped)["said"] == "Echo: tide"
        assert_is_quiet(capture)
