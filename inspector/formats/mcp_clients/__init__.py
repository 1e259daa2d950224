"""MCP clients whose sessions are not read, one module each: only their configuration is known (docs/tap.md)."""

from __future__ import annotations

from inspector.formats.clients import Client, ManualClient
from inspector.formats.mcp_clients import claude_desktop, cursor, goose, windsurf, zed

CLIENTS: tuple[Client | ManualClient, ...] = (
    claude_desktop.CLIENT,
    cursor.CLIENT,
    goose.CLIENT,
    windsurf.CLIENT,
    zed.CLIENT,
)
"""All of them."""
