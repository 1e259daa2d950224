"""Parses command results of labelled lines: "Command: ...", "Output: ...", "Error: ...", "Exit Code: 3"."""

from __future__ import annotations

import re
from typing import NamedTuple

_LABELLED = re.compile(
    r"\A(?:<untrusted_context>\n)?(?:Command: .*?\n)?(?:Directory: .*?\n)?(?:Output|Stdout): (.*?)\n"
    r"(?:(?:Error|Stderr): (.*?)\n)?Exit Code: (\S{1,12})",
    re.DOTALL,
)
_EMPTY = ("(empty)", "(none)")
_MOST_CHARS = 20_000


class LabelledOutput(NamedTuple):
    """The values of the labels.

    Attributes:
        output: the output; "" without one.
        error: the error output, or the error of the tool; "" without one.
        code: the exit code, as written.
    """

    output: str
    error: str
    code: str

    @property
    def text(self) -> str:
        """The output, then the error output."""
        return "\n".join(filter(None, (self.output, self.error)))


def labelled_output(text: str) -> LabelledOutput | None:
    """Returns the values of a labelled result of at most 20,000 characters; None for others."""
    found = _LABELLED.match(text[:_MOST_CHARS])
    if found is None:
        return None
    output, error = ("" if not part.strip() or part.strip() in _EMPTY else part for part in found.groups("")[:2])
    return LabelledOutput(output, error, found[3])
