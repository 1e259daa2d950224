"""Text from the wire with what would act on whoever shows it written out: a terminal, a spreadsheet, a page."""

from __future__ import annotations

import re

# Control, bidi and invisible characters, and halves of surrogate pairs.
_HOSTILE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]")


def visible(text: str) -> str:
    r"""Text with such characters as `\u202e`; inside JSON the same is their escape. Ends of lines stay."""
    return _HOSTILE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
