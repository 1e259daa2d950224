"""Edits an entry of a client's configuration: recognizes, adds and removes a stdio or HTTP tap.

An entry with a tap is recognized by its form, without a mark: some clients refuse unknown keys. So the original entry
can be restored from the tapped one alone.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from pathlib import Path, PureWindowsPath
from typing import NamedTuple

from inspector.base.program_file import program_file
from inspector.tap.http.address import AddressError, Upstream, upstream_of
from inspector.tap.http.ports import origin_at, port_for
from inspector.tap.install.values import UnreadableError, Value

_VARIABLE = re.compile(r"\$\{|\$[A-Za-z_]|%[A-Za-z_]+%")
_ADDRESS = re.compile(r"(?i)(https?://[^/?#\s]+)([^\s]*)")
PROGRAM = "context-inspector"

Edit = tuple[int, int, str]


class Form(NamedTuple):
    """The command or address of an entry."""

    kind: str
    """`stdio`, `http`, or "" for neither."""
    tapped: bool
    words: tuple[str, ...] = ()
    """The server's command, without a tap."""
    address: str = ""
    """The server's address, without a tap."""


def form_of(entry: Value) -> Form:
    """Classifies an entry."""
    command, url = entry.value_at("command"), entry.value_at("url")
    if command is not None and isinstance(command.plain, str):
        arguments = _texts(entry.value_at("args"))
        skipped = _before_server(command.plain, arguments)
        words = (command.plain, *arguments) if skipped is None else tuple(arguments[skipped:])
        return Form("stdio", skipped is not None, words)
    if url is not None and isinstance(url.plain, str):
        origin = _tapped_origin(url.plain)
        found = _ADDRESS.fullmatch(url.plain)
        if origin is not None and found is not None:
            return Form("http", True, address=origin + found[2])
        return Form("http", False, address=url.plain)
    return Form("", False)


def own_command() -> list[str]:
    """Returns the command that starts this program, with its full path: clients have another PATH, or none."""
    if getattr(sys, "frozen", False):
        return [program_file()]
    beside = Path(sys.executable).with_name(PROGRAM + (".exe" if sys.platform == "win32" else ""))
    found = str(beside) if beside.is_file() else shutil.which(PROGRAM)
    return [os.path.abspath(found)] if found else [sys.executable, "-m", "inspector"]  # noqa: PTH100 - keeps symbolic links


def joint_of(entry: Value, *, is_toml: bool, line_end: str) -> str:
    """Returns the text between a command and an added list of arguments.

    Two blanks tell an added list from an empty list that existed before, which stays when the tap is removed.
    """
    if not is_toml:
        return ', "args":  '
    return f"{line_end}args =  " if entry.end == 0 else ", args =  "


def with_stdio_tap(entry: Value, text: str, folder: str, joint: str) -> list[Edit]:
    """Returns the edits that put a tap before an entry's command.

    Args:
        entry: entry of a stdio server.
        text: text of its file.
        folder: folder for the captures.
        joint: text between a command and an added list of arguments (`joint_of`).

    Raises:
        UnreadableError: if that is not possible.
    """
    command, arguments = entry.value_at("command"), entry.value_at("args")
    assert command is not None
    program, *first = own_command()
    before = [_text(word) for word in (*first, "tap", "-o", folder, "--")]
    put = ", ".join([*before, text[command.start : command.end]])
    edits: list[Edit] = [(command.start, command.end, _text(program))]
    if arguments is None:
        return [*edits, (command.end, command.end, f"{joint}[{put}]")]
    if arguments.items is None:
        raise UnreadableError('"args" is no list')
    if arguments.items:
        begin = arguments.items[0].start
        return [*edits, (begin, begin, f"{put}, ")]
    return [*edits, (arguments.start + 1, arguments.start + 1, put)]


def without_stdio_tap(entry: Value, text: str, joint: str) -> list[Edit]:
    """Returns the edits that remove a tap and restore the entry."""
    command, arguments = entry.value_at("command"), entry.value_at("args")
    assert command is not None
    assert arguments is not None
    items = arguments.items or []
    skipped = _before_server(command.plain, _texts(arguments))
    assert skipped is not None
    server = items[skipped]
    edits: list[Edit] = [(command.start, command.end, text[server.start : server.end])]
    if skipped + 1 < len(items):
        return [*edits, (items[0].start, items[skipped + 1].start, "")]
    put = f"{joint}[{text[items[0].start : items[-1].end]}]"
    if text[command.end : arguments.end] == put:  # the list was added by us
        return [*edits, (command.end, arguments.end, "")]
    return [*edits, (items[0].start, items[-1].end, "")]


def with_http_tap(entry: Value) -> tuple[list[Edit], Upstream]:
    """Returns the edit that sets the tap's address, and the server behind it.

    Raises:
        UnreadableError: if the server cannot be tapped by its address.
    """
    url = entry.value_at("url")
    assert url is not None
    if _VARIABLE.search(url.plain):
        raise UnreadableError("its address is made of variables, which only the client knows")
    try:
        upstream = upstream_of(url.plain)
    except AddressError as error:
        raise UnreadableError(f"its address cannot be tapped: {error}".rstrip(".")) from None
    found = _ADDRESS.fullmatch(url.plain)
    assert found is not None
    # The client's entry keeps the query, so the tap does not need it; it may have a secret in it.
    bare = upstream._replace(query="")
    return [(url.start, url.end, _text(f"http://127.0.0.1:{port_for(bare)}{found[2]}"))], bare


def without_http_tap(entry: Value) -> list[Edit]:
    """Returns the edit that restores the server's address."""
    url = entry.value_at("url")
    assert url is not None
    return [(url.start, url.end, _text(form_of(entry).address))]


def has_own_token(entry: Value) -> bool:
    """Returns True if the entry makes the client send its own token."""
    if entry.value_at("bearer_token_env_var") is not None:
        return True
    for name in ("headers", "http_headers", "env_http_headers"):
        headers = entry.value_at(name)
        if headers is not None and any("auth" in key.lower() or "key" in key.lower() or "token" in key.lower()
                                       for key in headers.members or {}):  # fmt: skip
            return True
    return False


def _text(word: str) -> str:
    """Quotes a word in the form common to JSON and TOML."""
    return json.dumps(word, ensure_ascii=False)


def _texts(arguments: Value | None) -> list[str]:
    return [str(one.plain) for one in (arguments.items or [])] if arguments is not None else []


def _before_server(command: str, arguments: list[str]) -> int | None:
    """Returns the number of arguments before the server's command; None for an entry without a tap."""
    file = PureWindowsPath(command.lower())
    is_own = file.stem == PROGRAM or file.suffix == ".appimage"  # users rename AppImages
    start = 0 if is_own else 2 if arguments[:2] == ["-m", "inspector"] else None
    if start is None or arguments[start : start + 1] != ["tap"] or "--" not in arguments:
        return None
    skipped = arguments.index("--") + 1
    return skipped if skipped < len(arguments) else None


def _tapped_origin(address: str) -> str | None:
    """Returns the server behind a tap's address; None for other addresses."""
    try:
        found = upstream_of(address)
    except AddressError:
        return None
    host, _, port = found.host.rpartition(":")
    is_own = found.origin.startswith("http://") and host == "127.0.0.1" and port.isdecimal()
    return origin_at(int(port)) if is_own else None
