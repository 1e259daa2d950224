"""Settings > General > Highlight rules: ordered list, filter and colour of the selected rule."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from PySide6.QtCore import QAbstractItemModel, QEvent, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QHBoxLayout, QStyledItemDelegate, QStyleOptionViewItem, QWidget
from typing_extensions import override

from inspector.present.wire_text import safe_line
from inspector.settings import HighlightColor, HighlightRule
from inspector.settings.sharing import SharedPresets
from inspector.ui.dialogs.named_filters_page import NamedFiltersPage, Words
from inspector.ui.dialogs.ordered_list import Index, OrderedModel
from inspector.ui.dialogs.presets_page import FILTER_ROLE, PresetDelegate
from inspector.ui.look.paint_cache import PaintCache
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.color_choice import COLORS, ColorChoice
from inspector.ui.widgets.form import Form
from inspector.ui.widgets.segmented import SegmentedControl

RULE_ROLE = Qt.ItemDataRole.UserRole + 3
"""The rule of a row."""
_SWITCH_SIZE, _EDGE_WIDTH, _TINT_WIDTH = 16, 3, 22


class HighlightListModel(OrderedModel[HighlightRule]):
    """Copies of the highlight rules in their order."""

    @override
    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        rule = self.item(index.row()) if index.isValid() else None
        if rule is None:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return rule.name
        if role == FILTER_ROLE:
            return rule.filter
        if role == RULE_ROLE:
            return rule
        if role == Qt.ItemDataRole.CheckStateRole:
            return Qt.CheckState.Checked if rule.on else Qt.CheckState.Unchecked
        if role == Qt.ItemDataRole.AccessibleTextRole:
            manner = "left edge" if rule.paint == "edge" else "text"
            state = "on" if rule.on else "off"
            return f"{safe_line(rule.name)}: {safe_line(rule.filter) or 'no filter'}, {rule.color}, {manner}, {state}"
        return None


class HighlightDelegate(PresetDelegate):
    """Draws switch, colour, name and filter of a rule.

    Signals:
        toggled(int): the switch of a row was clicked.
    """

    toggled = Signal(int)

    def box_of(self, rect: QRect) -> QRect:
        """Returns the rectangle of a row's switch."""
        side = round(_SWITCH_SIZE * self._themes.theme.zoom)
        left = rect.x() + round(10 * self._themes.theme.zoom)
        return QRect(left, rect.y() + (rect.height() - side) // 2, side, side)

    without_filter = "no filter"

    @override
    def paint_row(self, painter: QPainter, paints: PaintCache, box: QRect, index: Index) -> None:
        theme, zoom = paints.theme, paints.theme.zoom
        rule: HighlightRule = index.data(RULE_ROLE)
        self._paint_switch(painter, paints, self.box_of(box), on=rule.on)
        token = f"highlight.{rule.color}"
        left = self.box_of(box).right() + 1 + round(10 * zoom)
        if rule.paint == "edge":
            tint = QRect(left, box.y() + 4, round(_TINT_WIDTH * zoom), box.height() - 8)
            painter.fillRect(tint, theme.pill_fill(token))
            painter.fillRect(QRect(tint.x(), tint.y(), round(_EDGE_WIDTH * zoom), tint.height()), theme.color(token))
        else:
            paints.draw(painter, "body-strong", token, left, box, "Abc", round(_TINT_WIDTH * 2 * zoom))
        left += round((_TINT_WIDTH + 12) * zoom)
        ink = "ink" if rule.on else "ink.tertiary"
        self.paint_words(painter, paints, box, left, box.right() - round(12 * zoom), index, ink)

    def _paint_switch(self, painter: QPainter, paints: PaintCache, box: QRect, *, on: bool) -> None:
        """Paints a check box in the look of the style sheet, which applies only to widgets."""
        theme = paints.theme
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(theme.color("accent.fill" if on else "line.control"), 1))
        painter.setBrush(theme.color("accent.fill" if on else "surface.input"))
        radius = theme.metrics.radius_mark
        # Half a pixel inwards keeps a line of 1 px sharp.
        painter.drawRoundedRect(QRectF(box).adjusted(0.5, 0.5, -0.5, -0.5), radius, radius)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        if on:
            side = box.width() - 4
            paints.icon(painter, "check", "accent.on", box.x() + 2, box, side)

    @override
    def editorEvent(self, event: QEvent, model: QAbstractItemModel, option: QStyleOptionViewItem, index: Index) -> bool:
        """Handles a click on the switch."""
        if event.type() is QEvent.Type.MouseButtonRelease and isinstance(event, QMouseEvent):
            rect: QRect = option.rect  # pyright: ignore[reportAttributeAccessIssue] - PySide's stubs lack it
            # The margin makes the small switch easier to hit.
            if self.box_of(rect).adjusted(-6, -6, 6, 6).contains(event.position().toPoint()):
                self.toggled.emit(index.row())
                return True
        return False


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

    def __init__(
        self, theme_controller: ThemeController, rules: Sequence[HighlightRule], parent: QWidget | None = None
    ) -> None:
        """Creates the page.

        Args:
            theme_controller: gives the look.
            rules: the shown rules; not changed.
            parent: the owner.
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
