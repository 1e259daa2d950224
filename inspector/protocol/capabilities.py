"""Checks if a capability covers a message, by the specifications (docs/protocols.md 12).

Released gateways and clients differ in places, so this is a prediction beside the gateway's own verdict. Strings (v0.1)
match the kind alone. JSON patterns (v0.2 on) match kind, payload, addressee, and context if they have one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from inspector.protocol.bounded_regex import RegexRefusedError, search_pattern
from inspector.protocol.context_paths import normalise
from inspector.protocol.kinds import split_kind

_MAX_DEPTH = 32
_MAX_VALUES = 10_000


@dataclass(frozen=True, slots=True)
class MatchedMessage:
    """The properties of a message that capabilities match.

    Attributes:
        kind: as written, with its suffix.
        contexts: its context's path and original spelling; empty for a message in main.
    """

    kind: str
    payload: object = None
    to: tuple[str, ...] = ()
    contexts: tuple[str, ...] = ()


def covers_message(capability: object, asked: MatchedMessage) -> bool | None:
    """Returns True if a capability covers a message; None if its pattern cannot be evaluated (a refused expression)."""
    if isinstance(capability, str):
        return kind_covers(capability, asked.kind)
    if not isinstance(capability, Mapping):
        return False
    try:
        return _covers(capability, asked)
    except (RegexRefusedError, RecursionError):
        return None


def first_covering(capabilities: Iterable[object], asked: MatchedMessage) -> tuple[bool | None, object]:
    """Returns the verdict of several capabilities and the first that covers the message; None if undecidable."""
    verdict: bool | None = False
    for capability in capabilities:
        found = covers_message(capability, asked)
        if found:
            return True, capability
        # Undecidable as soon as one capability is, unless a later one covers the message.
        verdict = None if found is None else verdict
    return verdict, None


def covers_by_kind(capabilities: Iterable[object], kind: str) -> bool | None:
    """Returns True if a capability covers every message of a kind; None if it depends on the message."""
    verdict: bool | None = False
    for capability in capabilities:
        narrower = isinstance(capability, Mapping) and not NARROWING_KEYS.isdisjoint(capability)
        # The kind alone, without the conditions that narrow it.
        found = covers_message({"kind": capability.get("kind")} if narrower else capability, MatchedMessage(kind))  # type: ignore[union-attr] - checked above: a Mapping
        if found and not narrower:
            return True
        verdict = verdict if found is False else None
    return verdict


NARROWING_KEYS = frozenset({"payload", "to", "context"})
"""Keys of a JSON pattern that match more than the kind."""


def kind_covers(pattern: str, kind: str) -> bool:
    """Returns True if a kind's pattern covers a kind: `*` is anything; a short form covers longer ones.

    A pattern of a draft, as `mcp.request`, covers the canonical kind too.
    """
    if matches_glob(pattern, kind) or kind.startswith(pattern + ":"):
        return True
    canonical = pattern if "/" in pattern or ":" in pattern else split_kind(pattern).name
    return canonical != pattern and kind_covers(canonical, kind)


def matches_glob(pattern: str, text: str) -> bool:
    """Matches a text with a pattern in which `*` is any characters, also `/` and `:`. Linear."""
    first, *rest = pattern.split("*")
    if not rest:
        return pattern == text
    if not text.startswith(first) or not text[len(first) :].endswith(rest[-1]):
        return False
    # The end is matched already, so the parts between must come before it.
    place, stop = len(first), len(text) - len(rest[-1])
    for part in rest[:-1]:
        place = text.find(part, place, stop)
        if place < 0:
            return False
        place += len(part)
    return place <= stop


def _covers(capability: Mapping[str, Any], asked: MatchedMessage) -> bool:
    kinds = capability.get("kind")
    kinds = kinds if isinstance(kinds, list) else [kinds]
    if not any(isinstance(kind, str) and _kind_matches(kind, asked.kind) for kind in kinds):
        return False
    to = capability.get("to")
    # A message to all has no receivers, and a rule about receivers does not stop it.
    if to is not None and asked.to and not any(_matches(to, receiver, _MAX_DEPTH) for receiver in asked.to):
        return False
    if capability.get("context") is not None and not _is_within(capability["context"], asked.contexts):
        return False
    return "payload" not in capability or _matches(capability["payload"], asked.payload, _MAX_DEPTH)


def depends_on_more(capability: object) -> bool:
    """Returns True if a capability depends on more than kind, method and name."""
    if not isinstance(capability, Mapping):
        return False
    payload = capability.get("payload", {})
    if not {"to", "context"}.isdisjoint(capability) or not isinstance(payload, Mapping):
        return True
    if payload.keys() - {"method", "params"}:
        return True
    params = payload.get("params", {})
    return not isinstance(params, Mapping) or bool(params.keys() - {"name"})


def _is_within(pattern: object, contexts: tuple[str, ...]) -> bool:
    """Returns True for a message in a rule's context, or below it (p4m: "by context prefix")."""
    if isinstance(pattern, list):
        return any(_is_within(one, contexts) for one in pattern[:_MAX_VALUES])
    if not isinstance(pattern, str):
        return False
    if pattern.startswith("!"):
        return not _is_within(pattern[1:], contexts)
    path = normalise(pattern)
    return any(matches_glob(path, context) or matches_glob(f"{path}/*", context) for context in contexts)


