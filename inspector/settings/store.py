"""Reading and writing the settings file: whole or not at all.

A file that cannot be read is set aside under another name, never overwritten, and the defaults are used with a
message for the user.
"""

from __future__ import annotations

import errno
import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from inspector import paths
from inspector.settings.migrations import UnreadableVersionError, migrate
from inspector.settings.model import Settings

FILE_NAME = "settings.json"
"""Name below the config folder."""


@dataclass(frozen=True)
class LoadedSettings:
    """What loading gave."""

    settings: Settings
    """The file's, or the defaults."""
    message: str | None
    """One sentence for the user when the file could not be used, else None."""


def settings_path() -> Path:
    """Where the settings lie."""
    return paths.config_folder() / FILE_NAME


def load(path: Path | None = None) -> LoadedSettings:
    """Read the settings; never raises for a missing or broken file.

    Args:
        path: the file; `settings_path()` by default.
    """
    file = settings_path() if path is None else path
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return LoadedSettings(Settings(), None)
    except UnicodeDecodeError:
        return _set_aside(file, "it is not UTF-8 text")
    except OSError as problem:
        return LoadedSettings(
            Settings(), f"The settings in {file} could not be read ({problem.strerror}); defaults are used."
        )
    try:
        raw = json.loads(text)
        if not isinstance(raw, dict):
            return _set_aside(file, "it is not a JSON object")
        return LoadedSettings(Settings.model_validate(migrate(raw)), None)
    except (json.JSONDecodeError, RecursionError) as problem:
        return _set_aside(file, f"it is not JSON: {problem}")
    except UnreadableVersionError as problem:
        return _set_aside(file, str(problem))
    except ValidationError as problem:
        first = problem.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        return _set_aside(file, f"{place or 'its content'}: {first['msg']}")
    except ValueError:  # integers of more digits than Python converts
        return _set_aside(file, "it holds a number that is too long to read")


def save(settings: Settings, path: Path | None = None) -> None:
    """Write the settings so that a crash leaves either the old file or the new one; readable by the user alone.

    Args:
        settings: what to write.
        path: the file; `settings_path()` by default.

    Raises:
        OSError: the folder cannot be written, or the settings are nothing that can be; the old file is untouched.
    """
    file = settings_path() if path is None else path
    try:
        text = settings.model_dump_json(indent=2) + "\n"
    except ValueError:
        raise OSError(errno.EINVAL, "they hold text that is not valid Unicode", str(file)) from None
    # mkstemp makes the file with mode 0600.
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        Path(name).replace(file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _set_aside(file: Path, why: str) -> LoadedSettings:
    why = why.encode("utf-8", "replace").decode()  # it may quote keys of the file
    aside = _free_name(file)
    try:
        file.replace(aside)
    except OSError:
        kept = f"{file} was left as it is"
    else:
        kept = f"it was kept as {aside.name}"
    return LoadedSettings(Settings(), f"The settings in {file} could not be used, {why}; defaults are used, {kept}.")


def _free_name(file: Path) -> Path:
    for number in range(1, 1000):
        candidate = file.with_name(f"{file.stem}.broken-{number}{file.suffix}")
        if not candidate.exists():
            return candidate
    return file.with_name(f"{file.stem}.broken{file.suffix}")
