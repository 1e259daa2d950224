"""Words for figures and messages in plots and lists."""

from __future__ import annotations

from inspector.document.document import CaptureDocument
from inspector.present import formats
from inspector.present.message_row import row_content
from inspector.present.wire_text import safe_line
from inspector.protocol import kinds

_MINUS = "\N{MINUS SIGN}"
_NAME = 40


def scale_words(value: int) -> str:
    """Formats a scale figure: "500", "5k", "2.5k", "20M"."""
    for unit, word in ((1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k")):
        if value >= unit:
            whole, rest = divmod(value, unit)
            return f"{whole:,}{f'{rest / unit:.3f}'.rstrip('0')[1:] if rest else ''}{word}".replace(".k", "k")
    return f"{value:,}"


def signed_count(value: int) -> str:
    """Formats a change: "+540", "-1,200" with a minus sign, "0"."""
    return f"{'+' if value > 0 else _MINUS if value < 0 else ''}{abs(value):,}"


def message_words(document: CaptureDocument, message: int) -> str:
    """Names a message in a few words: "No. 811 search_records result", "No. 12 chat"."""
    content = row_content(document, message)
    columns, strings = document.analysis.correlation.columns, document.capture.strings
    call = strings.find("tools/call")
    tool = ""
    if call is not None and int(columns["method"][message]) == call:
        tool = safe_line(strings[int(columns["target"][message])], _NAME)
    word = "result" if tool and content.kind == kinds.RESPONSE else safe_line(content.kind_text or content.word, _NAME)
    return " ".join(filter(None, (formats.message_number(message), tool, word)))
