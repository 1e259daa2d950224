"""Merges log records with content into their spans of model calls.

In OpenTelemetry's conventions, content may be an event of a log that names the span: a single
`gen_ai.client.inference.operation.details`, or earlier one event per message (`gen_ai.user.message`, `gen_ai.choice`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from inspector.formats.otlp.spans import Span, spans_in

_DETAILS = "gen_ai.client.inference.operation.details"
_OURS = "gen_ai."


def with_content(spans: Sequence[Span]) -> list[Span]:
    """Returns spans with the content of their log records, without these records; others unchanged."""
    called = {(span.trace, span.identifier) for span in spans if not span.is_log}
    told = defaultdict[tuple[str, str], list[Span]](list)
    for span in spans:
        if span.is_log and span.name.startswith(_OURS) and (span.trace, span.parent) in called:
            told[span.trace, span.parent].append(span)
    if not told:
        return list(spans)
    # By identity, since equal records may occur twice.
    taken = {id(record) for records in told.values() for record in records}
    return [
        span if span.is_log or not (records := told.get((span.trace, span.identifier))) else _with(span, records)
        for span in spans
        if id(span) not in taken
    ]


def _with(span: Span, records: Sequence[Span]) -> Span:
    """Returns a span as if it contained the events itself."""
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
    """Returns the members of a record's body in the form of attributes."""
    body = written.get("body")
    pairs = body.get("kvlistValue", body.get("kvlist_value")) if isinstance(body, Mapping) else None
    return _listed(pairs.get("values")) if isinstance(pairs, Mapping) else []


def _listed(value: object) -> list[Any]:
    return list(value) if isinstance(value, list) else []
