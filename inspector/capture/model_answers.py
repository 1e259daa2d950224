"""Puts together what models answer in a recording of HTTP, whose lines hold it in pieces (docs/protocols.md 17).

An answer is of the request in the same exchange, and comes in one body or in up to thousands of events, between those
of other exchanges. Here lines are looked at in the order read, before they become records: what belongs to an answer is
left out, and one line stands for it once it is complete, in the form of an answer that came at once. Beside it stands
what is known of the call, so that the line is read by itself, then and later.

- An exchange is known by its request; of a recording that begins in the middle, a stream by its first event.
- A request that was made before and failed, and is made again, is the same call: it says which, and which attempt.
- One that goes on from an earlier answer (`previous_response_id`) is of that conversation.
- What has not ended when the recording does is as far as it came.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from inspector.capture.joined_lines import JoinedLines
from inspector.protocol.formats import http_lines, read_line_as
from inspector.protocol.formats.entries import decoded_object
from inspector.protocol.formats.model_calls import CALL, own_marks
from inspector.protocol.header import NotAnObjectError, decode_json
from inspector.protocol.model_api.streams import Stream, stream_of
from inspector.protocol.record import ModelCall, Record
from inspector.protocol.times import parse_time
from inspector.protocol.written_json import to_json

Known = dict[int, tuple[Record, str | None]]
"""By number of a line, its record and the format that knew it, where it was read already."""

_MOST_OPEN = 1_000
"""Exchanges that have not ended; of more the oldest are given up."""
_MOST_REMEMBERED = 10_000
"""Answers that a later request may go on from, and requests that may be made again."""
_ENDS = frozenset(("message_stop", "response.completed", "response.incomplete", "response.failed"))
"""Events behind which nothing of an answer comes."""
_DONE = "[DONE]"


class _Line(msgspec.Struct, gc=False):
    kind: Any = None
    x: Any = None
    t: Any = None
    status: Any = None
    headers: Any = None
    how: Any = None
    text: Any = None
    message: msgspec.Raw = msgspec.Raw(b"")
    untimed: Any = None


_decode = msgspec.json.Decoder(_Line).decode


class _Exchange:
    """One that calls a model, and what has come of its answer.

    Attributes:
        call: None once the answer was given out: what comes after it is the end of the exchange alone.
    """

    __slots__ = ("call", "events", "first_ns", "head", "stream")

    def __init__(self, call: ModelCall | None) -> None:
        self.call = call
        self.head: _Line | None = None
        self.stream: Stream | None = None
        self.events = 0
        self.first_ns: int | None = None


class ModelAnswers:
    """Looks at the lines of one source, each once, in order."""

    def __init__(self, joined: JoinedLines) -> None:
        self._joined = joined
        self._open: OrderedDict[int, _Exchange] = OrderedDict()
        self._failed: OrderedDict[bytes, tuple[str, int]] = OrderedDict()  # by request, its call and attempts
        self._answers: OrderedDict[str, tuple[str, dict[str, int]]] = (
            OrderedDict()
        )  # by id, what a later one goes on from

    def may_matter(self, data: bytes) -> bool:
        """Whether there is anything to look at in some lines."""
        return bool(self._open) or b"http-request" in data or b"sse-event" in data

    def take(self, lines: Sequence[bytes], offsets: Sequence[int]) -> tuple[list[bytes], list[int], Known]:
        """The lines that are to be read in place of some, with their offsets, and those that were read meanwhile.

        Raises:
            OSError: there is no room for an answer.
        """
        kept: list[bytes] = []
        places: list[int] = []
        known: Known = {}
        for line, offset in zip(lines, offsets, strict=True):
            if not self._is_of_http(line):
                found: bytes | None = line
            elif b"http-request" in line:
                found, read = self._request(line)
                if read is not None:
                    known[len(kept)] = read
            else:
                found = self._part(line)
            if found is not None:
                kept.append(found)
                places.append(offset if found is line else self._joined.put(found))
        return kept, places, known

    def end(self) -> list[bytes]:
        """What is left of answers when the recording has ended."""
        left = [self._joined_line(x, one, None, "unfinished") for x, one in self._open.items() if one.events]
        self._open.clear()
        return [line for line in left if line is not None]

    def _is_of_http(self, line: bytes) -> bool:
        return b'"x"' in line and (b'"http-' in line or b'"sse-event"' in line)

    # Requests

    def _request(self, line: bytes) -> tuple[bytes, tuple[Record, str | None] | None]:
        """A request, as it is to be read; and as it was, where that is the same."""
        read = read_line_as(line)
        record, label = read
        if label != http_lines.LABEL or record.exchange is None:
            return line, read
        number = record.exchange.number
        self._open.pop(number, None)  # the number is used again
        call = record.call
        if call is None:
            return line, read
        added = self._added(call)
        if added:
            line = _with(line, added)
            read = read_line_as(line)
            call = read[0].call or call
        self._open[number] = _Exchange(call)
        if len(self._open) > _MOST_OPEN:
            self._open.popitem(last=False)
        return line, None if added else read

    def _added(self, call: ModelCall) -> dict[str, Any]:
        """What is known of a request by those before it."""
        added: dict[str, Any] = {}
        before = self._failed.get(call.digest)
        if before is not None:
            added |= {"id": before[0], "attempt": before[1] + 1}
        elif call.retries:
            added |= {"attempt": call.retries + 1}
        earlier = self._answers.get(call.previous) if call.previous is not None else None
        if earlier is not None:
            added |= {"conversation": earlier[0], "said": earlier[1], "after": call.previous}
        return added

    # Answers

    def _part(self, line: bytes) -> bytes | None:
        """A line that is no request: itself, None where it is part of an answer, or the answer that it completes."""
        found = _read(line)
        if found is None or not isinstance(found.x, int):
            return line
        exchange = self._open.get(found.x)
        if exchange is None:
            exchange = self._unknown(found)
        if exchange is None:
            return line
        if found.kind == "http-response":
            return self._head(found.x, exchange, found)
        if found.kind == "sse-event":
            return self._event(found.x, exchange, found)
        if found.kind not in ("http-end", "http-error"):
            return line
        del self._open[found.x]
        if exchange.call is None:
            return None if found.how in (None, "complete") else line
        how = found.how if isinstance(found.how, str) else None
        if not exchange.events and exchange.head is None:  # nothing of an answer has come
            self._note_failure(exchange.call)
            return line
        return self._joined_line(found.x, exchange, found, how or "server-broke")

    def _unknown(self, found: _Line) -> _Exchange | None:
        """An exchange whose request was not seen, and that is a model's by what comes."""
        if found.kind != "sse-event" or b'"jsonrpc"' in bytes(found.message):
            return None
        message = _body(found)
        if not isinstance(message, Mapping) or stream_of(message) is None:
            return None
        call = ModelCall(f"exchange-{found.x}-{found.t}", "", None, f"exchange-{found.x}")
        self._open[found.x] = exchange = _Exchange(call)
        return exchange

    def _head(self, x: int, exchange: _Exchange, found: _Line) -> bytes | None:
        """The head of an answer: all of it, unless events follow."""
        exchange.head = found
        if found.text is None and _body(found) is None:
            return None
        return self._joined_line(x, exchange, found, None)

    def _event(self, x: int, exchange: _Exchange, found: _Line) -> bytes | None:
        if exchange.call is None:
            return None
        exchange.events += 1
        message = _body(found)
        if isinstance(message, Mapping):
            if exchange.stream is None:
                exchange.stream = stream_of(message)
            carries = exchange.stream is not None and exchange.stream.add(message)
            if carries and exchange.first_ns is None and found.untimed is None:
                exchange.first_ns = parse_time(found.t)
            if message.get("type") not in _ENDS:
                return None
        elif found.text != _DONE:
            return None
        return self._joined_line(x, exchange, found, "complete")

    def _joined_line(self, x: int, exchange: _Exchange, last: _Line | None, how: str | None) -> bytes | None:
        """The line that stands for an answer; the exchange has no call any more."""
        call, exchange.call = exchange.call, None
        if call is None:
            return None
        head = exchange.head
        body: Any = exchange.stream.body() if exchange.stream is not None else _body(head) if head is not None else None
        status = head.status if head is not None else None
        said = self._said(call, body)
        known = {
            "id": call.identifier, "operation": call.operation, "model": call.model, "conversation": call.conversation,
            "asked": call.asked_ns, "first": exchange.first_ns, "events": exchange.events or None, "said": said,
        }  # fmt: skip
        self._note(call, body, status)
        exchange.stream = None
        return to_json(
            {
                "t": last.t if last is not None else head.t if head is not None else None,
                "dir": "server->client", "kind": "http-response", "x": x, "status": status,
                "headers": head.headers if head is not None else None, "how": how,
                CALL: {key: value for key, value in known.items() if value is not None},
                **({"text": head.text} if head is not None and head.text is not None else {}),
                "message": body if body is not None else {},
            }
        )  # fmt: skip

    def _said(self, call: ModelCall, body: Any) -> dict[str, int]:
        """How often what an answer says was said before."""
        marks = set(own_marks(body)) if isinstance(body, Mapping) else set[str]()
        return {mark: call.seen[mark] for mark in marks if mark in call.seen}

    def _note(self, call: ModelCall, body: Any, status: Any) -> None:
        """Remember what later requests may go on from, or may be made again."""
        failed = (isinstance(status, int) and status >= http_lines.FAILED) or not isinstance(body, Mapping) or not body
        if failed:
            self._note_failure(call)
            return
        self._failed.pop(call.digest, None)
        identifier = body.get("id") if body.get("object") == "response" else None
        if isinstance(identifier, str):
            seen = Counter(call.seen)
            seen.update(own_marks(body))
            self._answers[identifier] = call.conversation, dict(seen)
            if len(self._answers) > _MOST_REMEMBERED:
                self._answers.popitem(last=False)

    def _note_failure(self, call: ModelCall) -> None:
        identifier, attempts = self._failed.get(call.digest, (call.identifier, call.retries))
        self._failed[call.digest] = identifier, attempts + 1
        if len(self._failed) > _MOST_REMEMBERED:
            self._failed.popitem(last=False)


def _read(line: bytes) -> _Line | None:
    try:
        return _decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        try:
            value = decode_json(line)
        except NotAnObjectError:
            return None
        if not isinstance(value, dict):
            return None
        plain = {name: value.get(name) for name in _Line.__struct_fields__ if name != "message"}
        return _Line(**plain, message=msgspec.Raw(to_json(value.get("message"))))


def _body(line: _Line) -> Any:
    """The body or the event that a line carries, decoded; None where it carries none."""
    raw = bytes(line.message)
    try:
        return decode_json(raw) if raw else None
    except NotAnObjectError:
        return None


def _with(line: bytes, added: dict[str, Any]) -> bytes:
    """A request's line, with what is known of it by others."""
    value = decoded_object(line)
    return to_json({**value, CALL: added}) if value is not None else line
