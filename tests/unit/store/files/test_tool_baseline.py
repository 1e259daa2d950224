"""Live taps remember what servers list; a log is held against that only where it is asked for."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from inspector.document.document import CaptureDocument
from inspector.store.files.tool_baseline import FILE_NAME, baseline_path, read_baseline
from inspector.tap.capture_file import TapCapture
from tests.commands import printed
from tests.mcp_lines import hello, listed, tool

CODE = "mcp-tool-changed-since-last-time"


def written(path: Path, *tools: Any, version: str = "1", ends: bool = True) -> Path:
    """The capture of a tap whose server lists some tools."""
    capture = TapCapture(path, origin=lambda: {"source": "tap"}, say=lambda _: None)
    capture.write()
    for line in (*hello(), *listed(1, 1, *tools)):
        message = line["message"]
        if "serverInfo" in message.get("result", {}):
            message["result"]["serverInfo"]["version"] = version
        capture.frame(json.dumps(message, separators=(",", ":")), direction=line["dir"], time_ns=time.time_ns())
    if ends:
        capture.finish("the client closed the connection")
    else:
        capture.write(at_once=True)
    capture.release()
    return path


def codes(path: Path, *arguments: str) -> list[str]:
    return [one["code"] for one in json.loads(printed("check", path, "--json", *arguments)) if one["code"] == CODE]


def test_what_a_tap_remembers_is_asked_for_by_name(tmp_path: Path) -> None:
    first = written(tmp_path / "first.ctxcap", tool(), tool("other"))
    assert read_baseline()["harbour"].tools.keys() == {"weigh", "other"}
    assert b"Weighs" not in baseline_path().read_bytes()
    assert codes(first, "--baseline") == []
    changed = tmp_path / "changed.ctxcap"
    written(changed, tool(description="Weighs, and tells all."), ends=False)
    assert codes(changed) == []
    assert codes(changed, "--baseline") == [CODE]
    date = read_baseline()["harbour"].listed_at[:10]
    assert len(date) == len("2026-01-05")
    assert f"Since {date} `weigh` changed: description" in printed("check", changed, "--baseline")
    newer = written(tmp_path / "newer.ctxcap", tool(description="Weighs anew."), version="2", ends=False)
    assert codes(newer, "--baseline") == []
    stored = baseline_path().read_bytes()
    assert codes(changed, "--baseline") == []  # another version since
    assert baseline_path().read_bytes() == stored
    assert read_baseline()["harbour"].before is not None


def test_what_a_server_prints_is_told_once_in_the_capture_of_a_tap(tmp_path: Path) -> None:
    path = tmp_path / "noise.ctxcap"
    capture = TapCapture(path, origin=lambda: {"source": "tap"}, say=lambda _: None)
    capture.write()
    for line in ("starting up", *(json.dumps(one["message"]) for one in hello()), "ready", '{"level":"info"}'):
        way = "client->server" if '"method"' in line else "server->client"
        capture.frame(line, direction=way, time_ns=time.time_ns())
    capture.finish("the client closed the connection")
    capture.release()
    assert [(one["code"], one["no"], one["text"]) for one in json.loads(printed("check", path, "--json"))] == [
        ("mcp-stdout-noise", 1, "“starting up” in place of a message (3 lines)."),
    ]  # fmt: skip


def test_a_running_tap_is_held_against_it_and_an_ended_one_is_not(tmp_path: Path) -> None:
    written(tmp_path / "first.ctxcap", tool())
    running = written(tmp_path / "running.ctxcap", tool(title="Scales"), ends=False)
    assert found_following(running) == 1  # what it has written down itself is not held against it
    ended = written(tmp_path / "ended.ctxcap", tool(title="Heavy scales"))
    assert found_following(ended) == 0


def found_following(path: Path) -> int:
    document = CaptureDocument()
    for _ in document.open_log(path, follow=True):
        pass
    try:
        return document.analysis.findings.found.counts().get(CODE, 0)
    finally:
        document.close()


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"version":2,"servers":{}}', b'{"version":1,"servers":{"a":7}}'])
def test_a_damaged_file_knows_nothing(data: bytes) -> None:
    baseline_path().write_bytes(data)
    assert read_baseline() == {}
    assert baseline_path().name == FILE_NAME
