"""Paths that lead to another computer, told by their letters on every system."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from inspector.base.network_shares import share_of
from inspector.document.source_list import read_source_list
from inspector.mcp_server.captures import CaptureNameError, Captures
from inspector.reading.files.source_reader import UnknownFormatError

SHARES = (
    r"\\evil.example\share\log.jsonl", "//evil.example/share/log.jsonl", r"/\evil.example/share/x",
    r"\\evil.example@80\x",
    r"\\?\UNC\evil.example\share\x", r"\\.\pipe\x", "//evil.example", r"\\EVIL.example/share/../x",
)  # fmt: skip


@pytest.mark.parametrize("path", SHARES)
def test_a_share_is_told_however_it_is_written(path: str) -> None:
    assert share_of(path).startswith("\\\\")
    assert share_of(path) == share_of(path.upper()) == share_of(path.replace("\\", "/"))


@pytest.mark.parametrize(
    "path", ["", "a.jsonl", "/var/log/a", r"C:\logs\a", "C:/a", "sub//a", r"a\\b", "./a", "http://x/a"]
)
def test_other_paths_lead_to_none(path: str) -> None:
    assert share_of(path) == ""


@pytest.mark.parametrize("path", [*SHARES, "\0//evil.example/share/x", "/\0/evil.example/share/x"])
@pytest.mark.parametrize("member", ["path", "parts"])
def test_a_list_that_names_a_share_is_not_opened(
    path: str, member: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even to ask whether it is there."""
    source = {"path": "a.jsonl", "parts": [path]} if member == "parts" else {"path": path}
    listed = tmp_path / "a.ctxsources"
    listed.write_text(json.dumps({"ctxsources": 1, "sources": [source]}))
    asked: list[str] = []
    stat = Path.stat
    monkeypatch.setattr(Path, "stat", lambda self, **options: asked.append(str(self)) or stat(self, **options))
    with pytest.raises(UnknownFormatError, match="is on another computer"):
        read_source_list(listed)
    assert not [one for one in asked if "evil" in one.lower() or "pipe" in one]


@pytest.mark.parametrize("name", SHARES)
def test_agents_cannot_have_a_share_asked_for(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.jsonl").write_text("{}")
    captures = Captures([tmp_path])
    monkeypatch.setattr(Path, "resolve", lambda _self: pytest.fail("it was looked for"))
    with pytest.raises(CaptureNameError, match="There is no capture"):
        captures.log(name)
