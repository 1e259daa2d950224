"""Facts of participants: presence, trust, waits, tools, latency, reports, kinds, and welcomes of gateways."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from inspector.analysis.passes.participants.participant_pass import Participant
from inspector.analysis.views.account.unanswered import pending_age_ns
from inspector.analysis.views.latency.latency import Latency
from inspector.analysis.views.latency.server_tools import ToolUse
from inspector.analysis.views.summaries.participant_queries import Tool
from inspector.document.document import CaptureDocument
from inspector.document.participant_summary import ParticipantStory
from inspector.filters.strings import quote
from inspector.present import formats
from inspector.present.capability_facts import MAX_EVENTS, MAX_ROWS
from inspector.present.chain_rows import ChainRow
from inspector.present.facts import Fact, FactPart, Ink, fact, message_part, value_facts
from inspector.present.formats import delta, log_moment
from inspector.present.subject import Subject, name_of, recipients, sender_of
from inspector.present.token_facts import sender_tokens
from inspector.present.wire_text import safe_line
from inspector.protocol.participants import GATEWAY_IDS, capability_lines, permissions_in_words
from inspector.protocol.payloads.outline import value_text
from inspector.protocol.secrets.masking import mask_secrets, mask_text
from inspector.protocol.timestamps import NO_TIME
from inspector.store.messages.capture import Capture


@dataclass(frozen=True, slots=True)
class FigureRow:
    """A row of figures.

    Attributes:
        name: at the left.
        values: one text per column.
        mono: the name is from the wire.
        filter: display filter of the row; "" without one.
    """

    name: str
    values: tuple[str, ...]
    mono: bool = True
    filter: str = ""


_PERCENTILES = ("p50", "p95", "p99")
"""Percentiles; high ones need enough answers."""


def presence_rows(document: CaptureDocument, story: ParticipantStory) -> list[Fact]:
    """Shows presence, arrivals, departures, and first and last message."""
    participant = story.participant
    rows: list[Fact] = []
    for coming in participant.presence_changes[-MAX_EVENTS:]:
        when = log_moment(int(document.capture.columns["time_ns"][coming.row])) or "at an unknown time"
        last = coming == participant.presence_changes[-1]
        # Only the last arrival tells about the present.
        name = ("Here since" if last else "Joined") if coming.here else "Left"
        rows.append(fact(name, when, right=formats.message_number(coming.row), right_message=coming.row))
    if len(participant.presence_changes) > MAX_EVENTS:
        rows.insert(0, fact("Before that", f"{len(participant.presence_changes) - MAX_EVENTS} joins and leaves", "dim"))
    if participant.here is None:
        rows.append(fact("Presence", "invited, has not joined" if participant.is_invited else "never announced", "dim"))
        if participant.first_ns != NO_TIME:
            rows.append(fact("First seen", log_moment(participant.first_ns)))
    if participant.is_us:
        rows.append(fact("Who", "this program"))
    if document.capture.shown_name(participant.name) != participant.name:
        rows.append(fact("Id", participant.name, "mono", filter=f"from == {quote(participant.name)}"))
    if story.server:
        rows.append(fact("Server", safe_line(story.server, 200), lines=2))
    rows.append(fact("Messages", f"{participant.messages:,} sent" if participant.messages else "none sent"))
    rows += sender_tokens(document.analysis, participant.space, participant.name)
    for name, row in (("First", story.first), ("Last", story.last)):
        if row is not None and (name == "First" or row != story.first):
            rows.append(_message_row(document, name, row))
    return rows


def _message_row(document: CaptureDocument, name: str, row: int) -> Fact:
    name_or_text, mono = name_of(document.analysis, row)
    when = log_moment(int(document.capture.columns["time_ns"][row]))
    parts = (
        FactPart(f"{when}  " if when else "", "dim"),
        FactPart(safe_line(name_or_text, 120), "mono" if mono else "plain"),
    )
    return Fact(name, parts, right=formats.message_number(row), right_message=row)


# Waiting messages


def waiting_rows(document: CaptureDocument, rows: Sequence[int], *, to: bool) -> list[ChainRow]:
    """Lists waiting messages, latest first, with their ages.

    Args:
        document: the document.
        rows: the messages.
        to: shows the recipients, else the sender.
    """
    return [_waiting_row(document, row, to=to) for row in list(rows)[-MAX_EVENTS:][::-1]]


def _waiting_row(document: CaptureDocument, row: int, *, to: bool) -> ChainRow:
    capture = document.capture
    name, mono = name_of(document.analysis, row)
    age = pending_age_ns(document.analysis, row)
    who = f"to {recipients(capture, capture.recipients(row))}" if to else f"from {sender_of(capture, row)}"
    # Whole seconds: tenths would only flicker.
    whole = None if age is None else age if age < _SECOND else age // _SECOND * _SECOND
    when = "" if whole is None else formats.duration(whole).replace(".0 s", " s")
    tooltip = f"{name[:600]}\n{who}, without an answer for {when or 'an unknown time'}"
    kind = capture.string("kind", row) or ""
    return ChainRow(row, kind, when, safe_line(name, 160), mono, safe_line(who, 80), tooltip=tooltip)


_SECOND = 1_000_000_000


# Tools and reports


def tool_rows(story: ParticipantStory, name: str) -> list[Fact]:
    """Lists the tools it offers, with descriptions."""
    tools = story.tools or []
    rows = [row for tool in tools[:MAX_ROWS] for row in (_tool_row(tool, name), *_schema_rows(story, tool))]
    if len(tools) > MAX_ROWS:
        rows.append(fact("", f"{len(tools) - MAX_ROWS} more, see the list itself", "dim"))
    return rows or [fact("", "It offers no tools.", "dim")]


def _tool_row(tool: Tool, name: str) -> Fact:
    tool_name, about = safe_line(mask_text(tool.name), 120), mask_text(tool.description)
    wanted = f"from == {quote(name)} && tool == {quote(tool.name)}"
    if not about:
        return fact(tool_name, "no description", "dim", mono_name=True, filter=wanted)
    return fact(tool_name, safe_line(about, 600), lines=2, mono_name=True, tooltip=about, filter=wanted)


def _schema_rows(story: ParticipantStory, tool: Tool) -> list[Fact]:
    """Shows a tool's arguments and hints."""
    if story.offered is None:
        return []
    takes = ", ".join(story.offered.arguments.get(tool.name, ()))
    hints = ", ".join(story.offered.hints.get(tool.name, ()))
    rows = [fact(" ", safe_line(mask_text(takes), 400), "mono", lines=2)] if takes else []
    return [*rows, fact(" ", hints, "dim", lines=2)] if hints else rows


