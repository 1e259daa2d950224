"""Source of the rows in the panel Model sees; the engine describes them as they come into sight."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from inspector.engine.requests.seen_contexts import DescribeEntries, Entry, ListedEntry, Role, SeenContext
from inspector.present import formats
from inspector.present.badges import BADGE_BY_ID
from inspector.present.plot_words import signed_count
from inspector.present.rows import PRIMARY, SECONDARY, TERTIARY, Bar, Cell, Column, Icon, Layout, Pill, Row, Text
from inspector.present.seen_figures import ROLE_WORDS
from inspector.present.states import NOT_CACHED, StatePill, cache_state
from inspector.ui.widgets.latest_answer import Client
from inspector.ui.widgets.rows.described_rows import AFTER, BEFORE, DescribedRows

ROLE_ICONS = {
    Role.SYSTEM: "ri.settings-3-line",
    Role.USER: "ri.user-line",
    Role.ASSISTANT: "ri.chat-1-line",
    Role.TOOL: "ri.arrow-left-down-line",
    Role.TOOLS: "ri.tools-line",
    Role.NONE: "hidden",
}
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


def entry_line(listed: ListedEntry, most: int) -> EntryLine:
    """Builds the texts of an entry.

    Args:
        listed: the entry.
        most: tokens of the largest listed entry; during a comparison, of the largest change.
    """
    entry, change = listed.entry, listed.change
    tokens = "" if not entry.included else "counting" if entry.tokens is None else f"{entry.tokens:,}"
    size = entry.tokens or 0 if entry.included else 0
    if change is not None:
        tokens, size = tokens if tokens == "counting" else signed_count(change), abs(change)
    pills = [COLLAPSED] if entry.collapsed else []
    pills += [cache_state(entry.cache)] if entry.cache is not None else []
    pills += [NOT_CACHED] if listed.is_first_uncached else []
    return EntryLine(entry, listed.text, tokens, size / most if most else 0.0, listed.mark, change, tuple(pills))


_MARKS = {
    "came": ("ri.add-line", "badge.consumed"),
    "went": ("ri.subtract-line", "severity.error"),
    "collapsed": ("ri.archive-line", "badge.collapsed"),
}
NUMBER, TOKENS, CHANGE, REASON = "No.", "Tokens", "Change", "Reason (* assumed)"
_GAP, _LEFT = 12, 10


def _layout_of(seen: SeenContext) -> Layout:
    """Returns the columns: change, number, role, content, tokens and reason."""
    digits = max(3, len(str(int(seen.messages.max(initial=0)) + 1)))
    line = (
        Column(width=18, gap=0),
        Column(NUMBER, "0" * digits, font="figure", right=True, gap=_GAP),
        Column("Role", 84, gap=_GAP),
        Column("Content", gap=_GAP),
        Column(CHANGE if seen.change is not None else TOKENS, 70, right=True, gap=_GAP),
        Column(REASON, 150, share=0.3, from_width=520),
    )
    return Layout((line,), left=_LEFT)


def key_of(message: int) -> tuple[str, int]:
    """Returns the key of a message's row."""
    return "", message


class EntriesSource:
    """One row per entry.

    Attributes:
        messages: messages of the rows, (n,) uint32.
        layout: the columns.
    """

    def __init__(self, client: Client, changed: Callable[[int], object]) -> None:
        """Starts without entries.

        Args:
            client: asks the engine.
            changed: called with a row whose description has changed.
        """
        self._described: DescribedRows[int, ListedEntry] = DescribedRows(
            client, self._question, lambda one: one.entry.message, lambda message: self._on_described(message, changed)
        )
        self.show_context(SeenContext([], None, -1, -1))

    def show_context(self, seen: SeenContext) -> None:
        """Replaces the rows."""
        self._described.drop()
        self._seen, self.layout = seen, _layout_of(seen)
        self.messages: NDArray[np.uint32] = seen.messages

    def _question(self, messages: tuple[int, ...]) -> DescribeEntries:
        return DescribeEntries(self._seen.list_number, messages)

    def _on_described(self, message: int, changed: Callable[[int], object]) -> None:
        row = self.row_of(key_of(message))
        if row >= 0:
            changed(row)

    def __len__(self) -> int:
        return len(self.messages)

    def key_at(self, row: int) -> Hashable:
        return key_of(int(self.messages[row]))

    def row_of(self, key: Hashable) -> int:
        """Returns the row of a key; -1 if it is not listed."""
        rows = np.flatnonzero(self.messages == cast("tuple[str, int]", key)[1])
        return int(rows[0]) if len(rows) else -1

    def line(self, row: int) -> EntryLine:
        """Returns the texts of a row; only its number until they have arrived."""
        message, near = int(self.messages[row]), self.messages[max(0, row - BEFORE) : row + AFTER]
        listed = self._described.find(message, near.tolist)
        return entry_line(listed or _undescribed(message), self._seen.most)

    def spec(self, row: int) -> Row:
        line = self.line(row)
        entry, ink = line.entry, SECONDARY if line.entry.included else TERTIARY
        text = Text(line.text, ink=PRIMARY if entry.included and not entry.collapsed else TERTIARY)
        cells = (
            (Icon(*_MARKS[line.mark], shift=-2),) if line.mark else (),
            (Text(line.number, "figure", TERTIARY, "never"),),
            (Icon(ROLE_ICONS[entry.role], ink, advance=20), Text(line.role, ink=ink)),
            (*map(Pill, line.pills), text),
            self._tokens(line),
            # An assumed reason keeps its star even if the text is cut.
            (Text(entry.reason, ink=ink), Text(" *" if entry.assumed else "", ink=TERTIARY, elide="never")),
        )
        return Row(
            self.key_at(row), (cells,), line.text,
            spoken=line.accessible_text, tip=line.tip, copied=line.copied, message=entry.message,
        )  # fmt: skip

    def _tokens(self, line: EntryLine) -> Cell:
        """Returns the number over a faint bar, scaled to the largest listed entry."""
        spared = line.change is not None and line.change < 0
        counting = line.entry.included and line.entry.tokens is None
        ink = TERTIARY if counting or line.change == 0 else PRIMARY
        text = Text(line.tokens, "small" if counting else "figure", ink, "never", space=4)
        return Bar(line.share, "badge.consumed" if spared else "accent.ring"), text


def _undescribed(message: int) -> ListedEntry:
    entry = Entry(message, Role.NONE, False, "", False, False, None, None, None)
    return ListedEntry(entry, "", "", None, False)
