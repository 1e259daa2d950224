"""Computes capabilities of participants over time, predicts if a message is allowed, and finds refusals.

The effective set is the latest welcome or presence from a true gateway, plus later grants, minus later revocations.
Grants and revocations stay unconfirmed until a gateway announces a set that includes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from inspector.analysis.arrays.unique_ints import are_any_of
from inspector.analysis.passes.contexts.context_pass import ContextPass
from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.passes.participants.capability_changes import CapabilityChange, CapabilityChanges
from inspector.analysis.passes.participants.impersonation import TrustPass
from inspector.protocol.calls import has_target
from inspector.protocol.capabilities import MatchedMessage, covers_by_kind, depends_on_more, first_covering
from inspector.protocol.context_paths import normalise
from inspector.protocol.kinds import wraps_envelope
from inspector.protocol.participants import GATEWAY_IDS
from inspector.store.columns.block import OBJECT_KEY
from inspector.store.columns.flags import Flag
from inspector.store.messages.capture import Capture

_ANNOUNCING_KINDS = ("system/welcome", "system/presence")
_CHANGING_KINDS = ("capability/grant", "capability/revoke")
# Each one is decoded on each call.
_MAX_REFUSALS = 1_000
_METHODS_WITH_NAME = ("tools/call", "prompts/get")
"""Methods with `params.name` as their target."""


@dataclass(frozen=True, slots=True)
class HeldCapability:
    """A capability of a participant.

    Attributes:
        row: the message that gave it.
        confirmed: a gateway announced it; a grant alone does not confirm.
        grant: id of the grant that gave it, or None if unknown.
    """

    capability: Any
    row: int
    confirmed: bool
    grant: str | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """A message that a gateway refused, as reported by its error.

    Attributes:
        row: the error.
        message: the refused message; None if it was not seen.
        attempted: the refused kind, and so the missing capability; None if the error does not give it.
    """

    row: int
    message: int | None
    attempted: str | None


class CapabilityPass:
    """Capabilities by (space, participant). Changes no message.

    Attributes:
        changes: by space (string id) and name: the announced, granted and revoked sets, in order.
    """

    def __init__(self, capture: Capture, trust: TrustPass, contexts: ContextPass) -> None:
        self._capture = capture
        self._trust = trust
        self._contexts = contexts
        self.changes = CapabilityChanges(capture.strings)
        self._told = 0
        # cached result and the number of changes behind it
        self._cached_sets: dict[tuple[int, str], tuple[int, list[HeldCapability] | None]] = {}

    def feed(self, start: int, stop: int) -> None:
        """Processes messages `start` to `stop`."""
        columns, strings = self._capture.columns, self._capture.strings
        wanted = [code for code in map(strings.find, (*_ANNOUNCING_KINDS, *_CHANGING_KINDS)) if code is not None]
        let_through = columns["flags"][start:stop] & Flag.REFUSED.value == 0
        for row in (np.flatnonzero(are_any_of(columns["kind"][start:stop], wanted) & let_through) + start).tolist():
            kind = self._capture.string("kind", row)
            if kind in _CHANGING_KINDS:
                self._note_change(row, kind == "capability/grant")
            elif self._trust.is_gateway(row):
                self._note_announcement(row)

    def _note_announcement(self, row: int) -> None:
        payload = self._capture.records.decoded_record(row).payload
        if payload.get("event") == "leave":
            return  # a participant that left has no capabilities; its next join announces the new ones
        others = payload.get("participants")
        named = [payload.get("you"), payload.get("participant"), *(others if isinstance(others, list) else [])]
        space = int(self._capture.columns["space"][row])
        for item in named:
            if not isinstance(item, Mapping) or not isinstance(item.get("id"), str):
                continue
            capabilities = item.get("capabilities")
            if isinstance(capabilities, list):
                self.changes.add(space, item["id"], row, "announced", capabilities)

    def _note_change(self, row: int, granted: bool) -> None:
        told = self._capture.records.decoded_record(row)
        payload = told.payload
        # The MEUP v0.2 client wraps a grant, and revokes capabilities by their ids.
        inner = payload.get("grant")
        about = inner if isinstance(inner, Mapping) else payload
        recipient = about.get("recipient", about.get("to"))
        if not isinstance(recipient, str):
            return
        capabilities = about.get("capabilities")
        listed = capabilities if isinstance(capabilities, list) else []
        named = payload.get("grant_id")
        grant = told.identifier if granted else named if isinstance(named, str) else None
        space = int(self._capture.columns["space"][row])
        self.changes.add(space, recipient, row, "granted" if granted else "revoked", listed, grant)

    def take_new(self) -> Iterator[tuple[int, str, CapabilityChange, bool]]:
        """Returns changes since the last call, as `CapabilityChanges.all_changes_since`. Only one check may call it."""
        first, self._told = self._told, self.changes.entries
        return self.changes.all_changes_since(first)

    # Lookup

    def capabilities_of(self, space: int, name: str, before: int | None = None) -> list[HeldCapability] | None:
        """Returns the capabilities of a participant in the order given, or None if no message mentioned any.

        Args:
            before: the state when this message came; None for the present state.
        """
        changes = self.changes.get((space, name), [])
        if before is not None:
            return _capabilities_after(change for change in changes if change.row < before)
        known = self._cached_sets.get((space, name))
        # The cache is valid while the number of changes stays the same.
        if known is None or known[0] != len(changes):
            known = self._cached_sets[space, name] = (len(changes), _capabilities_after(changes))
        return None if known[1] is None else list(known[1])

    def revoked(self, space: int, name: str) -> list[CapabilityChange]:
        """Returns revocations since the last announced set; unconfirmed, since gateways do not announce them."""
        changes = self.changes.get((space, name), [])
        last = max((place for place, change in enumerate(changes) if change.what == "announced"), default=-1)
        return [change for change in changes[last + 1 :] if change.what == "revoked"]

    def predicted(self, row: int) -> tuple[bool | None, object]:
        """Predicts from the specification if a sender may send a message, with the capability that allows it.

        Returns (None, None) for a gateway's own message, for a sender without known capabilities, and for patterns that
        the program does not judge.
        """
        capture = self._capture
        sender, kind = capture.string("sender", row), capture.string("kind_raw", row)
        if sender is None or kind is None or sender in GATEWAY_IDS:
            return None, None
        held = self.capabilities_of(int(capture.columns["space"][row]), sender, row)
        if held is None:
            return None, None
        return first_covering((one.capability for one in held), self.asked(row, kind))

    def asked(self, row: int, kind: str) -> MatchedMessage:
        """Returns the parts of a message that capabilities match.

        The caller gives the kind: a proposal is judged by its call.
        """
        capture = self._capture
        return MatchedMessage(kind, capture.records.payload(row), capture.recipients(row), self._context_names(row))

    def asked_by(self, held: Iterable[object], row: int, kind: str) -> MatchedMessage:
        """Returns the same parts, but reads only the columns if the capabilities match no deeper."""
        capture = self._capture
        # Decoding the record is slow, so the columns are used if they hold all that the patterns match.
        if not self.is_in_columns(row, kind) or any(map(depends_on_more, held)):
            return MatchedMessage(
                kind, capture.records.decoded_record(row).payload, capture.recipients(row), self._context_names(row)
            )
        method, target = capture.string("method", row), capture.string("target", row)
        return MatchedMessage(
            kind, {"method": method, "params": {} if target is None else {"name": target}}, capture.recipients(row)
        )

    def is_in_columns(self, row: int, kind: str) -> bool:
        """Tells if kind, method and target hold everything that a capability without deep patterns may match."""
        method, target = self._capture.string("method", row), self._capture.string("target", row)
        told = method is not None and (target is not None if method in _METHODS_WITH_NAME else not has_target(method))
        return told and ":" not in kind and not wraps_envelope(kind)

    def _context_names(self, row: int) -> tuple[str, ...]:
        """Returns the names of a message's context: its path in the tree and its written path, or its id."""
        node = self._contexts.node_of(row)
        if node == MAIN:
            return ()
        written = normalise((self._capture.string("context", row) or "").removeprefix(OBJECT_KEY))
        return tuple(name for name in (self._contexts.tree.path(node), written) if name)

    def predict_kind(self, space: int, name: str, kind: str, before: int) -> bool | None:
        """Predicts from the kind alone if a participant could send a message; None if that is undecided.

        Args:
            before: the state when this message came.
        """
        held = self.capabilities_of(space, name, before)
        return None if held is None else covers_by_kind((one.capability for one in held), kind)

    def refusals(self, space: int, name: str, most: int = _MAX_REFUSALS) -> list[Refusal]:
        """Returns a participant's last refusals by a gateway, at most `most`, in order. O(messages)."""
        capture = self._capture
        columns, code = capture.columns, capture.strings.find("system/error")
        if not code:
            return []
        rows = np.flatnonzero((columns["kind"] == code) & (columns["space"] == space))
        # An error about a refusal is addressed to the participant that sent the message.
        rows = rows[capture.to_sets.sets_with_name(name)[columns["to_set"][rows]]]
        latest = (self.refusal(row) for row in reversed(rows[-_MAX_REFUSALS:].tolist()))
        return list(islice((refusal for refusal in latest if refusal is not None), most))[::-1]

    def refusal(self, row: int) -> Refusal | None:
        """Parses the refusal in a `system/error`; None for an error of another sort."""
        if not self._trust.is_gateway_or_unsigned(row):
            return None
        payload = self._capture.records.payload(row)
        attempted = payload.get("attempted_kind")
        about = [earlier for identifier in self._capture.records.correlation_ids(row)[:1]
                 for earlier in self._capture.records.find_id(identifier) if earlier != row]  # fmt: skip
        if not isinstance(attempted, str):
            if payload.get("error") not in ("capability_violation", "unauthorized_stream_write"):
                return None
            attempted = None
        return Refusal(row, about[-1] if about else None, attempted)


