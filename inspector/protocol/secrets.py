"""Secrets in traffic, masked: values under telling keys, Bearer headers, tokens in URLs, web tokens, keys of services.

Views, copies and exports all go by the rules here, and show dots unless the user asks otherwise (design.md 4).
Structures are masked by `mask_secrets`, text (JSON inside JSON included) by `mask_text`; both know the same keys
(`secret_keys`), and both run only the rules that could find anything (`secret_clues`). What is given to a name in text
(`password: "..."`) is for `secret_assignments`.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from typing import Any, TypeAlias

from inspector.protocol.secret_assignments import mask_assigned
from inspector.protocol.secret_clues import NO_RULES, SecretRule, may_hold_secrets, rules_for
from inspector.protocol.secret_keys import holds_value, is_marker, is_secret_key, may_be_number, names_secret
from inspector.protocol.secret_pairs import mask_pairs
from inspector.protocol.secret_shapes import PATTERNS, PRIVATE_KEY, border, is_key

__all__ = ["MASK", "SecretRule", "Tally", "is_secret_key", "mask_secrets", "mask_text", "mask_value",
           "masked_words", "may_hold_secrets"]  # fmt: skip

MASK = "••••••••"
"""Stands for a secret of any length."""

Tally: TypeAlias = "Counter[SecretRule]"
"""Counts what was masked, by rule."""

_MAX_DEPTH = 200
_LOOKED_INTO = frozenset({str, dict, list})  # what decoded JSON has, and nothing that is derived from it

_PLAIN_KEYS = set[Any]()
"""Keys that hold no secret, as was found out before."""
_MOST_KEYS = 4096
_SHORT_KEY = 200
"""Keys that are remembered, and their characters."""
_NAMES, _HELD = ("name", "key", "Name", "Key"), ("value", "Value")
"""Under which an object says what its value is, and the value: `{"name": "API_KEY", "value": "..."}`."""
_READ_FOR_WORDS = 100_000  # characters, more than a web token has

# Every pattern is bounded, so that hostile text takes linear time.
_BEARER = re.compile(
    rf"((?i:bearer){border(6)}(?:[ \t]|\\{{1,64}}t){{1,8}})"
    r"(?!(?i:tokens?|auth\w*|scheme|header|of|the|and|is|in|for)\b)[A-Za-z0-9._~+/=\-]{3,}"
)
_IN_URL = re.compile(
    r"(?i)([?&#]([\w\-]{0,40}(?:token|secret|password|api_?key|(?<![a-z0-9])sig(?:nature)?))=)[^&\s\"'\\#<>]+"
)
_USER_INFO = re.compile(r"(:(?:\\{0,64}/){2}[^/\s:@\"']{0,128}:)[^/\s@\"']{1,256}(?=@)")
# A user without a password is a name, unless it is as long as a token, and has a digit.
_USER_TOKEN = re.compile(r"((?i:https?):(?:\\{0,64}/){2})(?=[A-Za-z_\-]{0,64}[0-9])[\w\-]{16,256}(?=@)")
# The border lets no second try start inside the first.
_JWT = re.compile(rf"eyJ{border(3, 'A-Za-z0-9_-')}[A-Za-z0-9_\-]{{8,4096}}\.[A-Za-z0-9_\-]{{4,65536}}\.[A-Za-z0-9_\-]*")
_AUTHORIZATION = rf"((?i:authorization){border(13)}[\"']?[ \t]{{0,8}}:[ \t]{{0,8}}[\"']?"
_BASIC = re.compile(rf"{_AUTHORIZATION}(?i:basic)[ \t]{{1,8}})[A-Za-z0-9+/=]{{3,}}")
_DIGEST = re.compile(
    rf"{_AUTHORIZATION}(?i:digest)[ \t]{{1,8}})"
    r"(?:[\w\-]{1,40}=(?:(\\{0,64}\")[^\"\r\n]{0,2048}?\2|[\w\-]{1,256})(?:,[ \t]{0,8})?){1,16}"
)
# Printable ASCII that needs no escape, at any depth: nobody writes it so but to hide something.
_PLAIN_ESCAPE = re.compile(r"(?<!\\)\\++u(00(?:2[013-9a-fA-F]|[346][0-9a-fA-F]|5[0-9abABd-fD-F]|7[0-9a-eA-E]))")

_PATTERNS: tuple[tuple[SecretRule, re.Pattern[str]], ...] = (
    (SecretRule.BEARER, _BEARER),
    (SecretRule.USER_INFO, _USER_INFO),
    (SecretRule.USER_INFO, _USER_TOKEN),
    (SecretRule.BASIC, _BASIC),
    (SecretRule.BASIC, _DIGEST),
    (SecretRule.PRIVATE_KEY, PRIVATE_KEY),
)
"""What stands before the secret is group 1."""


def mask_secrets(value: Any, tally: Tally | None = None) -> Any:
    """A copy of decoded JSON with every secret replaced by MASK; plain values come back as they are.

    Strings are masked as text, so a Bearer header or JSON inside a string is found too.

    Args:
        value: decoded JSON.
        tally: takes in how many secrets were found by which rule.
    """
    return _masked(value, 0, tally)


def _masked(value: Any, depth: int, tally: Tally | None) -> Any:
    if isinstance(value, str):
        return mask_text(value, tally=tally)
    if not isinstance(value, dict | list):
        return value
    if depth > _MAX_DEPTH:
        return _counted(MASK, tally)
    if isinstance(value, dict):
        if not _has_plain_keys(value):
            return _with_masked_keys(value, depth, tally)
        if ("value" in value or "Value" in value) and any(names_secret(value.get(name)) for name in _NAMES):
            return {k: _counted(MASK, tally) if k in _HELD and _is_text(v) else _under_key(k, v, depth, tally)
                    for k, v in value.items()}  # fmt: skip
        return {k: _under_key(k, v, depth, tally) for k, v in value.items()}
    # Long arrays of numbers are common, and cheap this way.
    return [_masked(item, depth + 1, tally) if type(item) in _LOOKED_INTO else item for item in value]


def _has_plain_keys(members: dict[Any, Any]) -> bool:
    """Whether no key of an object holds a secret itself; most keys are met again."""
    if _PLAIN_KEYS.issuperset(members):
        return True
    for key in members:
        if _is_plain_key(key) and len(str(key)) <= _SHORT_KEY:
            if len(_PLAIN_KEYS) >= _MOST_KEYS:
                _PLAIN_KEYS.clear()
            _PLAIN_KEYS.add(key)
    return all(map(_is_plain_key, members))


def _is_plain_key(key: object) -> bool:
    return not isinstance(key, str) or key in _PLAIN_KEYS or mask_text(key) == key


def _with_masked_keys(value: dict[Any, Any], depth: int, tally: Tally | None) -> dict[Any, Any]:
    """Members of which some have a secret for a key: what two of them become is numbered, so that none is lost."""
    taken = set(filter(_is_plain_key, value))
    members: dict[Any, Any] = {}
    for key, inner in value.items():
        shown = mask_text(key, tally=tally) if isinstance(key, str) else key
        if shown != key:
            first, number = shown, 2
            while shown in taken:
                shown, number = f"{first} ({number})", number + 1
            taken.add(shown)
        members[shown] = _under_key(key, inner, depth, tally)
    return members


def _under_key(key: object, value: Any, depth: int, tally: Tally | None) -> Any:
    if not isinstance(key, str) or not is_secret_key(key):
        return _masked(value, depth + 1, tally)
    return mask_value(key, value, depth, tally)


def mask_value(key: str, value: Any, depth: int = 0, tally: Tally | None = None) -> Any:
    """What a secret key's value becomes. Objects are looked into: a JSON schema may describe a `token`."""
    if isinstance(value, str):
        return _counted(MASK, tally) if value else value
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int | float):
        return value if may_be_number(key) else _counted(MASK, tally)
    if isinstance(value, list):
        return [
            (_counted(MASK, tally) if item else item) if isinstance(item, str) else _masked(item, depth + 1, tally)
            for item in value
        ]
    masked = _masked(value, depth + 1, tally)
    if not isinstance(value, dict):
        return masked
    return {
        key: _counted(MASK, tally) if isinstance(key, str) and holds_value(key) and _is_text(inner) else inner
        for key, inner in masked.items()
    }


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value not in ("", MASK)


