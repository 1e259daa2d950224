"""Findings: problems in the traffic, each with code, severity, sentence and hint (docs/design.md 2 and 3).

A topic module declares its checks as data and has a class that finds them. `check_table` lists all topics, with those
that formats declare for their own traffic, and `finding_pass` runs them. To add a check, write a `Check` in a topic's
CHECKS and detect it in the topic's `feed`. Then add a `Case` to CASES of `tests/findings.py` and run `make docs`. A
topic that reads many records again does so in `go_on`, a slice at a time.
"""

from __future__ import annotations

from inspector.analysis.findings.check import Check, Severity
from inspector.analysis.findings.finding_pass import FindingPass
from inspector.analysis.findings.sentences import Finding

__all__ = ["Check", "Finding", "FindingPass", "Severity"]
