"""Format: exports of MCP Inspector (docs/what-it-reads.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from inspector.formats.format import Format, Stage, TrafficKind
from inspector.formats.signatures import Signature

_TAP = "It has no messages. A tap records those of its servers: context-inspector tap install."


def _has_servers(value: Mapping[str, Any]) -> bool:
    """Returns True for servers by name, each with a command or an address."""
    servers = value["servers"]
    return isinstance(servers, Mapping) and bool(servers) and all(
        isinstance(one, Mapping) and ("command" in one or "url" in one) for one in servers.values()
    )  # fmt: skip


def _is_server(value: Mapping[str, Any]) -> bool:
    return isinstance(value["command"], str) and isinstance(value["args"], list) and value.keys() <= _SERVER


_SERVER = {"command", "args", "env", "type", "cwd"}

FORMAT = Format(
    name="mcp-inspector",
    title="MCP Inspector export",
    reads="protocol exports of MCP Inspector",
    stage=Stage.DOCUMENT,
    traffic=TrafficKind.WIRE,
    conversion="inspector.formats.mcp_inspector.conversion:CONVERSION",
    signatures=(
        Signature("a configuration of MCP servers", ("servers",), _has_servers, _TAP),
        Signature("the entry of a server in a configuration of MCP", ("command", "args"), _is_server, _TAP),
        Signature("the description of an MCP server for its registry", ("$schema", "name", "version"),
                  lambda value: "server.schema.json" in str(value["$schema"]), _TAP),
        Signature("requests over HTTP as MCP Inspector exports them", ("requestHeaders", "url", "category"),
                  remedy="It is not read. Export the protocol in its place."),
    ),
)  # fmt: skip
