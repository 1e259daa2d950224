from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from inspector.analysis.passes.tokens import reported_usage
from inspector.analysis.passes.tokens.listed_prices import LISTED_DATE
from inspector.analysis.passes.tokens.reported_usage import USAGE_KINDS, Usage
from inspector.document.document import CaptureDocument
from tests.builders import document_of, lines_of, log_file
from tests.commands import asked, printed

PRICES = ["claude-sonnet-4-5 = 3 in, 15 out, 0.3 cache read, 3.75 cache write", "claude-haiku-4-5 = 1 in"]


def assistant(number: int, *, model: str = "claude-sonnet-4-5", text: str = "Done.", **usage: int) -> dict[str, Any]:
    """A line of a session of Claude Code that reports a call."""
    named = {
        "input_tokens": usage.get("input", 0), "output_tokens": usage.get("output", 0),
        "cache_read_input_tokens": usage.get("cache_read", 0),
        "cache_creation_input_tokens": usage.get("cache_write", 0),
    }  # fmt: skip
    return {
        "type": "assistant", "uuid": f"00000000-0000-4000-8000-{number:012}", "parentUuid": None,
        "sessionId": "5f0c0c1e-6d2b-4c0f-9a50-000000000001", "version": "2.0.0", "isSidechain": False,
        "timestamp": f"2026-11-01T10:00:{number:02}.000Z", "requestId": f"req_{number}",
        "message": {
            "id": f"msg_{number}", "type": "message", "role": "assistant", "model": model,
            "content": [{"type": "text", "text": text}], "usage": named,
        },
    }  # fmt: skip


def session(*lines: dict[str, Any]) -> CaptureDocument:
    document = document_of(*lines)
    document.set_prices(PRICES, "2026-11")
    return document


def test_a_call_costs_what_it_reports_by_its_prices() -> None:
    document = session(
        assistant(1, input=1_000, output=100, cache_read=10_000, cache_write=2_000),
        assistant(2, model="claude-haiku-4-5", input=500), assistant(3, model="claude-haiku-4-5", input=500, output=1),
        assistant(4, model="unknown", input=1),
    )  # fmt: skip
    costs = document.analysis.costs.dollars_at(np.arange(4))
    assert costs[0] == pytest.approx(0.003 + 0.0015 + 0.003 + 0.0075)
    assert costs[1] == pytest.approx(0.0005)
    assert math.isnan(costs[2]), "what it wrote has no price"
    assert math.isnan(costs[3])
    total = document.analysis.costs.total()
    assert total is not None
    assert (total.calls, total.unpriced) == (2, 2)
    assert total.total == pytest.approx(0.0155)
    assert total.parts == pytest.approx((0.0035, 0.0015, 0.003, 0.0075))


def test_what_a_cache_holds_for_an_hour_has_a_price_of_its_own() -> None:
    line = assistant(1, input=1_000, cache_write=2_000)
    line["message"]["usage"]["cache_creation"] = {"ephemeral_5m_input_tokens": 500, "ephemeral_1h_input_tokens": 1_500}
    document = session(line)
    assert np.isnan(document.analysis.costs.dollars_at(np.arange(1))).all(), "it is not known"
    document.set_prices([f"{PRICES[0]}, 6 cache write 1h"], "")
    total = document.analysis.costs.total()
    assert total is not None
    assert total.parts == pytest.approx((0.003, 0, 0, 500 * 3.75e-6 + 1_500 * 6e-6))


def test_without_prices_nothing_has_a_cost() -> None:
    document = document_of(assistant(1, input=1_000))
    assert document.analysis.costs.total() is None
    document.set_prices(["claude-sonnet-4-5 = wrong"], "")
    assert document.analysis.costs.total() is None


def test_calls_with_more_input_have_their_own_price() -> None:
    document = document_of(assistant(1, input=200_000), assistant(2, input=1, cache_read=200_000))
    document.set_prices(["claude-sonnet-4-5 above 200000 = 6 in, 0.6 cache read", *PRICES], "")
    assert document.analysis.costs.dollars_at(np.arange(2)).tolist() == pytest.approx([0.6, 6e-06 + 0.12])


