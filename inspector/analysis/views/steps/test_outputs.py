"""Results that outputs of test runs state: failed tests, or a run without tests."""

from __future__ import annotations

import re
from enum import Enum

_NO_TESTS = re.compile(
    r"\?\s+\S+\s+\[no test files\]|ok\s+\S+\s+\S+\s+\[no tests to run\]|testing: warning: no tests to run|PASS|"
    r"no tests ran in [\d.]+s"
)
"""A line of a run that found no tests."""
_FAILED = re.compile(r"(?m)^(?:--- FAIL: |FAIL\t|test result: FAILED\b)")
"""A line of Go's tests or cargo that states a failed test. One run states a result for each of its packages."""
_SUMS = (
    re.compile(
        r"=*+ ?((?:\d{1,7} (?:failed|(?:subtests )?passed|skipped|errors?|xfailed|xpassed|warnings?|deselected|rerun)"
        r"(?:, )?){1,9}) in [\d.]{1,20}s"
    ),
    re.compile(
        r"[ \t]{0,20}Tests:?[ \t]{1,20}(\d{1,7} [a-z]{1,20}(?: fail)?(?:(?:, | \| )\d{1,7} [a-z]{1,20}(?: fail)?){0,6})"
        r"(?: \(\d{1,7}\))?\s*\Z"
    ),
    re.compile(r"(OK(?: \([a-z0-9=, ]{1,80}\))?\s*\Z|FAILED \((?:failures|errors)=)"),
)
"""The last line of a run of pytest, of Jest or Vitest, and of unittest. A later run replaces the result."""
_FAILED_IN_SUM = re.compile(r"\b[1-9]\d{0,6} (?:failed|errors?)\b|FAILED")
_COLOURS = re.compile(r"\x1b\[[0-9;:]{0,40}m")
_SEARCHED = 32_000


class TestOutput(Enum):
    """Result that the output of a test run states."""

    UNKNOWN = "unknown"
    NO_TESTS = "no tests"
    FAILED = "failed"


def result_in(output: str) -> TestOutput:
    """Returns the result that an output states. "PASS" alone does not mean a run without tests."""
    output = _COLOURS.sub("", output)
    lines = [line for part in output.splitlines() if (line := part.strip())]
    if all(map(_NO_TESTS.fullmatch, lines)) and any(line != "PASS" for line in lines):
        return TestOutput.NO_TESTS
    return TestOutput.FAILED if states_failed_tests(output) else TestOutput.UNKNOWN


def states_failed_tests(output: str) -> bool:
    """Returns True if the end of an output states a failed test. Of several runs by one program the last counts."""
    end = _COLOURS.sub("", output[-_SEARCHED:])
    if _FAILED.search(end):
        return True
    lines = end.split("\n")[::-1]
    last = (next(filter(None, map(pattern.match, lines)), None) for pattern in _SUMS)
    return any(found is not None and _FAILED_IN_SUM.search(found[1]) is not None for found in last)
