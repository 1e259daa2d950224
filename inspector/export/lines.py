"""Writes messages as JSON Lines, as logged or self-contained.

*As logged* is for opening again. A line is the log's own, with time and direction, followed by the copies for its
recipients. A capture's first line names its space. The result opens as the same messages:

- A reassembled message has all the lines it was logged as.
- A message from a batch has its own line with that time and direction.
- A mark stands where a connection of a capture was reopened.

*Self-contained* is for readers without a capture: each message is one line, its envelope or JSON-RPC message as
written. From v0.2 on, a response names neither its method nor its tool (Decision 002). So the last key of a response
adds the resolved call:

  "response_context": {"method": "tools/call", "target": "read_file", "rule": "correlation", "request": {...}}

`rule` is the source of the match: kind, payload, correlation, rpc id or unknown. `request` is the envelope of the
request, or null if it was not captured. An envelope also gets method and params in its payload, as Decision 002
defines, so other readers know the call. JSON-RPC without an envelope does not: with a method it would be a request. A
record above 128 MB is written as its head under `text`, with `"cut": true` and its length as `bytes`.

Both modes wrap data that is not JSON. Stream frames and unreadable lines go under `text`, binary data under `b64`.
Binary data with masked secrets becomes text with replacement characters. Every output opens again.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from typing import Any

import numpy as np

from inspector.analysis.passes.calls.correlation_pass import RULE_NAMES, ToolRule
from inspector.base.thread_steps import thread_steps
from inspector.document.document import CaptureDocument
from inspector.export.masking_worker import MaskingWorker, is_large, is_long_line
from inspector.export.options import ExportOptions
from inspector.export.redaction import Redaction, json_line
from inspector.formats.capture import reader as capture_file
from inspector.formats.line_reading import read_line
from inspector.formats.wire_recording import reader as wire_recording
from inspector.protocol import kinds
from inspector.protocol.header import NotAnObjectError, decode_json, read_header
from inspector.protocol.response_context import CONTEXT_KEY
from inspector.protocol.secrets.masking import may_hold_secrets
from inspector.protocol.timestamps import NO_TIME
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_ROW
from inspector.store.columns.large_headers import MAX_WHOLE_BYTES
from inspector.store.files.source_files import DERIVED_OFFSET
from inspector.store.messages.original_lines import LoggedLines
from inspector.store.messages.piece_masks import find_masked_pieces

_NO_JSON = (Flag.UNREADABLE | Flag.FRAME).value
_READ_AT_ONCE = 1_000
"""Lines of one message between two pauses for other tasks."""
_CONNECTION_FLAGS = (Flag.RPC | Flag.DERIVED).value
"""Flags of messages whose meaning depends on their connection."""
_SAYS_ITSELF = (Flag.UNREADABLE | Flag.LOG_ONLY | Flag.GAP | Flag.DERIVED).value
"""Flags of messages that are a whole line with its time."""


class LinesWriter:
    """Writes JSON Lines."""

    def __init__(
        self, document: CaptureDocument, options: ExportOptions, redaction: Redaction, *, exact: bool = False,
        aside: MaskingWorker | None = None,
    ) -> None:  # fmt: skip
        """Prepares the writer.

        Args:
            document, options, redaction: as for every writer.
            exact: keeps single lines that are not JSON unchanged, in as-logged mode.
            aside: masks long as-logged lines in another process, for a responsive window.
        """
        self._document = document
        self._exact = exact
        self._alone = options.self_contained
        self._redaction = redaction
        # Most logs have one connection only; they skip all connection handling.
        self._several = bool(document.capture.columns["connection"].any())
        self._aside = aside
        self._pieces: dict[bytes, bytes] = {}
        self._is_prepared = not redaction.masked
        self._last = (-1, -1)  # source and offset of the last line written
        self._connections: dict[tuple[int, int], int] = {}  # last connection by source and written number
        self._srcs: dict[tuple[int, int], int] = {}  # written number by source and connection

    def begin(self) -> bytes:
        """Returns the head line of a capture, with its space; empty for other logs."""
        sources = self._document.capture.sources
        origin = next((source.origin for source in sources if source.known_format == "capture" and source.origin), None)
        if self._alone or not origin:
            return b""
        return json_line(self._redaction.mask_value({"ctxcap": 1, **origin})) + b"\n"

    def prepare(self) -> Iterator[None]:
        """Scans all messages once for secrets split over several lines; yields at pauses."""
        if not self._is_prepared:
            self._is_prepared = True
            yield from find_masked_pieces(self._document.capture, self._pieces)

    def message(self, message: int) -> bytes:
        """Returns the line of a message; in as-logged mode also the lines of its copies."""
        return b"".join(self.lines(message))

    def lines(self, message: int) -> Iterator[bytes]:
        """Yields the lines in pieces, and empty pieces at pauses.

        A streamed answer can have a million lines, and one line can have a hundred megabytes.
        """
        for _ in self.prepare():
            yield b""
        if self._alone:
            yield _with_newline(self._self_contained(message))
        else:
            yield from self._as_logged(message)

    def end(self) -> bytes:
        return b""

    # As logged

    def masked_log_line(self, line: bytes) -> bytes:
        """Returns any line of the log, masked if it contains secrets."""
        if not self._redaction.masked or not line.strip():
            return line
        return self._line(line, big=len(line) > MAX_WHOLE_BYTES)

    def _as_logged(self, message: int) -> Iterator[bytes]:
        capture = self._document.capture
        columns = capture.columns
        own = int(columns["source"][message]), int(columns["offset"][message])
        # One record can hold several messages, such as a JSON-RPC batch.
        if columns["part"][message] and self._last == own:
            return  # the same record was already written for its first message
        self._last = own
        aside = self._aside if is_long_line(capture, message) else None
        found: list[bytes] = []
        for one in self._logged_lines(message) if aside is None else ():
            found.append(one)
            if not len(found) % _READ_AT_ONCE:
                yield b""
        # A single line is checked later, when it is written.
        found = [self._without_pieces(one) for one in found] if len(found) > 1 else found
        raw, *others = _events(found) if len(found) > 1 else found or [b""]
        of_batch = self._is_of_batch(message)
        src = self._connection_number(message, of_batch=of_batch) if self._several else 0
        if self._several and int(columns["flags"][message]) & _CONNECTION_FLAGS and not self._exchange(message, None):
            # JSON-RPC ids start again on a new connection, so readers must see where it begins.
            for mark in self._reopened_marks(message, src):
                yield _with_newline(mark)
        if of_batch:
            time_ns, direction = int(columns["time_ns"][message]), capture.string("direction", message)
            exchange = self._exchange(message, direction)
            fields = {"t": time_ns if time_ns != NO_TIME else None, "dir": direction, **(exchange or {"src": src})}
            head = json_line({key: value for key, value in fields.items() if value is not None})
            # Wrapped around the written message, so that its spelling and key order stay.
            yield head[:-1] + (b',"message":' if exchange else b',"frame":')
        masked = False
        for piece in aside.mask_line(capture, message, self._redaction) if aside is not None else ():
            masked = masked or bool(piece)
            yield piece
        line = b"" if masked else (yield from self._own_line(message, raw))
        if of_batch:
            line += b"}"
        yield line + b"\n" if masked else _with_newline(line)
        for one in others:
            yield _with_newline(self._line(one, big=len(one) > MAX_WHOLE_BYTES))
        # Copies per recipient tell who received a message, so they are kept.
        for copy in capture.deliveries.deliveries_of(message) if len(capture.deliveries) else ():
            if (copy.source, copy.offset) != own:
                line = capture.sources[copy.source].read(copy.offset, copy.length).strip()
                yield _with_newline(self._line(line, big=capture.records.is_big(message)))

    def _own_line(self, message: int, raw: bytes) -> Generator[bytes, None, bytes]:
        """Returns the line of a message; yields empty pieces while a thread masks a large one.

        Args:
            message: message index.
            raw: its logged line; empty to read it here.
        """
        raw = raw or b"".join(self._logged_lines(message))
        capture = self._document.capture
        overlong, big = self._overlong_line(message, raw), capture.records.is_big(message)
        if overlong or self._aside is None or not is_large(capture, message):
            return overlong or self._line(raw, big=big)
        return (yield from thread_steps(lambda: self._line(raw, big=big), b""))

    def _logged_lines(self, message: int) -> Iterator[bytes]:
        """Yields the logged lines of a message: the head of an overlong one, the event of a `data: {}` line."""
        capture = self._document.capture
        if capture.columns["offset"][message] < DERIVED_OFFSET:
            yield capture.records.read_line_of(message).strip()
            return
        for line in LoggedLines(capture, message):
            event = line.strip().removeprefix(b"data:").strip()
            # OpenAI's streams end with this; it is no JSON and means no message.
            if event != b"[DONE]":
                yield event

    def _exchange(self, message: int, direction: str | None) -> dict[str, Any] | None:
        """Returns the fields of a recording's line about the HTTP exchange of a message, if it has one."""
        capture, row = self._document.capture, np.array([message])
        names = ("number", "status", "method", "path")
        number, status, method, path = (int(capture.extracted.exchanges(name, row)[0]) for name in names)
        if not number:
            return None
        kind = wire_recording.REQUEST if (direction or "").startswith("client") else wire_recording.EVENT
        return {
            "kind": kind, "x": number, "status": status or None,
            "method": capture.strings[method] if method else None, "path": capture.strings[path] if path else None,
        }  # fmt: skip

    def _is_of_batch(self, message: int) -> bool:
        """Returns True for a message from a batch, whose time and direction surround the batch."""
        columns = self._document.capture.columns
        if columns["size"][message] != columns["length"][message] or int(columns["flags"][message]) & _SAYS_ITSELF:
            return False  # the log's own line has time and direction
        return bool(columns["direction"][message]) or columns["time_ns"][message] != columns["ts_ns"][message]

    def _connection_number(self, message: int, *, of_batch: bool) -> int:
        """Returns the number that a capture's line gives its connection."""
        columns = self._document.capture.columns
        connection = int(columns["source"][message]), int(columns["connection"][message])
        if of_batch:
            return self._srcs.get(connection, connection[1])
        if connection not in self._srcs:
            self._srcs[connection] = read_line(next(self._logged_lines(message), b"")).src
        return self._srcs[connection]

    def _reopened_marks(self, message: int, src: int) -> Iterator[bytes]:
        """Yields the mark of a reopened connection, before the first message on it."""
        columns = self._document.capture.columns
        key, connection = (int(columns["source"][message]), src), int(columns["connection"][message])
        if self._connections.setdefault(key, connection) != connection:
            self._connections[key] = connection
            yield json_line({"t": int(columns["time_ns"][message]), "src": src, "mark": capture_file.OPENED_MARK})

    def _line(self, raw: bytes, *, big: bool) -> bytes:
        """Returns a line as logged, as JSON on one line."""
        raw = self._without_pieces(raw)
        # The bytes stay as they are, so spaces and spellings of numbers survive.
        if self._exact and not big and b"\n" not in raw and b"\r" not in raw and not self._may_be_masked(raw):
            return raw
        if raw[:1] != b"{":
            return self._redaction.wrap_line(raw)
        if big:
            return self._redaction.mask_long_line(raw)
        try:
            value = decode_json(raw)
        except NotAnObjectError:
            return self._redaction.wrap_line(raw)
        return self._masked_line(raw, value)

    def _without_pieces(self, raw: bytes) -> bytes:
        """Returns a line or message without the parts of secrets that continue in other lines."""
        for _ in self.prepare():
            pass
        return self._pieces.get(raw, raw)

    def _may_be_masked(self, raw: bytes) -> bool:
        return self._redaction.masked and may_hold_secrets(raw.decode("utf-8", "replace"))

    # Self-contained

    def _self_contained(self, message: int) -> bytes:
        line = self.envelope(message)
        if self._document.capture.string("kind", message) == kinds.RESPONSE and line.endswith(b"}"):
            return self._with_context(message, line)
        return line

    def envelope(self, message: int) -> bytes:
        """Returns a message as JSON on one line, in its original spelling if possible."""
        capture = self._document.capture
        with capture.records.unmasked():
            raw = capture.records.envelope_bytes(message).strip()
        cut = self._overlong_line(message, raw)
        if cut is not None:
            return cut
        if int(capture.columns["flags"][message]) & _NO_JSON:
            return self._redaction.wrap_line(self._without_pieces(raw))
        return self._line(raw, big=capture.records.is_big(message))

    def _with_context(self, message: int, line: bytes) -> bytes:
        """Adds the resolved call of a response as its last key, unless it has the key already."""
        # The byte search spares the parse in most lines.
        if f'"{CONTEXT_KEY}"'.encode() in line and CONTEXT_KEY in _member_names(line):
            return line
        capture = self._document.capture
        links, strings = self._document.analysis.correlation.columns, capture.strings
        method, target = (strings[int(links[name][message])] or None for name in ("method", "target"))
        rule = ToolRule(int(links["rule"][message])) or ToolRule.UNKNOWN
        call = {
            "method": self._redaction.mask_text(method) if method else method,
            "target": self._redaction.mask_text(target) if target else target,
            "rule": RULE_NAMES[rule],
        }
        cause = int(links["cause"][message])
        asked = cause != NO_ROW and capture.string("kind", cause) in (kinds.REQUEST, kinds.PROPOSAL)
        request = self.envelope(cause) if asked else b"null"
        context = json_line(call)[:-1] + b',"request":' + request + b"}"
        # Without an envelope of this exact kind, a method would make it a request.
        is_plain = (capture.string("kind_raw", message) or "").startswith(kinds.RESPONSE)
        if rule in (ToolRule.CORRELATION, ToolRule.RPC_ID) and is_plain:
            line = _with_call(line, call["method"], call["target"])
        return line[:-1].rstrip() + b',"' + CONTEXT_KEY.encode() + b'":' + context + b"}"

    # One line

    def _overlong_line(self, message: int, head: bytes) -> bytes | None:
        """Returns the substitute for an overlong record: its head and length; None for others."""
        capture = self._document.capture
        if not capture.records.is_overlong(message):
            return None
        text = self._redaction.mask_text(head.decode("utf-8", "replace"))
        return json_line({"text": text, "cut": True, "bytes": int(capture.columns["length"][message])})

    def _masked_line(self, raw: bytes, value: Any) -> bytes:
        text = raw.decode("utf-8", "replace")
        if not self._redaction.masked or not may_hold_secrets(text):
            return raw if _is_one_line(raw) else json_line(value)
        shown = self._redaction.mask_value(value)
        # Decoding keeps only the last value of a repeated key. The original text must contain no secret either, and no
        # escape that could hide one.
        plain = shown == value and self._redaction.mask_text(text) == text and "\\u" not in text.lower()
        return raw if plain and _is_one_line(raw) else json_line(shown)


