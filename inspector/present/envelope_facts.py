"""Facts of an envelope: id, correlations, context, deliveries and verdicts; also texts to copy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.filters.strings import quote
from inspector.formats.line_reading import read_line
from inspector.present import formats
from inspector.present.facts import Fact, FactPart, fact, message_part
from inspector.present.formats import full_time, time_of_day
from inspector.present.places import ContextPlace
from inspector.present.subject import Subject
from inspector.present.token_facts import message_tokens
from inspector.protocol import msp
from inspector.protocol.context_places import PLACE_EXPLANATIONS, PLACE_NAMES, ContextSource
from inspector.protocol.participants import capability_lines
from inspector.protocol.payloads.outline import value_text
from inspector.protocol.secrets.masking import MASK, mask_text
from inspector.protocol.timestamps import NO_TIME
from inspector.store.columns.flags import Flag
from inspector.store.messages.capture import Capture, Sighting

_MOST_CORRELATIONS = 4
_MOST_LABELS = 12
_MOST_SIGHTINGS = 8
_LONGEST_SIGHTING = 1 << 16
_LONGEST_QUOTED = 500
_NO_ENVELOPE = Flag.RPC | Flag.LOG_ONLY | Flag.FRAME | Flag.JOIN | Flag.UNREADABLE | Flag.GAP
_CLOCKS_DIFFER_NS = 50_000_000


def envelope_facts(subject: Subject) -> list[Fact]:
    """Returns names and values of the envelope."""
    capture, message = subject.capture, subject.message
    rows: list[Fact] = []
    found = identifier(subject)
    if found is not None:
        no_id = bool(subject.flags & Flag.NO_ID)
        missing = fact("Id", "none", "dim") if subject.is_derived else fact(
            "Id", "missing, but required", "warn", lines=2
        )  # fmt: skip
        name = missing if no_id else fact(
            "Id", found, "mono", middle=True, filter=_filter("id ==", found)
        )  # fmt: skip
        rows.append(name)
    if subject.flags & Flag.RPC and "id" in subject.payload:
        rows.append(fact("JSON-RPC id", repr(subject.payload["id"]).strip("'"), "mono"))
    if not subject.flags & _NO_ENVELOPE:
        rows += _correlations(subject)
    protocol = capture.string("protocol", message)
    if protocol:
        rows.append(fact("Protocol", protocol, "mono", filter=_filter("protocol ==", protocol)))
    raw_kind = capture.string("kind_raw", message)
    # Dialects spell kinds differently; the page's title has the canonical one.
    if raw_kind and raw_kind != subject.kind:
        rows.append(fact("Kind", raw_kind, "mono", middle=True, filter=_filter("kind.raw ==", raw_kind)))
    if not subject.flags & (Flag.UNREADABLE | Flag.GAP):
        rows.append(_context(subject))
        rows += _context_source_facts(subject)
    if len(subject.analysis.contexts.spaces) > 1 and (space := capture.string("space", message)):
        rows.append(fact("Space", space))
    rows += _times(subject)
    rows += message_tokens(subject.analysis, message)
    source = capture.sources[int(capture.columns["source"][message])]
    if len(capture.sources) > 1:
        rows.append(fact("Source", source.name, filter=_filter("source ==", source.name)))
        rows += _sightings(subject)
    rows += _exchange(subject)
    if subject.flags & Flag.UNREADABLE:
        rows.append(
            fact("In the file", f"byte {formats.number(int(capture.columns['offset'][message]))} of {source.name}")
        )
    if subject.flags & Flag.SENT:
        rows.append(fact("Direction", "sent by this program"))
    if subject.flags & Flag.COPIES_DIFFER:
        rows.append(fact("Copies", "differ from one another in the log", "warn"))
    return rows + [_verdict(v) for v in subject.document.decisions.decisions_on(message)[:8]]


def _sightings(subject: Subject) -> list[Fact]:
    """Lists other sources with the message, with times by the document's clock and differing content."""
    capture, rows = subject.capture, list[Fact]()
    for one in capture.sightings_of(subject.message)[:_MOST_SIGHTINGS]:
        name = capture.sources[one.source].name
        when = "" if NO_TIME in (one.time_ns, subject.time_ns) else f", {formats.delta(one.time_ns - subject.time_ns)}"
        rows.append(fact("Seen by", f"{name}{when}", filter=_filter("seen_by ==", name)))
        if one.has_other_bytes:
            rows.append(fact("Text there", mask_text(_said_there(capture, one)), "warn", lines=4))
    return rows


