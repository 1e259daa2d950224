"""Requests: state or finding first, then arguments, chain, and who was asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from PySide6.QtWidgets import QWidget

from inspector.capture.flags import Flag
from inspector.capture.hashes import NO_ROW
from inspector.present import formats
from inspector.present.wire_text import plain
from inspector.protocol.payloads.outline import nested_in, value_text
from inspector.protocol.times import NO_TIME
from inspector.ui.panels.details.facts import Fact, Part, fact
from inspector.ui.panels.details.overview import notifications
from inspector.ui.panels.details.overview.behind import thought_sections
from inspector.ui.panels.details.overview.talk import hello_facts, talk
from inspector.ui.panels.details.sheet import Sheet, message_part, value_facts, words_fact
from inspector.ui.panels.details.state import ANSWER_WITHIN_NS, request_state
from inspector.ui.panels.details.subject import Subject
from inspector.ui.panels.details.words import answering, participants_of, presence, sender_of

_MOST_RECIPIENTS = 8
_MOST_ELSEWHERE = 3
_LOOKED_AROUND = 1_000  # messages before and after one


def build(sheet: Sheet) -> list[QWidget]:
    """Sections of a request."""
    subject = sheet.subject
    sections: list[QWidget] = []
    if (subject.method or "").startswith("notifications/"):
        sections += notifications.build(sheet)
    else:
        silent = request_state(subject) is None  # a notification that only its missing id tells
        if not silent and (subject.document.live or not subject.has_finding("request-unanswered")):  # said right above
            live = None if subject.answer is not None else lambda: _state(subject)  # its age goes by the clock
            card = sheet.fact_card(_state(subject), name="requestState", label="State", live=live)
            sections.append(sheet.section("State", card))
        sections += call_section(sheet, subject.payload, "Arguments")
    sections += thought_sections(sheet)
    sections += sheet.chain_section()
    if subject.to or subject.capture.string("space", subject.message):
        rows = _addressed(subject)
        if rows:
            sections.append(sheet.section("Addressed to", sheet.facts(rows, name="addressedTo", label="Addressed to")))
    return sections


def call_section(sheet: Sheet, payload: Mapping[str, Any], label: str) -> list[QWidget]:
    """What a call would run: its arguments, else its parameters; of a draft's proposal that of the wrapped one."""
    payload = unwrapped(payload)
    params = payload.get("params")
    method = payload.get("method")
    if params is None:
        # A bare method says all there is; where nothing names one, nothing is claimed.
        return []
    if not isinstance(params, Mapping):
        card = sheet.fact_card([fact("params", value_text(params), "mono", lines=8)], name="arguments", label=label)
        return [sheet.section(label, card)]
    if method == "initialize":
        rows = hello_facts(params, "clientInfo")
        return [sheet.section("Client", sheet.fact_card(rows, name="arguments", label="Client", name_width=80))]
    if method == "sampling/createMessage":
        return _sampling(sheet, params)
    arguments = nested_in(params.get("arguments"))
    if isinstance(arguments, Mapping):
        values, about = arguments, {k: v for k, v in params.items() if k not in ("arguments", "name", "_meta")}
    elif method == "tools/call":
        values, about = {}, {k: v for k, v in params.items() if k not in ("name", "_meta")}
    else:
        values, about = {k: v for k, v in params.items() if k != "_meta"}, {}
        label = label if label != "Arguments" else "Parameters"
    rows = value_facts(values, lines=6)
    if not rows and not about and method not in (None, "tools/call"):
        return []
    if not rows and not about:
        rows = [fact("", "no arguments", "dim")]
    return [sheet.section(label, sheet.fact_card(rows + value_facts(about), name="arguments", label=label))]


