"""How fast the sender is when nobody is in its way: a client that only counts bytes. Prints one JSON object.

Run as `python -m tests.bench.drain MESSAGES`.
"""

from __future__ import annotations

import json
import socket
import sys
import time
from urllib.parse import urlsplit

from tests.bench.sender import LIVE_BLOCK, live_template
from tests.bench.sending import SendingGateway

_UPGRADE = b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: eA==\r\n\r\n"


def drained(messages: int) -> dict[str, float]:
    """Messages a second that the sender reaches, at an unlimited rate."""
    expected = live_template().size(messages)
    with SendingGateway(rate=10_000_000, count=messages) as gateway:
        parts = urlsplit(gateway.url)
        with socket.create_connection((parts.hostname, parts.port or 80), timeout=10) as client:
            client.sendall(_UPGRADE)
            client.recv(1 << 16)
            join = b'{"type":"join","participantId":"x"}'
            client.sendall(bytes((0x81, 0x80 | len(join))) + bytes(4) + join)
            client.recv(1 << 16)
            gateway.go()
            buffer = bytearray(1 << 20)
            got, started = 0, time.perf_counter()
            while got < expected:
                part = client.recv_into(buffer)
                if not part:
                    break
                got += part
            seconds = time.perf_counter() - started
    assert got == expected, f"{got} of {expected} bytes"
    return {"messages": messages, "per_s": messages / seconds, "bytes_each": expected / messages, "block": LIVE_BLOCK}


if __name__ == "__main__":
    print(json.dumps(drained(int(sys.argv[1]))))
