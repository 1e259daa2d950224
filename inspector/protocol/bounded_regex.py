r"""Matches regular expressions from the wire in linear time with RE2, so that none can block the program.

RE2 follows all alternatives at once, without backtracking. It refuses back references and lookaround. As in the
gateways' JavaScript, `\d` and `\w` cover ASCII.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

MAX_PATTERN_LENGTH = 200
MAX_TEXT_LENGTH = 10_000
_MAX_MEMORY_BYTES = 1 << 20


class RegexRefusedError(ValueError):
    """The pattern is too long, invalid, or not supported by RE2; or the text is too long."""


def search_pattern(pattern: str, text: str) -> bool:
    """Returns True if the pattern occurs in the text.

    Raises:
        RegexRefusedError: if that cannot be determined.
    """
    compiled = _compiled(pattern)
    if len(text) > MAX_TEXT_LENGTH:
        raise RegexRefusedError(f"a text of more than {MAX_TEXT_LENGTH:,} characters")
    return compiled.search(_in_utf8(text)) is not None


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> Any:
    if len(pattern) > MAX_PATTERN_LENGTH:
        raise RegexRefusedError(f"a pattern of more than {MAX_PATTERN_LENGTH} characters")
    import re2  # imported for the first capability with an expression: a C++ library

    options = re2.Options()
    options.max_mem = _MAX_MEMORY_BYTES
    # RE2 would write its errors to standard error.
    options.log_errors = False
    try:
        # RE2 matches bytes, and its time is linear in the text.
        return re2.compile(_in_utf8(pattern), options=options)
    except re2.error as error:
        raise RegexRefusedError(f"a pattern that RE2 does not take: {error}") from error


def _in_utf8(text: str) -> bytes:
    return text.encode("utf-8", "replace")  # no expression matches a lone surrogate
