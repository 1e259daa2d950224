"""What the page of a participant says, row by row. Makes no widgets."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from inspector.analysis.capabilities import Change, Held
from inspector.analysis.latency import Latency
from inspector.analysis.participant_queries import Tool
from inspector.analysis.pending import pending_age_ns
from inspector.document.document import CaptureDocument
from inspector.document.participant_summary import Judged, ParticipantStory, Refused
from inspector.filters.strings import quote
from inspector.present import formats
from inspector.present.wire_text import plain
from inspector.protocol.capability_words import capability_in_words
from inspector.protocol.participants import patterns
from inspector.protocol.secrets.masking import mask_secrets, mask_text
from inspector.protocol.times import NO_TIME
from inspector.ui.panels.details.chain_view import Link
from inspector.ui.panels.details.facts import Fact, Ink, Part, fact
from inspector.ui.panels.details.figures import Figures
from inspector.ui.panels.details.sheet import message_part
from inspector.ui.panels.details.subject import name_of
from inspector.ui.panels.details.token_facts import sender_tokens
from inspector.ui.panels.details.words import MINUS, clock_ms, recipients, sender_of

MOST = 40
"""Capabilities, tools and kinds shown."""
FEW = 8
"""Comings, refusals, changes and waiting messages shown."""
HEAD = Figures("Tool", ("Answers", "p50", "p95", "p99"), mono=False)


def presence_rows(document: CaptureDocument, story: ParticipantStory) -> list[Fact]:
    """Whether it is here, when it came and left, what it said first and last."""
    participant = story.participant
    rows: list[Fact] = []
    for coming in participant.comings[-FEW:]:
        when = clock_ms(int(document.capture.columns["time_ns"][coming.row])) or "at an unknown time"
        last = coming is participant.comings[-1]
        name = ("Here since" if last else "Came") if coming.here else "Left"
        rows.append(fact(name, when, right=_no(coming.row), right_message=coming.row))
    if len(participant.comings) > FEW:
        rows.insert(0, fact("Before that", f"{len(participant.comings) - FEW} times came or left", "dim"))
    if participant.here is None:
        rows.append(fact("Presence", "never announced", "dim"))
        if participant.first_ns != NO_TIME:
            rows.append(fact("First seen", clock_ms(participant.first_ns)))
    if participant.is_us:
        rows.append(fact("Who", "this program"))
    rows.append(fact("Messages", f"{participant.messages:,} sent" if participant.messages else "has sent nothing"))
    rows += sender_tokens(document.analysis, participant.space, participant.name)
    for name, row in (("First", story.first), ("Last", story.last)):
        if row is not None and (name == "First" or row != story.first):
            rows.append(_message_row(document, name, row))
    return rows


def _message_row(document: CaptureDocument, name: str, row: int) -> Fact:
    said, mono = name_of(document.analysis, row)
    when = clock_ms(int(document.capture.columns["time_ns"][row]))
    parts = (Part(f"{when}  " if when else "", "dim"), Part(plain(said, 120), "mono" if mono else "plain"))
    return Fact(name, parts, right=_no(row), right_message=row)


def _no(row: int) -> str:
    return f"No. {row + 1}"


# What it may do


def held_rows(held: Sequence[Held], *, raw: bool) -> list[Fact]:
    """What somebody may send, in words or as it was written; what only a grant says is marked."""
    rows = [_held_row(one, raw=raw) for one in held[:MOST]]
    if not raw:
        rows = _merged(rows)
    if len(held) > MOST:
        rows.append(fact("", f"{len(held) - MOST} more", "dim"))
    return rows or [fact("", "It may send nothing.", "dim")]


def _merged(rows: Sequence[Fact]) -> list[Fact]:
    """Capabilities that read alike said once; the tooltip and the copy keep each as it was written."""
    found: dict[object, Fact] = {}
    for row in rows:
        key = (row.parts, row.right)
        before = found.get(key)
        if before is None:
            found[key] = row
        else:
            copied = "\n".join((before.copy or "", row.copy or ""))
            found[key] = replace(before, tooltip="\n".join((before.tooltip or "", row.tooltip or "")), copy=copied)
    return list(found.values())


def _held_row(one: Held, *, raw: bool) -> Fact:
    written = written_as(one.capability)
    if raw:
        return fact("", written, "mono", lines=4, tooltip=None if one.confirmed else f"{written}\n{_UNCONFIRMED}")
    said: tuple[Part, ...] = (Part(plain(mask_text(capability_in_words(one.capability)), 300)),)
    granted = one.grant is not None
    if not one.confirmed:
        said += (Part("  granted, unconfirmed", "warn"),)
    elif granted:
        said += (Part("  granted", "good"),)
    tooltip = written if one.confirmed else f"{written}\n{_UNCONFIRMED}"
    right = {"right": _no(one.row), "right_message": one.row} if granted or not one.confirmed else {}
    return Fact("", said, tooltip=tooltip, copy=written, **right)  # pyright: ignore[reportArgumentType]


_UNCONFIRMED = "Granted, but no gateway has announced it since."


def written_as(capability: object) -> str:
    """A capability as it was written, on one line, masked."""
    if isinstance(capability, str):
        return mask_text(capability)
    return json.dumps(mask_secrets(capability), ensure_ascii=False)


def change_links(document: CaptureDocument, changes: Sequence[Change]) -> list[Link]:
    """What was announced, granted and revoked, the last of it, in the form of a chain."""
    granted = {one.grant: one.capabilities for one in changes if one.what == "granted" and one.grant is not None}
    return [_change_link(document, one, granted.get(one.grant or "", ())) for one in changes[-FEW:]]


def _change_link(document: CaptureDocument, change: Change, of_grant: Sequence[Any]) -> Link:
    capture = document.capture
    start = int(capture.columns["time_ns"][0])
    when = formats.table_time(int(capture.columns["time_ns"][change.row]), start)
    about = change.capabilities or of_grant
    listed = [plain(mask_text(capability_in_words(one)), 120) for one in about[:MOST]]
    by = sender_of(capture, change.row)
    if change.what == "announced":
        name, relation = formats.count_of(len(change.capabilities), "capability", "capabilities"), "announced"
    else:
        sign = "+" if change.what == "granted" else MINUS
        name, relation = f"{sign} {', '.join(listed) or plain(change.grant or 'nothing named', 120)}", f"by {by}"
    kind = capture.string("kind", change.row) or ""
    tooltip = "\n".join([f"{change.what} by {by}", *(written_as(one) for one in about[:MOST])])
    return Link(change.row, kind, when, name, relation=relation, tooltip=tooltip)


# What it was refused, and where verdicts differ


def refused_rows(document: CaptureDocument, refused: Sequence[Refused]) -> list[Fact]:
    """What a gateway refused: what was missing, and the gateway's verdict beside what we predict where they differ."""
    rows: list[Fact] = []
    for one in refused[-FEW:]:
        missing = Part(plain(one.missing, 200), "mono") if one.missing else Part("a capability it does not name", "dim")
        rows.append(Fact("Missing", (missing,), right=_no(one.row), right_message=one.row))
        if one.message is not None:
            name, mono = name_of(document.analysis, one.message)
            parts = (message_part(one.message), Part("  "), Part(plain(name, 160), "mono" if mono else "plain"))
            rows.append(Fact("For", parts))
        rows += verdict_rows(one.judged, "denied")
    return rows


