"""Masks secrets in headers, cookies and logins within text: `Authorization: Token ...`, `["-u", "me:..."]`.

The scheme of an Authorization stays visible. Lists of header and value are distinguished from lists of names by the
value's form: `["token", "space"]` is a schema's requirement.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from inspector.protocol.secrets.key_shapes import word_start_pattern
from inspector.protocol.secrets.secret_keys import is_secret_key
from inspector.protocol.secrets.spans import replace_spans

# After `Bearer` prose or the next key of a schema may follow; they are not masked.
_NO_BEARERS = r"(?!(?i:tokens?|bearer|headers?|auth\w*|scheme|of|the|and|is|in|for|your)\b|[A-Za-z]{1,40}:)"
_BEARER = re.compile(
    rf"(?=[bB])((?i:bearer){word_start_pattern(6)}(?:(?::?(?:[ \t]|\\{{1,64}}[tnr ]|\r?\n)){{1,8}}|%20|\+)"
    r"(?:\\{0,64}[\"'`<])?)"
    rf"{_NO_BEARERS}[A-Za-z0-9._~+/=\-]{{3,}}"
)
_COLON = r"(?:\\{0,64}[\"'][ \t]{0,8}[:,]|[ \t]{0,8}[:=])[ \t]{0,8}(?:b?\\{0,64}[\"'])?"
_NAME = rf"(?=[aA])(?i:authorization){word_start_pattern(13)}{_COLON}"
_PLAIN = re.compile(
    rf"({_NAME}(?P<scheme>[A-Za-z][\w\-]{{1,24}})[ \t]{{1,8}})"
    r"(?P<value>(?!(?i:proxy-)?(?i:authorization))[A-Za-z0-9._~+/=\-:|]{3,})"  # the next header is no value
)
_SCHEMES = frozenset(
    ("basic", "token", "apikey", "api-key", "key", "dpop", "negotiate", "ntlm", "ssws", "pat", "splunk", "geniekey",
     "bot", "jwt", "oauth")
)  # fmt: skip
_BOTH = r"(?i:digest|hawk|oauth|signature|aws4-hmac-sha256)"
_GIVEN = r"[\w\-]{1,40}=(?:(?:\\{0,64}\")[^\"\r\n]{0,2048}?\"|[^\s,\"'\\]{1,512})(?:,[ \t]{0,8})?"
_PARAMETERS = re.compile(
    rf"({_NAME}{_BOTH}[ \t]{{1,8}}|AWS4-HMAC-SHA256[ \t]{{1,8}}(?=Credential=))(?:{_GIVEN}){{1,24}}"
)
_COOKIES = re.compile(
    rf"(?=[cC])((?i:cookie){word_start_pattern(6)}{_COLON})"
    r"[^\s=;,:\"'\\<>&]{1,128}=[^\s;\"'\\<>]{1,4096}"
    r"(?:;[ \t]{0,8}(?:(?i:expires)=[^;\"'\\\r\n]{0,40}|[^\s=;,\"'\\<>]{1,128}(?:=[^\s;\"'\\<>]{0,4096})?)){0,64}"
)
# In headers, and in the files of npm and Docker; the base64 identifies it.
_ALONE = re.compile(
    rf"(?=[aAbB])((?i:basic){word_start_pattern(5)}[ \t]{{1,8}}|"
    r"(?i:auth)(?:\\{0,64}[\"'])?[ \t]{0,8}[:=][ \t]{0,8}"
    r"(?:\\{0,64}[\"'])?)([A-Za-z0-9+/]{8,2048}={0,2})(?![A-Za-z0-9+/=])"
)

_BLANKS = r"(?:\s|\\{1,64}[nrt]){0,64}"
_LISTED = re.compile(
    rf"(?=[(\[\\\"'])(?:(?P<opened>[(\[]{_BLANKS})b?)?(?P<quote>\\{{0,64}}[\"'])"
    rf"(?P<name>[A-Za-z\-][A-Za-z0-9_.\-]{{1,100}})(?P=quote)"
    rf"{_BLANKS},{_BLANKS}b?(?P<open>\\{{0,64}}[\"'])(?P<value>[^\"'\\\r\n]{{1,4096}})(?=(?P=open)(?P<closed>{_BLANKS}[)\]])?)"
)
_LISTED_NAME = re.compile(r"[A-Za-z\-][A-Za-z0-9_.\-]{1,100}")
_TELLING = re.compile(r"(?=[^0-9]*[0-9])\S{8,}")
_NO_NAME = re.compile(r"[0-9][^A-Za-z]{0,64}[A-Za-z]")  # step_2 is a name
_OPTION = re.compile(r"--?[A-Za-z][\w\-]*")
_PLACEHOLDER = re.compile(r"-|[<$%{\[]|[A-Z_]+\Z")


def mask_headers(text: str, mask: Callable[[str], str]) -> str:
    """Masks authorization headers in a text.

    Args:
        text: any text.
        mask: returns the replacement of a secret.
    """

    def after(found: re.Match[str]) -> str:
        return found[1] + mask(found[0][len(found[1]) :])

    def plain(found: re.Match[str]) -> str:
        scheme, value = found["scheme"].lower(), found["value"]
        is_one = scheme in _SCHEMES or _TELLING.fullmatch(value) is not None
        return after(found) if is_one and value.lower() not in _PROSE else found[0]

    def alone(found: re.Match[str]) -> str:
        return after(found) if is_user_and_password(found[2]) else found[0]

    lowered = text.lower()
    # The expressions are slow, so a literal search decides first.
    if "authorization" in lowered or "aws4-hmac" in lowered:
        text = _PLAIN.sub(plain, _PARAMETERS.sub(after, text))
    return _ALONE.sub(alone, text) if "auth" in lowered or "basic" in lowered else text


_PROSE = frozenset({"required", "header", "headers", "token", "value", "none", "access", "auth", "authentication"})


def mask_bearers(text: str, mask: Callable[[str], str]) -> str:
    """Masks values after `Bearer` in a text."""
    return _BEARER.sub(lambda found: found[1] + mask(found[0][len(found[1]) :]), text)


def is_user_and_password(text: str) -> bool:
    """Returns True if a base64 text decodes to a name, a colon, and more, as in a Basic header."""
    try:
        decoded = base64.b64decode(text[: len(text) // 4 * 4], validate=True)
    except (binascii.Error, ValueError):
        return False
    return b":" in decoded[1:] and all(32 <= one < 127 for one in decoded)


def mask_cookies(text: str, mask: Callable[[str], str]) -> str:
    """Masks cookies in headers within a text."""
    if "cookie" not in text.lower():
        return text
    return _COOKIES.sub(lambda found: found[1] + mask(found[0][len(found[1]) :]), text)


def mask_listed(text: str, mask: Callable[[str], str]) -> str:
    """Masks values after a header's or option's name in a list: `["--token", "..."]`."""
    place, parts = 0, list[str]()
    done = 0
    while found := _LISTED.search(text, place):
        # A list of exactly two items is a pair of name and value.
        whole = found["opened"] is not None and found["closed"] is not None
        if is_secret_of_name(found["name"], found["value"], is_pair=whole):
            parts += (text[done : found.start("value")], mask(found["value"]))
            done = place = found.end("value")
        else:  # the value may be the next one's name
            place = found.start("open")
    return "".join((*parts, text[done:])) if parts else text


_USER_OPTIONS = frozenset({"-u", "-U", "--user"})
_USER_GIVEN = re.compile(
    rf"(?P<quote>\\{{0,64}}[\"'])(?:-[uU]|--user)(?P=quote){_BLANKS},{_BLANKS}(?P<open>\\{{0,64}}[\"'])"
    r"(?P<value>[^\s\"'\\]{3,640})(?=(?P=open))"
)
_LOGIN = re.compile(r"(?P<user>[^\s:/@]{1,128}):(?!//)(?P<password>[^\s]{1,512})")
_GROUPS = frozenset(("root", "wheel", "staff", "users", "daemon", "nogroup", "nobody", "docker", "sudo", "adm"))
"""Group names after the user, in a container's user option."""


