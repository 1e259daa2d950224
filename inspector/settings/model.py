"""The settings as pydantic models, with their defaults.

What is here is written to disk in clear text: no tokens. Window geometry and header states are Qt's own business
(`QSettings`). Sources: design.md 4 and 6 (secrets, presets), look.md 9 (density, motion).
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

RECENT_CAP = 10
"""How many recent files, and how many recent connections, are remembered."""

SETTINGS_VERSION = 1
"""Version of the file's shape; an older file is migrated step by step."""


class _Part(BaseModel):
    # Unknown keys are dropped: a newer version may have written them. Assignments are checked like input.
    model_config = ConfigDict(extra="ignore", validate_assignment=True)


class Display(_Part):
    """How the window looks."""

    theme: Literal["system", "light", "dark"] = "system"
    """Follow the system, or always light or dark."""
    density: Literal["compact", "comfortable"] = "compact"
    """How much air a row has."""
    zoom_percent: int = Field(default=100, ge=80, le=200)
    """Scales type and grid together, kept apart from the system's scaling."""
    two_lines: bool = False
    """The text of a message on a second line."""
    show_context_hints: bool = False
    """Badges on tool results that may be collapsed, were consumed, or were replaced by their summary."""
    animate: bool = True
    """A short fade on contexts and participants that speak."""


class ConnectionSettings(_Part):
    """A gateway that was joined; its token is never part of it."""

    url: str
    """Address, `ws://` or `wss://`."""
    space: str = ""
    """Space to join."""
    participant: str = ""
    """Id to join as; empty for a fresh random one each time."""
    answer_tools_list: bool = True
    """Answer `tools/list` with an empty list, so that agents need not wait for it."""

    @field_validator("url")
    @classmethod
    def _without_secrets(cls, url: str) -> str:
        # A query or user information in the address may carry a token.
        address = url.partition("?")[0].partition("#")[0]
        scheme, separator, rest = address.partition("://")
        if not separator:
            return address
        host, slash, path = rest.partition("/")
        return f"{scheme}://{host.rpartition('@')[2]}{slash}{path}"


class Preset(_Part):
    """A named display filter expression, nothing more; `$context` in it stands for the selected context."""

    name: str
    """What its chip says."""
    filter: str
    """Display filter expression; empty shows everything."""


DEFAULT_PRESETS: tuple[tuple[str, str], ...] = (
    ("Everything", ""),
    ("Main only", "!context"),
    ("With reasoning", '!context || context.type == "reasoning"'),
    ("Reasoning only", 'context.type == "reasoning"'),
    ("Conclusions", 'context && kind == "reasoning/conclusion"'),
    ("Root contexts", "context.depth == 1"),
    ("This context", "context under $context"),
    ("Direct children", "context childof $context"),
    ("Tools", 'kind like "mcp/*"'),
    ("Proposals", 'kind in {"mcp/proposal", "mcp/reject", "mcp/withdraw"}'),
    ("Transient results", "badge"),
    ("Problems", "finding.severity >= warning"),
)
"""Presets of design.md 6: (name, filter)."""


def default_presets() -> list[Preset]:
    """A fresh list of the default presets."""
    return [Preset(name=name, filter=text) for name, text in DEFAULT_PRESETS]


class Settings(_Part):
    """Everything the program remembers between starts, but secrets and window geometry."""

    version: int = SETTINGS_VERSION
    """Shape of the file."""
    display: Display = Field(default_factory=Display)
    """How the window looks."""
    recent_files: list[str] = Field(default_factory=list)
    """Absolute paths, latest first, at most `RECENT_CAP`."""
    recent_connections: list[ConnectionSettings] = Field(default_factory=list)
    """Latest first, at most `RECENT_CAP`."""
    presets: list[Preset] = Field(default_factory=default_presets)
    """Chips below the filter bar, in their order."""

    def remember_file(self, path: str) -> None:
        """Put a file on top of the recent ones; a name that is no valid Unicode cannot be written and is not kept."""
        if not _is_unicode(path):
            return
        others = [known for known in self.recent_files if known != path]
        self.recent_files = [path, *others][:RECENT_CAP]

    def remember_connection(self, connection: ConnectionSettings) -> None:
        """Put a connection on top of the recent ones; the same address and space count once."""
        place = (connection.url, connection.space)
        others = [known for known in self.recent_connections if (known.url, known.space) != place]
        self.recent_connections = [connection, *others][:RECENT_CAP]


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