def masked_words(value: object, longest: int) -> str:
    """A value of the wire as it stands in a sentence: text as it is, anything else as JSON.

    Secrets are masked before it is cut: of a secret cut in two nothing would know that it is one.

    Args:
        value: text or decoded JSON.
        longest: characters it may have.
    """
    if isinstance(value, str):
        text = mask_text(value[:_READ_FOR_WORDS])
    else:
        text = json.dumps(mask_secrets(value), ensure_ascii=False, default=str)
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _counted(masked: str, tally: Tally | None) -> str:
    if tally is not None:
        tally[SecretRule.KEY] += 1
    return masked


def mask_text(text: str, *, keep_length: bool = False, tally: Tally | None = None) -> str:
    """Text with its secrets replaced, however deeply JSON in it is escaped; the same object when there are none.

    Args:
        text: any text.
        keep_length: put one dot for each character, so that positions stay (byte dumps).
        tally: takes in how many secrets were found by which rule.
    """
    rules = rules_for(text)
    if rules == NO_RULES:
        return text
    if "\\u" not in text:
        return _mask_by(rules, text, keep_length, tally)
    plain = _PLAIN_ESCAPE.sub(_plain_character, text)
    if plain == text:
        return _mask_by(rules, text, keep_length, tally)
    as_said: Tally = Counter()
    as_written: Tally = Counter()
    masked = _mask_by(rules, plain, keep_length, as_said)
    written = _mask_by(rules, text, keep_length, as_written)
    hides_nothing = masked in (plain, _PLAIN_ESCAPE.sub(_plain_character, written))
    if tally is not None:
        tally.update(as_written if hides_nothing else as_said)
    if hides_nothing:  # the escapes may stay
        return written
    return _with_escapes(text, masked) if keep_length else masked


