"""The port of each tapped server, so that the address in a client's configuration stays the same."""

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

from inspector.base.atomic_files import read_up_to, replace_whole
from inspector.base.paths import config_folder
from inspector.tap.http.address import AddressError, Listening, Upstream

_FIRST, _COUNT = 17_000, 11_000
"""Ports that no system gives out by itself."""
_MOST, _MOST_BYTES = 1_000, 1 << 20
"""Servers whose ports are remembered, and what they take."""


def port_for(upstream: Upstream) -> int:
    """The port that a server was tapped at before, else one that is free, which is remembered."""
    known = _known()
    found = known.get(_key(upstream))
    if found is not None:
        return found.port
    taken = {one.port for one in known.values()}
    begin = int.from_bytes(hashlib.sha256(_key(upstream).encode()).digest()[:4])
    for step in range(_COUNT):
        port = _FIRST + (begin + step) % _COUNT
        if port not in taken and _is_free(port):
            remember_port(upstream, port)
            return port
    raise AddressError("No port is free. Name one with --listen 127.0.0.1:PORT.")


def remember_port(upstream: Upstream, port: int) -> None:
    """Have the server tapped at this port from now on."""
    known = _known()
    key = _key(upstream)
    kept = _Kept(port, upstream.origin, known[key].key if key in known else "")
    if known.pop(key, None) == kept:
        return
    known[key] = kept
    _remember(known)


def key_for(upstream: Upstream) -> str:
    """Returns what stands for the query of a server's address in the tap's: made by chance, the same each time."""
    known = _known()
    found = known.get(_key(upstream))
    if found is not None and found.key:
        return found.key
    key = secrets.token_urlsafe(16)
    if found is not None:
        known[_key(upstream)] = found._replace(key=key)
        _remember(known)
    return key


def _remember(known: Mapping[str, _Kept]) -> None:
    data = json.dumps({k: one._asdict() for k, one in list(known.items())[-_MOST:]}, indent=1).encode()
    with suppress(OSError):  # another port next time
        replace_whole(_file(), data, sync=False)


def origin_at(port: int) -> str | None:
    """Scheme, host and port of the server that is tapped at a port; None where none is known."""
    return next((one.origin for one in _known().values() if one.port == port), None)


def listened(listening: Listening) -> socket.socket:
    """A socket that listens there.

    Raises:
        AddressError: somebody else does.
    """
    family = socket.AF_INET6 if ":" in listening.host else socket.AF_INET
    # Named, as asyncio switches Nagle's algorithm off for what says that it is TCP alone: 40 ms a call.
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
                f"{listening.host}:{listening.port} is taken, perhaps by another tap of this server. End that one, or "
                "name another port with --listen 127.0.0.1:PORT."
            ) from error
        raise AddressError(f"Nothing can listen at {listening.host}: {error.strerror or error}.") from error
    return made


def _key(upstream: Upstream) -> str:
    """Stands for a server; its address may hold a secret."""
    return hashlib.sha256(f"{upstream.origin}{upstream.path}?{upstream.query}".encode()).hexdigest()[:24]


def _file() -> Path:
    return config_folder() / "tap-ports.json"


class _Kept(NamedTuple):
    """What is remembered of a server: of its address nothing that could be a secret."""

    port: int
    origin: str
    key: str = ""


def _known() -> dict[str, _Kept]:
    try:
        found = json.loads(read_up_to(_file(), _MOST_BYTES))
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(found, dict):
        return {}
    known: dict[str, _Kept] = {}
    for key, one in found.items():
        port, origin = (one.get("port"), one.get("origin")) if isinstance(one, dict) else (None, None)
        if isinstance(port, int) and 0 < port < 1 << 16 and isinstance(origin, str):
            made = one.get("key", "")
            known[str(key)] = _Kept(port, origin, made if isinstance(made, str) else "")
    return known


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
