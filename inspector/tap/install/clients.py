"""Finds MCP clients by name, and reads their configuration files."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from inspector.formats.clients import Client, ManualClient
from inspector.formats.table import CLIENTS, MANUAL_CLIENTS
from inspector.tap.install.json_text import read_json
from inspector.tap.install.toml_text import read_toml
from inspector.tap.install.values import Value

_Known = TypeVar("_Known", Client, ManualClient)
_READERS = {"json": read_json, "toml": read_toml}


def read_config(client: Client, text: str) -> Value:
    """Reads a client's configuration. Raises UnreadableError."""
    return _READERS[client.syntax](text)


def client_named(name: str) -> Client | None:
    """Finds a client by name or title, ignoring case and punctuation; returns None if unknown."""
    return _named(name, CLIENTS)


def manual_client_named(name: str) -> ManualClient | None:
    """Finds a client that the user configures by hand in the same way."""
    return _named(name, MANUAL_CLIENTS)


def _named(name: str, known: Iterable[_Known]) -> _Known | None:
    plain = _plain(name)
    return next((one for one in known if plain in (_plain(one.name), _plain(one.title))), None)


def _plain(name: str) -> str:
    return "".join(c for c in name.lower() if c.isalnum())
