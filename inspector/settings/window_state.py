"""Open windows of the last run, to restore them: documents, filters, scopes, docks, in one file.

It contains no secrets: the writer leaves out values with one (`ui/features/window_restoring.py`). Marks lie beside
their capture.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from inspector.base import paths
from inspector.base.atomic_files import read_up_to, replace_file
from inspector.base.file_lock import FileLock
from inspector.settings import ConnectionSettings

FILE_NAME = "session.json"
"""Name below the data folder."""
VERSION = 1
MAX_WINDOWS = 50
MAX_ATTEMPTS = 2
"""Number of failed starts after which the windows are only offered."""
_MOST_BYTES = 4 << 20
_MOST_ROUNDS = 4

MAX_TEXT_LENGTH = 10_000
"""Characters a path or filter may have."""

_Text = Annotated[str, Field(max_length=MAX_TEXT_LENGTH)]
_Blob = Annotated[str, Field(max_length=100_000, pattern="^[A-Za-z0-9+/=]*$")]
_Number = Annotated[int, Field(ge=0, lt=1 << 40)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore")


class SavedCondition(_Part):
    """One stacked condition."""

    text: _Text
    """A display filter."""
    on: bool = True
    """In force."""
    later: bool = False
    """As of `filters.stacked_conditions.Condition`."""


class SavedScope(_Part):
    """Scope of the table, by names, since numbers change with the next reading."""

    space: _Text
    """Name of the space."""
    context: _Text | None = None
    """Path of a context, "" for the main one, None for the whole space."""
    reach: _Text = "BELOW"
    """Name of a `filters.scope.Reach`."""
    source: _Text = ""
    """Name of a source in place of a space; ""."""
    calls: bool = False
    """Calls outside of it are shown as well."""


class SavedWindow(_Part):
    """State of one window. It has a file or a connection; all else may be missing."""

    path: _Text = ""
    """The shown file, or ""."""
    connection: ConnectionSettings | None = None
    """The watched gateway; never its token."""
    head_messages: Annotated[int, Field(ge=0, le=100)] = 0
    """Number of first messages covered by `head`."""
    head: _Text = ""
    """Hash that detects another file of this name."""
    filter: _Text = ""
    """The filter bar's own text."""
    conditions: Annotated[list[SavedCondition], Field(max_length=100)] = Field(default_factory=list)
    """Stacked conditions."""
    besides: _Text = ""
    """Filter of additionally shown messages."""
    scope: SavedScope | None = None
    """Scope of the table."""
    sorted_by: _Text = ""
    """Name of a field; "" for the order of arrival."""
    descending: bool = False
    """Largest first."""
    message: _Number | None = None
    """The selected message."""
    top: _Number | None = None
    """The message at the top of the table."""
    offset: Annotated[int, Field(ge=-10_000, le=10_000)] = 0
    """Distance of its row from the top in pixels."""
    following: bool = False
    """The table was at its end, following new messages."""
    tab: _Text = ""
    """Title of the details' tab."""
    view: _Text = ""
    """Id of the central view."""
    window: Annotated[int, Field(ge=0, le=1_000)] = 0
    """Number of the window with its tab; 0 for a window of its own."""
    in_front: bool = False
    """Its tab was in front."""
    geometry: _Blob = ""
    """Place and size as Qt encodes them, in base64."""
    docks: _Blob = ""
    """State of its docks, likewise."""
    dragged: bool = True
    """The user had dragged the docks."""
    gave_way: _Text = ""
    """Comma-separated titles of docks hidden for lack of space."""

    @property
    def opens(self) -> bool:
        """True if there is anything to open."""
        return bool(self.path) or self.connection is not None


@dataclass
class WindowState:
    """State at the last write."""

    windows: list[SavedWindow] = field(default_factory=list[SavedWindow])
    """In the order of opening."""
    attempts: int = 0
    """Number of starts since then that failed to open it."""
    problem: str = ""
    """A sentence for the user if the file, or a part of it, was unusable."""


def last_open_path() -> Path:
    """Returns the path of the state file, in the data folder, as no user edits it."""
    return paths.data_folder() / FILE_NAME


def lock_window_state() -> FileLock | None:
    """Locks the state file for this process; returns None if another one has it."""
    try:
        # A second process with its own windows would overwrite the first one's list.
        return FileLock.acquire(paths.data_folder() / "session.lock")
    except OSError:
        return None


def load_last_open(path: Path | None = None) -> WindowState:
    """Reads the state; never raises for a missing or broken file.

    Args:
        path: the file; `last_open_path()` by default.
    """
    try:
        # Reads one byte more than allowed, so that a huge file costs no memory.
        data = read_up_to(last_open_path() if path is None else path, _MOST_BYTES + 1)
    except FileNotFoundError:
        return WindowState()
    except OSError as error:
        return _unusable(error.strerror or str(error))
    if len(data) > _MOST_BYTES:
        return _unusable("it is too large")
    try:
        raw = json.loads(data)
    except (ValueError, RecursionError):
        return _unusable("it is not JSON")
    if not isinstance(raw, dict) or raw.get("version") != VERSION or not isinstance(raw.get("windows"), list):
        return _unusable("this version cannot read it")
    windows = [_window(one) for one in raw["windows"][:MAX_WINDOWS]]
    usable = [one for one in windows if one is not None]
    attempts = raw.get("attempts")
    lost = len(windows) - len(usable)
    # One broken window must not lose the others.
    trouble = "Some entries of the last session could not be read and were left out." if lost else ""
    return WindowState(usable, attempts if isinstance(attempts, int) and 0 <= attempts < 100 else 0, trouble)


def save_last_open(last: WindowState) -> None:
    """Writes the state; readable by the user alone.

    Raises:
        OSError: if it cannot be written; the old file is unchanged.
    """
    # Without a sync: it is written often, and a lost list only costs the windows of a power failure.
    replace_file(last_open_path(), encode_state(last), sync=False)


def encode_state(last: WindowState) -> bytes:
    """Returns the file's content."""
    windows = [one.model_dump(exclude_defaults=True) for one in last.windows[:MAX_WINDOWS]]
    content = {"version": VERSION, "attempts": last.attempts, "windows": windows}
    return json.dumps(content, indent=1).encode() + b"\n"


def _unusable(why: str) -> WindowState:
    return WindowState(problem=f"The state of the last session could not be read: {why}.")


def _window(raw: object) -> SavedWindow | None:
    """Returns a window without its invalid attributes."""
    if not isinstance(raw, dict):
        return None
    content = dict(cast("dict[str, object]", raw))
    # Removing an attribute may reveal further errors, so this repeats.
    for _ in range(_MOST_ROUNDS):
        try:
            window = SavedWindow.model_validate(content)
        except ValidationError as problem:
            for error in problem.errors(include_url=False, include_input=False, include_context=False):
                content.pop(str(error["loc"][0]) if error["loc"] else "", None)
        else:
            return window if window.opens else None
    return None
