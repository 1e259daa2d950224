"""Finds servers in configurations of MCP clients; plans and applies the change of one entry, with a backup."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from inspector.base.atomic_files import open_replacement
from inspector.formats.clients import Client, ConfigFile
from inspector.formats.table import CLIENTS
from inspector.protocol.secrets.masking import mask_text
from inspector.tap.command_words import shown_command
from inspector.tap.http.unwritten import Unwritten
from inspector.tap.install.clients import read_config
from inspector.tap.install.entries import (
    Edit,
    Form,
    form_of,
    has_own_token,
    joint_of,
    with_http_tap,
    with_stdio_tap,
    without_http_tap,
    without_stdio_tap,
)
from inspector.tap.install.values import TOO_DEEP, UnreadableError, Value, spliced

_LARGEST_BYTES = 1 << 26


class RefusedError(Exception):
    """A refused change; the text is a sentence with the reason and advice."""


class Server(NamedTuple):
    """A server in a client's configuration."""

    client: Client
    file: ConfigFile
    table: tuple[str, ...]
    """Path of its table in the file, by keys."""
    name: str
    form: Form
    own_token: bool
    """The client sends its own token."""

    @property
    def shown(self) -> str:
        """Its command or address, without secrets."""
        return " ".join(shown_command(self.form.words)) if self.form.words else Unwritten().target(self.form.address)


class Found(NamedTuple):
    """Result of a search in the files of clients."""

    servers: list[Server]
    looked_at: list[Path]
    """Searched files, existing or not."""
    troubles: list[str]
    """Sentences on unreadable files."""


class Change(NamedTuple):
    """A planned change of one file."""

    server: Server
    before: bytes
    after: bytes
    lines: tuple[str, ...]
    """Diff without secrets: removed lines begin with -, added lines with +."""
    notes: tuple[str, ...]
    """Sentences with notes for the user."""
    run: tuple[str, ...] = ()
    """Arguments of this program for a tap that must run before the client starts; () for none."""


def servers_of(clients: tuple[Client, ...] = CLIENTS, file: Path | None = None) -> Found:
    """Lists the servers in clients' files.

    Args:
        clients: clients to search.
        file: search only this file, in the format of the first client.
    """
    found = Found([], [], [])
    for client in clients:
        for one in [ConfigFile(file)] if file is not None else list(client.files()):
            if one.path in found.looked_at:
                continue
            found.looked_at.append(one.path)
            try:
                found.servers.extend(_in_file(client, one))
            except FileNotFoundError:
                continue
            except (OSError, UnreadableError, RecursionError) as error:
                why = error.strerror if isinstance(error, OSError) else _words(error)
                found.troubles.append(f"{one.path} cannot be read: {why}.")
    return found


def _in_file(client: Client, file: ConfigFile) -> Iterator[Server]:
    root = read_config(client, _text_of(file.path)[0])
    for table in ((client.key,), *file.tables):
        servers = root.value_at(*table)
        for name, entry in (servers.members or {}).items() if servers is not None else ():
            if entry.members is not None:
                yield Server(client, file, table, name, form_of(entry), has_own_token(entry))


def _words(error: Exception) -> str:
    return TOO_DEEP if isinstance(error, RecursionError) else str(error)


def _text_of(path: Path) -> tuple[str, bytes]:
    data = path.read_bytes()
    if len(data) > _LARGEST_BYTES:
        raise UnreadableError("it is too large to be a configuration")
    try:
        return data.decode(), data
    except UnicodeDecodeError as error:
        raise UnreadableError("it is not UTF-8") from error


def planned(server: Server, folder: Path, *, install: bool) -> Change:
    """Plans a change that puts a tap before a server, or removes it.

    Args:
        server: a found server.
        folder: folder for the captures.
        install: True to add the tap, False to remove it.

    Raises:
        RefusedError: if the change is impossible or unsafe.
    """
    if server.file.rewritten:
        raise RefusedError(_by_its_own_command(server))
    if server.form.tapped == install:
        raise RefusedError(f"{server.name} is {'already tapped' if install else 'not tapped'}, in {server.file.path}.")
    if not server.form.kind:
        raise RefusedError(f"{server.name} has neither a command nor an HTTP address, so it cannot be tapped.")
    try:
        text, before = _text_of(server.file.path)
        entry = read_config(server.client, text).value_at(*server.table, server.name)
        if entry is None or form_of(entry) != server.form:
            raise RefusedError(f"{server.file.path} has changed meanwhile. Try again.")
        edits, run = _edits(server, entry, text, folder, install=install)
        after = spliced(text, edits).encode()
        _check(server, text, after.decode())
    except (OSError, UnreadableError, RecursionError) as error:
        raise RefusedError(f"{server.name} in {server.file.path} was not changed: {_words(error)}.") from error
    changed = read_config(server.client, after.decode()).value_at(*server.table, server.name)
    assert changed is not None
    lines = (*(f"- {line}" for line in _shown(entry)), *(f"+ {line}" for line in _shown(changed)))
    return Change(server, before, after, lines, tuple(_notes(server, install=install)), run)