def unwrapped(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    """The payload of the envelope that a draft's proposal or its acceptance holds; else the payload itself."""
    if isinstance(payload.get("method"), str):
        return payload
    around = payload.get("proposal")
    envelope = around.get("envelope") if isinstance(around, Mapping) else None
    envelope = envelope if isinstance(envelope, Mapping) else payload.get("envelope")
    inner = envelope.get("payload") if isinstance(envelope, Mapping) else None
    return inner if isinstance(inner, Mapping) else payload


def _sampling(sheet: Sheet, params: Mapping[str, Any]) -> list[QWidget]:
    """A server that asks the client's model: what it is to be told, then how."""
    sections = talk(sheet, params.get("messages"))
    system = params.get("systemPrompt")
    if isinstance(system, str):
        sections.insert(0, sheet.section("System prompt", sheet.text(system, name="systemPrompt", label="System")))
    rows = value_facts(params, skip=("messages", "systemPrompt", "_meta"))
    if rows:
        sections.append(sheet.section("Sampling", sheet.fact_card(rows, name="arguments", label="Sampling")))
    return sections


def _state(subject: Subject) -> list[Fact]:
    state = request_state(subject)
    word = state.word if state else ""
    refusal = next((m for m in subject.effects if subject.capture.string("kind", m) == "system/error"), None)
    if word == "refused":
        if refusal is None:
            return [words_fact("Refused by the gateway, as its log says.")]
        return [Fact("", (Part("Refused by the gateway, "), message_part(refusal)))]
    if subject.answer is not None:
        failed = bool(subject.capture.flags(subject.answer) & Flag.ERROR)
        by = sender_of(subject.capture, subject.answer)
        latency = subject.analysis.correlation.latency_ns(subject.answer)
        what = "Failed" if failed else "Answered"
        who = f" by {by}" if subject.capture.string("sender", subject.answer) else ""
        after = f" in {formats.duration(latency)}" if latency is not None else ""
        return [
            Fact("", (Part(what, "bad" if failed else "plain"), Part(f"{who}{after}, "), message_part(subject.answer)))
        ]
    if word == "cancelled":
        return [words_fact("Cancelled by its sender; no answer was seen.")]
    last = subject.last_ns()
    if NO_TIME in (subject.time_ns, last):
        return [words_fact("No answer was seen.")]
    waited = formats.duration(max(0, last - subject.time_ns))
    if subject.document.live:
        return [words_fact(f"No answer yet, {waited} after it was asked.")]
    return [words_fact(f"No answer in the {waited} until the last record.")]


def _addressed(subject: Subject) -> list[Fact]:
    analysis, space = subject.analysis, int(subject.capture.columns["space"][subject.message])
    known = participants_of(analysis, space)
    telling = any(p.here is not None or p.capabilities is not None for p in known)  # MCP announces nobody
    to = [name for name in subject.to if telling or (space, name) not in analysis.participants.all]
    rows = [_recipient(subject, name, space) for name in to[:_MOST_RECIPIENTS]]
    if len(to) > _MOST_RECIPIENTS:
        rows.append(fact(" ", f"{len(to) - _MOST_RECIPIENTS} more", "dim"))
    if not subject.to:
        able = [p.name for p in known
                if p.here and answering(p, subject.method, subject.target)]  # fmt: skip
        words = f"{len(able)} here may answer" if able else "nobody here is known to answer"
        rows.append(fact("everyone", words, tooltip=", ".join(able) or None))
    answerer = subject.capture.string("sender", subject.answer) if subject.answer is not None else None
    if answerer and subject.to and answerer not in subject.to:
        rows.append(fact("Elsewhere", f"answered by {plain(answerer, 80)}"))
    elif subject.answer is None:
        rows += _elsewhere(subject)
    return rows


def _elsewhere(subject: Subject) -> list[Fact]:
    """Who answered the same call when its sender asked others about then: the first three."""
    capture, links = subject.capture, subject.analysis.correlation
    columns, own = capture.columns, subject.message
    low, high = max(0, own - _LOOKED_AROUND), own + _LOOKED_AROUND
    same = links.columns["answer"][low:high] != NO_ROW
    stop = low + len(same)
    for name in ("kind", "sender", "space"):
        same &= columns[name][low:stop] == columns[name][own]
    for name in ("method", "target"):
        same &= links.columns[name][low:stop] == links.columns[name][own]
    rows: list[Fact] = []
    for request in (np.flatnonzero(same) + low).tolist():
        gap = subject.delta_ns(request)
        answer = int(links.columns["answer"][request])
        if request == own or gap is None or abs(gap) > ANSWER_WITHIN_NS or capture.flags(answer) & Flag.ERROR:
            continue
        took = links.latency_ns(answer)
        after = f" in {formats.duration(took)}" if took is not None else ""
        words = f"answered by {sender_of(capture, answer)}{after}"
        rows.append(Fact(" " if rows else "Elsewhere", (Part(words, "link", answer),)))
        if len(rows) == _MOST_ELSEWHERE:
            break
    return rows


def _recipient(subject: Subject, name: str, space: int) -> Fact:
    participant = subject.analysis.participants.all.get((space, name))
    words = presence(participant, subject.time_ns)
    if participant is not None and participant.capabilities is not None:
        pattern = answering(participant, subject.method, subject.target)
        words += f", holds {pattern}" if pattern else ", may not answer"
    listing = "\n".join(participant.capabilities or ()) if participant is not None else ""
    return fact(plain(name, 80), words, tooltip=listing or None)
