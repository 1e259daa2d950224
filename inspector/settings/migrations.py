"""Upgrades an older settings file one version step at a time.

Each step takes and returns the plain decoded object; a new shape adds one step and raises `SETTINGS_VERSION`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

from inspector.settings.model import DEFAULT_PRESETS, RENAMED_PRESETS, SETTINGS_VERSION

Step = Callable[[dict[str, object]], dict[str, object]]
"""From one version to the next; may change its argument."""


def _add_presets(raw: dict[str, object]) -> dict[str, object]:
    """Version 2: presets for sessions, MCP and traces; two presets have other names."""
    presets = raw.get("presets")
    if not isinstance(presets, list):
        return raw
    filters = {preset.name: preset.filter for preset in DEFAULT_PRESETS}
    kept: list[object] = []
    for preset in cast("list[object]", presets):
        if isinstance(preset, dict):
            name = RENAMED_PRESETS.get(str(cast("dict[str, object]", preset).get("name")))
            # A preset with another filter is the user's own, whatever its name.
            if name is not None and cast("dict[str, object]", preset).get("filter") == filters[name]:
                preset = {**cast("dict[str, object]", preset), "name": name}
        kept.append(preset)
    # A list: a user's file may contain unhashable JSON there.
    known = [cast("dict[str, object]", preset).get("filter") for preset in kept if isinstance(preset, dict)]
    new = [{"name": name, "filter": filters[name]} for name in _OF_VERSION_2 if filters[name] not in known]
    # `Problems` stays the last chip, as in a new installation.
    at = len(kept) - 1 if kept and kept[-1] == {"name": "Problems", "filter": filters["Problems"]} else len(kept)
    return {**raw, "presets": [*kept[:at], *new, *kept[at:]]}


_OF_VERSION_2 = (
    "Prompts", "Edits", "Commands", "Model calls", "Tool calls", "Failed", "Sub-agents", "Notifications",
)  # fmt: skip

MIGRATIONS: dict[int, Step] = {1: _add_presets}
"""Upgrade step by the version of the file."""


class UnreadableVersionError(Exception):
    """The file's version is not supported; the text names it and a remedy."""


def migrate(
    raw: dict[str, object],
    *,
    target: int = SETTINGS_VERSION,
    migrations: Mapping[int, Step] | None = None,
) -> dict[str, object]:
    """Upgrades a decoded settings file to the target version.

    Args:
        raw: the decoded object; a missing version counts as 1.
        target: the wanted version.
        migrations: the steps; `MIGRATIONS` by default.

    Raises:
        UnreadableVersionError: if a newer program wrote it, or a step is missing.
    """
    steps = MIGRATIONS if migrations is None else migrations
    version = raw.get("version", 1)
    # In Python, True is an integer.
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise UnreadableVersionError(f"its version is {version!r}, which is no version")
    if version > target:
        raise UnreadableVersionError(f"it has version {version}, written by a newer Context Inspector")
    while version < target:
        step = steps.get(version)
        if step is None:
            raise UnreadableVersionError(f"there is no step from version {version} to {version + 1}")
        version += 1
        # A copy, since a step may change the file's content in place.
        raw = {**step(dict(raw)), "version": version}
    return raw
