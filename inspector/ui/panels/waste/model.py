"""Rows and item model of the waste panel: words for each waste, and filters for its messages."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QObject
from typing_extensions import override

from inspector.analysis.views.waste import Waste
from inspector.filters.visible import VisibleRows
from inspector.present import formats
from inspector.present.wire_text import excerpt, safe_line, tool_tip
from inspector.ui.look.roles import Role
from inspector.ui.panels.list_view import Key, ListModel

PERHAPS = "(likely)"
_SURE, _UNSURE = "Certain: the traffic shows it.", "It may be intended, or rests on an assumption."
FILTERED_MOST = 50
"""Maximum of messages in one filter."""


@dataclass(frozen=True, slots=True)
class WasteLine:
    """A row as texts.

    Attributes:
        tokens: number with thousands separators.
        kind: the kind of waste.
        about: the tool, or the participant whose context it is.
        mono: True if `about` is a tool.
        number: "No. 12".
    """

    tokens: str
    kind: str
    sure: bool
    sentence: str
    advice: str
    about: str
    mono: bool
    number: str

    @property
    def words(self) -> str:
        """The kind, marked if it is only likely."""
        return self.kind if self.sure else f"{self.kind} {PERHAPS}"

    @property
    def copied(self) -> str:
        """The row as text separated by tabs."""
        return "\t".join((self.tokens, self.words, self.about, self.number, self.sentence, self.advice))


def waste_line(one: Waste) -> WasteLine:
    return WasteLine(
        formats.number(one.tokens), one.kind.value, one.sure, excerpt(one.sentence, 600), excerpt(one.advice, 600),
        safe_line(one.tool or one.participant or "", 120), one.tool is not None, formats.message_number(one.message),
    )  # fmt: skip


def filter_for(wastes: list[Waste]) -> str:
    """Returns the display filter for the messages of some cases, for at most `FILTERED_MOST` messages."""
    messages = dict.fromkeys(row for one in wastes for row in (one.message, *one.messages))
    return f"no in {{{', '.join(str(row + 1) for row in sorted(list(messages)[:FILTERED_MOST]))}}}"


class WasteRows:
    """Listed cases by row and key."""

    def __init__(self) -> None:
        self.wastes: list[Waste] = []
        self._row_of: dict[Key, int] = {}

    def replace_rows(self, wastes: list[Waste]) -> None:
        self.wastes = wastes
        self._row_of = {key_of(one): row for row, one in enumerate(wastes)}

    def __len__(self) -> int:
        return len(self.wastes)

    def key_at(self, row: int) -> Key:
        return key_of(self.wastes[row])

    def row_of(self, key: Key) -> int:
        """Returns the row of a key, or -1 if it is not listed."""
        return self._row_of.get(key, -1)


def key_of(one: Waste) -> Key:
    return one.kind.name, one.message


class WasteModel(ListModel):
    """One row per case of waste.

    Attributes:
        rows: the listed cases.
    """

    def __init__(self, shown: VisibleRows, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._shown = shown
        self._lines: dict[int, WasteLine] = {}
        self.rows = WasteRows()

    @property
    @override
    def listed(self) -> WasteRows:
        return self.rows

    def show_wastes(self, wastes: list[Waste]) -> None:
        with self.changing():
            self._lines.clear()
            self.rows.replace_rows(wastes)

    def line(self, row: int) -> WasteLine:
        """Returns a row as texts, cached."""
        found = self._lines.get(row)
        if found is None:
            found = self._lines[row] = waste_line(self.rows.wastes[row])
        return found

    @override
    def is_shown(self, row: int) -> bool:
        """Returns True if the table shows the message of a row."""
        return self._shown.row_of(self.rows.wastes[row].message) is not None

    # Texts of a row

    @override
    def text(self, row: int) -> str:
        return self.line(row).sentence

    @override
    def tip(self, row: int) -> str:
        line = self.line(row)
        certain = _SURE if line.sure else _UNSURE
        return tool_tip(f"{line.sentence}\n\n{line.advice}\n\n{certain} {line.number}")

    @override
    def role_data(self, row: int, role: int) -> object:
        return self.rows.wastes[row].message if role == Role.MESSAGE else None

    @override
    def accessible_text(self, row: int) -> str:
        line = self.line(row)
        hidden = "" if self.is_shown(row) else "hidden by the view"
        tokens = formats.count_of(self.rows.wastes[row].tokens, "token")
        words = (tokens, line.words, line.sentence, line.advice, line.about, line.number, hidden)
        return ", ".join(filter(None, words))
