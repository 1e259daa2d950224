"""Who may do what, by what was announced and granted (docs/protocols.md 2, Spoofing, and 12)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.second_reader.messages import GATEWAYS, Message

Key = tuple[str | None, str]
"""Space and participant."""


@dataclass
class Held:
    """What one may do: patterns, each with the grant it came by, or None where it was announced alone."""

    patterns: list[tuple[Any, str | None]] = field(default_factory=list)
    grants: dict[str, list[Any]] = field(default_factory=dict)


def held(messages: list[Message]) -> dict[Key, Held]:
    """By participant, those of whom anything was announced or granted."""
    found: dict[Key, Held] = {}
    for message in messages:
        if message.refused:
            continue
        if not message.forged and message.kind in ("system/welcome", "system/presence") and message.sender in GATEWAYS:
            _announced(message, found)
        if message.kind == "capability/grant":
            _granted(message, found)
        elif message.kind == "capability/revoke":
            _revoked(message, found)
    return found


def _announced(message: Message, found: dict[Key, Held]) -> None:
    payload = message.payload
    if payload.get("event") == "leave":
        return
    others = payload.get("participants")
    told = [payload.get("you"), payload.get("participant"), *(others if isinstance(others, list) else ())]
    for one in told:
        if isinstance(one, dict) and isinstance(one.get("id"), str) and isinstance(one.get("capabilities"), list):
            of = found.setdefault((message.space, one["id"]), Held())
            of.patterns = [(pattern, _grant_of(pattern, of)) for pattern in one["capabilities"]]


def _granted(message: Message, found: dict[Key, Held]) -> None:
    who, patterns = message.payload.get("recipient"), message.payload.get("capabilities")
    if isinstance(who, str) and isinstance(patterns, list) and patterns:
        of = found.setdefault((message.space, who), Held())
        for pattern in patterns:  # a gateway's welcome may have told it already: then it is known by its grant as well
            known = (pattern, None)
            if known in of.patterns:
                of.patterns[of.patterns.index(known)] = (pattern, message.id)
            else:
                of.patterns.append((pattern, message.id))
        if message.id is not None:
            of.grants[message.id] = patterns


def _grant_of(pattern: Any, of: Held) -> str | None:
    """The grant that what was announced came by."""
    return next((grant for grant, given in of.grants.items() if pattern in given), None)


def _revoked(message: Message, found: dict[Key, Held]) -> None:
    who, grant, patterns = (message.payload.get(name) for name in ("recipient", "grant_id", "capabilities"))
    of = found.get((message.space, who)) if isinstance(who, str) else None
    if of is None:
        return
    gone = [*(patterns if isinstance(patterns, list) else []), *of.grants.get(str(grant), [])]
    of.patterns = [one for one in of.patterns if one[0] not in gone and (grant is None or one[1] != grant)]
