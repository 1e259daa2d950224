"""`check`: what is wrong with the traffic in a log, for people, scripts and continuous integration."""

from __future__ import annotations

from enum import StrEnum
from itertools import islice
from string import Formatter
from typing import Annotated

import typer

from inspector.analysis.findings import CHECK_BY_CODE, Check, FindingPass, Severity
from inspector.analysis.findings.store import LONGEST_SENTENCES
from inspector.cli.arguments import CollapseOrder, Collapses, Json, LogFiles, MemoryLimit, ReadAs, ToolAliasTexts
from inspector.cli.opening import named, opened
from inspector.cli.printing import MOST_LISTED, print_array, printable, say
from inspector.document.summary import finding_entries
from inspector.present.formats import count_of
from inspector.protocol.secrets.masking import mask_secrets, mask_text


class FailOn(StrEnum):
    """From which severity on `check` fails."""

    warning = "warning"
    error = "error"


def check_command(
    files: LogFiles,
    as_json: Json = False,
    fail_on: Annotated[
        FailOn | None, typer.Option("--fail-on", help="End with exit code 1 when there is such a finding, or a worse.")
    ] = None,
    tool_alias: ToolAliasTexts = None,
    collapses: Collapses = CollapseOrder.oldest,
    memory: MemoryLimit = 0,
    read_as: ReadAs = None,
) -> None:
    """Say what is wrong with the traffic in a log: every finding, with what to do about it."""
    with opened(
        files, checked=True, tool_aliases=tool_alias, collapses=collapses, memory_mb=memory, read_as=read_as
    ) as document:
        findings = document.analysis.findings
        worst = int(findings.found.severities[findings.columns["set"]].max(initial=0))
        if as_json:
            print_array(map(mask_secrets, finding_entries(document)))
        else:
            _print_findings(findings, named(files))
            if failed := document.capture.failed_count:
                many = f"{failed:,} messages report" if failed > 1 else "1 message reports"
                say(f"{many} a failure: `list FILE -Y error` shows which.")
            if not len(document.capture):  # a build that checks it may have been meant to write some
                say("There are no messages in it.")
    if fail_on is not None and worst >= Severity[fail_on.name.upper()]:
        raise typer.Exit(1)


def _print_findings(findings: FindingPass, file: str) -> None:
    """The findings for people: the worst first, of each code some, and what to do about it.

    That is said once where it is the same for all of a code, else below each.
    """
    counts = findings.found.counts()
    if not counts:
        say(f"{file}: nothing found.")
        return
    for severity in sorted(Severity, reverse=True):
        codes = [CHECK_BY_CODE[code] for code in counts if CHECK_BY_CODE[code].severity is severity]
        if not codes:
            continue
        total = sum(counts[check.code] for check in codes)
        say(count_of(total, severity.word))
        for check in codes:
            say(f"  {check.code} ({counts[check.code]:,}): {check.title}")
            for found in islice(findings.found.each(check), MOST_LISTED):
                text = mask_text(findings.in_words(found).text)
                say(f"    No. {found.row + 1:<7,} {printable(text, LONGEST_SENTENCES)}")
                if _names_somebody(check):
                    say(f"                -> {printable(mask_text(findings.hint(found)), 400)}")
            if counts[check.code] > MOST_LISTED:
                say(f"    and {counts[check.code] - MOST_LISTED:,} more")
            if not _names_somebody(check):
                say(f"    -> {printable(mask_text(findings.hint(next(findings.found.each(check)))), 400)}")


def _names_somebody(check: Check) -> bool:
    """Whether what to do about a finding differs from one of its code to the next."""
    return any(word not in (None, "limit") for _, word, _, _ in Formatter().parse(check.fix))
