"""Dialog that compares two messages side by side, by their values or by the words of their texts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QFrame, QHBoxLayout, QListWidget, QListWidgetItem, QTextEdit, QVBoxLayout, QWidget

from inspector.document.document import CaptureDocument
from inspector.present.message_difference import (
    Change,
    align_lines,
    change_counts,
    text_changes,
    value_changes,
)
from inspector.present.plot_words import message_words
from inspector.present.subject import TEXT_KINDS
from inspector.present.wire_text import visible_controls
from inspector.protocol import kinds
from inspector.protocol.message_text import text_shown
from inspector.protocol.secrets.masking import mask_secrets, mask_text
from inspector.store.messages.piece_masks import shown_line
from inspector.ui.dialogs.base_dialog import Dialog
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.details.json_text import JsonText, path_words, span_at
from inspector.ui.panels.details.section import Segments
from inspector.ui.widgets.labels import TextLabel

VALUES, TEXT = "Values", "Text"
_MAX_VALUE_CHARACTERS = 200_000
"""Most characters of a message compared by values; longer ones are compared by lines."""
_TOKENS = {"added": "badge.consumed", "removed": "severity.error", "changed": "badge.transient"}
_SIGNS = {"added": "+", "removed": "\N{MINUS SIGN}", "changed": "\N{ALMOST EQUAL TO}"}
_ALPHA = 0.22
_MIN_WORD_CHARACTERS = 24
"""Fewest characters of a changed text whose words are compared."""


@dataclass(frozen=True, slots=True)
class _Side:
    title: str
    value: object
    text: str
    is_text_message: bool
    """True if the text is the message's main content."""


def _side_of(document: CaptureDocument, message: int) -> _Side:
    capture = document.capture
    value = mask_secrets(capture.records.envelope(message))
    if not isinstance(value, dict | list):
        # Lines that are not JSON are compared as masked text.
        value = mask_text(shown_line(capture, message).decode("utf-8", "backslashreplace"))
    kind = capture.string("kind", message) or ""
    said = text_shown(kind, capture.records.payload(message)) or ""
    says = bool(said) and (kind in TEXT_KINDS or kind == kinds.RESPONSE)
    return _Side(message_words(document, message), value, visible_controls(mask_text(said)), says)


