"""Adds highlight rules from a window, for a filter or a value. All windows share the rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QRect, Signal
from PySide6.QtWidgets import QWidget

from inspector.present import formats
from inspector.settings import HighlightRule
from inspector.ui.dialogs.highlight_page import next_color

if TYPE_CHECKING:
    from inspector.ui.docview.panes import Panes
    from inspector.ui.docview.window_content import Shown
    from inspector.ui.services import SettingsOwner
    from inspector.ui.widgets.filter_bar import FilterBar
    from inspector.ui.widgets.name_card import NameCard

_NAME_LENGTH = 40


class Highlighting(QObject):
    """Adds highlight rules from one window.

    Signals:
        edit_requested(): open the rules in the settings.
    """

    edit_requested = Signal()

    def __init__(
        self,
        owner: SettingsOwner,
        shown: Shown,
        filter_bar: FilterBar,
        name_card: Callable[[], NameCard],
        parent: QWidget,
    ) -> None:
        """Stores its collaborators.

        Args:
            owner: has the rules.
            shown: the document, whose filter can become a rule.
            filter_bar: the name card appears below it.
            name_card: returns the card that asks for a name.
            parent: parent of the card.
        """
        super().__init__(parent)
        self._owner = owner
        self._shown = shown
        self._filter_bar = filter_bar
        self._name_card = name_card
        self._parent = parent

    def attach(self, panes: Panes) -> None:
        panes.filter_state.highlight_requested.connect(self.add)

    def ask_to_add_filter(self) -> None:
        """Adds a rule for the active filter, or opens the rules if there is none."""
        panes = self._shown.panes
        if panes is not None and panes.filter_state.stack.active_filter.strip():
            self.ask_to_add(panes.filter_state.stack.active_filter)
        else:
            self.edit_requested.emit()

    def ask_to_add(self, text: str) -> None:
        """Asks for a name and adds a rule, or enables the existing rule of this filter."""
        text = text.strip()
        if any(rule.filter == text for rule in self._owner.settings.highlights):
            self.add(text)
            return
        field = self._filter_bar
        near = QRect(field.mapTo(self._parent, field.rect().topLeft()), field.size())
        self._name_card().ask_name(
            "Highlight rule name",
            text,
            formats.truncate(text, _NAME_LENGTH),
            near,
            lambda name: self.add(text, name),
        )

    def add(self, text: str, name: str = "") -> None:
        """Enables the rule of a filter, or adds one."""
        text = text.strip()
        rules = self._owner.settings.highlights
        if not text:
            return
        known = next((rule for rule in rules if rule.filter == text), None)
        if known is not None:
            known.on = True
        else:
            name = name or formats.truncate(text, _NAME_LENGTH)
            rules.append(HighlightRule(name=name, filter=text, color=next_color(rules)))
        self.refresh()

    def refresh(self) -> None:
        """Shows and saves the changed rules in all windows."""
        self._owner.apply_settings()
        self._owner.save_settings()
