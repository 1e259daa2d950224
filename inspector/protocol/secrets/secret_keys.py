"""Decides if a key names a secret, in any spelling: `token`, `accessToken`, `API_KEY`, `x-api-key`, `Authorization`.

Counts (`max_tokens`) and markers (`progressToken`, `nextPageToken`) are no secrets. A new word here needs a clue in
`rule_prefilter`; a property test verifies both.
"""

from __future__ import annotations

import re
from functools import lru_cache

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_SECRET = frozenset(
    ("authorization", "password", "passwd", "pwd", "passphrase", "passcode", "secret", "jwt", "credential", "cookie")
)  # fmt: skip
_SECRET_KEYS = frozenset(
    ("api", "private", "access", "signing", "auth", "secret", "account", "encryption", "master", "subscription",
     "functions", "storage", "shared", "hmac", "fernet", "decryption", "application", "openai", "anthropic", "gemini",
     "mistral", "groq", "deepseek", "cohere", "license")
)  # fmt: skip
# Letters may precede: those of an escape.
_SPACED = re.compile(rf"(?i)(?:{'|'.join(sorted(_SECRET_KEYS))})[ \t]key\Z")
_NAMES_OF_PLACES = frozenset({"storage", "application"})
"""Keys that may also name a storage place (`STORAGE_KEY = "filters"`); secret only if the value looks random."""
_TOKENS_OF = ("access", "auth", "api", "bot", "session", "refresh", "identity", "security", "bearer", "join", "csrf",
              "user", "github", "gitlab", "id")  # fmt: skip
_COMPOUND_WORDS = frozenset(
    {"apikey", "accesskey", "secretkey", "privatekey", "authkey", "secretaccesskey", "creds"}
    | {f"{whose}token" for whose in _TOKENS_OF}
)
_ENDS_SO = ("password", "passwd", "passphrase", "secret")
"""Suffixes that form one word: `dbpassword`, `PGPASSWORD`, `clientsecret`."""
_PASS_PREFIXES = frozenset(
    {"", "db", "database", "user", "smtp", "mail", "ftp", "http", "proxy", "redis", "admin", "root"}
)
_PERSONAL = ("github_pat", "gitlab_pat", "gh_pat", "azure_pat", "ado_pat", "devops_ext_pat")
_NO_SECRETS = frozenset({"PWD", "user_authorization", "userAuthorization"})
"""A shell's working folder; a level such as "high" in a review of permissions."""
_MARKERS = frozenset(
    ("progress", "page", "next", "continuation", "continue", "sync", "cursor", "stop", "start", "end", "eos", "bos",
     "pad", "unk", "sep", "cls", "mask", "first", "last")
)  # fmt: skip
_MAY_BE_NUMBER = frozenset({"token", "jwt", "pass", "cookie", "cookies"})
_COUNTED = frozenset(
    ("turn", "max", "min", "total", "prompt", "completion", "input", "output", "cached", "reasoning", "thinking",
     "context", "used", "remaining", "average", "avg", "mean", "num")
)  # fmt: skip
"""Words before `token` in the name of a count."""
VALUE_KEYS = ("value", "raw", "stringValue", "string_value", "bytesValue", "bytes_value")
"""Member names of a wrapped value; the latter ones are OpenTelemetry's."""
_VALUES = frozenset(VALUE_KEYS)
VALUE_LIST_KEYS = frozenset(("arrayValue", "array_value", "values"))
"""Member names of several wrapped values: `{"arrayValue": {"values": [{"stringValue": ...}]}}`."""
_NAME = re.compile(r"[A-Za-z0-9_.\- ]{1,100}:?")
_MADE = re.compile(r"(?=[^0-9]*[0-9])(?=[^A-Za-z]*[A-Za-z])[A-Za-z0-9_\-.+/=~]{16,512}")
_FEWEST_DIFFERENT = 6
_LONGEST_KEY = 200
"""Characters examined of a key, from its end, since the last word decides."""


def is_secret_key(key: str) -> bool:
    """Returns True if a key names a secret: `token`, `accessToken`, `API_KEY_2`, `Authorization`; not `max_tokens`."""
    return _is_secret_key(key if len(key) <= _LONGEST_KEY else key[-_LONGEST_KEY:])


def ends_in_spaced_name(text: str) -> bool:
    """Returns True if a text ends in a key's name as prose has it: `here is my API key`."""
    return _SPACED.search(text[-_LONGEST_KEY:]) is not None


def is_marker(key: str) -> bool:
    """Returns True if a key names a position in a list or a text, as `next_page_token`."""
    words = [word.lower() for word in _WORDS.findall(key[-_LONGEST_KEY:])]
    return len(words) > 1 and words[-1] == "token" and words[-2] in _MARKERS


def may_be_number(key: str) -> bool:
    """Returns True if a number under this key is no secret: a token is text, a number counts tokens."""
    name = key[-_LONGEST_KEY:].rstrip("0123456789_-")
    if name.lower() in _MAY_BE_NUMBER:
        return True
    words = [word.lower() for word in _WORDS.findall(name)]
    return len(words) > 1 and words[-1] == "token" and words[-2] in _COUNTED  # per_turn_token


def is_value_key(key: str) -> bool:
    """Returns True if an object under a secret's key has the secret under this one: `{"token": {"value": ...}}`."""
    return key in _VALUES


def is_plural_secret_key(key: str) -> bool:
    """Returns True if a key names several possible secrets: `tokens`, `api_keys`.

    They may also be counts or pieces of text, so a value is secret only if it `looks_random`.
    """
    return _names_secrets(key if len(key) <= _LONGEST_KEY else key[-_LONGEST_KEY:])


def may_name_place(key: str) -> bool:
    """Returns True if a secret key may also name a place; its value is secret only if it `looks_random`."""
    words = [word.lower() for word in _WORDS.findall(key[-_LONGEST_KEY:].rstrip("0123456789_-"))]
    return len(words) > 1 and words[-1] == "key" and words[-2] in _NAMES_OF_PLACES


def looks_random(value: str) -> bool:
    """Returns True if a text looks random: long, in one piece, of letters and digits."""
    return _MADE.fullmatch(value) is not None and len(set(value)) >= _FEWEST_DIFFERENT


def is_secret_name(name: object) -> bool:
    """Returns True if an object's name makes its value secret: `{"name": "API_KEY", "value": "..."}`."""
    return isinstance(name, str) and _NAME.fullmatch(name) is not None and _is_secret_key(name)


@lru_cache(maxsize=4096)
def _names_secrets(key: str) -> bool:
    return key[-1:] in ("s", "S") and key[:-1].lower().endswith(("token", "key")) and _is_secret_key(key[:-1])


# A key takes 3 µs without the cache and 0.07 µs with it.
@lru_cache(maxsize=4096)
def _is_secret_key(key: str) -> bool:
    words = [w.lower() for w in _WORDS.findall(key)]
    while words and words[-1].isdigit():  # token_1
        words.pop()
    if not words or key in _NO_SECRETS:
        return False
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    # A key may be public, or only the name of a column.
    if last == "key":
        return before in _SECRET_KEYS
    if last == "verifier":  # of PKCE
        return before == "code"
    if last == "token":
        return before not in _MARKERS
    if last == "pass":
        return before in _PASS_PREFIXES
    if last == "pat":
        return key.lower().rstrip("0123456789_").endswith(_PERSONAL)
    # A plural names several secrets.
    one = last.removesuffix("s")
    return last in _COMPOUND_WORDS or one in _SECRET or one.endswith(_ENDS_SO)