def tool_use_rows(story: ParticipantStory, name: str) -> list[FigureRow]:
    """Shows calls, failures, latency and definition size by tool; the header first.

    Called but unlisted tools come last. Empty columns are left out.
    """
    listed = [tool.name for tool in story.tools or ()]
    tokens = story.offered.tokens if story.offered is not None else {}
    # Used tools first, then unused ones, then tools that were never listed.
    names = [*dict.fromkeys([*(one for one in story.tool_use if one in listed), *listed, *story.tool_use])][:MAX_ROWS]
    rows = [(tool, _use_figures(story.tool_use.get(tool), tokens.get(tool))) for tool in names]
    # Most participants have no failures and no counted tokens.
    some = [
        place
        for place, title in enumerate(_USE_COLUMNS)
        if title in _ALWAYS_SHOWN or any(row[place] for _, row in rows)
    ]
    head = FigureRow("Tool", tuple(_USE_COLUMNS[place] for place in some), mono=False)
    return [head, *(
        FigureRow(
            safe_line(mask_text(tool), 160), tuple(row[place] for place in some),
            filter=f"tool == {quote(tool)} && (from == {quote(name)} || to == {quote(name)})",
        )
        for tool, row in rows
    )]  # fmt: skip


_USE_COLUMNS = ("Calls", "Failed", "Median", "p95", "Tokens")
_ALWAYS_SHOWN = ("Calls", "Median")


def _use_figures(use: ToolUse | None, tokens: int | None) -> tuple[str, ...]:
    """Returns the values for _USE_COLUMNS; "" if unknown or zero."""
    latency = use.latency if use is not None else None
    took = [latency.percentile(part) if latency is not None else None for part in ("p50", "p95")]
    return (
        formats.number(use.calls if use is not None else 0),
        formats.number(use.failed) if use is not None and use.failed else "",
        *("" if one is None else formats.duration(round(one * 1_000_000)) for one in took),
        formats.number(tokens) if tokens is not None else "",
    )


def change_of_tools_rows(document: CaptureDocument, story: ParticipantStory) -> list[Fact]:
    """Lists changes of its tools, latest first."""
    changes = story.offered.changes if story.offered is not None else ()
    rows: list[Fact] = []
    for one in changes[-MAX_ROWS:][::-1]:
        when = log_moment(int(document.capture.columns["time_ns"][one.row]))
        words = ", ".join((*one.what, *([f"at {when}"] if when else [])))
        about = f"{formats.message_number(one.row)} differs from {formats.message_number(one.before)}"
        link = FactPart(words, "link", one.row)
        rows.append(Fact(safe_line(mask_text(one.tool), 120), (link,), lines=2, mono_name=True, tooltip=about))
    if len(changes) > MAX_ROWS:
        rows.append(fact("", f"{len(changes) - MAX_ROWS} before", "dim"))
    return rows


