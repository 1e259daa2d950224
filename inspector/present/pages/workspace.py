"""Overview sections of the workspace: presence, welcomes, errors, capabilities, status, controls, operations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.document.participant_summary import refusal_of
from inspector.present.capability_facts import (
    MOST_PATTERNS,
    compared_rows,
    effect_rows,
    grant_facts,
    grant_of,
    held_around,
    missing_from,
    verdict_rows,
)
from inspector.present.control_facts import control_sentence, is_in_sentence, status_facts
from inspector.present.facts import Fact, FactPart, Ink, fact, message_part, value_facts, words_fact
from inspector.present.formats import MINUS, delta
from inspector.present.pages.factories import chain_section, fact_card, facts_part, link_part, section_part
from inspector.present.pages.parts import ChainPart, GaugePart, Part, UsageLinePart
from inspector.present.participant_facts import (
    DRAFT_WELCOME_KEYS,
    MOST_LISTED,
    WELCOME_KEYS,
    active_stream_fact,
    coming_rows,
    draft_welcome_facts,
    finite_number,
    other_fact,
    report_history,
    reported_facts,
    trust_facts,
)
from inspector.present.places import ParticipantPlace
from inspector.present.subject import Subject, name_of, sender_of
from inspector.present.wire_text import safe_line
from inspector.protocol import kinds
from inspector.protocol.participants import capability_lines, permissions_in_words, welcomed_participant
from inspector.protocol.payloads.outline import value_text
from inspector.protocol.secrets.masking import mask_secrets


def build_presence(subject: Subject) -> list[Part]:
    """Returns the sections of a presence message: participant, new capabilities, other joins and leaves."""
    participant = subject.payload.get("participant")
    known = participant if isinstance(participant, Mapping) else {"id": participant}
    rows = [
        fact("Participant", safe_line(str(known.get("id") or "not named"), 200), "strong"),
        fact("Event", safe_line(str(subject.payload.get("event") or "not named"), 80)),
    ]
    rows += trust_facts(subject)
    rows += value_facts(subject.payload, skip=("participant", "event"))
    sections: list[Part] = [section_part("Presence", fact_card(rows, name="presence", label="Presence", name_width=80))]
    sections += _announced_sections(subject, known, "Capabilities")
    sections += _presence_history_sections(subject, known.get("id"))
    return sections + chain_section(subject)


_UNNAMED = "It names no message, so the offending one is unknown."
_UNSEEN = "Its message is not in the log: a gateway neither forwards nor logs refused messages."


def _announced_sections(subject: Subject, item: Mapping[str, Any], label: str) -> list[Part]:
    """Returns the sections of announced capabilities: the change if known, else the list."""
    listed = capability_lines(item.get("capabilities"))
    name = item.get("id")
    believed = subject.analysis.trust.is_gateway(subject.message)
    if isinstance(name, str) and believed and (changed := change_sections(subject, name)):
        return changed
    return [pattern_section(label, listed)] if listed else []


def _presence_history_sections(subject: Subject, name: object) -> list[Part]:
    rows = coming_rows(subject, name)
    chain = ChainPart(rows=rows, label="Joins and leaves", name="comings")
    return [section_part("Joins and leaves", chain)] if rows else []


def build_welcome(subject: Subject) -> list[Part]:
    """Returns the sections of a welcome: the client's id and capabilities, other participants, open streams."""
    you = welcomed_participant(subject.payload)
    is_draft = you is not None and "you" not in subject.payload
    sections: list[Part] = []
    if you is not None:
        rows = [fact("Joined as", safe_line(str(you.get("id") or "not named"), 200), "strong"), *trust_facts(subject)]
        rows += draft_welcome_facts(subject.payload) if is_draft else []
        sections.append(section_part("Welcome", fact_card(rows, name="welcome", label="Welcome")))
        sections += _announced_sections(subject, you, "Capabilities")
    others = subject.payload.get("participants")
    if isinstance(others, list):
        rows = [other_fact(item) for item in others[:MOST_LISTED]] or [fact("", "no other participant", "dim")]
        if len(others) > MOST_LISTED:
            rows.append(fact("", f"{len(others) - MOST_LISTED} more, see Tree", "dim"))
        facts = facts_part(rows, name="othersPresent", label="Also present")
        sections.append(section_part(f"Also present, {len(others)}", facts, name="othersPresentSection"))
    streams = subject.payload.get("active_streams")
    if isinstance(streams, list) and streams:
        rows = [active_stream_fact(item) for item in streams[:MOST_LISTED]]
        sections.append(section_part("Active streams", facts_part(rows, name="activeStreams", label="Active streams")))
    rest = value_facts(subject.payload, skip=(*WELCOME_KEYS, *(DRAFT_WELCOME_KEYS if is_draft else ())))
    if rest:
        sections.append(section_part("Also", facts_part(rest, name="welcomeMore", label="Also")))
    return sections


