"""MCP configuration of Windsurf."""

from __future__ import annotations

from inspector.formats.clients import ManualClient

CLIENT = ManualClient(
    name="windsurf",
    title="Windsurf",
    file="~/.codeium/windsurf/mcp_config.json",
    key="mcpServers",
    command="command",
    arguments="args",
    url="serverUrl",
)
