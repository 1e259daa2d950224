"""Rewrites exchanges of A2A's HTTP+JSON binding in an HTTP recording as JSON-RPC, and describes gRPC calls.

`inspector.reading.reassembly.agent_protocol_lines` then reads the lines as it reads A2A over JSON-RPC. A request
without a message has a path that other services have as well, such as `/tasks/1`. It is rewritten if its headers name
A2A, or if an earlier request with a message had the same base. The original lines stay with the rewritten ones.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from inspector.base.limited_dicts import set_limited
from inspector.formats.a2a import grpc_lines, rest_binding
from inspector.formats.entry_builders import decoded_object
from inspector.protocol.tolerant_encoder import to_json
from inspector.reading.reassembly.derived_lines import DerivedLineSpool, OrderedLine

_MARKS = re.compile(rb"/message(?::|%3[Aa])s|/tasks|/extendedAgentCard|/v1/card|application/grpc|\.A2AService/")
_ANSWERS = ("http-response", "sse-event")
_ENDS = ("http-end", "http-error")


class _Exchange(NamedTuple):
    """An open exchange: the method it calls, and whether over gRPC."""

    method: str
    is_grpc: bool


class RestExchanges:
    """Processes the lines of one source, each once, in order; a `ReassemblyStage`."""

    def __init__(self, joined: DerivedLineSpool) -> None:
        self._joined = joined
        self._open: OrderedDict[int, _Exchange] = OrderedDict()
        self._statuses: OrderedDict[int, int] = OrderedDict()
        self._bases: OrderedDict[str, None] = OrderedDict()  # of agents

    def is_relevant(self, data: bytes) -> bool:
        """Returns True if any of the lines may be relevant."""
        return bool(self._open) or (b'"http-request"' in data and _MARKS.search(data) is not None)

    def process_lines(self, lines: Sequence[OrderedLine]) -> list[OrderedLine]:
        """Returns the lines to read instead. Raises OSError if there is no room for one."""
        return [self._process_line(line) for line in lines]

    def finish(self) -> list[OrderedLine]:
        """Returns no lines: none is held back."""
        return []

    def _process_line(self, line: OrderedLine) -> OrderedLine:
        data = line.data
        is_request = b'"http-request"' in data
        if line.known_facts is not None or b'"x"' not in data or not (self._open or is_request):
            return line
        if is_request and not self._open and _MARKS.search(data) is None:
            return line
        found = decoded_object(data)
        number = found.get("x") if found is not None else None
        if found is None or not isinstance(number, int):
            return line
        kind = found.get("kind")
        if kind == "http-request":
            other = self._request(number, found)
        elif kind in _ENDS:
            self._open.pop(number, None)
            return line
        else:
            other = self._answer(number, found) if kind in _ANSWERS and number in self._open else None
        return line if other is None else self._derived_line(other, line)

    def _request(self, number: int, line: Mapping[str, Any]) -> dict[str, Any] | None:
        """Returns the line of a request in the form of JSON-RPC, None for other requests."""
        self._open.pop(number, None)  # exchange numbers are reused
        self._statuses.pop(number, None)
        called = grpc_lines.method_in(line)
        if called is not None:
            set_limited(self._open, number, _Exchange(called, is_grpc=True))
            return grpc_lines.described(line, called, "call")
        request = rest_binding.request_in(line)
        if request is None or not (request.is_certain or request.base in self._bases):
            return None
        set_limited(self._bases, request.base, None)
        set_limited(self._open, number, _Exchange(request.method, is_grpc=False))
        return _with_message(line, number, {"method": request.method, "params": request.params})

    def _answer(self, number: int, line: Mapping[str, Any]) -> dict[str, Any] | None:
        """Returns the line of an answer, or of an event, in the form of JSON-RPC; None for other lines."""
        exchange, status = self._open[number], line.get("status")
        if exchange.is_grpc:
            has_body = any(line.get(key) is not None for key in ("text", "b64", "bytes", "binary"))
            return grpc_lines.described(line, exchange.method, "answer to") if has_body else None
        if isinstance(status, int):
            set_limited(self._statuses, number, status)
        status = self._statuses.get(number, 200)
        body = line.get("message")
        # A deletion is answered without a body.
        if body is None and line.get("text") is None and status < 300 and exchange.method.startswith("Delete"):
            body = {}
        outcome = rest_binding.answer_of(body, status, line.get("text"))
        return _with_message(line, number, outcome) if outcome is not None else None

    def _derived_line(self, value: Mapping[str, Any], line: OrderedLine) -> OrderedLine:
        data = to_json(dict(value))
        return OrderedLine(data, self._joined.store_line(data, {}, (line.offset, line.length)), len(data))


def _with_message(line: Mapping[str, Any], number: int, message: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: one for key, one in line.items() if key != "text"}
    return {**kept, "message": {"jsonrpc": "2.0", "id": f"exchange {number}", **message}}