def _edits(
    server: Server, entry: Value, text: str, folder: Path, *, install: bool
) -> tuple[list[Edit], tuple[str, ...]]:
    if server.form.kind == "http":
        if not install:
            return without_http_tap(entry), ()
        edits, upstream = with_http_tap(entry)
        run = ("tap", "--http", upstream.origin + upstream.path, "-o", _as_folder(folder))
        return edits, (*run, *(("--own-token",) if server.own_token else ()))
    is_toml = server.client.syntax == "toml"
    joint = joint_of(entry, is_toml=is_toml, line_end="\r\n" if "\r\n" in text else "\n")
    if install:
        return with_stdio_tap(entry, text, _as_folder(folder), joint), ()
    return without_stdio_tap(entry, text, joint), ()


def _as_folder(folder: Path) -> str:
    """Adds a separator, so that it means a folder even if it does not exist yet."""
    return f"{folder.absolute()}{os.sep}"


def _check(server: Server, before: str, after: str) -> None:
    """Checks that only this entry changes, and in it only its command or address.

    Raises:
        UnreadableError: if more would change.
    """
    meant, became = copy.deepcopy(read_config(server.client, before).plain), read_config(server.client, after).plain
    for root in (meant, became):
        entry = root
        for name in (*server.table, server.name):
            entry = entry[name]
        for name in ("command", "args", "url"):
            entry.pop(name, None)
    if meant != became:
        raise UnreadableError("more than this entry would change")


def _shown(entry: Value) -> Iterator[str]:
    """Yields a line for each value of an entry's command or address, without secrets."""
    command, arguments, url = entry.value_at("command"), entry.value_at("args"), entry.value_at("url")
    if url is not None and command is None:
        yield f"url: {Unwritten().target(url.plain)}"
    if command is None:
        return
    yield f"command: {mask_text(command.plain)}"
    if arguments is not None:
        words = [command.plain, *map(str, arguments.plain)]
        form = form_of(entry)
        own = len(words) - len(form.words) if form.tapped else 1
        server = shown_command(form.words) if form.words else []
        yield f"args: {' '.join([*words[1:own], *(server if form.tapped else server[1:])])}"


def _notes(server: Server, *, install: bool) -> Iterator[str]:
    if server.file.shared and install:
        yield (
            "The file belongs to a project: for other people with the file the server would not start. Remove the tap "
            "before you share it."
        )
    if server.form.kind == "http" and install:
        yield "The client reaches the server only while the tap runs. Start it before the client."
    yield server.client.afterwards


def applied(change: Change) -> Path | None:
    """Applies a change. Returns the path of the backup, readable only by the user; None if there was no file.

    Raises:
        RefusedError: if the file was changed meanwhile or cannot be written; it is left as it was.
    """
    path = change.server.file.path
    try:
        was_there = path.exists()
        if (path.read_bytes() if was_there else b"") != change.before:
            raise RefusedError(f"{path} has changed meanwhile and was left alone. Try again.")
        backup = _backed_up(path, change.before) if was_there else None
        # Written beside the file and renamed, so that a crash leaves the old or the new file.
        with open_replacement(path) as file:
            file.write(change.after)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise RefusedError(f"{path} cannot be changed: {error.strerror or error}.") from error
    return backup


def _backed_up(path: Path, data: bytes) -> Path:
    for number in range(1, 1_000):
        backup = path.with_name(f"{path.name}.before-tap{f'-{number}' if number > 1 else ''}")
        with suppress(FileExistsError):
            file = os.open(backup, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(file, "wb") as opened:
                opened.write(data)
            return backup
        if backup.read_bytes() == data:
            return backup
    raise OSError(f"there are too many copies named {path.name}.before-tap")


def _by_its_own_command(server: Server) -> str:
    scope, command = "user" if len(server.table) == 1 else "local", server.client.command
    return (
        f"{server.name} is in {server.file.path}. {server.client.title} rewrites that file while it runs, so a "
        f"change by another program could be lost or damage it. Use its command: {command} get {server.name} shows "
        f"the entry, {command} remove -s {scope} {server.name} removes it, and {command} add -s {scope} "
        f"{server.name} -- context-inspector tap -o FOLDER/ -- COMMAND... adds it with a tap (-e NAME=VALUE for "
        "its variables)."
    )
