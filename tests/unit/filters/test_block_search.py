"""Search over raw bytes finds what decoding each record finds."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from inspector.filters import block_search
from inspector.filters.block_search import NO, YES, BlockSearch
from inspector.filters.full_text import TextFinder, record_texts
from inspector.filters.patterns import PatternError, PatternFinder
from inspector.filters.raw_expression import raw_literal

_CHARACTERS = st.sampled_from(
    (
        *"aAkKsSiIßİéÉ日\"'/\\<&+ \n\t\x00\x1b\x7f",
        "\u0131",
        "\u03c3",
        "\u03c2",
        "\u017f",
        "\u212a",
        "\ufb00",
        "\ufffd",
        "\U0001f600",
        "ann",
        "12",
    )
)
_TEXTS = st.lists(_CHARACTERS, max_size=6).map("".join)
_RAW = st.lists(
    st.one_of(
        st.sampled_from(
            (
                *(
                    "\\",
                    '\\"',
                    "\\/",
                    "\\n",
                    "\\\\n",
                    "\\u0041",
                    "\\u004B",
                    "\\\\u006b",
                    "\\u005cu0041",
                    "\\u005c\\u0075",
                ),
                *(
                    "\\u0030041",
                    "\\u003c",
                    "\\\\\\u002f",
                    "\\u0022",
                    "\\u00e9",
                    "\\u00DF",
                    "\\u212A",
                    "\\ud83d",
                    "\\ude00",
                ),
                *("\\\\ud83d\\\\ude00", "\\u00", "u0041", "\\u000a", "{", "}"),
            )
        ).map(str.encode),
        st.sampled_from((b"\xff", b"\xe6\x97", b"\xed\xa0\xbd", b"\xc3", b"\xc3\xa9", b"\n", b"\r")),
        _CHARACTERS.map(lambda text: text.encode("utf-8", "surrogatepass")),
    ),
    max_size=5,
).map(b"".join)


def _written(text: str, depth: int, ascii_only: bool, html_safe: bool) -> bytes:
    for _ in range(depth):
        text = json.dumps({text[:1]: text}, ensure_ascii=ascii_only, separators=(",", ":"))
        if html_safe:
            text = text.replace("<", "\\u003c").replace("&", "\\u0026").replace("+", "\\u002B").replace("/", "\\/")
    return text.encode("utf-8", "surrogatepass")


_RECORDS = st.lists(
    st.one_of(_RAW, st.builds(_written, _TEXTS, st.integers(0, 3), st.booleans(), st.booleans())), max_size=6
)
_NEEDLES = st.one_of(_TEXTS, st.sampled_from(('":"a', '{"a', "}\n{", "aa", "<a", "\\u0041", "\ud83d", "\ud83d\ude00")))
_SEPARATORS = st.sampled_from((b"\n", b"\r\n", b"", b",", b"x\nA\n", b"\n\\", b" "))
_PARTS = st.sampled_from(
    (
        *(
            "a",
            "A",
            "kk?",
            "ann",
            "I",
            "é",
            "É",
            "\u03c3",
            "日",
            '"',
            "/",
            r"\\",
            "<",
            " ",
            r"\n",
            "\ufffd",
            "😀",
            r"\t",
        ),
        *(
            ".",
            ".*",
            ".{2}",
            "[^a]",
            "[^a]+",
            r"\w",
            r"\W",
            r"\d{1,2}",
            r"\s",
            r"\S+",
            "[a-z]",
            "[é-ü]",
            "[^\\x00-\\uffff]",
        ),
        *(
            "^",
            "$",
            r"\b",
            r"\B",
            r"\A",
            r"\Z",
            "(?=a)",
            "(?!a)",
            "(?<=a)",
            "(?<!n)",
            r"(a|k)\1",
            "(?>a*)",
            "a*+",
            "(k)?(?(1)a|n)",
        ),
        *(
            "(?i:an)",
            "(?-i:an)",
            "(?s:.)",
            "(?a:\\w)",
            "(ann|12)",
            "(?:a|)",
            "(?:an){1,2}",
            "(?:k{1,3}){2}",
            "a{0}",
            "n{0,2000}",
        ),
    )
)
_PATTERNS = st.lists(_PARTS, min_size=1, max_size=4).map("".join)


def laid_out(records: list[bytes], between: bytes) -> tuple[bytes, np.ndarray, np.ndarray]:
    starts, data = [], b""
    for record in records:
        data += between
        starts.append(len(data))
        data += record
    ends = [start + len(record) for start, record in zip(starts, records, strict=True)]
    return data + between, np.array(starts, np.int64), np.array(ends, np.int64)


@example([b"\\\\u0041nn"], "ann", False, b"\n", 1)
@example([b'"a\\\\\\u002fn"', b"a/N"], "a/n", False, b"\n", 1)
@example([b'{"a":"x"}', b'{"a":"y"}'], '"a":"', True, b"", 0)
@given(_RECORDS, _NEEDLES, st.booleans(), _SEPARATORS, st.sampled_from((0, 1, 64)))
def test_literals_are_found_as_in_decoded_texts(
    records: list[bytes], needle: str, match_case: bool, between: bytes, sample: int
) -> None:
    folded = needle if match_case else needle.casefold()
    expected = [
        any(folded in (text if match_case else text.casefold()) for text in record_texts(record)) for record in records
    ]
    finder = TextFinder(needle, match_case=match_case)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(block_search, "_SAMPLE_RECORDS", sample)  # so many tell whether a literal is in many
        patch.setattr(block_search, "_MANY_MATCHES", 0 if sample else -1)
        assert finder.search_records(*laid_out(records, between)).tolist() == expected
        may_match = finder.may_match(*laid_out(records, between))
    assert not (np.array(expected, np.bool_) & ~may_match).any()
    assert [finder(record) for record in records] == expected


@given(_RECORDS, _PATTERNS, st.booleans(), _SEPARATORS)
def test_expressions_are_found_as_in_decoded_texts(
    records: list[bytes], pattern: str, match_case: bool, between: bytes
) -> None:
    try:
        slow = re.compile(pattern, re.MULTILINE | (0 if match_case else re.IGNORECASE))
    except re.error:
        with pytest.raises(PatternError):
            PatternFinder(pattern, match_case=match_case)
        return
    expected = [any(slow.search(text) for text in record_texts(record)) for record in records]
    finder = PatternFinder(pattern, match_case=match_case)
    assert finder.search_records(*laid_out(records, between)).tolist() == expected
    parts = [finder.in_part(record, first=True, last=True) for record in records]
    assert parts == expected


@given(st.binary(max_size=300), st.text(max_size=3), st.booleans())
def test_any_bytes_and_needles(data: bytes, needle: str, match_case: bool) -> None:
    records = data.split(b"\n")
    finder = TextFinder(needle, match_case=match_case)
    assert finder.search_records(*laid_out(records, b"\n")).tolist() == [finder(record) for record in records]


@pytest.mark.parametrize("needle", ["module", '"kind":"chat"', "src/a.py", "é"])
def test_bytes_without_escapes_are_not_decoded(needle: str) -> None:
    records = [
        json.dumps({"a": needle}, ensure_ascii=False).encode(),
        b'{"kind":"chat","text":"' + needle.encode() + b'"}',
        b"{}",
    ]
    records = [record for record in records if b"\\" not in record]
    found = BlockSearch(raw_literal(needle, match_case=True)).search_records(*laid_out(records, b"\n"))
    assert found.tolist() == [YES] * (len(records) - 1) + [NO]


def test_an_expression_over_one_line_takes_linear_time() -> None:
    records = [b'{"a":"x"}'] * 20_000
    finder = PatternFinder('a":[^y]*y')
    assert not finder.search_records(*laid_out(records, b"")).any()
