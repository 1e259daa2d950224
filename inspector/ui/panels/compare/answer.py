"""The answer of a comparison: where the runs part, and why, with links to both places."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from inspector.engine.requests.run_comparisons import ComparedRuns, DifferenceClass, Place, Verdict
from inspector.present import formats
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.compare.class_looks import LOOKS
from inspector.ui.widgets.buttons import LinkButton
from inspector.ui.widgets.labels import TextLabel

_MOST_EVIDENCE = 3
_WORDS = {DifferenceClass(found).name.lower(): look.word for found, look in LOOKS.items()} | {
    "settings": "other setting", "compaction": "compaction", "delivery": "lost message",
}  # fmt: skip
"""Words for kinds of a place."""
_ONE_SIDED = ("missing", "extra")


class AnswerCard(QWidget):
    """The answer sentence, two links with the texts of their places, and further evidence.

    Signals:
        row_requested(int): show a row of the comparison.

    Attributes:
        sentence: the answer.
        first, cause: links to the first different act and to its cause.
        texts: labels of the texts of both, by link.
    """

    row_requested = Signal(int)

    def __init__(self, themes: ThemeController, parent: QWidget) -> None:
        super().__init__(parent)
        self._themes = themes
        self.setObjectName("compareAnswer")
        self.setAccessibleName("Answer")
        self.sentence = TextLabel(variant="strong", name="compareSentence", wrap=True, parent=self)
        self.sentence.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.first = LinkButton("", name="compareFirst", parent=self)
        self.cause = LinkButton("", name="compareCause", parent=self)
        self.evidence = TextLabel(variant="secondary", name="compareEvidence", wrap=True, parent=self)
        column = self._column = QVBoxLayout(self)
        column.addWidget(self.sentence)
        self.texts: dict[QWidget, TextLabel] = {}
        for link in (self.first, self.cause):
            text = self.texts[link] = TextLabel(name=f"{link.objectName()}Text", wrap=True, parent=self)
            text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            link.setProperty("flush", True)
            column.addWidget(link, 0, Qt.AlignmentFlag.AlignLeft)
            column.addWidget(text)
            link.clicked.connect(partial(self._follow, link))
        column.addWidget(self.evidence)
        column.addStretch(1)
        self._rows: dict[QWidget, int] = {}
        themes.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    def _on_theme_changed(self) -> None:
        metrics = self._themes.theme.metrics
        self._column.setContentsMargins(metrics.pane_padding, metrics.unit * 2, metrics.pane_padding, metrics.unit * 2)
        self._column.setSpacing(metrics.unit)

    def show_answer(self, compared: ComparedRuns) -> None:
        """Shows the verdict of a comparison."""
        verdict, first, cause = compared.verdict, compared.verdict.first, compared.verdict.cause
        self.sentence.setText(verdict.headline)
        self._rows = {}
        places = (
            (self.first, first, first_words(verdict)),
            (
                self.cause,
                None if cause is not None and first is not None and cause.row == first.row else cause,
                "Cause",
            ),
        )
        for link, place, title in places:
            is_there = place is not None and place.row >= 0
            for part in (link, self.texts[link]):
                part.setVisible(is_there)
            if place is not None and is_there:
                self._rows[link] = place.row
                # "Only in A" with a number of B would contradict itself: B went on with another act.
                is_one_sided = place.kind in _ONE_SIDED and None not in (place.a, place.b)
                words = "" if is_one_sided else f"{_WORDS.get(place.kind, place.kind)}, "
                link.set_label(f"{title}: {words}{numbers_of(place)}")
                self.texts[link].setText(place.text)
        others = [place.text for place in verdict.evidence[:_MOST_EVIDENCE]]
        more = len(verdict.evidence) - len(others)
        also = f"Also received before: {'; '.join(others)}" + (f"; {more:,} more" if more else "")
        self.evidence.setText(also if others else "")
        self.evidence.setVisible(bool(others))

    def _follow(self, link: QWidget, *_checked: object) -> None:
        self.row_requested.emit(self._rows[link])


def first_words(verdict: Verdict) -> str:
    """Returns the title of the first place: an act has a cause elsewhere, or is the model's own choice."""
    first, cause = verdict.first, verdict.cause
    is_act = first is not None and cause is not None and cause.row != first.row
    return "First different act" if is_act else "First difference"


def numbers_of(place: Place) -> str:
    """Returns the numbers of a place's messages: "No. 8 of A, No. 9 of B"."""
    told = ((place.a, "A"), (place.b, "B"))
    return ", ".join(f"{formats.message_number(no)} of {name}" for no, name in told if no is not None)