def _with_call(line: bytes, method: str | None, target: str | None) -> bytes:
    """Adds the call to the payload of a response's envelope, with everything else as written.

    A payload that is not an object, or names a method, stays unchanged.
    """
    header = read_header(line)
    payload = bytes(header.payload)
    if not method or not payload.startswith(b"{"):
        return line
    named: dict[str, Any] = {"method": method}
    if target is not None:
        named["params"] = {"uri" if method.startswith("resources/") else "name": target}
    before = decode_json(payload)
    if not isinstance(before, dict) or not named.keys().isdisjoint(before):
        return line
    start = line.rfind(payload)  # the last value of a repeated key counts
    told = json_line(named)[1:]
    changed = line[:start] + payload[:-1].rstrip() + (b"," if before else b"") + told + line[start + len(payload) :]
    envelope = decode_json(line)
    expected = envelope | {"payload": before | named} if isinstance(envelope, dict) else None
    # A check of the edit itself: bytes equal to the payload may occur elsewhere in the line.
    return changed if decode_json(changed) == expected else line


def _with_newline(line: bytes) -> bytes:
    """Appends a newline; an empty line stays empty."""
    return line and line + b"\n"


def _events(events: list[bytes]) -> list[bytes]:
    """Joins the lines of a streamed answer with candidates, since each chunk is also an answer on its own."""
    return [b'{"response":[' + b",".join(events) + b"]}"] if b'"candidates"' in events[0] else events


def _is_one_line(raw: bytes) -> bool:
    """Returns True if the bytes can be a line of JSON unchanged."""
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return raw[:1] == b"{" and b"\n" not in raw and b"\r" not in raw


def _member_names(line: bytes) -> Iterable[str]:
    try:
        value = decode_json(line)
    except NotAnObjectError:
        return ()
    return value if isinstance(value, dict) else ()
