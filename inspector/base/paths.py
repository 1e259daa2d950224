"""Paths of the program's resources and the user's folders.

A folder is created only by its `*_folder` function. Tests and `--temp-settings` set `CONTEXT_INSPECTOR_HOME`, the
parent of all user folders.
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
"""Environment variable with the parent of every user folder."""

_PRIVATE_MODE = 0o700


def is_same_file(one: Path, other: Path) -> bool:
    """Returns True if both exist and are one file, also by links and other spellings."""
    try:
        return one.samefile(other)
    except OSError:
        return False


@cache
def resources_folder() -> Path:
    """Returns the folder with `fonts/` and `icons/`: inside an installed package, beside the package in a checkout.

    Raises:
        FileNotFoundError: if neither exists, so the installation is incomplete.
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
    """Returns the path of a resource, for example `resource("icons", "context-inspector.svg")`; it may not exist."""
    return resources_folder().joinpath(*parts)


@cache
def guide_folder() -> Path:
    """Returns the parent folder of the guide's pages (`docs/`): inside an installed package, or the checkout.

    Raises:
        FileNotFoundError: if the guide is not installed.
    """
    package = Path(__file__).resolve().parents[1]
    for candidate in (package / "_resources" / "guide", package.parent):
        if (candidate / "docs" / "README.md").is_file():
            return candidate
    raise FileNotFoundError(f"The guide is missing: {package / '_resources' / 'guide'}. Install the program again.")


def config_folder() -> Path:
    """Returns the folder of settings and presets; creates it, readable by the user alone."""
    return _user_folder("config", platformdirs.user_config_path(APP_NAME, appauthor=False))


def data_folder() -> Path:
    """Returns the folder of unsaved captures; creates it, readable by the user alone."""
    return _user_folder("data", platformdirs.user_data_path(APP_NAME, appauthor=False))


def cache_folder() -> Path:
    """Returns the folder of spools and demo screenshots; creates it, readable by the user alone."""
    return _user_folder("cache", platformdirs.user_cache_path(APP_NAME, appauthor=False))


def log_folder() -> Path:
    """Returns the folder of the program's logs and crash reports; creates it, readable by the user alone."""
    return _user_folder("log", platformdirs.user_log_path(APP_NAME, appauthor=False))


def _user_folder(name: str, default: Path) -> Path:
    home = os.environ.get(HOME_VARIABLE)
    folder = Path(home).expanduser() / name if home else default
    # Captures and settings may reveal agents' messages, so other users of the machine have no access.
    with contextlib.suppress(OSError):  # a later write reports the error; the program starts without the folder
        _make_private(folder)
    # Some systems have logs or caches in a subfolder of the program's own folder.
    for one in (folder.parent, folder) if not home and folder.parent.name == APP_NAME else (folder,):
        _close_to_others(one)
    return folder


def _make_private(folder: Path) -> None:
    """Creates a folder and its parents with private modes: `mkdir` applies the umask to parents."""
    try:
        folder.mkdir(mode=_PRIVATE_MODE, exist_ok=True)
    except FileNotFoundError:
        _make_private(folder.parent)
        folder.mkdir(mode=_PRIVATE_MODE, exist_ok=True)


def _close_to_others(folder: Path) -> None:
    """Removes others' access to an existing folder; skips folders of other users."""
    if sys.platform == "win32":
        return
    with contextlib.suppress(OSError):
        found = folder.stat()
        if found.st_uid == os.geteuid() and found.st_mode & ~_PRIVATE_MODE & 0o777:
            folder.chmod(_PRIVATE_MODE)
