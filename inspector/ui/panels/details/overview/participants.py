"""Participant status: how full its context is, how that went, who asked."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from inspector.analysis.participants import Participant
from inspector.capture.capture import Capture
from inspector.present import formats
from inspector.present.wire_text import plain
from inspector.protocol.times import NO_TIME
from inspector.ui.panels.details.facts import Fact, Part, fact
from inspector.ui.panels.details.gauges import UsageGauge, UsageLine
from inspector.ui.panels.details.sheet import Sheet, message_part, value_facts
from inspector.ui.panels.details.subject import Subject
from inspector.ui.panels.details.words import sender_of

_MOST_REPORTS = 200
_SHOWN = ("tokens", "max_tokens", "messages_in_context", "status", "latency_ms")


def build(sheet: Sheet) -> list[QWidget]:
    """Sections of a status report."""
    subject = sheet.subject
    payload = subject.payload
    tokens, limit = _figure(payload.get("tokens")), _figure(payload.get("max_tokens"))
    sections: list[QWidget] = []
    if tokens is not None:
        sections.append(sheet.section("Context in use", UsageGauge(sheet.themes, tokens, limit), name="usage"))
    sections.append(sheet.section("Reported", sheet.facts(_reported(subject), name="reported", label="Reported")))
    reports, own = _history(subject)
    if own >= 0 and len(reports) > 1 and reports[-1][0] > reports[0][0]:
        label = f"Tokens reported by {sender_of(subject.capture, subject.message)}"
        sections.append(sheet.section(label, UsageLine(sheet.themes, reports, own, limit), name="usageHistory"))
    return sections + sheet.chain_section()


def _figure(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value or abs(value) > 1e15:
        return None
    return float(value)


def _reported(subject: Subject) -> list[Fact]:
    payload = subject.payload
    rows: list[Fact] = []
    if isinstance(payload.get("status"), str):
        rows.append(fact("Status", plain(payload["status"], 200)))
    count = _figure(payload.get("messages_in_context"))
    rows.append(
        fact("In context", formats.count_of(round(count), "message"))
        if count is not None
        else fact("In context", "not reported", "dim")
    )
    latency = _figure(payload.get("latency_ms"))
    if latency is not None:
        rows.append(fact("Latency", formats.duration(round(latency * 1_000_000))))
    asked = next(iter(subject.causes), None)
    if asked is not None:
        parts = (Part(f"{sender_of(subject.capture, asked)}, "), message_part(asked))
        rows.append(Fact("Requested by", parts))
    else:
        rows.append(fact("Requested by", "nobody, it reported by itself", "dim"))
    return rows + value_facts(payload, skip=_SHOWN)


def _history(subject: Subject) -> tuple[list[tuple[int, float]], int]:
    """(time, tokens) of the participant's last reports, and the place of the shown one; -1 when it is not there."""
    space = int(subject.capture.columns["space"][subject.message])
    participant = subject.analysis.participants.all.get((space, subject.sender or ""))
    found = reports_of(subject.capture, participant) if participant is not None else []
    own = next((place for place, (row, _, _) in enumerate(found) if row == subject.message), -1)
    return [(time, tokens) for _, time, tokens in found], own


def reports_of(capture: Capture, participant: Participant) -> list[tuple[int, int, float]]:
    """(message, time in ns, tokens) of somebody's last reports; what tells neither is left out."""
    reports: list[tuple[int, int, float]] = []
    for row in participant.status_rows[-_MOST_REPORTS:]:
        tokens = _figure(capture.payload(row).get("tokens"))
        time = int(capture.columns["time_ns"][row])
        if tokens is not None and time != NO_TIME:
            reports.append((row, time, tokens))
    return reports
