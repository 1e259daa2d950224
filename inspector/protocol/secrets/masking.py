"""Masks secrets in text and values: secret keys, Bearer headers, URLs, web tokens, service and private keys.

Views, copies and exports all use these rules, and show dots unless the user asks otherwise (docs/design.md 4).
`mask_secrets` masks structures, `mask_text` masks text (JSON inside JSON included). Both know the same keys
(`secret_keys`), and run only the rules that may match (`rule_prefilter`). `named_value_secrets` handles assignments in
text (`password: "..."`).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from typing import Any, TypeAlias

from inspector.protocol.secrets.encoded_secrets import mask_encoded
from inspector.protocol.secrets.form_secrets import mask_forms
from inspector.protocol.secrets.header_secrets import (
    is_user_and_password,
    mask_bearers,
    mask_cookies,
    mask_headers,
    mask_listed,
    mask_logins,
    secret_item_indices,
)
from inspector.protocol.secrets.json_pair_secrets import mask_pairs
from inspector.protocol.secrets.key_shapes import (
    PATTERNS,
    PRIVATE_KEY,
    PRIVATE_LINE,
    is_made_key,
    is_no_placeholder,
    word_start_pattern,
)
from inspector.protocol.secrets.line_secrets import mask_lines
from inspector.protocol.secrets.named_value_secrets import NAME_KEYS, VALUE_KEYS
from inspector.protocol.secrets.rule_prefilter import NO_RULES, SecretRule, may_hold_secrets, possible_rules
from inspector.protocol.secrets.secret_keys import (
    VALUE_LIST_KEYS,
    ends_in_spaced_name,
    is_marker,
    is_plural_secret_key,
    is_secret_key,
    is_secret_name,
    is_value_key,
    looks_random,
    may_be_number,
    may_name_place,
)
from inspector.protocol.secrets.spans import MASK, replace_spans
from inspector.protocol.secrets.table_secrets import mask_tables

# Assignments of secrets in text: `token=...`, `password: "..."`, `X-API-Key: ...`, `{'token': '...'}`.
# `secret_keys` judges the name. In possible prose or code, a value is masked only if it looks like a secret: "password:
# required", `token: str` and `key=self.key` stay.

_WORDS = (
    "token|password|passwd|passphrase|passcode|pass|pwd|secret|key|jwt|credential|cred|cookie|authorization|verifier"
    "|_pat"
)
# Bounded, so that hostile text takes linear time.
_ASSIGNED = re.compile(
    rf"(?i)(?=(?-i:[tpskjcavTPSKJCAV_]))(?:{_WORDS})s?(?:_?[0-9]{{1,2}})?"
    r"(?P<gap>(?P<close>'|\\{0,64}[\"']\]|)[ \t]{0,8}:?(?:=(?!=)|:(?![/:=]))[ \t]{0,8})"
    # Tags and anchors of YAML; &mut is of Rust
    r"(?:(?:!!(?:str|binary|int|float|bool|null)|!vault|!unsafe|&(?!(?:mut|dyn)\b)[\w.\-]{1,64})[ \t]{1,8}){0,2}+"
    r"(?:(?:token|apikey|digest)[ \t]{1,8})?"
    r"(?:b(?=[\"'\\]))?"  # bytes of Python
    r"(?:(?P<quote>(?:\\{0,64}[\"']){1,3})(?P<quoted>(?![\s,:}\])])[^\"'\r\n]{2,256}?[^\"'\r\n\\])(?P=quote)"
    r"|(?:\\{0,64}[\"'](?![,:}\])]))?(?P<plain>[^\s&\"'\\<>]{3,}))"
)
_NAME = re.compile(
    r"(?P<address>[?&#])?(?P<escape>\\(?:[bfnrt]|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2})|%[0-9a-fA-F]{2}|\[[0-9;]{0,24}[mK])?"
    r"(?P<name>[\w\-]*)\Z"
)
_LONGEST_NAME = 64
_TELLING = re.compile(r"[0-9]|[!@#%^](?=.)")
_CODE = re.compile(
    r"[(\[{]|#[0-9a-fA-F]{3,8}\Z|\$[{(]|\$[A-Z_][A-Z0-9_]*\W*\Z|\{\{|%[({]|[A-Za-z_.]+[(\[]"
    r"|!(?:Ref|GetAtt|Sub|ImportValue|FindInMap|Join|Select|If|secret|env_var|reference)\Z"
    r"|(?:self|this|cls|os|sys|process|config|settings|args|options|opts|params|env|environ|ctx|context|request|req"
    r"|response|res|state|props|secrets|vars)\.[A-Za-z_]"
)
_CALL = re.compile(r"[\w.]+[(\[]")
_NUMBER = re.compile(r"[0-9.,]+")
_DOTTED = re.compile(r"[a-z]{2,20}(?:\.[a-z]{2,20}){1,4}")  # token="severity.error"
_PASSWORD = re.compile(r"(?i)pass|pwd")
_NO_VALUES = frozenset(
    ("none", "null", "nil", "undefined", "true", "false", "int", "str", "string", "bool", "boolean", "float", "bytes",
     "object", "any", "number", "token", "password", "secret", "optional", "required",
     "basic", "bearer")
)  # fmt: skip


def mask_assigned(text: str, mask: Callable[[str], str]) -> str:
    """Masks values assigned to names of secrets.

    Args:
        text: any text.
        mask: returns the replacement of a secret.
    """

    def masked(found: re.Match[str]) -> str:
        group = "quoted" if found["quoted"] is not None else "plain"
        if not _is_assigned_secret(found, found[group], quoted=group == "quoted"):
            return found[0]
        start, end = found.start(group) - found.start(), found.end(group) - found.start()
        return found[0][:start] + mask(found[group]) + found[0][end:]

    return _ASSIGNED.sub(masked, text)


def _is_assigned_secret(found: re.Match[str], value: str, *, quoted: bool) -> bool:
    """Returns True if an assigned value is a secret."""
    word = value.rstrip(" ,;:|)]}.?!").lower()
    if word in _NO_VALUES or len(set(value)) == 1 or _CODE.match(value):  # also dots: masked already
        return False
    if not quoted and (found["close"] or (found["gap"] != "=" and not _TELLING.search(value))):
        return False
    before = found.string[max(0, found.start() - _LONGEST_NAME) : found.start("gap")]
    if ends_in_spaced_name(before):
        return looks_random(value.rstrip(".,;:!?)"))
    name = _NAME.search(before)
    if name is None or name["address"]:  # the rule for addresses has handled it
        return False
    key = next(filter(is_secret_key, (name["name"], (name["escape"] or "")[-1:] + name["name"])), None)
    if key is None or key.lower().endswith(word):  # f(password=password)
        return False
    # The value is a place or a number, not the secret itself.
    if (may_be_number(key) and _DOTTED.fullmatch(value)) or (may_name_place(key) and not looks_random(value)):
        return False
    return found["gap"] == "=" or not (_CALL.match(value) or (_NUMBER.fullmatch(word) and not _PASSWORD.search(key)))


# Secrets in addresses: `?token=...`, `https://me:...@host`, hooks callable by anyone who knows them.
# Addresses may occur in JSON (`\/`) and in pages (`&amp;`); `encoded_secrets` decodes those within other addresses.

_QUERY = re.compile(r"(?:[?&#]|&amp;)([\w\-.]{1,64})=")
_VALUE = re.compile(r"[^&\s\"'\\#<>]+")
_SIGNATURE = re.compile(r"(?i)(?<![a-z0-9])sig(?:nature)?\Z|token\Z|secret\Z|password\Z|api_?key\Z")
_ENDS = re.compile(r"[A-Za-z](?:_?[0-9]{1,2})?\Z")
_ONLY_HERE = frozenset(("auth", "_auth", "authkey", "assertion", "client_assertion", "samlresponse", "hmac"))
"""Parameter names that are secret only in addresses; elsewhere they name a method or an object."""

_USER_INFO = re.compile(
    r"(:(?:\\{0,64}/){2}[^/\s:@\"'<>]{0,128}:)"
    r"(?!x-oauth-basic@)(?:[^/\s\"'<>\\]{1,256}|(?!\d{1,5}/)[^/\s\"'<>@\\]{1,128}/[^/\s\"'<>@\\]{0,128})(?=@)"
)
# A user without a password is a name, unless it is as long as a token, and has a digit.
_USER_TOKEN = re.compile(
    r"((?i:https?):(?:\\{0,64}/){2})(?=[A-Za-z_\-]{0,64}[0-9])[\w\-]{16,256}(?=(?::(?:x-oauth-basic)?)?@)"
)
# In JSON the slashes may be escaped.
_HOOK = re.compile(
    r"((?i:hooks\.slack\.com(?:\\?/)(?:services|workflows|triggers)|discord(?:app)?\.com(?:\\?/)api(?:\\?/)webhooks)(?:\\?/))"
    r"[\w\-]{1,64}(?:(?:\\?/)[\w\-]{1,128}){1,4}"
)
_BOT = re.compile(r"((?<![0-9])[0-9]{8,12}:)AA[\w\-]{32,40}(?![\w\-])")


def mask_queries(text: str, mask: Callable[[str], str]) -> str:
    """Masks secret parameters of addresses and forms."""
    given = ((found[1], _VALUE.match(text, found.end())) for found in _QUERY.finditer(text))
    values = (value.span() for name, value in given if value and _is_secret(name, value[0]))
    return replace_spans(text, values, mask)


def _is_secret(name: str, value: str) -> bool:
    """Returns True if a parameter's value is a secret."""
    if name.lower() == "key":  # a key of Google's services, or of a record or a file
        return is_made_key(value)
    if _ENDS.search(name) is None or is_marker(name):
        return False
    return _SIGNATURE.search(name) is not None or name.lower() in _ONLY_HERE or is_secret_key(name)


