"""Prefilter of the secret rules: excludes rules that cannot match a text.

An excluded rule is certain; an included one may still find no secret. Most text has no secret, and the rules are
expensive. A clue is a literal that a rule requires, with a check of the characters after it (`"api_key":` and `key=`
are clues, `the key of the map` is none). A text may be JSON as written: quotes, slashes and blanks may be escaped, at
any depth.
"""

from __future__ import annotations

from enum import IntEnum
from functools import cache
from typing import Any, Final

from inspector.base.first_matches import Offsets, first_matches
from inspector.protocol.secrets.encoded_secrets import AMPERSANDS, ENCODED_QUOTES


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
    ENCODED = 512

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
    SecretRule.ENCODED: "Secrets in encoded text",
}

NO_RULES: Final = 0
ALL_RULES: Final = 1023
"""Bits of every rule."""

# RE2 searches all clues at once, over bytes, and has no look-behind.
_ESCAPE = r"\\(?:[bfnrt]|u[0-9a-f]{4})?"
# Between a key's last word and the colon after its closing quote there are no letters except in escapes.
_NAMED = rf'(?:[^a-z"\\]|{_ESCAPE})*"(?:[^a-z0-9:\\]|{_ESCAPE})*:'
_ANY_WORD = "(?:key|token|pass(?:word|wd|phrase|code)?|pwd|secret|jwt|cred(?:ential)?|cookie|authorization|pat)"
# In sentences and commands a secret contains a digit, or is quoted.
_SAID = r"(?:[ \t*`:?]|[=\-]>)+(?:(?:is|was|are)[: \t]+[*`\\\"']*)?(?:'|[^\s0-9]*[0-9])"
_IN_ADDRESS = "(?:sig|signature|auth|assertion|samlresponse|hmac)"
_IN_LIST = r"[^a-z\"'\\]*\\*[\"'](?:[^a-z0-9\"'\\]|\\[bfnrt]?)*,"
_GIVEN = rf"(?:(?:_?[0-9]{{1,2}})?(?:(?:\\*[\"']\]?)?[ \t]*:?[=:]|{_SAID})|{_NAMED}|{_IN_LIST}|[^a-z<>\s]{{0,40}}>)"
# After a plural: a list or an object, or lines below
_COLON = rf"(?:\\*[\"'`])?(?:[ \t]*=|(?:[^a-z0-9:\\]|{_ESCAPE})*:)"
_COLUMN = rf"(?:{_ANY_WORD}|verifier)s?[0-9_ .\-*`]*\\*\"?[ \t]*"
_MANY = rf"{_COLON}(?:[^a-z0-9\[{{\\]|\\[bfnrt]?)*(?:[\[{{|>\n\r-]|\\)"
_SHORTEST = len("://:p@")
_SHORTEST_WORD = len("AKIA") + 16
"""Length of the shortest secret, and of the shortest one without punctuation."""
_API_KEY = int(SecretRule.API_KEY)
_SET = SecretRule.KEY | SecretRule.ASSIGNED | SecretRule.URL
_MAX_MEMORY_BYTES = 64 << 20
"""Limit of the states that RE2 keeps; a tenth of it is usual."""
_BODY = r"[A-Za-z0-9_\-]"

