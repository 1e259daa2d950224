"""Puts together answers of models that were saved as the events they came in, one a line (docs/transcripts.md).

A client, or a proxy, that saves a stream as it comes leaves lines such as `data: {"type":"message_start",...}`, or the
events alone. Nothing tells of the request, nor which answer an event is of: one follows the other. So one line stands
for an answer once it is complete, in the form of one that came at once, and is read as such a document is.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from inspector.protocol.formats.entries import decoded_object
from inspector.protocol.formats.messages import EVENT_MARKS, event_in
from inspector.protocol.model_api.streams import Stream, is_of_ollama, stream_of
from inspector.protocol.written_json import to_json
from inspector.reading.reassembly.joined_lines import JoinedLines, OrderedLine

_ENDS = ("message_stop", "response.completed", "response.incomplete", "response.failed")
_DONE = b"data: [DONE]"


class ModelStreams:
    """Looks at the lines of one source, each once, in order."""

    def __init__(self, joined: JoinedLines) -> None:
        self._joined = joined
        self._stream: Stream | None = None
        self._name: object = None  # of the answer, where each event bears it
        self._places = array("q")

    def may_matter(self, data: bytes) -> bool:
        """Whether there is anything to look at in some lines."""
        return self._stream is not None or any(mark in data for mark in EVENT_MARKS)

    def take(self, lines: Sequence[OrderedLine]) -> list[OrderedLine]:
        """The lines that are to be read in place of some.

        Raises:
            OSError: there is no room for an answer.
        """
        return [found for line in lines for found in self._line(line)]

    def end(self) -> list[OrderedLine]:
        """What is left of an answer when the source has ended. Raises OSError."""
        return list(self._flush())

    def _line(self, line: OrderedLine) -> Iterator[OrderedLine]:
        """What one line becomes, and an answer that ends with it or before it."""
        if self._stream is not None and line.data[:1] == b":":  # a comment
            self._places.extend((line.offset, line.length))
            return
        if self._stream is not None and line.data.strip() == _DONE:
            self._places.extend((line.offset, line.length))
            yield from self._flush()
            return
        event = event_in(line.data, goes_on=self._stream is not None) if line.known is None else None
        if event is None:
            # A field or a comment may stand between events.
            if self._stream is not None and decoded_object(line.data.removeprefix(b"data:")) is not None:
                yield from self._flush()
            yield line
            return
        if self._stream is None or self._begins(event):
            yield from self._flush()
            self._stream, self._name = stream_of(event), _name_in(event)
        if self._stream is not None:
            self._stream.add(event)
            self._places.extend((line.offset, line.length))
        if event.get("type") in _ENDS or (event.get("done") is True and is_of_ollama(event)):
            yield from self._flush()

    def _begins(self, event: Mapping[str, Any]) -> bool:
        """Whether an event is of another answer than those before it."""
        return event.get("type") in ("message_start", "response.created") or _name_in(event) != self._name

    def _flush(self) -> Iterator[OrderedLine]:
        """The line that stands for the answer so far."""
        stream, places = self._stream, self._places
        self._stream, self._name, self._places = None, None, array("q")
        body = stream.body() if stream is not None else None
        if body:
            line, known = to_json(body), {"events": len(places) // 2}
            yield OrderedLine(line, self._joined.put(line, known, places), len(line), known)


def _name_in(event: Mapping[str, Any]) -> object:
    """The answer that an event names: chunks of chat completions and of Gemini do, Ollama's lines the model."""
    if is_of_ollama(event):
        return "ollama", event.get("model")
    return event.get("id", event.get("responseId")) if "choices" in event or "candidates" in event else None