def mask_users(text: str, mask: Callable[[str], str]) -> str:
    """Masks passwords and tokens of users in addresses, and the secret part of hooks."""
    for pattern in (_USER_TOKEN, _USER_INFO, _HOOK):
        text = pattern.sub(lambda found: found[1] + mask(found[0][len(found[1]) :]), text)
    return text


def mask_bots(text: str, mask: Callable[[str], str]) -> str:
    """Masks Telegram's bot tokens, which occur mostly in addresses."""
    if ":AA" not in text:
        return text
    return _BOT.sub(lambda found: found[1] + mask(found[0][len(found[1]) :]), text)


__all__ = [
    "MASK",
    "MAX_SECRET_LENGTH",
    "MaskCounts",
    "SecretRule",
    "is_secret_key",
    "mask_secrets",
    "mask_text",
    "mask_value",
    "masked_beginning",
    "masked_value_text",
    "may_hold_secrets",
]  # fmt: skip

MaskCounts: TypeAlias = "Counter[SecretRule]"
"""Counts masked secrets by rule."""

_MAX_DEPTH = 200
_SEARCHED_TYPES = frozenset({str, dict, list})  # exact types of decoded JSON, without subclasses

_PLAIN_KEYS = set[Any]()
"""Cache of keys without a secret."""
_MAX_CACHED_KEYS = 4096
_MAX_CACHED_KEY_LENGTH = 200
"""Limits of the cache: keys, and characters of a key."""
_AUTH = ("auth", "_auth")
"""Keys with a user's name and password in base64, in files of Docker and npm."""
MAX_SECRET_LENGTH = 100_000
"""Characters examined after a truncation, more than a web token has."""

