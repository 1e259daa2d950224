"""Reassembles model answers in an HTTP recording from events, and pairs them with their requests.

An answer belongs to the request in the same exchange. It comes in one body or in up to thousands of events, interleaved
with other exchanges. Lines are processed in order before they become records: the parts of an answer are left out, and
one line in the form of an unstreamed answer replaces them. It carries known facts about the call, so that it can be
read alone.

- A request identifies its exchange; in a recording that begins in the middle, the first event of a stream does.
- A repeated failed request is the same call, with the number of the attempt.
- A request that continues an earlier answer (`previous_response_id`) joins its conversation. So does one that has lost
  its beginning and still contains tool calls made in it.
- A failed connection is the failed answer of its call.
- An answer unfinished at the end of the recording is emitted as far as it came.
"""

from __future__ import annotations

from array import array
from collections import Counter, OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any

from inspector.base.limited_dicts import set_limited
from inspector.formats.entry_builders import decoded_object
from inspector.formats.line_reading import read_line_as
from inspector.formats.model_api.calls import message_hashes, tool_call_hashes
from inspector.formats.model_api.operations import CONTINUABLE
from inspector.formats.model_api.reader import decode_body
from inspector.formats.model_api.streams import AnswerStream, is_last_event, ollama_body, stream_of
from inspector.formats.wire_recording import reader as wire_recording
from inspector.protocol.header import json_or_none
from inspector.protocol.http_words import line_words
from inspector.protocol.record import ModelCall
from inspector.protocol.timestamps import parse_time
from inspector.protocol.tolerant_encoder import to_json
from inspector.reading.reassembly.conversations import Conversations
from inspector.reading.reassembly.derived_lines import DerivedLineSpool, OrderedLine

_MAX_OPEN = 1_000
"""Limit of open exchanges; beyond it the oldest are dropped."""
_DONE_EVENT = "[DONE]"
_BROKEN = ("server-broke", "cut-by-network")
_EXCHANGE_KEY = b'"x"'
"""Key of the exchange in each of its lines; a fast filter for other data."""


class _Exchange:
    """An exchange that calls a model, and the answer so far.

    Attributes:
        call: None after the answer was emitted: only the end of the exchange may follow.
        places: offset and length of each line of the answer, flat.
        answer: offset of the emitted line.
    """

    __slots__ = ("answer", "call", "events", "first_ns", "head", "places", "stream")

    def __init__(self, call: ModelCall | None) -> None:
        self.call = call
        self.places = array("q")
        self.answer: int | None = None
        self.head: wire_recording.Line | None = None
        self.stream: AnswerStream | None = None
        self.events = 0
        self.first_ns: int | None = None