def build_error(subject: Subject) -> list[Part]:
    """Returns the sections of a system error, the offending message first."""
    sections: list[Part] = []
    offending = next(iter(subject.causes), None)
    if offending is not None:
        name, mono = name_of(subject.analysis, offending)
        parts = (message_part(offending), FactPart("  "), FactPart(safe_line(name, 200), "mono" if mono else "plain"))
        rows = [
            Fact("", parts, right=delta(subject.delta_ns(offending))),
            fact(
                "", f"{subject.capture.string('kind', offending)} from {sender_of(subject.capture, offending)}", "dim"
            ),
        ]
        sections.append(section_part("Offending message", fact_card(rows, name="offending", label="Offending message")))
    payload = subject.payload
    listed = capability_lines(payload.get("your_capabilities"))
    rows = [fact("", safe_line(payload["error"], 400), "bad", lines=4)] if isinstance(payload.get("error"), str) else []
    if isinstance(payload.get("message"), str):
        rows.append(words_fact(payload["message"]))
    if isinstance(payload.get("attempted_kind"), str):
        rows.append(fact("Attempted", safe_line(payload["attempted_kind"], 200), "mono", middle=True))
    refused = refusal_of(subject.document, subject.message)
    if refused is not None:
        rows += verdict_rows(refused.judged, "denied")
    rows += value_facts(payload, skip=("error", "message", "attempted_kind", "your_capabilities"))
    if offending is None:
        rows.append(
            fact("", _UNSEEN if subject.capture.records.correlation_ids(subject.message) else _UNNAMED, "dim", lines=3)
        )
    sections.append(section_part("Error", fact_card(rows, name="systemError", label="Error", name_width=80)))
    if listed:
        label = f"Capabilities of {safe_line(subject.to[0], 60)}" if subject.to else "Capabilities held"
        sections.append(pattern_section(label, listed))
    return sections + chain_section(subject)


def build_join(subject: Subject) -> list[Part]:
    """Returns the sections of a client's join message, with its token masked."""
    rows = value_facts(subject.payload)
    facts = fact_card(rows, name="join", label="Join", name_width=96)
    return [section_part("Join", facts), *chain_section(subject)]


def build_capability(subject: Subject) -> list[Part]:
    """Returns the sections of a capability message: participant, effect, and the change or the list."""
    payload = subject.payload
    about = grant_of(payload)
    who = next((key for key in _WHO if isinstance(about.get(key), str)), None)
    name = str(about[who]) if who is not None else ""
    rows = [Fact("Participant", (FactPart(safe_line(name, 120), "strong"),), copy=name)] if name else []
    if subject.kind in _CHANGES and name:
        rows += effect_rows(subject, name)
    rows += grant_facts(subject, payload)
    rows += value_facts({**payload, **about}, skip=(*_LISTS, *_WHO, "grant", "grant_id"))
    sections: list[Part] = []
    if rows:
        label = kinds.short_kind(subject.kind).replace("-", " ").capitalize()
        sections.append(section_part(label, fact_card(rows, name="capabilityFacts", label=label, name_width=80)))
    changed = change_sections(subject, name) if subject.kind in _CHANGES and name else []
    listed = [p for key in _LISTS for p in capability_lines(about.get(key))]
    if listed and not changed:
        sign = MINUS if subject.kind in _TAKES else "+"
        label = "Revokes" if sign == MINUS else "Grants"
        sections.append(pattern_section(label, listed, sign=sign))
    return sections + changed + chain_section(subject)


_TAKES = frozenset({"capability/revoke", "space/kick"})
_LISTS = ("capabilities", "initial_capabilities")
_WHO = ("recipient", "participant_id", "to")
_CHANGES = frozenset({"capability/grant", "capability/revoke"})


def pattern_section(label: str, listed: list[str], *, sign: str = "") -> Part:
    """Makes the section of capability patterns, one a row, below their meaning in words."""
    ink: Ink = "mono"
    rows: list[Fact] = []
    words = permissions_in_words(listed)
    if not sign and words != ", ".join(listed):
        rows.append(fact("", words, "dim"))
    rows += [fact(sign, p, ink, middle=True, mono_name=True) for p in listed[:MOST_PATTERNS]]
    if len(listed) > MOST_PATTERNS:
        rows.append(fact("", f"{len(listed) - MOST_PATTERNS} more, see Tree", "dim"))
    facts = facts_part(rows, name="patterns", label=f"{label}: {words}", name_width=14 if sign else 0)
    return section_part(label, facts)


