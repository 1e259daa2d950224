"""How one frame is written down in a capture, so that it reads back exactly (design.md 4). No I/O."""

from __future__ import annotations

import base64
import json
from typing import NoReturn

import msgspec

# Checks the grammar without building objects: 0.25 µs for a 400-byte envelope, a fifth of a full decode.
_check_grammar = msgspec.json.Decoder(msgspec.Raw).decode


def frame_member(data: str | bytes) -> tuple[str, str]:
    """The end of a frame's line as two parts to be joined, the second of them long.

    Returns:
        ``"frame":`` and the frame as it is, else ``"text":`` and a JSON string, else ``"b64":`` and one; a binary frame
        has ``"bin":true`` before. Every part can be encoded as UTF-8.
    """
    marker = ""
    if not isinstance(data, str):
        marker = '"bin":true,'
        try:
            data = data.decode()
        except UnicodeDecodeError:
            return f'{marker}"b64":', f'"{base64.b64encode(data).decode("ascii")}"'
    if is_json_line(data):
        return f'{marker}"frame":', data
    try:
        data.encode()
    except UnicodeEncodeError:  # a lone surrogate: no bytes stand for it, JSON's escape does
        return f'{marker}"text":', json.dumps(data)
    return f'{marker}"text":', json.dumps(data, ensure_ascii=False)


def is_json_line(text: str) -> bool:
    """Whether text is exactly one JSON object or array, without a newline or anything around it."""
    if not text.endswith("}" if text.startswith("{") else "]") or not text.startswith(("{", "[")):
        return False
    if "\n" in text or "\r" in text:
        return False
    try:
        # Given text beyond ASCII it would encode that itself, more slowly, and keep the result.
        _check_grammar(text if text.isascii() else text.encode())
    except UnicodeEncodeError:
        return False
    except msgspec.DecodeError:
        return r"\ud" in text.lower() and _is_json_with_surrogates(text)
    except RecursionError:  # nested so deeply that readers would fail on the whole line
        return False
    return True


def _is_json_with_surrogates(text: str) -> bool:
    # protocols.md 16: a lone \ud800 survives the gateway's re-serialising. It is good JSON which msgspec refuses.
    try:
        json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return False
    return True


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
