"""Dialog with two turns side by side: their figures with differences, and their aligned steps."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from inspector.engine.requests.turn_comparisons import CompareTurns, TurnComparison
from inspector.present.rows import PRIMARY, SECONDARY, TERTIARY, Column, Layout, ListedRows, Row, Text
from inspector.present.turn_comparison import TurnFigure, TurnStepPair
from inspector.ui.dialogs.base_dialog import Dialog
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.labels import TextLabel
from inspector.ui.widgets.latest_answer import Client
from inspector.ui.widgets.rows.heads import RowHeads
from inspector.ui.widgets.rows.model import RowsModel
from inspector.ui.widgets.rows.view import RowsView

TITLE = "Two turns compared"
_WORSE = frozenset(("Failed", "Rejected"))


class TurnComparisonDialog(Dialog):
    """Two turns side by side.

    Signals:
        message_requested(int): go to this message; the dialog closes.

    Attributes:
        figures, steps: the two lists.
        words: counts of equal and differing steps, or why there is no comparison.
    """

    message_requested = Signal(int)

    def __init__(self, themes: ThemeController, client: Client, messages: tuple[int, int], parent: QWidget) -> None:
        """Asks for the comparison; `open()` shows it.

        Args:
            themes: gives the look.
            client: asks the engine.
            messages: a message of each turn.
            parent: owner.
        """
        super().__init__(themes, name="turnComparison", title=TITLE, parent=parent)
        self._pairs: list[TurnStepPair] = []
        self._figure_rows = RowsModel(ListedRows(_figure_layout(("", ""))), self)
        self._step_rows = RowsModel(ListedRows(_step_layout(("", ""))), self)
        self.figures = RowsView(
            self._figure_rows, themes, name="turnFigures", title="Figures", parent=self, in_dialog=True
        )  # fmt: skip
        self.steps = RowsView(self._step_rows, themes, name="turnSteps", title="Steps", parent=self, in_dialog=True)
        self.words = TextLabel("Comparing...", variant="strong", name="turnWords", parent=self)
        layout = QVBoxLayout(self)
        layout.setSpacing(0)
        layout.addWidget(RowHeads(self.figures, themes, self, name="turnFigureHeads"))
        layout.addWidget(self.figures)
        layout.addSpacing(round(12 * themes.theme.zoom))
        layout.addWidget(self.words)
        layout.addSpacing(round(6 * themes.theme.zoom))
        layout.addWidget(RowHeads(self.steps, themes, self, name="turnStepHeads"))
        layout.addWidget(self.steps, 1)
        self.take_margins(layout)
        self.take_size(940, 760)
        self.steps.entered.connect(self._go_to)
        pending = client.send_request(CompareTurns(*messages), self._show, self.words.setText)
        self.finished.connect(lambda _result: pending.cancel())

    def _show(self, found: TurnComparison) -> None:
        self._pairs = found.steps
        self.words.setText(found.summary)
        layout = _figure_layout(found.titles)
        self._figure_rows.replace_source(ListedRows(layout, [_figure_row(one, found.titles) for one in found.figures]))
        row = self._themes.theme.metrics.row
        self.figures.setFixedHeight(row * min(len(found.figures), self.height() * 58 // (100 * row)))
        rows = [_step_row(place, pair, found.titles) for place, pair in enumerate(found.steps)]
        self._step_rows.replace_source(ListedRows(_step_layout(found.titles), rows))

    def _go_to(self, row: int) -> None:
        message = next((one for one in reversed(self._pairs[row].messages) if one is not None), None)
        if message is not None:
            self.accept()
            self.message_requested.emit(message)


def _figure_layout(titles: tuple[str, str]) -> Layout:
    figures = [Column(title, width=150, font="number", right=True) for title in (*titles, "Difference")]
    return Layout(((Column("Figure"), *figures),), height="row")


def _step_layout(titles: tuple[str, str]) -> Layout:
    return Layout(((
        Column(titles[0], share=0.42, width=1), Column(titles[1]), Column("Difference", width="another definition"),
    ),), height="row")  # fmt: skip


def _figure_row(one: TurnFigure, titles: tuple[str, str]) -> Row:
    ink = "severity.error" if one.name in _WORSE and one.delta.startswith("+") else SECONDARY
    cells = (
        (Text(one.name, ink=SECONDARY),), (Text(one.one or "unknown", "number", PRIMARY, "never"),),
        (Text(one.other or "unknown", "number", PRIMARY, "never"),), (Text(one.delta, "number", ink, "never"),),
    )  # fmt: skip
    spoken = f"{one.name}: {titles[0]} {one.one or 'unknown'}, {titles[1]} {one.other or 'unknown'}"
    return Row(one.name, (cells,), one.name, spoken=f"{spoken}, difference {one.delta}" if one.delta else spoken,
               copied="\t".join((one.name, one.one, one.other, one.delta)))  # fmt: skip


def _step_row(place: int, pair: TurnStepPair, titles: tuple[str, str]) -> Row:
    is_note = not pair.one and not pair.other
    ink = TERTIARY if pair.equal else PRIMARY
    told = pair.difference if not is_note else "settings"
    one, other = (pair.difference, "") if is_note else (pair.one, pair.other)
    cells = (
        (Text(one, ink=ink),), (Text(other, ink=ink),),
        (Text(told, ink=SECONDARY if one and other else "badge.transient"),),
    )  # fmt: skip
    spoken = ", ".join(filter(None, (
        f"{titles[0]}: {one or 'no step'}", f"{titles[1]}: {other or 'no step'}", told or "equal",
    )))  # fmt: skip
    return Row(place, (cells,), " / ".join(filter(None, (one, other))), spoken=spoken, indent=14 * pair.depth,
               tip="\n".join(filter(None, (one, other))), copied="\t".join((one, other, told)))  # fmt: skip
