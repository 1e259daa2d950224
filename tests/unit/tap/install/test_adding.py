from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from inspector.formats.clients import Client
from inspector.tap.install.adding import planned_entry
from inspector.tap.install.changes import RefusedError, applied
from inspector.tap.install.clients import client_named, read_config
from tests.commands import asked


def client(name: str) -> Client:
    found = client_named(name)
    assert found is not None
    return found


JSON = [
    "", "{}", "{ }", '{"mcpServers": {}}', '{"a": 1}', '{"mcpServers": {"one": {"command": "x"}}}',
    '{\r\n\t"mcpServers": {\r\n\t\t"one": { "command": "x", "args": [] }, // mine\r\n\t},\r\n\t"b": [1, 2,],\r\n}\r\n',
    '\ufeff{\n  "a": {"b": "c"} /* last */\n}\n',
]  # fmt: skip
TOML = [
    "", 'model = "x"', 'model = "x"\n[mcp_servers.one]\ncommand = "y"\n', "[a]\r\nb = 1 # mine\r\n\r\n",
    "[mcp_servers]\n[mcp_servers.one]\ncommand = 'y'",
]  # fmt: skip


@pytest.mark.parametrize("text", JSON)
def test_an_entry_is_put_into_json(tmp_path: Path, text: str) -> None:
    file = tmp_path / "mcp.json"
    file.write_bytes(text.encode())
    cursor = client("cursor")
    change = planned_entry(cursor, "inspector", ["mcp", "taps"], file)
    after = change.after.decode()
    plain = read_config(cursor, after).plain
    entry = plain["mcpServers"]["inspector"]
    assert entry["args"][-2:] == ["mcp", "taps"]
    kept = after.replace("\ufeff", "")
    for piece in ("// mine", "/* last */", '"one": {', "[1, 2,]"):
        assert (piece in text) == (piece in kept)
    assert applied(change) is not None
    with pytest.raises(RefusedError, match="already"):
        planned_entry(cursor, "inspector", ["mcp"], file)


@pytest.mark.parametrize("text", TOML)
def test_an_entry_is_put_into_toml(tmp_path: Path, text: str) -> None:
    file = tmp_path / "config.toml"
    file.write_bytes(text.encode())
    after = planned_entry(client("codex"), "inspector", ["mcp"], file).after.decode()
    assert after.startswith(text)
    assert tomllib.loads(after)["mcp_servers"]["inspector"]["args"][-1] == "mcp"


@pytest.mark.parametrize(
    ("name", "text"),
    [("cursor", "[1]"), ("cursor", '{"mcpServers": []}'), ("cursor", '{"a": 1, "a": 2}'), ("cursor", "{"),
     ("codex", "mcp_servers = { one = { command = 'x' } }"), ("codex", "a = ")],
)  # fmt: skip
def test_what_cannot_be_added_to_safely_is_left_alone(tmp_path: Path, name: str, text: str) -> None:
    file = tmp_path / "config"
    file.write_text(text)
    with pytest.raises(RefusedError):
        planned_entry(client(name), "inspector", ["mcp"], file)
    with pytest.raises(RefusedError, match="not a valid server name"):
        planned_entry(client(name), "in spector", ["mcp"], file)


def test_as_it_is_typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.chdir(tmp_path)
    refused = asked("mcp", "install", "cursor", "--yes")
    assert refused.exit_code == 2
    assert "was not found" in refused.output
    assert "claude mcp add -s user" in asked("mcp", "install", "claude-code", "--yes").output
    (tmp_path / ".cursor").mkdir()
    shown = asked("mcp", "install", "cursor", "--dry-run")
    assert "+ args:" in shown.output
    assert not (tmp_path / ".cursor" / "mcp.json").exists()
    made = asked("mcp", "install", "cursor", tmp_path, stdin="y\n")
    assert made.exit_code == 0, made.output
    entry = json.loads((tmp_path / ".cursor" / "mcp.json").read_text())["mcpServers"]["context-inspector"]
    assert entry["args"][-2:] == ["mcp", str(tmp_path)]
    project = asked("mcp", "install", "claude-code", "--file", ".mcp.json", "--yes")
    assert project.exit_code == 0, project.output
    assert "context-inspector" in (tmp_path / ".mcp.json").read_text()
