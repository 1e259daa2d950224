"""Settings > General > Highlight rules: the list in its order, and what the selected one looks for and looks like."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from PySide6.QtWidgets import QHBoxLayout, QStyledItemDelegate, QWidget
from typing_extensions import override

from inspector.settings import HighlightColor, HighlightRule
from inspector.settings.sharing import Shared
from inspector.ui.dialogs.highlight_model import HighlightDelegate, HighlightListModel
from inspector.ui.dialogs.named_filters_page import NamedFiltersPage, Words
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.color_choice import COLORS, ColorChoice
from inspector.ui.widgets.form import Form
from inspector.ui.widgets.segmented import SegmentedControl

NEW_NAME = "New rule"
NO_FILTER = "A rule needs a filter; an empty one highlights nothing."
PAINTS = (("edge", "Left edge"), ("text", "Text"))
"""Manners with their words."""
_WORDS = Words(
    "highlights",
    "Highlight rules",
    "rule",
    "Messages a rule holds for stand out in the table. Where several rules hold, the upper one gives the colour.",
    "A filter, as in the filter bar; $context stands for the selected context.",
    "A rule needs a name.",
)


class HighlightPage(NamedFiltersPage[HighlightRule]):
    """Edits a copy of the rules; when it has `changed`, ask `items`."""

    def __init__(
        self, theme_controller: ThemeController, rules: Sequence[HighlightRule], parent: QWidget | None = None
    ) -> None:
        """Make the page.

        Args:
            theme_controller: gives the look.
            rules: what it shows; not changed.
            parent: owner.
        """
        super().__init__(theme_controller, HighlightListModel(rules), _WORDS, parent)
        self.build()
        self._list.setAccessibleDescription(
            "Space switches a rule on or off, Alt+Up and Alt+Down move it, Delete removes it."
        )
        self._list.toggled.connect(self._toggle)

    @override
    def new_item(self) -> HighlightRule:
        return HighlightRule(name=NEW_NAME, filter="")

    @override
    def delegate(self) -> QStyledItemDelegate:
        delegate = HighlightDelegate(self._themes, self)
        delegate.toggled.connect(self._toggle)
        return delegate

    @override
    def add_fields(self, form: Form) -> None:
        self._color = ColorChoice(self._themes, name="highlightsColor", label="Colour", parent=self)
        self._color.chosen.connect(lambda _color: self._on_edited())
        self._paint = SegmentedControl(self._themes, PAINTS, name="highlightsPaint", label="Shown as", parent=self)
        self._paint.chosen.connect(lambda _paint: self._on_edited())
        looks = QWidget(self)
        row = QHBoxLayout(looks)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(16)
        row.addWidget(self._color)
        row.addWidget(self._paint)
        row.addStretch(1)
        form.add_field("Colour", looks)

    @override
    def show_fields(self, item: HighlightRule | None) -> None:
        for field in (self._color, self._paint):
            field.setEnabled(item is not None)
        self._color.set_color(item.color if item else COLORS[0][0])
        self._paint.set_value(item.paint if item else PAINTS[0][0])

    @override
    def edited(self, item: HighlightRule, name: str, text: str) -> HighlightRule:
        paint = "text" if self._paint.value() == "text" else "edge"
        return HighlightRule(name=name, filter=text, color=self._color.color, paint=paint, on=item.on)

    @override
    def filter_help(self, text: str) -> str:
        return NO_FILTER if self._filter.isEnabled() and not text.strip() else super().filter_help(text)

    def _toggle(self, row: int) -> None:
        rule = self._model.item(row)
        if rule is not None:
            self.put(row, rule.model_copy(update={"on": not rule.on}))

    # Sharing

    @override
    def given(self) -> Shared:
        return Shared(highlights=self.items())

    @override
    def found_in(self, shared: Shared) -> tuple[Sequence[HighlightRule], str]:
        return shared.highlights, "It holds presets; their page can import them." if shared.presets else ""


def next_color(rules: Sequence[HighlightRule]) -> HighlightColor:
    """The colour that the fewest rules have, for one more."""
    used = [rule.color for rule in rules]
    return cast("HighlightColor", min((color for color, _ in COLORS), key=used.count))
