"""Validates the header bytes of WebSocket frames (RFC 6455, section 5.2). No I/O."""

from __future__ import annotations

from websockets.frames import CloseCode

FINAL = 0x80
TEXT, BINARY, CONTINUATION, CLOSE = 0x01, 0x02, 0x00, 0x88
WHOLE_TEXT, WHOLE_BINARY, LAST_CONTINUATION = FINAL | TEXT, FINAL | BINARY, FINAL | CONTINUATION
WHOLE_FRAMES = frozenset({WHOLE_TEXT, WHOLE_BINARY})
CONTROL = frozenset({CLOSE, 0x89, 0x8A})
KNOWN_HEADS = WHOLE_FRAMES | {TEXT, BINARY, CONTINUATION, LAST_CONTINUATION} | CONTROL
RESERVED_BITS, MASKED = 0x70, 0x80
LENGTH_BYTES = {126: 2, 127: 8}
"""Size of the extended length field, by the second byte."""
LONGEST_CONTROL = 125


def refusal(head: int, length: int, most_bytes: int) -> tuple[CloseCode, str] | None:
    """Returns close code and reason for an invalid frame as soon as its header arrives; None for a valid one.

    Args:
        head: its first byte.
        length: announced payload size in bytes.
        most_bytes: limit of the payload.
    """
    if head & RESERVED_BITS:
        return CloseCode.PROTOCOL_ERROR, "reserved bits must be 0"
    if head not in KNOWN_HEADS:
        return CloseCode.PROTOCOL_ERROR, "invalid opcode"
    if head in CONTROL:
        return (CloseCode.PROTOCOL_ERROR, "control frame too long") if length > LONGEST_CONTROL else None
    if length > most_bytes:
        return CloseCode.MESSAGE_TOO_BIG, f"{length} bytes are over the limit of {most_bytes} bytes"
    return None
