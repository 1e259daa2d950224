"""MCP configuration of Goose."""

from __future__ import annotations

from inspector.formats.clients import ManualClient

CLIENT = ManualClient(
    name="goose",
    title="Goose",
    file="~/.config/goose/config.yaml",
    key="extensions",
    command="cmd",
    arguments="args",
    url="uri",
)
