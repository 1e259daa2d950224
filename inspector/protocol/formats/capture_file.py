"""Our own captures: `{"ctxcap":1,...}`, then one frame or mark a line (docs/design.md 4, One way for live and file)."""

from __future__ import annotations

import base64
import binascii

from inspector.protocol.batch import batch_in
from inspector.protocol.frames import read_frame
from inspector.protocol.header import ABSENT, Header, NotAnObjectError, decode_json
from inspector.protocol.record import Record, Shape, unreadable
from inspector.protocol.times import parse_time

LABELS: dict[Shape, str] = {}
LABEL = "capture"
WORDS = {"capture": "capture"}
READS = "captures"
VERSION = 1
"""The number in the first line, `store.files.capture_writer.CTXCAP_VERSION`; that one need not load this."""
GAP_MARKS = ("gap", "rotated", "truncated")
"""Marks that are rows: messages may be missing there."""
CLOSED = "closed"
"""The mark of a connection that ended; a tap says with `exit` how its server did: a code, negative for a signal."""
OPENED = "opened"
"""The mark of a connection that begins: what was asked before is not answered over it."""
USUAL_EXITS = frozenset({0, *(sign for number in (1, 2, 13, 15) for sign in (-number, 128 + number))})
"""Of servers that were done, or whose client told them to end: by SIGHUP, SIGINT, SIGPIPE or SIGTERM."""
MAX_SRC = 1 << 16
"""Connections of one capture are numbered below this."""
GAP_WORDS = "the connection was lost, messages may be missing"
"""Said of a gap that does not say more."""


def read(header: Header, line: bytes) -> Record | None:
    """Read one line of a capture; None when it is none. The first line and plain marks hold no message."""
    if header.ctxcap is not ABSENT:
        return _first_line(header, line)
    if not isinstance(header.t, int) or header.kind is not ABSENT:
        return None
    if isinstance(header.mark, str):
        return _mark(header, line)
    if header.dir not in ("in", "out") and not (isinstance(header.dir, str) and "->" in header.dir):
        return None
    record = _frame(header, line)
    if record is not None:
        record.time_ns = parse_time(header.t)
        record.direction = header.dir
        record.src = _src(header)
    return record


def _first_line(header: Header, line: bytes) -> Record:
    """No message; but a row that says so where lines of later versions may be missing or misread."""
    version = header.ctxcap
    if not isinstance(version, int) or isinstance(version, bool) or version <= VERSION:
        return Record(Shape.NOTHING, line, header)
    reason = f"a newer Context Inspector wrote this capture, in version {version:,}; only {VERSION} can be read in full"
    return Record(Shape.UNREADABLE, line, header, reason=reason)


def _src(header: Header) -> int:
    """Which connection a line says it belongs to; 0 where it does not say, or nothing that could be a number of one."""
    src = header.src
    return src if isinstance(src, int) and not isinstance(src, bool) and 0 <= src < MAX_SRC else 0


def _mark(header: Header, line: bytes) -> Record:
    if header.mark == CLOSED:
        return _end(header, line)
    if header.mark not in GAP_MARKS:
        return Record(Shape.NOTHING, line, header, time_ns=parse_time(header.t), src=_src(header))
    return Record(Shape.GAP, line, header, time_ns=parse_time(header.t), reason=_why_missing(line), src=_src(header))


def _end(header: Header, line: bytes) -> Record:
    """The end of a connection: a row where a server crashed, which nobody sees otherwise."""
    try:
        mark = decode_json(line)
    except NotAnObjectError:
        mark = None
    mark = mark if isinstance(mark, dict) else {}
    said, code = mark.get("reason"), mark.get("exit")
    told = isinstance(code, int) and not isinstance(code, bool)
    reason = (said if isinstance(said, str) and said.strip() else "the server ended") if told else None
    shape = Shape.GAP if told and code not in USUAL_EXITS else Shape.NOTHING
    return Record(shape, line, header, time_ns=parse_time(header.t), reason=reason, src=_src(header))


def _why_missing(line: bytes) -> str:
    """The sentence of a gap, as whoever noticed it wrote it down."""
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
        return None  # a line of another tool's, that happens to have our `t` and `dir`
    if header.text:
        try:
            text = decode_json(bytes(header.text))
        except NotAnObjectError as error:
            return unreadable(line, str(error))
        return read_frame(text.encode("utf-8", "surrogatepass")) if isinstance(text, str) else None
    if isinstance(header.b64, str):
        try:
            return read_frame(base64.b64decode(header.b64, validate=True))
        except (binascii.Error, ValueError):
            return unreadable(line, "a captured frame whose base64 is damaged")
    if header.b64 is ABSENT and not header.text:
        return None  # a wrapped line, perhaps
    return unreadable(line, "a capture line without a frame")