class DifferenceDialog(Dialog):
    """Two messages side by side.

    Attributes:
        what: selects the comparison of values or texts.
        left, right: the two views.
        changes: list of differences; a click selects one in both views.
    """

    def __init__(
        self, themes: ThemeController, document: CaptureDocument, messages: tuple[int, int], parent: QWidget
    ) -> None:
        super().__init__(themes, name="differenceDialog", title="Two messages compared", parent=parent)
        self._sides = tuple(_side_of(document, message) for message in messages)
        self._texts = ("", "")
        self.what = Segments(themes, (VALUES, TEXT), "differenceWhat", "Compare", self)
        self.words = TextLabel("", variant="secondary", name="differenceWords", parent=self)
        self.left, self.right = (self._view(name) for name in ("differenceLeft", "differenceRight"))
        self.changes = QListWidget(self)
        self.changes.setObjectName("differenceList")
        self.changes.setAccessibleName("Differences")
        self._lay_out()
        for one, other in ((self.left, self.right), (self.right, self.left)):
            # Both sides scroll together; setValue with an equal value emits no signal.
            one.verticalScrollBar().valueChanged.connect(other.verticalScrollBar().setValue)
        self.what.chosen.connect(self._show)
        self.changes.currentRowChanged.connect(self._select)
        self._found: list[Change] = []
        said = all(side.is_text_message for side in self._sides)
        self.what.choose(TEXT if said and self._sides[0].text != self._sides[1].text else VALUES)
        self._show()

    def _view(self, name: str) -> JsonText:
        view = JsonText(self._themes, self)
        view.setObjectName(name)
        view.setFrameShape(QFrame.Shape.NoFrame)
        view.setFont(self._themes.theme.font("mono"))
        view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        return view

    def _lay_out(self) -> None:
        head, body = QHBoxLayout(), QHBoxLayout()
        head.addWidget(self.what)
        head.addWidget(self.words, 1)
        for side, view in zip(self._sides, (self.left, self.right), strict=True):
            column = QVBoxLayout()
            column.addWidget(TextLabel(side.title, variant="strong", name=f"{view.objectName()}Title", parent=self))
            column.addWidget(view, 1)
            view.setAccessibleName(side.title)
            body.addLayout(column, 1)
        layout = QVBoxLayout(self)
        layout.addLayout(head)
        layout.addLayout(body, 4)
        layout.addWidget(self.changes, 1)
        self.take_size(1000, 680)

    # Content

    def _show(self, *_: object) -> None:
        self.changes.clear()
        self._found = []
        if self.what.choice == TEXT:
            self._show_texts(*(side.text for side in self._sides), is_json=False)
            return
        written = [json.dumps(side.value, indent=2, ensure_ascii=False, default=str) for side in self._sides]
        if max(map(len, written)) > _MAX_VALUE_CHARACTERS:
            self._show_texts(*map(visible_controls, written), is_json=True)
            return
        self._show_values([visible_controls(text) for text in written])

    def _show_texts(self, left: str, right: str, *, is_json: bool) -> None:
        """Highlights changed words, or changed lines of long texts."""
        found = text_changes(left, right)
        self.words.setText(f"{len(found):,} stretches differ" if found else "no difference")
        self._fill((left, right), is_json=is_json)
        removed = [(one.before, "changed" if one.after[0] < one.after[1] else "removed") for one in found]
        added = [(one.after, "changed" if one.before[0] < one.before[1] else "added") for one in found]
        self._light(self.left, removed)
        self._light(self.right, added)

    def _show_values(self, written: Sequence[str]) -> None:
        self._found = value_changes(*(side.value for side in self._sides))
        self.words.setText(change_counts(self._found))
        self._fill(align_lines(*written), is_json=True)
        lights: tuple[list[tuple[tuple[int, int], str]], ...] = ([], [])
        for change in self._found:
            spans = [
                span_at(text, change.steps) if change.kind in ("changed", own) else None
                for text, own in zip(self._texts, ("removed", "added"), strict=True)
            ]
            places = [(span.start, span.stop) if span is not None else None for span in spans]
            if all(place is not None and place[1] - place[0] >= _MIN_WORD_CHARACTERS for place in places):
                self._highlight_words(places, lights)  # type: ignore[arg-type] - all are set here
                continue
            for place, some in zip(places, lights, strict=True):
                if place is not None:
                    some.append((place, change.kind))
        for view, some in zip((self.left, self.right), lights, strict=True):
            self._light(view, some)
        for change in self._found:
            self.changes.addItem(QListWidgetItem(f"{_SIGNS[change.kind]} {path_words(change.steps)}, {change.kind}"))

    def _highlight_words(
        self, places: Sequence[tuple[int, int]], lights: Sequence[list[tuple[tuple[int, int], str]]]
    ) -> None:
        """Highlights only the differing words of two long texts."""
        texts = [text[start:stop] for text, (start, stop) in zip(self._texts, places, strict=True)]
        for one in text_changes(*texts):
            for (start, _), (first, last), some in zip(places, (one.before, one.after), lights, strict=True):
                if last > first:
                    some.append(((start + first, start + last), "changed"))

    def _fill(self, texts: tuple[str, str], *, is_json: bool) -> None:
        self._texts = texts
        for view, text in zip((self.left, self.right), texts, strict=True):
            # Wrapped JSON lines would no longer be aligned with the other side.
            wraps = JsonText.LineWrapMode.NoWrap if is_json else JsonText.LineWrapMode.WidgetWidth
            view.setLineWrapMode(wraps)
            view.show_text(text, is_json=is_json, folds=False)

    def _light(self, view: JsonText, places: Sequence[tuple[tuple[int, int], str]]) -> None:
        selections: list[QTextEdit.ExtraSelection] = []
        for (start, stop), kind in places:
            color = QColor(self._themes.theme.color(_TOKENS[kind]))
            color.setAlphaF(_ALPHA)
            look = QTextCharFormat()
            look.setBackground(color)
            # A second sign besides colour, for colour-blind users.
            look.setFontUnderline(True)
            selection, cursor = QTextEdit.ExtraSelection(), QTextCursor(view.document())
            cursor.setPosition(view.units(start))
            cursor.setPosition(view.units(stop), QTextCursor.MoveMode.KeepAnchor)
            selection.cursor, selection.format = cursor, look  # pyright: ignore[reportAttributeAccessIssue] - PySide's stubs lack it
            selections.append(selection)
        view.setExtraSelections(selections)

    def _select(self, row: int) -> None:
        if 0 <= row < len(self._found):
            for view in (self.left, self.right):
                view.choose(self._found[row].steps)
