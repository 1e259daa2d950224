"""A tap put into every shape of a client's configuration, and taken out again: every other byte stays."""

from __future__ import annotations

import json
import os
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from inspector.formats.table import CLIENTS
from inspector.tap.install.changes import Change, RefusedError, Server, applied, planned, servers_of
from inspector.tap.install.clients import client_named, read_config
from inspector.tap.install.entries import own_command

TAPPED = [*own_command()[1:], "tap", "-o"]

JSON = {
    "plain": '{\n  "mcpServers": {\n    "records": {\n      "command": "npx",\n      "args": ["-y", "@example/a"],\n'
    '      "env": { "API_KEY": "planted-secret-1" }\n    }\n  }\n}\n',
    "one line": '{"mcpServers":{"records":{"command":"npx","args":["-y"],"env":{"K":"planted-secret-1"}}},"o":1.50}',
    "no arguments": '{\n\t"mcpServers": {"records": {"command": "C:\\\\srv\\\\run.cmd"}, "b": {"command": "x"}}}',
    "an empty list": '{"mcpServers": {"records": {"command": "run", "args": []}}}',
    "empty arguments": '{"mcpServers": {"records": {"args": [ ], "command": "run"}}}',
    "lines": '{"mcpServers": {"records": {"command": "npx", "args": [\n  // why\n  "-y", // yes\n  "x",\n]}}}',
    "comments": '// mine\n{ /* all */ "mcpServers": { // servers\n "records": { "type": "stdio",\n'
    ' "command": "npx" /* ! */, "args": ["a"], }, }, }\n// end',
    "byte order mark": '\ufeff{"mcpServers": {"records": {"command": "npx", "args": ["a", "ü", "\\u00fc"]}}}\r\n',
    "carriage returns": '{\r\n "mcpServers": {\r\n  "records": {\r\n "command": "npx",\r\n "args": []\r\n  }\r\n}\r\n}',
    "separator": '{"mcpServers": {"records": {"command": "npx", "args": ["a", "--", "b"]}}}',
    "odd names": '{"mcpServers": {"a.b\\"c": {"command": "x"}, "records": {"command": "y", "unknown": [null, -1e3]}}}',
}  # fmt: skip
TOML = {
    "table": '# mine\nmodel = "x"\n\n[mcp_servers.records]\ncommand = "npx" # run\nargs = ["-y", "@example/server"]\n'
    'startup_timeout_sec = 20\n\n[mcp_servers.records.env]\nAPI_KEY = "planted-secret-1"\n[mcp_servers.b]\nurl = "x"\n',
    "literal": "[mcp_servers.records]\nargs = ['a', 'b c',\n  # why\n  'd',\n]\ncommand = 'C:\\srv\\run.exe'\n",
    "no arguments": '[mcp_servers.records]\ncommand = "run"\n[[other]]\na = 1\n[[other]]\na = 2\n',
    "inline": 'mcp_servers.records = { command = "run", env = { K = "v" } }\n',
    "inline in a table": '[mcp_servers]\nrecords = { command = "run", args = [] }\n"b.c" = { url = "https://x/" }\n',
    "carriage returns": '[mcp_servers.records]\r\ncommand = "npx"\r\n\r\n[history]\r\nwhen = 1979-05-27T07:32:00Z\r\n',
    "multi-line": '[mcp_servers.records]\ncommand = """npx"""\nargs = ["""a\nb""", \'\'\'c\'\'\']\n[x."y z"]\n1 = 2\n',
    "byte order mark": '\ufeff[mcp_servers.records]\ncommand = "npx"\n',
}  # fmt: skip


def shapes() -> list[Any]:
    found = [pytest.param(c.name, JSON[s].replace("mcpServers", c.key), id=f"{c.name}: {s}")
             for c in CLIENTS if c.name != "codex" for s in JSON]  # fmt: skip
    return found + [pytest.param("codex", text, id=f"codex: {shape}") for shape, text in TOML.items()]


def server_in(client: str, file: Path, name: str = "records") -> Server:
    known = client_named(client)
    assert known is not None
    found = servers_of((known,), file)
    assert not found.troubles
    return next(one for one in found.servers if one.name == name)


def change_of(client: str, file: Path, folder: Path, *, install: bool = True) -> Change:
    return planned(server_in(client, file), folder, install=install)


def read(client: str, file: Path) -> dict[str, Any]:
    known = client_named(client)
    assert known is not None
    return read_config(known, file.read_bytes().decode()).plain


