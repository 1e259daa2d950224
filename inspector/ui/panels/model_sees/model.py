"""Qt model of the entries in the panel Model sees: texts of `EntryRows` for painted rows, with secrets masked."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QObject
from typing_extensions import override

from inspector.analysis.views.model_context import Entry, Role
from inspector.document.document import CaptureDocument
from inspector.filters.visible import VisibleRows
from inspector.present import formats
from inspector.present.badges import BADGE_BY_ID
from inspector.present.entry_words import entry_words
from inspector.present.plot_words import signed_count
from inspector.present.states import NOT_CACHED, StatePill, cache_state
from inspector.present.wire_text import tool_tip
from inspector.ui.look.roles import Role as ItemRole
from inspector.ui.panels.list_view import ListModel
from inspector.ui.panels.model_sees.context_state import ContextState, EntryRows

ROLE_ICONS = {
    Role.SYSTEM: "ri.settings-3-line",
    Role.USER: "ri.user-line",
    Role.ASSISTANT: "ri.chat-1-line",
    Role.TOOL: "ri.arrow-left-down-line",
    Role.TOOLS: "ri.tools-line",
    Role.NONE: "hidden",
}
ROLE_WORDS = {
    Role.SYSTEM: "system",
    Role.USER: "user",
    Role.ASSISTANT: "assistant",
    Role.TOOL: "tool",
    Role.TOOLS: "tool list",
    Role.NONE: "out",
}
"""Names of roles for users; `Role.word` is for chat interfaces."""
_COLLAPSED = BADGE_BY_ID["collapsed"]
COLLAPSED = StatePill(_COLLAPSED.text, _COLLAPSED.token, "dash")
ASSUMED = "Assumed: clients do not report the context they give to their model."


@dataclass(frozen=True, slots=True)
class EntryLine:
    """Texts of an entry.

    Attributes:
        entry: the entry.
        text: its first words, safe to show; a collapsed result shows its summary.
        tokens: text of the token column.
        share: tokens relative to the largest listed entry, 0 to 1.
        mark: came, went or collapsed, during a comparison.
        change: difference of tokens; None without a comparison.
        pills: collapsed; end of a requested cache prefix; first entry outside of the cache.
    """

    entry: Entry
    text: str
    tokens: str
    share: float
    mark: str
    change: int | None = None
    pills: tuple[StatePill, ...] = ()

    @property
    def number(self) -> str:
        """Text of its column."""
        return str(self.entry.message + 1)

    @property
    def role(self) -> str:
        """Text of its column."""
        return ROLE_WORDS[self.entry.role]

    @property
    def why(self) -> str:
        """The reason, with a star if it is assumed."""
        return f"{self.entry.reason} *" if self.entry.assumed else self.entry.reason

    @property
    def state(self) -> str:
        """State of the entry: collapsed, in or out."""
        return "collapsed" if self.entry.collapsed else "in" if self.entry.included else "out"

    @property
    def accessible_text(self) -> str:
        """Text of the row for screen readers."""
        tokens = f"{self.tokens} tokens" if self.entry.included or self.change else ""
        assumed = "assumed" if self.entry.assumed else ""
        number = formats.message_number(self.entry.message)
        cached = (pill.word for pill in self.pills if pill is not COLLAPSED)
        words = (self.mark, number, self.role, self.state, *cached, self.text, tokens, self.entry.reason, assumed)
        return ", ".join(filter(None, words))

    @property
    def tip(self) -> str:
        """Tooltip of the row, plain text."""
        whole = self.entry.whole_tokens
        parts = [self.text, self.entry.reason + (f"\n{ASSUMED}" if self.entry.assumed else "")]
        if self.entry.collapsed and whole is not None:
            parts.append(f"{self.entry.tokens or 0:,} tokens now, {whole:,} before it was collapsed (estimate).")
        elif self.entry.cache is not None:
            parts.append(f"A prompt cache was requested up to here, for {self.entry.cache}.")
        elif not self.entry.included and whole:
            parts.append(f"It would cost {formats.count_of(whole, 'token')} (estimate).")
        return "\n\n".join(parts)

    @property
    def copied(self) -> str:
        """Text of the row, separated by tabs."""
        return "\t".join((self.number, self.role, self.state, self.tokens, self.text, self.why))


def entry_line(document: CaptureDocument, rows: EntryRows, row: int) -> EntryLine:
    """Builds the texts of an entry."""
    assert rows.moment is not None
    place = int(rows.places[row])
    entry = rows.moment.entry(place)
    tokens = "" if not entry.included else "counting" if entry.tokens is None else f"{entry.tokens:,}"
    share = (entry.tokens or 0) / rows.most if rows.most and entry.included else 0.0
    change = None
    if rows.change is not None:
        change = int(rows.change.by_entry[place])
        tokens = tokens if tokens == "counting" else signed_count(change)
        share = abs(change) / rows.most if rows.most else 0.0
    pills = [COLLAPSED] if entry.collapsed else []
    pills += [cache_state(entry.cache)] if entry.cache is not None else []
    pills += [NOT_CACHED] if entry.included and place == rows.not_cached_from else []
    text = entry_words(document, rows.moment, place)
    return EntryLine(entry, text, tokens, share, rows.mark(row), change, tuple(pills))


_MAX_CACHED_LINES = 2_000


class EntriesModel(ListModel):
    """Model with one row per entry.

    Attributes:
        rows: entries of the last `show_state`.
    """

    def __init__(self, document: CaptureDocument, shown: VisibleRows, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._document, self._shown = document, shown
        self._lines: dict[int, EntryLine] = {}
        self.rows = EntryRows()

    @property
    @override
    def listed(self) -> EntryRows:
        return self.rows

    def show_state(self, context_state: ContextState) -> None:
        """Applies the state's rows. O(1): the arrays belong to the state."""
        with self.changing():
            self._lines.clear()
            self.rows = context_state.rows

    def line(self, row: int) -> EntryLine:
        """Returns the texts of a row, cached."""
        found = self._lines.get(row)
        if found is None:
            # Only painted rows are cached; a full cache is cheap to rebuild.
            if len(self._lines) >= _MAX_CACHED_LINES:
                self._lines.clear()
            found = self._lines[row] = entry_line(self._document, self.rows, row)
        return found

    # Row content

    @override
    def text(self, row: int) -> str:
        return self.line(row).text

    @override
    def accessible_text(self, row: int) -> str:
        return self.line(row).accessible_text

    @override
    def tip(self, row: int) -> str:
        return tool_tip(self.line(row).tip)

    @override
    def is_shown(self, row: int) -> bool:
        return self._shown.row_of(int(self.rows.messages[row])) is not None

    @override
    def role_data(self, row: int, role: int) -> object:
        if role == ItemRole.MESSAGE:
            return int(self.rows.messages[row])
        return self.line(row).entry.collapsed if role == ItemRole.COLLAPSED else None
