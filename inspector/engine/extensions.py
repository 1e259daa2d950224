"""Loads the formats that the user has declared, and the plug-ins that are switched on."""

from __future__ import annotations

from inspector.formats.declared.folder import register_folder
from inspector.plugins import loading
from inspector.settings.store import load_settings, settings_path


def load_extensions() -> None:
    """Loads new ones and unloads others."""
    register_folder()
    if settings_path().exists():
        loading.load(load_settings().settings.plugins)
