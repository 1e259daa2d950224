"""Dialog that compares two messages side by side, by their values or by the words of their texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QFrame, QHBoxLayout, QTextEdit, QVBoxLayout, QWidget

from inspector.engine.request import Request
from inspector.engine.requests.comparison import Aspect, Change, Comparison, Light
from inspector.present.json_spans import path_words
from inspector.present.rows import Layout, ListedRows, Row, Text
from inspector.ui.dialogs.base_dialog import Dialog
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.details.json_text import JsonText
from inspector.ui.panels.details.section import Segments
from inspector.ui.widgets.labels import TextLabel
from inspector.ui.widgets.latest_answer import Client, Pending
from inspector.ui.widgets.rows.model import RowsModel
from inspector.ui.widgets.rows.view import RowsView

VALUES, TEXT = "Values", "Text"
_ASPECTS: dict[str, Aspect] = {VALUES: "values", TEXT: "text"}
_TOKENS = {"added": "badge.consumed", "removed": "severity.error", "changed": "badge.transient"}
_SIGNS = {"added": "+", "removed": "\N{MINUS SIGN}", "changed": "\N{ALMOST EQUAL TO}"}
_ALPHA = 0.22
_LAYOUT = Layout(height="row")


def _row_of(place: int, change: Change) -> Row:
    text = f"{_SIGNS[change.kind]} {path_words(change.steps)}, {change.kind}"
    return Row(place, (((Text(text),),),), text)


class DifferenceDialog(Dialog):
    """Two messages side by side.

    Attributes:
        what: selects the comparison of values or texts.
        left, right: the two views.
        changes: list of differences; a click selects one in both views.
    """

    def __init__(
        self, themes: ThemeController, client: Client, question: Callable[[Aspect | None], Request[Comparison]],
        parent: QWidget,
    ) -> None:  # fmt: skip
        """Creates the dialog; `open()` shows it.

        Args:
            themes: gives the look.
            client: asks the engine.
            question: returns the request for an aspect, or for the usual one.
            parent: owner.
        """
        super().__init__(themes, name="differenceDialog", title="Two messages compared", parent=parent)
        self._client, self._question = client, question
        self._pending: Pending | None = None
        self.what = Segments(themes, (VALUES, TEXT), "differenceWhat", "Compare", self)
        self.words = TextLabel("", variant="secondary", name="differenceWords", parent=self)
        self.left, self.right = (self._view(name) for name in ("differenceLeft", "differenceRight"))
        self._titles = tuple(
            TextLabel(variant="strong", name=f"{view.objectName()}Title", parent=self)
            for view in (self.left, self.right)
        )
        self._rows = RowsModel(ListedRows(_LAYOUT), self)
        self.changes = RowsView(
            self._rows, themes, name="differenceList", title="Differences", parent=self, in_dialog=True
        )  # fmt: skip
        self._lay_out()
        for one, other in ((self.left, self.right), (self.right, self.left)):
            # Both sides scroll together; setValue with an equal value emits no signal.
            one.verticalScrollBar().valueChanged.connect(other.verticalScrollBar().setValue)
        self.what.chosen.connect(lambda _choice: self._compare(_ASPECTS[self.what.choice]))
        self.changes.picked.connect(lambda row, _clicked: self._select(row))
        self._found: list[Change] = []
        self.finished.connect(self._cancel)
        self._compare(None)

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
        for title, view in zip(self._titles, (self.left, self.right), strict=True):
            column = QVBoxLayout()
            column.addWidget(title)
            column.addWidget(view, 1)
            body.addLayout(column, 1)
        layout = QVBoxLayout(self)
        layout.addLayout(head)
        layout.addLayout(body, 4)
        layout.addWidget(self.changes, 1)
        self.take_size(1000, 680)

    # Content

    def _cancel(self, *_result: object) -> None:
        if self._pending is not None:
            self._pending.cancel()

    def _compare(self, aspect: Aspect | None) -> None:
        self._cancel()
        self._pending = self._client.send_request(self._question(aspect), self._show, self.words.setText)

    def _show(self, compared: Comparison) -> None:
        self.what.blockSignals(True)
        self.what.choose(next(choice for choice, aspect in _ASPECTS.items() if aspect == compared.aspect))
        self.what.blockSignals(False)
        self.words.setText(compared.words)
        self._found = compared.changes
        sides = compared.left, compared.right
        for title, view, side in zip(self._titles, (self.left, self.right), sides, strict=True):
            title.setText(side.title)
            view.setAccessibleName(side.title)
            # Wrapped JSON lines would no longer be aligned with the other side.
            wraps = JsonText.LineWrapMode.NoWrap if compared.is_json else JsonText.LineWrapMode.WidgetWidth
            view.setLineWrapMode(wraps)
            view.show_text(side.text, is_json=compared.is_json, folds=False)
            self._light(view, side.lights)
        self.changes.select(None)
        self._rows.replace_source(ListedRows(_LAYOUT, [_row_of(place, one) for place, one in enumerate(self._found)]))

    def _light(self, view: JsonText, lights: Sequence[Light]) -> None:
        selections: list[QTextEdit.ExtraSelection] = []
        for light in lights:
            color = QColor(self._themes.theme.color(_TOKENS[light.kind]))
            color.setAlphaF(_ALPHA)
            look = QTextCharFormat()
            look.setBackground(color)
            # A second sign besides colour, for colour-blind users.
            look.setFontUnderline(True)
            selection, cursor = QTextEdit.ExtraSelection(), QTextCursor(view.document())
            cursor.setPosition(view.units(light.start))
            cursor.setPosition(view.units(light.stop), QTextCursor.MoveMode.KeepAnchor)
            selection.cursor, selection.format = cursor, look  # pyright: ignore[reportAttributeAccessIssue] - PySide's stubs lack it
            selections.append(selection)
        view.setExtraSelections(selections)

    def _select(self, row: int) -> None:
        if 0 <= row < len(self._found):
            for view in (self.left, self.right):
                view.choose(self._found[row].steps)
