"""Settings and filter presets: models with defaults, file location, migrations. Tokens are never part of them."""

from __future__ import annotations

from inspector.settings.model import (
    DEFAULT_PRESETS,
    RECENT_CAP,
    ConnectionSettings,
    Display,
    Preset,
    Settings,
    default_presets,
)
from inspector.settings.store import LoadedSettings, load, save, settings_path

__all__ = [
    "DEFAULT_PRESETS",
    "RECENT_CAP",
    "ConnectionSettings",
    "Display",
    "LoadedSettings",
    "Preset",
    "Settings",
    "default_presets",
    "load",
    "save",
    "settings_path",
]
