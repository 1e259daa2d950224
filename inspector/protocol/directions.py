"""Parses directions in logs, `client->server`, `client_to_server`, `c2s`, into sender and receiver."""

from __future__ import annotations

import re
from functools import lru_cache

_NAMED = re.compile(r"(?i)(client|server|[cs])[\s_\-]*(?:=>|→|to|2)[\s_\-]*(client|server|[cs])")
_SIDES = {"c": "client", "s": "server"}


@lru_cache(maxsize=256)
def sender_and_receiver(direction: str | None) -> tuple[str | None, str | None]:
    """Returns sender and receiver, as far as named, as in `in` and `sent`."""
    sender, arrow, receiver = (direction or "").partition("->")
    if arrow:
        return sender.strip() or None, receiver.strip() or None
    found = _NAMED.fullmatch(sender.strip())
    if found is None:
        return None, None
    return _SIDES[found[1][0].lower()], _SIDES[found[2][0].lower()]
