"""`context-inspector tap --http URL`: says which address to give to the client, and passes on until it is ended."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from inspector.tap.capture_name import Claim, NotPossibleError, claim_file
from inspector.tap.http.address import AddressError, Listening, Upstream, listening_of, upstream_of
from inspector.tap.http.ports import listened, port_for, remember_port
from inspector.tap.http.proxy import TapProxy, proxy_for
from inspector.tap.http.recording import ProcessRecording
from inspector.tap.http.sign_in import SENTENCE, asks_for_sign_in
from inspector.tap.http.unwritten import Unwritten
from inspector.tap.relay import BAD_USAGE, open_window, say

_ENDINGS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


class HttpTapArguments(NamedTuple):
    """What `context-inspector tap --http` was asked."""

    address: str
    output: str
    """File to make, or a folder to make one in."""
    listen: str = ""
    """Where to listen; "" at the port that this server had before."""
    show: bool = False
    """Open the window on it."""
    own_token: bool = False
    """The client sends a token of its own: whether the server has clients sign in is not asked."""
    model: bool = False
    """The server is a model API."""


def say_on_output(line: str) -> None:
    """Print a line at once, also to a pipe."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def run_http_tap(arguments: HttpTapArguments, tell: Callable[[str], None] = say_on_output) -> int:
    """Tap until a signal ends it; an exit code.

    Args:
        arguments: what was asked.
        tell: prints a line for the user.
    """
    try:
        upstream = upstream_of(arguments.address)
        listening = listening_of(arguments.listen) if arguments.listen else Listening("127.0.0.1", 0)
        if not (arguments.own_token or arguments.model) and asyncio.run(_asks(upstream)):
            say(SENTENCE.format(address=Unwritten().target(upstream.origin + upstream.path)))
            return BAD_USAGE
        tap = HttpTap(upstream, listening, arguments.output, model=arguments.model)
    except (AddressError, NotPossibleError) as error:
        say(str(error))
        return BAD_USAGE
    return asyncio.run(_run(tap, arguments, tell))


async def _asks(upstream: Upstream) -> bool:
    return await asks_for_sign_in(upstream, proxy_for(upstream))


async def _run(tap: HttpTap, arguments: HttpTapArguments, tell: Callable[[str], None]) -> int:
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    for number in _ENDINGS:
        with suppress(NotImplementedError):  # Windows: Ctrl+C raises instead
            loop.add_signal_handler(number, ended.set)
    await tap.start()
    tell(f"Tapping {tap.shown_upstream}. Give the client this address in its place:\n\n  {tap.address}\n")
    tell(f"What they say is written to {tap.path}. Ctrl+C ends the tap.")
    if arguments.show:
        open_window(tap.path, say)
    try:
        await ended.wait()
    finally:
        await tap.close("the tap was ended")
    return 0


class HttpTap:
    """A proxy with its listener and its recording.

    Attributes:
        path: the capture.
        upstream: the server.
        listening: where clients reach it.
    """

    def __init__(
        self, upstream: Upstream, listening: Listening, output: str, *, model: bool = False,
        say: Callable[[str], None] = say, origin: dict[str, object] | None = None,
    ) -> None:  # fmt: skip
        """Listen, and claim the capture; nothing is answered before `start`.

        Args:
            upstream: the server.
            listening: where to listen; port 0 for the one that this server had before.
            output: a file, or a folder to make one in.
            model: it is a model API.
            say: tells the user a sentence.
            origin: more for the capture's header.

        Raises:
            AddressError: the port is taken.
            NotPossibleError: the capture cannot be what was asked for.
        """
        self.upstream = upstream
        asked = listening.port
        self.listening = Listening(listening.host, asked or port_for(upstream))
        self._listener = listened(self.listening)
        if asked:
            remember_port(upstream, asked)
        try:
            claim: Claim = claim_file(output, upstream.host, append=False)
        except NotPossibleError:
            self._listener.close()
            raise
        self.path = claim.path
        self._claim = claim
        self._say = say
        self._model = model
        self._origin = (
            {"source": "tap", "url": self.shown_upstream} | ({"model": True} if model else {}) | (origin or {})
        )
        self._recording: ProcessRecording | None = None
        self._proxy: TapProxy | None = None

    @property
    def address(self) -> str:
        """What a client is to be given in place of the server's address."""
        return self.listening.origin + self.upstream.path

    @property
    def shown_upstream(self) -> str:
        """The server's address, without secrets."""
        query = f"?{self.upstream.query}" if self.upstream.query else ""
        return self.upstream.origin + Unwritten().target(self.upstream.path + query)

    async def start(self) -> None:
        """Begin to pass on."""
        secrets_in = (self.upstream.query, self.upstream.path)
        self._recording = ProcessRecording(
            self.path, self._claim.hold, origin=self._origin, secrets_in=secrets_in, say=self._say
        )
        self._proxy = TapProxy(
            self.upstream, self.listening, self._recording, say=self._say, refuse_websockets=self._model
        )
        await self._proxy.start(self._listener)

    async def close(self, reason: str) -> None:
        """Hang up, and write what waits."""
        if self._proxy is not None:
            await self._proxy.close()
        if self._recording is not None:
            await asyncio.to_thread(self._recording.close, reason)
        elif self._claim.is_made:
            self._claim.hold.release()
            os.unlink(self.path)  # noqa: PTH108 - as in `relay`
