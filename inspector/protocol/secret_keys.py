"""Which keys name a secret, however they are written: `token`, `accessToken`, `API_KEY`, `x-api-key`, `Authorization`.

Counts (`max_tokens`) and markers (`progressToken`, `nextPageToken`) are no secrets. Whoever adds a word here adds its
clue in `secret_clues`: a property test holds the two together.
"""

from __future__ import annotations

import re
from functools import lru_cache

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_SECRET = frozenset({"token", "authorization", "password", "passwd", "passphrase", "secret", "jwt", "credential"})
_SECRET_KEYS = frozenset({"api", "private", "access", "signing", "auth"})
_MARKERS = frozenset(
    ("progress", "page", "continuation", "continue", "sync", "cursor", "stop", "start", "end", "eos", "bos", "pad")
)
_MAY_BE_NUMBER = frozenset({"token", "jwt"})
_LONGEST_KEY = 200
"""Characters of a key that are looked at, from its end, where the word stands that decides."""


def is_secret_key(key: str) -> bool:
    """Whether a key names a secret: `token`, `accessToken`, `API_KEY`, `Authorization`; not `max_tokens`."""
    return _is_secret_key(key if len(key) <= _LONGEST_KEY else key[-_LONGEST_KEY:])


def may_be_number(key: str) -> bool:
    """Whether a number under this key is none of its secrets: a token as such is text, a number counts them."""
    return key.lower() in _MAY_BE_NUMBER


@lru_cache(maxsize=4096)
def _is_secret_key(key: str) -> bool:
    words = [w.lower() for w in _WORDS.findall(key)]
    if not words:
        return False
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    if last == "key":
        return before in _SECRET_KEYS
    if last in ("apikey", "accesstoken", "authtoken"):
        return True
    return last.removesuffix("s") in _SECRET - {"token"} or (last == "token" and before not in _MARKERS)
