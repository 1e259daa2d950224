"""What the gateway says, and what is said to it on arrival: presence, welcome, errors, joins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtWidgets import QWidget

from inspector.document.participant_summary import refusal_of
from inspector.present import formats
from inspector.present.wire_text import plain
from inspector.protocol.participants import GATEWAY_IDS, in_words, patterns, welcomed
from inspector.protocol.payloads.outline import value_text
from inspector.ui.panels.details.chain_view import Link
from inspector.ui.panels.details.facts import Fact, Part, fact
from inspector.ui.panels.details.overview.capabilities import pattern_section
from inspector.ui.panels.details.overview.capability_change import change_sections
from inspector.ui.panels.details.participant_rows import verdict_rows
from inspector.ui.panels.details.sheet import Sheet, message_part, value_facts, words_fact
from inspector.ui.panels.details.subject import Subject, name_of
from inspector.ui.panels.details.words import delta, sender_of

_UNNAMED = "It names no message, so it is not known which one it is about."
_UNSEEN = "The message it names was never seen: a gateway neither forwards nor logs what it refuses."
_MOST_PARTICIPANTS = 30
_COMINGS = 6  # shown before this message, and after it


def build_presence(sheet: Sheet) -> list[QWidget]:
    """Sections of a presence message."""
    subject = sheet.subject
    participant = subject.payload.get("participant")
    known = participant if isinstance(participant, Mapping) else {"id": participant}
    rows = [
        fact("Participant", plain(str(known.get("id") or "not named"), 200), "strong"),
        fact("Event", plain(str(subject.payload.get("event") or "not named"), 80)),
    ]
    rows += _trust(subject)
    rows += value_facts(subject.payload, skip=("participant", "event"))
    sections: list[QWidget] = [
        sheet.section("Presence", sheet.fact_card(rows, name="presence", label="Presence", name_width=80))
    ]
    sections += _announced(sheet, known, "Capabilities")
    sections += _history(sheet, known.get("id"))
    return sections + sheet.chain_section()


def _announced(sheet: Sheet, item: Mapping[str, Any], label: str) -> list[QWidget]:
    """The capabilities announced of somebody: before and after where they change, else the list."""
    listed = patterns(item.get("capabilities"))
    name = item.get("id")
    if isinstance(name, str) and sheet.subject.sender in GATEWAY_IDS and (changed := change_sections(sheet, name)):
        return changed
    return [pattern_section(sheet, label, listed)] if listed else []


def _history(sheet: Sheet, name: object) -> list[QWidget]:
    """When the participant came and left, this message among it."""
    subject = sheet.subject
    space = int(subject.capture.columns["space"][subject.message])
    participant = subject.analysis.participants.all.get((space, name)) if isinstance(name, str) else None
    if participant is None or len(participant.comings) < 2:
        return []
    place = next(
        (n for n, one in enumerate(participant.comings) if one.row >= subject.message), len(participant.comings)
    )
    shown = participant.comings[max(0, place - _COMINGS) : place + _COMINGS]
    rows = [
        Link(one.row, subject.capture.string("kind", one.row) or "", "this" if one.row == subject.message else
             delta(subject.delta_ns(one.row)), "came" if one.here else "left", own=one.row == subject.message)
        for one in shown
    ]  # fmt: skip
    return [sheet.section("Came and left", sheet.rail(rows, label="Came and left", name="comings"))]


def _trust(subject: Subject) -> list[Fact]:
    """Only the gateway announces who is here (docs/protocols.md 2)."""
    if subject.sender in GATEWAY_IDS:
        return []
    return [fact("From", f"{plain(subject.sender or 'somebody', 80)}, who is not the gateway", "warn")]


def build_welcome(sheet: Sheet) -> list[QWidget]:
    """Sections of a welcome."""
    subject = sheet.subject
    you = welcomed(subject.payload)
    is_draft = you is not None and "you" not in subject.payload
    sections: list[QWidget] = []
    if you is not None:
        rows = [fact("Joined as", plain(str(you.get("id") or "not named"), 200), "strong"), *_trust(subject)]
        rows += _draft_facts(subject.payload) if is_draft else []
        sections.append(sheet.section("Welcome", sheet.fact_card(rows, name="welcome", label="Welcome")))
        sections += _announced(sheet, you, "Capabilities")
    others = subject.payload.get("participants")
    if isinstance(others, list):
        rows = [_other(item) for item in others[:_MOST_PARTICIPANTS]] or [fact("", "nobody else", "dim")]
        if len(others) > _MOST_PARTICIPANTS:
            rows.append(fact("", f"{len(others) - _MOST_PARTICIPANTS} more, see Tree", "dim"))
        facts = sheet.facts(rows, name="othersPresent", label="Also present")
        sections.append(sheet.section(f"Also present, {len(others)}", facts, name="othersPresentSection"))
    streams = subject.payload.get("active_streams")
    if isinstance(streams, list) and streams:
        rows = [_stream(item) for item in streams[:_MOST_PARTICIPANTS]]
        sections.append(
            sheet.section("Active streams", sheet.facts(rows, name="activeStreams", label="Active streams"))
        )
    rest = value_facts(subject.payload, skip=(*_WELCOME_KEYS, *(_DRAFT_KEYS if is_draft else ())))
    if rest:
        sections.append(sheet.section("Also", sheet.facts(rest, name="welcomeMore", label="Also")))
    return sections


_WELCOME_KEYS = ("you", "participants", "active_streams")
_DRAFT_KEYS = ("type", "event", "participant", "participant_id", "topic", "history")
"""What only MCP-X v0.0 had in a welcome (docs/protocols.md 10)."""


def _draft_facts(payload: Mapping[str, Any]) -> list[Fact]:
    """What a welcome of MCP-X v0.0 says beyond who is there."""
    rows: list[Fact] = []
    you, topic, history = payload.get("participant"), payload.get("topic"), payload.get("history")
    if isinstance(you, Mapping):
        rows += value_facts(you, skip=("id", "capabilities"))
    if topic is not None:
        rows.append(fact("Topic", plain(value_text(topic), 200)))
    if isinstance(history, list):
        rows.append(fact("History", f"{formats.count_of(len(history), 'message')} sent along" if history else "empty"))
    elif isinstance(history, Mapping):
        limit = history.get("limit")
        most = f", at most {formats.count_of(limit, 'message')}" if isinstance(limit, int) else ""
        rows.append(fact("History", f"can be asked for{most}" if history.get("enabled") else "none is kept"))
    elif history is not None:
        rows.append(fact("History", plain(value_text(history), 200)))
    return rows


def _other(item: Any) -> Fact:
    if not isinstance(item, Mapping):
        return fact(plain(str(item), 120), "not announced", "dim")
    listed, name = patterns(item.get("capabilities")), plain(str(item.get("id") or "not named"), 120)
    if not isinstance(item.get("capabilities"), list):
        return fact(name, "not announced", "dim")
    return fact(name, in_words(listed), "dim", lines=4, tooltip="\n".join(listed) or None)


def _stream(item: Any) -> Fact:
    if not isinstance(item, Mapping):
        return fact("", str(item), "dim")
    return fact(plain(str(item.get("stream_id")), 80), f"owned by {plain(str(item.get('owner')), 80)}")


def build_error(sheet: Sheet) -> list[QWidget]:
    """Sections of a system error: the offending message first."""
    subject = sheet.subject
    sections: list[QWidget] = []
    offending = next(iter(subject.causes), None)
    if offending is not None:
        name, mono = name_of(subject.analysis, offending)
        parts = (message_part(offending), Part("  "), Part(plain(name, 200), "mono" if mono else "plain"))
        rows = [
            Fact("", parts, right=delta(subject.delta_ns(offending))),
            fact(
                "", f"{subject.capture.string('kind', offending)} from {sender_of(subject.capture, offending)}", "dim"
            ),
        ]
        sections.append(
            sheet.section("Offending message", sheet.fact_card(rows, name="offending", label="Offending message"))
        )
    payload = subject.payload
    listed = patterns(payload.get("your_capabilities"))
    rows = [fact("", plain(payload["error"], 400), "bad", lines=4)] if isinstance(payload.get("error"), str) else []
    if isinstance(payload.get("message"), str):
        rows.append(words_fact(payload["message"]))
    if isinstance(payload.get("attempted_kind"), str):
        rows.append(fact("Attempted", plain(payload["attempted_kind"], 200), "mono", middle=True))
    refused = refusal_of(subject.document, subject.message)
    if refused is not None:
        rows += verdict_rows(refused.judged, "denied")
    rows += value_facts(payload, skip=("error", "message", "attempted_kind", "your_capabilities"))
    if offending is None:
        rows.append(fact("", _UNSEEN if subject.capture.correlation_ids(subject.message) else _UNNAMED, "dim", lines=3))
    sections.append(sheet.section("Error", sheet.fact_card(rows, name="systemError", label="Error", name_width=80)))
    if listed:
        label = f"Capabilities of {plain(subject.to[0], 60)}" if subject.to else "Capabilities held"
        sections.append(pattern_section(sheet, label, listed))
    return sections + sheet.chain_section()


def build_join(sheet: Sheet) -> list[QWidget]:
    """Sections of a client's hello, its token masked."""
    rows = value_facts(sheet.subject.payload)
    facts = sheet.fact_card(rows, name="join", label="Join", name_width=96)
    return [sheet.section("Join", facts), *sheet.chain_section()]
