"""Resolves lines of agent protocols in order: pairs answers with requests and joins streamed texts.

The protocols are those of formats with `Format.rpc` (docs/protocols.md 18). An answer has only an id, and both sides
may number from 0. It belongs to a request of the other side if the direction is known. Otherwise it belongs to the
latest open request with that id and a fitting form. Facts from earlier lines are stored with a line; pieces of one text
become one line. Such lines are stored beside the source (`inspector.reading.reassembly.derived_lines`); all others stay
as they are.
"""

from __future__ import annotations

import re
from array import array
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from inspector.base.limited_dicts import set_limited
from inspector.formats.agent_rpc import (
    AGENT,
    CLIENT,
    AgentRequest,
    IdScope,
    OrderedLines,
    text_or_none,
)
from inspector.formats.entry_builders import decoded_object
from inspector.formats.line_reading import read_line_as
from inspector.formats.table import FORMATS
from inspector.formats.value_conversions import mapping_or_empty, mappings_in
from inspector.protocol.calls import rpc_id
from inspector.protocol.directions import sender_and_receiver
from inspector.protocol.header import Header
from inspector.protocol.record import Record, Shape
from inspector.protocol.tolerant_encoder import to_json
from inspector.reading.reassembly.derived_lines import DerivedLineSpool, OrderedLine

_PROTOCOLS = {one.name: one.rpc for one in FORMATS if one.rpc is not None}
_REQUEST_PATTERN = re.compile(
    rb'"method"\s*:\s*"(' + b"|".join(begins for one in _PROTOCOLS.values() for begins in one.method_beginnings) + rb")"
)
"""Beginnings of the requests of all protocols, in one pattern: lines may be long, and most are of none."""
_SHARED_BEGINNINGS: dict[bytes, list[bytes]] = {}
"""Beginnings that several protocols have, each with bytes of which each is of one protocol alone."""
for _protocol in _PROTOCOLS.values():
    for _begins, _own in _protocol.shared_beginnings.items():
        _SHARED_BEGINNINGS.setdefault(_begins, []).extend(_own)


@dataclass(slots=True)
class _PartialText:
    """Pieces of one text so far: the last one, and the texts of all."""

    line: OrderedLine
    record: Record
    message: dict[str, Any]
    texts: list[str] = field(default_factory=list)
    places: array[int] = field(default_factory=lambda: array("q"))