def is_user_with_password(value: str) -> bool:
    """Returns True if the value of `-u` is user and password, as in curl; False for user and group, as in docker."""
    found = _LOGIN.fullmatch(value)
    if found is None or found["password"].isdecimal() or found["password"] == found["user"]:
        return False
    return found["password"] not in _GROUPS and _PLACEHOLDER.match(found["password"]) is None


# Options may come between. A key has a digit; a password for sudo may be any word.
_GAP = r"[ \t\"',\\]{1,40}"
_WANDB = re.compile(
    rf"(?i:wandb){_GAP}(?i:login)(?:{_GAP}--?[a-z\-]{{1,40}}(?:=[^\s\"'\\]{{1,100}})?){{0,4}}{_GAP}"
    r"(?P<value>(?=[A-Za-z_\-]{0,100}[0-9])[A-Za-z0-9_\-]{20,128})(?![\w\-])"
)
_SUDO = re.compile(
    r"(?:echo|printf)[ \t]{1,8}(?:-[neE]{1,3}[ \t]{1,8}|\\?[\"']%s(?:\\{1,4}n)?\\?[\"'][ \t]{1,8}){0,2}"
    r"(?P<quote>\\{0,8}[\"'])?"
    r"(?P<value>(?!\$)(?(quote)[^\"'\\|\r\n]{1,128}|[^\s\"'\\|]{1,128}))(?(quote)(?P=quote))"
    r"[ \t]{0,8}\|[ \t]{0,8}sudo[ \t]{1,8}(?:-[A-Za-z\-]{1,20}[ \t]{1,8}){0,4}(?:-[A-Za-z]{0,8}S|--stdin)(?![A-Za-z])"
)