def verdict_rows(judged: Judged, decided: str | None = None) -> list[Fact]:
    """The gateway's verdict and our reading of what was announced; one line where they agree.

    Args:
        decided: what the gateway is known to have done where no decision is at hand.
    """
    gateway = next(iter(judged.results), None) or decided
    if gateway is None:
        return []
    if judged.predicted is None:
        return [fact("Verdict", f"{gateway}; whether it had to be cannot be said", "dim", lines=2)]
    if gateway == judged.predicted:
        return [fact("Verdict", f"{gateway}, as its capabilities say", "dim")]
    matched = next((one.get("matched_capability") for one in judged.verdicts if one.get("matched_capability")), None)
    return [_verdict("Gateway", gateway, matched), _verdict("By the rules", judged.predicted, judged.by)]


def _verdict(name: str, word: str, by: object) -> Fact:
    parts: tuple[Part, ...] = (Part(word, "bad" if word == "denied" else "good"),)
    tooltip = None
    if by:
        tooltip = written_as(by)
        parts += (Part("  by ", "dim"), Part(plain(", ".join(patterns([by])) or tooltip, 160), "mono"))
    return Fact(name, parts, tooltip=tooltip)


def differing_rows(document: CaptureDocument, story: ParticipantStory) -> list[Fact]:
    """Messages the gateway judged otherwise than we do; or that it judged none so."""
    if not story.differing:
        count = formats.count_of(story.judged_count, "message")
        return [fact("", f"As its capabilities say, for its last {count} with a verdict.", "dim", lines=2)]
    rows: list[Fact] = []
    for row, judged in story.differing[-FEW:]:
        name, mono = name_of(document.analysis, row)
        said = Part(plain(name, 160), "mono" if mono else "plain")
        rows.append(Fact("Message", (said,), right=_no(row), right_message=row))
        rows += verdict_rows(judged)
    return rows