def _plain_character(found: re.Match[str]) -> str:
    return chr(int(found[1], 16))


def _with_escapes(text: str, masked: str) -> str:
    """A masked text at its old length: an escape becomes as many dots where its character was masked, else it stays.

    Args:
        text: with its escapes.
        masked: the text without them, masked character by character.
    """
    parts: list[str] = []
    done = place = 0  # in the text, in the masked one
    for escape in _PLAIN_ESCAPE.finditer(text):
        until = place + escape.start() - done
        parts.append(masked[place:until])
        parts.append("•" * len(escape[0]) if masked[until] == "•" else escape[0])
        done, place = escape.end(), until + 1
    return "".join((*parts, masked[place:]))


def _mask_by(rules: int, text: str, keep_length: bool, tally: Tally | None) -> str:
    """Text masked by some rules, bits of `SecretRule`."""

    def mask(secret: str, rule: SecretRule) -> str:
        if tally is not None and secret.strip("•"):  # what one rule masked is no find of the next
            tally[rule] += 1
        return "•" * len(secret) if keep_length else MASK

    masked = mask_pairs(text, lambda secret: mask(secret, SecretRule.KEY)) if rules & SecretRule.KEY else text
    for rule, pattern in _PATTERNS:
        if rules & rule:
            masked = pattern.sub(lambda m, rule=rule: m[1] + mask(m[0][len(m[1]) :], rule), masked)
    if rules & SecretRule.URL:
        masked = _IN_URL.sub(lambda m: _mask_query(m, mask), masked)
    if rules & SecretRule.ASSIGNED:
        masked = mask_assigned(masked, lambda secret: mask(secret, SecretRule.ASSIGNED))
    if rules & SecretRule.API_KEY:
        for pattern in PATTERNS:
            masked = pattern.sub(lambda m: _mask_key(m, mask), masked)
    return _JWT.sub(lambda m: mask(m[0], SecretRule.JWT), masked) if rules & SecretRule.JWT else masked


def _mask_key(found: re.Match[str], mask: Callable[[str, SecretRule], str]) -> str:
    body = found[0][len(found[1]) :]
    return found[1] + mask(body, SecretRule.API_KEY) if is_key(body) else found[0]


def _mask_query(found: re.Match[str], mask: Callable[[str, SecretRule], str]) -> str:
    return found[0] if is_marker(found[2]) else found[1] + mask(found[0][len(found[1]) :], SecretRule.URL)