# Every pattern is bounded, so that hostile text takes linear time. The border prevents a second match from starting
# inside the first.
_JWT = re.compile(
    rf"eyJ{word_start_pattern(3, 'A-Za-z0-9_-')}[A-Za-z0-9_\-]{{8,4096}}\."
    r"(?:[A-Za-z0-9_\-]{4,65536})?\.[A-Za-z0-9_\-]*(?:\.[A-Za-z0-9_\-]{1,65536}){0,2}"  # encrypted ones have five parts
)
# Printable ASCII that needs no escape, at any depth; such an escape is written only for concealment.
_PLAIN_ESCAPE = re.compile(r"(?<!\\)\\++u(00(?:2[013-9a-fA-F]|[346][0-9a-fA-F]|5[0-9abABd-fD-F]|7[0-9a-eA-E]))")


def mask_secrets(value: Any, tally: MaskCounts | None = None) -> Any:
    """Returns a copy of decoded JSON with every secret replaced by MASK; plain values are returned unchanged.

    Strings are masked as text, so a Bearer header or JSON inside a string is found too.

    Args:
        value: decoded JSON.
        tally: counts the found secrets by rule.
    """
    return _masked(value, 0, tally)


def _masked(value: Any, depth: int, tally: MaskCounts | None) -> Any:
    if isinstance(value, str):
        return mask_text(value, tally=tally)
    if not isinstance(value, dict | list):
        return value
    if depth > _MAX_DEPTH:
        return _counted(MASK, tally)
    if isinstance(value, dict):
        if not _has_plain_keys(value):
            return _with_masked_keys(value, depth, tally)
        if not VALUE_KEYS.isdisjoint(value) and any(
            is_secret_name(value[name]) for name in NAME_KEYS.intersection(value)
        ):
            return {
                k: mask_value("value", v, depth, tally)
                if k in VALUE_KEYS and not isinstance(v, int | float)
                else _under_key(k, v, depth, tally)
                for k, v in value.items()
            }
        return {k: _under_key(k, v, depth, tally) for k, v in value.items()}
    # Fast path for long arrays of numbers, which are common.
    items = [_masked(item, depth + 1, tally) if type(item) in _SEARCHED_TYPES else item for item in value]
    for place in secret_item_indices(value):
        items[place] = _counted(MASK, tally)
    return items


