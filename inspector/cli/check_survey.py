"""`check DIR`: prints the findings of a survey's runs, and checks expectations such as `failed <= 3`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import typer

from inspector.analysis.findings import Severity
from inspector.analysis.findings.check_table import CHECK_BY_CODE
from inspector.analysis.findings.store import MAX_SENTENCES_CHARS
from inspector.base.exit_codes import OUR_FAULT
from inspector.cli.arguments import fail
from inspector.cli.check_reports import Expectation, junit, sarif, unchecked_entries
from inspector.cli.printing import escape_hostile, print_array, print_line, printable
from inspector.present.formats import count_of
from inspector.protocol.secrets.masking import mask_secrets, mask_text
from inspector.survey.expectations import ExpectationError, RunExpectation, parse_expectation
from inspector.survey.folder import SurveyError, check_readable, query_rows
from inspector.survey.schema import SURVEYED

_MAX_LISTED = 10
# Ranks severities, since their names do not sort by severity.
_SEVERITY = "list_position(['note', 'warning', 'error'], severity)"


def check_survey(
    folder: Path, report: str, fail_on: str | None, wanted: Sequence[RunExpectation],
    forbidden: Sequence[RunExpectation], *,
    each_run: bool,
) -> None:  # fmt: skip
    """Prints findings of a survey; exits with code 1 if an expectation or the severity limit fails.

    Args:
        folder: folder of the survey.
        report: text, json, junit or sarif.
        fail_on: lowest severity that is a failure; None if no severity is.
        wanted: expectations that must hold.
        forbidden: expectations that must not hold.
        each_run: check every run instead of their totals.
    """
    try:
        check_readable(folder)
        held = [one for some, not_ in ((wanted, False), (forbidden, True)) for one in some
                for one in _check_expectation(folder, one, forbidden=not_, each_run=each_run)]  # fmt: skip
        fails = [one.word for one in Severity if fail_on is not None and one >= Severity[fail_on.upper()]]
        unchecked = list(query_rows(folder, "SELECT path, text FROM failures WHERE kind = 'unchecked' ORDER BY path"))
        sentences = [f"{mask_text(path)}: {text}" for path, text in unchecked]
        if report == "json":
            entries = (one for path, text in unchecked for one in unchecked_entries((text,), path=mask_text(path)))
            print_array(map(mask_secrets, chain(_findings(folder), entries)))
        elif report == "junit":
            print_line(junit(str(folder), map(mask_secrets, _findings(folder)), held, fails, sentences))
        elif report == "sarif":
            print_line(sarif(str(folder), map(mask_secrets, _findings(folder)), held, sentences))
        else:
            _print_findings(folder, held, sentences)
        listed = ", ".join(f"'{word}'" for word in fails) or "''"
        ((failing,),) = query_rows(folder, f"SELECT count(*) FROM findings WHERE severity IN ({listed})")
    except SurveyError as error:
        fail(escape_hostile(str(error)))
    if failing or any(one.failure is not None for one in held):
        raise typer.Exit(1)
    if unchecked:
        raise typer.Exit(OUR_FAULT)


def parsed_expectation(text: str) -> RunExpectation:
    """Parses an expectation; exits with code 2 if it is malformed."""
    try:
        return parse_expectation(text)
    except ExpectationError as error:
        fail(escape_hostile(str(error)))


def judged(one: RunExpectation, value: float, *, forbidden: bool, run: str = "") -> Expectation:
    """Compares an expectation with a measured value."""
    name = f"{'forbid' if forbidden else 'expect'} {one.text}{f' in {run}' if run else ''}"
    if one.is_met(value) is not forbidden:
        return Expectation(name, None)
    number = f"{value:,.1f}" if value != int(value) else f"{int(value):,}"
    of = f" of {one.name}" if one.name else ""
    return Expectation(name, f"There are {number} {one.subject.counted}{of}.")


def _check_expectation(folder: Path, one: RunExpectation, *, forbidden: bool, each_run: bool) -> Iterator[Expectation]:
    if each_run:
        for path, value in one.of_each(folder):
            yield judged(one, value, forbidden=forbidden, run=mask_text(path))
    else:
        yield judged(one, one.of_survey(folder), forbidden=forbidden)


def _findings(folder: Path) -> Iterator[dict[str, Any]]:
    query = (
        "SELECT path, code, severity, no, context, text FROM findings "
        f"ORDER BY {_SEVERITY} DESC, code, path, no"
    )  # fmt: skip
    for path, code, severity, number, context, text in query_rows(folder, query):
        yield {
            "code": code, "severity": severity, "no": number, "context": context, "text": text, "path": mask_text(path),
        }  # fmt: skip


def _print_findings(folder: Path, held: Sequence[Expectation], unchecked: Sequence[str]) -> None:
    """Prints findings for people: worst first, with the number of runs and some examples of each code."""
    ((runs, failed),) = query_rows(
        folder,
        f"SELECT (SELECT count(*) FROM runs), (SELECT count(*) FROM failures WHERE kind NOT IN ({SURVEYED}))",
    )
    codes = list(query_rows(
        folder,
        "SELECT code, severity, count(*), count(DISTINCT run) FROM findings GROUP BY code, severity "
        f"ORDER BY {_SEVERITY} DESC, count(*) DESC, code",
    ))  # fmt: skip
    print_line(f"{folder}: {count_of(runs, 'run')}{'' if codes else ', no findings'}.")
    for sentence in unchecked:
        print_line(printable(sentence, 600))
    for code, severity, number, among in codes:
        check = CHECK_BY_CODE.get(code)
        print_line(f"{severity} {printable(code, 100)} ({number:,} in {count_of(among, 'run')})"
            f"{f': {check.title}' if check is not None else ''}")  # fmt: skip
        # The query takes no parameters, and a folder may hold codes of another program.
        quoted = code.replace("'", "''")
        some = query_rows(
            folder,
            f"SELECT path, no, text FROM findings WHERE code = '{quoted}' AND severity = '{severity}' "
            f"ORDER BY path, no LIMIT {_MAX_LISTED}",
        )
        for path, no, text in some:
            print_line(f"  {printable(mask_text(path), 300)} No. {no:,}  {printable(text, MAX_SENTENCES_CHARS)}")
        if number > _MAX_LISTED:
            print_line(f"  and {number - _MAX_LISTED:,} more")
    if failed:
        print_line(f"{count_of(failed, 'log')} could not be surveyed; the table failures has the reasons.")
    for one in held:
        if one.failure is not None:
            print_line(f"{printable(one.name, 400)}: {printable(one.failure, 400)}")
