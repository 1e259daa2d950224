"""Prefilter of the secret rules: excludes rules that cannot match a text.

An excluded rule is certain; an included one may still find no secret. Most text has no secret, and the rules are
expensive. A clue is a literal that a rule requires, with a check of the characters after it (`"api_key":` and `key=`
are clues, `the key of the map` is none). A text may be JSON as written: quotes, slashes and blanks may be escaped, at
any depth.
"""

from __future__ import annotations

import re
from enum import IntEnum
from typing import Final


class SecretRule(IntEnum):
    """Rules that detect secrets. Values are bits."""

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
        """Name of the rule for users."""
        return _RULE_WORDS[self]


_RULE_WORDS: dict[SecretRule, str] = {
    SecretRule.KEY: "Values under secret keys",
    SecretRule.BEARER: "Bearer headers",
    SecretRule.BASIC: "Authorization and cookie headers",
    SecretRule.URL: "Tokens in addresses",
    SecretRule.USER_INFO: "Passwords and users' tokens in addresses",
    SecretRule.ASSIGNED: "Assignments and options: token=...",
    SecretRule.JWT: "JSON web tokens",
    SecretRule.API_KEY: "Keys of known services",
    SecretRule.PRIVATE_KEY: "Private keys",
}

NO_RULES: Final = 0
ALL_RULES: Final = 511
"""Bits of every rule."""

# Characters that case folding turns into ASCII letters, and escaped ASCII, would hide a clue; so no rule is excluded
# for them.
_HIDING = re.compile("[\u0130\u0131\u017f\u212a]")
_HIDING_ESCAPES = re.compile(r"\\u(?:00[0-7]|013[01]|017[fF]|212[aA])")

# Between a key's last word and the colon after its closing quote there are no letters except in escapes. Possessive:
# each run is scanned once.
_REST = r'(?:[^a-z"\\]++|\\(?:[bfnrt]|u[0-9a-f]{4})?)*+'
_BLANKS = r"(?:[^a-z0-9:\\]++|\\(?:[bfnrt]|u[0-9a-f]{4})?)*+"
_NAMED = rf'{_REST}"{_BLANKS}:'
_OPENED = r'(?:[^a-z0-9"\\]++|\\[bfnrt]?)*+"'
_ANY_WORD = "key|token|pass(?:word|wd|phrase|code)?|pwd|secret|jwt|cred(?:ential)?|cookie|authorization|pat"
# In sentences and commands a secret contains a digit, or is quoted.
_SAID = r"(?:[ \t*`:?]|[=\-]>){1,24}(?:(?:is|was|are)[: \t]{1,8}[*`\\\"']{0,80})?(?:'|[^\s0-9]{0,600}[0-9])"
_IN_LIST = r"[^a-z\"'\\]{0,40}\\*[\"'](?:[^a-z0-9\"'\\]|\\[bfnrt]?)*,"
_GIVEN = rf"(?:(?:_?[0-9]{{1,2}})?(?:(?:\\*[\"'])?[ \t]{{0,8}}:?[=:]|{_SAID})|{_NAMED}|{_IN_LIST}|[^a-z<>\s]{{0,40}}>)"
# After a plural: a list or an object, or lines below
_COLON = r"(?:\\*[\"'`])?(?:[ \t]{0,8}=|(?:[^a-z0-9:\\]|\\(?:[bfnrt]|u[0-9a-f]{4})?)*:)"
_MANY = rf"{_COLON}(?:[^a-z0-9\[{{\\]|\\[bfnrt]?)*(?:[\[{{|>\n\r-]|\\)"
_SHORTEST = len("://:p@")
_SHORTEST_WORD = len("AKIA") + 16
"""Length of the shortest secret, and of the shortest one without punctuation."""
_API_KEY = int(SecretRule.API_KEY)
_SET = SecretRule.KEY | SecretRule.ASSIGNED | SecretRule.URL
_BODY = r"[A-Za-z0-9_\-]"

