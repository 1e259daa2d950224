"""JSON cut anywhere is made whole again, and says what it said as far as it goes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.protocol.header import decode_json
from inspector.protocol.truncated_json import MAX_DEPTH, TRUNCATION_MARK, complete_json, is_too_deep

_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)


def _is_head_of(cut: Any, whole: Any) -> bool:
    """Whether `cut` is `whole` without its end: fewer items, the last of them itself cut."""
    if isinstance(cut, str) and isinstance(whole, str):
        return cut == whole or (cut.endswith(TRUNCATION_MARK) and whole.startswith(cut[: -len(TRUNCATION_MARK)]))
    if isinstance(cut, list) and isinstance(whole, list):
        return len(cut) <= len(whole) and all(map(_is_head_of, cut, whole))
    if isinstance(cut, dict) and isinstance(whole, dict):
        return all(key in whole and _is_head_of(value, whole[key]) for key, value in cut.items())
    return cut == whole and type(cut) is type(whole)


@given(st.dictionaries(st.text(), _VALUES, min_size=1), st.data(), st.booleans())
def test_every_beginning_of_an_object_is_completed_to_what_it_said_so_far(
    value: dict[str, Any], data: st.DataObject, ascii_: bool
) -> None:
    raw = json.dumps(value, ensure_ascii=ascii_).encode("utf-8", "surrogatepass")
    stop = data.draw(st.integers(1, len(raw)))
    found = complete_json(raw[:stop])
    assert found is not None
    cut = decode_json(found)
    # Half a pair of surrogates is text of its own once the other half is cut off.
    assert _is_head_of(cut, value) or "\\ud" in found.decode("utf-8", "replace")
    if stop == len(raw):
        assert cut == decode_json(raw)


@given(st.binary(max_size=200))
def test_any_bytes_give_json_or_nothing_and_never_an_error(data: bytes) -> None:
    found = complete_json(data)
    assert found is None or len(found) <= 2 * len(data) + 8


def test_a_message_says_its_keys_and_the_beginning_of_its_text() -> None:
    raw = json.dumps({"id": "x", "kind": "chat", "payload": {"text": "long " * 100, "n": 1}}).encode()
    assert decode_json(complete_json(raw[:58]) or b"") == {
        "id": "x", "kind": "chat", "payload": {"text": "long long" + TRUNCATION_MARK},
    }  # fmt: skip


def test_json_in_a_string_is_completed_too() -> None:
    inner = json.dumps({"kind": "chat", "payload": {"text": "a" * 500}})
    raw = json.dumps({"time": 1, "message": inner}).encode()
    found = decode_json(decode_json(complete_json(raw[:90]) or b"")["message"].encode())
    assert found["kind"] == "chat"
    assert found["payload"]["text"].startswith("aaa")


@pytest.mark.parametrize("raw", [b"[" * 100_000, b'{"a":' * 50_000, b'{"kind":"chat","payload":' + b"[" * 5_000])
def test_what_is_nested_too_deeply_ends_where_it_may(raw: bytes) -> None:
    found = complete_json(raw)
    assert found is not None
    assert is_too_deep(raw)
    value, depth = decode_json(found), 0
    while isinstance(value, dict | list) and value:
        value = value[-1] if isinstance(value, list) else list(value.values())[-1]
        depth += 1
    assert depth <= MAX_DEPTH


@pytest.mark.parametrize("raw", [b"", b"   ", b'"text', b"12345", b"nothing at all", b"#stream#data", b"\x00\x01"])
def test_what_begins_no_object_is_nothing(raw: bytes) -> None:
    assert complete_json(raw) is None