def _has_plain_keys(members: dict[Any, Any]) -> bool:
    """Returns True if no key of an object contains a secret; most keys repeat, so a cache answers."""
    if _PLAIN_KEYS.issuperset(members):
        return True
    for key in members:
        if _is_plain_key(key) and len(str(key)) <= _MAX_CACHED_KEY_LENGTH:
            # Emptied as a whole, since keys from the wire could fill it.
            if len(_PLAIN_KEYS) >= _MAX_CACHED_KEYS:
                _PLAIN_KEYS.clear()
            _PLAIN_KEYS.add(key)
    return all(map(_is_plain_key, members))


def _is_plain_key(key: object) -> bool:
    return not isinstance(key, str) or key in _PLAIN_KEYS or mask_text(key) == key


def _with_masked_keys(value: dict[Any, Any], depth: int, tally: MaskCounts | None) -> dict[Any, Any]:
    """Masks members with secrets in their keys; equal masked keys are numbered, so that none is lost."""
    taken = set(filter(_is_plain_key, value))
    members: dict[Any, Any] = {}
    for key, inner in value.items():
        shown = mask_text(key, tally=tally) if isinstance(key, str) else key
        if shown != key:
            first, number = shown, 2
            # Two different keys may look alike once they are masked.
            while shown in taken:
                shown, number = f"{first} ({number})", number + 1
            taken.add(shown)
        members[shown] = _under_key(key, inner, depth, tally)
    return members


def _under_key(key: object, value: Any, depth: int, tally: MaskCounts | None) -> Any:
    if isinstance(key, str) and is_secret_key(key):
        return mask_value(key, value, depth, tally)
    if isinstance(value, str):
        held = key in _AUTH and is_user_and_password(value)
        return _counted(MASK, tally) if held else mask_text(value, tally=tally)
    if isinstance(key, str) and key[-1:] in "sS" and isinstance(value, dict | list) and is_plural_secret_key(key):
        return _mask_many(value, depth, tally)
    return _masked(value, depth + 1, tally)