class ModelAnswers:
    """Processes the lines of one source, each once, in order."""

    def __init__(self, joined: DerivedLineSpool) -> None:
        self._joined = joined
        self._open: OrderedDict[int, _Exchange] = OrderedDict()
        self._failed: OrderedDict[bytes, tuple[str, int]] = OrderedDict()  # call and attempts by request
        self._answers: OrderedDict[str, tuple[str, dict[str, int]]] = OrderedDict()  # continuable answers by id
        self._conversations = Conversations()

    def is_relevant(self, data: bytes) -> bool:
        """Returns True if any of the lines may be relevant."""
        if self._open:
            return True
        return _EXCHANGE_KEY in data and (b'"http-request"' in data or b'"sse-event"' in data)

    def process_lines(self, lines: Sequence[OrderedLine]) -> list[OrderedLine]:
        """Returns the lines to read instead.

        Raises:
            OSError: if there is no room for an answer.
        """
        found: list[OrderedLine] = []
        for line in lines:
            if self._is_of_http(line.data):
                one = self._process_request(line) if b"http-request" in line.data else self._process_part(line)
                if one is not None:
                    found.append(one)
            else:
                found.append(line)
        return found

    def finish(self) -> list[OrderedLine]:
        """Returns the unfinished answers at the end of the recording. Raises OSError."""
        left = [self._joined_line(x, one, None, "unfinished") for x, one in self._open.items() if one.events]
        self._open.clear()
        return [line for line in left if line is not None]

    def _is_of_http(self, line: bytes) -> bool:
        return _EXCHANGE_KEY in line and (b'"http-' in line or b'"sse-event"' in line)

    # Requests

    def _process_request(self, line: OrderedLine) -> OrderedLine:
        """Processes a request line."""
        read = read_line_as(line.data, known_of=self._known_facts)
        record, label = read
        if label != wire_recording.LABEL or record.exchange is None:
            return line._replace(decoded_record=read)
        number = record.exchange.number
        self._open.pop(number, None)  # exchange numbers are reused
        call = record.call
        if call is None:
            return line._replace(decoded_record=read)
        known = record.known_facts
        if known is not None:
            line = line._replace(
                offset=self._joined.store_line(line.data, known, (line.offset, line.length)), known_facts=known
            )
        self._open[number] = _Exchange(call)
        # An exchange may never end, as when the log was cut.
        if len(self._open) > _MAX_OPEN:
            self._open.popitem(last=False)
        return line._replace(decoded_record=read)

    def _known_facts(self, call: ModelCall) -> dict[str, Any]:
        """Returns facts about a request from earlier ones."""
        added: dict[str, Any] = {}
        before = self._failed.get(call.digest)
        # A repeat of a failed request keeps the identifier of the first.
        if before is not None:
            added |= {"id": before[0], "attempt": before[1] + 1}
        elif call.retries:
            added |= {"attempt": call.retries + 1}
        # This API names the earlier response instead of repeating the history.
        earlier = self._answers.get(call.continued_answer) if call.continued_answer is not None else None
        if earlier is not None:
            added |= {"conversation": earlier[0], "said": earlier[1], "after": call.continued_answer}
        elif (goes_on := self._conversations.assign_name(call)) != call.conversation:
            added["conversation"] = goes_on
        return added

    # Answers

    def _process_part(self, line: OrderedLine) -> OrderedLine | None:
        """Processes another line: returns it, None for a part of an answer, or the answer it completes."""
        found = wire_recording.decode_members(line.data)
        if not isinstance(found.x, int):
            return line
        exchange = self._open.get(found.x)
        if exchange is None:
            exchange = self._exchange_without_request(found)
        if exchange is None:
            return line
        if found.kind == "http-response":
            return self._process_head(found.x, exchange, found, line)
        if found.kind == "sse-event":
            return self._process_event(found.x, exchange, found, line)
        if found.kind not in ("http-end", "http-error"):
            return line
        del self._open[found.x]
        if exchange.call is None:
            return self._note_late_line(exchange, line) if found.how in (None, "complete") else line
        how = found.how if isinstance(found.how, str) else None
        if not exchange.events and exchange.head is None:  # no part of an answer has come
            return self._end_without_answer(exchange.call, exchange, found, line)
        exchange.places.extend((line.offset, line.length))
        return self._joined_line(found.x, exchange, found, how or "server-broke")

    def _end_without_answer(
        self, call: ModelCall, exchange: _Exchange, found: wire_recording.Line, line: OrderedLine
    ) -> OrderedLine | None:
        """Emits a failed connection as the answer to its call. Returns the line of any other end, such as a hang-up."""
        if found.kind != "http-error" and found.how not in _BROKEN:
            self._note_failure(call)
            return line
        told = decoded_object(line.data) or {}
        words = line_words("http/error" if found.kind == "http-error" else "http/end", told)
        failed = {**told, "kind": "http-response", "how": "server-broke", "text": words}
        exchange.places.extend((line.offset, line.length))
        return self._joined_line(found.x, exchange, found, None, (to_json(failed), None))

    def _note_late_line(self, exchange: _Exchange, line: OrderedLine) -> None:
        """Records a line after the emitted answer as one of its originals."""
        if exchange.answer is not None:
            self._joined.add_original(exchange.answer, (line.offset, line.length))

    def _exchange_without_request(self, found: wire_recording.Line) -> _Exchange | None:
        """Returns an exchange without a seen request, if its event is a model's."""
        if found.kind != "sse-event" or b'"jsonrpc"' in bytes(found.message):
            return None
        message = _body(found)
        if not isinstance(message, Mapping) or stream_of(message) is None:
            return None
        call = ModelCall(f"exchange-{found.x}-{found.t}", "", None, f"exchange-{found.x}")
        self._open[found.x] = exchange = _Exchange(call)
        return exchange

    def _process_head(
        self, x: int, exchange: _Exchange, found: wire_recording.Line, line: OrderedLine
    ) -> OrderedLine | None:
        """Processes an answer's head; complete unless events follow."""
        if exchange.call is None:
            return self._note_late_line(exchange, line)
        exchange.head = found
        # Places let the original bytes be shown later.
        exchange.places.extend((line.offset, line.length))
        body = _body(found)
        if found.text is None and body is None:
            return None
        data, joined = line.data, self._lines_in(exchange, found, body)
        if joined is not None:
            told = {key: one for key, one in (decoded_object(line.data) or {}).items() if key != "text"}
            data, body = to_json({**told, "message": joined}), joined
        return self._joined_line(x, exchange, found, None, (data, body))

    def _lines_in(self, exchange: _Exchange, found: wire_recording.Line, body: Any) -> dict[str, Any] | None:
        """Returns the answer in a body of several parts: lines of Ollama, or a list of Gemini's chunks."""
        if isinstance(body, list):
            chunks = decode_body(body)
            return dict(chunks) if isinstance(chunks, Mapping) else None
        if isinstance(body, Mapping):
            return ollama_body((body,))
        if not isinstance(found.text, str) or found.text.lstrip()[:1] != "{":
            return None
        lines = [decoded_object(line) for line in found.text.encode("utf-8", "replace").splitlines() if line.strip()]
        known = [line for line in lines if line is not None]  # the last may have been cut
        joined = ollama_body(known) if len(lines) - len(known) <= 1 else None
        if joined is not None:
            exchange.events = len(known)
            if isinstance(found.first_ms, int | float) and exchange.call is not None and exchange.call.asked_ns >= 0:
                exchange.first_ns = exchange.call.asked_ns + round(found.first_ms * 1e6)
        return joined

    def _process_event(
        self, x: int, exchange: _Exchange, found: wire_recording.Line, line: OrderedLine
    ) -> OrderedLine | None:
        if exchange.call is None:
            return self._note_late_line(exchange, line)
        exchange.places.extend((line.offset, line.length))
        exchange.events += 1
        message = _body(found)
        if isinstance(message, Mapping):
            if exchange.stream is None:
                exchange.stream = stream_of(message)
            carries = exchange.stream is not None and exchange.stream.add_event(message)
            # The first token is timed here; later events do not matter.
            if carries and exchange.first_ns is None and found.untimed is None:
                exchange.first_ns = parse_time(found.t)
            if not is_last_event(message, exchange.stream):
                return None
        elif found.text != _DONE_EVENT:
            return None
        return self._joined_line(x, exchange, found, "complete")

    def _joined_line(
        self, x: int, exchange: _Exchange, last: wire_recording.Line | None, how: str | None,
        whole: tuple[bytes, Any] | None = None,
    ) -> OrderedLine | None:  # fmt: skip
        """Emits the line of an answer; `whole` is an unstreamed one. The exchange has no call afterwards."""
        call, exchange.call = exchange.call, None
        if call is None:
            return None
        head = exchange.head
        body = whole[1] if whole is not None else exchange.stream.body() if exchange.stream is not None else None
        status = head.status if head is not None else None
        said = self._earlier_counts(call, body)
        told = {
            "id": call.identifier, "operation": call.operation, "model": call.model, "conversation": call.conversation,
            "asked": call.asked_ns, "first": exchange.first_ns, "events": exchange.events or None, "said": said,
        }  # fmt: skip
        self._note_answer(call, body, status)
        line = whole[0] if whole is not None else to_json(
            {
                "t": last.t if last is not None else head.t if head is not None else None,
                "dir": "server->client", "kind": "http-response", "x": x, "status": status,
                "headers": head.headers if head is not None else None, "how": how,
                "message": body if body is not None else {},
            }
        )  # fmt: skip
        known = {key: value for key, value in told.items() if value is not None}
        exchange.answer = self._joined.store_line(line, known, exchange.places)
        exchange.stream, exchange.places = None, array("q")
        return OrderedLine(line, exchange.answer, len(line), known)

    def _earlier_counts(self, call: ModelCall, body: Any) -> dict[str, int]:
        """Returns the number of earlier occurrences of the answer's parts."""
        marks = set(message_hashes(body)) if isinstance(body, Mapping) else set[str]()
        return {mark: call.occurrence_counts[mark] for mark in marks if mark in call.occurrence_counts}

    def _note_answer(self, call: ModelCall, body: Any, status: Any) -> None:
        """Records an answer that later requests may continue, or a failure that they may repeat."""
        failed = (
            (isinstance(status, int) and status >= wire_recording.FIRST_FAILURE_STATUS)
            or not isinstance(body, Mapping)
            or not body
        )
        if failed:
            self._note_failure(call)
            return
        self._failed.pop(call.digest, None)
        self._conversations.note_answer(call, message_hashes(body), tool_call_hashes(body))
        identifier = body.get("id") if body.get("object") in CONTINUABLE else None
        if isinstance(identifier, str):
            seen = Counter(call.occurrence_counts)
            seen.update(message_hashes(body))
            set_limited(self._answers, identifier, (call.conversation, dict(seen)))

    def _note_failure(self, call: ModelCall) -> None:
        identifier, attempts = self._failed.get(call.digest, (call.identifier, call.retries))
        set_limited(self._failed, call.digest, (identifier, attempts + 1))


def _body(line: wire_recording.Line) -> Any:
    """Returns the decoded body or event of a line, if any."""
    raw = bytes(line.message)
    return json_or_none(raw) if raw else None
