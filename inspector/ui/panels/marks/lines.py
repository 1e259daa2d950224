"""What a row of the marks panel says; worked out for the rows that are painted, secrets of the traffic masked."""

from __future__ import annotations

from dataclasses import dataclass

from inspector.analysis.marks import ContextTarget, Note, Target
from inspector.document.document import CaptureDocument
from inspector.present import formats
from inspector.present.message_row import row_content
from inspector.present.wire_text import plain, visible_controls
from inspector.ui.panels.context_labels import context_label, node_label

_LONGEST_TIP = 2_000


@dataclass(frozen=True, slots=True)
class MarkLine:
    """A note in words.

    Attributes:
        target: what it is on.
        text: the comment on one line; without one, what the message says or how the context is called.
        about: "coder thought"; "context".
        context: as in other lists.
        number: "No. 12"; "" for a context.
        comment: the whole comment, safe to show.
    """

    target: Target
    note: Note
    text: str
    about: str
    context: str
    number: str
    comment: str

    @property
    def copied(self) -> str:
        """The row as text, separated by tabs."""
        state = "marked" if self.note.marked else ""
        return "\t".join((self.number or "context", state, self.about, self.context, self.text))


def mark_line(document: CaptureDocument, target: Target) -> MarkLine:
    """A note in words."""
    note = document.analysis.marks.note(target)
    said = plain(note.comment)
    comment = visible_controls(note.comment[:_LONGEST_TIP])
    if isinstance(target, ContextTarget):
        label = node_label(document, target.node)
        return MarkLine(target, note, said or label, "context", label if said else "", "", comment)
    content = row_content(document, target)
    about = " ".join(filter(None, (content.sender, content.word)))
    text = said or plain(content.text)
    number = formats.message_number(target)
    return MarkLine(target, note, text, about, context_label(document, target), number, comment)
