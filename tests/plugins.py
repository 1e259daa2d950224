"""Plug-ins for tests: files in the folder of plug-ins, switched on or not."""

from __future__ import annotations

import shutil
from pathlib import Path

from inspector.plugins import loading
from inspector.plugins.discovery import candidate, plugins_folder
from inspector.plugins.loading import PluginState
from inspector.settings.model import SwitchedPlugin
from tests.pages import ROOT

EXAMPLES = ROOT / "docs" / "examples"
ROBOT_LINES = tuple(
    f'{{"robot": "r1", "at": "2026-01-05T10:00:{second:02}Z", {rest}}}'
    for second, rest in enumerate(
        (
            '"do": "ask", "text": "Is the kitchen clean?"',
            '"do": "start", "job": "j1", "tool": "wipe", "with": {"place": "sink"}',
            '"do": "done", "job": "j1", "text": "wiped", "ok": true',
            '"do": "ask", "text": "Is the kitchen clean?"',
            '"do": "say", "text": "The kitchen is clean."',
        )
    )
)
"""A log that the example `robot_log` reads."""


def plugin_file(name: str, code: str) -> SwitchedPlugin:
    """Writes a plug-in; returns its entry in the settings."""
    plugins_folder().mkdir(parents=True, exist_ok=True)
    (plugins_folder() / f"{name}.py").write_text(code, encoding="utf-8")
    found = candidate(name, "file")
    assert found is not None
    return found.switched()


def example(name: str) -> SwitchedPlugin:
    """Puts an example of the documentation into the folder of plug-ins; returns its entry in the settings."""
    plugins_folder().mkdir(parents=True, exist_ok=True)
    path = shutil.copy(EXAMPLES / f"{name}.py", plugins_folder())
    found = candidate(Path(path).stem, "file")
    assert found is not None
    return found.switched()


def loaded(*switched: SwitchedPlugin) -> list[PluginState]:
    """Loads plug-ins, and returns the state of all."""
    loading.load(switched)
    return loading.states(switched)
