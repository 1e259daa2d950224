"""Reassembles model answers saved as streamed events, one a line (docs/transcripts.md).

A client, or a proxy, that saves a stream writes lines such as `data: {"type":"message_start",...}`, or the events
alone. They identify neither the request nor the answer; answers follow each other. One line in the form of an
unstreamed answer replaces the events.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from inspector.formats.entry_builders import decoded_object
from inspector.formats.model_api import cohere, interactions
from inspector.formats.model_api.reader import EVENT_MARKS, event_in
from inspector.formats.model_api.streams import AnswerStream, is_last_event, is_of_ollama, stream_of
from inspector.protocol.tolerant_encoder import to_json
from inspector.reading.reassembly.derived_lines import DerivedLineSpool, OrderedLine

_DONE_LINE = b"data: [DONE]"


class ModelStreams:
    """Processes the lines of one source, each once, in order."""

    def __init__(self, joined: DerivedLineSpool) -> None:
        self._joined = joined
        self._stream: AnswerStream | None = None
        self._name: object = None  # of the answer, if each event has it
        self._places = array("q")

    def is_relevant(self, data: bytes) -> bool:
        """Returns True if any of the lines may be relevant."""
        return self._stream is not None or any(mark in data for mark in EVENT_MARKS)

    def process_lines(self, lines: Sequence[OrderedLine]) -> list[OrderedLine]:
        """Returns the lines to read instead.

        Raises:
            OSError: if there is no room for an answer.
        """
        return [found for line in lines for found in self._process_line(line)]

    def finish(self) -> list[OrderedLine]:
        """Returns the unfinished answer at the end of the source. Raises OSError."""
        return list(self._flush())

    def _process_line(self, line: OrderedLine) -> Iterator[OrderedLine]:
        """Yields the replacement of one line, and an answer that ends with it or before it."""
        if self._stream is not None and line.data[:1] == b":":  # a comment
            self._places.extend((line.offset, line.length))
            return
        if self._stream is not None and line.data.strip() == _DONE_LINE:
            self._places.extend((line.offset, line.length))
            yield from self._flush()
            return
        event = event_in(line.data, goes_on=self._stream is not None) if line.known_facts is None else None
        if event is None:
            # Fields and comments may occur between events.
            if self._stream is not None and decoded_object(line.data.removeprefix(b"data:")) is not None:
                yield from self._flush()
            yield line
            return
        if self._stream is None or self._starts_answer(event):
            yield from self._flush()
            self._stream, self._name = stream_of(event), _answer_name(event)
        if self._stream is not None:
            self._stream.add_event(event)
            self._places.extend((line.offset, line.length))
        if is_last_event(event, self._stream) or (event.get("done") is True and is_of_ollama(event)):
            yield from self._flush()

    def _starts_answer(self, event: Mapping[str, Any]) -> bool:
        """Returns True if an event starts another answer."""
        name = _answer_name(event)
        if event.get("type") == "message_start" and name is not None and name == self._name:  # sent twice
            return False
        return _is_first(event) or (name is not None and name != self._name)

    def _flush(self) -> Iterator[OrderedLine]:
        """Emits the line of the answer so far."""
        stream, places = self._stream, self._places
        self._stream, self._name, self._places = None, None, array("q")
        body = stream.body() if stream is not None else None
        if body:
            line, known = to_json(body), {"events": len(places) // 2}
            yield OrderedLine(line, self._joined.store_line(line, known, places), len(line), known)


def _is_first(event: Mapping[str, Any]) -> bool:
    """Returns True for an event that begins an answer in any case."""
    if event.get("type") in _FIRST or "messageStart" in event:
        return True
    return event.get("event_type") in interactions.FIRST_EVENTS


_FIRST = ("message_start", "response.created", cohere.FIRST_EVENT)


def _answer_name(event: Mapping[str, Any]) -> object:
    """Returns the answer that an event names: an id, or the model for Ollama; None for an event without a name."""
    if is_of_ollama(event):
        return "ollama", event.get("model")
    if event.get("type") == "message_start" and isinstance(message := event.get("message"), Mapping):
        return message.get("id")
    return event.get("id", event.get("responseId")) if "choices" in event or "candidates" in event else None
