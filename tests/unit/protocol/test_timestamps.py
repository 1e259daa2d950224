"""Times as wires and logs write them."""

from __future__ import annotations

import math
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.protocol.time_columns import parse_times
from inspector.protocol.timestamps import (
    DATED_FROM_NS,
    NO_TIME,
    format_time,
    log_time,
    parse_date,
    parse_instant,
    parse_time,
)

NINE = 1_767_603_600_000_000_000  # 2026-01-05T09:00:00Z


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("2026-01-05T09:00:00Z", NINE),
        ("2026-01-05T09:00:00.010Z", NINE + 10_000_000),
        ("2026-01-05T09:00:00.0101Z", NINE + 10_100_000),
        ("2026-01-05T09:00:00.123456789Z", NINE + 123_456_789),
        ("2026-01-05T09:00:00.1234567891Z", NINE + 123_456_789),
        ("2026-01-05T10:00:00+01:00", NINE),
        ("2026-01-05T10:00:00.5+01:00", NINE + 500_000_000),
        ("2026-01-05T04:00:00.250-05:00", NINE + 250_000_000),
        ("2026-01-05T09:00:00", NINE),
        ("2026-01-05 09:00:00", NINE),
        ("2026-01-05 09:00:00,250", NINE + 250_000_000),
        ("2026-01-05t09:00:00z", NINE),
        ("2026-01-05t09:00:00.5z", NINE + 500_000_000),
        ("1767603600", NINE),
        ("1767603600.5", NINE + 500_000_000),
        ("1767603600000", NINE),
        ("1712011230123", 1_712_011_230_123_000_000),  # not 12 January 1712
        ("1767603600000000", NINE),
        (1_767_603_600.123456, NINE + 123_456_000),
        (1_767_603_600.1, NINE + 100_000_000),
        ("1969-12-31T23:59:59.999Z", -1_000_000),
        (1_767_603_600, NINE),
        (1_767_603_600.5, NINE + 500_000_000),
        (1_767_603_600_000, NINE),
        (1_767_603_600_000_000, NINE),
        (NINE, NINE),
        (0, 0),
    ],
)
def test_reads(written: object, read: int) -> None:
    assert parse_time(written) == read


@pytest.mark.parametrize(
    "written",
    [
        "", "soon", "09:00", "2026-13-05T09:00:00Z", "2026-01-05T25:00:00.000Z", "2026-01-05T09:00:00.XYZZ",
        "9999-12-31T23:59:59.999Z", "0001-01-01T00:00:00Z", "0001-01-01T00:00:00+23:59", "2026-01-05T09:00:00.٣٣٣",
        math.nan, math.inf, -math.inf, 1e300, 10**40, -(10**40), True, False, None, [], {}, b"x",
    ],
)  # fmt: skip
def test_is_no_time(written: object) -> None:
    assert parse_time(written) == NO_TIME


@pytest.mark.parametrize("written", [12345, 3.7, 0, -1, "0000012345", "12345", 946_684_799])
def test_is_no_moment(written: object) -> None:
    assert parse_date(written) == NO_TIME


@pytest.mark.parametrize("written", ["1970-01-01T00:00:12Z", 1_767_603_600, 1_767_603_600_000, "1767603600000"])
def test_is_a_moment(written: object) -> None:
    assert parse_date(written) == parse_time(written) != NO_TIME


def test_an_instant_may_lie_beyond_what_columns_hold() -> None:
    assert parse_instant("9999-12-31") > 2**63
    assert parse_instant("0001-01-01") < -(2**63)


@pytest.mark.parametrize(
    ("time_ns", "shown"),
    [
        (NINE, "2026-01-05T09:00:00.000Z"),
        (NINE + 10_000_000, "2026-01-05T09:00:00.010Z"),
        (NINE + 1_000, "2026-01-05T09:00:00.000001Z"),
        (NINE + 1, "2026-01-05T09:00:00.000000001Z"),
        (-1_000_000, "1969-12-31T23:59:59.999Z"),
        (NO_TIME, None),
    ],
)
def test_shows(time_ns: int, shown: str | None) -> None:
    assert format_time(time_ns) == shown


@given(st.integers(-(2**63) + 1, 2**63 - 1))
def test_what_is_shown_reads_back(time_ns: int) -> None:
    shown = format_time(time_ns)
    assert shown is not None
    assert parse_time(shown) == time_ns


@given(st.text() | st.floats() | st.integers())
def test_any_value_fits_a_column(value: object) -> None:
    assert -(2**63) <= parse_time(value) < 2**63


_stamps = st.datetimes(datetime(1600, 1, 1), datetime(2300, 1, 1)).map(
    lambda moment: moment.isoformat(timespec="seconds") + f".{moment.microsecond // 1000:03d}Z"
)
_spoilt = st.tuples(_stamps, st.integers(0, 23), st.characters()).map(lambda s: s[0][: s[1]] + s[2] + s[0][s[1] + 1 :])


@given(st.lists(st.none() | st.just("") | _stamps | _spoilt | st.text(max_size=26)))
def test_many_times_are_read_as_each_alone(texts: list[str | None]) -> None:
    assert parse_times(texts).tolist() == [parse_time(text) for text in texts]


@pytest.mark.parametrize("text", ["2024-02-29T00:00:00.000Z", "2026-02-29T00:00:00.000Z", "1900-02-29T23:59:59.999Z"])
def test_leap_days_among_many(text: str) -> None:
    assert parse_times([text] * 3).tolist() == [parse_time(text)] * 3


@pytest.mark.parametrize(
    ("time_ns", "shown"),
    [
        (NO_TIME, None),
        (0, "+0.000 s"),
        (3_700_000_000, "+3.700 s"),
        (9_123_250_000_000, "+9,123.250 s"),
        (-1_500_000_000, "\N{MINUS SIGN}1.500 s"),
        (DATED_FROM_NS, "2000-01-01T00:00:00.000Z"),
    ],
)
def test_times_of_logs_that_count_from_their_own_start(time_ns: int, shown: str | None) -> None:
    assert log_time(time_ns) == shown
