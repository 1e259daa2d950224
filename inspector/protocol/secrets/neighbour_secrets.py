"""Detects values that are secret only by their neighbours or parents: `{"name": "API_KEY", "value": "..."}`.

Columns, exported fields and completions show one value of a payload without the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from inspector.protocol.secrets.masking import mask_secrets
from inspector.protocol.secrets.named_value_secrets import NAME_KEYS


def is_secret_by_neighbours(value: Any, path: Sequence[str]) -> bool:
    """Returns True if the value at a path is masked with its neighbours, and not alone.

    Args:
        value: decoded JSON.
        path: keys and, for arrays, numbers, as in `store.messages.payload_values.value_at_path`, up
            to an embedded JSON text.
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
    # Masked with and without its neighbours, and then compared.
    for container, step in reversed(containers):
        framed, place = _with_neighbours(container, step, framed)
        places.append(place)
    masked = mask_secrets(framed)
    for place in reversed(places):
        masked = masked[place] if isinstance(masked, list) or (isinstance(masked, dict) and place in masked) else None
    shown = mask_secrets(alone)
    return masked is not shown and bool(masked != shown)  # NaN differs from itself


def _with_neighbours(container: Any, step: Any, inner: Any) -> tuple[Any, Any]:
    """Returns a container with only the members that may identify one, and its key there."""
    if isinstance(container, dict):
        # Only names matter beside a value; other members would cost time.
        named = {
            name: container[name] for name in NAME_KEYS.intersection(container) if isinstance(container[name], str)
        }
        return {**named, step: inner}, step
    before = container[step - 1] if step else None
    texts = [before if isinstance(before, str) else None, inner]
    if len(container) == 2 and step == 1:
        return texts, 1
    return [None, *texts], 2
