"""Settings and filter presets: models with defaults, file location, migrations. Tokens are never part of them."""

from __future__ import annotations

from inspector.settings.model import (
    DEFAULT_HIGHLIGHTS,
    DEFAULT_PRESETS,
    RECENT_CAP,
    ConnectionSettings,
    Contexts,
    Display,
    HighlightColor,
    HighlightRule,
    Memory,
    NamedConnection,
    Preset,
    Prices,
    RecentFacts,
    Settings,
    Start,
    Table,
    TableColumn,
    TokenPlace,
    default_highlights,
    default_presets,
)
from inspector.settings.store import LoadedSettings, load, save, settings_path

__all__ = [
    "DEFAULT_HIGHLIGHTS",
    "DEFAULT_PRESETS",
    "RECENT_CAP",
    "ConnectionSettings",
    "Contexts",
    "Display",
    "HighlightColor",
    "HighlightRule",
    "LoadedSettings",
    "Memory",
    "NamedConnection",
    "Preset",
    "Prices",
    "RecentFacts",
    "Settings",
    "Start",
    "Table",
    "TableColumn",
    "TokenPlace",
    "default_highlights",
    "default_presets",
    "load",
    "save",
    "settings_path",
]
