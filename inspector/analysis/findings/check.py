"""Declares the type of a check: code, severity, texts, source of its rule."""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace


class Severity(enum.IntEnum):
    """Severity of a finding, ordered, so that filters can ask for a minimum."""

    NOTE = 1
    """Worth knowing; not necessarily an error."""
    WARNING = 2
    """Something is inconsistent, or a participant will wait without result."""
    ERROR = 3
    """The protocol is violated, or a message is trusted wrongly."""

    @property
    def word(self) -> str:
        """Name in filters and on the command line."""
        return self.name.lower()


@dataclass(frozen=True, slots=True, eq=False)
class Check:
    """Declaration of one check. The page `docs/findings.md` is generated from all of them."""

    code: str
    """Stable name in kebab-case, used by filters, scripts and links."""
    severity: Severity
    title: str
    """The problem, in a few words."""
    sentence: str
    """Template of the sentence about one finding; `inspector.analysis.findings.sentences` lists its placeholders."""
    matters: str
    """Effect of the problem, in a sentence or two."""
    fix: str
    """Remedy, in a sentence."""
    source: str
    """Document and section that the rule comes from."""
    example: str = ""
    """Example of `{detail}` for the page."""
    on_transcripts: bool = False
    """True if the check applies to transcripts. Rules about envelopes do not, as transcripts have none."""
    limit: int = 0
    """Threshold, `{limit}` in the texts; 0 if the check has none. The sentence names its unit."""
    where: str = ""
    """Condition of this severity, if the same code is also declared with another one."""

    def with_severity(self, severity: Severity, where: str) -> Check:
        """Returns a copy with another severity for some cases. Both share a code; a message gets one of them."""
        return replace(self, severity=severity, where=where)


NOTE, WARNING, ERROR = Severity
"""Short names of the severities, for declarations."""
