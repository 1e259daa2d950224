"""Tests of `inspector.formats.value_conversions`."""

from __future__ import annotations

from inspector.formats.value_conversions import describe_record


def test_a_name_of_megabytes_is_shortened() -> None:
    described = describe_record("mode", {"k" * (10 << 20): 1, "speed": 3})
    assert len(described) < 100
    assert described.endswith(" 1, speed 3")
    assert len(describe_record("k" * (10 << 20), {"speed": 3})) < 100
