"""`check`: prints the findings of a log for people, scripts and continuous integration."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from itertools import chain, islice
from pathlib import Path
from shlex import quote
from string import Formatter
from typing import Annotated

import typer

from inspector.analysis.findings import Check, FindingPass, Severity
from inspector.analysis.findings.store import MAX_SENTENCES_CHARS
from inspector.analysis.views.account.tool_calls import tool_calls
from inspector.base.exit_codes import OUR_FAULT
from inspector.cli.arguments import AS_USUAL, JUDGED, Json, LogFiles, Reading, takes_reading
from inspector.cli.check_reports import Expectation, junit, sarif, unchecked_entries
from inspector.cli.check_survey import check_survey, judged, parsed_expectation
from inspector.cli.opening import named, opened
from inspector.cli.printing import LONGEST_NAMES, MOST_LISTED, print_array, print_line, printable
from inspector.document.document import CaptureDocument
from inspector.document.summary import finding_entries
from inspector.present.findings import failed_filter
from inspector.present.formats import count_of
from inspector.protocol.secrets.masking import mask_secrets, mask_text
from inspector.protocol.timestamps import NO_TIME
from inspector.survey import is_survey


class ReportFormat(StrEnum):
    """Output format of `check`."""

    text = "text"
    json = "json"
    junit = "junit"
    sarif = "sarif"


class FailOn(StrEnum):
    """Lowest severity at which `check` fails."""

    warning = "warning"
    error = "error"


@takes_reading(*JUDGED)
def check_command(
    files: LogFiles,
    as_json: Json = False,
    fail_on: Annotated[
        FailOn | None, typer.Option("--fail-on", help="Exit with code 1 for findings of this severity or worse.")
    ] = None,
    report: Annotated[
        ReportFormat, typer.Option("--format", help="Output format: for people, or for continuous integration.")
    ] = ReportFormat.text,
    expect_tool: Annotated[
        list[str] | None,
        typer.Option("--expect-tool", metavar="TOOL", help="Exit with code 1 unless it is called."),
    ] = None,
    forbid_tool: Annotated[
        list[str] | None, typer.Option("--forbid-tool", metavar="TOOL", help="Exit with code 1 if it is called.")
    ] = None,
    max_duration: Annotated[
        float | None,
        typer.Option("--max-duration", metavar="SECONDS", help="Exit with code 1 if the log spans more time.", min=0),
    ] = None,
    expect: Annotated[
        list[str] | None,
        typer.Option("--expect", metavar="EXPECTATION", help="Exit with code 1 unless it holds: "
                     "'tool write_file >= 1', 'failed <= 3', 'finding request-unanswered == 0'. Without a number it is "
                     "'>= 1'; names may have * and ?."),
    ] = None,
    forbid: Annotated[
        list[str] | None,
        typer.Option("--forbid", metavar="EXPECTATION", help="Exit with code 1 if it holds: "
                     "'finding secret-in-clear', 'tool delete_*'."),
    ] = None,
    each_run: Annotated[
        bool, typer.Option("--each-run", help="Survey: check expectations for each run instead of the total.")
    ] = False,
    baseline: Annotated[
        bool, typer.Option("--baseline", help="Compare the tools of MCP servers with their last tapped lists.")
    ] = False,
    reading: Reading = AS_USUAL,
) -> None:  # fmt: skip
    """Print every finding in a log, with advice on how to fix it.

    FILE may be a folder that `survey` wrote: findings of all its runs are printed, each with the path of its log. Exit
    code 70: an internal error ended some checks, so their findings are missing.
    """
    wanted, forbidden = ([parsed_expectation(text) for text in texts or ()] for texts in (expect, forbid))
    # A survey has tables instead of messages, so the shortcuts become expectations about its tables.
    if len(files) == 1 and is_survey(Path(files[0])):
        wanted += [parsed_expectation(f"tool {tool}") for tool in expect_tool or ()]
        forbidden += [parsed_expectation(f"tool {tool}") for tool in forbid_tool or ()]
        if max_duration is not None:
            wanted.append(parsed_expectation(f"seconds <= {max_duration}"))
        chosen = ReportFormat.json if as_json else report
        check_survey(Path(files[0]), chosen.value, fail_on.value if fail_on is not None else None, wanted, forbidden,
                     each_run=each_run)  # fmt: skip
        return
    with opened(files, reading, checked=True, baseline=baseline) as document:
        findings = document.analysis.findings
        # `initial`, since NumPy has no maximum of an empty array.
        worst = int(findings.found.severities[findings.columns["set"]].max(initial=0))
        asked = expectations(document, expect_tool or (), forbid_tool or (), max_duration)
        asked += [judged(one, one.of_document(document), forbidden=False) for one in wanted]
        asked += [judged(one, one.of_document(document), forbidden=True) for one in forbidden]
        fails = [one.word for one in Severity if fail_on is not None and one >= Severity[fail_on.name.upper()]]
        unchecked = document.failed_checks
        if as_json or report is ReportFormat.json:
            print_array(map(mask_secrets, chain(finding_entries(document), unchecked_entries(unchecked))))
        elif report is ReportFormat.junit:
            print_line(junit(named(files), map(mask_secrets, finding_entries(document)), asked, fails, unchecked))
        elif report is ReportFormat.sarif:
            print_line(sarif(named(files), map(mask_secrets, finding_entries(document)), asked, unchecked))
        else:
            _print_findings(findings, named(files), unchecked)
            if failed := document.capture.failed_count:
                many = f"{failed:,} messages report" if failed > 1 else "1 message reports"
                print_line(f"{many} a failure; `list FILE -Y {quote(failed_filter(document.capture))}` lists them.")
            if not len(document.capture):  # a build that checks a log may have failed to write it
                print_line("The log has no messages.")
            for one in asked:
                if one.failure is not None:
                    print_line(f"{printable(one.name, 200)}: {printable(one.failure, 400)}")
    if any(one.failure is not None for one in asked):
        raise typer.Exit(1)
    if fail_on is not None and worst >= Severity[fail_on.name.upper()]:
        raise typer.Exit(1)
    if unchecked:
        # Last, so that findings and expectations of the user decide the exit code first.
        raise typer.Exit(OUR_FAULT)


def expectations(
    document: CaptureDocument, wanted: Iterable[str], forbidden: Iterable[str], seconds: float | None
) -> list[Expectation]:
    """Checks required tools, forbidden tools and the longest duration against a log."""
    counts = tool_calls(document.analysis).by_tool
    found = [
        Expectation(f"expect-tool {tool}", None if tool in counts else f"{tool} was never called.") for tool in wanted
    ]
    for tool in forbidden:
        failure = f"{tool} was called {count_of(counts[tool], 'time')}." if tool in counts else None
        found.append(Expectation(f"forbid-tool {tool}", failure))
    if seconds is not None:
        times = document.capture.columns["time_ns"]
        known = times[times != NO_TIME]
        span = (int(known.max()) - int(known.min())) / 1e9 if len(known) else 0.0
        failure = f"It took {span:,.1f} s." if span > seconds else None
        found.append(Expectation(f"max-duration {seconds:g}", failure))
    return found


def _print_findings(findings: FindingPass, file: str, unchecked: Sequence[str]) -> None:
    """Prints findings for people, worst first, at most `MOST_LISTED` of each code.

    Advice that is the same for all findings of a code is printed once, else below each finding.

    Args:
        unchecked: a sentence for each topic of checks that ended by an error.
    """
    every = findings.found.checks()
    for sentence in unchecked:
        print_line(sentence)
    if not every:
        print_line(f"{printable(file, LONGEST_NAMES)}: no findings{' by the other checks' if unchecked else ''}.")
        return
    for severity in sorted(Severity, reverse=True):
        checks = [check for check in every if check.severity is severity]
        if not checks:
            continue
        print_line(count_of(sum(findings.found.count_of(check) for check in checks), severity.word))
        for check in checks:
            count = findings.found.count_of(check)
            print_line(f"  {check.code} ({count:,}): {check.title}")
            for found in islice(findings.found.each(check), MOST_LISTED):
                text = mask_text(findings.in_words(found).text)
                print_line(f"    No. {found.row + 1:<7,} {printable(text, MAX_SENTENCES_CHARS)}")
                if _has_specific_advice(check):
                    print_line(f"                -> {printable(mask_text(findings.hint(found)), 400)}")
            if count > MOST_LISTED:
                print_line(f"    and {count - MOST_LISTED:,} more")
            if not _has_specific_advice(check):
                print_line(f"    -> {printable(mask_text(findings.hint(next(findings.found.each(check)))), 400)}")


def _has_specific_advice(check: Check) -> bool:
    """Returns True if the advice differs between findings of this code."""
    return any(word not in (None, "limit") for _, word, _, _ in Formatter().parse(check.fix))
