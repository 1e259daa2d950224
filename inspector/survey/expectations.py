"""Expectations for a log or survey: `tool write_file >= 1`, `finding secret-in-clear`, `failed <= 3`.

An expectation is a subject, for some subjects a name (with * and ?), and a number; `>= 1` by default. SUBJECTS declares
each subject with its SQL for a survey; an engine counts them in a log.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path

from inspector.analysis.findings.check_table import CHECK_BY_CODE
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
        sql: the count of a survey, as a sum over rows of `table`.
        column: column of the name; "" for subjects without names.
    """

    counted: str
    table: str
    sql: str
    column: str = ""

    @property
    def named(self) -> bool:
        """Returns True if the subject needs a name."""
        return bool(self.column)


SUBJECTS: dict[str, Subject] = {
    "tool": Subject("calls", "tools", "sum(calls)", "tool"),
    "finding": Subject("findings", "findings", "count(*)", "code"),
    "errors": Subject("errors", "runs", "sum(errors)"),
    "warnings": Subject("warnings", "runs", "sum(warnings)"),
    "messages": Subject("messages", "runs", "sum(messages)"),
    "calls": Subject("calls of tools", "runs", "sum(tool_calls)"),
    "failed": Subject("failed calls", "runs", "sum(failed_calls)"),
    "unanswered": Subject("calls without an answer", "runs", "sum(unanswered_calls)"),
    "unreadable": Subject("unreadable records", "runs", "sum(unreadable)"),
    "seconds": Subject("seconds", "runs", "max(duration)"),
    "failures": Subject("logs not surveyed", "failures", f"count(*) FILTER (kind NOT IN ({SURVEYED}))"),
}
"""Subjects by keyword."""


@dataclass(frozen=True, slots=True)
class RunExpectation:
    """One expectation.

    Attributes:
        text: as given.
        keyword: keyword of the subject.
    """

    text: str
    keyword: str
    subject: Subject
    name: str
    operator: str
    number: float

    def is_met(self, value: float) -> bool:
        """Returns True if the value meets the expectation."""
        return _OPERATORS[self.operator](value, self.number)

    def of_counts(self, counts: Mapping[str, Mapping[str, float]]) -> float:
        """Returns the value for a log, from its counts (`inspector.engine.requests.run_tables.CountRun`)."""
        names = counts[self.keyword]
        return sum(number for name, number in names.items() if not self.name or fnmatchcase(name, self.name))

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
    return RunExpectation(text.strip(), word, subject, name, form["operator"] or ">=", number)