def change_sections(subject: Subject, name: str) -> list[Part]:
    """Returns the sections of a participant's capabilities before and after the message; empty without a change.

    Args:
        name: the participant whose capabilities the message announces, grants or revokes.
    """
    before, after = held_around(subject, name)
    # The full set of capabilities was never announced.
    if before is None or after is None:
        return []
    has = [one.capability for one in after]
    had = [one.capability for one in before]
    if had == has:
        return []
    who = safe_line(name, 60)
    sections: list[Part] = []
    rows = compared_rows(before, missing_from(had, has), MINUS, "bad")
    facts = facts_part(rows, name="heldBefore", label=f"{who} could send", name_width=14)
    sections.append(section_part(f"Before, {len(had)}", facts, name="heldBeforeSection"))
    rows = compared_rows(after, missing_from(has, had), "+", "good")
    facts = facts_part(rows, name="heldAfter", label=f"{who} may send", name_width=14)
    place = ParticipantPlace(int(subject.capture.columns["space"][subject.message]), name)
    show = link_part("Show participant", "place", place, name="showParticipant")
    sections.append(section_part(f"After, {len(has)}", facts, name="heldAfterSection", action=show))
    return sections


def build_status(subject: Subject) -> list[Part]:
    """Returns the sections of a status report: context usage, other values and earlier reports."""
    payload = subject.payload
    tokens, limit = finite_number(payload.get("tokens")), finite_number(payload.get("max_tokens"))
    sections: list[Part] = []
    if tokens is not None:
        sections.append(section_part("Context in use", GaugePart(used=tokens, limit=limit), name="usage"))
    sections.append(section_part("Reported", facts_part(reported_facts(subject), name="reported", label="Reported")))
    reports, own = report_history(subject)
    if own >= 0 and len(reports) > 1 and reports[-1][0] > reports[0][0]:
        label = f"Tokens reported by {sender_of(subject.capture, subject.message)}"
        sections.append(section_part(label, UsageLinePart(reports=reports, own=own, limit=limit), name="usageHistory"))
    return sections + chain_section(subject)


def build_control(subject: Subject) -> list[Part]:
    """Returns the sections of a control message: request, addressee and later reports."""
    rows = [words_fact(control_sentence(subject))]
    reason = subject.payload.get("reason")
    if isinstance(reason, str) and reason:
        rows.append(fact("Reason", reason, lines=4))
    rows += value_facts({key: value for key, value in subject.payload.items() if not is_in_sentence(key, value)})
    label = "Done" if subject.kind == "participant/compact-done" else "Request"
    sections: list[Part] = [section_part(label, fact_card(rows, name="control", label=label))]
    reports = status_facts(subject)
    if reports:
        facts = facts_part(reports, name="reports", label="Later reports")
        sections.append(section_part("Later reports", facts))
    return sections + chain_section(subject)


_OPERATIONS = {
    "push": "{} opens a nested context.",
    "pop": "{} returns to the parent context.",
    "resume": "{} resumes a context.",
}


def build_operation(subject: Subject) -> list[Part]:
    """Returns the sections of a context operation: context and sender."""
    envelope = subject.capture.records.envelope(subject.message)
    context = mask_secrets(envelope.get("context")) if isinstance(envelope, dict) else None
    operation = context.get("operation") if isinstance(context, Mapping) else None
    sender = sender_of(subject.capture, subject.message)
    words = _OPERATIONS.get(operation, "{} names an unknown operation.") if isinstance(operation, str) else (
        "{} names no operation."
    )  # fmt: skip
    tree = subject.analysis.contexts.tree
    if operation == "push" and subject.node != MAIN and tree.parent[subject.node] == MAIN:
        words = "{} opens a context."
    rows = [words_fact(words.format(sender))]
    if isinstance(context, Mapping):
        if isinstance(context.get("topic"), str):
            rows.append(fact("Topic", context["topic"], "strong", lines=3))
        if context.get("correlation_id") is not None:
            rows.append(fact("Id", value_text(context["correlation_id"]), "mono", middle=True))
        if operation is not None and not (isinstance(operation, str) and operation in _OPERATIONS):
            rows.append(fact("Operation", value_text(operation), "mono"))
        rows += value_facts(context, skip=("operation", "topic", "correlation_id"))
    if subject.node != MAIN:
        rows.append(fact("Context", subject.analysis.contexts.tree.path(subject.node), middle=True))
    rows += value_facts(subject.payload)
    scope = None
    if subject.node != MAIN:
        scope = link_part("Scope to this context", "scope", subject.message, name="scopeTo")
    card = fact_card(rows, name="operation", label="Context operation")
    return [
        section_part("Context operation", card, action=scope),
        *chain_section(subject),
    ]
