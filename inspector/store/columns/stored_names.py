"""Shortens very long names for storage: hostile traffic has kinds and contexts of 10 MB.

RULE: of a name above 64 k characters the capture keeps the beginning and a digest of the whole, so that two long names
remain distinct. Of more than 10,000 recipients it keeps the first ones and the number of the rest. Raw shows all.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

MAX_NAME_LENGTH = 1 << 16
"""Characters of a kind, participant, context, tool or stream that are stored unchanged."""
STORED_LENGTH = 1_000
"""Characters stored of a longer name."""


def stored_name(name: str) -> str:
    """Returns a name as the capture stores it; the same object unless it is too long."""
    if len(name) <= MAX_NAME_LENGTH:
        return name
    digest = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return f"{name[:STORED_LENGTH]}… ({len(name):,} characters, {digest})"


def stored_names(names: Sequence[str]) -> list[str | None]:
    """Returns a block's names as the capture stores them, preceded by None for id 0."""
    return [None, *(names if max(map(len, names), default=0) <= MAX_NAME_LENGTH else map(stored_name, names))]
