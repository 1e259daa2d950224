"""What a check is: its code, what it says, and where the rule comes from. Nothing here looks at messages."""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace


class Severity(enum.IntEnum):
    """How bad a finding is. Ordered, so that filters can ask for at least one of them."""

    NOTE = 1
    """Worth knowing; nothing has to be wrong."""
    WARNING = 2
    """Something does not add up, or somebody will wait in vain."""
    ERROR = 3
    """The protocol is broken, or trust in a message is misplaced."""

    @property
    def word(self) -> str:
        """Its name as filters and people write it."""
        return self.name.lower()


@dataclass(frozen=True, slots=True, eq=False)
class Check:
    """One thing that is looked for, declared once; the page `docs/findings.md` is made of these."""

    code: str
    """Stable name, in kebab-case: filters, scripts and links use it."""
    severity: Severity
    title: str
    """What is wrong, in a few words."""
    sentence: str
    """Template of the sentence about one finding; its words are those of `inspector.analysis.findings.sentences`."""
    matters: str
    """Why it matters, in a sentence or two."""
    fix: str
    """What to do about it, in a sentence."""
    source: str
    """Which document says so, and where."""
    example: str = ""
    """What `{detail}` may be, for the page."""
    on_transcripts: bool = False
    """It makes sense of what transcripts tell, which nobody sent as envelopes: rules about those do not."""
    limit: int = 0
    """The threshold, where there is one: `{limit}` in the texts. Unit as the sentence says it."""
    where: str = ""
    """When it is as severe as this, where the check of its code is declared with another severity."""

    def at(self, severity: Severity, where: str) -> Check:
        """The same, as severe as this in some cases: findings of both have one code, and a message has one of them."""
        return replace(self, severity=severity, where=where)


NOTE, WARNING, ERROR = Severity
"""The severities by their short names, for declarations."""
