"""Results that outputs of test runs state: failed tests, or a run without tests."""

from __future__ import annotations

import re
from enum import Enum

_NO_TESTS = re.compile(
    r"\?\s+\S+\s+\[no test files\]|ok\s+\S+\s+\S+\s+\[no tests to run\]|testing: warning: no tests to run|PASS|"
    r"no tests ran in [\d.]+s"
)
"""A line of a run that found no tests."""
_FAILED = re.compile(
    r"(?m)^(?:--- FAIL: |FAIL\t|test result: FAILED\b|FAILED \((?:failures|errors)=|"
    r"[ \t]{0,20}Tests:?[ \t]{1,20}[1-9]\d{0,6} failed\b|"
    r"=*+ ?(?:\d{1,7} [a-z]{1,20}, ){0,5}[1-9]\d{0,6} (?:failed|errors?)\b[^\n]{0,80} in [\d.]+s)"
)
"""A line of Go's tests, cargo, unittest, Jest, Vitest or pytest that states a failed test."""
_SEARCHED = 32_000


class TestOutput(Enum):
    """Result that the output of a test run states."""

    UNKNOWN = "unknown"
    NO_TESTS = "no tests"
    FAILED = "failed"


def result_in(output: str) -> TestOutput:
    """Returns the result that an output states. "PASS" alone does not mean a run without tests."""
    lines = [line for part in output.splitlines() if (line := part.strip())]
    if all(map(_NO_TESTS.fullmatch, lines)) and any(line != "PASS" for line in lines):
        return TestOutput.NO_TESTS
    return TestOutput.FAILED if states_failed_tests(output) else TestOutput.UNKNOWN


def states_failed_tests(output: str) -> bool:
    """Returns True if a line at the end of an output states a failed test."""
    return _FAILED.search(output[-_SEARCHED:]) is not None
