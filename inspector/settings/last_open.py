"""What was open, for the next start: one file in the data folder, windows by themselves, repaired by attribute.

No secrets, no tokens: who gathers it leaves out what holds one (`ui/features/restoring.py`). Marks lie beside their
capture.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from inspector.base import paths
from inspector.base.held_file import Lock
from inspector.base.whole_file import read_up_to, replace_whole
from inspector.settings import ConnectionSettings

FILE_NAME = "session.json"
"""Name below the data folder."""
VERSION = 1
MOST_WINDOWS = 50
MOST_ATTEMPTS = 2
"""After so many starts that ended before what was open stood again, it is only offered."""
_MOST_BYTES = 4 << 20
_MOST_ROUNDS = 4

LONGEST = 10_000
"""Characters a path or filter may have."""

_Text = Annotated[str, Field(max_length=LONGEST)]
_Blob = Annotated[str, Field(max_length=100_000, pattern="^[A-Za-z0-9+/=]*$")]
_Number = Annotated[int, Field(ge=0, lt=1 << 40)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore")


class SavedCondition(_Part):
    """One stacked condition."""

    text: _Text
    """A display filter."""
    on: bool = True
    """Whether it counts."""
    later: bool = False
    """As of `filters.stacked_conditions.Condition`."""


class SavedScope(_Part):
    """The part of the tree the table was bound to, by names: numbers are others in the next reading."""

    space: _Text
    """Name of the space."""
    context: _Text | None = None
    """Path of a context, "" for the main one, None for the whole space."""
    reach: _Text = "BELOW"
    """Name of a `filters.scope.Reach`."""
    source: _Text = ""
    """Name of a source it was bound to in place of a space; ""."""
    calls: bool = False
    """Whether calls outside of it are shown as well."""


class SavedWindow(_Part):
    """One window: what it showed, and how. A file or a connection is there; everything else may be missing."""

    path: _Text = ""
    """The file it showed; "" for none."""
    connection: ConnectionSettings | None = None
    """The gateway it watched; never its token."""
    head_messages: Annotated[int, Field(ge=0, le=100)] = 0
    """So many first messages are known by `head`."""
    head: _Text = ""
    """By which another file of this name is noticed."""
    filter: _Text = ""
    """The filter bar's own text."""
    conditions: Annotated[list[SavedCondition], Field(max_length=100)] = Field(default_factory=list)
    """Stacked conditions."""
    besides: _Text = ""
    """What was shown as well."""
    scope: SavedScope | None = None
    """What the table was bound to."""
    sorted_by: _Text = ""
    """Name of a field; "" for the order of arrival."""
    descending: bool = False
    """Largest first."""
    message: _Number | None = None
    """The selected message."""
    top: _Number | None = None
    """The message at the top of the table."""
    offset: Annotated[int, Field(ge=-10_000, le=10_000)] = 0
    """How far its row was from the top; pixels."""
    following: bool = False
    """The table was at its end, to see what comes."""
    tab: _Text = ""
    """Title of the details' tab."""
    view: _Text = ""
    """Id of the view of the middle."""
    geometry: _Blob = ""
    """Place and size, as Qt writes them down, in base64."""
    docks: _Blob = ""
    """Its docks, alike."""
    dragged: bool = True
    """Whether somebody had dragged them."""
    gave_way: _Text = ""
    """Titles of those that were hidden as there was no room for them, with commas between."""

    @property
    def opens(self) -> bool:
        """Whether there is anything to open."""
        return bool(self.path) or self.connection is not None


@dataclass
class LastOpen:
    """What was open when it was written down last."""

    windows: list[SavedWindow] = field(default_factory=list[SavedWindow])
    """In the order they were opened."""
    attempts: int = 0
    """How many starts have tried to open it since and did not come to their end."""
    trouble: str = ""
    """A sentence for the user where the file, or a part of it, was of no use."""


def last_open_path() -> Path:
    """Where what is open is written down: among the data, as it is no setting that anybody edits."""
    return paths.data_folder() / FILE_NAME


def take_last_open() -> Lock | None:
    """Become the process that keeps what is open written down; None when another one does."""
    try:
        return Lock.take(paths.data_folder() / "session.lock")
    except OSError:
        return None


def load_last_open(path: Path | None = None) -> LastOpen:
    """Read what was open; never raises for a missing or broken file.

    Args:
        path: the file; `last_open_path()` by default.
    """
    try:
        data = read_up_to(last_open_path() if path is None else path, _MOST_BYTES + 1)
    except FileNotFoundError:
        return LastOpen()
    except OSError as error:
        return _of_no_use(error.strerror or str(error))
    if len(data) > _MOST_BYTES:
        return _of_no_use("it is too large")
    try:
        raw = json.loads(data)
    except (ValueError, RecursionError):
        return _of_no_use("it is not JSON")
    if not isinstance(raw, dict) or raw.get("version") != VERSION or not isinstance(raw.get("windows"), list):
        return _of_no_use("this version cannot read it")
    windows = [_window(one) for one in raw["windows"][:MOST_WINDOWS]]
    usable = [one for one in windows if one is not None]
    attempts = raw.get("attempts")
    lost = len(windows) - len(usable)
    trouble = "Some of what was open before could not be read, and was left out." if lost else ""
    return LastOpen(usable, attempts if isinstance(attempts, int) and 0 <= attempts < 100 else 0, trouble)


def save_last_open(last: LastOpen, path: Path | None = None) -> None:
    """Write down what is open; readable by the user alone.

    Args:
        last: what is.
        path: the file; `last_open_path()` by default.

    Raises:
        OSError: it cannot be written; the old file is untouched.
    """
    replace_whole(last_open_path() if path is None else path, encoded(last), sync=False)


def encoded(last: LastOpen) -> bytes:
    """The file's content."""
    windows = [one.model_dump(exclude_defaults=True) for one in last.windows[:MOST_WINDOWS]]
    content = {"version": VERSION, "attempts": last.attempts, "windows": windows}
    return json.dumps(content, indent=1).encode() + b"\n"


def _of_no_use(why: str) -> LastOpen:
    return LastOpen(trouble=f"What was open before could not be read: {why}.")


def _window(raw: object) -> SavedWindow | None:
    """A window as far as it can be used: attributes that cannot are left out."""
    if not isinstance(raw, dict):
        return None
    content = dict(cast("dict[str, object]", raw))
    for _ in range(_MOST_ROUNDS):
        try:
            window = SavedWindow.model_validate(content)
        except ValidationError as problem:
            for error in problem.errors(include_url=False, include_input=False, include_context=False):
                content.pop(str(error["loc"][0]) if error["loc"] else "", None)
        else:
            return window if window.opens else None
    return None
