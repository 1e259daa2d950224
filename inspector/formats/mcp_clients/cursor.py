"""MCP configuration of Cursor."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from inspector.formats.clients import Client, ConfigFile, project_files


def _files() -> Iterator[ConfigFile]:
    yield from project_files(".cursor", "mcp.json")
    yield ConfigFile(Path.home() / ".cursor" / "mcp.json")


CLIENT = Client(
    name="cursor",
    title="Cursor",
    key="mcpServers",
    files=_files,
    afterwards="Switch the server off and on in Cursor's settings under MCP, or start Cursor again.",
)