class AgentLines:
    """Resolves the lines of one source, each once, in order."""

    def __init__(self, joined: DerivedLineSpool) -> None:
        self._joined = joined
        self._protocol: str | None = None  # of the lines so far
        self._followed: dict[str, OrderedLines] = {name: one.follow_lines() for name, one in _PROTOCOLS.items()}
        self._open: OrderedDict[tuple[IdScope, str], list[AgentRequest]] = OrderedDict()
        self._runs: dict[tuple[Any, ...], _PartialText] = {}  # by scope, protocol and key of the pieces

    def is_relevant(self, data: bytes) -> bool:
        """Returns True if any of the lines may be relevant."""
        return self._protocol is not None or _may_contain_request(data)

    def process_lines(self, lines: Sequence[OrderedLine]) -> list[OrderedLine]:
        """Returns the lines to read instead.

        Raises:
            OSError: if there is no room for one.
        """
        return [found for line in lines for found in self._process_line(line)]

    def finish(self) -> list[OrderedLine]:
        """Returns the unfinished texts at the end of the source. Raises OSError."""
        return [self._flush(key) for key in list(self._runs)]

    def _process_line(self, line: OrderedLine) -> Iterator[OrderedLine]:
        """Yields the replacement of one line, and texts that end before it."""
        # A byte search refuses nearly all lines of other protocols before decoding.
        if line.known_facts is not None or (self._protocol is None and not _may_contain_request(line.data)):
            yield line
            return
        read = line.decoded_record or read_line_as(line.data)
        line, record = line._replace(decoded_record=read), read[0]
        is_own = record.derived_by in _PROTOCOLS
        if record.header is None or (record.shape is not Shape.RPC and not is_own):
            yield line
            return
        if is_own:
            self._protocol = record.derived_by
        yield from self._process_message(line, record, record.header)

    def _process_message(self, line: OrderedLine, record: Record, header: Header) -> Iterator[OrderedLine]:
        pipe = (record.src, record.exchange.number if record.exchange is not None else 0)
        message = decoded_object(record.raw)
        if message is None:
            yield line
            return
        key = self._piece_key(pipe, message)
        if key is not None:
            yield from self._add_piece(key, _PartialText(line, record, message))
            return
        for one in [one for one in self._runs if one[0] == pipe]:  # any other message ends a streamed text
            yield self._flush(one)
        known = (self._process_request if isinstance(header.method, str) else self._process_answer)(
            pipe, message, record
        )
        yield self._derived_line(line.data, known, (line.offset, line.length)) if known else line

    def _derived_line(self, data: bytes, known: Mapping[str, Any], places: Sequence[int]) -> OrderedLine:
        """Returns a derived line with known facts, in place of the lines at `places`."""
        return OrderedLine(data, self._joined.store_line(data, known, places), len(data), known)

    # Requests

    def _process_request(self, pipe: IdScope, message: Mapping[str, Any], record: Record) -> dict[str, Any]:
        """Records a request or notification; returns the facts known from earlier lines."""
        method, params = str(message.get("method")), mapping_or_empty(message.get("params"))
        protocol = record.derived_by
        if protocol not in self._followed:
            protocol, in_exchange = self._protocol, record.exchange is not None
            if protocol is None or not self._followed[protocol].accepts_request(method, in_exchange=in_exchange):
                return {}
        beside: dict[str, Any] = {} if record.derived_by is not None else {"protocol": protocol}
        followed = self._followed[protocol]
        # The method shows which side sends it, unless both may.
        side = followed.side_of(method, sender_and_receiver(record.direction)[0])
        beside |= followed.request_facts(pipe, method, params, side)
        identifier = rpc_id(message.get("id"))
        if identifier is not None:
            request = AgentRequest(
                protocol, side, method, text_or_none(params.get("sessionId")),
                {str(one.get("optionId")): dict(one) for one in mappings_in(params.get("options"))},
                # Covers streaming and subscribing methods of either spelling.
                "tream" in method or "ubscribe" in method,
            )  # fmt: skip
            # A list, since an id may be used again before it is answered.
            key = pipe, identifier
            set_limited(self._open, key, [*self._open.get(key, ()), request])
            followed.note_request(pipe, request, params)
        return {**beside, "protocol": protocol} if beside else {}

    # Answers

    def _process_answer(self, pipe: IdScope, message: Mapping[str, Any], record: Record) -> dict[str, Any]:
        """Returns the facts known from an answer's request; empty if the line stays JSON-RPC."""
        request = self._request_of(pipe, message, record)
        if request is None:
            return {} if record.exchange is not None or self._protocol is None else {"protocol": self._protocol}
        told = self._followed[request.protocol].answer_facts(pipe, request, message)
        return {"protocol": request.protocol, "method": request.method, **told}

    def _request_of(self, pipe: IdScope, message: Mapping[str, Any], record: Record) -> AgentRequest | None:
        """Returns the open request of an answer; closes it unless more answers may follow."""
        identifier = rpc_id(message.get("id"))
        waiting = self._open.get((pipe, identifier), []) if identifier is not None else []
        # Latest first, since an unanswered old request may have the same id.
        fitting = list(reversed(waiting))
        answerer, _ = sender_and_receiver(record.direction)
        if answerer in ("client", "server"):
            asker = AGENT if answerer == "client" else CLIENT
            fitting = [one for one in fitting if one.side == asker or self._followed[one.protocol].only_clients_ask]
        # Both sides use this id, so the form of the answer decides.
        elif len({one.side for one in fitting}) > 1:
            fitting.sort(key=lambda one: not self._followed[one.protocol].fits_method(one.method, message))
        if not fitting:
            return None
        found = fitting[0]
        if not found.streamed or self._followed[found.protocol].is_last_answer(message):
            waiting.remove(found)
            if not waiting and identifier is not None:
                self._open.pop((pipe, identifier), None)
        return found

    # Streamed texts

    def _piece_key(self, pipe: IdScope, message: Mapping[str, Any]) -> tuple[Any, ...] | None:
        """Returns the key shared by the pieces of a text if a message is such a piece."""
        found = ((name, one.piece_key(message)) for name, one in self._followed.items())
        return next(((pipe, name, *key) for name, key in found if key is not None), None)

    def _add_piece(self, key: tuple[Any, ...], piece: _PartialText) -> Iterator[OrderedLine]:
        """Adds a piece of a text; yields texts of the same connection that end with it."""
        followed = self._followed[key[1]]
        begins = followed.begins_text(piece.message)
        for one in [one for one in self._runs if one[0] == key[0] and (one != key or begins)]:
            yield self._flush(one)
        run = self._runs.get(key)
        if run is not None:
            piece.texts, piece.places = run.texts, run.places
        piece.texts.append(followed.text_in(piece.message))
        piece.places.extend((piece.line.offset, piece.line.length))
        self._runs[key] = piece
        if followed.ends_text(piece.message):
            yield self._flush(key)

    def _flush(self, key: tuple[Any, ...]) -> OrderedLine:
        """Returns the line of a complete text."""
        run, followed = self._runs.pop(key), self._followed[key[1]]
        process = self._process_answer if followed.has_pieces_in_answers else self._process_request
        known = process(key[0], run.message, run.record)
        line = run.line.data
        if len(run.texts) == 1:
            return self._derived_line(line, known, run.places) if known else run.line
        followed.set_text(run.message, "".join(run.texts))
        # The joined line names the number of its pieces for display.
        known |= {"pieces": len(run.texts), "protocol": key[1]}
        raw, whole = run.record.raw, to_json(run.message)
        # Only the message changes; the rest of the line, such as its time, stays.
        return self._derived_line(line.replace(raw, whole, 1) if raw in line else whole, known, run.places)


def _may_contain_request(data: bytes) -> bool:
    """Returns True if lines may contain a message of one of the protocols."""
    asked = {*_REQUEST_PATTERN.findall(data)}
    return any(any(own in data for own in _SHARED_BEGINNINGS.get(begins, (b"",))) for begins in asked)
