"""Format: OpenTelemetry traces as messages: calls of models and tools, agents, in all conventions.

A record is a document or a line of OTLP (`spans`) with any number of spans. Their relations are resolved within the
record; for relations across records, `formats.otlp.conversion` adds the facts to each before. Mapping:
docs/transcripts.md, OpenTelemetry.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from inspector.formats.entry_builders import (
    CHAT,
    Entry,
    call_entry,
    control_entry,
    decoded_object,
    payload_at,
    result_entry,
    text_entry,
)
from inspector.formats.model_vocabulary import USER
from inspector.formats.otlp import content
from inspector.formats.otlp.conventions import (
    SpanRole,
    arguments_of,
    call_id_of,
    call_name,
    conversation_of,
    cost_of,
    error_of,
    exception_words,
    exceptions_of,
    model_of,
    result_of,
    role_of,
    service_of,
    tool_of,
    usage_of,
    waits_for_disconnect,
)
from inspector.formats.otlp.message_marks import (
    answer_entries,
    at_time,
    call_mark,
    given_entries,
    result_mark,
    set_mark,
)
from inspector.formats.otlp.repeated_spans import numbered
from inspector.formats.otlp.span_relations import FACTS_KEY, Resolved, resolve_spans
from inspector.formats.otlp.spans import Span, holds_spans, spans_in
from inspector.formats.vocabulary import ENDED_WELL
from inspector.protocol import kinds
from inspector.protocol.derived_messages import MAX_DERIVED_MESSAGES, Payload, Spawn
from inspector.protocol.record import Record, Shape
from inspector.protocol.timestamps import NO_TIME

LABEL = "otlp"

NOT_RECORDED = "content not recorded"
LOST_PARENT = "parent missing"
_MARKS = (b'"resourceSpans"', b'"resource_spans"', b'"batches"', b'"resourceLogs"', b'"resourceMetrics"', b'"traceID"')
_NAMED = {
    "span": "otlp/span",
    "agent": "otlp/agent",
    "log": "otlp/log",
    "event": "otlp/event",
    "metrics": "otlp/metrics",
}
SPOKEN = {kind: "log record" if sort == "log" else sort for sort, kind in _NAMED.items()} | {
    "otlp/duplicate": "duplicate id"
}
"""Words for the kinds of these rows."""
DUPLICATE = "otlp/duplicate"
"""Kind of the row beside a span whose id another one has."""
FAILING_KINDS = tuple(kind for sort, kind in _NAMED.items() if sort != "metrics")
"""Kinds of rows that may report a failure."""
_PENDING = "not ended yet"
"""Statuses of spans; a failure has its reason as status."""


def read(line: bytes, *, unknown: bool = False) -> Record | None:
    """Reads an object if it has spans. Never raises.

    Args:
        line: without its end.
        unknown: no effect: the spans identify the format.
    """
    # A byte search first, as this reader sees lines of all formats.
    if not any(mark in line for mark in _MARKS):
        return None
    value = decoded_object(line)
    if value is None or not holds_spans(value):
        return None
    if (
        FACTS_KEY in value and not value.get("resourceSpans") and "resourceLogs" not in value
    ):  # the beginning of a recording
        return Record(Shape.NO_MESSAGE, line, derived_by=LABEL)
    entries, trace = _entries(value)
    if not entries:  # start of a model call with unrecorded input
        return Record(Shape.NO_MESSAGE, line, derived_by=LABEL)
    means = tuple(entry.meaning for entry in entries[:MAX_DERIVED_MESSAGES])
    return Record(Shape.DERIVED, line, space=_space_of(trace), derived_messages=means, derived_by=LABEL)


def _space_of(trace: str) -> str | None:
    """Returns the space of a trace. Ids of some programs begin with the word already."""
    return (trace if trace.startswith("trace") else f"trace {trace}") if trace else None


def payload(line: bytes, number: int) -> Payload:
    """Returns the payload of message `number` of a record, from 0. Never raises."""
    return payload_at(line, number, _entries_alone)


def _entries_alone(value: Mapping[str, Any]) -> list[Entry]:
    return _entries(value)[0]


def _entries(value: Mapping[str, Any]) -> tuple[list[Entry], str]:
    """Returns the messages of a record in time order, and their trace."""
    spans = spans_in(value)
    if not spans:
        named = "metrics" if "resourceMetrics" in value else "span"
        entry = control_entry(
            _NAMED[named], "opentelemetry", f"{named}, not shown" if named == "metrics" else "no spans", {}
        )
        return [entry], ""
    told = _told(value)
    resolved = [told] if told is not None and len(spans) == 1 else resolve_spans(spans)
    for span, known in zip(spans, resolved, strict=True):
        span.parent = known.placed_in if known.lost_parent else span.parent
    pairs = [(numbered(span, known.number), known) for span, known in zip(spans, resolved, strict=True)]
    # Sorted by start, since exporters write a span when it ends.
    pairs.sort(key=lambda pair: pair[0].start_ns)
    found = [entry for span, known in pairs for entry in _of_span(span, known)]
    trace = next((span.trace for span in spans if span.trace), "")
    return found, trace


def _told(value: Mapping[str, Any]) -> Resolved | None:
    """Returns the facts about its span in a line of this program."""
    given = value.get(FACTS_KEY)
    try:
        return msgspec.convert(given, Resolved) if isinstance(given, dict) else None
    except (msgspec.ValidationError, UnicodeEncodeError):  # half of a surrogate pair
        return None


def _of_span(span: Span, known: Resolved) -> Iterator[Entry]:
    role = role_of(span)
    # Only the innermost span of a model call is shown as the call.
    if role is SpanRole.MODEL and not known.around:
        entries = _model_call(span, known)
    elif role is SpanRole.TOOL and not known.within_call:
        entries = _tool_call(span, known)
    else:
        entries = _other(span, known, role)
    entries = list(entries) or list(_other(span, known, role))  # a call that goes on, without recorded input
    if span.number and known.phase != "start":
        words = f"{span.name}: another span of this trace has its id {span.identifier.partition('#')[0]}"
        entries.append(at_time(control_entry(DUPLICATE, _speaker(span, known), words, {}), span.end_ns, False))
    if known.lost_parent and entries:
        entries[0].payload["lost_parent"] = known.lost_parent
    if span.parent:
        for entry in entries:
            entry.meaning.context = entry.meaning.context or span.parent
    if known.holds and entries and span.identifier:
        entries[-1].meaning.spawn = Spawn(
            agent=span.identifier, parent=span.parent or None, label=_label(span, role), type=role.value,
            has_ended=known.phase in ("end", ""), has_failed=span.failed,
        )  # fmt: skip
    # Ends of other spans have no row, so the last row carries them.
    for end in known.ends if entries else ():
        last = entries[-1].meaning
        last.spawn = Spawn(agent=end.span, has_ended=True, has_failed=end.failed, next_spawn=last.spawn)
    yield from entries


def _label(span: Span, role: SpanRole) -> str:
    return (tool_of(span) if role is SpanRole.TOOL else None) or span.name or role.value


def _speaker(span: Span, known: Resolved) -> str:
    return known.agent or service_of(span)


# Calls of models


def _model_call(span: Span, known: Resolved) -> Iterator[Entry]:
    """Yields the recorded input and output of a model call; its tokens are on the last message."""
    speaker = _speaker(span, known)
    seen = Counter(known.seen)
    given = known.given if known.given is not None else content.input_messages(span)
    told = [set_mark(entry, span.start_ns, speaker, span.trace, seen) for one in given for entry in given_entries(one)]
    if known.phase != "end":
        yield from told
    if known.phase == "start":
        return
    said = content.with_call_ids(content.output_messages(span), known.called)
    answers = [entry for message in said for entry in answer_entries(message)]
    entries = [set_mark(entry, span.end_ns, speaker, span.trace, seen) for entry in answers]
    for place, entry in enumerate(entries):
        # calls are identified by their ids, since other spans contain them too
        if entry.meaning.kind not in (kinds.REQUEST, kinds.RESPONSE):
            entry.meaning.is_new, entry.meaning.origin = True, f"{span.trace} {span.identifier} {place}"
    if not entries or span.failed:
        why = error_of(span)
        words = f"{span.name}: {why or NOT_RECORDED}"
        entry = text_entry(CHAT if why is None else "system/error", speaker, USER, words)
        entry.payload.update({"model": model_of(span)} if why is None else {"error": why, "message": words})
        if why is not None:
            entry.payload.update(exceptions_of(span))
        entry.meaning.is_unrecorded = why is None
        entries.append(at_time(entry, span.end_ns, why is not None))
    # A call without any duration is known by its end alone.
    entries[-1].meaning.call, entries[-1].meaning.took_ns = usage_of(span), _duration_ns(span) or -1
    entries[-1].meaning.cost = cost_of(span)
    yield from entries


# Calls of tools


def _tool_call(span: Span, known: Resolved) -> Iterator[Entry]:
    speaker, called, tool = _speaker(span, known), known.call or call_id_of(span), tool_of(span)
    trace = span.trace
    if known.phase != "end":
        arguments = arguments_of(span)
        entry = call_entry(called, tool, arguments, speaker)
        if arguments is None:
            entry.meaning.is_unrecorded = True
            # Unrecorded arguments are not the same as empty ones.
            del entry.payload["params"]["arguments"]
        entry.meaning.identity, entry.meaning.own_span = call_mark(trace, called), True
        yield at_time(entry, span.start_ns, False)
    if known.phase == "start":
        return
    why = error_of(span)
    # An error counts more than a result recorded beside it.
    result = why if why is not None else result_of(span)
    entry = result_entry(
        called, result if result is not None else NOT_RECORDED, speaker, name=tool, failed=why is not None
    )
    entry.meaning.identity, entry.meaning.own_span = result_mark(trace, called), True
    entry.meaning.is_unrecorded = result is None
    entry.meaning.took_ns = _duration_ns(span)
    if why is not None:
        entry.payload.update(exceptions_of(span))
    yield at_time(entry, span.end_ns, why is not None)


def _duration_ns(span: Span) -> int:
    """Returns how long a span took, or -1 where it does not say when it began or ended."""
    return span.end_ns - span.start_ns if span.ended and NO_TIME not in (span.start_ns, span.end_ns) else -1


# Agents and other spans


def _other(span: Span, known: Resolved, role: SpanRole) -> Iterator[Entry]:
    sort = "log" if span.is_log else "agent" if role is SpanRole.AGENT else "span"
    speaker = _speaker(span, known)
    why = error_of(span)
    if known.phase != "end":
        facts = {
            "attributes": span.attributes, "service": service_of(span),
            **({"conversation": named} if (named := conversation_of(span)) else {}),
            **({} if span.is_log else _status(span, why)),
        }  # fmt: skip
        ended = known.phase in ("", "whole") and not span.is_log
        took = f", {(span.end_ns - span.start_ns) / 1e6:,.0f} ms" if ended and span.start_ns != NO_TIME else ""
        words = f"{span.name} begins" if known.phase == "start" else f"{span.name}{took}"
        if isinstance(body := span.attributes.get("body"), str):
            words = f"{span.name}: {body}"
        words += f", {LOST_PARENT}" if known.lost_parent else ""
        entry = control_entry(_NAMED[sort], speaker, words, facts)
        entry.meaning.to = (known.asker,) if known.asker and role is SpanRole.AGENT else None
        if known.counts and known.phase != "start":
            entry.meaning.call, entry.meaning.cost = usage_of(span), cost_of(span)
            entry.meaning.call.attempts = call_name(span.trace, known.inner) or None  # it represents that call
        # A duration beside a report would be that of a model call.
        if ended and not waits_for_disconnect(span) and (entry.meaning.call is None or role is SpanRole.MODEL):
            entry.meaning.took_ns = _duration_ns(span)
        if why is not None and ended:
            entry.payload["text"] = f"{words}, {why if why == 'failed' else f'failed: {why}'}"
            entry.payload.update(exceptions_of(span))
        # A failure within is shown at the inner span only.
        yield at_time(entry, span.start_ns, why is not None and ended and not known.failed_within)
    if known.phase == "end":
        yield at_time(
            control_entry(_NAMED[sort], speaker, f"{span.name} ended{f': {why}' if why else ''}", {}),
            span.end_ns,
            why is not None,
        )
    if known.phase != "start":
        for event in span.events:
            told_by_span = event.name == "exception" and why is not None
            if not event.name.startswith("gen_ai.") and not told_by_span:
                told = exception_words(event) or str(event.attributes.get("message") or "")
                entry = control_entry(_NAMED["event"], speaker, f"{event.name}: {told}" if told else event.name,
                                      {"attributes": event.attributes})  # fmt: skip
                # A cancelled task that its span survives is how programs stop waiting.
                canceled = str(event.attributes.get("exception.type")).endswith("CancelledError")
                yield at_time(entry, event.time_ns, event.name == "exception" and not canceled)


def _status(span: Span, why: str | None) -> dict[str, Any]:
    """Returns the id of a span, its duration and its status."""
    took = _duration_ns(span)
    told = {"span": span.identifier, **({"duration_ms": took / 1e6} if took >= 0 else {})}
    return {**told, "status": why or (ENDED_WELL if span.ended else _PENDING)}
