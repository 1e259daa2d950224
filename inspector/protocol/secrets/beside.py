"""Secrets that only what stands beside or above a value shows to be one: `{"name": "API_KEY", "value": "..."}`.

A column, an exported field and a completion have one value of a payload, without the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from inspector.protocol.secrets.masking import mask_secrets
from inspector.protocol.secrets.named import NAMES


def is_secret_beside(value: Any, path: Sequence[str]) -> bool:
    """Whether the value at a path below another is masked with its neighbours, and not without them.

    Args:
        value: decoded JSON.
        path: keys and, for arrays, numbers; as of `store.messages.payload_values.walk`, up to where it opens a text.
    """
    containers: list[tuple[Any, Any]] = []
    for step in path:
        if isinstance(value, dict) and step in value:
            containers.append((value, step))
            value = value[step]
        elif isinstance(value, list) and step.isdecimal() and len(step) < 10 and int(step) < len(value):
            containers.append((value, int(step)))
            value = value[int(step)]
        else:
            return False
    alone = framed = value
    places: list[Any] = []
    for container, step in reversed(containers):
        framed, place = _with_neighbours(container, step, framed)
        places.append(place)
    masked = mask_secrets(framed)
    for place in reversed(places):
        masked = masked[place] if isinstance(masked, list) or (isinstance(masked, dict) and place in masked) else None
    shown = mask_secrets(alone)
    return masked is not shown and bool(masked != shown)  # NaN is not what it is


def _with_neighbours(container: Any, step: Any, inner: Any) -> tuple[Any, Any]:
    """A container with only those of its members that may tell of one, and where that is in it then."""
    if isinstance(container, dict):
        named = {name: container[name] for name in NAMES.intersection(container) if isinstance(container[name], str)}
        return {**named, step: inner}, step
    before = container[step - 1] if step else None
    texts = [before if isinstance(before, str) else None, inner]
    if len(container) == 2 and step == 1:
        return texts, 1
    return [None, *texts], 2
