"""MCP configuration of Zed."""

from __future__ import annotations

from inspector.formats.clients import ManualClient

CLIENT = ManualClient(
    name="zed",
    title="Zed",
    file="~/.config/zed/settings.json",
    key="context_servers",
    command="command",
    arguments="args",
    url="url",
)