def latency_rows(story: ParticipantStory, name: str) -> list[FigureRow]:
    """Shows latencies by tool, then for all answers; the header first."""
    told = (*story.latency.values(), *([story.answered] if story.answered is not None else []))
    # A p99 of ten answers would be their maximum under another name.
    known = [part for part in _PERCENTILES if any(latency.percentile(part) is not None for latency in told)]
    rows = [FigureRow("Tool", ("Answers", *known), mono=False)]
    for tool, latency in list(story.latency.items())[:MAX_ROWS]:
        wanted = f"from == {quote(name)} && tool == {quote(tool)} && latency >= 0"
        rows.append(FigureRow(safe_line(mask_text(tool), 160), _figures(latency, known), filter=wanted))
    # With a single tool, the sum would repeat its row.
    if story.answered is not None and not _is_all(story, story.answered):
        wanted = f"from == {quote(name)} && latency >= 0"
        rows.append(FigureRow("all answers", _figures(story.answered, known), mono=False, filter=wanted))
    return rows


def _is_all(story: ParticipantStory, answered: Latency) -> bool:
    return len(story.latency) == 1 and next(iter(story.latency.values())) == answered


def _figures(latency: Latency, parts: Sequence[str]) -> tuple[str, ...]:
    times = (latency.percentile(part) for part in parts)
    return (
        formats.number(latency.count),
        *("" if t is None else formats.duration(round(t * 1_000_000)) for t in times),
    )


def report_rows(document: CaptureDocument, row: int) -> list[Fact]:
    """Shows its last context report."""
    payload = mask_secrets(document.capture.records.payload(row))
    when = log_moment(int(document.capture.columns["time_ns"][row])) or "at an unknown time"
    rows = [fact("Reported", when, right=formats.message_number(row), right_message=row)]
    count = payload.get("messages_in_context")
    if isinstance(count, int) and not isinstance(count, bool):
        rows.append(fact("In context", formats.count_of(count, "message")))
    if isinstance(payload.get("status"), str):
        rows.append(fact("Status", safe_line(payload["status"], 200)))
    return rows


def kind_rows(story: ParticipantStory, name: str, spoken: Mapping[str, str]) -> list[Fact]:
    """Counts the messages it sent by kind.

    Args:
        story: the participant's story.
        name: name of the participant.
        spoken: words for kinds from `spoken_kinds`.
    """
    ink: Ink = "plain"
    rows = [
        fact(spoken.get(kind) or safe_line(kind, 120) or "no kind", formats.number(count), ink,
             mono_name=kind not in spoken,
             filter=f"from == {quote(name)} && kind == {quote(kind)}")
        for kind, count in list(story.kinds.items())[:MAX_ROWS]
    ]  # fmt: skip
    if len(story.kinds) > MAX_ROWS:
        rows.append(fact("", f"{len(story.kinds) - MAX_ROWS} kinds more", "dim"))
    return rows


_MOST_REPORTS = 200
_REPORT_KEYS = ("tokens", "max_tokens", "messages_in_context", "status", "latency_ms")


def finite_number(value: object) -> float | None:
    """Returns a number from the wire; None for other values and absurd ones."""
    # NaN differs from itself, and would spoil every sum and scale.
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value or abs(value) > 1e15:
        return None
    return float(value)


def reported_facts(subject: Subject) -> list[Fact]:
    """Shows a status report without its tokens, and its requester."""
    payload = subject.payload
    rows: list[Fact] = []
    if isinstance(payload.get("status"), str):
        rows.append(fact("Status", safe_line(payload["status"], 200)))
    count = finite_number(payload.get("messages_in_context"))
    rows.append(
        fact("In context", formats.count_of(round(count), "message"))
        if count is not None
        else fact("In context", "not reported", "dim")
    )
    latency = finite_number(payload.get("latency_ms"))
    if latency is not None:
        rows.append(fact("Latency", formats.duration(round(latency * 1_000_000))))
    asked = next(iter(subject.causes), None)
    if asked is not None:
        parts = (FactPart(f"{sender_of(subject.capture, asked)}, "), message_part(asked))
        rows.append(Fact("Requested by", parts))
    else:
        rows.append(fact("Requested by", "no one, reported unasked", "dim"))
    return rows + value_facts(payload, skip=_REPORT_KEYS)


