"""What a log, or a survey, is held to: `tool write_file >= 1`, `finding secret-in-clear`, `failed <= 3`.

A subject, for some the name of one (with * and ? for many), and how many there are to be, `>= 1` where nothing is said.
SUBJECTS declares each once: how it is read of a document, and of the tables of a survey.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path

from inspector.analysis.findings import CHECK_BY_CODE
from inspector.analysis.views.account.tool_calls import tool_calls
from inspector.document.document import CaptureDocument
from inspector.protocol.times import NO_TIME
from inspector.survey.folder import asked
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
    """A text is no expectation; its words say why."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What there can be so many of.

    Attributes:
        counted: what they are called.
        of_document: how many a log has; by name where they have names.
        sql: the same of a survey, as a sum over rows of `table`; `{name}` stands for a condition on the name.
        named: it needs a name.
    """

    counted: str
    of_document: Callable[[CaptureDocument], dict[str, float]]
    table: str
    sql: str
    column: str = ""

    @property
    def named(self) -> bool:
        """Whether it needs a name."""
        return bool(self.column)


def _duration_s(document: CaptureDocument) -> float:
    times = document.capture.columns["time_ns"]
    known = times[times != NO_TIME]
    return (int(known.max()) - int(known.min())) / 1e9 if len(known) else 0.0


def _of_severity(word: str) -> Callable[[CaptureDocument], dict[str, float]]:
    def count(document: CaptureDocument) -> dict[str, float]:
        found = document.analysis.findings.found
        return {"": sum(found.counts_of(check) for check in found.checks() if check.severity.word == word)}

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
"""By the word that stands for each."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """One expectation.

    Attributes:
        text: as it was given.
    """

    text: str
    subject: Subject
    name: str
    operator: str
    number: float

    def holds(self, value: float) -> bool:
        """Whether so many are what is expected."""
        return _OPERATORS[self.operator](value, self.number)

    def of_document(self, document: CaptureDocument) -> float:
        """How many a log has."""
        counts = self.subject.of_document(document)
        return sum(number for name, number in counts.items() if not self.name or fnmatchcase(name, self.name))

    def of_survey(self, folder: Path) -> float:
        """How many all runs of a survey have together; the longest, where it is a time."""
        ((value,),) = asked(folder, f"SELECT {self.subject.sql} FROM {self.subject.table} WHERE {self._condition}")
        return float(value or 0)

    def of_each(self, folder: Path) -> list[tuple[str, float]]:
        """How many each run of a survey has, by path."""
        if self.subject.table == "failures":
            query = f"SELECT path, {self.subject.sql} FROM failures GROUP BY path"
        else:
            query = (
                f"SELECT r.path, coalesce(v.value, 0) FROM runs r LEFT JOIN (SELECT run, {self.subject.sql} AS value "
                f"FROM {self.subject.table} WHERE {self._condition} GROUP BY run) v USING (run) ORDER BY r.path"
            )
        return [(path, float(value)) for path, value in asked(folder, query)]

    @property
    def _condition(self) -> str:
        quoted = self.name.replace("'", "''")
        return f"{self.subject.column} GLOB '{quoted}'" if self.subject.named else "true"


def parse_expectation(text: str) -> Wanted:
    """An expectation as it is written.

    Raises:
        ExpectationError: it is none.
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
    if word == "finding" and not any(fnmatchcase(code, name) for code in CHECK_BY_CODE):
        near = get_close_matches(name, CHECK_BY_CODE, 1)
        raise ExpectationError(f"{text!r}: there is no check {name}.{f' Did you mean {near[0]}?' if near else ''}")
    try:
        number = float(form["number"] or 1)
    except ValueError:
        raise ExpectationError(f"{text!r}: {form['number']} is no number.") from None
    return Wanted(text.strip(), subject, name, form["operator"] or ">=", number)
