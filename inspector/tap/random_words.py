"""Whether a word is a name people gave something, or one made by chance, as keys and tokens are.

A name is spoken: most pairs of its letters are frequent ones. What is doubtful counts as random, since a name that is
hidden costs little. A password that is itself a word of some language cannot be told from a name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_FOLLOWED_BY = (
    "a:bcdgilmnprstuvy b:aeiloruy c:aehiklortu d:aeikosu e:abcdefglmnprstvwx f:aefiort g:aehinor h:aeiot "
    "i:abcdefglmnoprstv k:aei l:adeilostuy m:aeimops n:acdegiosty o:cdfglmnoprstuvw p:aeiloprtuy q:u r:acdeikmorstuvy "
    "s:acdehiopstuy t:aehiorstuwy u:bcdegilmnrst v:aei w:aehio x:t y:opst"
)
_FREQUENT = frozenset(said[0] + letter for said in _FOLLOWED_BY.split() for letter in said[2:])
"""Pairs of letters that make up 93 % of English text and of names of packages, and a third of all there are."""
_LEAST_SHARE = 0.65
_FEWEST_PAIRS = 7
_LONGEST = 24
_WELL_KNOWN = re.compile("mcp|sql|http|html|json|rpc|xml")
_KEY_PREFIX = re.compile(
    r"(?i)gh[oprsu]_|github_pat_|glpat-|xox[a-z]-|[spr]k[-_]|hf_|shpat_|whsec_|dop_v\d|a[ks]ia[a-z]{12}|aiza"
)
_SECRET_WORDS = frozenset({"password", "passwd", "passphrase", "secret"})
_PART = re.compile(r"[A-Za-z]+")
_SWITCH = re.compile(r"[a-z](?=[A-Z])")
_MOST_SWITCHES = 3
_UNSPEAKABLE = re.compile("[bcdfghjklmnpqrstvwxz]{5}")


def looks_random(word: str) -> bool:
    """Whether a word has the shape of a secret: a key's prefix, or letters as chance puts them together."""
    parts = _PART.findall(word)
    spoken = all(map(_is_spoken, parts)) and _has_frequent_pairs(parts)
    return not spoken or _KEY_PREFIX.match(word) is not None


def _is_spoken(part: str) -> bool:
    """Whether letters without anything between them may be words."""
    letters = _letters(part)
    return (
        letters not in _SECRET_WORDS and len(letters) <= _LONGEST and len(_SWITCH.findall(part)) <= _MOST_SWITCHES
        and _UNSPEAKABLE.search(letters) is None and _has_frequent_pairs([part])
    )  # fmt: skip


def _has_frequent_pairs(parts: Sequence[str]) -> bool:
    """Whether most pairs of letters in some parts of a word are frequent ones; so few that it may be chance are."""
    pairs = [letters[n : n + 2] for letters in map(_letters, parts) for n in range(len(letters) - 1)]
    return len(pairs) < _FEWEST_PAIRS or sum(pair in _FREQUENT for pair in pairs) >= _LEAST_SHARE * len(pairs)


def _letters(part: str) -> str:
    return _WELL_KNOWN.sub("", part.lower())
