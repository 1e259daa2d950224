"""Opening a generated log: messages a second, memory, and how long the window is ever late.

Prints figures beside the targets of design.md 7, which are for 1,000,000 messages; asserts only that nothing is
lost, since a benchmark is no timed test.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bench.generate import write_envelopes, write_gateway_log

pytestmark = [pytest.mark.bench, pytest.mark.timeout(1_800)]

MESSAGES = int(os.environ.get("BENCH_MESSAGES", "200000"))


def run(module: str, log: Path) -> dict[str, float]:
    """Run a measurement in a fresh interpreter."""
    done = subprocess.run(
        [sys.executable, "-m", f"tests.bench.{module}", str(log)],
        capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2],
    )  # fmt: skip
    return json.loads(done.stdout)


def show(title: str, rows: list[tuple[str, str, str]]) -> None:
    """Print a table of what, figure and target."""
    print(f"\n\n{title}")
    for what, figure, target in rows:
        print(f"  {what:<44} {figure:>16}   {target}")


@pytest.fixture(scope="module")
def envelopes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bench") / "envelopes.jsonl"
    write_envelopes(path, MESSAGES)
    return path


@pytest.fixture(scope="module")
def gateway_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bench") / "envelope-history.jsonl"
    write_gateway_log(path, MESSAGES)
    return path


def scaled(target: float) -> str:
    """A target for 1,000,000 messages, as it is for as many as are measured."""
    return f"{target * MESSAGES / 1_000_000:.2f}"


@pytest.mark.parametrize(("log", "open_s", "memory_mb"), [("envelopes", 5, 150), ("gateway_log", 15, 250)])
def test_open_without_a_window(log: str, open_s: float, memory_mb: float, request: pytest.FixtureRequest) -> None:
    path: Path = request.getfixturevalue(log)
    found = run("open_headless", path)
    size = path.stat().st_size / 1e6
    show(
        f"Open {log.replace('_', ' ')}: {found['messages']:,} messages, {found['records']:,} records, {size:.0f} MB",
        [
            ("first messages", f"{found['first_s']:.2f} s", "target 0.5 s"),
            ("complete, all passes", f"{found['complete_s']:.2f} s", f"target {scaled(open_s)} s, scaled"),
            ("messages a second", f"{found['messages'] / found['complete_s']:,.0f}", ""),
            ("megabytes a second", f"{size / found['complete_s']:.0f}", ""),
            ("private dirty memory gained", f"{found['memory_mb']:.0f} MB", f"target {scaled(memory_mb)} MB, scaled"),
            ("peak memory of the process", f"{found['peak_mb']:.0f} MB", ""),
            ("header filter, first time", f"{found['filter_s'] * 1000:.1f} ms", "target 50 ms for 1,000,000"),
            ("header filter, again", f"{found['filter_again_s'] * 1000:.1f} ms", ""),
        ],
    )  # fmt: skip
    assert found["messages"] == MESSAGES


def test_open_in_the_window(envelopes: Path) -> None:
    found = run("open_window", envelopes)
    show(
        f"Open in the window, offscreen: {found['messages']:,.0f} messages",
        [
            ("first rows painted", f"{found['first_s']:.2f} s", "target 0.5 s"),
            ("complete", f"{found['complete_s']:.2f} s", f"target {scaled(5)} s, scaled"),
            ("messages a second", f"{found['messages'] / found['complete_s']:,.0f}", ""),
            ("heartbeat lateness, longest", f"{found['late_max_s'] * 1000:.0f} ms", "target 100 ms"),
            ("heartbeat lateness, 99th percentile", f"{found['late_p99_s'] * 1000:.0f} ms", "target 30 ms"),
        ],
    )
    assert found["messages"] == MESSAGES
