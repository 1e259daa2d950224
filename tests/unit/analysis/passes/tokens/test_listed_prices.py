"""Tests of `inspector.analysis.passes.tokens.listed_prices`."""

from __future__ import annotations

import pytest

from inspector.analysis.passes.tokens.listed_prices import LISTED_DATE, listed_lines, prices_in_force
from inspector.analysis.passes.tokens.price_table import PriceTable, Rates
from inspector.document.document import CaptureDocument
from inspector.document.summary import costs_of
from inspector.present.account import account_of
from tests.builders import account_tally, document_of
from tests.unit.analysis.passes.tokens.test_call_costs import assistant


def listed(model: str) -> list[Rates]:
    return PriceTable(listed_lines()).rates(model)


@pytest.mark.parametrize("model", [
    "claude-sonnet-4-5-20250929", "claude-opus-4-6[1m]", "claude-3-5-haiku-latest", "claude-opus-4-20250514",
    "gpt-5-2025-08-07", "gpt-5.1-codex-max", "openai/gpt-5", "gemini-2.5-pro", "claude-haiku-4-5@20251001",
])  # fmt: skip
def test_names_with_dates_and_providers_have_prices(model: str) -> None:
    assert listed(model)


@pytest.mark.parametrize("model", ["my-model", "claude", "gpt-5-turbo", "claude-sonnet-4-5-mini", "llama-3"])
def test_other_names_have_none(model: str) -> None:
    assert not listed(model)


def test_prices_of_the_list() -> None:
    (haiku,) = listed("claude-haiku-4-5")
    assert haiku == Rates(1, 5, 0.1, 1.25, 2)
    short, long = listed("claude-sonnet-4-5-20250929")
    assert (short.input, long.input, long.above) == (3, 6, 200_000)


def test_the_users_prices_win() -> None:
    lines, dated = prices_in_force(["claude-haiku-4-5 = 2 in, 9 out"], "2026-10", listed=True)
    table = PriceTable(lines)
    assert dated == f"2026-10 and {LISTED_DATE}"
    assert table.rates("claude-haiku-4-5-20251001") == [Rates(2, 9)]
    assert table.rates("gpt-5")
    assert prices_in_force([], "", listed=True)[1] == LISTED_DATE
    assert prices_in_force(["a = 1 in"], "x", listed=False) == (["a = 1 in"], "x")
    assert prices_in_force(["a = wrong"], "x", listed=True) == (["a = wrong"], "x")


def priced(*models: str) -> CaptureDocument:
    document = document_of(*(assistant(at, model=model, input=1_000) for at, model in enumerate(models, 1)))
    document.set_prices(*prices_in_force([], "", listed=True))
    return document


def cost_line(document: CaptureDocument) -> str:
    tally = account_tally(document)
    return next(line.text for line in account_of(document, tally).lines if line.about == "Cost")


def test_a_model_without_a_price_is_named() -> None:
    mixed = priced("claude-sonnet-4-5-20250929", "my-model", "<synthetic>")  # the last names no model
    assert cost_line(mixed) == f"$0.00300 for 1 call of models, no price for my-model, prices of {LISTED_DATE}"
    assert cost_line(priced("my-model")) == "Unknown: no price for my-model"
    found = costs_of(mixed.analysis)
    assert found is not None
    assert (found["total"], found["unpriced"], found["without_price"]) == (0.003, 1, ["my-model"])
