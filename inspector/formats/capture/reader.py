"""Format: captures of this program: `{"ctxcap":1,...}`, then one frame or mark a line (docs/design.md 4)."""

from __future__ import annotations

import base64
import binascii

from inspector.protocol.frames import read_frame
from inspector.protocol.header import ABSENT, Header, NotAnObjectError, decode_json
from inspector.protocol.record import Record, Shape, unreadable_record
from inspector.protocol.rpc_batch import batch_in
from inspector.protocol.timestamps import parse_time

LABEL = "capture"
VERSION = 1
"""Version in the header, as `store.files.capture_writer.CTXCAP_VERSION`, so that the writer need not import this."""
GAP_MARKS = ("gap", "rotated", "truncated")
"""Marks with a row: messages may be missing there."""
CLOSED_MARK = "closed"
"""Mark of an ended connection; a tap adds `exit` of its server: a code, negative for a signal."""
OPENED_MARK = "opened"
"""Mark of a new connection: earlier requests are not answered over it."""
NORMAL_EXIT_CODES = frozenset({0, *(sign for number in (1, 2, 13, 15) for sign in (-number, 128 + number))})
"""Exit codes of servers that finished, or were ended by their client: by SIGHUP, SIGINT, SIGPIPE or SIGTERM."""
MAX_SRC = 1 << 16
"""Exclusive limit of connection numbers in a capture."""
GAP_WORDS = "the connection was lost, messages may be missing"
"""Text of a gap without its own."""


def read(header: Header, line: bytes) -> Record | None:
    """Reads one line if it is one of a capture. The header and plain marks contain no message."""
    if header.ctxcap is not ABSENT:
        return _first_line(header, line)
    # A line of a capture has a time as a number; envelopes have a kind.
    if not isinstance(header.t, int) or header.kind is not ABSENT:
        return None
    if isinstance(header.mark, str):
        return _mark(header, line)
    # Directions of other writers, such as client->server.
    if header.dir not in ("in", "out") and not (isinstance(header.dir, str) and "->" in header.dir):
        return None
    record = _frame(header, line)
    if record is not None:
        record.time_ns = parse_time(header.t)
        record.direction = header.dir
        record.src = _src(header)
    return record


def _first_line(header: Header, line: bytes) -> Record:
    """Returns no message, or a row with a warning if a later version may be misread."""
    version = header.ctxcap
    if not isinstance(version, int) or isinstance(version, bool) or version <= VERSION:
        return Record(Shape.NO_MESSAGE, line, header)
    reason = f"a newer Context Inspector wrote this capture, in version {version:,}; only {VERSION} can be read in full"
    return Record(Shape.UNREADABLE, line, header, reason=reason)


def _src(header: Header) -> int:
    """Returns the connection number of a line; 0 if missing or invalid."""
    src = header.src
    return src if isinstance(src, int) and not isinstance(src, bool) and 0 <= src < MAX_SRC else 0


def _mark(header: Header, line: bytes) -> Record:
    if header.mark == CLOSED_MARK:
        return _end(header, line)
    if header.mark not in GAP_MARKS:
        return Record(Shape.NO_MESSAGE, line, header, time_ns=parse_time(header.t), src=_src(header))
    return Record(Shape.GAP, line, header, time_ns=parse_time(header.t), reason=_gap_reason(line), src=_src(header))


def _end(header: Header, line: bytes) -> Record:
    """Returns the end of a connection: a row if a server crashed, since that is invisible otherwise."""
    try:
        mark = decode_json(line)
    except NotAnObjectError:
        mark = None
    mark = mark if isinstance(mark, dict) else {}
    said, code = mark.get("reason"), mark.get("exit")
    told = isinstance(code, int) and not isinstance(code, bool)
    reason = (said if isinstance(said, str) and said.strip() else "the server ended") if told else None
    shape = Shape.GAP if told and code not in NORMAL_EXIT_CODES else Shape.NO_MESSAGE
    return Record(shape, line, header, time_ns=parse_time(header.t), reason=reason, src=_src(header))


def _gap_reason(line: bytes) -> str:
    """Returns the text of a gap, as its author wrote it."""
    try:
        mark = decode_json(line)
    except NotAnObjectError:
        mark = None
    said = mark.get("reason") if isinstance(mark, dict) else None
    return said if isinstance(said, str) and said.strip() else GAP_WORDS


def _frame(header: Header, line: bytes) -> Record | None:
    raw = bytes(header.frame)
    if raw[:1] in (b"{", b"["):
        return batch_in(raw) or read_frame(raw)
    if header.frame or header.message or header.envelope or header.data:
        return None  # a line of another tool that happens to have `t` and `dir`
    if header.text:
        try:
            text = decode_json(bytes(header.text))
        except NotAnObjectError as error:
            return unreadable_record(line, str(error))
        return read_frame(text.encode("utf-8", "surrogatepass")) if isinstance(text, str) else None
    if isinstance(header.b64, str):
        try:
            return read_frame(base64.b64decode(header.b64, validate=True))
        except (binascii.Error, ValueError):
            return unreadable_record(line, "a captured frame whose base64 is damaged")
    if header.b64 is ABSENT and not header.text:
        return None  # possibly a wrapped line
    return unreadable_record(line, "a capture line without a frame")
