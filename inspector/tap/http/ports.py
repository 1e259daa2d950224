"""Remembers the port of each tapped server, and finds the server behind a port."""

from __future__ import annotations

import errno
import hashlib
import json
import secrets
import socket
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from inspector.base.atomic_files import read_up_to, replace_file
from inspector.base.paths import config_folder
from inspector.tap.http.address import AddressError, Listening, Upstream

# Automatic ports begin at 32,768 on Linux, at 49,152 elsewhere (RFC 6335).
_FIRST_PORT, _PORT_COUNT = 17_000, 11_000
"""Range of ports that no system assigns automatically."""
_MAX_SERVERS, _MAX_BYTES = 1_000, 1 << 20
"""Limits of the stored list: servers, and bytes."""


def port_for(upstream: Upstream) -> int:
    """Returns the stored port of a server, else stores and returns a free one."""
    known = _load()
    found = known.get(_key(upstream))
    if found is not None:
        return found.port
    taken = {one.port for one in known.values()}
    # Derived from the address, so that it is the same even if the stored list is lost.
    begin = int.from_bytes(hashlib.sha256(_key(upstream).encode()).digest()[:4])
    for step in range(_PORT_COUNT):
        port = _FIRST_PORT + (begin + step) % _PORT_COUNT
        if port not in taken and _is_free(port):
            remember_port(upstream, port)
            return port
    raise AddressError("No port is free. Name one with --listen 127.0.0.1:PORT.")


def remember_port(upstream: Upstream, port: int) -> None:
    """Stores the port of a server."""
    known = _load()
    key = _key(upstream)
    # The key stays with a changed port, since it stands in the client's configuration.
    kept = _StoredPort(port, upstream.origin, known[key].key if key in known else "")
    if known.pop(key, None) == kept:
        return
    known[key] = kept
    _store(known)


def key_for(upstream: Upstream) -> str:
    """Returns the random key that replaces a server's query in the tap's address; it is stored."""
    known = _load()
    found = known.get(_key(upstream))
    if found is not None and found.key:
        return found.key
    key = secrets.token_urlsafe(16)
    if found is not None:
        known[_key(upstream)] = found._replace(key=key)
        _store(known)
    return key


def _store(known: Mapping[str, _StoredPort]) -> None:
    data = json.dumps({k: one._asdict() for k, one in list(known.items())[-_MAX_SERVERS:]}, indent=1).encode()
    with suppress(OSError):  # then another port is chosen next time
        replace_file(_file(), data, sync=False)


def origin_at(port: int) -> str | None:
    """Returns scheme, host and port of the server tapped at a port; None if unknown."""
    return next((one.origin for one in _load().values() if one.port == port), None)


def listened(listening: Listening) -> socket.socket:
    """Opens a listening socket.

    Raises:
        AddressError: if the port is taken.
    """
    family = socket.AF_INET6 if ":" in listening.host else socket.AF_INET
    # Explicit TCP, for which asyncio disables Nagle's algorithm: saves 40 ms a call.
    made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if hasattr(socket, "SO_EXCLUSIVEADDRUSE"):  # Windows would give the same port to two
            made.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((listening.host, listening.port))
        made.listen(128)
    except OSError as error:
        made.close()
        if error.errno in (errno.EADDRINUSE, errno.EACCES):
            raise AddressError(
                f"{listening.host}:{listening.port} is in use, perhaps by another tap of this server. Stop it, or "
                "choose another port with --listen 127.0.0.1:PORT."
            ) from error
        raise AddressError(f"Cannot listen on {listening.host}: {error.strerror or error}.") from error
    return made


def _key(upstream: Upstream) -> str:
    """Hashes a server's address, since it may have a secret in it."""
    return hashlib.sha256(f"{upstream.origin}{upstream.path}?{upstream.query}".encode()).hexdigest()[:24]


def _file() -> Path:
    return config_folder() / "tap-ports.json"


class _StoredPort(NamedTuple):
    """Stored facts of a server; none of them can be a secret."""

    port: int
    origin: str
    key: str = ""


def _load() -> dict[str, _StoredPort]:
    try:
        found = json.loads(read_up_to(_file(), _MAX_BYTES))
    except (OSError, ValueError, RecursionError):
        # A damaged file costs the stored ports, but not the tap.
        return {}
    if not isinstance(found, dict):
        return {}
    known: dict[str, _StoredPort] = {}
    for key, one in found.items():
        port, origin = (one.get("port"), one.get("origin")) if isinstance(one, dict) else (None, None)
        if isinstance(port, int) and 0 < port < 1 << 16 and isinstance(origin, str):
            made = one.get("key", "")
            known[str(key)] = _StoredPort(port, origin, made if isinstance(made, str) else "")
    return known


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
