"""Messages as JSON Lines, each response with its context, for readers that have no capture beside it; no Qt.

Each message is one line, its envelope or JSON-RPC message as it was written. From v0.2 on a response names neither its
method nor its tool (Decision 002), so that alone it says little: a self-contained export adds what was found out,

    "response_context": {"method": "tools/call", "target": "read_file", "rule": "correlation", "request": {...}}

as the last key of the response. `rule` says how the call was found: kind, payload, correlation, rpc id or unknown;
`request` is the envelope of the request, null when it was never seen. What is no JSON is wrapped: stream frames and
unreadable lines stand under `text`, bytes that are no text under `b64`. What comes out can be opened again.
"""

from __future__ import annotations

import base64
import contextlib
import errno
import json
import os
import tempfile
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.correlation import ToolRule
from inspector.capture.capture import Capture
from inspector.capture.flags import Flag
from inspector.capture.hashes import NO_ROW
from inspector.document import CaptureDocument
from inspector.filters import DisplayFilter
from inspector.protocol import kinds
from inspector.protocol.header import NotAnObjectError, decode_json
from inspector.protocol.secrets import mask_secrets, mask_text, may_hold_secrets

CONTEXT_KEY = "response_context"
"""Where a self-contained response says what it answers."""

_EACH = 16
"""Messages between two reports of progress; whoever must stay responsive pauses there."""
_NO_JSON = (Flag.UNREADABLE | Flag.FRAME).value
_FIRST_ASKED, _MOST_ASKED, _DEAR_ASKED = 1_000, 1 << 17, 1_000


@dataclass(frozen=True, slots=True)
class Exported:
    """How far an export is: messages and bytes written."""

    messages: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Manner:
    """How messages are written.

    Attributes:
        self_contained: responses say what they answer.
        masked: secrets are replaced by dots.
    """

    self_contained: bool = True
    masked: bool = True


def matching(document: CaptureDocument, filter_: DisplayFilter) -> Iterator[int]:
    """Messages a filter lets through, in capture order, asked for in parts."""
    analysis = document.analysis
    most = _MOST_ASKED if filter_.is_cheap(analysis) else _DEAR_ASKED
    start, step = 0, _FIRST_ASKED
    while start < len(analysis):
        rows = np.arange(start, min(start + step, len(analysis)))
        yield from rows[filter_.mask(analysis, rows)].tolist()
        start, step = start + step, min(step * 2, most)


def export_file(
    document: CaptureDocument, messages: Iterable[int], target: Path, manner: Manner = Manner()
) -> Generator[Exported]:
    """Write messages to a file, in place of what is there; steps of some messages each, the last one complete.

    Closed before its end it leaves what was there before.

    Args:
        document: holds the messages.
        messages: which ones, in the order they are written.
        target: the file.
        manner: how they are written.

    Raises:
        OSError: the file cannot be written, or the log cannot be read, or they are the same.
    """
    target = Path(os.path.realpath(target))
    if any(_is_same(source.path, target) for source in document.capture.sources):
        raise OSError(errno.EEXIST, "that is the log itself", str(target))
    handle, name = tempfile.mkstemp(prefix=".context-inspector-", suffix=".part", dir=target.parent)
    part = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            yield from export_to(document, messages, file, manner)
        part.chmod(target.stat().st_mode & 0o777 if target.exists() else 0o600)
        part.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink()
        raise


def export_to(
    document: CaptureDocument, messages: Iterable[int], file: BinaryIO, manner: Manner = Manner()
) -> Generator[Exported]:
    """Write messages to an open file, as `export_file` does."""
    count = size = 0
    for message in messages:
        size += file.write(export_line(document, message, manner))
        count += 1
        if not count % _EACH:
            yield Exported(count, size)
    yield Exported(count, size)


def export_line(document: CaptureDocument, message: int, manner: Manner = Manner()) -> bytes:
    """One message as a line of JSON, its end included."""
    capture = document.capture
    line = _json(capture, message, masked=manner.masked)
    if manner.self_contained and capture.string("kind", message) == kinds.RESPONSE and line.endswith(b"}"):
        line = _with_context(document, message, line, masked=manner.masked)
    return line + b"\n"


def _is_same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return False


def _json(capture: Capture, message: int, *, masked: bool) -> bytes:
    """A message as JSON on one line, as it was written as far as that can be."""
    raw = capture.envelope_bytes(message).strip()
    if int(capture.columns["flags"][message]) & _NO_JSON:
        return _wrapped(raw, masked=masked)
    if capture.is_big(message):
        text = raw.decode("utf-8", "replace")
        shown = mask_text(text) if masked else text
        return shown.replace("\r", "").replace("\n", " ").encode()  # lines end between values only
    try:
        value = decode_json(raw)
    except NotAnObjectError:
        return _wrapped(raw, masked=masked)
    shown = mask_secrets(value) if masked and may_hold_secrets(raw.decode("utf-8", "replace")) else value
    return raw if shown == value and _is_one_line(raw) else _dumped(shown)


def _is_one_line(raw: bytes) -> bool:
    """Whether bytes can stand as a line of JSON as they are."""
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return raw[:1] == b"{" and b"\n" not in raw and b"\r" not in raw


def _wrapped(raw: bytes, *, masked: bool) -> bytes:
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return _dumped({"b64": base64.b64encode(raw).decode()})
    return _dumped({"text": mask_text(text) if masked else text})


def _dumped(value: Any) -> bytes:
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:  # half of a surrogate pair
        return json.dumps(value, separators=(",", ":")).encode()


def _with_context(document: CaptureDocument, message: int, line: bytes, *, masked: bool) -> bytes:
    """A response with what it answers as its last key; one that has the key already stays as it is."""
    if f'"{CONTEXT_KEY}"'.encode() in line and CONTEXT_KEY in _keys(line):
        return line
    links, strings = document.analysis.correlation.columns, document.capture.strings
    method, target = (strings[int(links[name][message])] or None for name in ("method", "target"))
    rule = ToolRule(int(links["rule"][message])) or ToolRule.UNKNOWN
    said = {
        "method": mask_text(method) if method and masked else method,
        "target": mask_text(target) if target and masked else target,
        "rule": rule.name.lower().replace("_", " "),
    }
    cause = int(links["cause"][message])
    asked = cause != NO_ROW and document.capture.string("kind", cause) in (kinds.REQUEST, kinds.PROPOSAL)
    request = _json(document.capture, cause, masked=masked) if asked else b"null"
    context = _dumped(said)[:-1] + b',"request":' + request + b"}"
    return line[:-1].rstrip() + b',"' + CONTEXT_KEY.encode() + b'":' + context + b"}"


def _keys(line: bytes) -> Iterable[str]:
    try:
        value = decode_json(line)
    except NotAnObjectError:
        return ()
    return value if isinstance(value, dict) else ()


def rows_of(messages: NDArray[np.uint32]) -> Iterator[int]:
    """Message indices of an array that stays as it is, without a list of them all."""
    step = _MOST_ASKED
    for start in range(0, len(messages), step):
        yield from messages[start : start + step].tolist()
