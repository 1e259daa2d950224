"""MCP clients: their configuration files, and the step that activates a change (docs/tap.md, For you)."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from inspector.tap.install.json_text import read_json
from inspector.tap.install.toml_text import read_toml
from inspector.tap.install.values import Value


class ConfigFile(NamedTuple):
    """A file in which a client may keep servers."""

    path: Path
    shared: bool = False
    """It belongs to a project, so other people may use it."""
    rewritten: bool = False
    """The running client rewrites it all the time, so it is not safe to change."""
    tables: tuple[tuple[str, ...], ...] = ()
    """Further tables with servers, by keys."""


class Client(NamedTuple):
    """An MCP client."""

    name: str
    """Name on the command line."""
    title: str
    key: str
    """Key of its table of servers."""
    files: Callable[[], Iterator[ConfigFile]]
    read: Callable[[str], Value]
    afterwards: str
    """A sentence on how to activate a change."""


def _home() -> Path:
    return Path.home()


def _settings(name: str) -> Path:
    """Returns the folder for settings of desktop programs."""
    if sys.platform == "darwin":
        return _home() / "Library" / "Application Support" / name
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA") or _home() / "AppData" / "Roaming") / name
    return Path(os.environ.get("XDG_CONFIG_HOME") or _home() / ".config") / name


def _in_project(*parts: str) -> Iterator[ConfigFile]:
    """Yields the project's file in the current folder or the nearest parent, up to the home folder."""
    folder, home = Path.cwd(), _home()
    for one in (folder, *folder.parents):
        file = one.joinpath(*parts)
        if one == home:  # files there belong to the user
            break
        if file.is_file():
            yield ConfigFile(file, shared=True)
            return
    if folder != home:
        yield ConfigFile(folder.joinpath(*parts), shared=True)


def _claude_desktop() -> Iterator[ConfigFile]:
    yield ConfigFile(_settings("Claude") / "claude_desktop_config.json")


def _claude_code() -> Iterator[ConfigFile]:
    yield from _in_project(".mcp.json")
    project = ("projects", str(Path.cwd()), "mcpServers")
    yield ConfigFile(_home() / ".claude.json", rewritten=True, tables=(project,))


def _cursor() -> Iterator[ConfigFile]:
    yield from _in_project(".cursor", "mcp.json")
    yield ConfigFile(_home() / ".cursor" / "mcp.json")


def _vs_code() -> Iterator[ConfigFile]:
    yield from _in_project(".vscode", "mcp.json")
    for name in ("Code", "Code - Insiders"):
        user = _settings(name) / "User"
        if name == "Code" or user.is_dir():
            yield ConfigFile(user / "mcp.json")
            yield from (ConfigFile(file) for file in sorted(user.glob("profiles/*/mcp.json")))


def _codex() -> Iterator[ConfigFile]:
    yield from _in_project(".codex", "config.toml")
    yield ConfigFile(Path(os.environ.get("CODEX_HOME") or _home() / ".codex") / "config.toml")


CLIENTS = (
    Client(
        "claude-desktop", "Claude Desktop", "mcpServers", _claude_desktop, read_json,
        "Quit Claude Desktop completely, not just its window, and start it again.",
    ),
    Client(
        "claude-code", "Claude Code", "mcpServers", _claude_code, read_json,
        "Start Claude Code again; it asks once more whether to trust the servers of a project's .mcp.json.",
    ),
    Client(
        "cursor", "Cursor", "mcpServers", _cursor, read_json,
        "Switch the server off and on in Cursor's settings under MCP, or start Cursor again.",
    ),
    Client(
        "vscode", "VS Code", "servers", _vs_code, read_json,
        "Start the server again with MCP: List Servers; VS Code asks once more whether to trust it, and shows tools it "
        "remembers until MCP: Reset Cached Tools.",
    ),
    Client(
        "codex", "Codex", "mcp_servers", _codex, read_toml,
        "Start Codex again; running sessions are not affected.",
    ),
)  # fmt: skip
"""Clients whose files this program can change, in order of listing."""


class OtherClient(NamedTuple):
    """A client whose file the user changes by hand."""

    name: str
    title: str
    file: str
    key: str
    command: str
    arguments: str
    url: str


OTHER_CLIENTS = (
    OtherClient("gemini", "Gemini CLI", "~/.gemini/settings.json", "mcpServers", "command", "args", "url or httpUrl"),
    OtherClient(
        "windsurf", "Windsurf", "~/.codeium/windsurf/mcp_config.json", "mcpServers", "command", "args", "serverUrl"
    ),
    OtherClient("zed", "Zed", "~/.config/zed/settings.json", "context_servers", "command", "args", "url"),
    OtherClient("goose", "Goose", "~/.config/goose/config.yaml", "extensions", "cmd", "args", "uri"),
)
"""Clients with known instructions."""


def client_named(name: str) -> Client | None:
    """Finds a client by name or title, ignoring case and punctuation; returns None if unknown."""
    plain = _plain(name)
    return next((one for one in CLIENTS if plain in (_plain(one.name), _plain(one.title))), None)


def other_named(name: str) -> OtherClient | None:
    """Finds a client with instructions in the same way."""
    plain = _plain(name)
    return next((one for one in OTHER_CLIENTS if plain in (_plain(one.name), _plain(one.title))), None)


def _plain(name: str) -> str:
    return "".join(c for c in name.lower() if c.isalnum())
