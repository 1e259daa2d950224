"""Findings of a log: a list of all, and groups by check for reports."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from string import Formatter
from typing import Any

import msgspec

from inspector.analysis.findings import Check, Severity
from inspector.document.summary import finding_entries
from inspector.engine.open_document import OpenDocument
from inspector.engine.request import PartsRequest, Query, Request, Steps, row_parts, rows_from
from inspector.protocol.secrets.masking import mask_secrets, mask_text


class FindingText(msgspec.Struct, frozen=True):
    """A finding in words, masked.

    Attributes:
        message: its message.
        text: the sentence.
        advice: its remedy; None if the group has one for all.
    """

    message: int
    text: str
    advice: str | None


class FindingGroup(msgspec.Struct, frozen=True):
    """Findings of one check.

    Attributes:
        code, severity, title: the check.
        count: number of its findings.
        advice: remedy of all of them; None if it differs.
        findings: the first of them.
    """

    code: str
    severity: Severity
    title: str
    count: int
    advice: str | None
    findings: list[FindingText]


class GroupFindings(Request[list[FindingGroup]], frozen=True):
    """Findings by check, most severe checks first.

    Attributes:
        most: number of findings listed in each group.
    """

    most: int = 0


class ListFindings(PartsRequest[list[dict[str, Any]], None], frozen=True):
    """Findings as JSON, masked, most severe first; numbers count from 1."""

    at_least: Severity = Severity.NOTE
    offset: int = 0
    limit: int | None = None


def _groups(held: OpenDocument, asked: GroupFindings) -> list[FindingGroup]:
    found = held.document.analysis.findings.found
    return [_group(held, check, asked.most) for check in found.checks()]


def _group(held: OpenDocument, check: Check, most: int) -> FindingGroup:
    findings, differs = held.document.analysis.findings, _has_specific_advice(check)
    listed = list(islice(findings.found.each(check), most))
    return FindingGroup(
        check.code, check.severity, check.title, findings.found.count_of(check),
        None if differs or not listed else mask_text(findings.hint(listed[0])),
        [
            FindingText(
                one.row, mask_text(findings.in_words(one).text), mask_text(findings.hint(one)) if differs else None
            )
            for one in listed
        ],
    )  # fmt: skip


def _has_specific_advice(check: Check) -> bool:
    """Returns True if the advice differs between findings of this code."""
    return any(word not in (None, "limit") for _, word, _, _ in Formatter().parse(check.fix))


def _list(held: OpenDocument, asked: ListFindings) -> Steps[None]:
    def rows() -> Iterator[dict[str, Any]]:
        for one in finding_entries(held.document):
            if Severity[one["severity"].upper()] >= asked.at_least:
                yield one

    yield from row_parts(map(mask_secrets, rows_from(rows(), asked.offset, asked.limit)))


QUERIES = (
    Query(GroupFindings, list[FindingGroup], _groups),
    Query(ListFindings, None, _list, list[dict[str, Any]]),
)
