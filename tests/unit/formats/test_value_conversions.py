"""Tests of `inspector.formats.value_conversions`."""

from __future__ import annotations

import pytest

from inspector.formats.value_conversions import describe_record, error_words


def test_a_name_of_megabytes_is_shortened() -> None:
    described = describe_record("mode", {"k" * (10 << 20): 1, "speed": 3})
    assert len(described) < 100
    assert described.endswith(" 1, speed 3")
    assert len(describe_record("k" * (10 << 20), {"speed": 3})) < 100


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}', "529 Overloaded"),
        ('{"error":{"message":"usage limit"}}', "usage limit"),
        ("unexpected {status}", "unexpected {status}"),
        ("no space left", "no space left"),
    ],
)
def test_an_error_is_told_by_its_innermost_message(text: str, words: str) -> None:
    assert error_words(text) == words