def _mask_many(value: dict[Any, Any] | list[Any], depth: int, tally: MaskCounts | None) -> Any:
    """Masks a list or an object under a plural key: `{"tokens": ["..."]}`, or by their names."""
    masked = _masked(value, depth + 1, tally)
    if isinstance(value, list):
        return [_counted(MASK, tally) if isinstance(one, str) and looks_random(one) else one for one in masked]
    return {
        k: _counted(MASK, tally) if isinstance(one, str) and looks_random(one) else one for k, one in masked.items()
    }


_REPLACED = re.compile(
    r"(?:[A-Za-z][\w-]{0,24} )?"
    r"(?:\[(?:masked|redacted|removed|hidden|filtered)\]|<(?:masked|redacted|removed)>|\*{3,64})",
    re.IGNORECASE,
)
"""Other programs' replacements of a secret, after an Authorization's scheme or alone."""


def mask_value(key: str, value: Any, depth: int = 0, tally: MaskCounts | None = None) -> Any:
    """Masks a secret key's value. Objects are searched: a JSON schema may describe a `token`."""
    if isinstance(value, str):
        if not value or _REPLACED.fullmatch(value) is not None or (may_name_place(key) and not looks_random(value)):
            return value
        return _counted(MASK, tally)
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int | float):
        # Under some keys a number is a count, not a secret.
        return value if may_be_number(key) else _counted(MASK, tally)
    if isinstance(value, list):
        return [_item_under_key(item, depth, tally) for item in value]
    masked = _masked(value, depth + 1, tally)
    if not isinstance(value, dict):
        return masked
    return _members_held(masked, tally)


def _members_held(masked: dict[Any, Any], tally: MaskCounts | None) -> dict[Any, Any]:
    """Masks an object under a secret's key after its members were masked."""
    return {
        key: _several_held(inner, tally)
        if key in VALUE_LIST_KEYS
        else _counted(MASK, tally)
        if isinstance(key, str) and is_value_key(key) and _is_text(inner)
        else inner
        for key, inner in masked.items()
    }


def _several_held(masked: Any, tally: MaskCounts | None) -> Any:
    if isinstance(masked, dict):
        return _members_held(masked, tally)
    if isinstance(masked, list):
        return [_counted(MASK, tally) if _is_text(one) else _several_held(one, tally) for one in masked]
    return masked


def _item_under_key(item: Any, depth: int, tally: MaskCounts | None) -> Any:
    if isinstance(item, str):
        return _counted(MASK, tally) if item else item
    return mask_value("", item, depth + 1, tally) if isinstance(item, dict) else _masked(item, depth + 1, tally)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value not in ("", MASK)


def masked_value_text(value: object, longest: int) -> str:
    """Returns a wire value for a sentence: text unchanged, other values as JSON.

    Secrets are masked before truncation, since half a secret would not be detected.

    Args:
        value: text or decoded JSON.
        longest: limit of characters.
    """
    if isinstance(value, str):
        text = mask_text(value[:MAX_SECRET_LENGTH])
    else:
        text = json.dumps(mask_secrets(value), ensure_ascii=False, default=str)
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def masked_beginning(text: str, longest: int) -> str:
    """Returns the beginning of a text, masked before truncation, since half a secret would not be detected.

    Args:
        text: any text.
        longest: limit of characters.
    """
    return mask_text(text[: longest + MAX_SECRET_LENGTH])[:longest]


def _counted(masked: str, tally: MaskCounts | None) -> str:
    if tally is not None:
        tally[SecretRule.KEY] += 1
    return masked


