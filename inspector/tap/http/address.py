"""Parses the address of the tapped server, and the loopback address of the tap."""

from __future__ import annotations

import ipaddress
from hmac import compare_digest
from typing import NamedTuple

from yarl import URL

_KEY = "tap"


class AddressError(Exception):
    """An address that cannot be tapped or listened on; the text is a sentence."""


class Upstream(NamedTuple):
    """A tapped server."""

    origin: str
    """Scheme, host and port: `https://host`."""
    path: str
    """Path, percent-encoded as given."""
    query: str
    """Query of the address, without `?`."""
    key: str = ""
    """Replaces a secret query in the tap's address; only clients that know the key get the query."""

    @property
    def host(self) -> str:
        """Host, with the port unless it is the default."""
        return self.origin.partition("://")[2]

    @property
    def own_url(self) -> URL:
        """The address as given."""
        return self.url(self.path + (f"?{self.query}" if self.query else ""))

    @property
    def tapped_path(self) -> str:
        """Path and query of the tap's address."""
        return self.path + (f"?{_KEY}={self.key}" if self.key else "")

    def target_of(self, target: str) -> str:
        """Returns path and query for the server, from path and query of the client's request."""
        path, _, query = target.partition("?")
        if not self.query or path != self.path:
            return target
        if self.key:
            own = f"{_KEY}={self.key}"
            # In constant time, so that the key cannot be guessed character by character.
            parts = [self.query if compare_digest(part.encode(), own.encode()) else part for part in query.split("&")]
            return f"{path}?{'&'.join(parts)}" if query else target
        return target if query else f"{path}?{self.query}"

    def url(self, target: str) -> URL:
        # Not quoted anew: the server gets the target as the client wrote it.
        return URL(self.origin + target, encoded=True)


def upstream_of(address: str) -> Upstream:
    """Parses the address of a server.

    Raises:
        AddressError: if it cannot be tapped.
    """
    try:
        url = URL(address.strip(), encoded=True)
        host, port = url.host, url.port
    except ValueError as error:
        raise AddressError(f"This is not an address: {error}.") from error
    if url.scheme not in ("http", "https") or not host:
        raise AddressError("The address of a server begins with http:// or https://, and a host follows.")
    if url.user or url.password:
        raise AddressError(
            "The address has a user name, but clients do not send it on. Remove it, and have the client send it "
            "as a header."
        )
    named = f"[{host}]" if ":" in host else host
    usual = {"http": 80, "https": 443}[url.scheme]
    origin = f"{url.scheme}://{named}" + (f":{port}" if port not in (None, usual) else "")
    return Upstream(origin, url.raw_path or "/", url.raw_query_string)


class Listening(NamedTuple):
    """Loopback address of a tap."""

    host: str
    port: int
    """0 for any free port."""

    @property
    def origin(self) -> str:
        return f"http://{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"

    def names(self) -> frozenset[str]:
        """Allowed `Host` values in lower case; others come from a foreign name that resolves to this computer."""
        # At port 80 clients send the host without a port.
        hosts = {"127.0.0.1", "localhost", "[::1]", self.host}
        return frozenset(f"{host}:{self.port}" for host in hosts) | frozenset(hosts if self.port == 80 else ())


def listening_of(text: str) -> Listening:
    """Parses `--listen`: `127.0.0.1:8123`, `[::1]:8123`, `localhost:8123` or a port alone.

    Raises:
        AddressError: if it is malformed, or other computers could reach it.
    """
    host, _, number = text.rpartition(":")
    host = host.strip("[]") or "127.0.0.1"
    if not (number.isascii() and number.isdecimal() and int(number) < 1 << 16):
        raise AddressError(f"{text} is not an address to listen on; write it as 127.0.0.1:8123.")
    if host == "localhost":
        host = "127.0.0.1"
    try:
        alone = ipaddress.ip_address(host).is_loopback
    except ValueError:
        alone = False
    if not alone:
        raise AddressError(
            f"A tap listens only on this computer, but other computers can reach {host}. Use 127.0.0.1:8123."
        )
    return Listening(host, int(number))
