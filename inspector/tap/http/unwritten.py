"""Masks credentials in what a tap writes; everything else is written as it was sent.

A header is a credential by its name: it says key, token, secret or the like, or is known. Its value is masked wherever
it comes again, in bodies as well. So are cookies, secrets of addresses, and what has the shape or the name of a secret
(`inspector.protocol.secrets`). Ids of sessions, threads and agents are no credentials: bodies and transcripts hold
them too, and a recording is joined by them.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from urllib.parse import quote, unquote_plus

import msgspec
from typing_extensions import override

from inspector.protocol.secrets.masking import MASK, mask_text
from inspector.protocol.secrets.rule_prefilter import NO_RULES, rules_for
from inspector.protocol.secrets.secret_keys import is_secret_key
from inspector.protocol.secrets.streamed_pieces import mask_in_place

Headers = Iterable[tuple[str, str]]

_WRITTEN = frozenset((
    "accept", "accept-encoding", "allow", "anthropic-beta", "anthropic-version", "cache-control", "connection",
    "content-encoding", "content-length", "content-type", "date", "expect", "host", "last-event-id", "mcp-method",
    "mcp-name", "mcp-protocol-version", "mcp-session-id", "openai-beta", "openai-processing-ms", "openai-version",
    "origin", "request-id", "retry-after", "sec-websocket-accept", "sec-websocket-extensions", "sec-websocket-key",
    "sec-websocket-version", "server",
    "traceparent", "transfer-encoding", "upgrade", "user-agent", "vary", "www-authenticate", "x-accel-buffering",
    "x-request-id", "x-should-retry",
))  # fmt: skip
_WRITTEN_BEGINNINGS = ("mcp-param-", "x-stainless-", "x-ratelimit-", "anthropic-ratelimit-", "access-control-")
_CREDENTIALS = frozenset((
    "authorization", "proxy-authorization", "x-api-key", "api-key", "x-goog-api-key", "x-auth-token", "x-csrf-token",
))  # fmt: skip
"""Their values are never to be met again in what is written."""
_TELLING = frozenset((
    "key", "apikey", "token", "secret", "auth", "authentication", "authorization", "password", "passwd", "passphrase",
    "credential", "credentials", "jwt", "cookie", "signature", "dpop", "bearer", "assertion", "otp", "sid", "saml",
))  # fmt: skip
"""Parts of a header's name that say so of its value."""
_RUN_ON = ("apikey", "token", "secret", "password")
"""The same as the end of a part: `x-authtoken`."""
_ACCOUNTS = frozenset(("openai-organization", "openai-project", "chatgpt-account-id", "anthropic-organization-id"))
"""Names of whoever pays: masked in the header, and no credential elsewhere."""
_COOKIES = ("cookie", "set-cookie")
_SCHEME = re.compile(r"(?i)\s*(Bearer|Basic|Digest|Negotiate|Token|ApiKey|AWS4-HMAC-SHA256)[ \t]+")
_SHORTEST = 6
"""Characters of a value that is looked for elsewhere: shorter ones are words as well."""
_MOST = 64
"""Values that are looked for: each costs a look at everything that is written."""
_PROGRESS = re.compile(r'"progressToken": ?(?:\d+|"[^"\\]{0,80}")|"[a-z_]*_tokens(?:_details)?":')
"""Looks like a secret's name, costs much to be told from one, and comes with every event."""
_PART = re.compile(r"[-_.]")
_SEGMENT = re.compile(r"[^/]+")
_RANDOM = re.compile(r"(?=[^/]*[0-9])(?=[^/]*[A-Za-z])[A-Za-z0-9_\-.~%]{20,}|[A-Za-z0-9_\-]{40,}")
_UUID = re.compile(r"(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_SESSIONS = frozenset({"sessionid", "session_id"})
"""What names a session in an address: conversations are told by it, and it lets nobody in by itself."""


class Unwritten:
    """Leaves secrets out of what one tap writes."""

    def __init__(self) -> None:
        self._values: dict[str, tuple[str, ...]] = {}  # each in the forms it may be written in, in the order met

    def learn_address(self, query: str, path: str = "") -> None:
        """Take in the secrets of an address."""
        for name, value in _pairs(query):
            if name.lower() not in _SESSIONS and _names_secret(name):
                self._learn(value)
        for found in _SEGMENT.finditer(path):
            if _is_random(found[0]):
                self._learn(found[0])

    def headers(self, headers: Headers) -> dict[str, str]:
        """Headers by names in lower case, without secrets; the values of one that comes again are joined."""
        written: dict[str, str] = {}
        for name, value in headers:
            known = name.lower()
            shown = self._header(known, value)
            written[known] = f"{written[known]}, {shown}" if known in written else shown
        return written

    def _header(self, name: str, value: str) -> str:
        if name in _COOKIES:
            for part in value.split(";")[: 1 if name == "set-cookie" else None]:
                self._learn(part.partition("=")[2].strip())
            return MASK
        if name in _ACCOUNTS:
            return MASK
        if name in _CREDENTIALS or (_says_secret(name) and not value.isdecimal()):
            scheme = _SCHEME.match(value)
            self._learn(value[scheme.end() :].strip() if scheme else value.strip())
            return f"{scheme[1]} {MASK}" if scheme else MASK
        if name == "location":
            return self.target(value)
        return self.text(value)

    def target(self, target: str) -> str:
        """A path, with its query or without, without secrets."""
        path, mark, query = target.partition("?")
        return self.path(path) + (f"?{self.query(query)}" if mark else "")

    def path(self, path: str) -> str:
        """A path without secrets: a part that chance made may let in whoever knows it."""
        return self.text(_SEGMENT.sub(lambda found: MASK if _is_random(found[0]) else found[0], path))

    def query(self, query: str) -> str:
        """A query without secrets: values that chance made are none, whatever their names."""
        if not query:
            return query
        parts: list[str] = []
        for part in query.split("&"):
            name, mark, value = part.partition("=")
            known = unquote_plus(name)
            is_session = known.lower() in _SESSIONS
            if mark and not is_session and _names_secret(known):
                self._learn(unquote_plus(value))
                value = MASK
            elif mark and not is_session and _is_random(value):
                value = MASK
            parts.append(f"{name}{mark}{value}")
        return self.text("&".join(parts))

    def text(self, text: str) -> str:
        """A text, or JSON as it was written, without secrets; the same object where there are none."""
        for forms in self._values.values():
            for form in forms:
                if form in text:
                    text = text.replace(form, MASK)
        bare = _PROGRESS.sub("", text) if "oken" in text else text
        return text if rules_for(bare) == NO_RULES else mask_text(text)

    def in_place(self, text: str) -> str:
        """A text with a dot in place of each character of its secrets."""
        for forms in self._values.values():
            for form in forms:
                if form in text:
                    text = text.replace(form, "•" * len(form))
        return mask_in_place(text)

    def _learn(self, value: str) -> None:
        """Have a value masked from now on, in place of the oldest where there are too many."""
        known, value = self._values, value.strip('" ')
        if len(value) < _SHORTEST or value in known or value == MASK:
            return
        while len(known) >= _MOST:
            del known[next(iter(known))]
        forms = {value, quote(value, safe=""), json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]}
        known[value] = tuple(sorted(forms, key=len, reverse=True))


