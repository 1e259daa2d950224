"""Resolves ACP and A2A lines in order: pairs answers with requests and joins streamed texts (docs/protocols.md 18).

An answer has only an id, and in ACP both sides number from 0. It belongs to a request of the other side if the
direction is known. Otherwise it belongs to the latest open request with that id and a fitting form. Facts from earlier
lines are stored with a line; pieces of one text become one line. Such lines are stored beside the source
(`inspector.reading.reassembly.derived_lines`); all others stay as they are.
"""

from __future__ import annotations

import re
from array import array
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from inspector.formats.a2a import reader as a2a
from inspector.formats.acp import reader as acp
from inspector.formats.agent_rpc import AGENT, CLIENT, mapping_or_empty, mappings_in, text_or_none
from inspector.formats.entry_builders import decoded_object
from inspector.formats.line_reading import read_line_as
from inspector.protocol.calls import rpc_id
from inspector.protocol.directions import sender_and_receiver
from inspector.protocol.header import Header
from inspector.protocol.record import Record, Shape
from inspector.protocol.tolerant_encoder import to_json
from inspector.reading.reassembly.conversations import set_limited
from inspector.reading.reassembly.derived_lines import DerivedLineSpool, OrderedLine

_REQUEST_PATTERN = re.compile(
    rb'"method"\s*:\s*"(session/|message/|tasks/send|initialize"|'
    rb'(?:SendMessage|SendStreamingMessage|GetTask|CancelTask|ListTasks|SubscribeToTask|GetExtendedAgentCard)")'
)
"""Beginnings of the requests of both protocols, in one pattern: lines may be long, and most are of neither."""
_INITIALIZE, _ACP_ONLY = b'initialize"', b'"clientCapabilities"'
"""A method that MCP has too, and a field that only ACP has."""
_IdScope = tuple[int, int]
"""Scope of JSON-RPC ids: the connection, and the HTTP exchange."""