# What it waits for


def waiting_links(document: CaptureDocument, rows: Sequence[int], *, to: bool) -> list[Link]:
    """Messages that wait, the latest first, each with its age.

    Args:
        to: say whom they are addressed to, else who asks.
    """
    return [_waiting_link(document, row, to=to) for row in list(rows)[-FEW:][::-1]]


def _waiting_link(document: CaptureDocument, row: int, *, to: bool) -> Link:
    capture = document.capture
    name, mono = name_of(document.analysis, row)
    age = pending_age_ns(document.analysis, row)
    who = f"to {recipients(capture.to(row))}" if to else f"from {sender_of(capture, row)}"
    # By the second: tenths of it would only flicker.
    whole = None if age is None else age if age < _SECOND else age // _SECOND * _SECOND
    when = "" if whole is None else formats.duration(whole).replace(".0 s", " s")
    tooltip = f"{name[:600]}\n{who}, without an answer for {when or 'an unknown time'}"
    return Link(row, capture.string("kind", row) or "", when, plain(name, 160), mono, plain(who, 80), tooltip=tooltip)


_SECOND = 1_000_000_000


# What it offers and says


def tool_rows(story: ParticipantStory, name: str) -> list[Fact]:
    """The tools it offers, with what it says of each."""
    tools = story.tools or []
    rows = [_tool_row(tool, name) for tool in tools[:MOST]]
    if len(tools) > MOST:
        rows.append(fact("", f"{len(tools) - MOST} more, see the list itself", "dim"))
    return rows or [fact("", "It offers no tools.", "dim")]


def _tool_row(tool: Tool, name: str) -> Fact:
    said, about = plain(mask_text(tool.name), 120), mask_text(tool.description)
    wanted = f"from == {quote(name)} && tool == {quote(tool.name)}"
    if not about:
        return fact(said, "no description", "dim", mono_name=True, filter=wanted)
    return fact(said, plain(about, 600), lines=2, mono_name=True, tooltip=about, filter=wanted)


def latency_rows(story: ParticipantStory, name: str) -> list[Figures]:
    """What its answers took: each tool, then all of them; the head first."""
    rows = [HEAD]
    for tool, latency in list(story.latency.items())[:MOST]:
        wanted = f"from == {quote(name)} && tool == {quote(tool)} && latency >= 0"
        rows.append(Figures(plain(mask_text(tool), 160), _figures(latency), filter=wanted))
    if story.answered is not None and not _is_all(story, story.answered):
        wanted = f"from == {quote(name)} && latency >= 0"
        rows.append(Figures("all answers", _figures(story.answered), mono=False, filter=wanted))
    return rows


def _is_all(story: ParticipantStory, answered: Latency) -> bool:
    return len(story.latency) == 1 and next(iter(story.latency.values())) == answered


def _figures(latency: Latency) -> tuple[str, ...]:
    times = (latency.p50, latency.p95, latency.p99)
    return (formats.number(latency.count), *(formats.duration(round(time * 1_000_000)) for time in times))


def report_rows(document: CaptureDocument, row: int) -> list[Fact]:
    """Its last report of its context: when, and what else it said."""
    payload = mask_secrets(document.capture.payload(row))
    when = clock_ms(int(document.capture.columns["time_ns"][row])) or "at an unknown time"
    rows = [fact("Reported", when, right=_no(row), right_message=row)]
    count = payload.get("messages_in_context")
    if isinstance(count, int) and not isinstance(count, bool):
        rows.append(fact("In context", formats.count_of(count, "message")))
    if isinstance(payload.get("status"), str):
        rows.append(fact("Status", plain(payload["status"], 200)))
    return rows


def kind_rows(story: ParticipantStory, name: str) -> list[Fact]:
    """How many messages of each kind it sent."""
    ink: Ink = "plain"
    rows = [
        fact(plain(kind, 120) or "no kind", formats.number(count), ink, mono_name=True,
             filter=f"from == {quote(name)} && kind == {quote(kind)}")
        for kind, count in list(story.kinds.items())[:MOST]
    ]  # fmt: skip
    if len(story.kinds) > MOST:
        rows.append(fact("", f"{len(story.kinds) - MOST} kinds more", "dim"))
    return rows
