"""What the timeline says of a message, of several, and of a context; safe to show, secrets masked."""

from __future__ import annotations

from inspector.analysis.context_tree import MAIN
from inspector.analysis.timeline.lanes import Bar
from inspector.analysis.timeline.marks import Mark
from inspector.analysis.timeline.times import MessageTimes
from inspector.document.document import CaptureDocument
from inspector.present import formats
from inspector.present.message_row import row_content
from inspector.present.wire_text import plain
from inspector.ui.panels.context_labels import node_label
from inspector.ui.panels.timeline.axis import since_words

_LONGEST = 140


def message_lines(document: CaptureDocument, times: MessageTimes, row: int) -> tuple[str, str, str]:
    """Of a message: who said what kind of thing to whom; what it says; No., time and how long it took."""
    content = row_content(document, row)
    ends = " to ".join(filter(None, (content.sender, content.receivers)))
    kind = content.kind_text or content.word
    title = f"{ends}: {kind}" if ends else kind
    since = since_words(int(times.values[row]) - times.first_ns)
    foot = ", ".join(filter(None, (formats.message_number(row), since, content.latency and f"took {content.latency}")))
    return title, plain(content.text, _LONGEST), foot


def several_lines(document: CaptureDocument, times: MessageTimes, mark: Mark) -> tuple[str, str, str]:
    """Of a mark that stands for several messages: how many, what the first one is, and how to see each."""
    title, text, foot = message_lines(document, times, mark.row)
    first = ", ".join(filter(None, (title, text)))
    return formats.count_of(mark.count, "message"), f"The first is {first}", f"{foot}. Double-click to spread them out."


def bar_lines(document: CaptureDocument, times: MessageTimes, bar: Bar) -> tuple[str, str, str]:
    """Of a context in a lane: its name; its path where that says more; its state and how long it reaches."""
    label = node_label(document, bar.node) if bar.node != MAIN else "main"
    path = plain(document.analysis.contexts.tree.path(bar.node), _LONGEST) if bar.node != MAIN else ""
    began = since_words(bar.start_ns - times.first_ns)
    foot = f"{bar.state.capitalize()}, from {began}, {formats.duration(bar.end_ns - bar.start_ns)}"
    return label, path if path != label else "", foot


def spoken(document: CaptureDocument, times: MessageTimes, lane: str, row: int) -> str:
    """What a screen reader says of the message under the cursor."""
    title, text, foot = message_lines(document, times, row)
    return f"Lane {plain(lane, _LONGEST)}. {foot}. {title}. {text}"
