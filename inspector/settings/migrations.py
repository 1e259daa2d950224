"""Upgrades an older settings file one version step at a time.

Each step takes and returns the plain decoded object; a new shape adds one step and raises `SETTINGS_VERSION`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from inspector.settings.model import SETTINGS_VERSION

Step = Callable[[dict[str, object]], dict[str, object]]
"""From one version to the next; may change its argument."""

MIGRATIONS: dict[int, Step] = {}
"""Version a file has to the step that makes the next one of it."""


class UnreadableVersionError(Exception):
    """The file's version is none this program can read; the text says which and what to do."""


def migrate(
    raw: dict[str, object],
    *,
    target: int = SETTINGS_VERSION,
    migrations: Mapping[int, Step] | None = None,
) -> dict[str, object]:
    """Bring a decoded settings file to the present shape.

    Args:
        raw: the decoded object; a missing version counts as 1.
        target: version wanted.
        migrations: steps to use; `MIGRATIONS` by default.

    Raises:
        UnreadableVersionError: it was written by a newer program, or a step is missing.
    """
    steps = MIGRATIONS if migrations is None else migrations
    version = raw.get("version", 1)
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise UnreadableVersionError(f"its version is {version!r}, which is no version")
    if version > target:
        raise UnreadableVersionError(f"it has version {version}, written by a newer Context Inspector")
    while version < target:
        step = steps.get(version)
        if step is None:
            raise UnreadableVersionError(f"there is no step from version {version} to {version + 1}")
        version += 1
        raw = {**step(dict(raw)), "version": version}
    return raw
