"""The outer level of one JSON object, and what is said of bytes that are none."""

from __future__ import annotations

import json
import re
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.protocol.header import (
    ABSENT,
    MAX_LENIENT,
    NotAnObjectError,
    _replace_refused,
    decode_json,
    iterate_members,
    read_header,
)


def test_reads_known_keys_and_leaves_the_rest() -> None:
    header = read_header(b'{"id":7,"from":"a","payload": {"a" : 1} ,"to":null,"unknown":{"x":[]}}')
    assert (header.id, header.sender, header.to, header.kind) == (7, "a", None, ABSENT)
    assert bytes(header.payload) == b'{"a" : 1}'
    assert not header.envelope


@pytest.mark.parametrize(
    "raw",
    [
        b'{"kind":"chat","id":"\\ud800","payload": {"b" :2,  "b":3.0} }',
        b'{"kind":"chat","ts":NaN,"payload": {"b" :2,  "b":3.0} }',
        b'{"kind":"chat","from":"k\xe4se","payload": {"b" :2,  "b":3.0} }',
        b' { "id" : Infinity , "kind" : "chat", "payload": {"b" :2,  "b":3.0} } ',
    ],
    ids=["lone surrogate", "NaN", "not UTF-8", "blanks"],
)
def test_what_the_fast_decoder_refuses_keeps_its_bytes(raw: bytes) -> None:
    header = read_header(raw)
    assert header.kind == "chat"
    assert bytes(header.payload) == b'{"b" :2,  "b":3.0}'


@pytest.mark.parametrize(
    ("raw", "sentence_end"),
    [
        (b"", "JSON that is cut after 0 B"),
        (b'{"kind":"chat"', "JSON that is cut after 14 B"),
        (b'{"kind":"ch', "no JSON at byte 8: Unterminated string"),
        (b'{"kind" "chat"}', "no JSON at byte 8: Expecting ':' delimiter"),
        ('{"käse" x}'.encode(), "no JSON at byte 9: Expecting ':' delimiter"),
        (b'{"a":1}{"b":2}', "no JSON at byte 7: Extra data"),
        (b"2026-01-05 started", "no JSON at byte 4: Extra data"),
        (b'{"a":"\xff"', "not UTF-8 at byte 6"),
        (b"\xff\xfe{\x00}\x00", "not UTF-8 at byte 0"),
        (b"\x00\x00", "no JSON at byte 0: Expecting value"),
        (b"[1]", "a JSON array, where an object was expected"),
        (b'"x"', "a JSON string, where an object was expected"),
        (b"7", "a JSON number, where an object was expected"),
        (b"7.5", "a JSON number, where an object was expected"),
        (b"true", "a JSON boolean, where an object was expected"),
        (b"null", "a JSON null, where an object was expected"),
        (b"[" * 100_000, "JSON nested too deeply to read"),
        (b'{"kind":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "JSON nested too deeply to read"),
        (b'{"payload":' + b'{"a":' * 100_000 + b"1" + b"}" * 100_001, "JSON nested too deeply to read"),
    ],
)
def test_says_what_it_is_instead(raw: bytes, sentence_end: str) -> None:
    with pytest.raises(NotAnObjectError) as caught:
        read_header(raw)
    assert str(caught.value) == sentence_end


def test_a_number_of_too_many_digits_is_no_reason_to_fail() -> None:
    with pytest.raises(NotAnObjectError, match="JSON with a value that cannot be read: "):
        decode_json(b"9" * 5000)


def test_a_foreign_encoding_is_read_as_far_as_it_goes() -> None:
    assert decode_json(b'{"text":"k\xe4se"}') == {"text": "k\udce4se"}


def test_half_a_surrogate_pair_inside_a_decoded_string_is_read() -> None:
    assert decode_json('{"a":"\ud800"}'.encode("utf-8", "surrogatepass")) == {"a": "\ud800"}


@given(
    st.dictionaries(st.text(max_size=4), st.recursive(st.none() | st.booleans() | st.text(), st.lists, max_leaves=4)),
    st.sampled_from([(",", ":"), (" , ", " :\t")]),
)
def test_members_give_every_value_with_its_own_bytes(value: dict[str, object], separators: tuple[str, str]) -> None:
    raw = json.dumps(value, separators=separators).encode()
    found = list(iterate_members(raw))
    assert {key: item for key, item, _ in found} == value
    assert all(written in raw and json.loads(written) == item for _, item, written in found)


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(raw: bytes) -> None:
    with suppress(NotAnObjectError):
        assert read_header(raw).kind is not None


FILLING = b"x" * MAX_LENIENT


@pytest.mark.parametrize(
    ("odd", "key", "value"),
    [
        (b'"id":"a","x":"\\ud800"', "id", "a"),
        (b'"id":"a\\ud83d","x":1', "id", "a\ufffd"),
        (b'"id":"a\\\\ud83d","x":"\\ud800"', "id", "a\\ud83d"),
        (b'"id":"a","x":NaN,"y":[NaN,-Infinity, Infinity]', "id", "a"),
        (b'"id":"\xff\xfe"', "id", "??"),
    ],
)
def test_a_long_object_with_oddities_is_read_without_building_it(odd: bytes, key: str, value: str) -> None:
    raw = b'{"kind":"chat",' + odd + b',"payload":{"text":"' + FILLING + b'"}}'
    header = read_header(raw)
    assert getattr(header, key) == value
    assert header.kind == "chat"
    assert FILLING in bytes(header.payload)


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"[" * MAX_LENIENT * 2, "a JSON array, where an object was expected"),
        (b'{"a":' * MAX_LENIENT, "JSON nested too deeply to read"),
        (b'{"kind":"chat","payload":[' + b"1," * MAX_LENIENT, "JSON that is cut after"),
        (b'{"kind":"chat","payload":"' + FILLING, "JSON that is cut after"),
        (b"[1," + b"1," * MAX_LENIENT + b"1]", "a JSON array, where an object was expected"),
        (FILLING * 2, "no JSON at byte 0"),
        (b'{"kind":}' + FILLING, "no JSON at byte 8"),
    ],
)
def test_a_long_line_that_is_no_object_says_what_it_is(raw: bytes, reason: str) -> None:
    with pytest.raises(NotAnObjectError, match=reason):
        read_header(raw)


PIECES = [b"\\", b"\\\\", b"\\ud800", b"\\uDFff", b"\\u0041", b"\xff", b"\xe2\x82", "é€".encode(), b"x"]


@given(st.lists(st.sampled_from(PIECES)).map(b"".join))
def test_what_is_tamed_keeps_its_length_and_its_escapes(raw: bytes) -> None:
    def one_by_one(found: re.Match[bytes]) -> bytes:
        return found[0] if found[0] == rb"\\" else rb"\ufffd"

    text = re.sub("[\ud800-\udfff]", "?", raw.decode("utf-8", "surrogateescape")).encode()
    expected = re.sub(rb"\\\\|\\u[dD][89a-fA-F][0-9a-fA-F]{2}", one_by_one, text)
    assert _replace_refused(raw) == expected
    assert len(expected) == len(raw)
