"""Masks secrets in command lines before they are written into captures, since people share captures.

Kept are words that cannot be secrets: the program, names of options, packages of launchers, modules of Python, and
existing files. UUIDs name a session or an agent and are kept too, except after an option that names a secret. Every
other word is masked, also values of variables, and names that look secret (`looks_secret`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from itertools import pairwise

from inspector.protocol.secrets.secret_keys import is_secret_key
from inspector.protocol.secrets.spans import MASK

_OPTION = re.compile(r"-[A-Za-z]|--[A-Za-z][A-Za-z_-]{0,40}")
_ATTACHED = re.compile(r"-[A-Za-z](?=[^=])")
_PACKAGE = re.compile(r"@[a-z][a-z._-]{0,60}/[a-z][a-z._-]{0,60}(?:@(?:latest|[\d.]{1,20}))?")
_MODULE = re.compile(r"[A-Za-z_][A-Za-z_.]{0,80}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,80}(?==)")
_PYTHON = re.compile(r"(?:python|pypy)[\d.]{0,8}(?:\.exe)?|py")
_PYTHON_FLAGS = re.compile(r"-[bBdEiIOPqsSuvx]{1,8}|-\d(?:\.\d{1,2})?")
_SEPARATORS = re.compile(r"[/\\]")
_PLAIN = re.compile(r"(?:-{0,2}|\.{0,2}/|@)[A-Za-z]{1,18}[0-9]{0,3}(?:[-_./][A-Za-z]{1,18}[0-9]{0,3}){0,9}")
"""Names without any possible match of a secret rule."""
_LAUNCHERS = ("npx", "uvx", "pipx", "bunx", "pnpx")
_HARMLESS = ("-y", "--yes", "-q", "--quiet", "run")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_SERVER = re.compile(r"[a-z][a-z._-]{0,60}(?:@(?:latest|[\d.]{1,20}))?")


def shown_command(command: Sequence[str]) -> list[str]:
    """Returns the words of a command with possible secrets masked."""
    program = os.path.basename(command[0])  # noqa: PTH119 - pathlib costs a start 20 ms
    shown = [_masked(program)]
    launched = program.partition(".")[0] in _LAUNCHERS
    is_python = is_value = False
    for before, word in pairwise(command):
        # Only the interpreter's own options count: in a script's options, -m may mean anything.
        names_module = is_python and before == "-m"
        is_python = (not is_value and _PYTHON.fullmatch(_SEPARATORS.split(before)[-1]) is not None) or (
            is_python and _PYTHON_FLAGS.fullmatch(before) is not None
        )
        # An unknown option may take the next word as its value, so that word is never kept as a name.
        is_value = before.startswith("-") and before not in _HARMLESS and not names_module and not is_python
        # The first word that is not an option names the launched package.
        names_server = launched and not word.startswith("-") and word not in _HARMLESS
        launched = launched and (word in _HARMLESS)
        expected = (names_server and _SERVER) or (names_module and _MODULE)
        is_name = expected and expected.fullmatch(word) is not None and not looks_secret(word)
        is_id = _UUID.fullmatch(word) is not None and not is_secret_key(before)
        shown.append(_masked(word) if is_name or is_id else _shown_word(word, is_value=is_value))
    return shown


def _shown_word(word: str, *, is_value: bool) -> str:
    name, is_set, value = word.partition("=")
    if _OPTION.fullmatch(name) and _UUID.fullmatch(value) and not is_secret_key(name):
        return word
    if is_set and (_OPTION.fullmatch(name) or _VARIABLE.match(word)):
        return f"{name}={MASK}"
    is_name = word in _HARMLESS or (_PACKAGE.fullmatch(word) and not looks_secret(word))
    if _OPTION.fullmatch(word) or (is_name and not is_value) or _is_file(word):
        return _masked(word)
    attached = _ATTACHED.match(word)  # a value may be attached to an option's letter: -phunter2
    return (attached[0] if attached else "") + MASK


def _masked(word: str) -> str:
    if _PLAIN.fullmatch(word):
        return word
    from inspector.protocol.secrets.masking import mask_text  # takes 50 ms to import, which would delay the first line

    return mask_text(word)


def _is_file(word: str) -> bool:
    """Returns True for existing files written as a path; a plain word may be a password that equals a file name."""
    try:
        return ("/" in word or os.sep in word) and os.path.exists(word)  # noqa: PTH110 - as above
    except ValueError:
        return False


# Tells names that people chose from random keys and tokens.
#
# Names are pronounceable: most pairs of their letters are frequent. Doubtful words count as random, since hiding a name
# costs little. A password that is itself a word cannot be told from a name.

_FOLLOWED_BY = (
    "a:bcdgilmnprstuvy b:aeiloruy c:aehiklortu d:aeikosu e:abcdefglmnprstvwx f:aefiort g:aehinor h:aeiot "
    "i:abcdefglmnoprstv k:aei l:adeilostuy m:aeimops n:acdegiosty o:cdfglmnoprstuvw p:aeiloprtuy q:u r:acdeikmorstuvy "
    "s:acdehiopstuy t:aehiorstuwy u:bcdegilmnrst v:aei w:aehio x:t y:opst"
)
_FREQUENT = frozenset(group[0] + letter for group in _FOLLOWED_BY.split() for letter in group[2:])
"""Pairs of letters that make up 93 % of English text and package names, but only a third of all pairs."""
# Between the two shares above: plain words reach 93 %, random letters about a third.
_MIN_SHARE = 0.65
# The share of fewer pairs says little: short names such as `npx` or `jq` would count as random.
_MIN_PAIRS = 7
_MAX_LETTERS = 24
# These abbreviations have no frequent pairs, but many server names are made of them.
_WELL_KNOWN = re.compile("mcp|sql|http|html|json|rpc|xml")
_KEY_PREFIX = re.compile(
    r"(?i)gh[oprsu]_|github_pat_|glpat-|xox[a-z]-|[spr]k[-_]|hf_|shpat_|whsec_|dop_v\d|a[ks]ia[a-z]{12}|aiza"
)
_SECRET_WORDS = frozenset({"password", "passwd", "passphrase", "secret"})
_PART = re.compile(r"[A-Za-z]+")
_CASE_SWITCH = re.compile(r"[a-z](?=[A-Z])")
# Random letters change from small to capital more often than names of several words.
_MAX_CASE_SWITCHES = 3
# `y` is missing, since it often sounds as a vowel.
_UNPRONOUNCEABLE = re.compile("[bcdfghjklmnpqrstvwxz]{5}")


def looks_secret(word: str) -> bool:
    """Returns True if a word looks like a secret: a key prefix, or letters in random order."""
    parts = _PART.findall(word)
    spoken = all(map(_is_pronounceable, parts)) and _has_frequent_pairs(parts)
    return not spoken or _KEY_PREFIX.match(word) is not None


def _is_pronounceable(part: str) -> bool:
    """Returns True if a run of letters may be a word."""
    letters = _letters(part)
    return (
        letters not in _SECRET_WORDS and len(letters) <= _MAX_LETTERS
        and len(_CASE_SWITCH.findall(part)) <= _MAX_CASE_SWITCHES and _UNPRONOUNCEABLE.search(letters) is None
        and _has_frequent_pairs([part])
    )  # fmt: skip


def _has_frequent_pairs(parts: Sequence[str]) -> bool:
    """Returns True if most letter pairs are frequent, or if there are too few pairs to tell."""
    pairs = [letters[n : n + 2] for letters in map(_letters, parts) for n in range(len(letters) - 1)]
    return len(pairs) < _MIN_PAIRS or sum(pair in _FREQUENT for pair in pairs) >= _MIN_SHARE * len(pairs)


def _letters(part: str) -> str:
    return _WELL_KNOWN.sub("", part.lower())
