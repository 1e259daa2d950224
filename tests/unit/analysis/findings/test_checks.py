"""Each check finds what it is for, once, and not what is nearly that; what is mended is taken back."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from inspector.analysis.findings.__main__ import page
from inspector.analysis.findings.check import Check
from inspector.analysis.findings.check_table import CHECK_BY_CODE, CHECKS, TOPICS
from inspector.formats.format import load
from inspector.formats.table import FORMATS
from tests.builders import GrowingLog, document_of
from tests.findings import CASES
from tests.mcp_findings import VARIED

DOCS = Path(__file__).parents[4] / "docs" / "findings.md"


def test_every_check_has_its_captures() -> None:
    assert CASES.keys() == CHECK_BY_CODE.keys(), "one Case in tests/findings.py for each check"
    assert len({(check.code, check.severity) for check in CHECKS}) == len(CHECKS)
    varied = {(check.code, check.severity.word) for check in CHECKS if check.where}
    assert varied <= VARIED.keys(), "a case in tests/mcp_findings.py for each severity that depends"


def test_topics_of_formats_run_before_the_topics_they_name() -> None:
    names = [topic.name for topic in TOPICS]
    assert len(set(names)) == len(names)
    own = [load(one.checks) for one in FORMATS if one.checks]
    assert {topic.name for topic in own} <= set(names)
    assert all(names.index(topic.name) < names.index(topic.before) for topic in own if topic.before)


@pytest.mark.parametrize("module", [one.checks.partition(":")[0] for one in FORMATS if one.checks])
def test_checks_of_a_format_can_be_imported_first(module: str) -> None:
    subprocess.run([sys.executable, "-c", f"import {module}"], check=True)


@pytest.mark.parametrize("code", CASES)
def test_it_is_found_once(code: str) -> None:
    found = document_of(*CASES[code].wrong, baseline=CASES[code].baseline).analysis.findings
    assert [finding.code for finding in found.all()].count(code) == 1
    (finding,) = (finding for finding in found.all() if finding.code == code)
    assert code in {known.code for known in found.findings_about(finding.row)}
    assert finding.text.endswith(".")
    assert "{" not in finding.text


@pytest.mark.parametrize(("code", "severity"), VARIED)
def test_its_severity_depends(code: str, severity: str) -> None:
    findings = document_of(*VARIED[code, severity]).analysis.findings
    (found,) = (found for found in findings.all() if found.code == code)
    assert found.severity.word == severity
    assert findings.found.counts()[code] == 1
    assert findings.found.severities[findings.columns["set"][found.row]] >= found.severity


@pytest.mark.parametrize("code", CASES)
def test_what_is_nearly_so_is_not(code: str) -> None:
    document = document_of(*CASES[code].right, baseline=CASES[code].baseline)
    assert code not in document.analysis.findings.found.counts()


@pytest.mark.parametrize("code", [code for code, case in CASES.items() if case.mended])
def test_what_is_mended_is_taken_back(code: str) -> None:
    log = GrowingLog()
    log.write(*CASES[code].wrong)
    findings = log.document.analysis.findings
    (row,) = (finding.row for finding in findings.all() if finding.code == code)
    changes = log.write(*CASES[code].mended)
    assert code not in findings.found.counts()
    assert code not in {finding.code for finding in findings.findings_about(row)}
    assert row in {changed for change in changes for changed in change.changed.tolist()}


def test_every_check_is_described() -> None:
    def is_described(check: Check) -> bool:
        named = re.fullmatch(r"[a-z]+(-[a-z]+)*", check.code) and not check.title.endswith(".")
        whole = all(one.endswith((".", "{detail}")) for one in (check.sentence, check.matters, check.fix))
        shown = ("{detail}" in check.sentence) == bool(check.example)
        return bool(named and whole and shown and check.source)

    assert [check.code for check in CHECKS if not is_described(CHECK_BY_CODE[check.code])] == []


def test_the_page_is_up_to_date() -> None:
    assert DOCS.read_text(encoding="utf-8") == page(), "make docs"
