r"""Regular expressions from the wire, matched in time linear in the text: whoever writes one cannot make us wait.

RE2 follows all alternatives at once, so nothing is tried twice. It refuses what cannot be matched so: back references
and looking around. As in the gateways' JavaScript, `\d` and `\w` are of ASCII.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

LONGEST_PATTERN = 200
LONGEST_TEXT = 10_000
_MOST_MEMORY_BYTES = 1 << 20


class RegexRefusedError(ValueError):
    """A pattern that is too long, no regular expression, or outside what RE2 takes; or a text that is too long."""


def search(pattern: str, text: str) -> bool:
    """Whether a pattern is found anywhere in a text.

    Raises:
        RegexRefusedError: that cannot be said.
    """
    compiled = _compiled(pattern)
    if len(text) > LONGEST_TEXT:
        raise RegexRefusedError(f"a text of more than {LONGEST_TEXT:,} characters")
    return compiled.search(_in_utf8(text)) is not None


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> Any:
    if len(pattern) > LONGEST_PATTERN:
        raise RegexRefusedError(f"a pattern of more than {LONGEST_PATTERN} characters")
    import re2  # not before somebody's capability is an expression: a library of C++

    options = re2.Options()
    options.max_mem = _MOST_MEMORY_BYTES
    options.log_errors = False
    try:
        return re2.compile(_in_utf8(pattern), options=options)
    except re2.error as error:
        raise RegexRefusedError(f"a pattern that RE2 does not take: {error}") from error


def _in_utf8(text: str) -> bytes:
    return text.encode("utf-8", "replace")  # half characters stand for themselves in no expression
