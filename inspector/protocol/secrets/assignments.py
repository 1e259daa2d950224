"""Secrets that are given to a name in text: `token=...`, `password: "..."`, `X-API-Key: ...`, `{'token': '...'}`.

What a name says is for `secret_keys`. Where it may as well be prose or code, a value is a secret only when it looks
like one: "password: required", `token: str` and `key=self.key` stay.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from inspector.protocol.secrets.keys import is_secret_key, may_be_number

_WORDS = "token|password|passwd|passphrase|passcode|pass|pwd|secret|key|jwt|credential|cred|cookie|authorization|_pat"
# Bounded, so that hostile text takes linear time.
_ASSIGNED = re.compile(
    rf"(?i)(?=(?-i:[tpskjcaTPSKJCA_]))(?:{_WORDS})s?(?:_?[0-9]{{1,2}})?"
    r"(?P<gap>(?P<close>'?)[ \t]{0,8}:?(?:=(?!=)|:(?![/:=]))[ \t]{0,8})"
    r"(?:(?:token|apikey|digest)[ \t]{1,8})?"
    r"(?:b(?=[\"'\\]))?"  # bytes of Python
    r"(?:(?P<quote>\\{0,64}[\"'])(?P<quoted>(?![\s,:}\])])[^\"'\r\n]{2,256}?[^\"'\r\n\\])(?P=quote)"
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
    """A text with the values given to names of secrets replaced.

    Args:
        text: any text.
        mask: what becomes of a secret.
    """

    def masked(found: re.Match[str]) -> str:
        group = "quoted" if found["quoted"] is not None else "plain"
        if not _is_secret(found, found[group], quoted=group == "quoted"):
            return found[0]
        start, end = found.start(group) - found.start(), found.end(group) - found.start()
        return found[0][:start] + mask(found[group]) + found[0][end:]

    return _ASSIGNED.sub(masked, text)


def _is_secret(found: re.Match[str], value: str, *, quoted: bool) -> bool:
    """Whether a value given to something is a secret."""
    word = value.rstrip(" ,;:|)]}.?!").lower()
    if word in _NO_VALUES or len(set(value)) == 1 or _CODE.match(value):  # dots as well: what was masked
        return False
    if not quoted and (found["close"] or (found["gap"] != "=" and not _TELLING.search(value))):
        return False
    name = _NAME.search(found.string[max(0, found.start() - _LONGEST_NAME) : found.start("gap")])
    if name is None or name["address"]:  # in addresses the rule for them has looked
        return False
    key = next(filter(is_secret_key, (name["name"], (name["escape"] or "")[-1:] + name["name"])), None)
    if key is None or key.lower().endswith(word):  # f(password=password)
        return False
    if may_be_number(key) and _DOTTED.fullmatch(value):
        return False
    return found["gap"] == "=" or not (_CALL.match(value) or (_NUMBER.fullmatch(word) and not _PASSWORD.search(key)))