def _capabilities_after(changes: Iterable[CapabilityChange]) -> list[HeldCapability] | None:
    """Returns the capabilities after some changes, in the order given; None if no set was announced or granted."""
    held: list[HeldCapability] | None = None
    granted: dict[str, tuple[Any, ...]] = {}
    for change in changes:
        if held is None and change.what != "announced" and (change.what == "revoked" or not change.capabilities):
            continue
        held = held or []
        if change.what == "announced":
            held = [HeldCapability(one, change.row, True, _grant_of(one, granted)) for one in change.capabilities]
        elif change.what == "granted":
            for one in change.capabilities:
                _add_grant(held, HeldCapability(one, change.row, False, change.grant))
            if change.grant is not None:
                granted[change.grant] = change.capabilities
        else:
            gone = [*change.capabilities, *granted.get(change.grant or "", ())]
            held = [one for one in held if not _is_revoked(one, gone, change.grant)]
    return held


def _add_grant(held: list[HeldCapability], given: HeldCapability) -> None:
    """Adds a grant, unless a gateway confirmed it beforehand: its log has the welcome before the grant itself."""
    for place, one in enumerate(held):
        if one.confirmed and one.grant is None and one.capability == given.capability:
            held[place] = HeldCapability(one.capability, one.row, True, given.grant)
            return
    held.append(given)


def _grant_of(capability: object, granted: Mapping[str, Iterable[Any]]) -> str | None:
    """Returns the grant of an announced capability, since a revocation may name only that grant's id."""
    return next((grant for grant, given in granted.items() if capability in given), None)


def _is_revoked(held: HeldCapability, gone: Iterable[Any], grant: str | None) -> bool:
    """Tells if a revocation matches a capability: by its grant, by an equal pattern, or by its own id."""
    if grant is not None and held.grant == grant:
        return True
    identifier = held.capability.get("id") if isinstance(held.capability, Mapping) else None
    return any(one == held.capability or (identifier is not None and one == identifier) for one in gone)
