"""Results of test runs that their outputs state."""

from __future__ import annotations

import pytest

from inspector.analysis.views.steps import test_outputs


@pytest.mark.parametrize(
    "output",
    [
        "1 failed in 0.1s", "=== 1 failed, 2 passed in 75.10s (0:01:15) ===", "3 passed in 1s\n2 passed, 1 error in 1s",
        "\x1b[31m=== 1 failed, 2 passed in 0.1s ===\x1b[0m", "Tests:       1 skipped, 2 failed, 3 total\n",
        " Test Files  1 failed (1)\n      Tests  2 failed | 3 passed (5)\r\n",
        "\x1b[1mTests:\x1b[22m       \x1b[1m\x1b[31m1 failed\x1b[39m\x1b[22m, 3 total",
        "Ran 2 tests in 0.1s\n\nFAILED (failures=1)", "--- FAIL: TestA (0.01s)\nFAIL\tapp\t0.1s\nok  \tlib\t0.1s",
        "test result: FAILED. 1 passed; 1 failed;\ntest result: ok. 3 passed; 0 failed;",
    ],
)  # fmt: skip
def test_failed_tests(output: str) -> None:
    assert test_outputs.result_in(output) is test_outputs.TestOutput.FAILED


@pytest.mark.parametrize(
    "output",
    [
        "1 failed in 0.1s\n3 passed in 0.1s\n", "\x1b[31m1 failed in 1s\x1b[0m\n\x1b[32m3 passed in 1s\x1b[0m",
        "Tests:  2 failed, 3 total\nTests:  3 passed, 3 total", "Tests  1 failed (1)\nTests  1 passed (1)",
        "FAILED (failures=1)\nRan 2 tests in 0.1s\n\nOK (skipped=1)", "3 passed, 2 xfailed in 0.1s",
        "  Tests 2 failed jobs are listed",
    ],
)  # fmt: skip
def test_the_last_run_counts(output: str) -> None:
    assert test_outputs.result_in(output) is test_outputs.TestOutput.UNKNOWN
