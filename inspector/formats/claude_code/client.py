"""MCP configuration of Claude Code, and the address of its models."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from inspector.formats.clients import Client, ConfigFile, ModelApi, project_files


def _files() -> Iterator[ConfigFile]:
    yield from project_files(".mcp.json")
    project = ("projects", str(Path.cwd()), "mcpServers")
    yield ConfigFile(Path.home() / ".claude.json", rewritten=True, tables=(project,))


CLIENT = Client(
    name="claude-code",
    title="Claude Code",
    key="mcpServers",
    files=_files,
    afterwards="Start Claude Code again; it asks once more whether to trust the servers of a project's .mcp.json.",
    command="claude mcp",
)
MODEL_APIS = (ModelApi("https://api.anthropic.com", ("ANTHROPIC_BASE_URL",)),)
