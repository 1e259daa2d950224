"""Quick answers to what rules could find anything in a text; a "no" is certain, a "perhaps" is for the rules to settle.

Most text holds no secret, and the rules are dear: a clue is a literal that a rule cannot do without, then a look at
what stands right after it (`"api_key":` and `key=` are clues, `the key of the map` is none). A text may be JSON as
it was written: then quotes, slashes and blanks may be escaped, at any depth.
"""

from __future__ import annotations

import re
from enum import IntEnum
from typing import Final


class SecretRule(IntEnum):
    """What a secret is known by. Values are bits."""

    KEY = 1
    BEARER = 2
    BASIC = 4
    URL = 8
    USER_INFO = 16
    ASSIGNED = 32
    JWT = 64
    API_KEY = 128
    PRIVATE_KEY = 256

    @property
    def words(self) -> str:
        """What it masks, for people."""
        return _RULE_WORDS[self]


_RULE_WORDS: dict[SecretRule, str] = {
    SecretRule.KEY: "Values under secret keys",
    SecretRule.BEARER: "Bearer headers",
    SecretRule.BASIC: "Basic authorization headers",
    SecretRule.URL: "Tokens in addresses",
    SecretRule.USER_INFO: "Passwords in addresses",
    SecretRule.ASSIGNED: "Assignments such as token=...",
    SecretRule.JWT: "JSON web tokens",
    SecretRule.API_KEY: "Keys of known services",
    SecretRule.PRIVATE_KEY: "Private keys",
}

NO_RULES: Final = 0
ALL_RULES: Final = 511
"""Bits of every rule."""

# Characters that only Unicode's case folding makes ASCII letters, ASCII that is written as an escape, or both: they
# would hide a clue, so that nothing is certain where they are.
_HIDING = re.compile("[\u0130\u0131\u017f\u212a]|\\\\u(?:00[0-7]|013[01]|017f|212a)")

# From a key's last word to the colon after its closing quote nothing is a letter or a digit, but in escapes.
# Possessive: a run is looked at once.
_REST = r'(?:[^a-z0-9"\\]++|\\(?:[bfnrt]|u[0-9a-f]{4})?)*+'
_BLANKS = r"(?:[^a-z0-9:\\]++|\\(?:[bfnrt]|u[0-9a-f]{4})?)*+"
_NAMED = rf'{_REST}"{_BLANKS}:'
_KEY, _BASIC, _API_KEY = int(SecretRule.KEY), int(SecretRule.BASIC), int(SecretRule.API_KEY)
_SET = _KEY | SecretRule.ASSIGNED | SecretRule.URL
# For the beginnings of `secret_shapes`: several share a clue, as each costs a look at the whole text.
_STARTS = (
    ("_", "_[a-z0-9+/=]{16}"),  # all that end in one
    ("ia", "ia[a-z0-9]{16}"),  # AKIA, ASIA
    ("xox", r"xox[a-z]-[a-z0-9\-]{10}"),
    ("aiza", r"aiza[a-z0-9_\-]{35}"),
    ("glpat-", r"glpat-[a-z0-9_\-]{20}"),
    ("pp", r"pp(?:-\d-[a-z0-9\-]{16}|lx-[a-z0-9]{32})"),  # xapp-, pplx-
    ("i-", "i-(?:age[a-z0-9_\\-]{16}|[a-z0-9]{40})"),  # pypi-, xai-
    (".", r"\.[a-z0-9_\-]{16}"),  # ya29., SG., hvs.
)
_CLUES: tuple[tuple[str, re.Pattern[str], int], ...] = (
    *((word, re.compile(rf"{word}(?:=|{_NAMED})"), _SET) for word in ("token", "key")),  # in the plural they are none
    ("secret", re.compile(rf"secret(?:=|s?{_NAMED})"), _SET),
    ("pass", re.compile(rf"pass(?:word|wd|phrase)(?:=|s?{_NAMED})"), _SET),
    *((word, re.compile(f"{word}s?{_NAMED}"), _KEY) for word in ("authorization", "credential", "jwt")),
    ("bearer", re.compile(r"bearer[ \t\\]"), int(SecretRule.BEARER)),
    ("@", re.compile(r":\\*/\\*/"), int(SecretRule.USER_INFO)),
    ("eyj", re.compile(r"eyj[a-z0-9_\-]{8}"), int(SecretRule.JWT)),
    ("sk-", re.compile(r"sk-[a-z0-9_\-]{16}"), _API_KEY),
    *((literal, re.compile(clue), _API_KEY) for literal, clue in _STARTS),
    ("-----begin", re.compile(r"-----begin [a-z0-9 ]{0,40}private key"), int(SecretRule.PRIVATE_KEY)),
)


def rules_for(text: str) -> int:
    """Rules that could find a secret in a text, or in what it says as JSON; bits of `SecretRule`.

    Linear in the text, some nanoseconds a character.
    """
    lowered = text.lower()
    if not text.isascii():
        if _HIDING.search(text) or _HIDING.search(lowered):
            return ALL_RULES
    elif "\\" in text and "\\u" in lowered and _HIDING.search(lowered):
        return ALL_RULES
    found = NO_RULES
    for literal, clue, rules in _CLUES:
        if literal in lowered and clue.search(lowered):
            found |= rules
    if "basic" in lowered and "authorization" in lowered:
        found |= _BASIC
    return found


def may_hold_secrets(text: str) -> bool:
    """Whether masking could find anything in a text, or in JSON that it is; False is certain, and quick."""
    return rules_for(text) != NO_RULES