def mask_text(text: str, *, keep_length: bool = False, tally: MaskCounts | None = None) -> str:
    """Masks secrets in a text, at any depth of escaped JSON; returns the same object if there are none.

    Args:
        text: any text.
        keep_length: replace each character by one dot, so that positions stay (byte dumps).
        tally: counts the found secrets by rule.
    """
    rules = possible_rules(text)
    if rules == NO_RULES:
        return text
    if "\\u" not in text:
        return _mask_by(rules, text, keep_length, tally)
    # Escapes may hide a secret, so the text without them is masked too.
    plain = _PLAIN_ESCAPE.sub(_plain_character, text)
    if plain == text:
        return _mask_by(rules, text, keep_length, tally)
    tally_of_rules: MaskCounts = Counter()
    as_written: MaskCounts = Counter()
    masked = _mask_by(rules, plain, keep_length, tally_of_rules)
    written = _mask_by(rules, text, keep_length, as_written)
    hides_nothing = masked in (plain, _PLAIN_ESCAPE.sub(_plain_character, written))
    if tally is not None:
        tally.update(as_written if hides_nothing else tally_of_rules)
    if hides_nothing:  # the escapes may stay
        return written
    return _with_escapes(text, masked) if keep_length else masked


def _plain_character(found: re.Match[str]) -> str:
    return chr(int(found[1], 16))


def _with_escapes(text: str, masked: str) -> str:
    """Restores the length of a masked text: an escape becomes as many dots if its character was masked, else it stays.

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


def _mask_decoded(text: str) -> str:
    """Masks a text decoded from another, which may be encoded once more."""
    rules = possible_rules(text)
    return _mask_by(rules & ~SecretRule.ENCODED, text, keep_length=True, tally=None) if rules else text


def _mask_by(rules: int, text: str, keep_length: bool, tally: MaskCounts | None) -> str:
    """Masks a text by some rules, bits of `SecretRule`."""

    # The length stays where positions matter, as in highlighted text.
    def mask(secret: str, rule: SecretRule) -> str:
        if tally is not None and secret.strip("•"):  # text masked by one rule does not count for the next
            tally[rule] += 1
        return "•" * len(secret) if keep_length else MASK

    masked = text
    for rule, mask_rule in _RULES:
        if rules & rule:
            masked = mask_rule(masked, lambda secret, rule=rule: mask(secret, rule))
    if rules & SecretRule.API_KEY:
        for pattern in PATTERNS:
            masked = pattern.sub(lambda m: _mask_key(m, mask), masked)
    if rules & SecretRule.JWT:
        masked = _JWT.sub(lambda m: mask(m[0], SecretRule.JWT), masked)
    if rules & SecretRule.ENCODED:
        masked = mask_encoded(masked, lambda secret: mask(secret, SecretRule.ENCODED), _mask_decoded)
    return masked


def _mask_key(found: re.Match[str], mask: Callable[[str, SecretRule], str]) -> str:
    body = found[0][len(found[1]) :]
    return found[1] + mask(body, SecretRule.API_KEY) if is_no_placeholder(body) else found[0]


def _mask_private_keys(text: str, mask: Callable[[str], str]) -> str:
    def masked(found: re.Match[str]) -> str:
        lines = found[0][len(found[1]) :]
        in_quotes = '"' in lines or "'" in lines  # quotes stay, since they belong to the surrounding syntax
        return found[1] + (PRIVATE_LINE.sub(lambda line: mask(line[0]), lines) if in_quotes else mask(lines))

    return PRIVATE_KEY.sub(masked, text)


_RULES: tuple[tuple[SecretRule, Callable[[str, Callable[[str], str]], str]], ...] = (
    (SecretRule.KEY, mask_pairs),
    (SecretRule.KEY, mask_listed),
    (SecretRule.BEARER, mask_bearers),
    (SecretRule.USER_INFO, mask_users),
    (SecretRule.BASIC, mask_headers),
    (SecretRule.API_KEY, mask_bots),
    (SecretRule.PRIVATE_KEY, _mask_private_keys),
    (SecretRule.URL, mask_queries),
    (SecretRule.ASSIGNED, mask_cookies),
    (SecretRule.ASSIGNED, mask_logins),
    (SecretRule.ASSIGNED, mask_forms),
    (SecretRule.ASSIGNED, mask_tables),
    (SecretRule.ASSIGNED, mask_lines),
    (SecretRule.ASSIGNED, mask_assigned),
)
"""In this order: later rules see the text masked by earlier ones."""
