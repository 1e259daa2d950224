"""`context-inspector tap --http URL`: prints the address for the client and runs the proxy until it is ended."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NamedTuple

from inspector.base.async_tasks import start_task
from inspector.tap.capture_name import NotPossibleError, claim_file
from inspector.tap.http.address import AddressError, Listening, Upstream, listening_of, upstream_of
from inspector.tap.http.ports import key_for, listened, port_for, remember_port
from inspector.tap.http.proxy import TapProxy, proxy_for
from inspector.tap.http.recording import ProcessRecording
from inspector.tap.http.sign_in import SENTENCE, asks_for_sign_in
from inspector.tap.http.unwritten import Unwritten
from inspector.tap.relay import BAD_USAGE, open_window, print_notice

_END_SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))

# Seconds until the user reads why the command has not ended yet.
_QUIET_CLOSE_S = 2.0
_HURRY_S = 1.0
"""Seconds from the second signal to the end."""
# 128 + SIGINT, as shells report it.
_HURRIED_EXIT_CODE = 130


class HttpTapArguments(NamedTuple):
    """Arguments of `context-inspector tap --http`."""

    address: str
    output: str
    """File to create, or a folder to create one in."""
    listen: str = ""
    """Address to listen on; "" for the stored port of this server."""
    show: bool = False
    """Open the window on the capture."""
    own_token: bool = False
    """The client sends its own token, so the check for a sign-in is skipped."""
    model: bool = False
    """The server is a model API."""


def say_on_output(line: str) -> None:
    """Prints a line and flushes it, also to a pipe."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def run_http_tap(arguments: HttpTapArguments) -> int:
    """Taps until a signal ends it. Returns an exit code."""
    try:
        upstream = upstream_of(arguments.address)
        listening = listening_of(arguments.listen) if arguments.listen else Listening("127.0.0.1", 0)
        # Before the capture is claimed, so that a refusal leaves no empty file.
        if not (arguments.own_token or arguments.model) and asyncio.run(_asks_for_sign_in(upstream)):
            print_notice(SENTENCE.format(address=Unwritten().target(upstream.origin + upstream.path)))
            return BAD_USAGE
        tap = HttpTap([door_to(upstream, listening)], arguments.output, name=upstream.host, model=arguments.model)
    except (AddressError, NotPossibleError) as error:
        print_notice(str(error))
        return BAD_USAGE
    return asyncio.run(_run(tap, arguments))


async def _asks_for_sign_in(upstream: Upstream) -> bool:
    return await asks_for_sign_in(upstream, proxy_for(upstream))


async def _run(tap: HttpTap, arguments: HttpTapArguments) -> int:
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    for number in _END_SIGNALS:
        with suppress(NotImplementedError):  # Windows: Ctrl+C raises instead
            loop.add_signal_handler(number, ended.set)
    await tap.start()
    (door,) = tap.doors
    say_on_output(f"Tapping {door.shown_upstream}. Give the client this address instead:\n\n  {door.address}\n")
    say_on_output(f"The traffic is written to {tap.path}. Ctrl+C stops the tap.")
    if arguments.show:
        open_window(tap.path, print_notice)
    try:
        await ended.wait()
        ended.clear()
    finally:
        await close_tap(tap, "the tap was ended", ended)
    return 0


async def close_tap(
    tap: HttpTap, reason: str, hurried: asyncio.Event, *, say: Callable[[str], None] = print_notice
) -> None:
    """Closes connections and writes the backlog. A signal cuts that short: the process ends within a second.

    Args:
        tap: the tap to close.
        reason: reason for the capture.
        hurried: set by a signal from now on.
        say: shows the user a sentence.
    """
    closing = start_task(tap.close(reason), name="close the tap")
    hurry = start_task(hurried.wait(), name="a second signal")
    await asyncio.wait((closing, hurry), timeout=_QUIET_CLOSE_S, return_when=asyncio.FIRST_COMPLETED)
    if not closing.done() and not hurry.done():
        say("Writing the last messages; press Ctrl+C again to skip them.")
        await asyncio.wait((closing, hurry), return_when=asyncio.FIRST_COMPLETED)
    if not closing.done():
        tap.leave()
        await asyncio.wait((closing,), timeout=_HURRY_S)
    if not closing.done():  # e.g. a disk that does not respond: the loop would wait for its thread
        os._exit(_HURRIED_EXIT_CODE)
    hurry.cancel()
    await closing


