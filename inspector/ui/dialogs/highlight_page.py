"""Settings > General > Highlight rules: ordered list, filter and colour of the selected rule."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from PySide6.QtWidgets import QHBoxLayout, QWidget
from typing_extensions import override

from inspector.present.rows import PRIMARY, TERTIARY, Check, Column, Layout, Row, Swatch, Text
from inspector.present.wire_text import safe_line
from inspector.settings import HighlightColor, HighlightRule
from inspector.settings.sharing import SharedPresets
from inspector.ui.dialogs.named_filters_page import NamedFiltersPage, Words
from inspector.ui.dialogs.presets_page import filter_cell
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.color_choice import COLORS, ColorChoice
from inspector.ui.widgets.form import Form
from inspector.ui.widgets.segmented import SegmentedControl

LAYOUT = Layout(
    ((Column(width=60, gap=0), Column(width=140, gap=8), Column()),), height="control", left=10, right=12
)  # fmt: skip
"""Switch and colour, name, and filter."""


NEW_NAME = "New rule"
NO_FILTER = "Enter a filter. An empty one highlights no messages."
PAINTS = (("edge", "Left edge"), ("text", "Text"))
"""Paint modes with their labels."""
_WORDS = Words(
    "highlights",
    "Highlight rules",
    "rule",
    "Rules highlight matching messages in the table. If several rules match, the first one sets the colour.",
    "Same syntax as the filter bar. $context is the selected context.",
    "Enter a name.",
)


class HighlightPage(NamedFiltersPage[HighlightRule]):
    """Edits a copy of the rules; after `changed`, `items` has the new ones."""

    layout_of_rows = LAYOUT
    toggles = "box"

    def __init__(
        self, theme_controller: ThemeController, rules: Sequence[HighlightRule], parent: QWidget | None = None
    ) -> None:
        """Creates the page.

        Args:
            theme_controller: gives the look.
            rules: the shown rules; not changed.
            parent: the owner.
        """
        super().__init__(theme_controller, rules, _WORDS, parent)
        self.build()
        self._list.setAccessibleDescription(
            "Space switches a rule on or off, Alt+Up and Alt+Down move it, Delete removes it."
        )
        self._list.toggled.connect(lambda row, _alt: self._toggle(row))

    @override
    def new_item(self) -> HighlightRule:
        return HighlightRule(name=NEW_NAME, filter="")

    @override
    def item_spec(self, key: int, item: HighlightRule, row: int) -> Row:
        token, edge = f"highlight.{item.color}", item.paint == "edge"
        look = Swatch(token) if edge else Text("Abc", "body-strong", token, "never")
        name = safe_line(item.name)
        cells = (
            (Check("on" if item.on else "off", side=16, advance=26), look),
            (Text(name, ink=PRIMARY if item.on else TERTIARY),),
            filter_cell(item.filter, TERTIARY, "no filter"),
        )
        words = f"{name}: {safe_line(item.filter) or 'no filter'}, {item.color}, {'left edge' if edge else 'text'}"
        return Row(key, (cells,), item.name, spoken=f"{words}, {'on' if item.on else 'off'}", checked=item.on)

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
        rule = self._item(row)
        if rule is not None:
            self.replace_item(row, rule.model_copy(update={"on": not rule.on}))

    # Sharing

    @override
    def given(self) -> SharedPresets:
        return SharedPresets(highlights=self.items())

    @override
    def found_in(self, shared: SharedPresets) -> tuple[Sequence[HighlightRule], str]:
        return shared.highlights, "It has presets: import them on the Presets page." if shared.presets else ""


def next_color(rules: Sequence[HighlightRule]) -> HighlightColor:
    """Returns the least used colour."""
    used = [rule.color for rule in rules]
    return cast("HighlightColor", min((color for color, _ in COLORS), key=used.count))
