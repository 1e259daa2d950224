"""Generates `docs/findings.md` from all checks: `python -m inspector.analysis.findings` writes it to stdout."""

from __future__ import annotations

import sys

from inspector.analysis.findings.check import Check, Severity
from inspector.analysis.findings.check_table import CHECKS

# Texts of the page around the declarations.

_HEAD = """# Findings

Problems that Context Inspector finds in traffic, with effect and remedy. Every finding has a code that does
not change: filter by it (`finding == "{example}"`), by severity (`finding.severity >= warning`, the
preset *Problems*), or let a script fail on it (`context-inspector check FILE --fail-on error`).

A finding is withdrawn when later traffic resolves it, for example a late answer to a request.
Waiting times end at the current time while live, and at the last message of a log.

Most checks do not apply to [transcripts](transcripts.md), which were never sent as envelopes. Only
{transcripts} read them.

This page is generated from the checks: `python -m inspector.analysis.findings > docs/findings.md`.
"""

_SEVERITY_TEXTS = {
    Severity.ERROR: "The protocol is violated, or a message is trusted wrongly.",
    Severity.WARNING: "Something is inconsistent, or a participant waits without result.",
    Severity.NOTE: "Worth knowing; not necessarily an error.",
}


def page() -> str:
    """Returns the page in Markdown, with a final line end."""
    links = " and ".join(f"[`{check.code}`](#{check.code})" for check in CHECKS if check.on_transcripts)
    parts = [_HEAD.format(example=CHECKS[0].code, transcripts=links)]
    for severity in sorted(Severity, reverse=True):
        declared = (check for check in CHECKS if check.severity is severity and not check.where)
        checks = sorted(declared, key=lambda check: check.code)
        parts.append(f"## {severity.word.capitalize()}s\n\n{_SEVERITY_TEXTS[severity]}\n")
        parts.append("".join(f"- [`{check.code}`](#{check.code}): {check.title}\n" for check in checks))
        parts += map(_section, checks)
    return "\n".join(parts)


def _section(check: Check) -> str:
    lines = [
        f"### {check.code}\n",
        f"**{check.title}** ({check.severity.word})\n",
        f"> {_filled_template(check, check.sentence)}\n",
        f"- Why it matters: {_filled_template(check, check.matters)}",
        f"- What to do: {_filled_template(check, check.fix)}",
    ]
    lines += [
        f"- Severity: {one.severity.word} where {one.where}; else {check.severity.word}"
        for one in CHECKS
        if one.code == check.code and one.where
    ]
    if check.limit:
        lines.append(f"- Threshold: {check.limit:,}")
    lines.append(f"- Source: {check.source}\n")
    return "\n".join(lines)


_EXAMPLES = {
    "who": "*sender*", "to": "*recipient*", "kind": "*kind*", "call": "*call*", "context": "*context*",
    "other": "*No.*", "reason": "*reason*", "named": "“a1”", "answered": ", “a1”", "in_payload": "", "arguments": "",
    "stopped": "it", "ended": "The server ended with exit code 1",
    "subject": "*kind* from *sender*", "place": "in `payload.token`",
    "advice": "Advice that depends on *recipient*: never seen, has left, or present",
}  # fmt: skip


def _filled_template(check: Check, template: str) -> str:
    """Fills a template with the names of its placeholders."""
    return template.format_map({**_EXAMPLES, "detail": check.example, "limit": f"{check.limit:,}"})


if __name__ == "__main__":
    sys.stdout.write(page())
