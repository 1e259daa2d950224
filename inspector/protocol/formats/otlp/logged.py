"""What was said in calls of models, where it was told by records of a log and not by the spans themselves.

OpenTelemetry's conventions let content be an event of a log that names the span: once
`gen_ai.client.inference.operation.details`, before it one for each message (`gen_ai.user.message`, `gen_ai.choice`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from inspector.protocol.formats.otlp.spans import Span, spans_in

_DETAILS = "gen_ai.client.inference.operation.details"
_OURS = "gen_ai."


def with_content(spans: Sequence[Span]) -> list[Span]:
    """Spans with what records of logs among them tell of each, which are left out; all others as they are."""
    called = {(span.trace, span.identifier) for span in spans if not span.is_log}
    told = defaultdict[tuple[str, str], list[Span]](list)
    for span in spans:
        if span.is_log and span.name.startswith(_OURS) and (span.trace, span.parent) in called:
            told[span.trace, span.parent].append(span)
    if not told:
        return list(spans)
    taken = {id(record) for records in told.values() for record in records}
    return [
        span if span.is_log or not (records := told.get((span.trace, span.identifier))) else _with(span, records)
        for span in spans
        if id(span) not in taken
    ]


def _with(span: Span, records: Sequence[Span]) -> Span:
    """A span as it would be had it told the events itself."""
    held = span.given["resourceSpans"][0]
    scope = held["scopeSpans"][0]
    one = dict(scope["spans"][0])
    attributes, events = _listed(one.get("attributes")), _listed(one.get("events"))
    for record in sorted(records, key=lambda record: record.start_ns):
        written = record.given["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0]
        own = _listed(written.get("attributes"))
        if record.name == _DETAILS:
            attributes += [pair for pair in own if isinstance(pair, Mapping) and pair.get("key") not in span.attributes]
        else:
            time = str(record.start_ns)
            events.append({"name": record.name, "timeUnixNano": time, "attributes": [*own, *_body(written)]})
    one.update(attributes=attributes, events=events)
    return spans_in({"resourceSpans": [{**held, "scopeSpans": [{**scope, "spans": [one]}]}]})[0]


def _body(written: Mapping[str, Any]) -> list[Any]:
    """The members of a record's body, written as attributes are."""
    body = written.get("body")
    pairs = body.get("kvlistValue", body.get("kvlist_value")) if isinstance(body, Mapping) else None
    return _listed(pairs.get("values")) if isinstance(pairs, Mapping) else []


def _listed(value: object) -> list[Any]:
    return list(value) if isinstance(value, list) else []