def test_a_message_is_carried_by_later_calls_until_the_context_shrinks() -> None:
    document = session(
        assistant(1, text="a result of some words " * 40, input=100), assistant(2, input=1_000),
        assistant(3, cache_read=2_000), assistant(4, input=50), assistant(5, input=60),
    )  # fmt: skip
    assert document.analysis.costs.carried(0) is None, "its tokens are not counted yet"
    document.count_tokens()
    found = document.analysis.costs.carried(0)
    assert found is not None
    assert found.calls == 2
    assert found.dollars == pytest.approx(found.tokens / 1_000 * 0.003 + found.tokens / 2_000 * 0.0006)
    assert document.analysis.costs.carried(4) is None


def test_sums_of_all_calls_follow_each_that_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reported_usage, "STRETCH_CALLS", 2)
    models = ("claude-sonnet-4-5", "claude-haiku-4-5", "unknown")
    lines = [
        assistant(
            number, model=models[number % 3], text=f"{number}-{told}", input=100 + number, output=told * number % 7
        )
        for number in range(1, 9) for told in (1, 2, 3)
    ]  # fmt: skip
    path = log_file(lines_of(*lines))
    document = CaptureDocument()
    document.set_prices(PRICES, "2026-11")
    usage = document.analysis.usage
    for _ in document.open_log(path, block_bytes=1_000):
        rows = usage.reports()
        total, cost, every = usage.total(), document.analysis.costs.total(), document.analysis.costs.costs_of(rows)
        assert usage.report_count == len(rows)
        assert total == (
            Usage(*(int(usage.numbers_at(name, rows).sum()) for name in USAGE_KINDS)) if len(rows) else None
        )
        assert (cost is None) == (every is None)
        if cost is not None and every is not None:
            assert (cost.calls, cost.unpriced) == (every.calls, every.unpriced)
            assert cost.parts == pytest.approx(every.parts)
            assert cost.total == pytest.approx(every.total)
    assert usage.calls_by_model() == {"claude-haiku-4-5": 3, "claude-sonnet-4-5": 2, "unknown": 3}
    assert usage.report_count == 8, "a call told three times counts once"
    document.close()


def test_commands_take_prices(tmp_path: Path) -> None:
    log, prices = tmp_path / "log.jsonl", tmp_path / "prices.txt"
    log.write_text("".join(json.dumps(line) + "\n" for line in (assistant(1, input=1_000), assistant(2, output=100))))
    prices.write_text("\n".join(PRICES))
    listed = json.loads(printed("summary", log, "--json"))["cost"]
    assert (listed["total"], listed["prices_of"], listed["without_price"]) == (0.0045, LISTED_DATE, [])
    found = json.loads(printed("summary", log, "--json", "--prices", prices))["cost"]
    assert (found["total"], found["input"], found["output"]) == (0.0045, 0.003, 0.0015)
    assert found["prices_of"] == "prices.txt"
    assert found["models"]["claude-sonnet-4-5"]["calls"] == 2
    assert "$0.0045" in printed("summary", log, "--prices", prices)
    listed = printed("list", log, "--prices", prices, "-Y", "cost > 0.002", "-e", "no,cost", "--format", "jsonl")
    assert json.loads(listed) == {"no": 1, "cost": 0.003}
    (line,) = printed(
        "query", log, "SELECT sum(cost) AS c FROM messages", "--prices", prices, "--format", "csv"
    ).split()[1:]
    assert float(line) == pytest.approx(0.0045)
    prices.write_text("a = b")
    refused = asked("summary", log, "--prices", prices)
    assert refused.exit_code == 2
    assert "b is no price" in refused.output


def test_calls_of_the_main_context_cost_no_context_anything() -> None:
    document = session(assistant(1, input=1_000))
    assert document.analysis.costs.by_node().tolist() == []
    assert printed("contexts", log_file(lines_of(assistant(1, input=1_000))), "--json").strip() == "[]"