@pytest.mark.parametrize(("client", "text"), shapes())
def test_a_tap_is_put_in_and_taken_out_and_the_file_is_as_it_was(client: str, text: str, tmp_path: Path) -> None:
    file, folder = tmp_path / "config", tmp_path / "taps"
    file.write_bytes(text.encode())
    before = read(client, file)
    change = change_of(client, file, folder)
    assert file.read_bytes() == text.encode(), "nothing is changed by a plan"
    assert not any("planted" in line for line in change.lines)
    backup = applied(change)
    assert backup is not None
    assert backup.read_bytes() == text.encode()
    assert backup.stat().st_mode & 0o777 == 0o600
    after = read(client, file)
    (key,) = {"mcpServers", "servers", "mcp_servers"} & after.keys()
    entry, old = after[key].pop("records"), before[key].pop("records")
    assert after == before, "nothing else is changed"
    command, arguments = entry.pop("command"), entry.pop("args")
    assert command == own_command()[0]
    assert arguments == [*TAPPED, f"{folder}{os.sep}", "--", old.pop("command"), *old.pop("args", [])]
    assert entry == old, "nothing else of the entry is changed"
    again = server_in(client, file)
    assert again.form.tapped
    applied(planned(again, folder, install=False))
    assert file.read_bytes() == text.encode()


def test_an_appimage_is_named_by_its_own_path_not_by_its_mount(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    file, text = tmp_path / "config", JSON["plain"]
    file.write_text(text, "utf-8")
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "executable", "/tmp/.mount_x/usr/lib/context-inspector/context-inspector")
    monkeypatch.setenv("APPDIR", "/tmp/.mount_x")
    monkeypatch.setenv("APPIMAGE", "/home/ann/Inspector.AppImage")
    applied(change_of("cursor", file, tmp_path))
    assert read("cursor", file)["mcpServers"]["records"]["command"] == "/home/ann/Inspector.AppImage"
    applied(change_of("cursor", file, tmp_path, install=False))
    assert file.read_text("utf-8") == text
    # The environment of an AppImage that has started another program.
    monkeypatch.setattr(sys, "executable", "/usr/lib/context-inspector/context-inspector")
    assert own_command() == ["/usr/lib/context-inspector/context-inspector"]


