"""Detects placeholders of secrets: `your_api_key_here`, `ghp_xxx`, `sk-...`, `changeme`.

They are masked like any other value, at no loss, but they do not count as exposed secrets.
"""

from __future__ import annotations

import re

_LONGEST = 60
# Each part begins with a distinct sign, so that a text of one letter has only one split.
_STAND_IN = re.compile(
    r"""(?ix)
    (?:[\w\-]{0,16}[_\-])? x{3,}(?:[_\-]x{3,})*[_\-]?              # ghp_xxx, sk-ant-xxxxx
    | .{0,24} (?:\.{3}|…)                                          # sk-...
    | (?:[a-z]{2,6}[_\-]){0,2} (?:your|change|replace|insert|enter|paste)[a-z]*(?:[_\-\ ][a-z]+){0,6}
    | my[_\-]?(?:[a-z]+[_\-])?(?:key|token|secret|password)
    | [a-z_\-\ ]{0,24} (?:example|placeholder|dummy|fake|sample|here)
    | [A-Z0-9/+]{4,36} EXAMPLE(?:KEY)?                              # as AWS writes its own
    | (?:test|dummy|fake|example|sample|mock|dev)[a-z]*(?:[_\-][a-z]+){0,3}[_\-]?
    | (?:password|passwd|secret|token|pass|key|api[_\-]?key)
    """
)


def is_placeholder(value: str) -> bool:
    """Returns True if a value is a placeholder of a secret."""
    value = value.strip(" \t\"'`<>[](){}$,;")
    return len(value) <= _LONGEST and _STAND_IN.fullmatch(value) is not None
