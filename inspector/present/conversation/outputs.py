"""Output of calls: the lines worth showing, failing lines among them, and the outcome that the text itself states."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence

from inspector.present.conversation.cards import Output, OutputLine, Pill
from inspector.present.wire_text import visible_controls
from inspector.protocol.secrets.masking import masked_beginning

SHOWN_LINES, FAILED_LINES = 3, 4
"""Lines shown of an output, and of a failed one."""
MAX_LINES = 2_000
"""Limit of lines that are asked for whole."""
_MAX_LINE = 500
_MAX_TEXT, _MAX_WHOLE = 60_000, 400_000
_SEARCHED = 8_000
"""Characters at the end of an output that are searched for a summary of tests."""
_FAILING = re.compile(
    r"(?i)(?:^|[\s:\[(])(?:error|errors|fatal|panic|failed|failure|exception|traceback|undefined|denied|cannot|"
    r"not found|no such file)\b|^E\s{2,}|^--- FAIL|^FAIL\b|^\N{BALLOT X}|^\N{MULTIPLICATION SIGN}"
)
_PLACE = re.compile(r"^\s*(?:--> )?\S{1,300}?[:(]\d{1,7}(?:[:,]\d{1,7})?\)?(?::|$)")
"""A file with a line number, as most compilers and linters print it."""
_ZERO = re.compile(r"(?i)\b(?:0|no) (?:errors?|failures?|failed)\b|\berrors?[:=] ?0\b|\bfailed[:=] ?0\b")
_NOT_FAILING = re.compile(r"(?i)^\s*(?:error: )?exit code:? \d+\s*$")

_PYTEST = re.compile(
    r"(?m)^=*\s*(?P<all>(?:\d{1,7} (?:failed|passed|skipped|errors?|xfailed|xpassed|warnings?|deselected)(?:, )?){1,9})"
    r" in [\d.:]+ ?s"
)
_CARGO = re.compile(r"test result: (?:ok|FAILED)\. (?P<passed>\d{1,7}) passed; (?P<failed>\d{1,7}) failed")
_JEST = re.compile(
    r"(?m)^\s*Tests:?\s+(?:(?P<failed>\d{1,7}) failed[ ,|]+)?(?:\d{1,7} skipped[ ,|]+)?(?P<passed>\d{1,7}) passed"
)
_UNITTEST = re.compile(r"(?m)^Ran (?P<all>\d{1,7}) tests? in [\d.]+s\s+(?P<end>OK|FAILED \((?P<why>[^)\n]{1,80})\))")
_GO = re.compile(r"(?m)^--- (?P<end>PASS|FAIL): ")
_COUNT = re.compile(r"(\d{1,7}) (failed|passed|errors?)")
_UNITTEST_COUNT = re.compile(r"(?:failures|errors)=(\d{1,7})")


def pill_of_tests(text: str, *, is_whole: bool) -> Pill | None:
    """Returns the counts of a test run that the end of an output states: "3 passed", "2 failed"; else None.

    Args:
        text: the output.
        is_whole: no other program has left out lines; some runners list tests without a sum.
    """
    end = text[-_SEARCHED:]
    passed = failed = 0
    if found := _last(_PYTEST, end):
        counts = [(int(count), word) for count, word in _COUNT.findall(found["all"])]
        passed = sum(count for count, word in counts if word == "passed")
        failed = sum(count for count, word in counts if word != "passed")
    elif all_found := list(_CARGO.finditer(end)):
        passed, failed = (sum(int(one[name]) for one in all_found) for name in ("passed", "failed"))
    elif found := _last(_JEST, end):
        passed, failed = int(found["passed"]), int(found["failed"] or 0)
    elif found := _last(_UNITTEST, end):
        failed = sum(map(int, _UNITTEST_COUNT.findall(found["why"] or "")))
        passed = int(found["all"]) - failed if found["end"] == "OK" else 0
    elif is_whole and len(text) <= _SEARCHED and (ends := [one["end"] for one in _GO.finditer(end)]):
        passed, failed = ends.count("PASS"), ends.count("FAIL")
    if failed:
        return Pill(f"{failed:,} failed", "bad")
    return Pill(f"{passed:,} passed", "good") if passed else None


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    found = deque(pattern.finditer(text), maxlen=1)
    return found[0] if found else None


def output_of(message: int, text: str, *, failed: bool, whole: bool) -> Output | None:
    """Returns the lines of an output to show: all, the failing ones, or the last ones; None without any.

    Args:
        message: the answer.
        text: its text, not masked.
        failed: the call failed.
        whole: shows all lines, up to a limit.
    """
    masked = masked_beginning(text, _MAX_WHOLE if whole else _MAX_TEXT)
    lines = masked.replace("\r\n", "\n").split("\n")
    while lines and not lines[-1].strip():
        lines.pop()
    while lines and not lines[0].strip():
        lines.pop(0)
    if not lines:
        return None
    rest = text.count("\n") - masked.count("\n") if len(text) > len(masked) else 0
    marked = [failed and _is_failing(line) for line in lines] if failed or not whole else [False] * len(lines)
    first, stop = (0, MAX_LINES) if whole else _shown_range(lines, marked, failed=failed)
    part = lines[first:stop]
    return Output(
        message, tuple(OutputLine(_safe(line), mark) for line, mark in zip(part, marked[first:stop], strict=True)),
        first, len(lines) - first - len(part) + max(0, rest),
    )  # fmt: skip


def _shown_range(lines: Sequence[str], marked: Sequence[bool], *, failed: bool) -> tuple[int, int]:
    """Returns the range of lines to show: around the first failing line, else the last lines."""
    limit = FAILED_LINES if failed else SHOWN_LINES
    # One more line takes as much room as the count of what is left out.
    if len(lines) <= limit + 1:
        return 0, len(lines)
    if failed and any(marked):
        # A place in a file says more than the word for a failure.
        named = (place for place, line in enumerate(lines) if marked[place] and _PLACE.match(line[:_MAX_LINE]))
        found = next(named, marked.index(True))
        first = found - 1 if found and lines[found - 1].strip() else found
        return min(first, len(lines) - limit), min(first, len(lines) - limit) + limit
    return len(lines) - limit, len(lines)


def _is_failing(line: str) -> bool:
    head = line[:_MAX_LINE]
    return bool(_FAILING.search(head) or _PLACE.match(head)) and not _ZERO.search(head) and not _NOT_FAILING.match(head)


def _safe(line: str) -> str:
    shown = line if len(line) <= _MAX_LINE else line[: _MAX_LINE - 1] + "…"
    return visible_controls(shown.expandtabs(4))
