"""Bar of presets as chips on one line; chips without room move into a menu (docs/design.md 14).

The active preset and presets with a count always stay on the line.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QPoint, QSize, Qt, Signal
from PySide6.QtGui import QAction, QResizeEvent
from PySide6.QtWidgets import QMenu, QSizePolicy, QToolButton, QWidget
from typing_extensions import override

from inspector.settings import Preset
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.buttons import IconButton
from inspector.ui.widgets.preset_chip import DropMark, PresetChip

_GAP = 2


class PresetBar(QWidget):
    """The chips below the filter bar.

    Signals:
        chosen(Preset): apply this preset.
        add_requested: save the applied filter as a preset.
        rename_requested(Preset): rename it.
        edit_requested(Preset): edit it.
        moved(Preset, int): move it to this place in the bar.
        removed(Preset): remove it.
    """

    chosen = Signal(object)
    add_requested = Signal()
    rename_requested = Signal(object)
    edit_requested = Signal(object)
    moved = Signal(object, int)
    removed = Signal(object)

    def __init__(
        self, theme_controller: ThemeController, presets: Sequence[Preset] = (), parent: QWidget | None = None
    ) -> None:
        """Makes the bar.

        Args:
            theme_controller: source of the look.
            presets: presets with valid filters, in order.
            parent: owner.
        """
        super().__init__(parent)
        self._themes = theme_controller
        self._showing = False
        self._active: str | None = None
        self._counts: dict[str, int] = {}
        self._notes: dict[str, str] = {}
        self._context_selected = False
        self._chips: list[PresetChip] = []
        self._hidden: list[PresetChip] = []
        self.setObjectName("presetBar")
        self.setAccessibleName("Presets")
        self.setProperty("variant", "chrome")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._more = IconButton(
            theme_controller, "more", "More presets", name="presetMore", on_token="accent.text", variant="chip",
            parent=self,
        )  # fmt: skip
        self._more.setCheckable(True)
        self._more.toggled.connect(self._on_more_toggled)
        self._add = IconButton(
            theme_controller, "add", "Save the filter as a preset", name="presetAdd", variant="small", parent=self
        )
        self._add.clicked.connect(self.add_requested)
        self._menu = QMenu(self)
        self._menu.setObjectName("presetMenu")
        self._menu.setAccessibleName("More presets")
        self._menu.triggered.connect(self._on_menu_triggered)
        self._mark = DropMark(theme_controller, self)
        theme_controller.changed.connect(self._arrange)
        self.set_presets(presets)

    # State set by the window

    def set_presets(self, presets: Sequence[Preset], keys: Sequence[str] = ()) -> None:
        """Shows other presets.

        Args:
            presets: presets in order.
            keys: the key of each in the desktop's words, "" for none; empty for no keys at all.
        """
        self._mark.hide()
        for chip in self._chips:
            # Hidden, since it is deleted only when the event loop runs again.
            chip.hide()
            chip.deleteLater()
        self._chips = []
        for preset, key in zip(presets, keys or [""] * len(presets), strict=True):
            chip = PresetChip(preset, key, self)
            chip.toggled.connect(self._on_chip_toggled)
            chip.dragged.connect(self._on_chip_dragged)
            chip.dropped.connect(self._on_chip_dropped)
            chip.key_moved.connect(self._on_key_moved)
            chip.key_left.connect(self._on_key_left)
            chip.customContextMenuRequested.connect(self._on_chip_menu)
            chip.allow(self._context_selected)
            chip.set_count(self._counts.get(preset.filter, 0))
            chip.set_note(self._notes.get(preset.filter, ""))
            self._chips.append(chip)
        self._show_active()
        self._arrange()

    def set_active_filter(self, text: str | None) -> None:
        """Marks the chip of the applied filter and makes it visible; None marks none."""
        self._active = None if text is None else text.strip()
        self._show_active()
        self._arrange()

    def set_context_selected(self, selected: bool) -> None:
        """Enables presets that need a selected context, or disables them."""
        self._context_selected = selected
        for chip in self._chips:
            chip.allow(selected)

    def set_count(self, text: str, count: int) -> None:
        """Sets the number of matches of a preset by its filter; 0 hides it."""
        if self._counts.get(text, 0) == count:
            return
        self._counts[text] = count
        widened = [chip.set_count(count) for chip in self._chips if chip.preset.filter == text]
        if any(widened):
            self._arrange()

    def set_note(self, text: str, note: str) -> None:
        """Sets the explanation of a count in the tooltip of the preset."""
        if self._notes.get(text, "") != note:
            self._notes[text] = note
            for chip in self._chips:
                if chip.preset.filter == text:
                    chip.set_note(note)

    def set_can_add(self, can: bool) -> None:
        """Enables the add button if the applied filter is not a preset yet."""
        self._add.setEnabled(can)

    def contains_filter(self, text: str) -> bool:
        """Returns True if a filter is one of the presets."""
        return any(chip.preset.filter.strip() == text.strip() for chip in self._chips)

    def focus_preset(self, preset: Preset) -> None:
        """Focuses the chip of a preset, or the menu that contains it."""
        chip = next((chip for chip in self._chips if chip.preset is preset), None)
        if chip is not None:
            (self._more if chip in self._hidden else chip).setFocus(Qt.FocusReason.OtherFocusReason)

    def chips(self) -> list[PresetChip]:
        """Returns the visible chips, left to right."""
        return [chip for chip in self._chips if chip not in self._hidden]

    def overflowing(self) -> list[Preset]:
        """Returns the presets in the menu."""
        return [chip.preset for chip in self._hidden]

    # User input

    def _on_chip_toggled(self) -> None:
        # Not `clicked`: a screen reader toggles checkable buttons, and Qt then emits no click.
        chip = self.sender()
        if isinstance(chip, PresetChip) and not self._showing:
            self._choose(chip)

    def _choose(self, chip: PresetChip) -> None:
        self._show_active()  # undoes the toggle of the click: the mark follows the applied filter
        self.chosen.emit(chip.preset)

    def _on_more_toggled(self) -> None:
        if not self._showing:
            self._open_more()

    def _open_more(self) -> None:
        self._show_active()
        self._menu.clear()
        for chip in self._hidden:
            action = self._menu.addAction(chip.text())
            action.setData(self._chips.index(chip))
            action.setCheckable(True)
            action.setChecked(chip.isChecked())
            action.setEnabled(chip.isEnabled())
        self._menu.popup(self._more.mapToGlobal(QPoint(0, self._more.height() + 2)))

    def _on_menu_triggered(self, action: QAction) -> None:
        self._choose(self._chips[int(action.data())])

    def _on_chip_menu(self, place: QPoint) -> None:
        chip = self.sender()
        if not isinstance(chip, PresetChip):
            return
        menu = QMenu(chip)
        menu.setObjectName("presetChipMenu")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        preset, number = chip.preset, self._chips.index(chip)
        menu.addAction("Rename...").triggered.connect(lambda: self.rename_requested.emit(preset))
        menu.addAction("Edit...").triggered.connect(lambda: self.edit_requested.emit(preset))
        menu.addSeparator()
        for words, step in (("Move left (Ctrl+Left)", -1), ("Move right (Ctrl+Right)", 1)):
            action = menu.addAction(words)
            action.setEnabled(0 <= number + step < len(self._chips))
            action.triggered.connect(_moving(self.moved.emit, preset, number + step))
        menu.addSeparator()
        menu.addAction("Remove").triggered.connect(lambda: self.removed.emit(preset))
        menu.popup(chip.mapToGlobal(place))

    def _on_key_moved(self, step: int) -> None:
        chip = self.sender()
        if isinstance(chip, PresetChip):
            place = self._chips.index(chip) + step
            if 0 <= place < len(self._chips):
                self.moved.emit(chip.preset, place)

    def _on_key_left(self, step: int) -> None:
        """Focuses the next enabled chip, and the menu after the last one."""
        chip = self.sender()
        if not isinstance(chip, PresetChip):
            return
        line: list[QToolButton] = [one for one in self.chips() if one.isEnabled() or one is chip]
        if self._hidden:
            line.append(self._more)
        place = line.index(chip) + step
        if 0 <= place < len(line):
            line[place].setFocus(Qt.FocusReason.TabFocusReason)

    def _on_chip_dragged(self, way: int) -> None:
        chip = self.sender()
        if not isinstance(chip, PresetChip):
            return
        left = self._left_of(chip) + way
        chip.raise_()
        chip.move(max(0, min(left, self.width() - chip.width())), chip.y())
        others = [one for one in self.chips() if one is not chip]
        place = self._drop_place(chip)
        mark_at = others[place].x() - _GAP if place < len(others) else others[-1].geometry().right() + 1
        self._mark.setGeometry(mark_at, chip.y(), 2, chip.height())
        self._mark.show()
        self._mark.raise_()

    def _left_of(self, chip: PresetChip) -> int:
        """Returns the position of a chip before it was dragged."""
        zoom = self._themes.theme.zoom
        before = self.chips()[: self.chips().index(chip)]
        return round(4 * zoom) + sum(one.width() + round(_GAP * zoom) for one in before)

    def _drop_place(self, chip: PresetChip) -> int:
        """Returns the index among the other visible chips at which a dragged chip would be inserted."""
        others = [one for one in self.chips() if one is not chip]
        # The leading edge counts, so that a chip need not pass a wide neighbour completely.
        moved_right = chip.x() > self._left_of(chip)
        edge = chip.geometry().right() if moved_right else chip.x()
        return sum(one.geometry().center().x() < edge for one in others)

    def _place_among_all(self, chip: PresetChip, place: int) -> int:
        """Converts an index among visible chips to one among all presets, some of which are in the menu."""
        others = [one for one in self._chips if one is not chip]
        shown = [one for one in self.chips() if one is not chip]
        if place < len(shown):
            return others.index(shown[place])
        return others.index(shown[-1]) + 1 if shown else 0

    def _on_chip_dropped(self, on_bar: bool) -> None:
        chip = self.sender()
        if not isinstance(chip, PresetChip):
            return
        place = self._place_among_all(chip, self._drop_place(chip))
        self._mark.hide()
        self._arrange()
        if on_bar and place != self._chips.index(chip):
            self.moved.emit(chip.preset, place)

    # Appearance

    def _show_active(self) -> None:
        marked = False
        for chip in self._chips:
            # If two presets have the same filter, only the first is marked.
            active = not marked and self._active is not None and chip.preset.filter.strip() == self._active
            marked = marked or active
            self._showing = True
            chip.setChecked(active)
            self._showing = False
        self._show_more()

    def _show_more(self) -> None:
        active = next((chip for chip in self._hidden if chip.isChecked()), None)
        self._showing = True
        self._more.setChecked(active is not None)
        self._showing = False
        count = len(self._hidden)
        words = f"{count} more preset{'' if count == 1 else 's'}"
        self._more.set_description(
            words if active is None else f"{words}, including the active one: {active.preset.name}"
        )

    def _arrange(self) -> None:
        metrics = self._themes.theme.metrics
        zoom = self._themes.theme.zoom
        self.setFixedHeight(metrics.presets)
        gap = round(_GAP * zoom)
        left = round(4 * zoom)
        add = self._add.sizeHint().boundedTo(self._add.maximumSize())
        right = self.width() - round(4 * zoom) - add.width()
        self._add.setGeometry(right, (self.height() - add.height()) // 2, add.width(), add.height())
        more = self._more.sizeHint()
        shown = self._fitting(right - gap - left, gap, more.width())
        top = (self.height() - metrics.chip) // 2
        for chip in self._chips:
            if chip in shown:
                width = chip.sizeHint().width()
                chip.setGeometry(left, top, width, metrics.chip)
                left += width + gap
            chip.setVisible(chip in shown)
        self._hidden = [chip for chip in self._chips if chip not in shown]
        self._more.setVisible(bool(self._hidden))
        self._more.setGeometry(left, top, more.width(), metrics.chip)
        self._show_more()

    def _fitting(self, room: int, gap: int, more: int) -> list[PresetChip]:
        """Returns the chips that fit: the active one and chips with counts first, then the others in order."""
        widths = {chip: chip.sizeHint().width() + gap for chip in self._chips}
        room += gap
        if sum(widths.values()) <= room:
            return self._chips
        room -= more + gap
        first = sorted(self._chips, key=lambda chip: (not chip.isChecked(), not self._counts.get(chip.preset.filter)))
        shown: list[PresetChip] = []
        for chip in first:
            if widths[chip] > room:
                if chip.isChecked() or self._counts.get(chip.preset.filter):
                    continue
                # The others keep their order: none overtakes the first that does not fit.
                break
            room -= widths[chip]
            shown.append(chip)
        return shown

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    @override
    def sizeHint(self) -> QSize:
        return QSize(640, self._themes.theme.metrics.presets)

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(160, self._themes.theme.metrics.presets)


def _moving(move: Callable[[Preset, int], object], preset: Preset, place: int) -> Callable[..., object]:
    return lambda *_checked: move(preset, place)
