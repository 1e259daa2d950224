"""Masks credentials in the captures of HTTP taps; everything else is written as it was sent.

A header is a credential by its name: it contains key, token, secret or the like, or is in a list. Its value is masked
wherever it appears again, also in bodies. Cookies, secrets in addresses, and values with the shape or name of a secret
(`inspector.protocol.secrets`) are masked too. Ids of sessions, threads and agents are not credentials: bodies and
transcripts have them too, and captures are joined by them.
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
from inspector.protocol.secrets.rule_prefilter import NO_RULES, possible_rules
from inspector.protocol.secrets.secret_keys import is_secret_key
from inspector.protocol.secrets.streamed_pieces import mask_in_place

Headers = Iterable[tuple[str, str]]

_PLAIN_HEADERS = frozenset((
    "accept", "accept-encoding", "allow", "anthropic-beta", "anthropic-version", "cache-control", "connection",
    "content-encoding", "content-length", "content-type", "date", "expect", "host", "last-event-id", "mcp-method",
    "mcp-name", "mcp-protocol-version", "mcp-session-id", "openai-beta", "openai-processing-ms", "openai-version",
    "origin", "request-id", "retry-after", "sec-websocket-accept", "sec-websocket-extensions", "sec-websocket-key",
    "sec-websocket-version", "server",
    "traceparent", "transfer-encoding", "upgrade", "user-agent", "vary", "www-authenticate", "x-accel-buffering",
    "x-request-id", "x-should-retry",
))  # fmt: skip
_PLAIN_PREFIXES = ("mcp-param-", "x-stainless-", "x-ratelimit-", "anthropic-ratelimit-", "access-control-")
_CREDENTIALS = frozenset((
    "authorization", "proxy-authorization", "x-api-key", "api-key", "x-goog-api-key", "x-auth-token", "x-csrf-token",
))  # fmt: skip
"""Headers whose values are masked everywhere in the capture."""
_SECRET_PARTS = frozenset((
    "key", "apikey", "token", "secret", "auth", "authentication", "authorization", "password", "passwd", "passphrase",
    "credential", "credentials", "jwt", "cookie", "signature", "dpop", "bearer", "assertion", "otp", "sid", "saml",
))  # fmt: skip
"""Parts of a header's name that mark its value as a secret."""
_SECRET_ENDINGS = ("apikey", "token", "secret", "password")
"""Endings of a part with the same meaning: `x-authtoken`."""
_ACCOUNTS = frozenset(("openai-organization", "openai-project", "chatgpt-account-id", "anthropic-organization-id"))
"""Account names: masked in the header, but not elsewhere."""
_COOKIES = ("cookie", "set-cookie")
_SCHEME = re.compile(r"(?i)\s*(Bearer|Basic|Digest|Negotiate|Token|ApiKey|AWS4-HMAC-SHA256)[ \t]+")
_MIN_LENGTH = 6
"""Shortest value that is masked elsewhere, in characters; shorter ones are also plain words."""
_MAX_VALUES = 64
"""Limit of such values: each costs a search in every text written."""
_PROGRESS = re.compile(r'"progressToken": ?(?:\d+|"[^"\\]{0,80}")|"[a-z_]*_tokens(?:_details)?":')
"""Frequent members that look like names of secrets; removed before the costly search."""
_PART = re.compile(r"[-_.]")
_SEGMENT = re.compile(r"[^/]+")
_RANDOM = re.compile(r"(?=[^/]*[0-9])(?=[^/]*[A-Za-z])[A-Za-z0-9_\-.~%]{20,}|[A-Za-z0-9_\-]{40,}")
_UUID = re.compile(r"(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_SESSIONS = frozenset({"sessionid", "session_id"})
"""Names of sessions in an address: they group conversations, and grant no access by themselves."""


class Unwritten:
    """Masks secrets in the output of one tap."""

    def __init__(self) -> None:
        self._values: dict[str, tuple[str, ...]] = {}  # each in its possible encodings, oldest first

    def learn_address(self, query: str, path: str = "") -> None:
        """Adds the secrets of an address."""
        for name, value in _pairs(query):
            if name.lower() not in _SESSIONS and _names_secret(name):
                self._add_secret(value)
        for found in _SEGMENT.finditer(path):
            if _is_random(found[0]):
                self._add_secret(found[0])

    def headers(self, headers: Headers) -> dict[str, str]:
        """Returns masked headers by lower-case name; values of repeated headers are joined."""
        written: dict[str, str] = {}
        for name, value in headers:
            known = name.lower()
            shown = self._header(known, value)
            written[known] = f"{written[known]}, {shown}" if known in written else shown
        return written

    def _header(self, name: str, value: str) -> str:
        if name in _COOKIES:
            # Only its first part is the cookie; attributes such as Path follow.
            for part in value.split(";")[: 1 if name == "set-cookie" else None]:
                self._add_secret(part.partition("=")[2].strip())
            return MASK
        if name in _ACCOUNTS:
            return MASK
        if name in _CREDENTIALS or (_is_secret_header(name) and not value.isdecimal()):
            scheme = _SCHEME.match(value)
            self._add_secret(value[scheme.end() :].strip() if scheme else value.strip())
            return f"{scheme[1]} {MASK}" if scheme else MASK
        if name == "location":
            return self.target(value)
        if name == "sec-websocket-protocol":
            return self._subprotocols(value)
        return self.text(value)

    def _subprotocols(self, value: str) -> str:
        """Masks a token among the names of protocols: browsers can send a WebSocket's only there.

        Forms: `bearer, TOKEN`, and `openai-insecure-api-key.TOKEN`.
        """
        shown: list[str] = []
        names_next = False
        for one in value.split(","):
            parts = one.strip().split(".")
            names = [_is_secret_header(part.lower()) or part.lower() in _ACCOUNTS for part in parts]
            secret = ".".join(parts if names_next else parts[names.index(True) + 1 :] if any(names) else ())
            self._add_secret(secret)
            shown.append(one.replace(secret, MASK) if secret else one)
            names_next = any(names) and not secret
        return self.text(",".join(shown))

    def target(self, target: str) -> str:
        """Masks a path with an optional query."""
        path, mark, query = target.partition("?")
        return self.path(path) + (f"?{self.query(query)}" if mark else "")

    def path(self, path: str) -> str:
        """Masks a path: random segments may grant access."""
        return self.text(_SEGMENT.sub(lambda found: MASK if _is_random(found[0]) else found[0], path))

    def query(self, query: str) -> str:
        """Masks a query: random values are masked whatever their names."""
        if not query:
            return query
        parts: list[str] = []
        for part in query.split("&"):
            name, mark, value = part.partition("=")
            known = unquote_plus(name)
            is_session = known.lower() in _SESSIONS
            if mark and not is_session and _names_secret(known):
                self._add_secret(unquote_plus(value))
                value = MASK
            elif mark and not is_session and _is_random(value):
                value = MASK
            parts.append(f"{name}{mark}{value}")
        return self.text("&".join(parts))

    def text(self, text: str) -> str:
        """Masks a text or JSON; returns the same object if there is no secret."""
        for forms in self._values.values():
            for form in forms:
                if form in text:
                    text = text.replace(form, MASK)
        bare = _PROGRESS.sub("", text) if "oken" in text else text
        return text if possible_rules(bare) == NO_RULES else mask_text(text)

    def data(self, data: bytes) -> bytes:
        """Masks bytes that are not all UTF-8, such as another encoding's."""
        text = data.decode("utf-8", "surrogateescape")
        masked = self.text(text)
        return data if masked == text else masked.encode("utf-8", "surrogateescape")

    def in_place(self, text: str) -> str:
        """Replaces each character of a secret by a dot."""
        for forms in self._values.values():
            for form in forms:
                if form in text:
                    text = text.replace(form, "•" * len(form))
        return mask_in_place(text)

    def _add_secret(self, value: str) -> None:
        """Masks a value from now on; the oldest one is dropped at the limit."""
        known, value = self._values, value.strip('" ')
        if len(value) < _MIN_LENGTH or value in known or value == MASK:
            return
        # An evicted value that is still in use is learned again with its next header.
        while len(known) >= _MAX_VALUES:
            del known[next(iter(known))]
        # A secret may appear as such, percent-encoded in addresses, and escaped in JSON.
        forms = {value, quote(value, safe=""), json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]}
        known[value] = tuple(sorted(forms, key=len, reverse=True))


