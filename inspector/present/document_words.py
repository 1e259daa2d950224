"""Names the program, the models, the folder and the time of a document in a few words, safe to show."""

from __future__ import annotations

from datetime import datetime

from inspector.analysis import Analysis
from inspector.document.document import CaptureDocument
from inspector.formats import registry
from inspector.formats.table import FORMAT_TITLES
from inspector.present import formats
from inspector.present.wire_text import safe_line
from inspector.protocol.timestamps import NO_TIME

_MODEL, _MOST_MODELS = 60, 2


def program_words(document: CaptureDocument) -> str:
    """Returns the title of the document's format."""
    name = document.format
    found = registry.format_named(name) if name else None
    title = FORMAT_TITLES.get(name or "", "") or (found.title if found is not None else "")
    return f"{title[:1].upper()}{title[1:]}"


def model_words(analysis: Analysis) -> str:
    """Returns the names of the models that reported usage."""
    models = list(analysis.usage.calls_by_model())
    more = f" and {len(models) - _MOST_MODELS} more" if len(models) > _MOST_MODELS else ""
    return ", ".join(safe_line(one, _MODEL) for one in models[:_MOST_MODELS]) + more


def branch_words(branch: str) -> str:
    """Returns ", branch main"; "" without a branch."""
    return f", branch {safe_line(branch, _MODEL)}" if branch else ""


def time_words(analysis: Analysis, span_ns: int) -> str:
    """Returns day and time of the first message, and the duration: "4 Mar 2026 09:00, 17 min long".

    Args:
        analysis: passes of the document.
        span_ns: the duration; 0 if it is unknown or has not ended.
    """
    times = analysis.capture.columns["time_ns"][: len(analysis)]
    times = times[times != NO_TIME]
    if not len(times) or not formats.is_dated(int(times[0])):
        return ""
    try:
        moment = datetime.fromtimestamp(int(times[0]) // 10**9).astimezone()
    except (OverflowError, OSError, ValueError):
        return ""
    lasting = f", {formats.rounded_duration(span_ns)} long" if span_ns else ""
    return f"{moment.day} {moment:%b %Y %H:%M}{lasting}"
