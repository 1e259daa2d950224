"""Detects results of calls that the user declined: no failure of the tool, and no working time."""

from __future__ import annotations

_MARGIN = 80
"""Characters of spaces and prefixes before such words."""


def is_declined(text: str, *, bare: bool = False) -> bool:
    """Returns True if a result says that the user declined its call.

    Args:
        text: of the result.
        bare: nothing may stand before the words of the client.
    """
    from inspector.formats.table import AGENT_TOOLS  # imported late, since readers in the table import this module

    head = text[: max(map(len, AGENT_TOOLS.declined)) + _MARGIN]
    if not bare:
        head = head.lstrip()
        for prefix in AGENT_TOOLS.failure_prefixes:
            head = head.removeprefix(prefix)
    return head.startswith(AGENT_TOOLS.declined)
