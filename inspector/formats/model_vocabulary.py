"""Words about calls of models that formats share: senders, cache marks, names of tools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

CLIENT = "client"
"""Sender of requests to a model."""
USER, AGENT = "user", "assistant"
SYSTEM = "system-prompt"
"""Not `system`, the name of gateways."""
DEFAULT_CACHE_LIFETIME = "5m"
"""Default lifetime of a mark (Anthropic's reference, Prompt caching)."""
_LONGEST_MARK = 8


def cache_mark(block: object) -> str | None:
    """Returns the requested cache lifetime in a `cache_control` of a block, a tool or a request, or a cache point."""
    mark = block.get("cache_control", block.get("cachePoint")) if isinstance(block, Mapping) else None
    if not isinstance(mark, Mapping):
        return None
    lasts = mark.get("ttl")
    return lasts[:_LONGEST_MARK] if isinstance(lasts, str) and lasts else DEFAULT_CACHE_LIFETIME


def is_cache_point(block: object) -> bool:
    """Returns True for a block of Bedrock that marks the blocks before it for the cache."""
    return isinstance(block, Mapping) and isinstance(block.get("cachePoint"), Mapping)


def tool_name(tool: Any) -> str:
    """Returns the name in a tool definition of any API."""
    made = tool.get("function", tool) if isinstance(tool, Mapping) else None
    name = (made.get("name") or made.get("type")) if isinstance(made, Mapping) else None
    return name if isinstance(name, str) and name else "one without a name"
