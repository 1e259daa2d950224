"""Findings: what is wrong with the traffic, each with code, severity, sentence and hint (docs/design.md 2 and 3).

A topic module declares its checks as data and holds what follows the traffic for them; `finding_pass` runs them.
To add a check: one `Check` in a topic's CHECKS, what finds it in the topic's `feed`, a `Case` in CASES of
`tests/findings.py`, and `make docs`. A topic that reads many records again does so in `go_on`, a slice at a time.
"""

from __future__ import annotations

from inspector.analysis.findings.check import Check, Severity
from inspector.analysis.findings.finding_pass import CHECK_BY_CODE, CHECKS, FindingPass
from inspector.analysis.findings.sentences import Finding

__all__ = ["CHECKS", "CHECK_BY_CODE", "Check", "Finding", "FindingPass", "Severity"]