def _kind_matches(pattern: str, kind: str) -> bool:
    if pattern.startswith("!"):
        return not kind_covers(pattern[1:], kind)
    return kind_covers(pattern, kind)


def _matches(pattern: object, value: object, depth: int) -> bool:
    """Matches a value with a sub-pattern: members that the pattern omits are free."""
    if depth <= 0:
        raise RegexRefusedError("a pattern nested too deeply")
    if isinstance(pattern, Mapping):
        return all(_member_matches(key, item, value, depth - 1) for key, item in pattern.items())
    if isinstance(pattern, list):
        return pattern == value or any(_matches(item, value, depth - 1) for item in pattern)
    if isinstance(pattern, str):
        return isinstance(value, str) and _text_matches(pattern, value)
    # In Python, True equals 1.
    return type(pattern) is type(value) and pattern == value


def _text_matches(pattern: str, text: str) -> bool:
    if pattern.startswith("!"):
        return not _text_matches(pattern[1:], text)
    if len(pattern) > 2 and pattern[0] == pattern[-1] == "/":
        return search_pattern(pattern[1:-1], text)
    return matches_glob(pattern, text)


def _member_matches(key: str, pattern: object, value: object, depth: int) -> bool:
    if key == "**":
        return any(_matches(pattern, item, depth) for item in _all_descendants(value))
    if key.startswith("$."):
        return any(_matches(pattern, item, depth) for item in _values_at_path(key[2:].split("."), value))
    if not isinstance(value, Mapping):
        return False
    if "*" in key:
        return any(
            isinstance(k, str) and matches_glob(key, k) and _matches(pattern, v, depth) for k, v in value.items()
        )
    return key in value and _matches(pattern, value[key], depth)


def _all_descendants(value: object) -> list[object]:
    """Returns a value and all its descendants, at most 10,000."""
    found, place = [value], 0
    # The limit bounds the time of a hostile pattern.
    while place < len(found) and len(found) < _MAX_VALUES:
        inner = found[place]
        place += 1
        if isinstance(inner, Mapping):
            found += inner.values()
        elif isinstance(inner, list):
            found += inner
    return found[:_MAX_VALUES]


def _values_at_path(steps: Sequence[str], value: object) -> list[object]:
    """Returns the values at a simple JSONPath: keys, `[n]` and `[*]` after them, `*` for any key."""
    found: list[object] = [value]
    for step in steps:
        name, *places = step.replace("]", "").split("[")
        if name:
            found = [item for one in found for item in _members(one, name)]
        for place in places:
            found = [item for one in found for item in _items(one, place)]
        found = found[:_MAX_VALUES]
    return found


def _members(value: object, name: str) -> list[object]:
    if not isinstance(value, Mapping):
        return []
    return list(value.values()) if name == "*" else [value[name]] if name in value else []


def _items(value: object, place: str) -> list[object]:
    if not isinstance(value, list):
        return []
    if place == "*":
        return value
    return [value[int(place)]] if place.isdecimal() and len(place) < 10 and int(place) < len(value) else []
