"""Reads and writes the settings file atomically; sets aside an unreadable one.

An unreadable file is renamed, never overwritten; the defaults are used with a message for the user. With some unusable
entries, a copy is kept and the rest is used.
"""

from __future__ import annotations

import errno
import json
from dataclasses import dataclass
from pathlib import Path

from inspector.base import paths
from inspector.base.atomic_files import read_up_to, replace_file
from inspector.settings.migrations import UnreadableVersionError, migrate
from inspector.settings.model import Settings
from inspector.settings.repair import repair_settings

FILE_NAME = "settings.json"
"""Name below the config folder."""
_MOST_BYTES = 32 << 20
_MAX_NAMED_ENTRIES = 3
"""Number of dropped entries named in the message."""


@dataclass(frozen=True)
class LoadedSettings:
    """Result of loading."""

    settings: Settings
    """The file's settings, or the defaults."""
    message: str | None
    """One sentence for the user if the file was unusable, else None."""


def settings_path() -> Path:
    """Returns the path of the settings file; it may not exist."""
    return paths.config_folder() / FILE_NAME


def load_settings() -> LoadedSettings:
    """Reads the settings; never raises for a missing or broken file."""
    file = settings_path()
    try:
        # Reads one byte more than allowed, so that a huge file costs no memory.
        data = read_up_to(file, _MOST_BYTES + 1)
        text = data.decode("utf-8-sig")  # some editors write a byte order mark
    except FileNotFoundError:
        return LoadedSettings(Settings(), None)
    except UnicodeDecodeError:
        return _set_aside(file, "it is not UTF-8 text")
    except OSError as problem:
        return LoadedSettings(
            Settings(), f"The settings in {file} could not be read ({problem.strerror}); defaults are used."
        )
    if len(data) > _MOST_BYTES:
        return _set_aside(file, "it is too large")
    try:
        raw = json.loads(text)
        if not isinstance(raw, dict):
            return _set_aside(file, "it is not a JSON object")
        settings, left_out = repair_settings(migrate(raw))
    except (json.JSONDecodeError, RecursionError) as problem:
        return _set_aside(file, f"it is not JSON: {problem}")
    except UnreadableVersionError as problem:
        return _set_aside(file, str(problem))
    except ValueError:  # integers of more digits than Python converts
        return _set_aside(file, "it holds a number that is too long to read")
    return LoadedSettings(settings, _left_out_words(file, data, left_out) if left_out else None)


def save_settings(settings: Settings, path: Path | None = None) -> None:
    """Writes the settings atomically; readable by the user alone.

    Args:
        settings: the settings.
        path: the file; `settings_path()` by default.

    Raises:
        OSError: if the folder cannot be written, or the settings cannot be encoded; the old file is unchanged.
    """
    file = settings_path() if path is None else path
    try:
        # Indented, since users edit this file by hand.
        text = settings.model_dump_json(indent=2) + "\n"
    except ValueError:
        raise OSError(errno.EINVAL, "they hold text that is not valid Unicode", str(file)) from None
    replace_file(file, text.encode())


def _left_out_words(file: Path, data: bytes, left_out: list[str]) -> str:
    """Keeps a copy of a file with unusable entries; returns the message."""
    named = "; ".join(left_out[:_MAX_NAMED_ENTRIES])
    if len(left_out) > _MAX_NAMED_ENTRIES:
        named += f"; and {len(left_out) - _MAX_NAMED_ENTRIES:,} more"
    # An entry's name may contain half of a surrogate pair, which cannot be shown.
    named = named.encode("utf-8", "replace").decode()
    what = "One entry" if len(left_out) == 1 else f"{len(left_out):,} entries"
    # The original is kept before the next change overwrites it.
    aside = _copied_aside(file, data)
    one = len(left_out) == 1
    sentence = f"{what} of the settings could not be used and {'was' if one else 'were'} left out: {named}."
    if aside is None:
        return f"{sentence} Copy {file} before you change a setting."
    return f"{sentence} Set {'it' if one else 'them'} again here; the file as it was is kept as {aside}."


def _copied_aside(file: Path, data: bytes) -> Path | None:
    """Returns a copy under another name, an earlier one if equal; None if it cannot be written."""
    try:
        for known in sorted(file.parent.glob(f"{file.stem}.broken-*{file.suffix}")):
            # The size first, so that few files are read.
            if known.stat().st_size == len(data) and known.read_bytes() == data:
                return known
        aside = _free_name(file)
        replace_file(aside, data)
    except OSError:
        return None
    return aside


def _set_aside(file: Path, why: str) -> LoadedSettings:
    why = why.encode("utf-8", "replace").decode()  # it may quote keys of the file
    aside = _free_name(file)
    try:
        # Renamed, so that the next start does not read it again.
        file.replace(aside)
    except OSError:
        fate = f"{file} was left as it is"
    else:
        fate = f"it was kept as {aside.name}"
    return LoadedSettings(Settings(), f"The settings in {file} could not be used, {why}; defaults are used, {fate}.")


def _free_name(file: Path) -> Path:
    # A new name, as an earlier file may hold the only copy of a setting.
    for number in range(1, 1000):
        candidate = file.with_name(f"{file.stem}.broken-{number}{file.suffix}")
        if not candidate.exists():
            return candidate
    return file.with_name(f"{file.stem}.broken{file.suffix}")
