"""`python -m inspector.analysis.findings` writes the page about all findings to standard output."""

from __future__ import annotations

import sys

from inspector.analysis.findings.check import Check, Severity
from inspector.analysis.findings.finding_pass import CHECKS

# The page about all findings, made of their declarations: `docs/findings.md`.

_HEAD = """# Findings

What Context Inspector says about traffic that goes wrong, and what to do about it. Every finding has a code that does
not change: filter by it (`finding == "{example}"`), by severity (`finding.severity >= warning`, the
preset *Problems*), or let a script fail on it (`context-inspector check FILE --fail-on error`).

A finding is taken back when later traffic mends it: a request that is answered after all, an id that turns up late.
Waiting times go by the clock while live, and by the last message of a log.

What a [transcript](transcripts.md) tells was never sent as envelopes, so that most of this does not apply: only
{transcripts} look at it.

This page is made of the checks themselves: `python -m inspector.analysis.findings > docs/findings.md`.
"""

_MEANS = {
    Severity.ERROR: "The protocol is broken, or trust in a message is misplaced.",
    Severity.WARNING: "Something does not add up, or somebody waits in vain.",
    Severity.NOTE: "Worth knowing; nothing has to be wrong.",
}


def page() -> str:
    """The page in Markdown, with a line end at its end."""
    links = " and ".join(f"[`{check.code}`](#{check.code})" for check in CHECKS if check.on_transcripts)
    parts = [_HEAD.format(example=CHECKS[0].code, transcripts=links)]
    for severity in sorted(Severity, reverse=True):
        declared = (check for check in CHECKS if check.severity is severity and not check.where)
        checks = sorted(declared, key=lambda check: check.code)
        parts.append(f"## {severity.word.capitalize()}s\n\n{_MEANS[severity]}\n")
        parts.append("".join(f"- [`{check.code}`](#{check.code}): {check.title}\n" for check in checks))
        parts += map(_section, checks)
    return "\n".join(parts)


def _section(check: Check) -> str:
    lines = [
        f"### {check.code}\n",
        f"**{check.title}** ({check.severity.word})\n",
        f"> {_plain(check, check.sentence)}\n",
        f"- Why it matters: {_plain(check, check.matters)}",
        f"- What to do: {_plain(check, check.fix)}",
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
    "advice": "By what is known of *recipient*: whether it was ever seen, has left, or may answer",
}  # fmt: skip


def _plain(check: Check, template: str) -> str:
    """A template with names of what stands in its places."""
    return template.format_map({**_EXAMPLES, "detail": check.example, "limit": f"{check.limit:,}"})


if __name__ == "__main__":
    sys.stdout.write(page())