@dataclass(slots=True)
class _Request:
    """A request that may be answered."""

    protocol: str
    side: str
    method: str
    session: str | None = None
    options: dict[str, Any] = field(default_factory=dict)
    streamed: bool = False


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
        self._open: OrderedDict[tuple[_IdScope, str], list[_Request]] = OrderedDict()
        self._runs: dict[tuple[Any, ...], _PartialText] = {}
        self._tools: OrderedDict[tuple[_IdScope, str, str], str] = OrderedDict()  # titles of tools
        self._replaying: dict[tuple[_IdScope, str | None], int] = {}
        self._waiting: OrderedDict[str, str | None] = OrderedDict()  # tasks that wait for their client
        self._contexts: OrderedDict[str, str] = OrderedDict()  # by task

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
        if record.header is None or (record.shape is not Shape.RPC and record.derived_by not in (acp.LABEL, a2a.LABEL)):
            yield line
            return
        if record.derived_by in (acp.LABEL, a2a.LABEL):
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

    def _process_request(self, pipe: _IdScope, message: Mapping[str, Any], record: Record) -> dict[str, Any]:
        """Records a request or notification; returns the facts known from earlier lines."""
        method, params = str(message.get("method")), mapping_or_empty(message.get("params"))
        protocol = record.derived_by
        if protocol is None:
            if self._protocol == a2a.LABEL and method in a2a.SHARED_METHODS:
                protocol = a2a.LABEL
            elif self._protocol == acp.LABEL and record.exchange is None:
                protocol = acp.LABEL
            else:
                return {}
        beside: dict[str, Any] = {} if record.derived_by is not None else {"protocol": protocol}
        # The method shows which side sends it, unless both may.
        side = self._sender_side(record, method, protocol)
        if protocol == acp.LABEL:
            if side != acp.sender_of_method(method):
                beside["side"] = side
            beside |= self._update_facts(pipe, method, params)
        else:
            beside |= self._task_facts(method, params)
        identifier = rpc_id(message.get("id"))
        if identifier is not None:
            request = _Request(
                protocol, side, method, text_or_none(params.get("sessionId")),
                {str(one.get("optionId")): dict(one) for one in mappings_in(params.get("options"))},
                # Covers streaming and subscribing methods of either spelling.
                "tream" in method or "ubscribe" in method,
            )  # fmt: skip
            # A list, since an id may be used again before it is answered.
            key = pipe, identifier
            set_limited(self._open, key, [*self._open.get(key, ()), request])
            # The answer comes after the replayed history, so all updates until then are old.
            if protocol == acp.LABEL and (
                method == "session/load" or (method in acp.REPLAYING and "replayFrom" in params)
            ):
                where = (pipe, request.session)
                self._replaying[where] = self._replaying.get(where, 0) + 1
        return {**beside, "protocol": protocol} if beside else {}

    def _sender_side(self, record: Record, method: str, protocol: str) -> str:
        """Returns the sender of a request: by its line, else by its method."""
        sender, _ = sender_and_receiver(record.direction)
        if protocol == a2a.LABEL:
            return CLIENT
        if sender in ("client", "server"):
            return CLIENT if sender == "client" else AGENT
        return acp.sender_of_method(method)

    def _update_facts(self, pipe: _IdScope, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Returns known facts of an update: it is a replay, and its tool's title."""
        if method == acp.PERMISSION:
            called = text_or_none(mapping_or_empty(params.get("toolCall")).get("toolCallId"))
            title = self._tools.get((pipe, text_or_none(params.get("sessionId")) or "", called or ""))
            return {"title": title} if title else {}
        if method != acp.UPDATE:
            return {}
        session, update = text_or_none(params.get("sessionId")), mapping_or_empty(params.get("update"))
        beside: dict[str, Any] = {"replay": True} if self._replaying.get((pipe, session)) else {}
        called, sort = text_or_none(update.get("toolCallId")), update.get("sessionUpdate")
        if called is not None and sort in ("tool_call", "tool_call_update"):
            key = pipe, session or "", called
            title = text_or_none(update.get("title")) or text_or_none(update.get("kind"))
            # An update before any call: the beginning was not recorded.
            if sort == "tool_call_update" and key not in self._tools:
                beside["first"] = True
            elif title is None and (before := self._tools.get(key)):
                beside["title"] = before
            set_limited(self._tools, key, title or self._tools.get(key, ""))
        return beside

    def _task_facts(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        said = mapping_or_empty(params.get("message"))
        task = text_or_none(said.get("taskId"))
        beside: dict[str, Any] = {}
        if task is not None and task in self._waiting and method in a2a.SENDING_METHODS:
            del self._waiting[task]
            beside["continues"] = True
        named = task or text_or_none(params.get("id")) or text_or_none(params.get("taskId"))
        if named in self._contexts and text_or_none(said.get("contextId")) is None:
            beside["context"] = f"{self._contexts[named]}/{named}" if task is None else self._contexts[named]
        return beside

    # Answers

    def _process_answer(self, pipe: _IdScope, message: Mapping[str, Any], record: Record) -> dict[str, Any]:
        """Returns the facts known from an answer's request; empty if the line stays JSON-RPC."""
        request = self._request_of(pipe, message, record)
        if request is None:
            return {} if record.exchange is not None or self._protocol is None else {"protocol": self._protocol}
        beside: dict[str, Any] = {"protocol": request.protocol, "method": request.method}
        if request.protocol == acp.LABEL:
            if request.session is not None:
                beside["session"] = request.session
            elif (session := text_or_none(mapping_or_empty(message.get("result")).get("sessionId"))) is not None:
                beside["session"] = session
            if request.options:
                beside["options"] = request.options
            if request.side == AGENT:
                beside["side"] = CLIENT
            if request.method in acp.REPLAYING:
                self._replaying.pop((pipe, request.session), None)
            return beside
        kind, value = a2a.outcome_of(message.get("result"))
        state, task = a2a.state_of(kind, value), a2a.task_of(kind, value)
        if request.streamed:
            beside["streamed"] = True
        if task is not None:
            beside |= self._note_task(task, state, text_or_none(value.get("contextId")), request)
        return beside

    def _note_task(self, task: str, state: str | None, context: str | None, request: _Request) -> dict[str, Any]:
        beside: dict[str, Any] = {}
        if context is not None:
            set_limited(self._contexts, task, context)
        if state in a2a.WAITING_STATES:
            set_limited(self._waiting, task, context)
        elif state in a2a.ENDED_STATES and task in self._waiting:
            del self._waiting[task]
            if request.method in a2a.CANCELLING_METHODS:
                beside["gives_up"] = True
        return beside

    def _request_of(self, pipe: _IdScope, message: Mapping[str, Any], record: Record) -> _Request | None:
        """Returns the open request of an answer; closes it unless more answers may follow."""
        identifier = rpc_id(message.get("id"))
        waiting = self._open.get((pipe, identifier), []) if identifier is not None else []
        # Latest first, since an unanswered old request may have the same id.
        fitting = list(reversed(waiting))
        answerer, _ = sender_and_receiver(record.direction)
        if answerer in ("client", "server"):
            asker = AGENT if answerer == "client" else CLIENT
            fitting = [one for one in fitting if one.side == asker or one.protocol == a2a.LABEL]
        # Both sides use this id, so the form of the answer decides.
        elif len({one.side for one in fitting}) > 1:
            fitting.sort(key=lambda one: not _fits_method(one.method, message))
        if not fitting:
            return None
        found = fitting[0]
        if not found.streamed or self._is_last(message):
            waiting.remove(found)
            if not waiting and identifier is not None:
                self._open.pop((pipe, identifier), None)
        return found

    def _is_last(self, message: Mapping[str, Any]) -> bool:
        """Returns True for the last answer of a streamed request."""
        kind, value = a2a.outcome_of(message.get("result"))
        state = a2a.state_of(kind, value)
        return "error" in message or kind in ("", "message") or state in a2a.ENDED_STATES | a2a.WAITING_STATES

    # Streamed texts

    def _piece_key(self, pipe: _IdScope, message: Mapping[str, Any]) -> tuple[Any, ...] | None:
        """Returns the key shared by the pieces of a text if a message is such a piece."""
        params = mapping_or_empty(message.get("params"))
        update = mapping_or_empty(params.get("update"))
        sort = update.get("sessionUpdate")
        if message.get("method") == acp.UPDATE and isinstance(sort, str) and sort in acp.CHUNKS:
            # A piece with an image stays alone.
            if not isinstance(mapping_or_empty(update.get("content")).get("text"), str):
                return None
            names = (params.get("sessionId"), sort, update.get("messageId"))
            return (pipe, *map(str, names))
        kind, value = a2a.outcome_of(message.get("result")) if "result" in message else ("", {})
        if kind != "artifact-update" or rpc_id(message.get("id")) is None:
            return None
        artifact = mapping_or_empty(value.get("artifact"))
        parts = mappings_in(artifact.get("parts"))
        if not parts or not all(isinstance(one.get("text"), str) for one in parts):
            return None
        return pipe, "artifact", str(value.get("taskId")), str(artifact.get("artifactId"))

    def _add_piece(self, key: tuple[Any, ...], piece: _PartialText) -> Iterator[OrderedLine]:
        """Adds a piece of a text; yields texts of the same connection that end with it."""
        artifact = key[1] == "artifact"
        told = a2a.outcome_of(piece.message.get("result"))[1]
        # A piece without `append` starts the artifact anew.
        begins = artifact and told.get("append") is not True
        for one in [one for one in self._runs if one[0] == key[0] and (one != key or begins)]:
            yield self._flush(one)
        run = self._runs.get(key)
        if run is not None:
            piece.texts, piece.places = run.texts, run.places
        piece.texts.append(_text_of(piece.message))
        piece.places.extend((piece.line.offset, piece.line.length))
        self._runs[key] = piece
        if artifact and told.get("lastChunk") is True:
            yield self._flush(key)

    def _flush(self, key: tuple[Any, ...]) -> OrderedLine:
        """Returns the line of a complete text."""
        run = self._runs.pop(key)
        of_artifact = key[1] == "artifact"
        known = (self._process_answer if of_artifact else self._process_request)(key[0], run.message, run.record)
        line = run.line.data
        if len(run.texts) == 1:
            return self._derived_line(line, known, run.places) if known else run.line
        _set_text(run.message, "".join(run.texts))
        # The joined line names the number of its pieces for display.
        known |= {"pieces": len(run.texts), "protocol": a2a.LABEL if of_artifact else acp.LABEL}
        raw, whole = run.record.raw, to_json(run.message)
        # Only the message changes; the rest of the line, such as its time, stays.
        return self._derived_line(line.replace(raw, whole, 1) if raw in line else whole, known, run.places)


_RESULT_FIELDS = {
    "session/prompt": ("stopReason",), "session/new": ("sessionId",), acp.PERMISSION: ("outcome",),
    acp.ELICITATION: ("action",), "fs/read_text_file": ("content",), "initialize": ("protocolVersion",),
    "terminal/create": ("terminalId",), "terminal/output": ("output",), "terminal/wait_for_exit": ("exitCode",),
}  # fmt: skip


def _fits_method(method: str, message: Mapping[str, Any]) -> bool:
    """Returns True if an answer has the typical fields of the method's result."""
    result = message.get("result")
    return isinstance(result, Mapping) and any(key in result for key in _RESULT_FIELDS.get(method, ()))


def _text_of(message: Mapping[str, Any]) -> str:
    update = mapping_or_empty(mapping_or_empty(message.get("params")).get("update"))
    if update:
        return str(mapping_or_empty(update.get("content")).get("text"))
    _, value = a2a.outcome_of(message.get("result"))
    return "".join(str(one.get("text")) for one in mappings_in(mapping_or_empty(value.get("artifact")).get("parts")))


def _set_text(message: dict[str, Any], whole: str) -> None:
    """Replaces a message's text by the whole one."""
    update = mapping_or_empty(mapping_or_empty(message.get("params")).get("update"))
    if update:
        mapping_or_empty(update.get("content"))["text"] = whole  # type: ignore[index] - decoded JSON objects are dicts
        return
    _, value = a2a.outcome_of(message.get("result"))
    artifact = mapping_or_empty(value.get("artifact"))
    first = mappings_in(artifact.get("parts"))[0]
    artifact["parts"] = [{**first, "text": whole}]  # type: ignore[index] - decoded JSON objects are dicts


def _may_contain_request(data: bytes) -> bool:
    """Returns True if lines may contain a message of one of the protocols."""
    asked = {*_REQUEST_PATTERN.findall(data)}
    return bool(asked - {_INITIALIZE}) or (bool(asked) and _ACP_ONLY in data)
