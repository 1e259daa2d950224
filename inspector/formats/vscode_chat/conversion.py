"""Converts chat sessions of VS Code: one document, or a log of changes to replay.

`kind` of a change: 0 replaces the document by `v`; 1 sets the value at a path `k`; 2 appends items to a list at a path,
from index `i` on; 3 deletes a path.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from inspector.formats.file_conversion import FileConverter, NotConvertedError
from inspector.formats.vscode_chat.reader import LABEL, SESSION_KEY
from inspector.protocol.header import NotAnObjectError, decode_json
from inspector.protocol.json_size import TOO_LARGE, is_too_large
from inspector.protocol.tolerant_encoder import to_json

_HEAD_BYTES = 1 << 16
"""Number of first bytes needed for detection."""

_CHANGES = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"kind"\s*:\s*0\s*,\s*"v"\s*:\s*\{')
_DOCUMENT = re.compile(rb"(?:\xef\xbb\xbf)?\s*\{")
_MAX_BYTES = 1 << 29
"""Limit of a session in bytes: all of it is in memory during the replay."""
_REPLACE_ALL, _SET, _PUSH, _DELETE = range(4)


def is_chat(head: bytes) -> bool:
    """Returns True for the first bytes of a VS Code chat session."""
    if _CHANGES.match(head) is not None:
        return b'"requests"' in head or b'"inputState"' in head
    return _DOCUMENT.match(head) is not None and b'"responderUsername"' in head and b'"requests"' in head


class VsCodeConversion:
    """Converts a session to lines: its facts, then each request with its answer.

    Attributes:
        progress: requests read, and their total.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.progress = (0, 0)

    def lines(self) -> Iterator[bytes]:
        """Yields the lines. Raises OSError and NotConvertedError."""
        session, trouble = self._session()
        requests = session.get("requests")
        requests = requests if isinstance(requests, list) else []
        name = session.get("sessionId")
        name = name if isinstance(name, str) and name else self._path.stem
        about = {key: one for key, one in session.items() if key != "requests"}
        yield _line({SESSION_KEY: name, "session": about})
        for number, request in enumerate(requests, 1):
            if isinstance(request, dict):
                yield _line({SESSION_KEY: name, "request": request})
            self.progress = (number, len(requests))
        if trouble is not None:
            raise trouble

    def _session(self) -> tuple[dict[str, Any], NotConvertedError | None]:
        """Returns the session, and the reason if it is incomplete."""
        with self._path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
        if len(data) > _MAX_BYTES:
            raise NotConvertedError(f"it is larger than {_MAX_BYTES >> 20} MB")
        if is_too_large(data):
            raise NotConvertedError(TOO_LARGE)
        # The session is one document, without changes to replay.
        if _CHANGES.match(data) is None:
            return _decoded(data, "it"), None
        state: dict[str, Any] = {}
        for number, line in enumerate(data.split(b"\n"), 1):
            if not line.strip():
                continue
            try:
                state = _apply_change(state, _decoded(line, f"line {number}"))
            except NotConvertedError as error:
                # The state up to the invalid change is still shown.
                return state, error
        return state, None


def _decoded(data: bytes, what: str) -> dict[str, Any]:
    try:
        # Editors on Windows may add a byte order mark.
        value = decode_json(data.removeprefix(b"\xef\xbb\xbf"))
    except NotAnObjectError as error:
        raise NotConvertedError(f"{what} is {error}") from None
    if not isinstance(value, dict):
        raise NotConvertedError(f"{what} is no object")
    return value


def _apply_change(state: dict[str, Any], change: dict[str, Any]) -> dict[str, Any]:
    """Applies a change to a session; an invalid path changes no value."""
    kind, path, value = change.get("kind"), change.get("k"), change.get("v")
    if kind == _REPLACE_ALL:
        return value if isinstance(value, dict) else {}
    if not isinstance(path, list) or not path:
        return state
    holder: Any = state
    for step in path[:-1]:
        holder = _member_at(holder, step)
    last = path[-1]
    if kind == _PUSH:
        _push_items(holder, last, value, change.get("i"))
    elif isinstance(holder, dict) and isinstance(last, str):
        if kind == _SET:
            holder[last] = value
        elif kind == _DELETE:
            holder.pop(last, None)
    elif isinstance(holder, list) and isinstance(last, int) and 0 <= last < len(holder):
        if kind == _SET:
            holder[last] = value
        elif kind == _DELETE:
            del holder[last]
    return state


def _member_at(holder: Any, step: Any) -> Any:
    if isinstance(holder, dict) and isinstance(step, str):
        return holder.get(step)
    if isinstance(holder, list) and isinstance(step, int) and 0 <= step < len(holder):
        return holder[step]
    return None


def _push_items(holder: Any, step: Any, items: Any, start: Any) -> None:
    """Appends items to a list, or replaces its items from an index on."""
    if isinstance(holder, dict) and isinstance(step, str) and not isinstance(holder.get(step), list):
        holder[step] = []
    found = _member_at(holder, step)
    if isinstance(found, list):
        # Items from this index on are outdated, such as a partial answer.
        if isinstance(start, int) and not isinstance(start, bool) and start >= 0:
            del found[start:]
        found += items if isinstance(items, list) else []


CONVERSION = FileConverter(head_bytes=_HEAD_BYTES, begins_file=is_chat, convert=VsCodeConversion, container=LABEL)


def _line(value: dict[str, Any]) -> bytes:
    return to_json(value) + b"\n"
