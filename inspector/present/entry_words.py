"""Words for entries of a model's context: calls and results as in the message table, tools by name."""

from __future__ import annotations

import re
from collections.abc import Callable

from inspector.analysis.views.model_context import Moment, Role
from inspector.analysis.views.model_context.chat_messages import content_of
from inspector.analysis.views.steps.step_columns import StepTable
from inspector.document.document import CaptureDocument
from inspector.formats.model_vocabulary import tool_name
from inspector.present.conversation.call_cards import writes_again
from inspector.present.message_row import row_content
from inspector.present.wire_text import excerpt, safe_line
from inspector.protocol import kinds
from inspector.store.columns.hashes import NO_ROW

_ADDED = re.compile(r"(\S{1,200}\s{1,4})\+\d[\d,]{0,12}(?=\s)")
"""A tool and the lines that it adds to a file."""
_AS_IN_TABLE = (Role.NONE, Role.TOOLS)
_CALLS = (kinds.REQUEST, kinds.PROPOSAL)
_DATA = (kinds.RESPONSE, kinds.REJECT, kinds.WITHDRAW)
"""Kinds whose payloads may have no text; the table describes them."""


def entry_words(
    document: CaptureDocument, moment: Moment, place: int, steps: Callable[[], StepTable] | None = None
) -> str:
    """Returns the first words of an entry; the table's words if it is above 1 MB, a list of tools or outside.

    Args:
        document: the capture.
        moment: the moment.
        place: index of the entry in the context's arrays.
        steps: returns the steps, which tell a write without a change; asked for writes alone.
    """
    message = int(moment.context.rows[place])
    if place in moment.context.sent.tools:
        return safe_line(", ".join(map(tool_name, moment.context.sent.tools[place])))
    # A big message is not decoded; the table has its words from the head.
    in_table = moment.context.roles[place] in _AS_IN_TABLE or document.capture.records.is_big(message)
    in_table = in_table or document.capture.string("kind", message) in _CALLS
    if in_table and not moment.collapsed[place] and place not in moment.context.sent.texts:
        words = safe_line(row_content(document, message).text)
        added = _ADDED.match(words)
        return words if added is None or steps is None else _call_words(document, message, words, added, steps())
    text = content_of(moment, place)
    is_later = moment.context.collapsed_by[place] != NO_ROW  # the table shows the summary already
    is_data = text.startswith(("{", "[")) and not is_later and document.capture.string("kind", message) in _DATA
    if is_data and (words := safe_line(row_content(document, message).text)):
        return words
    return excerpt(text) or safe_line(row_content(document, message).text)


def _call_words(document: CaptureDocument, message: int, words: str, added: re.Match[str], steps: StepTable) -> str:
    """Returns the words of a call as Steps has them: "unchanged" if it writes the same content again."""
    step = int(steps.step_of[message]) if message < len(steps.step_of) else -1
    again = step >= 0 and int(steps.rows[step]) == message and writes_again(document, steps, step, {})
    return f"{added[1]}unchanged{words[added.end() :]}" if again else words
