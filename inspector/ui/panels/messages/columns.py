"""Chosen columns of the message table: names, titles, sorting; added fields; order and visibility."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from inspector.engine.request import RequestError
from inspector.engine.requests.fields import FieldFacts, FieldType
from inspector.present import wire_text
from inspector.present.message_columns import NAMES, TITLES, Column
from inspector.settings import TableColumn

BUILT_IN: dict[str, Column] = {
    "no": Column.NUMBER, "time": Column.TIME, "from-to": Column.FROM_TO, "kind": Column.KIND,
    "context": Column.CONTEXT, "message": Column.MESSAGE, "latency": Column.LATENCY, "size": Column.SIZE,
}  # fmt: skip
"""Built-in columns (docs/design.md 14) by their names in the settings; fields of the same name use them."""

ALWAYS = frozenset({Column.GUTTER, Column.MESSAGE})
"""Columns that cannot be hidden."""

MOST_FIELDS = 32
"""Most columns of fields."""

_SORT_FIELDS = {Column.FROM_TO: "from", Column.MESSAGE: "text", Column.GUTTER: "finding.severity"}
_NAME_OF = {column: name for name, column in BUILT_IN.items()}
_SORT_TYPES = {
    Column.NUMBER: FieldType.INTEGER, Column.TIME: FieldType.TIME, Column.KIND: FieldType.KIND,
    Column.CONTEXT: FieldType.CONTEXT, Column.LATENCY: FieldType.NUMBER, Column.SIZE: FieldType.INTEGER,
    Column.GUTTER: FieldType.SEVERITY,
}  # fmt: skip
"""Types of the sort fields of built-in columns; the others are texts."""
_NUMBER_TYPES = frozenset({FieldType.INTEGER, FieldType.NUMBER, FieldType.TIME})
_WIDTHS = {FieldType.INTEGER: 72, FieldType.NUMBER: 72, FieldType.TIME: 96, FieldType.BOOLEAN: 56}
_USUAL_WIDTH = 120
_MAX_TITLE = 60


@dataclass(frozen=True, slots=True)
class Wanted:
    """The user's choices; other columns depend on the available width.

    Attributes:
        always: columns shown at any width.
        never: hidden columns.
        widths: chosen widths, pixels at 100 %.
        fields: usual widths of columns of fields, pixels at 100 %.
    """

    always: frozenset[int] = frozenset()
    never: frozenset[int] = frozenset()
    widths: Mapping[int, int] = field(default_factory=dict)
    fields: dict[int, int] = field(default_factory=dict)

    def showing(self, column: int | None) -> Wanted:
        """Returns a copy with one column shown at any width."""
        if column is None:
            return self
        return replace(self, always=self.always | {column}, never=self.never - {column})


AS_USUAL = Wanted()


class ChosenColumns:
    """Columns by logical index: first `Column`, then one for each field. Immutable.

    Attributes:
        columns: from left to right, with all built-in ones.
        known: the known fields by name.
        fields: fields of the columns from `len(Column)` on.
        order: logical indices from left to right, the gutter first.
        wanted: input of `layout_for`.
    """

    def __init__(
        self, columns: Sequence[TableColumn] = (), known_fields: Mapping[str, FieldFacts] = MappingProxyType({})
    ) -> None:
        """Completes a list of columns.

        Args:
            columns: as in the settings; unknown names are dropped.
            known_fields: by name.
        """
        self.known = known_fields
        known: list[TableColumn] = []
        fields: list[FieldFacts] = []
        self._index: dict[str, int] = {name: int(column) for name, column in BUILT_IN.items()}
        for column in columns:
            # Settings are edited by hand, too: ignore repeated names.
            if any(column.name == other.name for other in known):
                continue
            if column.name not in BUILT_IN:
                field = known_fields.get(column.name)
                if field is None or len(fields) >= MOST_FIELDS:
                    continue
                self._index[column.name] = len(Column) + len(fields)
                fields.append(field)
            known.append(column)
        self.columns = tuple(_with_built_in(known))
        self.fields = tuple(fields)
        self.order = (int(Column.GUTTER), *(self._index[column.name] for column in self.columns))
        self.wanted = self._make_wanted()

    def _make_wanted(self) -> Wanted:
        shown = {self._index[column.name]: column.shown for column in self.columns}
        return Wanted(
            always=frozenset(index for index, how in shown.items() if how == "yes"),
            never=frozenset(index for index, how in shown.items() if how == "no" and index not in ALWAYS),
            widths={self._index[column.name]: column.width for column in self.columns if column.width},
            fields={
                len(Column) + place: _WIDTHS.get(field.type, _USUAL_WIDTH)
                for place, field in enumerate(self.fields)
            },
        )  # fmt: skip

    # Queries

    def __len__(self) -> int:
        """Number of columns, hidden ones and the gutter included."""
        return len(Column) + len(self.fields)

    def field(self, column: int) -> FieldFacts | None:
        """Returns the field of a column; None for built-in columns."""
        return self.fields[column - len(Column)] if column >= len(Column) else None

    def name(self, column: int) -> str:
        """Returns the name in the settings; "" for the gutter."""
        field = self.field(column)
        return _NAME_OF.get(Column(column), "") if field is None else field.name

    def requested(self, column: int) -> int | str:
        """Returns the number of a built-in column, or the name of a field, for requests."""
        field = self.field(column)
        return column if field is None else field.name

    def sort_name(self, column: int) -> str:
        """Returns the name of the sort field."""
        field = self.field(column)
        return _SORT_FIELDS.get(Column(column)) or self.name(column) if field is None else field.name

    def sort_type(self, column: int) -> FieldType:
        """Returns the type of the sort field."""
        field = self.field(column)
        return _SORT_TYPES.get(Column(column), FieldType.STRING) if field is None else field.type

    def named(self, name: str) -> int | None:
        """Returns the column of a name, or None."""
        return self._index.get(name.strip())

    def sorted_at(self, name: str) -> int | None:
        """Returns the column sorted by a field, or None."""
        return next((column for column in self.order if self.sort_name(column) == name), None)

    def title(self, column: int) -> str:
        """Returns the header title; payload values show the whole path, because the last key alone says too little."""
        field = self.field(column)
        return TITLES[column] if field is None else self.words(column)

    def is_path(self, column: int) -> bool:
        """Returns True if the title is a path; its end matters most."""
        field = self.field(column)
        return field is not None and field.type is FieldType.ANY

    def words(self, column: int) -> str:
        """Returns the name in menus and lists."""
        field = self.field(column)
        if field is None:
            return NAMES[column]
        return wire_text.safe_line(field.name if field.type is FieldType.ANY else field.label, _MAX_TITLE)

    def is_figure(self, column: int) -> bool:
        """Returns True for right-aligned columns of numbers."""
        field = self.field(column)
        return field is not None and field.type in _NUMBER_TYPES

    # Changes; each returns the list for the settings

    def moved(self, order: Sequence[int]) -> list[TableColumn]:
        """Returns the columns in another order of logical indices."""
        by_index = {self._index[column.name]: column for column in self.columns}
        return [by_index[index] for index in order if index in by_index]

    def changed(self, widths: dict[int, int] | None = None, shown: dict[int, bool] | None = None) -> list[TableColumn]:
        """Returns the columns with other widths (pixels at 100 %, 0 for the usual width) or visibility."""
        found: list[TableColumn] = []
        for column in self.columns:
            index, update = self._index[column.name], dict[str, object]()
            if widths is not None and index in widths:
                update["width"] = min(widths[index], 4000)
            if shown is not None and index in shown:
                update["shown"] = "yes" if shown[index] else "no"
            found.append(column.model_copy(update=update))
        return found

    def with_field(self, name: str) -> list[TableColumn]:
        """Returns the columns with one for a field: the built-in one, or a new one before Message.

        Raises:
            RequestError: the limit of columns is reached.
        """
        if name in self._index:
            return self.changed(shown={self._index[name]: True})
        if len(self.fields) >= MOST_FIELDS:
            raise RequestError(f"There are {MOST_FIELDS} columns of fields already. Remove one first.")
        columns = list(self.columns)
        # Message takes the rest of the width, so new columns go before it.
        place = next(n for n, column in enumerate(columns) if column.name == "message")
        return [*columns[:place], TableColumn(name=name, shown="yes"), *columns[place:]]

    def without(self, column: int) -> list[TableColumn]:
        """Returns the columns without one; built-in columns are hidden instead."""
        if column < len(Column):
            return self.changed(shown={column: False})
        return [one for one in self.columns if one.name != self.name(column)]


def _with_built_in(columns: list[TableColumn]) -> list[TableColumn]:
    """Inserts missing built-in columns after their usual predecessors."""
    found, before = list(columns), ""
    for name in BUILT_IN:
        names = [column.name for column in found]
        if name not in names:
            place = names.index(before) + 1 if before else 0
            found.insert(place, TableColumn(name=name))
        before = name
    return found