def _said_there(capture: Capture, one: Sighting) -> str:
    """Returns the start of the envelope in another source."""
    # Only the start: the record may have megabytes, and a row shows four lines.
    record = read_line(capture.sources[one.source].read(one.offset, min(one.length, _LONGEST_SIGHTING)))
    return record.raw[:_LONGEST_QUOTED].decode("utf-8", "replace")


def _exchange(subject: Subject) -> list[Fact]:
    """Describes the HTTP exchange of a message, and the id of its server-sent event."""
    capture, row = subject.capture, np.array([subject.message], np.int64)
    names = ("number", "status", "method", "path", "first_us", "whole_us")
    number, status, method, path, first, whole = (int(capture.extracted.exchanges(name, row)[0]) for name in names)
    if not number:
        return []
    asked = " ".join(capture.strings[code] for code in (method, path) if code)
    words = f"No. {number}" + (f", status {status}" if status else "")
    words += f", answered after {formats.latency(1_000 * first)}" if first else ""
    words += f", over after {formats.latency(1_000 * whole)}" if whole else ""
    rows = (
        [fact("HTTP", asked, "mono", middle=True, filter=_filter("http.path ==", capture.strings[path]))]
        if asked
        else []
    )
    rows.append(
        fact("Exchange", words, "bad" if status >= _HTTP_FAILED else "plain", filter=f"http.exchange == {number}")
    )
    event = capture.records.read_record(subject.message).event_id
    return [*rows, fact("Event id", event, "mono", middle=True)] if event else rows


_HTTP_FAILED = 400  # statuses from here on are errors


def _filter(words: str, value: str) -> str | None:
    """Returns a filter for a value unless the value is too long."""
    return f"{words} {quote(value)}" if len(value) <= _LONGEST_QUOTED else None


def _correlations(subject: Subject) -> list[Fact]:
    ids = subject.capture.records.correlation_ids(subject.message)
    if not ids:
        return [fact("Correlation", "none", "dim")]
    rows: list[Fact] = []
    for place, wanted in enumerate(ids[:_MOST_CORRELATIONS]):
        parts = (*_correlation_target(subject, wanted), FactPart(wanted, "mono"))
        rows.append(
            Fact(
                "Correlation" if not place else " ",
                parts,
                tooltip=wanted,
                copy=wanted,
                filter=_filter("correlation ==", wanted),
            )
        )
    if len(ids) > _MOST_CORRELATIONS:
        rows.append(fact(" ", f"{len(ids) - _MOST_CORRELATIONS} more, see Tree", "dim"))
    return rows


def _correlation_target(subject: Subject, wanted: str) -> tuple[FactPart, ...]:
    """Links a correlation id to its message, or describes its target."""
    rows = subject.capture.records.find_id(wanted)
    if not rows and subject.capture.records.correlation_ids(subject.message) == [wanted]:
        rows = list(subject.causes)  # matched by a name that is no envelope id (`draft_names`)
    # Ids may be repeated; the matched cause is the right one.
    known = [row for row in rows if row in subject.causes] or [row for row in rows if row != subject.message]
    if known:
        return (message_part(known[-1]), FactPart("  "))
    space = int(subject.capture.columns["space"][subject.message])
    if subject.analysis.contexts.tree.find(space, wanted) != MAIN:
        return (FactPart("context  ", "dim"),)
    streams = subject.capture.strings.find(wanted)
    if streams and (subject.capture.columns["stream"] == streams).any():
        return (FactPart("stream  ", "dim"),)
    return (FactPart("not seen  ", "dim"),)


def _context_source_facts(subject: Subject) -> list[Fact]:
    """Shows a non-standard source of the context, and the context's labels."""
    contexts = subject.analysis.contexts
    source = ContextSource(int(contexts.context_places(slice(subject.message, subject.message + 1))[0]))
    labels = contexts.facts.labels_of(subject.node) if subject.node != MAIN else ()
    rows: list[Fact] = []
    if source in PLACE_EXPLANATIONS:
        rows.append(
            fact(
                "Context declared by",
                PLACE_EXPLANATIONS[source],
                lines=2,
                filter=_filter("context.told ==", PLACE_NAMES[source]),
            )
        )
    if labels:
        shown = ", ".join(labels[:_MOST_LABELS])
        rows.append(fact("Labels", shown, lines=2, filter=_filter("labels ==", labels[0])))
    return rows


