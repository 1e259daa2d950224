"""Search in the text of a whole record."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.filters.full_text import record_text, text_finder


@pytest.mark.parametrize(
    ("needle", "record", "expected"),
    [
        ("CAFÉ", b'{"a":"caf\\u00e9"}', True),
        ("café", '{"a":"CAFÉ"}'.encode(), True),
        ("strasse", '"Straße"'.encode(), True),
        ("kelvin", "\u212aelvin".encode(), True),
        ('say "hi"', b'{"a":"say \\"hi\\""}', True),
        ('"kind":"chat"', b'{"kind":"chat"}', True),
        ("a\nb", b'"a\\nb"', True),
        ("😀", b'"\\ud83d\\ude00"', True),
        ("c:\\temp", b'"C:\\\\temp"', True),
        ("\\n", b'"a\\\\nb"', True),
        ("x", b"\xff\xfeX", True),
        ("y", b"\xff\xfeX", False),
        ("", b"", True),
        ("\ud800", b'"\\ud800"', True),
    ],
)
def test_found(needle: str, record: bytes, expected: bool) -> None:
    assert text_finder(needle)(record) is expected


@given(st.text(), st.booleans())
def test_what_json_wrote_is_found(text: str, ascii_only: bool) -> None:
    record = json.dumps({"text": text}, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    if not any(ord(character) < 32 for character in text):
        assert text in record_text(record)
    assert text_finder(text)(record)


@given(st.binary(), st.text(max_size=3))
def test_any_bytes_can_be_searched(record: bytes, needle: str) -> None:
    text_finder(needle)(record)
