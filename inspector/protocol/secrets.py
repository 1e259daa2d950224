"""Secrets in traffic, masked: values under telling keys, Bearer headers, tokens in URLs, JSON web tokens.

Views, copies and exports show dots unless the user asks otherwise (design.md 4). Structures are masked by
`mask_secrets`, text (JSON inside JSON included) by `mask_text`; both know the same keys. Counts (`max_tokens`) and
markers (`progressToken`, `nextPageToken`) are no secrets.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

MASK = "••••••••"
"""Stands for a secret of any length."""

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_SECRET = frozenset({"token", "authorization", "password", "passwd", "passphrase", "secret", "jwt", "credential"})
_SECRET_KEYS = frozenset({"api", "private", "access", "signing", "auth"})
_MARKERS = frozenset(
    ("progress", "page", "continuation", "continue", "sync", "cursor", "stop", "start", "end", "eos", "bos", "pad")
)
_MAY_BE_NUMBER = frozenset({"token", "jwt"})
_MAX_DEPTH = 200
_LONGEST_KEY = 200  # characters of a key that are looked at

# Every pattern is bounded, so that hostile text takes linear time.
_BEARER = re.compile(
    r"(?i)\b(bearer[ \t]{1,8})(?!(?:tokens?|auth\w*|scheme|header|of|the|and|is|in|for)\b)[A-Za-z0-9._~+/=\-]{3,}"
)
_IN_URL = re.compile(r"(?i)([?&#][\w\-]{0,40}(?:token|secret|password|api_?key)=)[^&\s\"'\\#<>]+")
_USER_INFO = re.compile(r"(?i)\b([a-z][a-z0-9+.\-]{1,20}://[^/\s:@\"']{1,128}:)[^/\s@\"']{1,256}(?=@)")
# The lookbehind lets no second try start inside the first.
_JWT = re.compile(r"(?<![A-Za-z0-9_\-])eyJ[A-Za-z0-9_\-]{8,4096}\.[A-Za-z0-9_\-]{4,65536}\.[A-Za-z0-9_\-]*")
_ASSIGNED = re.compile(r"(?i)(?<![\w?&#\-])((?:token|password|passwd|secret|api_?key|access_token)=)[^\s&\"'\\<>]{3,}")
_BASIC = re.compile(r"(?i)\b(authorization[\"']?[ \t]{0,8}:[ \t]{0,8}[\"']?basic[ \t]{1,8})[A-Za-z0-9+/=]{3,}")
_KEY = re.compile(
    r'(?<!\\)(?P<quote>\\{0,255}")(?P<key>(?:[\w.\-]|\\{1,64}u[0-9a-fA-F]{4}){1,64})(?P=quote)\s*:\s*(?P<open>\[\s*)?'
)
_ESCAPED = re.compile(r"\\+u([0-9a-fA-F]{4})")
_NUMBER = re.compile(r"-?\d[\d.eE+\-]*")
_COMMA = re.compile(r"\s{0,64},\s{0,64}")
_HINTS = (
    "\\u00",
    "token",
    "authoriz",
    "passw",
    "passphrase",
    "secret",
    "jwt",
    "credential",
    "key",
    "bearer",
    "://",
    "eyj",
)


def is_secret_key(key: str) -> bool:
    """Whether a key names a secret: `token`, `accessToken`, `API_KEY`, `Authorization`; not `max_tokens`."""
    return _is_secret_key(key if len(key) <= _LONGEST_KEY else key[:_LONGEST_KEY])


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


def mask_secrets(value: Any) -> Any:
    """A copy of decoded JSON with every secret replaced by MASK; plain values come back as they are.

    Strings are masked as text, so a Bearer header or JSON inside a string is found too.
    """
    return _masked(value, 0)


def _masked(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return mask_text(value)
    if not isinstance(value, dict | list):
        return value
    if depth > _MAX_DEPTH:
        return MASK
    if isinstance(value, dict):
        return {k: _under_key(k, v, depth) for k, v in value.items()}
    # Long arrays of numbers are common, and cheap this way.
    return [_masked(item, depth + 1) if isinstance(item, str | dict | list) else item for item in value]


def _under_key(key: object, value: Any, depth: int) -> Any:
    if not isinstance(key, str) or not is_secret_key(key):
        return _masked(value, depth + 1)
    return mask_value(key, value, depth)


def mask_value(key: str, value: Any, depth: int = 0) -> Any:
    """What a secret key's value becomes. Objects are looked into: a JSON schema may describe a `token`."""
    if isinstance(value, str):
        return MASK if value else value
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int | float):
        return value if key.lower() in _MAY_BE_NUMBER else MASK
    if isinstance(value, list):
        return [(MASK if item else item) if isinstance(item, str) else _masked(item, depth + 1) for item in value]
    return _masked(value, depth + 1)


def may_hold_secrets(text: str) -> bool:
    """Whether masking could find anything in a text, or in JSON that it is; False is certain, and quick."""
    lowered = text.lower()
    return any(hint in lowered for hint in _HINTS)


def mask_text(text: str, *, keep_length: bool = False) -> str:
    """Text with its secrets replaced, however deeply JSON in it is escaped; the same object when there are none.

    Args:
        keep_length: put one dot for each character, so that positions stay (byte dumps).
    """
    if not may_hold_secrets(text):
        return text

    def mask(secret: str) -> str:
        return "•" * len(secret) if keep_length else MASK

    masked = _mask_pairs(text, mask)
    for pattern in (_BEARER, _IN_URL, _USER_INFO, _ASSIGNED, _BASIC):
        masked = pattern.sub(lambda m: m[1] + mask(m[0][len(m[1]) :]), masked)
    return _JWT.sub(lambda m: mask(m[0]), masked)


def _mask_pairs(text: str, mask: Callable[[str], str]) -> str:
    """Mask the values of `"key": ...` where the key is a secret's."""
    parts: list[str] = []
    done = 0
    for match in _KEY.finditer(text):
        key = _ESCAPED.sub(lambda found: chr(int(found[1], 16)), match["key"])
        if match.start() < done or not is_secret_key(key):
            continue
        place, quote = match.end(), match["quote"]
        while text.startswith(quote, place):
            start = place + len(quote)
            end = _string_end(text, start, quote)
            parts += (text[done:start], mask(text[start:end]) if end > start else "")
            done, place = end, end + len(quote)
            if match["open"] is None:
                break
            comma = _COMMA.match(text, place)
            place = comma.end() if comma else len(text)
        number = _NUMBER.match(text, match.end())
        if number and key.lower() not in _MAY_BE_NUMBER:
            parts += (text[done : number.start()], mask(number[0]))
            done = number.end()
    return "".join((*parts, text[done:])) if parts else text


def _string_end(text: str, start: int, quote: str) -> int:
    """Where the string that starts at `start` ends: at the first quote escaped as often as its opening one.

    Each level of JSON in JSON doubles backslashes: where quotes are written with e of them, a backslash that is
    content is written as 2 (e + 1).
    """
    escapes = len(quote) - 1
    place = start
    while (place := text.find('"', place)) >= 0:
        before = place
        while before > start and text[before - 1] == "\\":
            before -= 1
        if (place - before - escapes) % (2 * (escapes + 1)) == 0 and place - before >= escapes:
            return place - escapes
        place += 1
    return len(text)
