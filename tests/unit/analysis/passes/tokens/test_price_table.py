from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.analysis.passes.tokens.price_table import EXAMPLE_LINE, PriceError, PriceTable, Rates, imported_lines

LISTED = {
    "sample_spec": {"input_cost_per_token": 0.0, "output_cost_per_token": 0.0},
    "claude-sonnet-4-5": {
        "input_cost_per_token": 3e-06, "output_cost_per_token": 1.5e-05, "cache_read_input_token_cost": 3e-07,
        "cache_creation_input_token_cost": 3.75e-06, "cache_creation_input_token_cost_above_1hr": 6e-06,
        "input_cost_per_token_above_200k_tokens": 6e-06,
        "output_cost_per_token_above_200k_tokens": 2.25e-05, "litellm_provider": "anthropic", "max_tokens": 64_000,
    },
    "azure/gpt-5": {"input_cost_per_token": 1.25e-06, "output_cost_per_token": 1e-05},
    "openai/gpt-5": {"input_cost_per_token": 1.25e-06, "output_cost_per_token": 1e-05},
    "eu/other": {"input_cost_per_token": 1e-06}, "us/other": {"input_cost_per_token": 2e-06},
    "pictures": {"output_cost_per_image": 0.04}, "odd": ["no", "object"],
}  # fmt: skip


def test_a_line_is_a_model_with_its_prices() -> None:
    table = PriceTable(["# mine", "", EXAMPLE_LINE, "local = 0 in, 0 out", "big above 200_000 = 2 in", "big = 1 in"])
    assert table.rates("my-model") == [Rates(3, 15, 0.3, 3.75)]
    assert table.rates("big") == [Rates(1), Rates(2, above=200_000)]
    assert table.rates("unknown") == []
    assert len(table) == 3


def test_a_version_with_a_dot_has_the_prices_of_the_name_with_a_dash() -> None:
    table = PriceTable(["tern-4-5 = 3 in", "gull-2.5 = 2 in", "gull-2-5 = 9 in"])
    assert table.rates("copilot/tern-4.5") == table.rates("tern-4.5-20250929") == [Rates(3)]
    assert table.rates("gull-2.5") == [Rates(2)]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("claude-sonnet-4-5", "Line 1 has no `=`"), ("a = 3", "3 is no price"), ("a = 3 in,, 4 out", "nothing is no"),
        ("a = three in", "three in is no price"), ("a = -3 in", "-3 in is no price"), ("a = 1 in\na = 2 in", "Line 2"),
    ],
)  # fmt: skip
def test_what_is_no_price_is_said_with_its_line(line: str, says: str) -> None:
    with pytest.raises(PriceError, match=says):
        PriceTable(line.splitlines())


def test_a_list_that_others_keep_is_taken_over() -> None:
    lines = imported_lines(json.dumps(LISTED).encode())
    assert "claude-sonnet-4-5 = 3 in, 15 out, 0.3 cache read, 3.75 cache write, 6 cache write 1h" in lines
    table = PriceTable(lines)
    assert table.rates("claude-sonnet-4-5")[1] == Rates(6, 22.5, 0.3, 3.75, 6, above=200_000)
    assert table.rates("gpt-5") == [Rates(1.25, 10)], "providers agree"
    assert table.rates("openai/gpt-5-2025-08-07") == table.rates("gpt-5")
    assert table.rates("claude-sonnet-4-5-20250929") == table.rates("claude-sonnet-4-5")
    assert table.rates("other") == [], "providers differ: nothing is guessed"
    assert table.rates("pictures") == table.rates("sample_spec") == []


@pytest.mark.parametrize("data", [b"[1]", b"{", b"{}", b'{"a": {"mode": "chat"}}', b"\xff"])
def test_what_is_no_list_is_refused(data: bytes) -> None:
    with pytest.raises(PriceError):
        imported_lines(data)


def test_a_name_that_no_line_can_begin_with_is_passed_over() -> None:
    prices = {"input_cost_per_token": 1e-6}
    names = ("a\nb", "a\rb", "a = b", "# a", " a", "a above 5", "a\x1b[2J", "a")
    assert imported_lines(json.dumps(dict.fromkeys(names, prices)).encode()) == ["a = 1 in"]


def test_a_price_of_less_than_nothing_is_none_and_one_of_minus_nothing_is_nothing() -> None:
    prices = {"input_cost_per_token": 1e-6, "output_cost_per_token": -0.0, "cache_read_input_token_cost": -1e-6}
    assert imported_lines(json.dumps({"a": prices}).encode()) == ["a = 1 in, 0 out"]


@given(
    st.dictionaries(
        st.text(min_size=1), st.dictionaries(st.sampled_from(sorted(LISTED["claude-sonnet-4-5"])), st.floats())
    )
)  # pyright: ignore[reportArgumentType, reportCallIssue]
def test_whatever_is_listed_gives_lines_that_can_be_read(listed: dict[str, dict[str, float]]) -> None:
    try:
        lines = imported_lines(json.dumps(listed).encode())
    except PriceError:
        return
    PriceTable(lines)
