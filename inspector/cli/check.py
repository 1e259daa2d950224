"""`check`: prints the findings of a log for people, scripts and continuous integration."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from itertools import chain
from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from inspector.analysis.findings import Severity
from inspector.analysis.findings.store import MAX_SENTENCES_CHARS
from inspector.base.exit_codes import OUR_FAULT
from inspector.cli.arguments import AS_USUAL, JUDGED, Json, LogFiles, Reading, takes_reading
from inspector.cli.check_reports import Expectation, junit, sarif, unchecked_entries
from inspector.cli.check_survey import check_survey, judged, parsed_expectation
from inspector.cli.opening import named, opened
from inspector.cli.printing import LONGEST_NAMES, MOST_LISTED, print_array, print_line, printable
from inspector.engine.requests.finding_lists import FindingGroup, GroupFindings, ListFindings
from inspector.engine.requests.log_facts import DescribeLog
from inspector.engine.requests.run_tables import CountRun
from inspector.present.formats import count_of
from inspector.protocol.secrets.masking import mask_secrets
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
    with opened(files, reading, checked=True, baseline=baseline) as log:
        counts, facts = log.answer_to(CountRun()), log.answer_to(DescribeLog())
        groups = log.answer_to(GroupFindings(MOST_LISTED))
        worst = max((group.severity for group in groups), default=None)
        asked = expectations(counts, expect_tool or (), forbid_tool or (), max_duration)
        asked += [judged(one, one.of_counts(counts), forbidden=False) for one in wanted]
        asked += [judged(one, one.of_counts(counts), forbidden=True) for one in forbidden]
        fails = [one.word for one in Severity if fail_on is not None and one >= Severity[fail_on.name.upper()]]
        unchecked, findings = facts.unchecked, log.rows(ListFindings())
        if as_json or report is ReportFormat.json:
            print_array(chain(findings, map(mask_secrets, unchecked_entries(unchecked))))
        elif report is ReportFormat.junit:
            print_line(junit(named(files), findings, asked, fails, unchecked))
        elif report is ReportFormat.sarif:
            print_line(sarif(named(files), findings, asked, unchecked))
        else:
            _print_findings(groups, named(files), unchecked)
            if facts.failed:
                many = f"{facts.failed:,} messages report" if facts.failed > 1 else "1 message reports"
                print_line(f"{many} a failure; `list FILE -Y {quote(facts.failed_filter)}` lists them.")
            if not facts.messages:  # a build that checks a log may have failed to write it
                print_line("The log has no messages.")
            for one in asked:
                if one.failure is not None:
                    print_line(f"{printable(one.name, 200)}: {printable(one.failure, 400)}")
    if any(one.failure is not None for one in asked):
        raise typer.Exit(1)
    if fail_on is not None and worst is not None and worst >= Severity[fail_on.name.upper()]:
        raise typer.Exit(1)
    if unchecked:
        # Last, so that findings and expectations of the user decide the exit code first.
        raise typer.Exit(OUR_FAULT)


def expectations(
    counts: Mapping[str, Mapping[str, float]], wanted: Iterable[str], forbidden: Iterable[str], seconds: float | None
) -> list[Expectation]:
    """Checks required tools, forbidden tools and the longest duration against the counts of a log."""
    calls, span = counts["tool"], counts["seconds"][""]
    found = [
        Expectation(f"expect-tool {tool}", None if tool in calls else f"{tool} was never called.") for tool in wanted
    ]
    for tool in forbidden:
        failure = f"{tool} was called {count_of(int(calls[tool]), 'time')}." if tool in calls else None
        found.append(Expectation(f"forbid-tool {tool}", failure))
    if seconds is not None:
        failure = f"It took {span:,.1f} s." if span > seconds else None
        found.append(Expectation(f"max-duration {seconds:g}", failure))
    return found


def _print_findings(groups: Sequence[FindingGroup], file: str, unchecked: Sequence[str]) -> None:
    """Prints findings for people, worst first, at most `MOST_LISTED` of each code.

    Advice that is the same for all findings of a code is printed once, else below each finding.

    Args:
        groups: the findings by check.
        file: the log or logs.
        unchecked: a sentence for each topic of checks that ended by an error.
    """
    for sentence in unchecked:
        print_line(sentence)
    if not groups:
        print_line(f"{printable(file, LONGEST_NAMES)}: no findings{' by the other checks' if unchecked else ''}.")
        return
    for severity in sorted(Severity, reverse=True):
        same = [group for group in groups if group.severity is severity]
        if not same:
            continue
        print_line(count_of(sum(group.count for group in same), severity.word))
        for group in same:
            print_line(f"  {group.code} ({group.count:,}): {group.title}")
            for found in group.findings:
                print_line(f"    No. {found.message + 1:<7,} {printable(found.text, MAX_SENTENCES_CHARS)}")
                if found.advice is not None:
                    print_line(f"                -> {printable(found.advice, 400)}")
            if group.count > MOST_LISTED:
                print_line(f"    and {group.count - MOST_LISTED:,} more")
            if group.advice is not None:
                print_line(f"    -> {printable(group.advice, 400)}")