class Door(NamedTuple):
    """Listening socket for clients of one server."""

    upstream: Upstream
    listening: Listening
    listener: socket.socket

    @property
    def address(self) -> str:
        """The address that replaces the server's in the client's configuration."""
        return self.listening.origin + self.upstream.tapped_path

    @property
    def shown_upstream(self) -> str:
        """The server's address, without secrets."""
        query = f"?{self.upstream.query}" if self.upstream.query else ""
        return self.upstream.origin + Unwritten().target(self.upstream.path + query)


def door_to(upstream: Upstream, listening: Listening) -> Door:
    """Opens the listening socket for a server; port 0 selects the stored port of the server.

    Raises:
        AddressError: if the port is taken.
    """
    found = Listening(listening.host, listening.port or port_for(upstream))
    if upstream.origin.removeprefix("http://") in found.names():  # each request would come back without end
        raise AddressError(f"{upstream.origin} is the tap's own address; name the server's address.")
    listener = listened(found)
    if listening.port:
        remember_port(upstream, listening.port)
    # Without a key any local program could use the secret by asking the tap.
    if Unwritten().query(upstream.query) != upstream.query:
        upstream = upstream._replace(key=key_for(upstream))
    return Door(upstream, found, listener)


class HttpTap:
    """Proxies before one or several servers, and their recording.

    Attributes:
        path: path of the capture.
        doors: listening sockets and their servers.
    """

    def __init__(
        self, doors: Sequence[Door], output: str, *, name: str, model: bool = False,
        say: Callable[[str], None] = print_notice,
    ) -> None:  # fmt: skip
        """Claims the capture; `start` begins to answer.

        Args:
            doors: listening sockets; they are closed with the tap.
            output: a file, or a folder to create one in.
            name: name for such a file.
            model: the servers are model APIs.
            say: shows the user a sentence.

        Raises:
            NotPossibleError: if the capture cannot be written as asked; the sockets are closed.
        """
        self.doors = doors
        try:
            self._claim = claim_file(output, name, append=False)
        except NotPossibleError:
            for door in doors:
                door.listener.close()
            raise
        self.path = self._claim.path
        self._say = say
        self._model = model
        shown = [door.shown_upstream for door in doors]
        servers: dict[str, object] = {"url": shown[0]} if len(shown) == 1 else {"urls": shown}
        self._origin: dict[str, object] = {"source": "tap", **servers, **({"model": True} if model else {})}
        self._recording: ProcessRecording | None = None
        self._proxies: list[TapProxy] = []

    @property
    def has_recorded(self) -> bool:
        """True if any exchange began."""
        return self._recording is not None and self._recording.exchanges > 0

    async def start(self) -> None:
        secrets_in = [(f"{door.upstream.query}&key={door.upstream.key}", door.upstream.path) for door in self.doors]
        self._recording = ProcessRecording(
            self.path, self._claim.hold, origin=self._origin, secrets_in=secrets_in, model=self._model, say=self._say
        )
        # In a thread, as waiting would block the loop and its signals.
        await asyncio.to_thread(self._recording.wait_until_ready)
        for upstream, listening, listener in self.doors:
            proxy = TapProxy(upstream, listening, self._recording, say=self._say, model=self._model)
            self._proxies.append(proxy)
            await proxy.start(listener)

    async def close(self, reason: str) -> None:
        """Closes connections and writes the backlog."""
        for proxy in self._proxies:
            await proxy.close()
        if self._recording is not None:
            await asyncio.to_thread(self._recording.close, reason)

    def leave(self) -> None:
        """Cuts `close` short: drops the rest of the backlog."""
        if self._recording is not None:
            self._recording.leave()