def mask_logins(text: str, mask: Callable[[str], str]) -> str:
    """Masks user and password after their option in a list: `["-u", "me:..."]`.

    Also masks a key after `wandb login`, and a password piped to `sudo -S`.
    """
    spans = (found.span("value") for found in _USER_GIVEN.finditer(text) if is_user_with_password(found["value"]))
    text = replace_spans(text, spans, mask)
    for pattern in (_WANDB, _SUDO):
        text = replace_spans(text, (found.span("value") for found in pattern.finditer(text)), mask)
    return text


def is_secret_of_name(name: str, value: str, *, is_pair: bool) -> bool:
    """Returns True if a text after another in a list is the secret of that name.

    Args:
        name: the text before.
        value: the text.
        is_pair: the list has only these two.
    """
    if name in _USER_OPTIONS:
        return is_user_with_password(value)
    if _LISTED_NAME.fullmatch(name) is None or not is_secret_key(name):
        return False
    if name[0] == "-":
        # a declaration of click repeats the option's name
        says_again = value.lower().replace("-", "_") == name.lstrip("-").lower().replace("-", "_")
        return _OPTION.fullmatch(name) is not None and not says_again and _PLACEHOLDER.match(value) is None
    is_header = is_pair or "-" in name or name.lower().endswith(("authorization", "cookie"))
    credentials = value.rpartition(" ")[2]
    return is_header and _TELLING.fullmatch(credentials) is not None and _NO_NAME.search(credentials) is not None


def secret_item_indices(items: list[Any]) -> list[int]:
    """Returns the indices of a list's items that are secrets by the item before them."""
    if len(items) < 2 or str not in set(map(type, items)):  # fast exit: long arrays of numbers are common
        return []
    is_pair = len(items) == 2
    return [
        place
        for place, (name, value) in enumerate(pairwise(items), 1)
        if type(name) is str and type(value) is str and is_secret_of_name(name, value, is_pair=is_pair)
    ]
