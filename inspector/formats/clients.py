"""Declaration of clients: their MCP configuration, and the addresses of the models that they call (docs/tap.md)."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple


class ConfigFile(NamedTuple):
    """A file in which a client may keep servers."""

    path: Path
    shared: bool = False
    """It belongs to a project, so other people may use it."""
    rewritten: bool = False
    """The running client rewrites it all the time, so it is not safe to change."""
    tables: tuple[tuple[str, ...], ...] = ()
    """Further tables with servers, by keys."""


class Client(NamedTuple):
    """An MCP client whose files this program can change."""

    name: str
    """Name on the command line."""
    title: str
    key: str
    """Key of its table of servers."""
    files: Callable[[], Iterator[ConfigFile]]
    afterwards: str
    """A sentence on how to activate a change."""
    syntax: Literal["json", "toml"] = "json"
    command: str = ""
    """Its own command for files that it rewrites; has the subcommands get, add and remove with a scope."""


class ManualClient(NamedTuple):
    """An MCP client whose file the user changes by hand."""

    name: str
    title: str
    file: str
    key: str
    command: str
    arguments: str
    url: str


class ModelApi(NamedTuple):
    """A model API, and the variables from which clients read its address."""

    address: str
    """Default address; "" without one, so that it is tapped only if a variable is set."""
    variables: tuple[str, ...]
    regional: str = ""
    """Address template for the region in GOOGLE_CLOUD_LOCATION."""


class ModelClient(NamedTuple):
    """A client of model APIs for which variables are not enough. Both functions ignore commands of other clients."""

    why_refused: Callable[[Sequence[str], Mapping[str, str]], str]
    """Returns the reason why a command cannot be tapped in an environment; "" if none is known."""
    with_addresses: Callable[[Sequence[str], Mapping[ModelApi, str]], list[str]]
    """Adds options with the addresses of taps to a command."""


def user_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Returns the user's home folder, by the variable that programs read on this system."""
    # Shells on Windows set HOME as well, and may mean another folder.
    first = "USERPROFILE" if sys.platform == "win32" else "HOME"
    return Path(environment.get(first) or environment.get("HOME") or Path.home())


def data_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Returns the folder for data of programs that follow the XDG rules on every system."""
    return Path(environment.get("XDG_DATA_HOME") or user_folder(environment) / ".local" / "share")


def editor_folders(environment: Mapping[str, str] = os.environ) -> tuple[Path, ...]:
    """Returns the user folders of editors with extensions and chats, and of their servers for remote work."""
    desktop = (settings_folder(one, environment) / "User" for one in _EDITORS)
    return (*desktop, *sorted(user_folder(environment).glob(_SERVERS)))


_EDITORS = ("Code", "Code - Insiders", "VSCodium", "Code - OSS", "Cursor", "Windsurf")
_SERVERS = ".*-server*/data/User"


def settings_folder(name: str, environment: Mapping[str, str] = os.environ) -> Path:
    """Returns the folder for settings of a desktop program."""
    home = user_folder(environment)
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / name
    if sys.platform == "win32":
        return Path(environment.get("APPDATA") or home / "AppData" / "Roaming") / name
    return Path(environment.get("XDG_CONFIG_HOME") or home / ".config") / name


def project_files(*parts: str) -> Iterator[ConfigFile]:
    """Yields the project's file in the current folder or the nearest parent, up to the home folder."""
    folder, home = Path.cwd(), Path.home()
    for one in (folder, *folder.parents):
        file = one.joinpath(*parts)
        if one == home:  # files there belong to the user
            break
        if file.is_file():
            yield ConfigFile(file, shared=True)
            return
    if folder != home:
        yield ConfigFile(folder.joinpath(*parts), shared=True)