_IN_ANY_CASE: tuple[tuple[str, int], ...] = (
    (f"k(?:e[ny]|ies?){_GIVEN}", _SET),  # token, key: plurals count only with lists; cookie
    (rf"(?:ken|[a-z0-9_\-. ]key)s{_MANY}", _SET),
    (f"cre(?:t|dential|d)s?{_GIVEN}", _SET | SecretRule.BASIC),  # secret
    (f"pass(?:word|wd|phrase|code)?s?{_GIVEN}", _SET),
    (f"(?:pwd|jwt)s?{_GIVEN}", _SET),
    (rf"auth(?:orizations?{_GIVEN}|{_COLON}(?:[^a-z0-9\\]|\\[bfnrt]?)*[a-z0-9+/]{{8}})", _SET | SecretRule.BASIC),
    (r"basic[ \t]{1,8}[a-z0-9+/]{8}", SecretRule.BASIC),
    (r"bearer(?::?[ \t\\\r\n]|%20|\+)", SecretRule.BEARER),
    (r"hooks\.slack\.|webhooks\\?/", SecretRule.USER_INFO),
    # Parameters of addresses, also encoded
    (f"{_IN_ADDRESS}=", SecretRule.URL),
    # Encoded text: a name before its equals sign, colon or closing quote; a user in an address; an element
    (
        rf"(?:{_IN_ADDRESS}|(?:{_ANY_WORD}|verifier)s?)[0-9_.\-]*(?:%(?:25){{0,3}}5c)*"
        rf"(?:%(?:25){{0,3}}3[ad]|{ENCODED_QUOTES}|{AMPERSANDS}gt;)",
        SecretRule.ENCODED,
    ),
    (r"3a%(?:25){0,3}2f%(?:25){0,3}2f[^\s/]{0,200}%(?:25){0,3}40", SecretRule.ENCODED),
    # Forms, and commands that set a variable
    (r"<input[\s\\/]|form-data;[ \t]{0,8}name=|<key>|token\\*[\"'][ \t]+content=", SecretRule.ASSIGNED),
    (rf"(?:name|key|id)=\\*[\"'][a-z0-9_.\-]{{0,60}}{_ANY_WORD}\\*[\"'][^<>]{{0,100}}>", SecretRule.ASSIGNED),
    (rf"{_ANY_WORD}[ \t*`]*\|[ \t*`]*[a-z0-9_\-.+/=~]{{16}}", SecretRule.ASSIGNED),  # cells of a table
    (rf"{_COLUMN}(?:[,;\t|]|\\+t)[ \t]*\\*\"?[*`]*[a-z#]", SecretRule.ASSIGNED),  # first columns, then the last one
    (rf"(?:[,;\t|]|\\+t)[ \t]*\\*\"?[a-z0-9_ .\-*`]*{_COLUMN}[|,;]?[ \t]*(?:[\r\n]|\\+[rn])", SecretRule.ASSIGNED),
    (
        r"setx[ \t]|set[ \t]+-[a-z]{0,3}x|\bset[ \t]+--?[a-z]|[ \t]secret[ \t]+set[ \t]|env[ \t]+add[ \t]",
        SecretRule.ASSIGNED,
    ),
    (r"(?:env|_var|variable|property|header|define)\(", SecretRule.ASSIGNED),
    # Options of commands
    (rf"(?:^|[^a-z0-9_\-.\n]|\\[nrt])--?(?:[a-z][a-z0-9_\-]*)?{_ANY_WORD}s?[ \t\\\r\n]", SecretRule.ASSIGNED),
    (r"[\s\"'](?:-[pbu]|--user)|(?:redis|valkey)-cli", SecretRule.ASSIGNED),
    (r"identified[ \t]|\|[ \t]{0,8}sudo[ \t]|wandb[ \t\"',\\]{1,40}login[ \t\"',\\]", SecretRule.ASSIGNED),
    (rf"code[^\n]{{0,4}}verifier{_GIVEN}", _SET),
    (r"_[a-z0-9+/=]{16}|fo1_[a-z0-9_\-]{16}", _API_KEY),  # shapes that begin with a word and _
    (f"_pat{_GIVEN}", _API_KEY | _SET),
    # Escaped ASCII would hide a clue, and so would characters that case folding turns into ASCII letters.
    (r"\\u(?:00[0-7]|013[01]|017f|212a)", ALL_RULES),
)
_AS_WRITTEN: tuple[tuple[str, int], ...] = (
    (rf"eyJ{_BODY}{{8}}|LS0tLS1CRUdJTiB", SecretRule.JWT | _API_KEY),  # the second is -----BEGIN in base64
    (rf"A[KS]IA[A-Z0-9]{{16}}|AIza{_BODY}{{16}}|:AA{_BODY}{{16}}|AT[AC]TT3{_BODY}{{16}}|dapi[a-f0-9]{{16}}", _API_KEY),
    # sk-, glpat-, xapp-, pplx-, pypi-, xai-, xoxb-
    (rf"(?:sk|pp|lx|pi|ai|ly|KEY|pat|xox[a-z]|[NP][RM]AK)-{_BODY}{{10}}", _API_KEY),
    (r"(?:pul|key)-[a-f0-9]{16}|[a-f0-9]{8}-us[0-9]", _API_KEY),
    ("-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY", SecretRule.PRIVATE_KEY),
    (rf"[9GQs]\.{_BODY}{{16}}|sl\.(?:[a-z]{{1,2}}\.)?{_BODY}{{16}}", _API_KEY),  # AQ., ya29., SG., hvs., sl.
    (rf"{_BODY}{{8}}\.{_BODY}{{6}}\.{_BODY}{{16}}", _API_KEY),  # Discord's
    ("|".join(one.encode().decode("latin-1") for one in "\u0130\u0131\u017f\u212a"), ALL_RULES),
)
# {"name": "API_KEY", "value": "..."}, in either order
_HOLDS, _HOLDS_VALUE = f"value{_COLON}", ALL_RULES + 1
_NAMES_SECRET = rf"{_ANY_WORD}[^a-z\"'`\\,]*(?:s[^a-z\"'`\\,]*)?(?:[\"'`\\,]|value)"


