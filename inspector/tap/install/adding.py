"""Adds an entry for a new server to a client's configuration; every other byte stays."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Sequence
from pathlib import Path

from inspector.formats.clients import Client, ConfigFile
from inspector.tap.install.changes import Change, RefusedError, Server
from inspector.tap.install.clients import read_config
from inspector.tap.install.entries import Edit, own_command
from inspector.tap.install.entries import Form as EntryForm
from inspector.tap.install.values import TOO_DEEP, UnreadableError, Value, spliced

_PLAIN_NAME = re.compile(r"[A-Za-z0-9_-]+")


def planned_entry(client: Client, name: str, arguments: Sequence[str], file: Path | None = None) -> Change:
    """Plans a change that lets a client start this program as a server.

    Args:
        client: client to configure.
        name: name of the server; letters, digits, - and _.
        arguments: arguments of the program.
        file: the configuration; None for the client's own, created if it is missing.

    Raises:
        RefusedError: if the change is impossible or unsafe.
    """
    if not _PLAIN_NAME.fullmatch(name):
        raise RefusedError(f"{name} is not a valid server name: use letters, digits, - and _.")
    program, *first = own_command()
    words = [program, *first, *arguments]
    one = _file_of(client, words, name) if file is None else ConfigFile(file)
    try:
        before = one.path.read_bytes() if one.path.exists() else b""
        text = before.decode()
        root = read_config(client, text) if text.strip() else Value(0, 0, {}, members={})
        known = root.value_at(client.key)
        if known is not None and known.value_at(name) is not None:
            raise RefusedError(f"{one.path} already has a server named {name}. Remove it first, or use --name.")
        after = spliced(text, [_edit(client, root, text, name, words)]).encode()
        _check(client, text, after.decode(), name, words)
    except UnicodeDecodeError:
        raise RefusedError(f"{one.path} is not UTF-8.") from None
    except RecursionError:
        raise RefusedError(f"{one.path} was not changed: {TOO_DEEP}.") from None
    except (OSError, UnreadableError) as error:
        raise RefusedError(f"{one.path} was not changed: {error}.") from error
    server = Server(client, one, (client.key,), name, EntryForm("stdio", tapped=False, words=tuple(words)), False)
    lines = (f"+ command: {words[0]}", f"+ args: {' '.join(words[1:])}")
    return Change(server, before, after, lines, (client.afterwards,))


def _file_of(client: Client, words: Sequence[str], name: str) -> ConfigFile:
    """Returns a file of the client that is neither shared nor rewritten while the client runs.

    Raises:
        RefusedError: if there is none.
    """
    files = list(client.files())
    for one in files:
        if not one.shared and not one.rewritten and (one.path.exists() or one.path.parent.is_dir()):
            return one
    if any(one.rewritten for one in files):
        project = next((f"  Or name a project's file: --file {one.path}." for one in files if one.shared), "")
        raise RefusedError(
            f"{client.title} rewrites its configuration while it runs. Use its command: {client.command} add -s user "
            f"{name} -- {shlex.join(words)}{project}"
        )
    looked = ", ".join(str(one.path) for one in files)
    raise RefusedError(
        f"{client.title} was not found on this machine. Searched: {looked}. Use --file for another file."
    )


def _edit(client: Client, root: Value, text: str, name: str, words: Sequence[str]) -> Edit:
    if client.syntax == "toml":
        servers = root.value_at(client.key)
        if servers is not None and servers.end:
            raise UnreadableError(f"{client.key} is written in one line, which cannot be added to safely")
        end = "\r\n" if "\r\n" in text else "\n"
        gap = "" if not text or text.endswith(("\n\n", "\r\n\r\n")) else end if text.endswith("\n") else end * 2
        lines = [f"[{client.key}.{name}]", f"command = {_quoted(words[0])}", f"args = {_listed(words[1:])}", ""]
        return len(text), len(text), gap + end.join(lines)
    entry = f'{{ "command": {_quoted(words[0])}, "args": {_listed(words[1:])} }}'
    servers = root.value_at(client.key)
    if servers is not None and servers.members is None:
        raise UnreadableError(f'"{client.key}" is not an object')
    if servers is not None:
        return _member(servers, text, f"{_quoted(name)}: {entry}")
    member = f"{_quoted(client.key)}: {{ {_quoted(name)}: {entry} }}"
    if not text.strip():
        return 0, len(text), f"{{\n  {member}\n}}\n"
    if root.members is None:
        raise UnreadableError("it is not a JSON object")
    return _member(root, text, member)


def _member(owner: Value, text: str, member: str) -> Edit:
    """Appends a member to an object, indented like the last one."""
    members = list((owner.members or {}).values())
    if not members:
        return owner.start + 1, owner.start + 1, f" {member} " if text[owner.start + 1] == "}" else f" {member}"
    last = members[-1]
    line = text.rfind("\n", owner.start, last.start)
    if line < 0:
        return last.end, last.end, f", {member}"
    blank = re.match(r"[ \t]*", text[line + 1 :])
    end = "\r\n" if text[line - 1 : line] == "\r" else "\n"
    return last.end, last.end, f",{end}{blank[0] if blank else ''}{member}"


def _check(client: Client, before: str, after: str, name: str, words: Sequence[str]) -> None:
    """Checks that the file has the new entry and no other change.

    Raises:
        UnreadableError: if more would change.
    """
    meant = read_config(client, before).plain if before.strip() else {}
    became = read_config(client, after).plain
    entry = became[client.key].pop(name)
    if not became[client.key] and client.key not in meant:
        del became[client.key]
    if entry != {"command": words[0], "args": list(words[1:])} or became != meant:
        raise UnreadableError("more than this entry would change")


def _quoted(word: str) -> str:
    """Quotes a word in the form common to JSON and TOML."""
    return json.dumps(word, ensure_ascii=False)


def _listed(words: Sequence[str]) -> str:
    return f"[{', '.join(map(_quoted, words))}]"
