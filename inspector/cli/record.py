"""`record`: records a gateway or OpenTelemetry spans into a file, without a window."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from inspector.cli.arguments import fail
from inspector.cli.printing import escape_hostile
from inspector.present.formats import count_of
from inspector.sources.connection import AddressError, Connection, Secret, named_space, normal_url


def record_command(
    output: Annotated[Path, typer.Option("-o", "--output", metavar="OUT", help="File to create; a .ctxcap.")],
    space: Annotated[str, typer.Option("--space", help="Space to watch. Default: from the address.")] = "",
    token_env: Annotated[
        str, typer.Option("--token-env", metavar="VAR", help="Environment variable with the token.")
    ] = "",
    seconds: Annotated[float | None, typer.Option("--seconds", min=0, help="Stop this long after the welcome.")] = None,
    messages: Annotated[int | None, typer.Option("--messages", min=1, help="Stop after this many.")] = None,
    wait: Annotated[bool, typer.Option("--wait", help="Wait until the gateway is available.")] = False,
    url: Annotated[
        str, typer.Argument(metavar="[URL]", help="Address of the gateway, such as ws://127.0.0.1:8080.")
    ] = "",
    otlp: Annotated[
        str,
        typer.Option(
            "--otlp",
            metavar="HOST:PORT",
            help="Receive OpenTelemetry spans over HTTP here instead, such as 127.0.0.1:4318. OUT is a "
            ".jsonl, and --messages counts spans.",
        ),
    ] = "",
    show: Annotated[bool, typer.Option("--open", help="With --otlp: open the window on OUT, live.")] = False,
) -> None:
    """Record a gateway, or OpenTelemetry spans, into a file, until Ctrl+C, SIGTERM or a given limit."""
    if bool(url) == bool(otlp):
        fail("Name a source: the URL of a gateway, or --otlp HOST:PORT.")
    if otlp:
        if space or token_env or wait:
            fail("--space, --token-env and --wait require the URL of a gateway.")
        # Spans have no space, token or welcome, so only the limits apply.
        _receive(otlp, output, seconds, messages, show=show)
        return
    if show:
        fail("--open requires --otlp; to see a gateway live, open its address: context-inspector ws://...")
    from inspector.sources.recording import Recorded, Recording, RecordingProgress
    from inspector.sources.state import SourceState

    connection = _connection(url, space, token_env)
    if wait:
        typer.echo(escape_hostile(f"Waiting for {connection.shown_url}; Ctrl+C stops."), err=True)
    shown = sys.stderr.isatty()

    def wipe() -> None:
        if shown:
            typer.echo("\r\x1b[K", err=True, nl=False)

    def noted(state: SourceState, sentence: str) -> None:
        if state is not SourceState.FAILED:  # printed at the end
            wipe()
            typer.echo(escape_hostile(sentence), err=True)

    def progressed(now: RecordingProgress) -> None:
        if shown:
            wipe()
            size = f"{now.size_bytes / 1e6:,.1f} MB"
            line = f"{count_of(now.messages, 'message')}, {now.rate:,.0f}/s, {size}, {now.elapsed_s:.0f} s"
            typer.echo(line, err=True, nl=False)

    async def run() -> Recorded:
        return await Recording(
            connection, output, seconds=seconds, messages=messages, wait=wait, on_state=noted, on_progress=progressed
        ).run()

    try:
        with asyncio.Runner() as runner:
            done = runner.run(run())
    except FileExistsError as error:
        fail(str(error))
    except OSError as error:
        fail(f"{output} cannot be written: {error.strerror or error}.")
    wipe()
    if done.messages:
        size = f"{done.size_bytes / 1e6:,.1f} MB" if done.size_bytes >= 100_000 else f"{done.size_bytes:,} bytes"
        typer.echo(f"{output}: {count_of(done.messages, 'message')} received, {size}.", err=True)
    if done.trouble:
        fail(escape_hostile(done.trouble))
    if not done.messages:
        typer.echo(f"No messages were received; {output} was removed.", err=True)


def _receive(where: str, output: Path, seconds: float | None, spans: int | None, *, show: bool) -> None:
    """Receives OpenTelemetry spans over HTTP."""
    from inspector.formats.otlp import receiver as otlp_receiver
    from inspector.tap.relay import open_window

    def said(sentence: str) -> None:
        typer.echo(escape_hostile(sentence), err=True)

    try:
        address = otlp_receiver.address_of(where)
        listener, address = otlp_receiver.listener_at(address)
    except otlp_receiver.AddressRefusedError as error:
        fail(escape_hostile(str(error)))
    except OSError as error:
        fail(f"{escape_hostile(where)} cannot be used: {error.strerror or error}. Another program may listen there.")
    try:
        receiver = otlp_receiver.Receiver(output, address)
    except FileExistsError as error:
        listener.close()
        fail(str(error))
    except OSError as error:
        listener.close()
        fail(f"{output} cannot be written: {error.strerror or error}.")
    said(f"Receiving at {address.origin}; Ctrl+C stops. Point an exporter here:")
    for name, value in otlp_receiver.variables(address).items():
        typer.echo(f"export {name}={value}")
    # A pipe is buffered, and a script needs the variables while the receiver runs.
    sys.stdout.flush()
    shown, opened = sys.stderr.isatty(), not show

    def progressed(now: otlp_receiver.ReceivingProgress) -> None:
        nonlocal opened
        if not opened and now.spans:  # the window cannot recognize an empty file as traces
            opened = True
            open_window(str(output.absolute()), said)
        if shown:
            line = f"{now.spans:,} spans, {now.rate:,.0f}/s, {now.size_bytes / 1e6:,.1f} MB"
            typer.echo(f"\r\x1b[K{line}", err=True, nl=False)

    with asyncio.Runner() as runner:
        runner.run(otlp_receiver.receive(receiver, listener, seconds=seconds, spans=spans, on_progress=progressed))
    receiver.close()
    if shown:
        typer.echo("\r\x1b[K", err=True, nl=False)
    if receiver.spans:
        said(f"{output}: {receiver.spans:,} spans received, {receiver.size_bytes / 1e6:,.1f} MB.")
    if receiver.trouble:
        fail(escape_hostile(f"{receiver.trouble} Acknowledged spans are saved; exporters resend the rest."))
    if not receiver.spans:
        said(f"No spans were received; {output} was removed.")


def _connection(url: str, space: str, token_env: str) -> Connection:
    """Builds a connection from the options; exits if the address, space or token is missing."""
    try:
        address = normal_url(url)
    except AddressError as error:
        fail(str(error))
    space = space or named_space(address)
    if not space:
        fail("Name a space with --space, such as --space demo.")
    if token_env and token_env not in os.environ:
        fail(f"The environment variable {token_env}, for the token, is not set.")
    return Connection(url=address, space=space, token=Secret(os.environ.get(token_env, "") if token_env else ""))
