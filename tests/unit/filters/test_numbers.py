"""Numbers and units."""

from __future__ import annotations

import pytest

from inspector.filters.numbers import scale_number, split_number


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("10", (10, "")), ("-3", (-3, "")), ("+3", (3, "")), ("1.5kB", (1.5, "kB")), (".5s", (0.5, "s")),
        ("2.", (2.0, "")), ("1e3", (1000.0, "")), ("7MiB", (7, "MiB")), ("3f2a", None), ("abc", None), ("10kg", None),
        ("1_000", None), ("٣", None), ("-", None), ("0x10", None), ("inf", None), ("nan", None),
    ],
)  # fmt: skip
def test_split(text: str, expected: tuple[float, str] | None) -> None:
    assert split_number(text) == expected


@pytest.mark.parametrize("text", ["9" * 5000, "1e999", "-1e999"])
def test_absurd_numbers_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="The number is"):
        split_number(text)


@pytest.mark.parametrize(
    ("value", "unit", "field", "expected"),
    [
        (1.5, "kB", "size", 1500), (1, "KiB", "size", 1024), (0.1, "s", "latency", 100), (250, "us", "latency", 0.25),
        (2, "min", "latency", 120_000), (2, "k", "tokens", 2000), (2, "s", "size", None), (2, "kB", "no", None),
        (0.5, "", "size", 0.5),
    ],
)  # fmt: skip
def test_scaled(value: float, unit: str, field: str, expected: float | None) -> None:
    assert scale_number(value, unit, field) == expected
