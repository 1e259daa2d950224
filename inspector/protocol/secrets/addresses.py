r"""Secrets in addresses: `?token=...`, `https://me:...@host`, hooks that whoever knows them may call.

Addresses may stand in JSON (`\/`), in pages (`&amp;`), and percent-encoded in other addresses (`%26token%3D...`).
"""

from __future__ import annotations

import re
from collections.abc import Callable

from inspector.protocol.secrets.keys import is_marker, is_secret_key
from inspector.protocol.secrets.spans import replaced

_QUERY = re.compile(r"(?:[?&#]|&amp;)([\w\-.]{1,64})=")
_VALUE = re.compile(r"[^&\s\"'\\#<>]+")
_ENCODED = re.compile(
    r"(%(?:25)?(?:3[fF]|26|23)([\w\-.]{1,64})%(?:25)?3[dD])((?:%(?!(?:25)?(?:26|23))|[^&\s\"'\\#<>%]){1,4096})"
)
_SIGNATURE = re.compile(r"(?i)(?<![a-z0-9])sig(?:nature)?\Z|token\Z|secret\Z|password\Z|api_?key\Z")
_ENDS = re.compile(r"[A-Za-z](?:_?[0-9]{1,2})?\Z")
_ONLY_HERE = frozenset(("auth", "_auth", "authkey", "assertion", "client_assertion", "samlresponse", "hmac"))
"""What is a secret in an address alone: elsewhere it says how something is done, or to what."""

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
    """A text with the values of telling parameters of addresses and forms replaced."""
    values = (_VALUE.match(text, found.end()) for found in _QUERY.finditer(text) if _is_secret(found[1]))
    text = replaced(text, (value.span() for value in values if value), mask)  # addresses may have others for values
    return _ENCODED.sub(lambda found: found[1] + mask(found[3]) if _is_secret(found[2]) else found[0], text)


def _is_secret(name: str) -> bool:
    """Whether a parameter of this name is a secret."""
    if _ENDS.search(name) is None or is_marker(name):
        return False
    return _SIGNATURE.search(name) is not None or name.lower() in _ONLY_HERE or is_secret_key(name)


def mask_users(text: str, mask: Callable[[str], str]) -> str:
    """A text with passwords and tokens of users in addresses replaced, and what tells a hook."""
    for pattern in (_USER_TOKEN, _USER_INFO, _HOOK):
        text = pattern.sub(lambda found: found[1] + mask(found[0][len(found[1]) :]), text)
    return text


def mask_bots(text: str, mask: Callable[[str], str]) -> str:
    """A text with what Telegram gives to bots replaced, which stands in addresses mostly."""
    if ":AA" not in text:
        return text
    return _BOT.sub(lambda found: found[1] + mask(found[0][len(found[1]) :]), text)
