"""Facts of capabilities: held, changed, granted, compared, missing, refused; and differing verdicts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from inspector.analysis.passes.participants.capabilities import CapabilityChange, HeldCapability
from inspector.document.document import CaptureDocument
from inspector.document.participant_summary import ParticipantStory, Permission, Refused
from inspector.present import formats
from inspector.present.chain_rows import ChainRow
from inspector.present.facts import Fact, FactPart, Ink, fact, message_part
from inspector.present.formats import MINUS
from inspector.present.subject import Subject, name_of, sender_of
from inspector.present.wire_text import safe_line
from inspector.protocol.capability_words import capability_in_words
from inspector.protocol.participants import capability_lines
from inspector.protocol.secrets.masking import mask_secrets, mask_text

MAX_ROWS = 40
"""Limit of capabilities, tools and kinds shown."""
MAX_EVENTS = 8
"""Limit of arrivals, refusals, changes and waiting messages shown."""


# Capabilities


def held_rows(held: Sequence[HeldCapability], *, raw: bool) -> list[Fact]:
    """Lists capabilities, in words or as written; marks capabilities confirmed by a grant alone."""
    rows = [_held_row(one, raw=raw) for one in held[:MAX_ROWS]]
    if not raw:
        rows = _merge_alike(rows)
    if len(held) > MAX_ROWS:
        rows.append(fact("", f"{len(held) - MAX_ROWS} more", "dim"))
    return rows or [fact("", "It may send no messages.", "dim")]


def _merge_alike(rows: Sequence[Fact]) -> list[Fact]:
    """Merges capabilities with equal words; tooltip and copy keep each as written."""
    found: dict[object, Fact] = {}
    for row in rows:
        # Different patterns may mean the same in words, such as with and without a version.
        key = (row.parts, row.right)
        before = found.get(key)
        if before is None:
            found[key] = row
        else:
            copied = "\n".join((before.copy or "", row.copy or ""))
            found[key] = replace(before, tooltip="\n".join((before.tooltip or "", row.tooltip or "")), copy=copied)
    return list(found.values())


def _held_row(one: HeldCapability, *, raw: bool) -> Fact:
    written = written_as(one.capability)
    if raw:
        return fact("", written, "mono", lines=4, tooltip=None if one.confirmed else f"{written}\n{_UNCONFIRMED}")
    parts: tuple[FactPart, ...] = (FactPart(safe_line(mask_text(capability_in_words(one.capability)), 300)),)
    granted = one.grant is not None
    if not one.confirmed:
        parts += (FactPart("  granted, unconfirmed", "warn"),)
    elif granted:
        parts += (FactPart("  granted", "good"),)
    tooltip = written if one.confirmed else f"{written}\n{_UNCONFIRMED}"
    right = {"right": formats.message_number(one.row), "right_message": one.row} if granted or not one.confirmed else {}
    return Fact("", parts, tooltip=tooltip, copy=written, **right)  # pyright: ignore[reportArgumentType] - attributes of Fact


_UNCONFIRMED = "Granted, but no gateway has announced it since."


def written_as(capability: object) -> str:
    """Formats a capability as written, on one line, masked."""
    if isinstance(capability, str):
        return mask_text(capability)
    return json.dumps(mask_secrets(capability), ensure_ascii=False)


def change_rows(document: CaptureDocument, changes: Sequence[CapabilityChange]) -> list[ChainRow]:
    """Lists the last announcements, grants and revocations as chain rows."""
    granted = {one.grant: one.capabilities for one in changes if one.what == "granted" and one.grant is not None}
    return [_change_row(document, one, granted.get(one.grant or "", ())) for one in changes[-MAX_EVENTS:]]


def _change_row(document: CaptureDocument, change: CapabilityChange, of_grant: Sequence[Any]) -> ChainRow:
    capture = document.capture
    start = int(capture.columns["time_ns"][0])
    when = formats.table_time(int(capture.columns["time_ns"][change.row]), start)
    about = change.capabilities or of_grant
    listed = [safe_line(mask_text(capability_in_words(one)), 120) for one in about[:MAX_ROWS]]
    by = sender_of(capture, change.row)
    if change.what == "announced":
        name, relation = formats.count_of(len(change.capabilities), "capability", "capabilities"), "announced"
    else:
        sign = "+" if change.what == "granted" else MINUS
        name, relation = f"{sign} {', '.join(listed) or safe_line(change.grant or 'unnamed', 120)}", f"by {by}"
    kind = capture.string("kind", change.row) or ""
    tooltip = "\n".join([f"{change.what} by {by}", *(written_as(one) for one in about[:MAX_ROWS])])
    return ChainRow(change.row, kind, when, name, relation=relation, tooltip=tooltip)


# Refusals and differing verdicts


def refused_rows(document: CaptureDocument, refused: Sequence[Refused]) -> list[Fact]:
    """Lists refusals with the missing capability, and both verdicts where they differ."""
    rows: list[Fact] = []
    for one in refused[-MAX_EVENTS:]:
        missing = (
            FactPart(safe_line(one.missing, 200), "mono") if one.missing else FactPart("an unnamed capability", "dim")
        )
        rows.append(Fact("Missing", (missing,), right=formats.message_number(one.row), right_message=one.row))
        if one.message is not None:
            name, mono = name_of(document.analysis, one.message)
            parts = (
                message_part(one.message),
                FactPart("  "),
                FactPart(safe_line(name, 160), "mono" if mono else "plain"),
            )
            rows.append(Fact("For", parts))
        rows += verdict_rows(one.judged, "denied")
    return rows


def verdict_rows(judged: Permission, decided: str | None = None) -> list[Fact]:
    """Compares the gateway's verdict with our reading of its announcements; one line if they agree.

    Args:
        judged: the verdicts.
        decided: the gateway's known action, if there is no decision.
    """
    # A logged decision outweighs the action that was seen.
    gateway = next(iter(judged.results), None) or decided
    if gateway is None:
        return []
    if judged.predicted is None:
        return [fact("Verdict", f"{gateway}; cannot be verified", "dim", lines=2)]
    if gateway == judged.predicted:
        return [fact("Verdict", f"{gateway}, consistent with its capabilities", "dim")]
    matched = next((one.get("matched_capability") for one in judged.verdicts if one.get("matched_capability")), None)
    return [_verdict("Gateway", gateway, matched), _verdict("Expected", judged.predicted, judged.by)]


def _verdict(name: str, word: str, by: object) -> Fact:
    parts: tuple[FactPart, ...] = (FactPart(word, "bad" if word == "denied" else "good"),)
    tooltip = None
    if by:
        tooltip = written_as(by)
        parts += (
            FactPart("  by ", "dim"),
            FactPart(safe_line(", ".join(capability_lines([by])) or tooltip, 160), "mono"),
        )
    return Fact(name, parts, tooltip=tooltip)


def differing_rows(document: CaptureDocument, story: ParticipantStory) -> list[Fact]:
    """Lists messages with differing verdicts, or states that all agree."""
    if not story.differing:
        count = formats.count_of(story.judged_count, "message")
        return [fact("", f"Consistent with its capabilities, for its last {count} with a verdict.", "dim", lines=2)]
    rows: list[Fact] = []
    for row, judged in story.differing[-MAX_EVENTS:]:
        name, mono = name_of(document.analysis, row)
        part = FactPart(safe_line(name, 160), "mono" if mono else "plain")
        rows.append(Fact("Message", (part,), right=formats.message_number(row), right_message=row))
        rows += verdict_rows(judged)
    return rows


MOST_PATTERNS = 40


def held_around(subject: Subject, name: str) -> tuple[list[HeldCapability] | None, list[HeldCapability] | None]:
    """Returns the capabilities of a participant before and after the message; None if never announced."""
    capture, row = subject.capture, subject.message
    space, held = int(capture.columns["space"][row]), subject.analysis.capabilities.capabilities_of
    return held(space, name, row), held(space, name, row + 1)


def missing_from(these: Sequence[object], those: Sequence[object]) -> list[bool]:
    """Returns per capability True if the other list lacks it; duplicates must occur equally often."""
    left = list(those)
    beyond: list[bool] = []
    for one in these[:MOST_PATTERNS]:
        beyond.append(one not in left)
        if not beyond[-1]:
            # Removed once, so that duplicates must occur equally often.
            left.remove(one)
    return beyond


def compared_rows(held: Sequence[HeldCapability], marked: Sequence[bool], sign: str, ink: Ink) -> list[Fact]:
    """Lists capabilities; the marked ones get a sign and an ink."""
    listed = zip(held[:MOST_PATTERNS], marked, strict=True)
    rows = [_compared_row(one, sign if mark else "", ink) for one, mark in listed]
    if len(held) > MOST_PATTERNS:
        rows.append(fact(" ", f"{len(held) - MOST_PATTERNS} more", "dim"))
    return rows or [fact("", "nothing", "dim")]


def _compared_row(held: HeldCapability, sign: str, ink: Ink) -> Fact:
    words = safe_line(mask_text(capability_in_words(held.capability)), 300)
    written = written_as(held.capability)
    return Fact(sign or " ", (FactPart(words, ink if sign else "dim"),), tooltip=written, copy=written, mono_name=True)


def effect_rows(subject: Subject, name: str) -> list[Fact]:
    """Describes the effect of a grant or revocation, and its confirmation by a gateway."""
    row, space = subject.message, int(subject.capture.columns["space"][subject.message])
    capabilities = subject.analysis.capabilities
    change = next((one for one in capabilities.changes.get((space, name), ()) if one.row == row), None)
    if change is None:
        return []
    before, after = held_around(subject, name)
    if before is not None and after is not None and [o.capability for o in before] == [o.capability for o in after]:
        words = "no change: it has no such capability" if change.what == "revoked" else "grants no capability"
        return [fact("Effect", words, "warn", lines=2)]
    # Gateways announce grants by another welcome, but no revocations (docs/protocols.md 10).
    later = (one for one in capabilities.changes[space, name] if one.row > row and one.what == "announced")
    announced = next(later, None)
    if announced is None:
        return [fact("Confirmed", "not yet: no gateway has announced its capabilities since", "dim", lines=2)]
    wanted = [one.capability for one in after or ()]
    same = all(one in announced.capabilities for one in wanted) and len(wanted) == len(announced.capabilities)
    word = "identical, by " if same else "differently, by "
    return [Fact("Confirmed", (FactPart(word, "plain" if same else "warn"), message_part(announced.row)))]


def grant_of(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the object with recipient and capabilities; the MEUP v0.2 client wraps a grant."""
    inner = payload.get("grant")
    return inner if isinstance(inner, Mapping) else payload


def grant_facts(subject: Subject, payload: Mapping[str, Any]) -> list[Fact]:
    """Describes the grant that is revoked or acknowledged by id, as a link if it was captured."""
    grant = payload.get("grant_id")
    if not isinstance(grant, str):
        return []
    seen = [
        row
        for row in subject.capture.records.find_id(grant)
        if subject.capture.string("kind", row) == "capability/grant"
    ]
    if not seen:
        return [fact("Grant", f"{safe_line(grant, 120)}, not in the log", "warn", copy=grant)]
    given = capability_lines(grant_of(subject.capture.records.payload(seen[-1])).get("capabilities"))
    words = (message_part(seen[-1]), FactPart("  "), FactPart(safe_line(mask_text(", ".join(given)), 200), "mono"))
    return [Fact("Grant", words, copy=grant)]
