"""A plain HTTP server in a process of its own, which answers as it is asked to: for tests and measurements of a tap.

Run as `python -m tests.http_server`; it prints its port. Paths:

- `/call`: 1 kB of JSON; `/echo`: the body as it came; `/headers`: the request's own headers as JSON;
- `/events?count=N&every=S&size=N&shape=LF|CRLF|CR`: a stream of JSON-RPC notifications, each with the time it was sent;
- `/model?count=N&every=S`: a streamed answer of a messages API;
- `/big?size=N`: so many bytes of one JSON text, in pieces; `/short?size=N`: half of what it promised, then it hangs up;
- `/silent`: takes a request and hangs up; `/hang`: says its head and nothing more until the client leaves;
- `/left`: how many clients left `/hang` or a stream, and after how many seconds the last one was noticed;
- `/status?code=N`: that status, with two cookies and a body; `/gzip`, `/zstd`: JSON compressed;
- `/raw/NAME`: what `serve` was given under that name, word for word.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs

import zstandard

from inspector.base.async_tasks import start_task

ROOT = Path(__file__).parents[1]
ANSWER = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": "x" * 940}]}}).encode()
LINE_ENDS = {"LF": b"\n", "CRLF": b"\r\n", "CR": b"\r"}


class _Left:
    count = 0


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while await _one(reader, writer):
            pass
    except (ConnectionError, asyncio.IncompleteReadError):
        pass
    finally:
        writer.close()


async def _one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    method, target, _ = head[0].split(" ", 2)
    headers = [tuple(line.split(": ", 1)) for line in head[1:] if line]
    lowered = {name.lower(): value for name, value in headers}
    body = await _body(reader, lowered)
    path, _, query = target.partition("?")
    asked = {name: values[0] for name, values in parse_qs(query).items()}
    json_head = [("Content-Type", "application/json")]
    match path:
        case "/call":
            _whole(writer, 200, json_head, ANSWER, method)
        case "/echo":
            _whole(writer, 200, [("Content-Type", lowered.get("content-type", "text/plain"))], body, method)
        case "/headers":
            _whole(writer, 200, json_head, json.dumps({"target": target, "headers": headers}).encode(), method)
        case "/events":
            return await _events(reader, writer, asked)
        case "/model":
            return await _model(reader, writer, asked)
        case "/big":
            size = int(asked["size"])
            _head(writer, 200, [*json_head, ("Content-Length", str(size))])
            writer.write(b'"')
            for begin in range(0, size - 2, 1 << 16):
                writer.write(b"y" * min(1 << 16, size - 2 - begin))
                await writer.drain()
            writer.write(b'"')
        case "/short":
            size = int(asked["size"])
            _head(writer, 200, [*json_head, ("Content-Length", str(size))])
            writer.write(b"z" * (size // 2))
            await writer.drain()
            return False
        case "/silent":
            return False
        case "/hang":
            _head(writer, 200, [("Content-Type", "text/event-stream"), ("Transfer-Encoding", "chunked")])
            await reader.read(1)
            _Left.count += 1
            return False
        case "/left":
            _whole(writer, 200, json_head, json.dumps({"left": _Left.count}).encode(), method)
        case "/status":
            cookies = [("Set-Cookie", "a=one-secret-cookie; Path=/"), ("Set-Cookie", "b=another-secret; HttpOnly")]
            _whole(writer, int(asked["code"]), [("X-Odd", "1"), *cookies], b"no such thing\n", method)
        case "/gzip":
            _whole(writer, 200, [*json_head, ("Content-Encoding", "gzip")], gzip.compress(ANSWER), method)
        case "/zstd":
            data = zstandard.ZstdCompressor().compress(ANSWER)
            _whole(writer, 200, [*json_head, ("Content-Encoding", "zstd")], data, method)
        case _ if path.startswith("/raw/"):
            writer.write(_stored(path.removeprefix("/raw/")))
            await writer.drain()
            return False
        case _:
            _whole(writer, 404, [], b"", method)
    await writer.drain()
    return lowered.get("connection", "").lower() != "close"


def _stored(name: str) -> bytes:
    return Path(sys.argv[1], name).read_bytes()


async def _body(reader: asyncio.StreamReader, headers: dict[str, str]) -> bytes:
    if "chunked" not in headers.get("transfer-encoding", ""):
        return await reader.readexactly(int(headers.get("content-length", 0)))
    parts: list[bytes] = []
    while size := int(await reader.readline(), 16):
        parts.append(await reader.readexactly(size))
        await reader.readline()
    await reader.readline()
    return b"".join(parts)


async def _events(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, asked: dict[str, str]) -> bool:
    """Chunked, each event with its time; ends early, and is counted, when the client leaves."""
    count, every = int(asked.get("count", 10)), float(asked.get("every", 0))
    end = LINE_ENDS[asked.get("shape", "LF")]
    padding = "p" * int(asked.get("size", 100))
    own = [("Content-Type", "text/event-stream"), ("Transfer-Encoding", "chunked"), ("Connection", "close")]
    _head(writer, 200, own)
    left = start_task(reader.read(1), name="client leaves")
    for number in range(count):
        if left.done():
            _Left.count += 1
            return False
        params = {"sent": time.perf_counter(), "number": number, "padding": padding}
        data = json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": params})
        event = b"event: message" + end + b"id: %d" % number + end + b"data: " + data.encode() + end + end
        writer.write(b"%x\r\n%s\r\n" % (len(event), event))
        if every or number % 64 == 63:
            await writer.drain()
        if every:
            await asyncio.sleep(every)
    left.cancel()
    writer.write(b"0\r\n\r\n")
    await writer.drain()
    return False


async def _model(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, asked: dict[str, str]) -> bool:
    _head(writer, 200, [("Content-Type", "text/event-stream"), ("Transfer-Encoding", "chunked")])
    for number in range(int(asked.get("count", 5))):
        value = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": f"word {number} "}}
        event = f"event: content_block_delta\ndata: {json.dumps(value)}\n\n".encode()
        writer.write(b"%x\r\n%s\r\n" % (len(event), event))
        await writer.drain()
        await asyncio.sleep(float(asked.get("every", 0)))
    writer.write(b"0\r\n\r\n")
    await writer.drain()
    return True


def _head(writer: asyncio.StreamWriter, status: int, headers: list[tuple[str, str]]) -> None:
    lines = [f"HTTP/1.1 {status} As it is", *(f"{name}: {value}" for name, value in headers), "", ""]
    writer.write("\r\n".join(lines).encode("latin-1"))


def _whole(writer: asyncio.StreamWriter, status: int, headers: list[tuple[str, str]], body: bytes, method: str) -> None:
    _head(writer, status, [*headers, ("Content-Length", str(len(body)))])
    writer.write(b"" if method == "HEAD" else body)


async def _serve() -> None:
    listener = socket.socket(proto=socket.IPPROTO_TCP)  # said, so that asyncio sends small pieces at once
    listener.bind(("127.0.0.1", 0))
    server = await asyncio.start_server(_answer, sock=listener, limit=1 << 26)
    print(listener.getsockname()[1], flush=True)
    async with server:
        await server.serve_forever()


@contextmanager
def serving(*words: str, module: str = "tests.http_server") -> Generator[tuple[str, subprocess.Popen[bytes]]]:
    """The server, started; its origin and its process."""
    command = [sys.executable, "-m", module, *words]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE)
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{int(process.stdout.readline())}", process
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


if __name__ == "__main__":
    asyncio.run(_serve())