def _context(subject: Subject) -> Fact:
    if subject.flags & Flag.BAD_CONTEXT:
        return fact("Context", "main, because it is neither text nor an object", "warn")
    if subject.node == MAIN:
        return fact("Context", "main", filter="!context")
    path = subject.analysis.contexts.tree.path(subject.node)
    place = ContextPlace(int(subject.capture.columns["space"][subject.message]), subject.node)
    return Fact("Context", (FactPart(path, "link", place=place),), middle=True, filter=_filter("context under", path))


def _times(subject: Subject) -> list[Fact]:
    rows: list[Fact] = []
    names = subject.capture.deliveries.recipients(subject.message)
    received = time_of_day(subject.time_ns)
    dated = formats.is_dated(subject.time_ns)
    if not dated and subject.time_ns != NO_TIME:
        received = f"at {formats.with_unit(formats.seconds(subject.time_ns))}, as the log counts"
    sent = int(subject.capture.columns["ts_ns"][subject.message])
    parts: list[FactPart] = [FactPart(received)] if received else []
    tooltip = full_time(subject.time_ns)
    if names:
        parts.append(FactPart(f"{', ' if parts else ''}delivered to {len(names)}"))
        tooltip = "\n".join(filter(None, (tooltip, "delivered to " + ", ".join(names))))
    if parts:
        # Without a time from the log, only the sender's own time is known.
        arrived = subject.capture.records.read_record(subject.message).time_ns != NO_TIME
        name = "Received" if arrived else "Sent"
        name = "Written" if subject.capture.string("protocol", subject.message) == msp.PROTOCOL else name
        rows.append(Fact(name, tuple(parts), tooltip=tooltip, copy=full_time(subject.time_ns)))
    if not dated and sent != NO_TIME and sent != subject.time_ns:
        rows.append(fact("Sent", time_of_day(sent), tooltip=f"{full_time(sent)}\nby the sender's own clock"))
    elif NO_TIME not in (sent, subject.time_ns) and abs(sent - subject.time_ns) >= _CLOCKS_DIFFER_NS:
        away = formats.duration(abs(subject.time_ns - sent))
        words = f"{time_of_day(sent)}, {away} {'before' if sent < subject.time_ns else 'after'}"
        rows.append(fact("Sent", words, tooltip=f"{full_time(sent)}\nby the sender's own clock"))
    return rows


def _verdict(decision: Mapping[str, Any]) -> Fact:
    """Shows one decision of the gateway."""
    allowed = decision.get("result") == "allowed"
    matched = capability_lines([decision["matched_capability"]]) if decision.get("matched_capability") else []
    needed = str(decision.get("required_capability") or "")
    words = (
        f"allowed by {matched[0]}"
        if allowed and matched
        else "allowed"
        if allowed
        else f"{decision.get('result') or 'refused'}"
    )
    if not allowed and needed:
        words += f", needs {needed}"
    source = decision.get("matched_source")
    tooltip = "\n".join(
        [
            f"required: {needed}",
            *(f"holds {p}" for p in capability_lines(decision.get("granted_capabilities"))),
            f"source: {source}",
        ]
    )
    return fact("Capability", words, "plain" if allowed else "bad", lines=2, tooltip=tooltip)


_VISIBLE = {
    msp.MAIN_ONLY: "in the main chat only",
    msp.SUBSESSION_ONLY: "in its sub-session only",
    msp.GLOBAL: "everywhere",
}


def visibility_facts(subject: Subject) -> list[Fact]:
    """Shows the visibility of a session message; empty for other messages."""
    if subject.capture.string("protocol", subject.message) != msp.PROTOCOL:
        return []
    value = subject.payload.get("visibility")
    if value is None or value == "":
        return [fact("Visibility", "not stated", "dim")]
    written = value_text(value)
    words = _VISIBLE.get(written) if isinstance(value, str) else None
    filter_ = f'visibility == "{written}"' if words else None
    shown = f"{written}: {words}" if words else written
    return [fact("Visibility", shown, "plain" if words else "warn", filter=filter_)]


def identifier(subject: Subject) -> str | None:
    """Returns the envelope's id, masked, if any."""
    found = subject.capture.records.envelope_id(subject.message)
    return None if found is None else mask_text(found)


def as_filter(subject: Subject) -> str:
    """Returns a filter for this message: by id, else by number."""
    found = identifier(subject)
    # A masked id would find no message.
    return f"id == {quote(found)}" if found and MASK not in found else f"no == {subject.message + 1}"