@pytest.mark.parametrize(
    ("client", "text"),
    [
        ("cursor", '{"mcpServers": {"records": {"url": "https://host.example/a/mcp?x=%20y", "headers": {"A": "b"}}}}'),
        ("vscode", '{"servers": {"records": {"type": "http", "url": "http://127.0.0.1:8000/mcp"}}}'),
        ("codex", '[mcp_servers.records]\nurl = "https://host.example/mcp"\nbearer_token_env_var = "T"\n'),
    ],
)
def test_of_a_server_at_an_address_only_that_is_changed(
    client: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONTEXT_INSPECTOR_HOME", str(tmp_path / "home"))
    file = tmp_path / "config"
    file.write_text(text)
    server = server_in(client, file)
    assert (server.form.kind, server.form.tapped) == ("http", False)
    change = change_of(client, file, tmp_path / "taps")
    applied(change)
    tapped = server_in(client, file)
    assert tapped.form.tapped
    assert tapped.form.address == server.form.address
    url = read(client, file)
    written = json.dumps(url)
    assert "http://127.0.0.1:" in written
    assert server.form.address.partition("://")[2].partition("/")[2] in written, "path and query are the same"
    assert change.run[:2] == ("tap", "--http")
    applied(planned(tapped, tmp_path, install=False))
    assert file.read_text() == text


@pytest.mark.parametrize(
    ("client", "text", "why"),
    [
        ("cursor", '{"mcpServers": {"records": {"command": "a", "command": "b"}}}', "twice"),
        ("cursor", '{"mcpServers": {}, "mcpServers": {"records": {"command": "a"}}}', "twice"),
        ("codex", "[mcp_servers.records]\ncommand = 'a'\ncommand = 'b'\n", "overwrite"),
        ("cursor", '{"mcpServers": {"records": {"command": "a"}', "missing"),
        ("cursor", '{"mcpServers": {}} {}', "after its end"),
        ("cursor", b'{"mcpServers": "\xff"}', "UTF-8"),
    ],
)
def test_a_file_that_cannot_be_read_for_sure_is_left_alone(
    client: str, text: str | bytes, why: str, tmp_path: Path
) -> None:
    file = tmp_path / "config"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    known = client_named(client)
    assert known is not None
    found = servers_of((known,), file)
    assert not found.servers
    assert why in found.troubles[0]


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ({"url": "${API}/mcp"}, "variables"),
        ({"url": "unix:///run/a.sock"}, "cannot be tapped"),
        ({"command": "a", "args": "b"}, "no list"),
        ({"type": "stdio"}, "neither a command nor an HTTP address"),
    ],
)
def test_an_entry_that_cannot_be_tapped_is_refused(entry: dict[str, Any], why: str, tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.write_text(json.dumps({"mcpServers": {"records": entry}}))
    with pytest.raises(RefusedError, match=why):
        change_of("cursor", file, tmp_path)


def test_it_is_put_in_once_and_taken_out_only_where_it_is(tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.write_text(JSON["plain"])
    with pytest.raises(RefusedError, match="not tapped"):
        change_of("cursor", file, tmp_path, install=False)
    applied(change_of("cursor", file, tmp_path))
    with pytest.raises(RefusedError, match="already tapped"):
        change_of("cursor", file, tmp_path)


def test_a_file_that_changes_meanwhile_is_left_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.write_text(JSON["plain"])
    change = change_of("cursor", file, tmp_path)
    file.write_text(JSON["one line"])
    with pytest.raises(RefusedError, match="changed meanwhile"):
        applied(change)
    assert file.read_text() == JSON["one line"]


def test_what_a_link_leads_to_is_changed_and_its_mode_stays(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_text(JSON["plain"])
    real.chmod(0o640)
    link.symlink_to(real)
    applied(change_of("cursor", link, tmp_path))
    assert link.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o640
    assert "tap" in real.read_text()


def test_clients_are_found_where_they_keep_their_servers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, project = tmp_path / "home", tmp_path / "home" / "work" / "project"
    (project / "below").mkdir(parents=True)
    monkeypatch.setattr(Path, "home", lambda: home)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
    monkeypatch.delenv("CODEX_HOME", raising=False)
    monkeypatch.chdir(project / "below")
    files = {
        "claude-desktop": ".config/Claude/claude_desktop_config.json", "cursor": ".cursor/mcp.json",
        "vscode": ".config/Code/User/mcp.json", "codex": ".codex/config.toml", "claude-code": "work/project/.mcp.json",
    }  # fmt: skip
    if os.name != "posix" or os.uname().sysname != "Linux":
        pytest.skip("folders of Linux")
    for client, name in files.items():
        known = client_named(client)
        assert known is not None
        file = home / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(TOML["table"] if client == "codex" else JSON["plain"].replace("mcpServers", known.key))
    (home / ".claude.json").write_text(json.dumps({
        "mcpServers": {"mine": {"command": "a"}},
        "projects": {str(project / "below"): {"mcpServers": {"local": {"command": "b"}}}},
    }))  # fmt: skip
    found = servers_of()
    assert {(one.client.name, one.name) for one in found.servers} == {
        *((client, "records") for client in files), ("codex", "b"), ("claude-code", "mine"), ("claude-code", "local"),
    }  # fmt: skip
    for one in found.servers:
        if one.file.rewritten:
            with pytest.raises(RefusedError, match=r"claude mcp remove -s (user|local)"):
                planned(one, tmp_path, install=True)
    assert [one.file.shared for one in found.servers if one.client.name == "claude-code"] == [True, False, False]


def test_toml_is_read_as_the_library_reads_it() -> None:
    known = client_named("codex")
    assert known is not None
    for text in TOML.values():
        assert read_config(known, text).plain == tomllib.loads(text.removeprefix("\ufeff").replace("\r\n", "\n"))


_DEEP = {
    "codex": "x = {}\n[mcp_servers.records]\ncommand = 'run'\n",
    "cursor": '{{"x": {}, "mcpServers": {{"records": {{"command": "run"}}}}}}',
}


@pytest.mark.parametrize("depth", [300, 5_000])
@pytest.mark.parametrize("name", _DEEP)
def test_what_is_nested_deeply_is_a_sentence(name: str, depth: int, tmp_path: Path) -> None:
    file, client = tmp_path / "config", client_named(name)
    assert client is not None
    file.write_text(_DEEP[name].format("[" * depth + "]" * depth))
    found = servers_of((client,), file)
    if found.servers:
        assert b"tap" in planned(found.servers[0], tmp_path, install=True).after
    else:
        assert found.troubles[0].startswith(f"{file} cannot be read: ")
        assert found.troubles[0].endswith("nested too deeply.")
