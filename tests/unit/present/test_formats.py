"""Figures as people read them."""

from __future__ import annotations

import pytest

from inspector.present import formats
from inspector.present.wait_words import Wait
from inspector.protocol.timestamps import NO_TIME

MS = 1_000_000


@pytest.mark.parametrize(
    ("delta_ns", "text"),
    [
        (0, "0.000"), (311_364_999_999, "311.364"), (-1_500 * MS, "\N{MINUS SIGN}1.500"), (-10, "0.000"),
        (3_599_999 * MS, "3599.999"), (3_600_000 * MS, "1:00:00"), (75_450_486 * MS, "20:57:30"),
        (-75_450_486 * MS, "\N{MINUS SIGN}20:57:30"), (25_002_480_000 * MS, "289 d 9:08"),
    ],
)  # fmt: skip
def test_seconds_have_three_decimals_and_are_cut(delta_ns: int, text: str) -> None:
    assert formats.seconds(delta_ns) == text


def test_a_time_in_the_table_counts_from_the_first_message() -> None:
    assert formats.table_time(5_250 * MS, 5_000 * MS) == "0.250"


def test_an_unknown_time_is_empty() -> None:
    assert formats.table_time(NO_TIME, 5) == ""
    assert formats.table_time(5, NO_TIME) == ""
    assert formats.clock(NO_TIME) == ""


@pytest.mark.parametrize(
    ("delta_ns", "text"),
    [
        (0, "<1 ms"), (999_999, "<1 ms"), (73 * MS, "73 ms"), (999_600_000, "1.0 s"), (1_240 * MS, "1.2 s"),
        (59_940 * MS, "59.9 s"), (59_960 * MS, "1 min"), (184_000 * MS, "3 min 4 s"), (7_500_000 * MS, "2:05:00"),
        (3_600_000 * MS, "1:00:00"), (100_990_000 * MS, "28:03:10"), (25_002_480_000 * MS, "289 days"),
        (-73 * MS, "\N{MINUS SIGN}73 ms"),
    ],
)  # fmt: skip
def test_latency_is_said_as_people_say_it(delta_ns: int, text: str) -> None:
    assert formats.latency(delta_ns) == text


def test_seconds_have_a_unit_and_hours_have_none() -> None:
    assert [formats.with_unit(text) for text in ("0.491", "1:05:11", "")] == ["0.491 s", "1:05:11", ""]


def test_no_latency_is_empty() -> None:
    assert formats.latency(None) == ""


@pytest.mark.parametrize(
    ("waited_ns", "text"),
    [
        (-5, "waiting 0.0 s"),
        (430 * MS, "waiting 0.4 s"),
        (9_990 * MS, "waiting 9.9 s"),
        (59_990 * MS, "waiting 59 s"),
        (61_500 * MS, "waiting 1 min 1 s"),
    ],
)
def test_waiting_does_not_flicker_ahead(waited_ns: int, text: str) -> None:
    assert formats.waiting_words(waited_ns) == text


@pytest.mark.parametrize(("size_bytes", "text"), [(183, "183 B"), (2_806, "2.8 kB"), (14_200_000, "14.2 MB")])
def test_sizes(size_bytes: int, text: str) -> None:
    assert formats.size(size_bytes) == text


def test_counts_have_their_noun() -> None:
    assert formats.count_of(1, "record") == "1 record"
    assert formats.count_of(1_216, "message") == "1,216 messages"
    assert formats.count_of(2, "reply", "replies") == "2 replies"
    assert formats.message_number(1200) == "No. 1201"


@pytest.mark.parametrize(
    ("delta_ns", "text"),
    [
        (None, ""), (0, "0 ms"), (1, "< 1 ms"), (-1, "< 1 ms before"), (42 * MS, "+42 ms"),
        (-1_500 * MS, "\N{MINUS SIGN}1.5 s"),
    ],
)  # fmt: skip
def test_a_distance_in_a_chain_bears_its_sign(delta_ns: int | None, text: str) -> None:
    assert formats.delta(delta_ns) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0"), (12.5, "12.5"), (980, "980"), (15_400, "15.4k"), (20_000, "20k"), (1_200_000, "1.2M")]
)
def test_a_figure_beside_a_gauge_is_short(value: float, text: str) -> None:
    assert formats.short_count(value) == text


def test_a_full_time_bears_its_offset_and_an_impossible_one_is_empty() -> None:
    assert formats.full_time(1_767_607_299_918 * MS)[-10:-5] == ".918 "
    assert formats.full_time(NO_TIME) == ""
    assert formats.full_time(1 << 62) != ""
    assert formats.full_time((1 << 63) - 1) != ""


@pytest.mark.parametrize("time_ns", [NO_TIME, 0, 3_700_000_000, -1])
def test_what_is_no_date_has_no_time_of_day(time_ns: int) -> None:
    assert formats.clock(time_ns) == formats.time_of_day(time_ns) == formats.full_time(time_ns) == ""


@pytest.mark.parametrize(
    ("waited_ns", "text"),
    [
        (None, ""),
        (0, "<1 ms"),
        (2 * MS, "2 ms"),
        (430 * MS, "0.4 s"),
        (34_900 * MS, "34 s"),
        (61_500 * MS, "1 min 1 s"),
    ],
)
def test_a_short_wait_is_not_none(waited_ns: int | None, text: str) -> None:
    assert Wait(0, "coder", "files", "read_file", waited_ns, discovery=False).how_long == text


def test_long_durations_round_to_the_nearest_second_as_others_do() -> None:
    for ns in (491_700_000_000, 59_960_000_000, 61_499_000_000):
        assert formats.rounded_duration(ns) == formats.duration(ns)
    assert formats.rounded_duration(12_600_000_000) == "13 s"
    assert formats.rounded_duration(9_300_000_000) == "9.3 s"


def test_sums_of_equal_amounts_round_alike() -> None:
    assert {formats.dollars(one) for one in (0.0002125, 0.00021249999999999999, 0.00001250 + 0.0002)} == {"$0.000213"}


def test_amounts_of_a_list_have_equally_many_decimals() -> None:
    assert formats.dollars_alike([0.00286, 0.00408, 0.000001]) == ["$0.00286", "$0.00408", "<$0.00001"]
    assert formats.dollars_alike([12.4, 0.25, 0.001, 0]) == ["$12.40", "$0.25", "<$0.01", "$0.00"]
    assert formats.dollars_alike([]) == []