def report_history(subject: Subject) -> tuple[list[tuple[int, float]], int]:
    """Returns (time, tokens) of the participant's last reports, and the index of the shown one; -1 if absent."""
    space = int(subject.capture.columns["space"][subject.message])
    participant = subject.analysis.participants.all.get((space, subject.sender or ""))
    found = reports_of(subject.capture, participant) if participant is not None else []
    own = next((place for place, (row, _, _) in enumerate(found) if row == subject.message), -1)
    return [(time, tokens) for _, time, tokens in found], own


def reports_of(capture: Capture, participant: Participant) -> list[tuple[int, int, float]]:
    """Returns (message, time in ns, tokens) of the last complete reports."""
    reports: list[tuple[int, int, float]] = []
    for row in participant.status_rows[-_MOST_REPORTS:]:
        tokens = finite_number(capture.records.payload(row).get("tokens"))
        time = int(capture.columns["time_ns"][row])
        if tokens is not None and time != NO_TIME:
            reports.append((row, time, tokens))
    return reports


MOST_LISTED = 30
_MAX_COMINGS = 6  # shown before and after this message


def coming_rows(subject: Subject, name: object) -> list[ChainRow]:
    """Lists a participant's arrivals and departures around the message; empty for a single arrival."""
    space = int(subject.capture.columns["space"][subject.message])
    participant = subject.analysis.participants.all.get((space, name)) if isinstance(name, str) else None
    if participant is None or len(participant.presence_changes) < 2:
        return []
    place = next(
        (n for n, one in enumerate(participant.presence_changes) if one.row >= subject.message),
        len(participant.presence_changes),
    )
    # A participant with a bad connection comes and goes hundreds of times.
    shown = participant.presence_changes[max(0, place - _MAX_COMINGS) : place + _MAX_COMINGS]
    return [
        ChainRow(one.row, subject.capture.string("kind", one.row) or "", "this" if one.row == subject.message else
             delta(subject.delta_ns(one.row)), "came" if one.here else "left", own=one.row == subject.message)
        for one in shown
    ]  # fmt: skip


def trust_facts(subject: Subject) -> list[Fact]:
    """Warns of announcements by others than the gateway (docs/protocols.md 2)."""
    if subject.sender in GATEWAY_IDS:
        person = subject.analysis.trust.forged.get(subject.message)
        if person is None:
            return []
        # Some logs tell who really sent a message, others only that it was another one.
        sent_by = f"; {safe_line(subject.capture.strings[person], 80)} sent it" if person else ""
        return [fact("From", f"{safe_line(subject.sender, 80)}, which is forged{sent_by}", "warn")]
    return [fact("From", f"{safe_line(subject.sender or 'somebody', 80)}, who is not the gateway", "warn")]


WELCOME_KEYS = ("you", "participants", "active_streams")
DRAFT_WELCOME_KEYS = ("type", "event", "participant", "participant_id", "topic", "history")
"""Welcome members of MCP-X v0.0 only (docs/protocols.md 10)."""


def draft_welcome_facts(payload: Mapping[str, Any]) -> list[Fact]:
    """Shows the further content of an MCP-X v0.0 welcome."""
    rows: list[Fact] = []
    you, topic, history = payload.get("participant"), payload.get("topic"), payload.get("history")
    if isinstance(you, Mapping):
        rows += value_facts(you, skip=("id", "capabilities"))
    if topic is not None:
        rows.append(fact("Topic", safe_line(value_text(topic), 200)))
    if isinstance(history, list):
        rows.append(fact("History", f"{formats.count_of(len(history), 'message')} sent along" if history else "empty"))
    elif isinstance(history, Mapping):
        limit = history.get("limit")
        most = f", at most {formats.count_of(limit, 'message')}" if isinstance(limit, int) else ""
        rows.append(fact("History", f"can be asked for{most}" if history.get("enabled") else "none is kept"))
    elif history is not None:
        rows.append(fact("History", safe_line(value_text(history), 200)))
    return rows


def other_fact(item: Any) -> Fact:
    """Shows a participant in a welcome: its name and capabilities."""
    if not isinstance(item, Mapping):
        return fact(safe_line(str(item), 120), "not announced", "dim")
    listed, name = capability_lines(item.get("capabilities")), safe_line(str(item.get("id") or "not named"), 120)
    if not isinstance(item.get("capabilities"), list):
        return fact(name, "not announced", "dim")
    return fact(name, permissions_in_words(listed), "dim", lines=4, tooltip="\n".join(listed) or None)


def active_stream_fact(item: Any) -> Fact:
    """Shows a stream in a welcome with its owner."""
    if not isinstance(item, Mapping):
        return fact("", str(item), "dim")
    return fact(safe_line(str(item.get("stream_id")), 80), f"owned by {safe_line(str(item.get('owner')), 80)}")
