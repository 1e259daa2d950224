"""Names of any length kept in little room: hostile traffic has kinds and contexts of 10 MB.

RULE: of a name above 64 k characters the capture keeps the beginning and a digest of the whole, so that two long names
stay two; of more than 10,000 recipients it keeps the first and says how many there are besides. The message has all of
it, in Raw.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

MAX_NAME = 1 << 16
"""Characters of a kind, participant, context, tool, stream... that are kept as they are."""
KEPT = 1_000
"""Characters kept of a longer one."""
MAX_RECIPIENTS = 10_000


def kept_name(name: str) -> str:
    """A name as the capture keeps it; the same object unless it is too long."""
    if len(name) <= MAX_NAME:
        return name
    digest = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return f"{name[:KEPT]}… ({len(name):,} characters, {digest})"


def kept_recipients(names: tuple[str, ...]) -> tuple[str, ...]:
    """Recipients as the capture keeps them."""
    if len(names) > MAX_RECIPIENTS:
        names = (*names[:MAX_RECIPIENTS], f"… {len(names) - MAX_RECIPIENTS:,} more")
    return tuple(map(kept_name, names)) if any(len(name) > MAX_NAME for name in names) else names


def kept_names(names: Iterable[str]) -> list[str | None]:
    """Names of a block as the capture keeps them, after the absent one."""
    return [None, *(name if len(name) <= MAX_NAME else kept_name(name) for name in names)]
