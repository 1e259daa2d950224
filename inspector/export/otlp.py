"""Writes messages as OpenTelemetry traces: OTLP as JSON, several spans per line.

Source: semantic conventions for generative AI and MCP (docs/transcripts.md, OpenTelemetry).

- A space is a trace with a root span; a context is a span in its parent's span.
- A request with its answer is a span in its context, attributed to the requester; an error if unanswered.
- A model call with reported tokens is a span. Copies are left out.
- All other messages and findings are events of the span they belong to.

A `traceparent` in the `_meta` of a request moves its span to the named trace. Message texts are only included with
`content`, and masked.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from inspector import version
from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.states.state_pass import STATE_NAMES, MessageState
from inspector.analysis.views.account.tool_calls import calls_of
from inspector.base.atomic_files import open_replacement
from inspector.document.document import CaptureDocument
from inspector.export.compression import compressing
from inspector.export.options import Exported, Steps
from inspector.export.redaction import Redaction
from inspector.filters.fields import FIELD_BY_NAME
from inspector.filters.payloads import message_text
from inspector.protocol import kinds
from inspector.protocol.timestamps import NO_TIME
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_ROW

Json: TypeAlias = "dict[str, Any]"

SPANS_A_LINE = 256
_MESSAGES_PER_STEP = 32
"""Some ms of work: a line of calls takes 80 ms, in which an engine would answer no window."""
_LONGEST_TEXT = 1 << 16
_TRACEPARENT = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}")
# Numbers of OTLP: SPAN_KIND_CLIENT, SPAN_KIND_INTERNAL, STATUS_CODE_ERROR.
_CLIENT, _INTERNAL, _ERROR = 3, 1, 2
_FAILED = {MessageState.FAILED: "refused", MessageState.UNANSWERED: "unanswered", MessageState.CANCELLED: "cancelled"}
"""`error.type` of unanswered requests by state. A request that may still be answered has no error."""


_BEYOND_ASCII = re.compile(r"[^\x20-\x7e]+")


def _escaped(found: re.Match[str]) -> str:
    """Escapes characters of JSON that a terminal would interpret, such as C1 and bidirectional controls."""
    if found[0].isprintable():
        return found[0]
    return "".join(one if one.isprintable() else json.dumps(one)[1:-1] for one in found[0])


class TraceWriter:
    """Builds the spans of a document.

    Args:
        document: the document with the messages.
        messages: message indices, ascending.
        content: includes message texts, masked.
        redaction: masks and counts secrets.

    Attributes:
        spans: number of spans built.
    """

    def __init__(
        self, document: CaptureDocument, messages: Iterable[int], *, content: bool, redaction: Redaction
    ) -> None:  # fmt: skip
        self._document, self._analysis, self._capture = document, document.analysis, document.capture
        rows = np.fromiter(messages, np.int64)
        self._rows = rows[~self._capture.repeated_messages(rows)[1]] if self._capture.has_copies and len(rows) else rows
        self._content, self.redaction = content, redaction
        self.spans = 0

    @property
    def messages(self) -> int:
        """Number of messages covered."""
        return len(self._rows)

    def lines(self) -> Iterator[tuple[bytes, int]]:
        """Yields a line of OTLP with spans of one participant, and the number of spans."""
        return (line for line in self.line_steps() if line is not None)

    def line_steps(self) -> Iterator[tuple[bytes, int] | None]:
        """Yields the same, and None between some messages."""
        waiting: dict[str, list[Json]] = {}
        for found in self._spans():
            if found is None:
                yield None
                continue
            who, span = found
            # A line has one resource, and each participant is a service of its own.
            spans = waiting.setdefault(who, [])
            spans.append(span)
            # Collectors limit the size of one request.
            if len(spans) >= SPANS_A_LINE:
                yield self._line(who, spans), len(spans)
                waiting[who] = []
        for who, spans in waiting.items():
            if spans:
                yield self._line(who, spans), len(spans)

    def _line(self, who: str, spans: list[Json]) -> bytes:
        self.spans += len(spans)
        resource = self._attributes({"service.name": self._text(who or "unknown")})
        scope = {"name": "context-inspector", "version": version()}
        held = {"resource": {"attributes": resource}, "scopeSpans": [{"scope": scope, "spans": spans}]}
        text = json.dumps({"resourceSpans": [held]}, ensure_ascii=False, separators=(",", ":"))
        return _BEYOND_ASCII.sub(_escaped, text.encode("utf-8", "replace").decode()).encode()

    # Spans

    def _spans(self) -> Iterator[tuple[str, Json] | None]:
        """Yields spans, each with its participant, and None after some messages."""
        columns, links = self._capture.columns, self._analysis.correlation.columns
        request = self._capture.strings.find(kinds.REQUEST) or -1
        chosen = self._rows
        calls = calls_of(self._analysis)
        answers = links["answer"][chosen].astype(np.int64)
        told = np.isin(calls.rows, chosen)
        answers[np.searchsorted(chosen, calls.rows[told])] = calls.answers[told]
        asked = columns["kind"][chosen] == request
        # A call in several requests, or reported by two sources, has one span: that of its first request.
        called = links["method"][chosen] == (self._capture.strings.find("tools/call") or -1)
        asked &= ~called | np.isin(chosen, calls.rows)
        answered = {int(answer) for answer in answers[asked & (answers != NO_ROW)].tolist()}
        usage = {int(row) for row in self._analysis.usage.reports().tolist()}
        nodes = self._analysis.contexts.nodes_of(chosen) if len(chosen) else chosen
        # Sorted by context, so that only one context's events are in memory.
        order = np.lexsort((chosen, nodes, columns["space"][chosen]))
        held: list[Json] = []
        before: tuple[int, int] | None = None
        times: list[int] = []
        for number, place in enumerate(order.tolist(), 1):
            if number % _MESSAGES_PER_STEP == 0:
                yield None
            row, node = int(chosen[place]), int(nodes[place])
            key = int(columns["space"][row]), node
            if before is not None and key != before:
                yield from self._context_spans(before, held, times)
                held, times = [], []
            before = key
            times += [int(columns["time_ns"][row])] if columns["time_ns"][row] != NO_TIME else []
            if row in usage:  # a message may report a model call, as may a tool call that the model requests
                yield self._model_call(row, key)
            if asked[place]:
                yield self._call(row, int(answers[place]), key)
            elif row not in usage and row not in answered:
                held.append(self._event(row))
                held += self._findings(row)
        if before is not None:
            yield from self._context_spans(before, held, times)
        yield from self._empty_context_spans(chosen, nodes)

    def _context_spans(self, key: tuple[int, int], events: list[Json], times: list[int]) -> Iterator[tuple[str, Json]]:
        """Yields the span of a context, or of a space."""
        space, node = key
        start, end = (min(times), max(times)) if times else (0, 0)
        # An event without time would lie in 1970, before its span.
        events = [event for event in events if event["timeUnixNano"] != "0"] if times else []
        if node == MAIN:
            name, who = self._capture.strings[space] or "session", self._capture.strings[space] or "session"
            yield (
                who,
                self._span(
                    self._trace(space), self._of_node(space, MAIN), "", self._text(name), start, end, {}, events
                ),
            )
            return
        contexts = self._analysis.contexts
        label = self._text(contexts.label(node))
        speakers = contexts.senders_in(node)
        who = self._capture.strings[speakers[0]] if speakers else ""
        facts = {
            "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": self._text(who),
            "mew.context": self._text(contexts.tree.path(node)),
            "mew.context.type": contexts.type(node),
            "mew.context.state": contexts.state(node, self._analysis.now_ns),
        }  # fmt: skip
        parent = self._of_node(space, int(contexts.tree.parent[node]))
        identifier = self._of_node(space, node)
        yield (
            who,
            self._span(self._trace(space), identifier, parent, f"invoke_agent {label}", start, end, facts, events),
        )

    def _empty_context_spans(self, rows: Any, nodes: Any) -> Iterator[tuple[str, Json]]:
        """Yields spans of contexts and spaces without messages of their own."""
        columns, tree = self._capture.columns, self._analysis.contexts.tree
        own = {
            (int(space), int(node)) for space, node in zip(columns["space"][rows].tolist(), nodes.tolist(), strict=True)
        }
        missing: dict[tuple[int, int], list[int]] = {}
        for row, node in zip(rows.tolist(), nodes.tolist(), strict=True):
            space, above = int(columns["space"][row]), node
            # Without spans for them, viewers would show their children as roots.
            while above != MAIN:
                above = int(tree.parent[above])
                if (space, above) not in own:
                    missing.setdefault((space, above), []).append(int(columns["time_ns"][row]))
        for key, times in missing.items():
            yield from self._context_spans(key, [], [time for time in times if time != NO_TIME])

    def _call(self, row: int, answer: int, key: tuple[int, int]) -> tuple[str, Json]:
        """Returns the span of a request and its answer."""
        capture, columns = self._capture, self._capture.columns
        links, strings = self._analysis.correlation.columns, self._capture.strings
        method, target = (strings[int(links[name][row])] for name in ("method", "target"))
        tool = target if method == "tools/call" else ""
        state = self._analysis.states.state_of(row)
        failed = state in _FAILED or (answer != NO_ROW and bool(int(columns["flags"][answer]) & Flag.ERROR))
        facts: Json = {
            "gen_ai.operation.name": "execute_tool" if tool else None, "gen_ai.tool.name": self._text(tool) or None,
            "gen_ai.tool.call.id": self._text(capture.records.envelope_id(row) or "") or None,
            "mcp.method.name": method or None,
            "error.type": ("tool_error" if answer != NO_ROW else _FAILED[state]) if failed else None,
            "mew.state": STATE_NAMES[state] or None, **self._message_attributes(row),
        }  # fmt: skip
        payload = capture.records.payload(row)
        params = payload.get("params")
        params = params if isinstance(params, dict) else {}
        if self._content:
            result = capture.records.payload(answer).get("result") if answer != NO_ROW else None
            facts["gen_ai.tool.call.arguments"] = self._json(params.get("arguments", params))
            facts["gen_ai.tool.call.result"] = self._json(result) if result is not None else None
        trace, parent = self._trace(key[0]), self._of_node(*key)
        meta = params.get("_meta")
        joined = _TRACEPARENT.fullmatch(str(meta.get("traceparent", ""))) if isinstance(meta, dict) else None
        if joined is not None:
            # The caller's own trace continues, as W3C Trace Context defines.
            trace, parent = joined[1], joined[2]
        start = int(columns["time_ns"][row])
        end = int(columns["time_ns"][answer]) if answer != NO_ROW else start
        name = (
            f"execute_tool {self._text(tool)}"
            if tool
            else self._text(" ".join(filter(None, (method, target)))) or "request"
        )
        events = self._findings(row) + (self._findings(answer) if answer != NO_ROW else [])
        span = self._span(trace, self._of_row(row), parent, self._text(name), start, end, facts, events, kind=_CLIENT)
        if failed:
            span["status"] = {"code": _ERROR}
        return capture.string("sender", row) or "", span

    def _model_call(self, row: int, key: tuple[int, int]) -> tuple[str, Json]:
        """Returns the span of a model call with reported tokens."""
        capture, usage = self._capture, self._analysis.usage
        one = np.array([row])
        given, output, read, write = (
            max(0, int(usage.numbers_at(name, one)[0])) for name in ("input", "output", "cache_read", "cache_write")
        )
        model = str(FIELD_BY_NAME["model"].value(self._analysis, row) or "")
        facts = {
            "gen_ai.operation.name": "chat", "gen_ai.request.model": self._text(model) or None,
            "gen_ai.usage.input_tokens": given + read + write, "gen_ai.usage.output_tokens": output,
            "gen_ai.usage.cache_read.input_tokens": read, "gen_ai.usage.cache_write.input_tokens": write,
            "gen_ai.agent.name": self._text(capture.string("sender", row) or "") or None,
            **self._message_attributes(row),
        }  # fmt: skip
        if self._content and (text := message_text(capture, row)):
            said = [{"role": "assistant", "parts": [{"type": "text", "content": self._text(text[:_LONGEST_TEXT])}]}]
            facts["gen_ai.output.messages"] = json.dumps(said, ensure_ascii=False)
        time_ns = int(capture.columns["time_ns"][row])
        # Only the time of the report is known, so the span has no length.
        name, trace, parent = f"chat {self._text(model)}".strip(), self._trace(key[0]), self._of_node(*key)
        span = self._span(trace, self._of_row(row, "model"), parent, name, time_ns, time_ns, facts, self._findings(row))
        return capture.string("sender", row) or "", span

    # Events

    def _event(self, row: int) -> Json:
        """Returns the event of a message that is not a call."""
        capture = self._capture
        facts: Json = {
            "mew.from": self._text(capture.string("sender", row) or "") or None,
            "mew.to": self._text(", ".join(capture.recipients(row))) or None, **self._message_attributes(row),
        }  # fmt: skip
        if self._content and (text := message_text(capture, row)):
            facts["content"] = self._text(text[:_LONGEST_TEXT])
        kind = self._text(capture.string("kind", row) or "message")
        return self._event_of(kind, int(capture.columns["time_ns"][row]), facts)

    def _findings(self, row: int) -> list[Json]:
        time_ns = int(self._capture.columns["time_ns"][row])
        return [
            self._event_of("finding", time_ns, {
                "mew.finding": found.code, "mew.finding.severity": found.severity.word,
                "mew.finding.text": self._text(found.text), **self._message_attributes(row),
            })
            for found in self._analysis.findings.findings_about(row)
        ]  # fmt: skip

    def _message_attributes(self, row: int) -> Json:
        capture = self._capture
        return {"mew.no": row + 1, "mew.kind": self._text(capture.string("kind", row) or "") or None}

    # Encoding

    def _span(
        self, trace: str, identifier: str, parent: str, name: str, start: int, end: int, facts: Json,
        events: list[Json], *, kind: int = _INTERNAL,
    ) -> Json:  # fmt: skip
        start = 0 if start == NO_TIME else start
        return {
            "traceId": trace, "spanId": identifier, "parentSpanId": parent, "name": self._text(name), "kind": kind,
            "startTimeUnixNano": str(max(start, 0)), "endTimeUnixNano": str(max(start, end, 0)),
            "attributes": self._attributes(facts), "events": events, "status": {},
        }  # fmt: skip

    def _event_of(self, name: str, time_ns: int, facts: Json) -> Json:
        return {"name": name, "timeUnixNano": str(max(0, time_ns)), "attributes": self._attributes(facts)}

    def _attributes(self, facts: Json) -> list[Json]:
        """Encodes attributes, with secrets masked."""
        return [
            {"key": key, "value": _otlp_value(self._text(value) if isinstance(value, str) else value)}
            for key, value in facts.items()
            if value is not None
        ]

    def _trace(self, space: int) -> str:
        return _hashed(f"space {self._capture.strings[space]}", 16)

    def _of_node(self, space: int, node: int) -> str:
        path = "" if node == MAIN else self._analysis.contexts.tree.path(node)
        return _hashed(f"context {self._capture.strings[space]}\0{path}", 8)

    def _of_row(self, row: int, sort: str = "message") -> str:
        # Ids are hashes, so that a second export gives the same spans.
        source = self._capture.sources[int(self._capture.columns["source"][row])].name
        return _hashed(f"{sort} {source}\0{row}", 8)

    def _text(self, text: str) -> str:
        return self.redaction.mask_text(text)

    def _json(self, value: Any) -> str:
        return json.dumps(self.redaction.mask_value(value), ensure_ascii=False)[:_LONGEST_TEXT]


def write_traces(writer: TraceWriter, target: Path) -> Steps:
    """Writes spans to a file atomically, in steps; compresses by extension.

    Raises:
        OSError: it cannot be written; the old file is unchanged.
    """
    size = 0
    with open_replacement(target) as file, compressing(file, target.name) as stream:
        for line in writer.line_steps():
            size += 0 if line is None else stream.write(line[0] + b"\n")
            yield Exported(0, size, writer.redaction.tally)
    yield Exported(writer.messages, target.stat().st_size, writer.redaction.tally, writer.spans)


def _hashed(text: str, size: int) -> str:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=size).hexdigest()


def _otlp_value(value: Any) -> Json:
    if isinstance(value, bool):
        return {"boolValue": value}
    # OTLP/JSON writes 64-bit integers as strings.
    return {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value}
