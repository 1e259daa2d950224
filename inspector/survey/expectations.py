"""Expectations for a log or survey: `tool write_file >= 1`, `finding secret-in-clear`, `failed <= 3`.

An expectation is a subject, for some subjects a name (with * and ?), and a number; `>= 1` by default. SUBJECTS declares
each subject with its value for a document and its SQL for a survey.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path

from inspector.analysis.findings.check_table import CHECK_BY_CODE
from inspector.analysis.views.account.tool_calls import tool_calls
from inspector.document.document import CaptureDocument
from inspector.protocol.timestamps import NO_TIME
from inspector.survey.folder import query_rows
from inspector.survey.schema import SURVEYED

_OPERATORS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge, "<=": operator.le, "==": operator.eq, "!=": operator.ne, ">": operator.gt, "<": operator.lt,
    "=": operator.eq,
}  # fmt: skip
_FORM = re.compile(
    r"\s*(?P<subject>[^\s<>=!]+)(?:\s+(?P<name>.*?))?\s*(?:(?P<operator>[<>=!]=|[<>=])\s*(?P<number>\S+)\s*)?$",
    re.DOTALL,
)


class ExpectationError(ValueError):
    """The text is not an expectation; the message is the reason."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A countable subject of expectations.

    Attributes:
        counted: noun for the counted items.
        of_document: returns the count of a log, by name if it has names.
        sql: the count of a survey, as a sum over rows of `table`.
        column: column of the name; "" for subjects without names.
    """

    counted: str
    of_document: Callable[[CaptureDocument], dict[str, float]]
    table: str
    sql: str
    column: str = ""

    @property
    def named(self) -> bool:
        """Returns True if the subject needs a name."""
        return bool(self.column)


def _duration_s(document: CaptureDocument) -> float:
    times = document.capture.columns["time_ns"]
    known = times[times != NO_TIME]
    return (int(known.max()) - int(known.min())) / 1e9 if len(known) else 0.0


def _of_severity(word: str) -> Callable[[CaptureDocument], dict[str, float]]:
    def count(document: CaptureDocument) -> dict[str, float]:
        found = document.analysis.findings.found
        return {"": sum(found.count_of(check) for check in found.checks() if check.severity.word == word)}

    return count


SUBJECTS: dict[str, Subject] = {
    "tool": Subject("calls", lambda d: dict(tool_calls(d.analysis).by_tool), "tools", "sum(calls)", "tool"),
    "finding": Subject("findings", lambda d: dict(d.analysis.findings.found.counts()), "findings", "count(*)", "code"),
    "errors": Subject("errors", _of_severity("error"), "runs", "sum(errors)"),
    "warnings": Subject("warnings", _of_severity("warning"), "runs", "sum(warnings)"),
    "messages": Subject("messages", lambda d: {"": len(d.capture)}, "runs", "sum(messages)"),
    "calls": Subject("calls of tools", lambda d: {"": tool_calls(d.analysis).tools}, "runs", "sum(tool_calls)"),
    "failed": Subject("failed calls", lambda d: {"": tool_calls(d.analysis).failed}, "runs", "sum(failed_calls)"),
    "unanswered": Subject(
        "calls without an answer", lambda d: {"": tool_calls(d.analysis).unanswered}, "runs", "sum(unanswered_calls)"
    ),
    "unreadable": Subject("unreadable records", lambda d: {"": d.unreadable}, "runs", "sum(unreadable)"),
    "seconds": Subject("seconds", lambda d: {"": _duration_s(d)}, "runs", "max(duration)"),
    "failures": Subject(
        "logs not surveyed", lambda _: {"": 0}, "failures", f"count(*) FILTER (kind NOT IN ({SURVEYED}))"
    ),
}
"""Subjects by keyword."""


@dataclass(frozen=True, slots=True)
class RunExpectation:
    """One expectation.

    Attributes:
        text: as given.
    """

    text: str
    subject: Subject
    name: str
    operator: str
    number: float

    def is_met(self, value: float) -> bool:
        """Returns True if the value meets the expectation."""
        return _OPERATORS[self.operator](value, self.number)

    def of_document(self, document: CaptureDocument) -> float:
        """Returns the value for a log."""
        counts = self.subject.of_document(document)
        return sum(number for name, number in counts.items() if not self.name or fnmatchcase(name, self.name))

    def of_survey(self, folder: Path) -> float:
        """Returns the total of all runs in a survey; the maximum for a duration."""
        ((value,),) = query_rows(folder, f"SELECT {self.subject.sql} FROM {self.subject.table} WHERE {self._condition}")
        return float(value or 0)

    def of_each(self, folder: Path) -> list[tuple[str, float]]:
        """Returns the value of each run in a survey, by path."""
        if self.subject.table == "failures":
            query = f"SELECT path, {self.subject.sql} FROM failures GROUP BY path"
        else:
            query = (
                # Runs without any row in the table count as 0, so they can fail too.
                f"SELECT r.path, coalesce(v.value, 0) FROM runs r LEFT JOIN (SELECT run, {self.subject.sql} AS value "
                f"FROM {self.subject.table} WHERE {self._condition} GROUP BY run) v USING (run) ORDER BY r.path"
            )
        return [(path, float(value)) for path, value in query_rows(folder, query)]

    @property
    def _condition(self) -> str:
        # The name comes from a command line or a file of rules.
        quoted = self.name.replace("'", "''")
        return f"{self.subject.column} GLOB '{quoted}'" if self.subject.named else "true"


def parse_expectation(text: str) -> RunExpectation:
    """Parses an expectation.

    Raises:
        ExpectationError: it is malformed.
    """
    form = _FORM.match(text)
    if form is None or not text.strip():
        raise ExpectationError(f"{text!r} expects nothing. Write for example: tool write_file >= 1")
    word, name = form["subject"], (form["name"] or "").strip().strip("\"'")
    subject = SUBJECTS.get(word)
    if subject is None:
        near = get_close_matches(word, SUBJECTS, 1)
        hint = f" Did you mean {near[0]}?" if near else f" There are: {', '.join(SUBJECTS)}."
        raise ExpectationError(f"{text!r}: {word} is nothing that can be counted.{hint}")
    if subject.named and not name:
        raise ExpectationError(f"{text!r}: which {word}? Name it, as in {word} NAME >= 1.")
    if name and not subject.named:
        raise ExpectationError(f"{text!r}: {word} has no names; write {word} >= 1.")
    # A misspelled check would never be found, and an expectation of 0 always met.
    if word == "finding" and not any(fnmatchcase(code, name) for code in CHECK_BY_CODE):
        near = get_close_matches(name, CHECK_BY_CODE, 1)
        raise ExpectationError(f"{text!r}: there is no check {name}.{f' Did you mean {near[0]}?' if near else ''}")
    try:
        number = float(form["number"] or 1)
    except ValueError:
        raise ExpectationError(f"{text!r}: {form['number']} is no number.") from None
    return RunExpectation(text.strip(), subject, name, form["operator"] or ">=", number)
