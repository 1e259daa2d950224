"""Turns HTTP exchanges into lines of a capture (docs/protocols.md 13, Over HTTP). No I/O.

A request becomes a line when it is complete, and so does a response. A stream becomes a line for its head, and one for
each event. A JSON body is the line's `message`, byte for byte except for secrets; any other body is `text`.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import NamedTuple

from inspector.base.bounded_buffers import BoundedBuffer, BufferLimit
from inspector.base.content_encoding import Decoder, TooLongError
from inspector.protocol.json_size import TOO_LARGE, is_too_large
from inspector.protocol.secrets.streamed_event_queue import StreamedEventQueue, mask_body
from inspector.store.files.capture_writer import is_json_line
from inspector.tap.http.entries import Entry, Sort
from inspector.tap.http.events import LONGEST_EVENT_BYTES, EventMaker, ServerSentEvent
from inspector.tap.http.unwritten import Unwritten

LONGEST_BODY_BYTES = 1 << 28
"""A longer body is passed on but not recorded. For compressed bodies the decompressed length counts."""
# Room for two bodies of the highest length.
MOST_HELD_BYTES = 1 << 29
"""Bytes of unfinished bodies and events in memory, for all exchanges together."""
_TOO_FAST = "messages came faster than they could be written"
_CUT: dict[str, object] = {"cut": True}  # it ended before it was complete
ASKS, ANSWERS = "client->server", "server->client"


class Line(NamedTuple):
    """A line of the capture, in the two parts that a writer takes."""

    head: str
    value: str


class Missing(NamedTuple):
    """Bytes that were not recorded."""

    time_ns: int
    size: int
    why: str


class _Body:
    """Body of a request or response while it arrives."""

    def __init__(self, headers: dict[str, str], longest_bytes: int, room: BufferLimit) -> None:
        self.encoding = headers.get("content-encoding", "")
        self.decoder = Decoder(self.encoding, longest_bytes)
        self.held = BoundedBuffer(room)
        self.came_bytes = 0
        self.missing = ""  # reason why it is not recorded, or not completely

    def feed(self, data: bytes) -> bytes:
        """Decodes these bytes."""
        self.came_bytes += len(data)
        if self.missing:
            return b""
        try:
            return self.decoder.feed(data)
        except TooLongError:
            self.lose("it is longer than the limit")
            return b""

    def lose(self, why: str) -> None:
        self.missing = self.missing or why
        self.held.clear()


class _OpenExchange:
    """An exchange that has not ended."""

    def __init__(self, head: dict[str, object], request: _Body) -> None:
        self.head = head
        self.request: _Body | None = request
        self.answer: _Body | None = None
        self.answer_head: dict[str, object] = {}
        self.events: EventMaker | None = None
        self.asked_ns = 0
        self.is_written = False
        self.pieces: StreamedEventQueue[Line] | None = None


class ExchangeLines:
    """Turns the entries of one tap into lines, in order of arrival."""

    def __init__(
        self, unwritten: Unwritten, *, longest_body: int = LONGEST_BODY_BYTES, longest_event: int = LONGEST_EVENT_BYTES
    ) -> None:
        """Prepares the converter.

        Args:
            unwritten: masks secrets.
            longest_body, longest_event: limits in bytes; longer ones are not recorded.
        """
        self._unwritten = unwritten
        self._longest_body = longest_body
        self._longest_event = longest_event
        self._open: dict[int, _OpenExchange] = {}
        self._room = BufferLimit(MOST_HELD_BYTES)

    def feed(self, entry: Entry) -> Iterator[Line | Missing]:
        """Yields the lines completed by an entry."""
        if entry.sort is Sort.BEGIN:
            self._begin(entry)
            return
        found = self._open.get(entry.exchange)
        if found is None:
            if entry.sort is Sort.LOST:
                yield Missing(entry.time_ns, int.from_bytes(entry.data), _TOO_FAST)
            return
        match entry.sort:
            case Sort.ASKED:
                self._collect(found.request, entry)
            case Sort.ASKED_ALL:
                yield from self._request(found, entry)
            case Sort.HEAD:
                yield from self._request(found, entry)
                yield from self._answer_head(found, entry)
            case Sort.ANSWERED:
                yield from self._answer_data(found, entry)
            case Sort.LOST:
                self._note_loss(found, entry)
            case Sort.FRAME:
                yield from self._request(found, entry)
                # Decoded JSON takes many times its length: a body of only brackets would fill the memory.
                if is_too_large(entry.data):
                    yield Missing(entry.time_ns, len(entry.data), TOO_LARGE)
                else:
                    yield from self._frame_lines(found, entry)
            case Sort.ERROR:
                yield from self._request(found, entry)
                if found.pieces is not None:
                    yield from found.pieces.drain()
                yield self._line(entry, ANSWERS, "http-error", {"x": entry.exchange, **entry.facts()})
                del self._open[entry.exchange]
            case Sort.END:
                yield from self._end(found, entry)
            case _:
                return

    def close(self, time_ns: int, why: str) -> Iterator[Line | Missing]:
        """Ends all open exchanges."""
        for number in list(self._open):
            yield from self.feed(
                Entry(Sort.END, number, time_ns, json.dumps({"how": "tap-ended", "why": why}).encode())
            )

    # Request

    def _begin(self, entry: Entry) -> None:
        facts = entry.facts()
        headers = _pairs(facts.get("headers"))
        target = str(facts.get("target", ""))
        path, _, query = target.partition("?")
        head: dict[str, object] = {"x": entry.exchange, "method": facts.get("method")}
        written = self._unwritten.headers(headers)
        head["path"] = self._unwritten.path(path)
        if query:
            head["query"] = self._unwritten.query(query)
        self._open[entry.exchange] = _OpenExchange(
            head | {"headers": written}, _Body(_lowered(headers), self._longest_body, self._room)
        )

    def _collect(self, body: _Body | None, entry: Entry) -> None:
        if body is None:
            return
        if not body.held.append(body.feed(entry.data)):
            body.lose("there was too much other traffic at the same time")

    def _request(self, found: _OpenExchange, entry: Entry) -> Iterator[Line | Missing]:
        """Yields the line of a request once: when it is complete, or earlier if it is answered before."""
        body, found.request = found.request, None
        if body is None:
            return
        found.asked_ns = entry.time_ns
        # Servers may answer or hang up before the request is complete.
        if entry.sort is Sort.END or (entry.sort is not Sort.ASKED_ALL and body.came_bytes):
            found.head |= _CUT
        yield self._with_body(entry, ASKS, "http-request", found.head, body)
        yield from self._body_loss(entry, body, "a request's body is missing here")

    # Response

    def _answer_head(self, found: _OpenExchange, entry: Entry) -> Iterator[Line | Missing]:
        facts = entry.facts()
        headers = _pairs(facts.get("headers"))
        lowered = _lowered(headers)
        found.answer_head = {
            "x": entry.exchange,
            "status": facts.get("status"),
            "first_ms": round((entry.time_ns - found.asked_ns) / 1e6, 3),
            "headers": self._unwritten.headers(headers),
        }
        found.answer = _Body(lowered, self._longest_body, self._room)
        if lowered.get("content-type", "").partition(";")[0].strip().lower() == "text/event-stream":
            if not found.answer.decoder.is_readable:
                # Events must be split as they come, so an unknown encoding leaves none.
                found.answer.lose(f"it is compressed as {found.answer.encoding}, an unknown encoding")
            found.events = EventMaker(self._longest_event, self._room)
            found.is_written = True
            yield self._line(entry, ANSWERS, "http-response", found.answer_head)

    def _answer_data(self, found: _OpenExchange, entry: Entry) -> Iterator[Line | Missing]:
        if found.events is None:
            self._collect(found.answer, entry)
            return
        assert found.answer is not None
        events = found.events
        for event in events.feed(found.answer.feed(entry.data)):
            if event.data is not None and is_too_large(event.data):
                yield Missing(entry.time_ns, len(event.data), TOO_LARGE)
            else:
                yield from self._event_lines(found, entry, event)
        if events.lost_bytes:
            if found.pieces is not None:
                yield from found.pieces.drain()
            yield Missing(entry.time_ns, events.lost_bytes, "an event was too long to be kept")
            events.lost_bytes = 0

    def _event_lines(
        self, found: _OpenExchange, entry: Entry, event: ServerSentEvent, *, cut: bool = False
    ) -> Iterator[Line]:
        """Yields lines of an event and earlier ones, once texts that span several events are complete."""

        def make(text: str | None) -> Line:
            said = event if text is None else event._replace(data=text.encode("utf-8", "surrogatepass"))
            return self._event(entry, said, cut=cut)

        # A named event without JSON, such as `endpoint`, holds no piece of a streamed text.
        is_named = event.event not in (None, "message") and (event.data or b"").lstrip()[:1] not in (b"{", b"[")
        yield from self._pieces_of(found).add_event(make, None if is_named else event.data)

    def _frame_lines(self, found: _OpenExchange, entry: Entry) -> Iterator[Line]:
        """Yields lines of WebSocket frames in the same way."""

        def make(text: str | None) -> Line:
            said = entry.data if text is None else entry.data[:1] + text.encode("utf-8", "surrogatepass")
            return self._frame(entry._replace(data=said))

        yield from self._pieces_of(found).add_event(make, entry.data[1:])

    def _pieces_of(self, found: _OpenExchange) -> StreamedEventQueue[Line]:
        if found.pieces is None:
            found.pieces = StreamedEventQueue(self._unwritten.in_place, is_live=True)
        return found.pieces

    def _event(self, entry: Entry, event: ServerSentEvent, *, cut: bool = False) -> Line:
        said = {"id": event.id, "event": event.event, "retry": event.retry, "comment": event.comment}
        sse = {name: self._unwritten.text(value) for name, value in said.items() if value is not None}
        facts: dict[str, object] = {"x": entry.exchange, "sse": sse}
        head = _head(entry, ANSWERS, "sse-event", facts | _CUT if cut else facts)
        # Its path may grant access, as that of a request.
        if event.event == "endpoint" and event.data and event.data.lstrip()[:1] not in (b"{", b"["):
            return _joined(head, "text", json.dumps(self._unwritten.target(event.data.decode(errors="replace"))))
        return _joined(head, *self._value(event.data)) if event.data is not None else _joined(head, "", "")

    def _frame(self, entry: Entry) -> Line:
        """Makes the line of a WebSocket frame; its first byte has sender and type."""
        flags, data = entry.data[0], entry.data[1:]
        head = _head(entry, ANSWERS if flags & 1 else ASKS, "websocket-frame", {"x": entry.exchange})
        if flags & 2:
            head += ',"bin":true'
        return _joined(head, *self._value(data))

    def _note_loss(self, found: _OpenExchange, entry: Entry) -> None:
        body = found.answer or found.request
        if found.events is not None:
            found.events.lose()
            # The event before the gap has no end and the one after it no beginning, so both are lost too.
            found.events.lost_bytes += int.from_bytes(entry.data)
        elif body is not None:
            body.lose(_TOO_FAST)

    # End

    def _end(self, found: _OpenExchange, entry: Entry) -> Iterator[Line | Missing]:
        yield from self._request(found, entry)
        facts = entry.facts()
        body, size = found.answer, 0
        if body is not None:
            size = body.came_bytes
            if found.events is not None:
                rest = found.events.rest()
                if rest is not None:
                    yield from self._event_lines(found, entry, rest, cut=True)
            elif not found.is_written:
                head = found.answer_head if facts.get("how") == "complete" else found.answer_head | _CUT
                yield self._with_body(entry, ANSWERS, "http-response", head, body)
            yield from self._body_loss(entry, body, "an answer's body is missing here")
        if found.pieces is not None:
            yield from found.pieces.drain()
        way = ASKS if facts.get("how") == "client-closed" else ANSWERS
        took = {"took_ms": round((entry.time_ns - found.asked_ns) / 1e6, 3)} if found.asked_ns else {}
        yield self._line(entry, way, "http-end", {"x": entry.exchange, **facts, "bytes": size, **took})
        del self._open[entry.exchange]

    def _body_loss(self, entry: Entry, body: _Body, what: str) -> Iterator[Missing]:
        if body.missing and body.came_bytes:
            yield Missing(entry.time_ns, body.came_bytes, f"{what}: {body.missing}")

    # Output

    def _with_body(self, entry: Entry, way: str, kind: str, facts: dict[str, object], body: _Body) -> Line:
        head = _head(entry, way, kind, facts)
        if body.came_bytes and not body.missing and not body.decoder.is_readable:
            return _joined(f'{head},"compressed":{json.dumps(body.encoding)}', "", "")
        data = body.held.take_contents()
        if is_too_large(data):
            body.lose(TOO_LARGE)
            data = b""
        data = mask_body(data, self._unwritten.in_place)
        return _joined(head, *self._value(data)) if data else _joined(head, "", "")

    def _line(self, entry: Entry, way: str, kind: str, facts: dict[str, object]) -> Line:
        for name in ("text", "why"):
            if isinstance(said := facts.get(name), str):
                facts = facts | {name: self._unwritten.text(said)}
        return _joined(_head(entry, way, kind, facts), "", "")

    def _value(self, data: bytes) -> tuple[str, str]:
        """Returns the member name and the encoded value for a body."""
        try:
            text = data.decode()
        except UnicodeDecodeError:
            return "b64", f'"{base64.b64encode(self._unwritten.data(data)).decode()}"'
        text = self._unwritten.text(text)
        bare = text.strip(" \t\r\n")
        if is_json_line(bare):
            return "message", bare
        return "text", json.dumps(text, ensure_ascii=False)


def _head(entry: Entry, way: str, kind: str, facts: dict[str, object]) -> str:
    said = json.dumps(facts, ensure_ascii=True, separators=(",", ":"))
    return f'{{"t":{entry.time_ns},"dir":"{way}","kind":"{kind}",{said[1:-1]}'


def _joined(head: str, name: str, value: str) -> Line:
    """Joins a head with its last member; without one, the last character of the head becomes the value."""
    return Line(f'{head},"{name}":', value) if name else Line(head[:-1], head[-1:])


def _pairs(headers: object) -> list[tuple[str, str]]:
    return [(str(one[0]), str(one[1])) for one in headers] if isinstance(headers, list) else []


def _lowered(headers: list[tuple[str, str]]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers}
