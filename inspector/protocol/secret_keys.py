"""Which keys name a secret, however they are written: `token`, `accessToken`, `API_KEY`, `x-api-key`, `Authorization`.

Counts (`max_tokens`) and markers (`progressToken`, `nextPageToken`) are no secrets. Whoever adds a word here adds its
clue in `secret_clues`: a property test holds the two together.
"""

from __future__ import annotations

import re
from functools import lru_cache

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_SECRET = frozenset(
    ("authorization", "password", "passwd", "pwd", "passphrase", "secret", "jwt", "credential", "cookie")
)  # fmt: skip
_SECRET_KEYS = frozenset(
    ("api", "private", "access", "signing", "auth", "secret", "account", "encryption", "master")
)  # fmt: skip
_IN_ONE = frozenset({"apikey", "accesskey", "secretkey", "privatekey", "accesstoken", "authtoken"})
_HAVE_PASS = frozenset({"", "db", "database", "user", "smtp", "mail", "ftp", "http", "proxy", "redis", "admin", "root"})
_PERSONAL = ("github_pat", "gitlab_pat", "gh_pat", "azure_pat", "ado_pat", "devops_ext_pat")
_NO_SECRETS = frozenset({"PWD"})  # where a shell is
_MARKERS = frozenset(
    ("progress", "page", "next", "continuation", "continue", "sync", "cursor", "stop", "start", "end", "eos", "bos",
     "pad", "unk", "sep", "cls", "mask")
)  # fmt: skip
_MAY_BE_NUMBER = frozenset({"token", "jwt", "pass", "cookie", "cookies"})
_VALUES = frozenset({"value", "raw"})
_NAME = re.compile(r"[A-Za-z0-9_.\- ]{1,100}")
_LONGEST_KEY = 200
"""Characters of a key that are looked at, from its end, where the word stands that decides."""


def is_secret_key(key: str) -> bool:
    """Whether a key names a secret: `token`, `accessToken`, `API_KEY_2`, `Authorization`; not `max_tokens`."""
    return _is_secret_key(key if len(key) <= _LONGEST_KEY else key[-_LONGEST_KEY:])


def is_marker(key: str) -> bool:
    """Whether a key names a place in a list or a text, as `next_page_token` does."""
    words = [word.lower() for word in _WORDS.findall(key[-_LONGEST_KEY:])]
    return len(words) > 1 and words[-1] == "token" and words[-2] in _MARKERS


def may_be_number(key: str) -> bool:
    """Whether a number under this key is none of its secrets: a token as such is text, a number counts them."""
    return key.lower().rstrip("0123456789_-") in _MAY_BE_NUMBER


def holds_value(key: str) -> bool:
    """Whether an object under a secret's key has the secret itself under this one: `{"token": {"value": ...}}`."""
    return key in _VALUES


def names_secret(name: object) -> bool:
    """Whether what an object calls itself says that its value is one: `{"name": "API_KEY", "value": "..."}`."""
    return isinstance(name, str) and _NAME.fullmatch(name) is not None and _is_secret_key(name)


@lru_cache(maxsize=4096)
def _is_secret_key(key: str) -> bool:
    words = [w.lower() for w in _WORDS.findall(key)]
    while words and words[-1].isdigit():  # token_1
        words.pop()
    if not words or key in _NO_SECRETS:
        return False
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    if last == "key":
        return before in _SECRET_KEYS
    if last == "token":
        return before not in _MARKERS
    if last == "pass":
        return before in _HAVE_PASS
    if last == "pat":
        return key.lower().rstrip("0123456789_").endswith(_PERSONAL)
    return last in _IN_ONE or last.removesuffix("s") in _SECRET
