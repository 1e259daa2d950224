"""Where things lie: the program's own resources, and the user's folders.

Owns the answer to "which folder"; creates a folder only when asked with one of the `*_folder` functions. Tests and
`--temp-settings` set `CONTEXT_INSPECTOR_HOME`, which holds all user folders below one place.
"""

from __future__ import annotations

import contextlib
import os
import sys
from functools import cache
from pathlib import Path

import platformdirs

APP_NAME = "context-inspector"
"""Folder name below the platform's own folders."""

HOME_VARIABLE = "CONTEXT_INSPECTOR_HOME"
"""Environment variable that moves every user folder below the folder it names."""

_ALONE = 0o700


@cache
def resources_folder() -> Path:
    """Folder with `fonts/` and `icons/`: inside an installed package, beside the package in a checkout.

    Raises:
        FileNotFoundError: neither exists, so the installation is incomplete.
    """
    package = Path(__file__).resolve().parents[1]
    for candidate in (package / "_resources", package.parent / "resources"):
        if (candidate / "fonts").is_dir():
            return candidate
    raise FileNotFoundError(
        f"Context Inspector's resources are missing: neither {package / '_resources'} nor "
        f"{package.parent / 'resources'} holds a fonts folder. Install it again."
    )


def resource(*parts: str) -> Path:
    """Path of one resource, for example `resource("icons", "context-inspector.svg")`; it may not exist."""
    return resources_folder().joinpath(*parts)


@cache
def guide_folder() -> Path:
    """Folder that the pages of the guide lie below, as `docs/`: inside an installed package, or the checkout.

    Raises:
        FileNotFoundError: the guide is not installed.
    """
    package = Path(__file__).resolve().parents[1]
    for candidate in (package / "_resources" / "guide", package.parent):
        if (candidate / "docs" / "README.md").is_file():
            return candidate
    raise FileNotFoundError(f"The guide is missing: {package / '_resources' / 'guide'}. Install the program again.")


def config_folder() -> Path:
    """Settings and presets. Created, readable by the user alone."""
    return _user_folder("config", platformdirs.user_config_path(APP_NAME, appauthor=False))


def data_folder() -> Path:
    """Captures that were not saved under a name yet. Created, readable by the user alone."""
    return _user_folder("data", platformdirs.user_data_path(APP_NAME, appauthor=False))


def cache_folder() -> Path:
    """What can be made again: spooled input, screenshots of the demo. Created, readable by the user alone."""
    return _user_folder("cache", platformdirs.user_cache_path(APP_NAME, appauthor=False))


def log_folder() -> Path:
    """The program's own logs and crash reports. Created, readable by the user alone."""
    return _user_folder("log", platformdirs.user_log_path(APP_NAME, appauthor=False))


def _user_folder(name: str, default: Path) -> Path:
    home = os.environ.get(HOME_VARIABLE)
    folder = Path(home).expanduser() / name if home else default
    # Captures and settings may tell what agents said: nobody else's business on a shared machine.
    with contextlib.suppress(OSError):  # whoever writes in it hears of it; the program starts without
        _make(folder)
    for one in (folder.parent, folder) if not home and folder.parent.name == APP_NAME else (folder,):
        _close_to_others(one)
    return folder


def _make(folder: Path) -> None:
    """Make a folder and those it lies in, each the user's alone: `mkdir` leaves the latter to the umask."""
    try:
        folder.mkdir(mode=_ALONE, exist_ok=True)
    except FileNotFoundError:
        _make(folder.parent)
        folder.mkdir(mode=_ALONE, exist_ok=True)


def _close_to_others(folder: Path) -> None:
    """Take a folder away from others that was made by hand, or before; one that is not the user's stays as it is."""
    if sys.platform == "win32":
        return
    with contextlib.suppress(OSError):
        found = folder.stat()
        if found.st_uid == os.geteuid() and found.st_mode & ~_ALONE & 0o777:
            folder.chmod(_ALONE)