class _Clues:
    """The clues, compiled on first use: RE2 is a C++ library."""

    def __init__(self) -> None:
        import re2

        options = re2.Options()
        options.encoding = re2.Options.Encoding.LATIN1
        options.log_errors = False
        options.max_mem = _MAX_MEMORY_BYTES
        any_case = [(f"(?im:{clue})", rules) for clue, rules in _IN_ANY_CASE]
        table = [*any_case, *_AS_WRITTEN, (f"(?i:{_HOLDS})", _HOLDS_VALUE)]
        self._rules = [int(rules) for _, rules in table]
        self._set = re2.Set.SearchSet(options)
        for clue, _ in table:
            self._set.Add(clue.encode("latin-1"))
        self._set.Compile()

        def compiled(pattern: str) -> Any:
            return re2.compile(pattern.encode("latin-1"), options=options)

        self._any = compiled("|".join([clue for clue, _ in table]))
        self._authority = compiled(r":\\*/\\*/")
        self._names = compiled(f"(?i:{_NAMES_SECRET})")

    def rules(self, text: bytes) -> int:
        """As `possible_rules`."""
        found = int(SecretRule.USER_INFO) if b"@" in text and self._authority.search(text) else NO_RULES
        for clue in self._set.Match(text) or ():
            found |= self._rules[clue]
        if found & _HOLDS_VALUE:
            found &= ~_HOLDS_VALUE
            found |= SecretRule.KEY | SecretRule.ASSIGNED if self._names.search(text) else NO_RULES
        return found

    def rows(self, data: bytes, starts: Offsets, ends: Offsets) -> list[int]:
        """As `rows_with_clues`."""
        rows = {row for row, _, _ in first_matches(self._any.finditer, data, starts, ends)}
        if b"@" in data:
            rows.update(row for row, _, _ in first_matches(self._authority.finditer, data, starts, ends))
        return [row for row in sorted(rows) if self.rules(data[int(starts[row]) : int(ends[row])])]


_clues = cache(_Clues)


def possible_rules(text: str) -> int:
    """Returns the rules that could find a secret in a text, or in its JSON; bits of `SecretRule`.

    Linear in the text, some nanoseconds a character.
    """
    length = len(text)
    if length < _SHORTEST or (length < _SHORTEST_WORD and text.isalnum()):  # names, and most values of JSON
        return NO_RULES
    return _clues().rules(text.encode("utf-8", "replace"))


def rows_with_clues(data: bytes, starts: Offsets, ends: Offsets) -> list[int]:
    """Returns the records that may hold a secret, by number.

    Args:
        data: bytes with all records.
        starts, ends: (k,) integer, offsets of the records, ascending; they do not overlap.
    """
    return _clues().rows(data, starts, ends)


def may_hold_secrets(text: str) -> bool:
    """Returns False if masking certainly finds no secret in a text, or in its JSON. Fast."""
    return possible_rules(text) != NO_RULES
