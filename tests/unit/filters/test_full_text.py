"""Search in the text of a whole record."""

from __future__ import annotations

import json
import unicodedata
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from inspector.filters import full_text
from inspector.filters.full_text import Literal, TextFinder, record_text, record_texts, without_escapes
from inspector.filters.records import Records


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


_PIECES = st.sampled_from(
    (
        *("a", "A", "k", "K", "s", "S", "ß", "İ", "é", "日", "本", "ŉ", '"', "/", "\\", " ", "\n", "ff", "ann", '\\"'),
        *("\u017f", "\u0131", "\u212a", "\ufb00", "\\n", "\\u004b", "\\u00e9", "\\ud83d"),
    )
)
_TEXTS = st.lists(_PIECES, max_size=6).map("".join)


def _written(text: str, depth: int, ascii_only: bool) -> bytes:
    for _ in range(depth):
        text = json.dumps(text, ensure_ascii=ascii_only)
    return text.encode("utf-8", "surrogatepass")


_RECORDS = st.lists(
    st.one_of(st.builds(_written, _TEXTS, st.integers(0, 3), st.booleans()), st.binary(max_size=8)), max_size=6
)


@given(_RECORDS, _TEXTS, st.binary(max_size=3), st.sampled_from((0, 1, 64)))
def test_many_at_once_are_what_each_is(records: list[bytes], needle: str, between: bytes, first: int) -> None:
    starts, data = [], b""
    for record in records:
        data += between
        starts.append(len(data))
        data += record
    ends = [start + len(record) for start, record in zip(starts, records, strict=True)]
    with patch.object(full_text, "_SAMPLE_RECORDS", first):  # of so many it is taken that the others are like them
        found = TextFinder(needle).search_records(data, np.array(starts, np.int64), np.array(ends, np.int64))
    folded = needle.casefold()
    assert found.tolist() == [any(folded in text.casefold() for text in record_texts(record)) for record in records]


@given(
    st.lists(st.text("abc", max_size=30).map(str.encode), min_size=1, max_size=40),
    st.text("abc", min_size=1, max_size=13).map(str.encode),
    st.sampled_from((0, 1, 64)),
)
def test_bytes_are_found_where_each_record_has_them(records: list[bytes], needle: bytes, first: int) -> None:
    data, ends = b"a".join(records), np.array([len(record) + 1 for record in records], np.int64).cumsum() - 1
    starts = ends - np.array([len(record) for record in records], np.int64)
    with patch.object(full_text, "_SAMPLE_RECORDS", first):
        places, rows = Literal(needle, match_case=True).one_in_each(data, Records(data, starts, ends))
    assert rows.tolist() == [row for row, record in enumerate(records) if needle in record]
    for place, row in zip(places.tolist(), rows.tolist(), strict=True):
        assert starts[row] <= place <= ends[row] - len(needle)
        assert data[place : place + len(needle)] == needle


def test_nothing_folds_to_letters_without_case() -> None:
    for character in map(chr, range(0x110000)):
        folded = character.casefold()
        if folded != character:
            assert not any(unicodedata.category(c) == "Lo" for c in folded)
