"""List of commands, one a line: group, title, and keys at the right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtWidgets import QWidget

from inspector.present.rows import AUTO, PRIMARY, SECONDARY, TERTIARY, Column, Layout, ListedRows, Row, Tag, Text
from inspector.present.wire_text import safe_line
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.rows.model import RowsModel
from inspector.ui.widgets.rows.view import RowsView

_MAX_LENGTH = 300
LAYOUT = Layout(
    ((Column(width=80, gap=12), Column(gap=12), Column(width=AUTO, right=True)),), height="control", left=12, right=12,
)  # fmt: skip
"""Group, title and keys."""


@dataclass(frozen=True, slots=True)
class CommandEntry:
    """One command.

    Attributes:
        id: internal id.
        group: its menu, or "Presets".
        title: its name.
        keys: its shortcuts in the desktop's words.
        detail: further text after the title.
        usable: False if it is disabled now.
        checked: it is a switch that is on.
        lit: positions of title characters that match the query.
        words: further search terms.
    """

    id: str
    group: str
    title: str
    keys: tuple[str, ...] = ()
    detail: str = ""
    usable: bool = True
    checked: bool = False
    lit: tuple[int, ...] = ()
    words: str = ""


def command_spec(line: CommandEntry) -> Row:
    """Returns a command as shown in the list."""
    title, detail = safe_line(line.title, _MAX_LENGTH), safe_line(line.detail, _MAX_LENGTH)
    mark = "✓ " if line.checked else ""
    # Characters made visible move the others.
    lit = tuple(place + len(mark) for place in line.lit) if title == line.title else ()
    ink, key_ink = (PRIMARY, SECONDARY) if line.usable else ("ink.disabled", "ink.disabled")
    keys = tuple(Tag(key, "small", key_ink, space=4 if key is not line.keys[-1] else 0) for key in line.keys)
    cells = (
        (Text(line.group, ink=TERTIARY),),
        (Text(mark + title, ink=ink, lit=lit, space=10), Text(detail, "small", TERTIARY, least=16)),
        keys,
    )
    state = ("on" if line.checked else "") if line.usable else "not now"
    spoken = ", ".join(filter(None, (title, detail, line.group, " or ".join(line.keys), state)))
    return Row(line.id, (cells,), title, spoken=spoken)


class CommandList(RowsView):
    """List of commands.

    Attributes:
        lines: its commands in order.
    """

    def __init__(self, theme_controller: ThemeController, *, name: str, label: str, parent: QWidget) -> None:
        """Makes an empty list.

        Args:
            theme_controller: source of the look.
            name: object name.
            label: accessible name.
            parent: owner.
        """
        model = RowsModel(ListedRows(LAYOUT))
        super().__init__(model, theme_controller, name=name, title=label, parent=parent, in_dialog=True, led=True)
        model.setParent(self)
        self._model = model
        self.lines: list[CommandEntry] = []

    def show_lines(self, lines: Sequence[CommandEntry], current: str = "") -> None:
        """Shows commands and selects the one with this id, else the first."""
        self.lines = list(lines)
        self._model.replace_source(ListedRows(LAYOUT, [command_spec(line) for line in lines]))
        row = next((n for n, line in enumerate(lines) if line.id == current), 0)
        self.select_row(row)

    def line(self) -> CommandEntry | None:
        """Returns the selected command, or None."""
        return self.lines[self.row] if 0 <= self.row < len(self.lines) else None

    def step(self, by: int, *, around: bool = True) -> None:
        """Moves the selection, wrapping at the ends if `around`."""
        count = len(self.lines)
        if count:
            row = self.row + by
            self.select_row(row % count if around else max(0, min(count - 1, row)))
