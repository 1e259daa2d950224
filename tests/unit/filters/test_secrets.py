"""Tests of `inspector.filters.secrets`: one rule for what is remembered, stored and shared."""

from __future__ import annotations

import pytest

from inspector.filters import compile_filter
from inspector.filters.secrets import filter_holds_secret

TOKEN = "sk-ant-api03-abcdefghijklmnop"


@pytest.mark.parametrize(
    "text", [f'"{TOKEN}^"', f'payload.text like "*{TOKEN}*"', 'payload.headers.authorization == "abc"', f'"{TOKEN}']
)
def test_a_filter_with_a_token_or_the_name_of_one_holds_a_secret(text: str) -> None:
    assert filter_holds_secret(text)
    assert filter_holds_secret(text)  # as it was decided before


@pytest.mark.parametrize(
    "text", ["", "badge", 'from == "lead"', "finding.severity >= warning", "payload.token", "no filter at all ("]
)
def test_other_filters_hold_none(text: str) -> None:
    assert not filter_holds_secret(text)


def test_what_is_compiled_already_is_not_compiled_again(monkeypatch: pytest.MonkeyPatch) -> None:
    text = 'payload.password == "written here alone"'
    compiled = compile_filter(text)
    monkeypatch.setattr("inspector.filters.secrets.compile_filter", None)
    assert filter_holds_secret(text, compiled)
