"""Receives OTLP over HTTP on this machine: writes each request as a line of OTLP/JSON to a file.

Source: OTLP 1.x, OTLP/HTTP: POST to /v1/traces, /v1/logs and /v1/metrics, JSON or protobuf, optionally compressed. A
request answered with 200 is in the file. If the file cannot be written, or too much data comes at once, the answer is
503, so that an exporter retries (OTLP/HTTP, Failures: retryable).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from inspector.base.async_tasks import signals_set
from inspector.base.bounded_buffers import BoundedBuffer, BufferLimit
from inspector.base.content_encoding import Decoder, TooLongError
from inspector.base.loopback_access import refusal_reason
from inspector.base.optional_dependencies import OTEL
from inspector.formats.entry_builders import decoded_object
from inspector.formats.otlp.protobuf import ProtobufError, as_specified, logs_of, traces_of
from inspector.formats.otlp.spans import holds_spans, spans_in
from inspector.protocol.json_size import TOO_LARGE
from inspector.protocol.tolerant_encoder import to_json

if TYPE_CHECKING:
    from aiohttp import web

MOST_BYTES = 64 << 20
"""Limit of one unpacked request in bytes."""
MOST_TOGETHER_BYTES = 256 << 20
"""Limit of all concurrent requests in bytes, still packed; they are unpacked in sequence."""
_TRACES, _LOGS, _METRICS = "/v1/traces", "/v1/logs", "/v1/metrics"
_JSON, _PROTOBUF = "application/json", "application/x-protobuf"
_FIRST_FIELD, _MOST_FIELDS = b"\x0a", 4 << 20
"""The tag at the start of nearly every OTLP message; 4 million of them take a gigabyte."""
_TICK_S = 0.5
_PATIENCE_S = 60.0
_AGAIN_S = 5

_log = logging.getLogger("inspector.formats.otlp.receiver")
_log.addHandler(logging.NullHandler())
_log.propagate = False  # bad requests of strangers are not errors of this program


@dataclass(frozen=True, slots=True)
class Address:
    """Address to listen on; this machine only."""

    host: str
    port: int

    @property
    def origin(self) -> str:
        """Start of a URL."""
        return f"http://[{self.host}]:{self.port}" if ":" in self.host else f"http://{self.host}:{self.port}"

    def names(self) -> frozenset[str]:
        """Returns the Host values that a request may have."""
        return frozenset(f"{name}:{self.port}" for name in ("127.0.0.1", "localhost", "[::1]"))


class AddressRefusedError(ValueError):
    """An invalid address to listen on; the text is a sentence."""


def address_of(text: str) -> Address:
    """Parses HOST:PORT, or a port alone.

    Raises:
        AddressRefusedError: it is malformed, or reachable from other machines.
    """
    host, _, port = text.removeprefix("http://").rstrip("/").rpartition(":")
    host = host.strip("[]") or "127.0.0.1"
    if not port.isdecimal() or not int(port) < 1 << 16:
        raise AddressRefusedError(f"{text} is no HOST:PORT, such as 127.0.0.1:4318.")
    if host not in ("127.0.0.1", "localhost", "::1"):
        raise AddressRefusedError(
            f"{host} would listen beyond this machine, and traces contain the agents' messages. "
            "Listen on 127.0.0.1, and let a tunnel or a collector on this machine forward to it."
        )
    return Address("127.0.0.1" if host == "localhost" else host, int(port))


class Receiver:
    """Receives spans and writes them to a file.

    Attributes:
        spans: number of spans and log records written.
        size_bytes: size of the file.
        trouble: reason for a write error, as a sentence; "".
    """

    def __init__(self, path: Path, address: Address) -> None:
        """Creates the file.

        Args:
            path: must not exist, or be empty.
            address: address of the requests.

        Raises:
            FileExistsError: the file is not empty.
            OSError: it cannot be created.
        """
        self.spans = self.size_bytes = 0
        self.trouble = ""
        self._path, self._address = path, address
        self._room = BufferLimit(MOST_TOGETHER_BYTES)
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o600)
        if os.fstat(self._file).st_size:
            os.close(self._file)
            raise FileExistsError(f"{path} holds something already. Choose another name to keep the file.")

    def close(self) -> None:
        """Closes the file; removes it if it is empty."""
        os.close(self._file)
        if not self.spans:
            with contextlib.suppress(OSError):
                self._path.unlink()

    def store_request(self, path: str, kind: str, body: bytes) -> None:
        """Writes the content of a request; it is in the file on return.

        Raises:
            ProtobufError: it is not OTLP, or it is protobuf without the extra.
            OSError: the file cannot be written; the request is not in it.
        """
        if path == _METRICS:
            return
        if kind == _PROTOBUF and body.count(_FIRST_FIELD) > _MOST_FIELDS:
            raise ProtobufError(f"{TOO_LARGE}.")
        # Both encodings become the same JSON, so that one reader suffices.
        value = (logs_of(body) if path == _LOGS else traces_of(body)) if kind == _PROTOBUF else decoded_object(body)
        if value is None or (value and not holds_spans(value)):
            raise ProtobufError("it is no OTLP.")
        spans = spans_in(value)
        if spans:
            self._append(to_json(as_specified(value)) + b"\n")
            self.spans += len(spans)

    def _append(self, data: bytes) -> None:
        """Appends all of the data, or rolls back."""
        done = 0
        try:
            while done < len(data):
                done += os.write(self._file, memoryview(data)[done:])
        except OSError as error:
            self.trouble = f"{self._path} cannot be written: {error.strerror or error}."
            with contextlib.suppress(OSError):
                # Half a line would break the next one; the exporter sends it again.
                os.ftruncate(self._file, self.size_bytes)
            raise
        self.size_bytes += done
        self.trouble = ""

    # HTTP

    def runner(self, shutdown_timeout_s: float) -> web.AppRunner:
        """Returns the HTTP server."""
        from aiohttp import web

        app = web.Application(logger=_log, client_max_size=MOST_BYTES)
        for path in (_TRACES, _LOGS, _METRICS):
            app.router.add_post(path, self._handle)
        return web.AppRunner(
            app, access_log=None, logger=_log, shutdown_timeout=shutdown_timeout_s, auto_decompress=False
        )

    async def _handle(self, request: web.Request) -> web.Response:
        from aiohttp import web

        address = self._address
        # Web pages can send requests to this machine too (DNS rebinding).
        refused = refusal_reason("receiver", address.origin, address.names(), request.raw_path, request.headers)
        if refused:
            return _answer(403, refused)
        kind = request.content_type
        if kind not in (_JSON, _PROTOBUF):
            return _answer(415, f"Send OTLP as {_JSON} or {_PROTOBUF}.")
        packed = Decoder(request.headers.get("Content-Encoding", ""), MOST_BYTES)
        if not packed.is_readable:
            return _answer(415, "Send it packed as gzip, deflate or zstd, or as it is.")
        try:
            sent = await self._read_body(request)
            if sent is None:
                return _answer(503, f"Too much is being sent at the same time. Try again in {_AGAIN_S} seconds.")
            body = packed.feed(sent)
            if not packed.is_readable:
                return _answer(400, "This cannot be read: it is not packed as it says.")
            self.store_request(request.path, kind, body)
        except TooLongError:
            return _answer(413, f"This is more than {MOST_BYTES >> 20} MB. Send fewer spans at a time.")
        except TimeoutError:
            return _answer(408, f"No further part has come for {_PATIENCE_S:.0f} seconds.")
        except ProtobufError as error:
            return _answer(400, f"This cannot be read: {error}")
        except OSError:
            return _answer(503, self.trouble)
        if kind == _PROTOBUF:
            return web.Response(body=b"", content_type=_PROTOBUF)
        return web.Response(text="{}", content_type=_JSON)

    async def _read_body(self, request: web.Request) -> bytes | None:
        """Returns the body of a request, still packed; None if there is no room for it.

        Raises:
            TooLongError: it is above the limit.
            TimeoutError: the rest does not arrive.
        """
        body = BoundedBuffer(self._room)
        try:
            while True:
                async with asyncio.timeout(_PATIENCE_S):
                    # Read in pieces: the limit holds before a huge body is in memory.
                    piece = await request.content.readany()
                if not piece:
                    return body.take_contents()
                if len(body) + len(piece) > MOST_BYTES:
                    raise TooLongError
                if not body.append(piece):
                    return None
        finally:
            body.clear()


def _answer(status: int, sentence: str) -> web.Response:
    from aiohttp import web

    again = {"Retry-After": str(_AGAIN_S)} if status == 503 else {}
    said = json.dumps({"code": status, "message": sentence})
    response = web.Response(status=status, text=said, content_type=_JSON, headers=again)
    if status in (408, 413, 503):  # the rest of the body is not awaited
        response.force_close()
    return response


@dataclass(frozen=True, slots=True)
class ReceivingProgress:
    """Progress: spans and bytes in the file, and recent spans per second."""

    spans: int
    rate: float
    size_bytes: int


def listener_at(address: Address) -> tuple[socket.socket, Address]:
    """Returns a listening socket and its address; port 0 selects a free port.

    Raises:
        OSError: the address is in use or not permitted.
    """
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        if os.name != "nt":
            # On Windows, this option would let two programs share a port.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address.host, address.port))
        listener.listen(128)
    except OSError:
        listener.close()
        raise
    return listener, Address(address.host, listener.getsockname()[1])


async def receive(
    receiver: Receiver, listener: socket.socket, *, seconds: float | None = None, spans: int | None = None,
    on_progress: Callable[[ReceivingProgress], None] = lambda _: None,
) -> None:  # fmt: skip
    """Serves requests until SIGINT, SIGTERM or a limit.

    Args:
        receiver: writes the requests.
        listener: the listening socket.
        seconds: time limit.
        spans: span limit.
        on_progress: called twice a second.
    """
    from aiohttp import web

    over = asyncio.Event()
    runner = receiver.runner(shutdown_timeout_s=0.5)
    with signals_set(over):
        await runner.setup()
        try:
            await web.SockSite(runner, listener).start()
            began = then = time.monotonic()
            before = 0
            while not over.is_set():
                # The last tick is shorter, so that the time limit holds exactly.
                left = _TICK_S if seconds is None else min(_TICK_S, began + seconds - time.monotonic())
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(over.wait(), max(left, 0))
                now = time.monotonic()
                on_progress(ReceivingProgress(receiver.spans, (receiver.spans - before) / max(now - then, 1e-6),
                                              receiver.size_bytes))  # fmt: skip
                then, before = now, receiver.spans
                if (seconds is not None and now - began >= seconds) or (spans is not None and before >= spans):
                    return
        finally:
            await runner.cleanup()


def variables(address: Address) -> dict[str, str]:
    """Returns environment variables that direct an exporter to this receiver."""
    protocol = "http/json" if OTEL.missing_modules() else "http/protobuf"
    return {"OTEL_EXPORTER_OTLP_ENDPOINT": address.origin, "OTEL_EXPORTER_OTLP_PROTOCOL": protocol}


__all__ = ["Address", "AddressRefusedError", "Receiver", "address_of", "listener_at", "receive", "variables"]
