"""Regular expression with named groups for lines of text, in linear time (RE2)."""

from __future__ import annotations

from typing import Any

MAX_PATTERN_LENGTH = 2_000
_MAX_MEMORY_BYTES = 1 << 21
_MAX_INSTRUCTIONS = 2_000
"""Limit of the compiled expression; the time for a line is at most this times its length."""
_MAX_STEPS = 50_000_000
"""Limit of instructions times characters in a line: about a second in the worst case."""


class PatternError(ValueError):
    """RE2 does not take the expression."""


class LinePattern:
    """A compiled expression.

    Attributes:
        names: its groups.
        matches_anything: it matches an empty line, and so any.
    """

    def __init__(self, pattern: str) -> None:
        """Compiles an expression. Raises PatternError."""
        if len(pattern) > MAX_PATTERN_LENGTH:
            raise PatternError(f"an expression has at most {MAX_PATTERN_LENGTH:,} characters")
        import re2  # imported for the first declaration with an expression: a C++ library

        options = re2.Options()
        options.max_mem = _MAX_MEMORY_BYTES
        # RE2 would write its errors to standard error.
        options.log_errors = False
        try:
            self._compiled: Any = re2.compile(pattern.encode("utf-8", "replace"), options=options)
            if self._compiled.programsize > _MAX_INSTRUCTIONS:
                raise PatternError("the expression is too large: a repetition such as {1000} counts as often")
        except re2.error as error:
            raise PatternError(_reason(error)) from error
        self._groups = {_decoded(name): number for name, number in self._compiled.groupindex.items()}
        self._max_length = _MAX_STEPS // max(1, self._compiled.programsize)
        self.names = tuple(self._groups)
        self.matches_anything = self._compiled.search(b"") is not None

    def groups_of(self, line: bytes) -> dict[str, str] | None:
        """Returns the texts of the groups that matched; None for another line, or for one that is too long."""
        found = self._compiled.search(line) if len(line) <= self._max_length else None
        if found is None:
            return None
        texts = ((name, found.group(number)) for name, number in self._groups.items())
        return {name: text.decode("utf-8", "replace") for name, text in texts if text is not None}


def _reason(error: Exception) -> str:
    words = _decoded(error.args[0]) if error.args else str(error)
    return f"RE2 does not take the expression: {words}"


def _decoded(text: str | bytes) -> str:
    return text.decode("utf-8", "replace") if isinstance(text, bytes) else text
