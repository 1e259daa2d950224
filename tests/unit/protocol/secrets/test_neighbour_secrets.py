"""One value of a payload is as secret as it is among its neighbours."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.filters.payloads import payload_field
from inspector.protocol.secrets.masking import MASK, mask_secrets
from inspector.protocol.secrets.neighbour_secrets import is_secret_by_neighbours
from inspector.store.messages.payload_values import value_at_path
from tests.builders import document_of, envelope

PAYLOAD: dict[str, Any] = {
    "env": [{"name": "API_KEY", "value": "correct horse"}, {"name": "LANG", "value": "en"}],
    "Tags": [{"Key": "db-password", "Value": {"raw": "x", "value": "battery staple"}}],
    "args": ["serve", "--token", "correct horse", "--port", "80"],
    "header": ["X-Api-Key", "k9Zq4horse7xx2Lm8Pq1"],
    "tokens": ["a1b2c3d4e5f6a7b8c9d0", "words"],
    "auth": "anna:battery-staple-9",
    "text": "hello",
    "nan": float("nan"),
}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (("env", "0", "value"), True),
        (("env", "0", "name"), False),
        (("env", "1", "value"), False),
        (("Tags", "0", "Value"), True),
        (("Tags", "0", "Value", "value"), True),
        (("args", "2"), True),
        (("args", "0"), False),
        (("args", "4"), False),
        (("header", "1"), True),
        (("tokens", "0"), True),
        (("tokens", "1"), False),
        (("text",), False),
        (("env", "7", "value"), False),
        (("nan",), False),
        (("text", "0"), False),
        ((), False),
    ],
)
def test_what_stands_beside_tells(path: tuple[str, ...], expected: bool) -> None:
    assert is_secret_by_neighbours(PAYLOAD, path) is expected


def test_a_field_tells_it_of_each_message() -> None:
    analysis = document_of(
        envelope(payload=PAYLOAD), envelope(payload={"env": [{"name": "LANG", "value": "en"}]})
    ).analysis
    field = payload_field(("env", "0", "value"))
    assert [field.secret_at(analysis, message) for message in range(2)] == ["value", None]


KEYS = st.sampled_from(["name", "value", "key", "env", "tokens", "text", "auth", "id"])
TEXTS = st.sampled_from(["API_KEY", "LANG", "--token", "correct horse", "a1b2c3d4e5f6a7b8c9d0", "password", "u:p"])
VALUES = st.recursive(
    TEXTS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=12
)


def paths(value: Any, before: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """All paths to texts."""
    if isinstance(value, str):
        return [before]
    items = value.items() if isinstance(value, dict) else enumerate(value)
    return [path for step, inner in items for path in paths(inner, (*before, str(step)))]


@given(VALUES)
def test_alone_as_among_the_rest(value: Any) -> None:
    masked = mask_secrets(value)
    for path in paths(value):
        whole, alone = value_at_path(masked, path), mask_secrets(value_at_path(value, path))
        assert is_secret_by_neighbours(value, path) == (whole == MASK != alone)
