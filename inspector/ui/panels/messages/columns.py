"""Which columns the user has chosen, in which order and width: the settings' list made complete, and changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from inspector.filters.errors import FilterError
from inspector.filters.field import Field, FieldType
from inspector.filters.naming import field_named
from inspector.present import wire_text
from inspector.present.message_columns import NAMES, TITLES, Column
from inspector.settings import TableColumn

BUILT_IN: dict[str, Column] = {
    "no": Column.NUMBER, "time": Column.TIME, "from-to": Column.FROM_TO, "kind": Column.KIND,
    "context": Column.CONTEXT, "message": Column.MESSAGE, "latency": Column.LATENCY, "size": Column.SIZE,
}  # fmt: skip
"""The columns of docs/design.md 14 by the names they have in the settings; where a field has the name, they show it."""

ALWAYS = frozenset({Column.GUTTER, Column.MESSAGE})
"""Columns that cannot be hidden."""

MOST_FIELDS = 32
"""Columns of fields there may be."""

_SORTED_BY = {Column.FROM_TO: "from", Column.MESSAGE: "text", Column.GUTTER: "finding.severity"}
_NAME_OF = {column: name for name, column in BUILT_IN.items()}
_FIGURES = frozenset({FieldType.INTEGER, FieldType.NUMBER, FieldType.TIME})
_WIDTHS = {FieldType.INTEGER: 72, FieldType.NUMBER: 72, FieldType.TIME: 96, FieldType.BOOLEAN: 56}
_USUAL_WIDTH = 120
_MAX_TITLE = 60


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


class ChosenColumns:
    """Columns by their logical index: those of `Column`, then one for each field. Immutable.

    Attributes:
        columns: from left to right, the built-in ones all among them.
        fields: of the columns from `len(Column)` on.
        order: logical indices from left to right, the gutter first.
        wanted: what `layout_for` takes.
    """

    def __init__(self, columns: Sequence[TableColumn] = ()) -> None:
        """The columns.

        Args:
            columns: as in the settings; names no field has are left out.
        """
        known: list[TableColumn] = []
        fields: list[Field] = []
        self._index: dict[str, int] = {name: int(column) for name, column in BUILT_IN.items()}
        for column in columns:
            if any(column.name == other.name for other in known):
                continue
            if column.name not in BUILT_IN:
                field = _field(column.name)
                if field is None or len(fields) >= MOST_FIELDS:
                    continue
                self._index[column.name] = len(Column) + len(fields)
                fields.append(field)
            known.append(column)
        self.columns = tuple(_completed(known))
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

    # What a column is

    def __len__(self) -> int:
        """How many there are, hidden ones and the gutter included."""
        return len(Column) + len(self.fields)

    def field(self, column: int) -> Field | None:
        """The field a column shows; None for the built-in ones."""
        return self.fields[column - len(Column)] if column >= len(Column) else None

    def name(self, column: int) -> str:
        """Its name in the settings; "" for the gutter."""
        field = self.field(column)
        return _NAME_OF.get(Column(column), "") if field is None else field.name

    def sort_name(self, column: int) -> str:
        """The field by which it is sorted."""
        field = self.field(column)
        return _SORTED_BY.get(Column(column)) or self.name(column) if field is None else field.name

    def named(self, name: str) -> int | None:
        """The column of a name, if there is one."""
        return self._index.get(name.strip())

    def sorted_at(self, name: str) -> int | None:
        """The column that is sorted by a field, if there is one."""
        return next((column for column in self.order if self.sort_name(column) == name), None)

    def title(self, column: int) -> str:
        """What its head says; of a value of the payload its whole path, as its last name alone says too little."""
        field = self.field(column)
        return TITLES[column] if field is None else self.words(column)

    def is_path(self, column: int) -> bool:
        """Whether its head is a path, of which the end says most."""
        field = self.field(column)
        return field is not None and field.type is FieldType.ANY

    def words(self, column: int) -> str:
        """What it is called in menus and lists."""
        field = self.field(column)
        if field is None:
            return NAMES[column]
        return wire_text.plain(field.name if field.type is FieldType.ANY else field.label, _MAX_TITLE)

    def is_figure(self, column: int) -> bool:
        """Whether its values are numbers, so that they end at its right edge."""
        field = self.field(column)
        return field is not None and field.type in _FIGURES

    # Changing; each gives the list for the settings

    def moved(self, order: Sequence[int]) -> list[TableColumn]:
        """The same in another order of logical indices."""
        by_index = {self._index[column.name]: column for column in self.columns}
        return [by_index[index] for index in order if index in by_index]

    def changed(self, widths: dict[int, int] | None = None, shown: dict[int, bool] | None = None) -> list[TableColumn]:
        """The same with other widths (pixels at 100 %, 0 for the usual one), or with columns shown or hidden."""
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
        """The same with a column for a field: the built-in one where there is one, else a new one before Message.

        Raises:
            FilterError: no field has this name, or there are as many columns as there may be.
        """
        name = field_named(name).name
        if name in self._index:
            return self.changed(shown={self._index[name]: True})
        if len(self.fields) >= MOST_FIELDS:
            sentence = f"There are {MOST_FIELDS} columns of fields already."
            raise FilterError(sentence, position=0, length=len(name), suggestion="Remove one first.")
        columns = list(self.columns)
        place = next(n for n, column in enumerate(columns) if column.name == "message")
        return [*columns[:place], TableColumn(name=name, shown="yes"), *columns[place:]]

    def without(self, column: int) -> list[TableColumn]:
        """The same without the column of a field; a built-in one is hidden."""
        if column < len(Column):
            return self.changed(shown={column: False})
        return [one for one in self.columns if one.name != self.name(column)]


def _field(name: str) -> Field | None:
    try:
        return field_named(name)
    except FilterError:
        return None


def _completed(columns: list[TableColumn]) -> list[TableColumn]:
    """The built-in columns that are missing, each behind the one that it usually follows."""
    found, before = list(columns), ""
    for name in BUILT_IN:
        names = [column.name for column in found]
        if name not in names:
            place = names.index(before) + 1 if before else 0
            found.insert(place, TableColumn(name=name))
        before = name
    return found
