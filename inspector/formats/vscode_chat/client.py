"""MCP configuration of VS Code."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.formats.clients import Client, ConfigFile, project_files, settings_folder


def _files() -> Iterator[ConfigFile]:
    yield from project_files(".vscode", "mcp.json")
    for name in ("Code", "Code - Insiders"):
        user = settings_folder(name) / "User"
        if name == "Code" or user.is_dir():
            yield ConfigFile(user / "mcp.json")
            yield from (ConfigFile(file) for file in sorted(user.glob("profiles/*/mcp.json")))


CLIENT = Client(
    name="vscode",
    title="VS Code",
    key="servers",
    files=_files,
    afterwards="Start the server again with MCP: List Servers; VS Code asks once more whether to trust it, and shows "
    "tools it remembers until MCP: Reset Cached Tools.",
)
