"""Search in the text of a whole record."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from inspector.filters import full_text
from inspector.filters.full_text import TextFinder, record_text, record_texts, without_escapes


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
        ("café", json.dumps({"text": json.dumps({"name": "CAFÉ"})}).encode(), True),
        ('"name": "x"', json.dumps([json.dumps([json.dumps({"name": "x"})])]).encode(), True),
        ("ann", b'"x\\nann"', True),
        ("nann", b'"x\\nann"', False),
        ("日本", b'"\\u65e5\\u672c"', True),
        ("ошибка", '"ОШИБКА"'.encode(), True),
    ],
)
def test_found(needle: str, record: bytes, expected: bool) -> None:
    assert TextFinder(needle)(record) is expected


@given(st.text(), st.booleans())
def test_what_json_wrote_is_found(text: str, ascii_only: bool) -> None:
    record = json.dumps({"text": text}, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    if not any(ord(character) < 32 for character in text):
        assert text in record_text(record)
    assert TextFinder(text)(record)


@given(st.text(st.sampled_from('\\\\\\"/nufx0041\0\n')))
def test_escapes_are_resolved_from_left_to_right(text: str) -> None:
    assert without_escapes(text) == full_text._ESCAPES.sub(full_text._resolve_escape, text)


@example(b"k\xdd", " ")
@given(st.binary(), st.text(max_size=3))
def test_any_bytes_can_be_searched(record: bytes, needle: str) -> None:
    found = TextFinder(needle)(record)
    if " " not in needle:  # of bytes that are no JSON blanks are text as well
        assert found is TextFinder(needle)(b" " + record + b" ")
    assert found or not any(needle in text for text in record_texts(record))