def _is_secret_header(name: str) -> bool:
    """Returns True if a header's name, in lower case, marks its value as a secret."""
    if name in _PLAIN_HEADERS:
        return False
    if is_secret_key(name):
        return True
    parts = _PART.split(name)
    telling = not _SECRET_PARTS.isdisjoint(parts) or any(part.endswith(_SECRET_ENDINGS) for part in parts)
    return telling and not name.startswith(_PLAIN_PREFIXES)


class ModelUnwritten(Unwritten):
    """Also replaces signatures and encrypted reasoning of models: they are large and useless to readers.

    Their hash and length are written instead, so that equal ones can be recognized.
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
            # Clients send a signature back with the next request; by its hash both are recognized as one.
            digest = hashlib.sha256(seal.encode("utf-8", "surrogatepass")).hexdigest()[:16]
            text = text.replace(json.dumps(seal, ensure_ascii=False), f'"sha256:{digest}, {len(seal)} characters"')
        return text


_SEALED_CLUES = ("ignature", "encrypted", "redacted_thinking")
_SEALED = {
    "thinking": "signature", "signature_delta": "signature", "redacted_thinking": "data",
    "reasoning": "encrypted_content", "compaction": "encrypted_content", "reasoning.encrypted": "data",
}  # fmt: skip
"""Member with the sealed text, by type of object."""
_SEALED_ANYWHERE = ("thoughtSignature", "thought_signature")
"""Members with a sealed text in objects without a type."""


def _sealed_in(value: object) -> set[str]:
    """Returns all sealed texts in decoded JSON."""
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
