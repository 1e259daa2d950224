"""Sorts tools by the words of their names: reads, searches, and others that may change something."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

Sort = Literal["read", "search", ""]

_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_READS = frozenset(("read", "view", "cat", "ls", "list", "open", "fetch", "get", "show", "describe", "head", "tail"))
_SEARCHES = frozenset(("search", "grep", "glob", "find", "query", "lookup", "rg"))
_CHANGES = frozenset(
    ("write", "edit", "create", "delete", "remove", "update", "set", "put", "post", "send", "run", "exec", "execute",
     "bash", "shell", "replace", "insert", "move", "rename", "apply", "patch", "kill", "stop", "start", "todo", "plan",
     "close", "add", "save", "push", "merge", "commit", "and")
)  # fmt: skip


@lru_cache(4096)
def sort_of_tool(tool: str) -> Sort:
    """Returns "read" or "search" for a tool whose name says so, and names no change; else ""."""
    # A server's prefix, as in `mcp__files__read_file`, is no verb of the tool.
    words = {word.lower() for word in _WORDS.findall(re.split(r"__|[./:]", tool[-200:])[-1])}
    if words & _CHANGES:
        return ""
    if words & _SEARCHES:
        return "search"
    return "read" if words & _READS else ""
