"""Detects failures in the output of shell tools, which their programs do not count as errors."""

from __future__ import annotations

import re

_EXIT = re.compile(
    r"^Exit Code: -?[1-9]\d*\s*(?:\n(?:Signal|Background PIDs|Process Group PGID): [^\n]{0,400})*\s*"
    r"(?:</untrusted_context>\s*)?\Z",
    re.MULTILINE,
)
_LONGEST_END = 2_000


def has_failed(output: str) -> bool:
    """Returns True if an output ends with a non-zero exit code in words."""
    return _EXIT.search(output[-_LONGEST_END:]) is not None
