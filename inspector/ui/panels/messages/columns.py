"""How wide the columns of the message table are in a table of a given width (docs/design.md 14)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from inspector.present.message_columns import Column

_NARROW: dict[int, int] = {Column.NUMBER: 40, Column.TIME: 60, Column.FROM_TO: 148, Column.KIND: 91, Column.CONTEXT: 72}
_WIDE: dict[int, int] = {Column.NUMBER: 52, Column.TIME: 68, Column.FROM_TO: 184, Column.KIND: 132, Column.CONTEXT: 150}
_FIGURES: dict[int, int] = {Column.LATENCY: 68, Column.SIZE: 60}
_GUTTER = 32
_MESSAGE_LEAST = 240
_MESSAGE_ENOUGH = 120
"""Below this, a narrow table gives up columns."""
_MESSAGE_LIKED = 200
"""Down to this Message makes room for columns of fields before those become narrower."""
_FIELD_LEAST = 72
"""To this, columns of fields become narrower before Message has less than that."""
_GIVEN_UP = (Column.CONTEXT, Column.TIME, Column.KIND)
"""Columns a narrow table gives up, the first one first; the details have them all."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Widths of the columns but Message, which takes the rest; columns that are not named are hidden.

    Attributes:
        widths: logical pixels by column; from `len(Column)` on those of fields.
        message: the least width of Message; where no more is left, the columns are wider than the table.
    """

    widths: dict[int, int]
    message: int

    def shows(self, column: int) -> bool:
        """Whether a column is shown."""
        return column == Column.MESSAGE or column in self.widths


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the user has chosen; columns that are not named are up to the room there is.

    Attributes:
        always: columns that are shown in any case.
        never: columns that are not.
        widths: chosen widths, in pixels at 100 %.
        fields: usual widths of the columns that are fields, in pixels at 100 %.
    """

    always: frozenset[int] = frozenset()
    never: frozenset[int] = frozenset()
    widths: Mapping[int, int] = field(default_factory=dict)
    fields: dict[int, int] = field(default_factory=dict)

    def showing(self, column: int | None) -> Wanted:
        """The same with one column shown in any case."""
        if column is None:
            return self
        return replace(self, always=self.always | {column}, never=self.never - {column})


AS_USUAL = Wanted()


def layout_for(width: int, zoom: float = 1.0, *, number: int = 0, time: int = 0, wanted: Wanted = AS_USUAL) -> Layout:
    """How a table of a width lays out its columns.

    Wide columns with Latency and Size come where they leave Message its 240 px, in a 1920 px window and some below;
    the two figures alone come somewhat earlier, which is from 1700 up. For columns of fields Message becomes narrower,
    then they do whose width nobody chose, then Message again; only where that does not do, Context goes, and they make
    the table wider than its viewport rather than drive out others.

    Args:
        width: of the viewport, in logical pixels.
        zoom: scales every width.
        number: least width of the column No., which is never elided.
        time: least width of the column Time.
        wanted: what the user has chosen.
    """

    def scaled(usual: Mapping[int, int]) -> dict[int, int]:
        chosen = {c: wanted.widths.get(c, usual[c]) for c in usual if c not in wanted.never}
        made = {Column.GUTTER: _GUTTER, **chosen}
        widths = {int(column): round(pixels * zoom) for column, pixels in made.items()}
        for column, least in ((Column.NUMBER, number), (Column.TIME, time)):
            if column in widths:
                widths[column] = max(widths[column], least)
        return widths

    least, enough, field_least = (round(px * zoom) for px in (_MESSAGE_LEAST, _MESSAGE_ENOUGH, _FIELD_LEAST))

    def laid_out(widths: dict[int, int]) -> Layout:
        if wanted.fields:
            _narrow_fields(widths, wanted, sum(widths.values()) + round(_MESSAGE_LIKED * zoom) - width, field_least)
        return Layout(widths, max(enough, width - sum(widths.values())))

    for usual in (_WIDE | _FIGURES, _NARROW | _FIGURES):
        widths = scaled(usual | wanted.fields)
        if sum(widths.values()) + least <= width:
            return laid_out(widths)
    kept = _NARROW | {column: width for column, width in _FIGURES.items() if column in wanted.always}
    for column in _GIVEN_UP:
        taken = scaled(kept | wanted.fields if column is Column.CONTEXT else kept)
        room = enough
        if column is Column.CONTEXT and wanted.fields:
            room = enough - _to_spare(taken, wanted, field_least)
        if column not in wanted.always and sum(taken.values()) + room > width:
            kept.pop(column, None)
    return laid_out(scaled(kept | wanted.fields))


def _elastic(widths: dict[int, int], wanted: Wanted) -> list[int]:
    """Columns of fields whose width nobody chose."""
    return [column for column in wanted.fields if column in widths and column not in wanted.widths]


def _to_spare(widths: dict[int, int], wanted: Wanted, least: int) -> int:
    """How much narrower they can be."""
    return sum(max(0, widths[column] - least) for column in _elastic(widths, wanted))


def _narrow_fields(widths: dict[int, int], wanted: Wanted, missing: int, least: int) -> None:
    """Take missing room from the columns of fields, as far as they have it."""
    missing = min(missing, _to_spare(widths, wanted, least))
    columns = sorted(_elastic(widths, wanted), key=lambda column: widths[column])
    for place, column in enumerate(columns):
        share = -(-missing // (len(columns) - place))
        given = min(max(0, share), max(0, widths[column] - least))
        widths[column] -= given
        missing -= given
