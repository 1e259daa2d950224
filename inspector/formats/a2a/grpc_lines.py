"""Names the calls of gRPC in a recording, whose binary messages are not decoded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from inspector.formats.a2a.rest_binding import lowered_headers

_MEDIA_TYPE = "application/grpc"
_SERVICE = "a2a.v1.A2AService/"


def method_in(line: Mapping[str, Any]) -> str | None:
    """Returns the method that a decoded request line calls over gRPC; None for other lines."""
    path = line.get("path")
    if not isinstance(path, str) or isinstance(line.get("message"), Mapping):
        return None
    is_grpc = lowered_headers(line).get("content-type", "").startswith(_MEDIA_TYPE) or _SERVICE in path
    return path.rpartition("/")[2] or None if is_grpc else None


def described(line: Mapping[str, Any], method: str, noun: str) -> dict[str, Any]:
    """Returns a line with words in place of its binary body.

    Args:
        line: as decoded.
        method: name of the called method.
        noun: of the line, such as `call`.
    """
    size = _size(line)
    words = [f"gRPC {noun} {method}", *([f"{size:,} bytes"] if size is not None else []), "not decoded"]
    kept = {key: one for key, one in line.items() if key not in ("text", "b64", "message")}
    return {**kept, "grpc": ", ".join(words)}


def _size(line: Mapping[str, Any]) -> int | None:
    """Returns the bytes of a body, None if unknown."""
    if isinstance(size := line.get("bytes"), int) and not isinstance(size, bool):
        return size
    if isinstance(coded := line.get("b64"), str):
        return len(coded) * 3 // 4 - coded[-2:].count("=")
    return len(text.encode("utf-8", "surrogatepass")) if isinstance(text := line.get("text"), str) else None
