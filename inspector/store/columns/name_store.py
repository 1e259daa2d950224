"""Names of any length kept in little room: hostile traffic has kinds and contexts of 10 MB.

RULE: of a name above 64 k characters the capture keeps the beginning and a digest of the whole, so that two long names
stay two; of more than 10,000 recipients it keeps the first and says how many there are besides. The message has all of
it, in Raw.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

MAX_NAME = 1 << 16
"""Characters of a kind, participant, context, tool, stream... that are stored as they are."""
STORED = 1_000
"""Characters stored of a longer one."""


def stored_name(name: str) -> str:
    """A name as the capture stores it; the same object unless it is too long."""
    if len(name) <= MAX_NAME:
        return name
    digest = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return f"{name[:STORED]}… ({len(name):,} characters, {digest})"


def stored_names(names: Sequence[str]) -> list[str | None]:
    """Names of a block as the capture stores them, after the absent one."""
    return [None, *(names if max(map(len, names), default=0) <= MAX_NAME else map(stored_name, names))]