def _says_secret(name: str) -> bool:
    """Tells whether a header's name, in lower case, says that its value lets somebody in."""
    if name in _WRITTEN:
        return False
    if is_secret_key(name):
        return True
    parts = _PART.split(name)
    telling = not _TELLING.isdisjoint(parts) or any(part.endswith(_RUN_ON) for part in parts)
    return telling and not name.startswith(_WRITTEN_BEGINNINGS)


class ModelUnwritten(Unwritten):
    """Leaves out as well what models sign and encrypt their reasoning with: large, and of use to nobody else.

    In its place stand its hash and its length, so that the same can be told to be the same.
    """

    @override
    def text(self, text: str) -> str:
        text = super().text(text)
        if not any(clue in text for clue in _SEALED_CLUES):
            return text
        try:
            value = msgspec.json.decode(text.encode("utf-8", "surrogatepass"))
        except (msgspec.MsgspecError, RecursionError):
            return text
        for seal in _sealed_in(value):
            digest = hashlib.sha256(seal.encode("utf-8", "surrogatepass")).hexdigest()[:16]
            text = text.replace(json.dumps(seal, ensure_ascii=False), f'"sha256:{digest}, {len(seal)} characters"')
        return text


_SEALED_CLUES = ("ignature", "encrypted", "redacted_thinking")
_SEALED = {
    "thinking": "signature", "signature_delta": "signature", "redacted_thinking": "data",
    "reasoning": "encrypted_content", "compaction": "encrypted_content", "reasoning.encrypted": "data",
}  # fmt: skip
"""Under which member an object of a type holds what is sealed."""
_SEALED_ANYWHERE = ("thoughtSignature", "thought_signature")
"""Gemini's parts have no type."""


def _sealed_in(value: object) -> set[str]:
    """What is sealed anywhere in decoded JSON."""
    found, left = set[str](), [value]
    while left:
        one = left.pop()
        if isinstance(one, dict):
            sort = one.get("type")
            members = (*_SEALED_ANYWHERE, _SEALED.get(sort, "") if isinstance(sort, str) else "")
            seals = (one.get(member) for member in members)
            found |= {seal for seal in seals if isinstance(seal, str) and seal and not seal.startswith("sha256:")}
            left += one.values()
        elif isinstance(one, list):
            left += one
    return found


def _pairs(query: str) -> list[tuple[str, str]]:
    parts = (part.partition("=") for part in query.split("&") if part)
    return [(unquote_plus(name), unquote_plus(value)) for name, _, value in parts]


def _names_secret(name: str) -> bool:
    return is_secret_key(name) or name.lower() in ("key", "sig", "signature", "auth", "code", "token", "access_token")


def _is_random(part: str) -> bool:
    return _UUID.fullmatch(part) is not None or _RANDOM.fullmatch(part) is not None
