"""List of keyboard shortcuts (Shift+F1), searchable by function or key."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QKeyCombination, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget
from typing_extensions import override

from inspector.ui.dialogs.base_dialog import Dialog, ListFrame
from inspector.ui.input import fuzzy
from inspector.ui.input.keys import Keys, native
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.buttons import WordButton
from inspector.ui.widgets.choosing_field import ChoosingField
from inspector.ui.widgets.command_list import CommandEntry, CommandList
from inspector.ui.widgets.labels import TextLabel

FIXED: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("In lists", "Move by row, by page, to the ends", ("Up", "Down", "PgUp", "PgDown", "Home", "End")),
    ("In lists", "Follow new messages (at the end of the table)", ("End",)),
    ("In lists", "Open or close a node or a collapsed result", ("Right", "Left")),
    ("In lists", "Scope to a context, open a message, follow a link", ("Return",)),
    ("In lists", "Copy", ("Ctrl+C",)),
    ("In lists", "Next cell, previous cell of a message", ("Shift+Right", "Shift+Left")),
    ("In lists", "Context menu of the row", ("Menu", "Shift+F10")),
    ("In lists", "Back to the table, or clear the selection", ("Esc",)),
    ("Filter bar", "Apply the filter, or the marked completion", ("Return",)),
    ("Filter bar", "Insert the completion or correction", ("Tab",)),
    ("Filter bar", "Add the filter as a condition", ("Ctrl+Return",)),
    ("Filter bar", "Restore the active filter", ("Esc",)),
    ("Conditions", "Switch a chip on or off", ("Space",)),
    ("Conditions", "Edit a chip, remove it", ("Return", "Del")),
    ("Find bar", "Next hit, previous hit", ("Return", "Shift+Return")),
    ("Timeline", "Start a time range, end it (or Shift+drag)", ("B", "Return")),
    ("Timeline", "Move along a lane, to the next lane", ("Left", "Right", "Up", "Down")),
    ("Timeline", "Zoom in, zoom out, show all", ("+", "-", "F")),
    ("Timeline", "Scroll", ("Shift+Left", "Shift+Right")),
    ("Model sees", "Previous and next message that changes the context", ("[", "]")),
    ("Model sees", "Compare with this moment, hold it", ("C", "H")),
    ("Model sees", "Sort largest first, show excluded entries", ("S", "O")),
    ("Comment", "Save, cancel", ("Ctrl+Return", "Esc")),
    ("Everywhere", "Next control, previous control", ("Tab", "Shift+Tab")),
    ("Everywhere", "Open the menu bar", ("F10",)),
)
"""Keys that cannot be changed: (place, function, portable key names)."""

_WIDTH, _HEIGHT = 640, 560


def key_lines(keys: Keys) -> list[CommandEntry]:
    """Returns the actions with keys, then the fixed keys, then the actions without keys."""
    lines: list[CommandEntry] = []
    keyless: list[CommandEntry] = []
    for known in keys.visible_actions():
        shown = tuple(_native(sequence.toString()) for sequence in keys.action(known.id).shortcuts())
        line = CommandEntry(known.id, known.group, known.title, shown)
        (lines if shown else keyless).append(line)
    fixed = [
        CommandEntry(f"fixed.{place}", where, what, tuple(_native(key) for key in names))
        for place, (where, what, names) in enumerate(FIXED)
    ]
    return [*lines, *fixed, *keyless]


def find_lines(lines: Sequence[CommandEntry], query: str) -> list[CommandEntry]:
    """Returns the lines that match a key such as "ctrl+m", or title and group, in their order."""
    wanted = query.strip().casefold()
    if not wanted:
        return list(lines)
    by_key = [line for line in lines if any(_is_key(wanted, key) for key in line.keys)]
    by_words = [line for line in lines if fuzzy.match(query, f"{line.group} {line.title}") is not None]
    words = [line for line in by_words if wanted in f"{line.group} {line.title}".casefold()] or by_words
    return by_key + [line for line in words if line not in by_key]


def _is_key(wanted: str, key: str) -> bool:
    name = key.casefold()
    return name == wanted or ("+" in wanted and name.startswith(wanted))


def _native(key: str) -> str:
    return native([key])


class KeysDialog(Dialog):
    """The searchable list.

    Signals:
        change_requested(): open the settings of keys; the dialog has closed.
    """

    change_requested = Signal()

    def __init__(self, theme_controller: ThemeController, keys: Keys, parent: QWidget | None = None) -> None:
        """Creates the dialog.

        Args:
            theme_controller: gives the look.
            keys: the shortcuts of the parent window.
            parent: owner; the dialog is modal to its window.
        """
        super().__init__(theme_controller, name="keysDialog", title="Keys", parent=parent)
        self._lines = key_lines(keys)
        zoom = theme_controller.theme.zoom
        column = QVBoxLayout(self)
        self.take_margins(column)
        column.setSpacing(round(10 * zoom))
        frame = ListFrame("keysFrame", self)
        self.list = CommandList(theme_controller, name="keysList", label="Keys", parent=frame)
        frame.lines.addWidget(self.list)
        self.field = ChoosingField(
            self.list, name="keysSearch", label="Search keys", hint="Search by action, or press a key",
            parent=self,
        )  # fmt: skip
        self._pressed = ""
        self.field.textChanged.connect(self._on_searched)
        self.field.accepted.connect(self.accept)
        self.field.left.connect(self.reject)
        self._no_match_label = TextLabel("No key matches.", variant="secondary", name="keysNothing", parent=frame)
        self._no_match_label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        frame.lines.addWidget(self._no_match_label, 1)
        column.addWidget(TextLabel("Keys", variant="title", name="keysTitle", parent=self))
        column.addWidget(self.field)
        column.addWidget(frame, 1)
        column.addLayout(self._build_buttons())
        self.take_size(_WIDTH, _HEIGHT)
        self._on_searched()
        self.field.setFocus()

    def _build_buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        change = WordButton("Change keys...", name="keysChange", parent=self)
        change.clicked.connect(self._on_change_clicked)
        close = WordButton("Close", name="keysClose", parent=self, default=True)
        close.clicked.connect(self.accept)
        row.addWidget(change)
        row.addStretch(1)
        row.addWidget(close)
        return row

    def _on_searched(self, *_text: object) -> None:
        found = find_lines(self._lines, self.field.text())
        self.list.show_lines(found)
        self.list.setVisible(bool(found))
        self._no_match_label.setVisible(not found)

    def _on_change_clicked(self) -> None:
        self.accept()
        self.change_requested.emit()

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Searches a pressed function key or combination with Ctrl or Alt."""
        key = Qt.Key(event.key())
        # Shift alone types capitals, and KeypadModifier only tells where a key is.
        alone = event.modifiers() & ~(Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier)
        function = Qt.Key.Key_F1 <= key <= Qt.Key.Key_F35
        modifiers = (Qt.Key.Key_Control, Qt.Key.Key_Alt, Qt.Key.Key_Shift, Qt.Key.Key_Meta, Qt.Key.Key_AltGr)
        if key not in modifiers and (alone.value or function):
            pressed = QKeySequence(QKeyCombination(event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier, key))
            self.field.setText(_native(pressed.toString()))
            self.field.selectAll()
            return
        super().keyPressEvent(event)
