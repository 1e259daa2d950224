"""WebSocket frames as bytes, as far as a benchmark's gateway needs them (RFC 6455)."""

from __future__ import annotations

import base64
import hashlib
import re
import struct

TEXT, CLOSE, PING, PONG = 1, 8, 9, 10

_KEY = re.compile(rb"sec-websocket-key:[ \t]*(\S+)", re.IGNORECASE)
_ACCEPTS = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


def upgrade_answer(request: bytes) -> bytes:
    """The answer to a client's upgrade request; raises ValueError when it is none."""
    key = _KEY.search(request)
    if key is None:
        raise ValueError("no WebSocket upgrade")
    accept = base64.b64encode(hashlib.sha1(key[1] + _ACCEPTS, usedforsecurity=False).digest())
    return (
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Accept: " + accept + b"\r\n\r\n"
    )


def frame(payload: bytes, opcode: int = TEXT) -> bytes:
    """One unmasked frame, as servers send it."""
    size = len(payload)
    if size < 126:
        return bytes((0x80 | opcode, size)) + payload
    if size < 1 << 16:
        return struct.pack("!BBH", 0x80 | opcode, 126, size) + payload
    return struct.pack("!BBQ", 0x80 | opcode, 127, size) + payload


def take_frame(data: bytearray) -> tuple[int, bytes] | None:
    """Take the first whole frame off what a client sent: opcode and payload, or None while it is not all there."""
    if len(data) < 2:
        return None
    size, at = data[1] & 0x7F, 2
    if size >= 126:
        width = 2 if size == 126 else 8
        if len(data) < 2 + width:
            return None
        size, at = int.from_bytes(data[2 : 2 + width]), 2 + width
    mask = bytes(4)
    if data[1] & 0x80:
        mask, at = bytes(data[at : at + 4]), at + 4
    if len(data) < at + size or len(mask) < 4:
        return None
    payload = bytes(byte ^ mask[i % 4] for i, byte in enumerate(data[at : at + size]))
    opcode = data[0] & 0x0F
    del data[: at + size]
    return opcode, payload
