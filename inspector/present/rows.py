"""Specifications of list rows as plain data: a `Row` has cells, a cell has parts, a `Layout` places the cells.

Sources make rows on demand, so that a long list costs its visible rows. Fonts, inks and icons are names of the theme.
Measures are pixels at 100 % zoom.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from inspector.present.states import StatePill

Elide = Literal["right", "middle", "never"]
CheckState = Literal["on", "off", "excluded"]

PRIMARY, SECONDARY, TERTIARY = "ink.primary", "ink.secondary", "ink.tertiary"


@dataclass(frozen=True, slots=True)
class Text:
    """A run of text on one line.

    Attributes:
        text: safe to show.
        font: type role; "number" and "count" have tabular figures.
        elide: the elided end; "never" for figures, which take their width from other texts.
        short: replaces a text that is wider than its place.
        least: minimum width; with less the text is left out. 0 for texts that always appear.
        space: to the next part.
        lit: positions of highlighted characters.
        right: aligned at the right end of its cell.
        link: underlined under the pointer.
        tinted: ranges of characters on a tint with a line below, in the colour `tint`.
    """

    text: str
    font: str = "body"
    ink: str = PRIMARY
    elide: Elide = "right"
    short: str = ""
    least: int = 0
    space: int = 0
    lit: tuple[int, ...] = ()
    right: bool = False
    link: bool = False
    tinted: tuple[tuple[int, int], ...] = ()
    tint: str = ""


@dataclass(frozen=True, slots=True)
class Icon:
    """An icon.

    Attributes:
        advance: from its left edge to the next part.
        shift: of the icon, to the right.
    """

    name: str
    ink: str = SECONDARY
    side: int = 14
    advance: int = 24
    shift: int = 0


@dataclass(frozen=True, slots=True)
class Dot:
    """A round mark of a state.

    Attributes:
        state: of a context (`active`, `idle`, `concluded`, `cancelled`) or of presence (`speaking`, `here`, `left`,
            `not announced`).
        center: from the left edge of the part.
        advance: to the next part.
        implicit: the context has no message of its own.
        halo: strength around an active context, 0 to 1.
    """

    state: str
    center: int = 7
    advance: int = 19
    implicit: bool = False
    halo: float = 1.0


@dataclass(frozen=True, slots=True)
class Tag:
    """A word in a frame, such as a key of the keyboard.

    Attributes:
        side: width and height of a square tag; 0 for the width of the text.
    """

    text: str
    font: str = "badge"
    ink: str = SECONDARY
    space: int = 8
    side: int = 0


@dataclass(frozen=True, slots=True)
class Pill:
    """A state as a filled pill; left out without room."""

    state: StatePill
    space: int = 8


@dataclass(frozen=True, slots=True)
class Check:
    """A check box. A click on it toggles the row if the view has check boxes of its own."""

    state: CheckState
    side: int = 12
    advance: int = 18


@dataclass(frozen=True, slots=True)
class Swatch:
    """A sample of a colour: a tint with a coloured left edge."""

    ink: str
    width: int = 22
    advance: int = 34


@dataclass(frozen=True, slots=True)
class Spot:
    """A small square in a colour."""

    ink: str
    side: int = 8
    advance: int = 16


@dataclass(frozen=True, slots=True)
class Track:
    """A share of the cell's width, 0 to 1, as a bar on a track."""

    share: float
    ink: str
    alpha: float = 1.0


@dataclass(frozen=True, slots=True)
class Spread:
    """A histogram, scaled to its highest count."""

    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Gauge:
    """A used share of a limit, 0 to 1, as a thin bar."""

    share: float


@dataclass(frozen=True, slots=True)
class Bar:
    """A faint bar behind the text of its cell, from the right.

    Attributes:
        share: of the cell's width, 0 to 1.
    """

    share: float
    ink: str = "accent.ring"


@dataclass(frozen=True, slots=True)
class Space:
    """Empty room."""

    width: int


Part = Text | Icon | Dot | Tag | Pill | Check | Swatch | Spot | Track | Spread | Gauge | Bar | Space
Cell = tuple[Part, ...]
EMPTY: Cell = ()


@dataclass(frozen=True, slots=True)
class Column:
    """Place of a cell in a line.

    Attributes:
        title: heading, or "".
        width: in pixels, or the widest text; 0 for the rest of the line, which such columns share equally. "auto": as
            wide as its content.
        font: of the widest text.
        from_width: minimum width of the view; the column is left out of narrower ones.
        wide, wide_from: its width in views of at least `wide_from`.
        share: minimum share of the view's width.
        right: aligns the cell at the right. Its content is never cut and may take width from the column before.
        gap: to the next column.
    """

    title: str = ""
    width: int | str = 0
    font: str = "body"
    from_width: int = 0
    wide: int = 0
    wide_from: int = 0
    share: float = 0.0
    right: bool = False
    gap: int = 10


AUTO = "auto"
REST = Column()


@dataclass(frozen=True, slots=True)
class Layout:
    """Lines and columns of all rows of a list.

    Attributes:
        lines: columns of each line.
        height: name of the height in the theme's grid, times `rise`.
        left, right: padding; None for that of a pane.
        edge: above the first line and below the last one.
        least: minimum width of the text in an indented row.
    """

    lines: tuple[tuple[Column, ...], ...] = ((REST,),)
    height: str = "finding_row"
    rise: float = 1.0
    left: int | None = None
    right: int | None = None
    edge: int = 0
    least: int = 124


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a list.

    Attributes:
        key: identifies the row while others come and go.
        lines: cells of each line; missing ones are empty.
        text: plain text for search and copies.
        spoken: for screen readers; "" for `text`.
        described: further description for screen readers.
        tip: tooltip as plain text.
        indent: of all lines.
        checked: state of the check box, if any.
        selectable: False for headings.
        copied: for the clipboard; "" for `text`.
        expanded: state of a group's head; None for other rows.
        message: index of its message, if it has one.
    """

    key: Hashable
    lines: tuple[tuple[Cell, ...], ...]
    text: str
    spoken: str = ""
    described: str = ""
    tip: str = ""
    copied: str = ""
    indent: int = 0
    checked: bool | None = None
    selectable: bool = True
    expanded: bool | None = None
    message: int | None = None


class RowSource(Protocol):
    """Rows of a list by index and key."""

    @property
    def layout(self) -> Layout: ...

    def __len__(self) -> int: ...

    def key_at(self, row: int) -> Hashable: ...

    def row_of(self, key: Hashable) -> int:
        """Returns the row of a key, or -1 if it is not listed."""
        ...

    def spec(self, row: int) -> Row:
        """Makes a row; models cache it."""
        ...


class ListedRows:
    """A source of rows made in advance, for short lists."""

    def __init__(self, layout: Layout, rows: Sequence[Row] = ()) -> None:
        self.layout = layout
        self.rows = list(rows)

    def __len__(self) -> int:
        return len(self.rows)

    def key_at(self, row: int) -> Hashable:
        return self.rows[row].key

    def row_of(self, key: Hashable) -> int:
        return next((place for place, row in enumerate(self.rows) if row.key == key), -1)

    def spec(self, row: int) -> Row:
        return self.rows[row]