# Each clue scans the whole text, so words and shapes with a common beginning share one. The search is gated by a
# literal, best a single character, which is cheapest.
_IN_ANY_CASE: tuple[tuple[str, re.Pattern[str], int], ...] = (
    # token, key: plurals count only with lists; cookie
    ("k", re.compile(rf"k(?:(?:e[ny]|ies?){_GIVEN}|e(?:n|y(?<=[a-z0-9_\-. ]key))s{_MANY})"), _SET),
    ("cre", re.compile(f"cre(?:t|dential|d)s?{_GIVEN}"), _SET | SecretRule.BASIC),  # secret
    ("pass", re.compile(rf"pass(?:word|wd|phrase|code)?s?{_GIVEN}"), _SET),
    ("w", re.compile(f"w(?:d(?<=pwd)|t(?<=jwt))s?{_GIVEN}"), _SET),
    ("auth", re.compile(
        rf"auth(?:orizations?{_GIVEN}|{_COLON}(?:[^a-z0-9\\]|\\[bfnrt]?)*[a-z0-9+/]{{8}})"
    ), _SET | SecretRule.BASIC),
    ("basic", re.compile(r"basic[ \t]{1,8}[a-z0-9+/]{8}"), int(SecretRule.BASIC)),
    ("bearer", re.compile(r"bearer(?::?[ \t\\\r\n]|%20|\+)"), int(SecretRule.BEARER)),
    ("@", re.compile(r":\\*/\\*/"), int(SecretRule.USER_INFO)),
    ("hooks", re.compile(r"hooks\.slack\.|webhooks\\?/"), int(SecretRule.USER_INFO)),
    ("=", re.compile(  # parameters of addresses
        "=(?:(?<=sig=)|(?<=signature=)|(?<=auth=)|(?<=assertion=)|(?<=samlresponse=)|(?<=hmac=))"
    ), int(SecretRule.URL)),
    ("%", re.compile("%(?:25)?3d"), int(SecretRule.URL)),  # the same, encoded
    ("-", re.compile(  # options of commands
        r"-(?:(?:(?<![a-z0-9_\-.]-)|(?<=\\[nrt]-))-?(?=[a-z])"
        rf"[a-z0-9_\-]{{0,60}}?(?:{_ANY_WORD})s?[ \t\\\r\n]"
        r"|[pb](?<=[\s\"']-.)|u(?<=[\s\"']-u)|-user(?<=[\s\"']--user)|cli(?:(?<=redis-cli)|(?<=valkey-cli)))"
    ), int(SecretRule.ASSIGNED)),
    ("identified", re.compile("identified[ \t]"), int(SecretRule.ASSIGNED)),
    ("verifier", re.compile(f"(?<=code.)verifier{_GIVEN}|codeverifier{_GIVEN}"), _SET),
    ("login", re.compile(r"wandb[ \t\"',\\]{1,40}login[ \t\"',\\]"), int(SecretRule.ASSIGNED)),
    ("sudo", re.compile(r"\|[ \t]{0,8}sudo[ \t]"), int(SecretRule.ASSIGNED)),
    # Shapes that begin with a word and _
    ("_", re.compile(f"_(?:[a-z0-9+/=]{{16}}|(?<=fo1_)[a-z0-9_\\-]{{16}}|pat{_GIVEN})"), _API_KEY | _SET),
)  # fmt: skip
_AS_WRITTEN: tuple[tuple[str, re.Pattern[str], int], ...] = (
    ("J", re.compile(rf"J(?:(?<=eyJ){_BODY}{{8}}|(?<=LS0tLS1CRUdJ)TiB)"), SecretRule.JWT | _API_KEY),  # -----BEGIN
    ("A", re.compile(rf"A(?:[KS]IA[A-Z0-9]{{16}}|Iza{_BODY}{{35}}|A(?<=:AA){_BODY}{{32}})"), _API_KEY),
    # sk-, glpat-, xapp-, pplx-, pypi-, xai-, xoxb-
    ("-", re.compile(
        rf"-(?:(?:(?<=(?:sk|pp|lx|pi|ai|ly)-)|(?<=KEY-)|(?<=pat-)|(?<=xox[a-z]-)|(?<=[NP][RM]AK-)){_BODY}{{10}}"
        r"|(?:(?<=pul-)|(?<=key-))[a-f0-9]{32}|us[0-9](?<=[a-f0-9]{32}-us.)"
        "|----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY)"
    ), _API_KEY | SecretRule.PRIVATE_KEY),
    # AQ., ya29., SG., hvs., sl.; Discord's
    (".", re.compile(
        rf"\.(?:(?<=[9GQs]\.){_BODY}{{16}}|(?<=sl\.)(?:[a-z]{{1,2}}\.)?{_BODY}{{16}}"
        rf"|(?<={_BODY}{{23}}\.){_BODY}{{6}}\.{_BODY}{{27}})"
    ), _API_KEY),
    ("TT3", re.compile(rf"TT3(?<=AT[AC]TT3){_BODY}{{16}}"), _API_KEY),
    ("dapi", re.compile("dapi[a-f0-9]{32}"), _API_KEY),
)  # fmt: skip

# {"name": "API_KEY", "value": "..."}, in either order
_HOLDS = re.compile(f"value{_COLON}")
_NAMES_SECRET = re.compile(rf"(?:{_ANY_WORD})[^a-z\"'`\\,]{{0,100}}(?:s[^a-z\"'`\\,]{{0,100}})?(?:[\"'`\\,]|value)")


def possible_rules(text: str) -> int:
    """Returns the rules that could find a secret in a text, or in its JSON; bits of `SecretRule`.

    Linear in the text, some nanoseconds a character.
    """
    length = len(text)
    if length < _SHORTEST or (length < _SHORTEST_WORD and text.isalnum()):  # names, and most values of JSON
        return NO_RULES
    if "\\" in text and _HIDING_ESCAPES.search(text):
        return ALL_RULES
    if not text.isascii():
        if _HIDING.search(text):
            return ALL_RULES
        text = text.encode("ascii", "replace").decode("ascii")  # other characters belong to no clue, and ASCII is fast
    # In lower case once, since case-insensitive expressions are several times slower.
    lowered = text.lower()
    found = NO_RULES
    for literal, clue, rules in _IN_ANY_CASE:
        # A literal search is far faster than an expression.
        if literal in lowered and clue.search(lowered):
            found |= rules
    for literal, clue, rules in _AS_WRITTEN:
        if literal in text and clue.search(text):
            found |= rules
    if "value" in lowered and _HOLDS.search(lowered) and _NAMES_SECRET.search(lowered):
        found |= SecretRule.KEY | SecretRule.ASSIGNED
    return found


def may_hold_secrets(text: str) -> bool:
    """Returns False if masking certainly finds no secret in a text, or in its JSON. Fast."""
    return possible_rules(text) != NO_RULES
