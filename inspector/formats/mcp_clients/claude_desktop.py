"""MCP configuration of Claude Desktop."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.formats.clients import Client, ConfigFile, settings_folder


def _files() -> Iterator[ConfigFile]:
    yield ConfigFile(settings_folder("Claude") / "claude_desktop_config.json")


CLIENT = Client(
    name="claude-desktop",
    title="Claude Desktop",
    key="mcpServers",
    files=_files,
    afterwards="Quit Claude Desktop completely, not just its window, and start it again.",
)
