"""Formats the findings of `check` as JUnit XML and SARIF 2.1.0 for continuous integration."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple
from xml.etree import ElementTree

from inspector import __version__
from inspector.analysis.findings.check_table import CHECK_BY_CODE

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


class Expectation(NamedTuple):
    """Result of one expectation about a log.

    Attributes:
        name: the expectation, such as `expect-tool write_file`.
        failure: a sentence on why it fails; None if it holds.
    """

    name: str
    failure: str | None


UNCHECKED = "checks-failed"
"""Code of an entry for checks that an internal error ended."""


def unchecked_entries(sentences: Iterable[str], **more: str) -> Iterator[dict[str, Any]]:
    """Yields entries in the shape of findings, one for each sentence about checks that ended by an error."""
    for sentence in sentences:
        yield {"code": UNCHECKED, "severity": "error", "no": None, "context": None, "text": sentence, **more}


def junit(
    file: str, findings: Iterable[dict[str, Any]], expected: Sequence[Expectation], fails: Sequence[str],
    unchecked: Sequence[str] = (),
) -> str:  # fmt: skip
    """Returns a JUnit suite with one test case for each code found, and one for each expectation.

    Args:
        file: the log or logs checked.
        findings: as `check --json` prints them; findings of a survey also have the `path` of their run.
        expected: results of expectations.
        fails: severities at which a finding is a failure; other findings go into the output of the case.
        unchecked: a sentence for each topic of checks that ended by an error.
    """
    by_code: dict[str, list[dict[str, Any]]] = {}
    for found in findings:
        by_code.setdefault(found["code"], []).append(found)
    failing = [code for code, each in by_code.items() if any(one["severity"] in fails for one in each)]
    missed = [one for one in expected if one.failure is not None]
    cases = len(by_code) + len(expected) + len(unchecked)
    suite = ElementTree.Element(
        "testsuite", name="context-inspector check", tests=str(max(cases, 1)), failures=str(len(failing) + len(missed)),
        errors=str(len(unchecked)), skipped="0",
    )  # fmt: skip
    for code, each in by_code.items():
        case = ElementTree.SubElement(suite, "testcase", classname=_plain(file), name=code)
        words = "\n".join(f"{_where(one)}No. {one['no']}: {one['text']}" for one in each)
        if code in failing:
            failure = ElementTree.SubElement(case, "failure", message=_plain(CHECK_BY_CODE[code].title), type=code)
            failure.text = _plain(words)
        else:
            ElementTree.SubElement(case, "system-out").text = _plain(words)
    for one in expected:
        case = ElementTree.SubElement(suite, "testcase", classname=_plain(file), name=_plain(one.name))
        if one.failure is not None:
            ElementTree.SubElement(case, "failure", message=_plain(one.failure), type="expectation")
    for sentence in unchecked:
        case = ElementTree.SubElement(suite, "testcase", classname=_plain(file), name=UNCHECKED)
        ElementTree.SubElement(case, "error", message=_plain(sentence), type=UNCHECKED)
    # The suite states at least one test, so it must contain one.
    if not cases:
        ElementTree.SubElement(suite, "testcase", classname=_plain(file), name="no findings")
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True)


def sarif(
    file: str, findings: Iterable[dict[str, Any]], expected: Sequence[Expectation], unchecked: Sequence[str] = ()
) -> str:
    """Returns a SARIF run with a result for each finding and each failed expectation; lines are message numbers.

    SARIF has levels with the names of our severities.

    Checks that ended by an error (`unchecked`, a sentence each) make the run's invocation unsuccessful.
    """
    results = [
        _result(found.get("path", file), found["code"], found["severity"], found["text"], found["no"])
        for found in findings
    ]
    results += [_result(file, "expectation", "error", one.failure, None) for one in expected if one.failure is not None]
    known = dict.fromkeys(one["ruleId"] for one in results)
    rules = [
        {
            "id": code,
            "shortDescription": {"text": CHECK_BY_CODE[code].title if code in CHECK_BY_CODE else "Expectation"},
        }
        for code in known
    ]
    driver = {"name": "context-inspector", "version": __version__, "rules": rules}
    invocation: dict[str, Any] = {"executionSuccessful": not unchecked}
    if unchecked:
        invocation["toolExecutionNotifications"] = [
            {"descriptor": {"id": UNCHECKED}, "level": "error", "message": {"text": sentence}} for sentence in unchecked
        ]
    run = {"tool": {"driver": driver}, "invocations": [invocation], "results": results}
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _result(file: str, rule: str, level: str, text: str, number: int | None) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": {"uri": file}}
    if number is not None:
        place["region"] = {"startLine": number}
    return {
        "ruleId": rule, "level": level, "message": {"text": text}, "locations": [{"physicalLocation": place}],
    }  # fmt: skip


def _where(found: dict[str, Any]) -> str:
    """Returns the path of the run, as a prefix, for a finding of a survey."""
    return f"{found['path']}, " if "path" in found else ""


def _plain(text: str) -> str:
    """Replaces characters that XML 1.0 cannot hold."""
    return _NOT_IN_XML.sub("\N{REPLACEMENT CHARACTER}", text)


_NOT_IN_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
