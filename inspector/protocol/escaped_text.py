"""Escapes wire text that could act on its viewer: a terminal, a spreadsheet, a page."""

from __future__ import annotations

import re

# Control, bidi and invisible characters, and lone surrogates; `present.wire_text` shows the same ones as chips.
_HOSTILE = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff"
    "\uffa0\ufff9-\ufffb\ufffe\uffff\ud800-\udfff\U000e0000-\U000e007f]"
)
_FORMULA = re.compile(r"[\t\r]|(?:\s|\\u[0-9a-f]{4})*[=+\-@＝＋－＠﹢﹣﹦﹫−]")  # noqa: RUF001 - full-width signs are meant
"""Beginning of a formula, leading blanks included; some spreadsheets read fullwidth signs as plain ones."""


def escape_hostile(text: str) -> str:
    r"""Replaces such characters by escapes like `\u202e`, also valid inside JSON. Line ends stay."""
    return _HOSTILE.sub(lambda found: _escaped(ord(found[0])), text)


def _escaped(code: int) -> str:
    if code < 0x10000:
        return f"\\u{code:04x}"
    return f"\\u{0xD7C0 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"


def printable(text: str, width: int) -> str:
    """Returns the text on one line, without control characters, cut to a width."""
    # Cut before splitting: captured text may have megabytes. Twenty times the width leaves room for blanks.
    line = escape_hostile(" ".join(text[: 20 * width].split()))
    return line if len(line) <= width else line[: width - 1] + "…"


def escape_formula(text: str) -> str:
    """Returns text for a CSV cell: a possible formula gets a leading apostrophe (OWASP, CSV Injection)."""
    text = escape_hostile(text)
    return "'" + text if _FORMULA.match(text) else text
