"""Which server is tapped, and where the tap listens: on this computer alone."""

from __future__ import annotations

import ipaddress
from typing import NamedTuple

from yarl import URL


class AddressError(Exception):
    """An address that cannot be tapped, or not be listened at; a sentence."""


class Upstream(NamedTuple):
    """A server that is tapped."""

    origin: str
    """Scheme, host and port: `https://host`."""
    path: str
    """As it is asked for."""
    query: str
    """That of the address, without its mark; it goes along where a client names none."""

    @property
    def host(self) -> str:
        """Host, and port where it is not the usual one."""
        return self.origin.partition("://")[2]

    def url(self, target: str) -> URL:
        """The address of a request, given its path and query exactly as the client wrote them."""
        path, _, query = target.partition("?")
        if not query and self.query and path == self.path:
            target = f"{path}?{self.query}"
        return URL(self.origin + target, encoded=True)


def upstream_of(address: str) -> Upstream:
    """The server that an address names.

    Raises:
        AddressError: it is none that can be tapped.
    """
    try:
        url = URL(address.strip(), encoded=True)
        host, port = url.host, url.port
    except ValueError as error:
        raise AddressError(f"That is no address: {error}.") from error
    if url.scheme not in ("http", "https") or not host:
        raise AddressError("The address of a server begins with http:// or https://, and a host follows.")
    if url.user or url.password:
        raise AddressError(
            "The address has a user in it, which clients do not send on. Leave it out, and have the client send it "
            "as a header."
        )
    named = f"[{host}]" if ":" in host else host
    usual = {"http": 80, "https": 443}[url.scheme]
    origin = f"{url.scheme}://{named}" + (f":{port}" if port not in (None, usual) else "")
    return Upstream(origin, url.raw_path or "/", url.raw_query_string)


class Listening(NamedTuple):
    """Where a tap listens."""

    host: str
    port: int
    """0: one that is free."""

    @property
    def origin(self) -> str:
        """As a client writes it."""
        return f"http://{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"

    def names(self) -> frozenset[str]:
        """What a request may call it in `Host`, in lower case; anything else comes from a name somebody else made."""
        hosts = {"127.0.0.1", "localhost", "[::1]", self.host}
        return frozenset(f"{host}:{self.port}" for host in hosts) | frozenset(hosts if self.port == 80 else ())


def listening_of(text: str) -> Listening:
    """What `--listen` asks for: `127.0.0.1:8123`, `[::1]:8123`, `localhost:8123` or a port alone.

    Raises:
        AddressError: it is no such thing, or other computers could reach it.
    """
    host, _, number = text.rpartition(":")
    host = host.strip("[]") or "127.0.0.1"
    if not (number.isascii() and number.isdecimal() and int(number) < 1 << 16):
        raise AddressError(f"{text} is nothing to listen at; write it as 127.0.0.1:8123.")
    if host == "localhost":
        host = "127.0.0.1"
    try:
        alone = ipaddress.ip_address(host).is_loopback
    except ValueError:
        alone = False
    if not alone:
        raise AddressError(
            f"A tap listens on this computer alone, and {host} can be reached from others. Write it as 127.0.0.1:8123."
        )
    return Listening(host, int(number))
