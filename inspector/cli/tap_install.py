"""`tap install`, `tap uninstall` and `tap list`: manage taps in the configuration of MCP clients."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from inspector.cli.arguments import Json, fail
from inspector.cli.config_change import DryRun, Yes, made
from inspector.cli.printing import dump, echo, escape_hostile, print_line
from inspector.formats.table import CLIENTS

if TYPE_CHECKING:
    from inspector.tap.install.changes import Change, Found, Server

*_NAMES, _LAST_NAME = (one.name for one in CLIENTS)
CLIENT_NAMES = f"{', '.join(_NAMES)} or {_LAST_NAME}."
"""Names of clients, as a sentence."""
ClientName = Annotated[str, typer.Argument(metavar="CLIENT", help=CLIENT_NAMES)]
ServerName = Annotated[str, typer.Argument(metavar="SERVER", help="The server's name in the client's configuration.")]
File = Annotated[
    Path | None, typer.Option("--file", metavar="FILE", help="Configuration file, if the client has several.")
]


def install_command(
    client: ClientName,
    server: ServerName,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="FOLDER", help="Folder for the captures. Default: a folder of this program."
        ),
    ] = None,
    file: File = None,
    yes: Yes = False,
    dry_run: DryRun = False,
) -> None:
    """Put a tap before a server in the configuration of an MCP client.

    Only the command or address of the entry is changed; everything else stays byte for byte. The change is shown first,
    and the file is backed up beside it. For a server with an address it prints the command that runs the tap.
    """
    from inspector.base.paths import data_folder

    found = _server(client, server, file)
    if found.form.kind == "http" and not found.form.tapped and not found.own_token:
        _refuse_sign_in(found)
    change = _planned(found, output or data_folder() / "taps", install=True)
    if made(change, yes=yes, dry_run=dry_run) and change.run:
        command = f"context-inspector {shlex.join(change.run)}"
        echo(f"\nRun the tap before the client starts, and leave it running:\n\n  {escape_hostile(command)}")


def uninstall_command(
    client: ClientName, server: ServerName, file: File = None, yes: Yes = False, dry_run: DryRun = False
) -> None:
    """Remove the tap before a server from the configuration of an MCP client; the entry is restored."""
    made(_planned(_server(client, server, file), Path(), install=False), yes=yes, dry_run=dry_run)


def list_command(json: Json = False) -> None:
    """List the servers in the configurations of MCP clients, and whether they are tapped."""
    from inspector.tap.install.changes import servers_of

    found = servers_of()
    if json:
        echo(dump([_as_json(one) for one in found.servers]))
        return
    for one in found.servers:
        tapped = "tapped" if one.form.tapped else ""
        row = f"{one.client.name:<15} {one.name:<24} {one.form.kind:<6} {tapped:<7}"
        print_line(escape_hostile(f"{row} {one.shown}  ({one.file.path})"))
    for trouble in found.troubles:
        print_line(escape_hostile(trouble))
    if not found.servers:
        print_line(_no_servers_sentence(found))


def _as_json(server: Server) -> dict[str, object]:
    return {
        "client": server.client.name, "server": server.name, "kind": server.form.kind, "tapped": server.form.tapped,
        "asks": server.shown, "file": str(server.file.path),
    }  # fmt: skip


def _server(client: str, server: str, file: Path | None) -> Server:
    """Finds a server by client and name; exits without one, or with several."""
    from inspector.tap.install.changes import servers_of
    from inspector.tap.install.clients import client_named

    known = client_named(client)
    if known is None:
        fail(_manual_steps(client, server))
    found = servers_of((known,), file)
    named = [one for one in found.servers if one.name == server]
    if not named:
        others = sorted({one.name for one in found.servers})
        there = f" Its servers: {', '.join(others)}." if others else ""
        troubles = "".join(f" {one}" for one in found.troubles)
        fail(
            escape_hostile(f"{known.title} has no server named {server}.{there}{troubles} {_searched_sentence(found)}")
        )
    if len(named) > 1:
        files = ", ".join(str(one.file.path) for one in named)
        fail(escape_hostile(f"{known.title} has several servers named {server}. Name the file with --file: {files}."))
    return named[0]


def _planned(server: Server, folder: Path, *, install: bool) -> Change:
    from inspector.tap.install.changes import RefusedError, planned

    try:
        return planned(server, folder, install=install)
    except RefusedError as error:
        fail(escape_hostile(str(error)))


def _refuse_sign_in(server: Server) -> None:
    import asyncio

    from inspector.tap.http.address import AddressError, upstream_of
    from inspector.tap.http.proxy import proxy_for
    from inspector.tap.http.sign_in import SENTENCE, asks_for_sign_in

    try:
        upstream = upstream_of(server.form.address)
    except AddressError:
        return  # reported when the change is planned
    if asyncio.run(asks_for_sign_in(upstream, proxy_for(upstream))):
        fail(escape_hostile(SENTENCE.format(address=server.shown)))


def _manual_steps(client: str, server: str) -> str:
    """Describes how to edit a client's configuration by hand."""
    from inspector.tap.install.clients import manual_client_named
    from inspector.tap.install.entries import own_command

    program, *first = own_command()
    arguments = " ".join([*first, "tap", "-o", "FOLDER/", "--"])
    other = manual_client_named(client)
    if other is None:
        return escape_hostile(
            f"{client} is not a known client. Known: {CLIENT_NAMES} To tap it by hand, have it start {program} with "
            f"the arguments {arguments} before the server's own command, or give it the address that context-inspector "
            "tap --http URL prints."
        )
    return escape_hostile(
        f"Change the configuration of {other.title} by hand. In {other.file}, under {other.key}, {server}, set "
        f"{other.command} to {program} and begin {other.arguments} with {arguments} and the old {other.command}. For a "
        f"server with an address, set {other.url} to the address that context-inspector tap --http URL prints."
    )


def _no_servers_sentence(found: Found) -> str:
    return escape_hostile(f"No servers were found. {_searched_sentence(found)}")


def _searched_sentence(found: Found) -> str:
    return f"Searched: {', '.join(map(str, found.looked_at))}."
