"""Parameters of a gateway connection: address, space, name and secret. No I/O."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, quote, unquote, urlsplit, urlunsplit

MASK = "********"
"""Replaces a secret in captures and on screen."""

_RANDOM_DIGITS = 4

_SHOWN_QUERY_KEYS = frozenset({"space", "topic"})
_USER_INFO_IN_PATH = re.compile(":[^@]*@")
_SCHEMES = {"ws": "ws", "wss": "wss", "http": "ws", "https": "wss"}


class Secret:
    """A string that is hidden in ``repr``, logs and tracebacks."""

    __slots__ = ("_value",)

    def __init__(self, value: str = "") -> None:
        """Wraps ``value``; the empty string means no secret."""
        self._value = value

    def get_secret_value(self) -> str:
        """Returns the secret in clear."""
        return self._value

    def __bool__(self) -> bool:
        return bool(self._value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and self._value == other._value

    def __hash__(self) -> int:
        return hash(self._value)

    def __repr__(self) -> str:
        return f"Secret({MASK!r})" if self._value else "Secret('')"

    __str__ = __repr__


class AddressError(ValueError):
    """An unusable gateway address; the text is one sentence for the user."""


def new_participant() -> str:
    """Returns a new random participant id, such as ``inspector-7f3a``.

    A shared id would break the other client's delivery (docs/protocols.md 16), so every connection gets its own.
    """
    return f"inspector-{secrets.token_hex(_RANDOM_DIGITS // 2)}"


def renewed_participant(participant: str) -> str:
    """Returns a unique variant of ``participant`` with a new random suffix."""
    name, dash, end = participant.rpartition("-")
    random_end = len(end) == _RANDOM_DIGITS and all(digit in "0123456789abcdef" for digit in end)
    return f"{name if dash and random_end else participant}-{secrets.token_hex(_RANDOM_DIGITS // 2)}"


@dataclass(frozen=True, kw_only=True)
class Connection:
    """Parameters of a connection to one gateway."""

    url: str = field(repr=False)
    """``ws://`` or ``wss://`` address; ``http(s)://`` and a bare ``host:port`` are accepted too. May contain secrets.
    """

    space: str
    """The space to join."""

    participant: str = field(default_factory=new_participant)
    """Our id in the space."""

    token: Secret = field(default_factory=Secret)
    """Sent in the join message and as a Bearer header; never written to a capture."""

    answer_tools_list: bool = True
    """Answers ``tools/list`` requests to us at once with an empty list, so that agents do not wait."""

    @property
    def shown_url(self) -> str:
        """The address for display and captures, without user name, password and query values."""
        return shown_url(self.url)

    @property
    def has_secrets(self) -> bool:
        """True if a token or secrets in the address are needed to join."""
        return bool(self.token.get_secret_value()) or self.url != self.shown_url

    def origin(self) -> dict[str, object]:
        """Returns the facts about this source for a capture's header. They contain no secret."""
        return {"source": "gateway", "url": self.shown_url, "space": self.space, "participant": self.participant}


def normal_url(url: str) -> str:
    """Returns ``url`` with a WebSocket scheme.

    Raises:
        AddressError: it has no host, another scheme, or an invalid port.
    """
    text = url.strip()
    if not text:
        raise AddressError("No gateway address was given. Type one such as ws://127.0.0.1:8080.")
    try:
        parts = urlsplit(text if "://" in text else f"ws://{text}")
        host, _port = parts.hostname, parts.port
    except ValueError as error:
        why = "" if "@" in text else f": {error}"  # the message may quote a password
        raise AddressError(f"{shown_url(text)} is no address{why}. Type one such as ws://127.0.0.1:8080.") from None
    scheme = _SCHEMES.get(parts.scheme.lower())
    if scheme is None:
        raise AddressError(f"{shown_url(text)} starts with {parts.scheme}://; a gateway address starts with ws or wss.")
    if not host:
        raise AddressError(f"{shown_url(text)} names no host. Type an address such as ws://127.0.0.1:8080.")
    return urlunsplit((scheme, parts.netloc, parts.path or "/", parts.query, ""))


def shown_url(url: str) -> str:
    """Returns ``url`` for display: without user info and fragment; query values masked, except space and topic.

    A key does not tell if its value is a secret, and the other values are of little use to readers.
    """
    text = url.strip()
    try:
        parts = urlsplit(text if "://" in text or not text else f"ws://{text}")
        _port = parts.port
        # A slash in a password ends the host early, so the rest would be shown as path.
        if _USER_INFO_IN_PATH.search(parts.path):
            raise ValueError("a slash in the password, or one missing before the user name")
    except ValueError:
        # Cuts more than necessary: a secret must never be shown.
        return text.partition("?")[0].partition("#")[0].rpartition("@")[2]
    query = "&".join(map(_shown_query_part, re.split("[&;]", parts.query)))
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, query, ""))


def _shown_query_part(part: str) -> str:
    key, equals, value = part.partition("=")
    if unquote(key).lower() in _SHOWN_QUERY_KEYS:
        return part
    return f"{key}{equals}{MASK if value else ''}" if equals else part and MASK


def named_space(url: str) -> str:
    """Returns the space in an address, as in `?space=demo`, else ""."""
    try:
        named = dict(parse_qsl(urlsplit(url.strip()).query))
    except ValueError:
        return ""
    return named.get("space", "") or named.get("topic", "")


def with_query(url: str, **values: str) -> str:
    """Returns ``url`` with missing query keys added; existing ones stay as written."""
    parts = urlsplit(url)
    present = {key for key, _ in parse_qsl(parts.query, keep_blank_values=True)}
    # Values of the user's address outrank ours.
    added = [f"{quote(key, safe='')}={quote(value, safe='')}" for key, value in values.items() if key not in present]
    return urlunsplit(parts._replace(query="&".join([parts.query, *added] if parts.query else added)))
