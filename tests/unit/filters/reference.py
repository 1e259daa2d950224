"""A small capture of plain rows, fields over it, and the filter language evaluated row by row, slowly and plainly.

What is here shares nothing with the evaluation under test but the parsed expression.
"""

from __future__ import annotations

import fnmatch
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast

import numpy as np

from inspector.analysis.arrays.field_columns import Column, Decoded, Flags, Interned, InternedSets, Numbers
from inspector.filters import DisplayFilter, compile_filter
from inspector.filters.ast import And, Comparison, Expression, Membership, Not, Or, Presence, TextSearch, Variable
from inspector.filters.field import Depends, Field, FieldType
from inspector.store.messages.payload_values import OPEN_JSON

Row = Mapping[str, Any]
NO_NUMBER = -(2**63)


class Table:
    """Strings or lists of them held once; id 0 is absent."""

    def __init__(self, absent: Any) -> None:
        self.values: list[Any] = [absent]
        self._ids: dict[Any, int] = {}

    def id_of(self, value: Any) -> int:
        if value not in self._ids:
            self._ids[value] = len(self.values)
            self.values.append(value)
        return self._ids[value]

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, at: int) -> Any:
        return self.values[at]


class FakeCapture:
    """One file with the rows' records in it, one after the other; it is its own only source, and reads its records."""

    lost_to = 0

    def __init__(self, rows: list[Row]) -> None:
        self.rows = rows
        self.sources = [self]
        self.records = self

    def is_big(self, _message: int) -> bool:
        return False

    @property
    def columns(self) -> dict[str, np.ndarray]:
        lengths = np.array([len(row.get("record", b"")) for row in self.rows], np.int64)
        return {
            "source": np.zeros(len(lengths), np.uint8),
            "offset": np.cumsum(lengths) - lengths,
            "length": lengths,
            "size": lengths,
        }

    def unmasked(self) -> AbstractContextManager[None]:
        return nullcontext()

    def prefetch(self, _start: int, _stop: int) -> AbstractContextManager[None]:
        return nullcontext()

    def read(self, offset: int, length: int) -> bytes:
        return b"".join(row.get("record", b"") for row in self.rows)[offset : offset + length]


class FakeAnalysis:
    """Rows as dictionaries, and the tables their strings are interned in. `append` grows it as a capture does."""

    def __init__(self, rows: Iterable[Row] = ()) -> None:
        self.rows = list(rows)
        self.capture = FakeCapture(self.rows)
        self.strings = Table("")
        self.sets = Table(())
        self.decoded: list[tuple[str, int]] = []

    def append(self, *rows: Row) -> None:
        self.rows.extend(rows)

    @property
    def streams(self) -> Any:
        """Nothing here is a frame."""
        return SimpleNamespace(columns={"run": np.zeros(len(self.rows), np.uint32)})

    def interned(self, of: Callable[[Row], str | None]) -> Interned:
        ids = [0 if of(row) is None else self.strings.id_of(of(row)) for row in self.rows]
        return Interned(np.array(ids, np.uint32), cast(Sequence[str], self.strings))

    def interned_sets(self, name: str) -> InternedSets:
        ids = [self.sets.id_of(tuple(row[name])) if row.get(name) else 0 for row in self.rows]
        return InternedSets(np.array(ids, np.uint32), cast(Sequence[tuple[str, ...]], self.sets))

    def numbers(self, name: str, dtype: type, absent: float) -> Numbers:
        values = [absent if row.get(name) is None else row[name] for row in self.rows]
        return Numbers(np.array(values, dtype), absent)

    def flag(self, name: str, bit: int) -> Flags:
        bits = [bit | 1 if row.get(name) else 1 for row in self.rows]
        return Flags(np.array(bits, np.uint32), bit)

    def on_demand(self, name: str, of: Callable[[Row], object]) -> Decoded:
        def decode(message: int) -> object:
            self.decoded.append((name, message))
            return of(self.rows[message])

        return Decoded(decode, len(self.rows))


def analysis_of(rows: Iterable[Row] = ()) -> Any:
    """A fake analysis, typed so that it passes for a real one."""
    return FakeAnalysis(rows)


def long_kind(row: Row) -> str | None:
    if row.get("kind") is None:
        return None
    return ":".join(part for part in (row["kind"], row.get("method"), row.get("target")) if part is not None)


def read_json(text: str) -> object:
    def refuse(word: str) -> object:
        raise ValueError(word)

    try:
        return json.loads(text, parse_constant=refuse)
    except (ValueError, RecursionError):
        return None


def walk(value: object, path: tuple[str, ...]) -> object:
    for part in path:
        if part == OPEN_JSON:
            value = read_json(value) if isinstance(value, str) else value
        elif isinstance(value, list) and part.isdecimal() and int(part) < len(value):
            value = value[int(part)]
        elif isinstance(value, dict):
            value = value.get(part)
        else:
            return None
    return value


def field(name: str, type_: FieldType, column: Callable[[Any], Column], **more: Any) -> Field:
    more.setdefault("depends", Depends.FIXED)
    more.setdefault("many", False)
    return Field(name=name, type=type_, label=name, help="", column=column, **more)


def payload_field(path: tuple[str, ...]) -> Field:
    name = ".".join(("payload", *path))
    return field(name, FieldType.ANY, lambda a: a.on_demand(name, lambda row: walk(row.get("payload"), path)))


FIELDS: dict[str, Field] = {
    one.name: one
    for one in (
        field("no", FieldType.INTEGER, lambda a: Numbers(np.arange(1, len(a.rows) + 1))),
        field("from", FieldType.STRING, lambda a: a.interned(lambda row: row.get("from"))),
        field("to", FieldType.STRING, lambda a: a.interned_sets("to"), many=True),
        field(
            "kind",
            FieldType.KIND,
            lambda a: a.interned(lambda row: row.get("kind")),
            like_column=lambda a: a.interned(long_kind),
        ),
        field("context", FieldType.CONTEXT, lambda a: a.interned(lambda row: row.get("context")), depends=Depends.TREE),
        field("size", FieldType.INTEGER, lambda a: a.numbers("size", np.int64, NO_NUMBER)),
        field("latency", FieldType.NUMBER, lambda a: a.numbers("latency", np.float64, np.nan), depends=Depends.PASS),
        field("time", FieldType.TIME, lambda a: a.numbers("time", np.int64, NO_NUMBER)),
        field("error", FieldType.BOOLEAN, lambda a: a.flag("error", 4)),
        field(
            "delivered", FieldType.BOOLEAN, lambda a: a.on_demand("delivered", lambda row: row.get("delivered") or None)
        ),
        field("badge", FieldType.STRING, lambda a: a.on_demand("badge", lambda row: row.get("badge", [])), many=True),
        field("text", FieldType.STRING, lambda a: a.on_demand("text", lambda row: row.get("text"))),
    )
}


def compiled(text: str, selected_context: str | None = None) -> DisplayFilter:
    return compile_filter(text, selected_context=selected_context, fields=FIELDS, payload_field=payload_field)


def shown(text: str, rows: Iterable[Row], selected_context: str | None = None) -> list[int]:
    """Which rows the filter under test shows, by index."""
    analysis = analysis_of(rows)
    mask = compiled(text, selected_context).mask(analysis, np.arange(len(analysis.rows)))
    return np.flatnonzero(mask).tolist()


# -- the slow evaluation -----------------------------------------------------------------------------------------------

UNITS = {
    "": 1, "B": 1, "k": 10**3, "kB": 10**3, "M": 10**6, "MB": 10**6, "KiB": 1024, "ms": 1, "s": 1000, "min": 60_000,
}  # fmt: skip


@dataclass(frozen=True)
class Slow:
    """Evaluates an expression on one row."""

    row: Row
    number: int

    def holds(self, expression: Expression | None) -> bool:
        match expression:
            case None:
                return True
            case And():
                return all(self.holds(one) for one in expression.operands)
            case Or():
                return any(self.holds(one) for one in expression.operands)
            case Not():
                return not self.holds(expression.operand)
            case TextSearch():
                return expression.text.lower() in self.row.get("record", b"").decode().lower()
            case Presence():
                return self.values(expression.field.path) != []
            case Membership():
                return any(
                    self.compare(value, "==", self.operand(expression.field.path, one))
                    for value in self.values(expression.field.path)
                    for one in expression.values
                )
            case Comparison(operator="!="):
                return not self.holds(Comparison(expression.field, "==", expression.value))
            case Comparison():
                operand = self.operand(expression.field.path, expression.value)
                if expression.field.path in (("error",), ("delivered",)):
                    return bool(self.row.get(expression.field.path[0])) == operand
                values = self.values(expression.field.path)
                if expression.field.path == ("kind",) and expression.operator == "like":
                    values = self.kind_forms()
                return any(self.compare(value, expression.operator, operand) for value in values)

    def kind_forms(self) -> list[str]:
        parts = [
            part for part in (self.row.get("kind"), self.row.get("method"), self.row.get("target")) if part is not None
        ]
        return (
            [":".join(parts[:count]) for count in range(1, len(parts) + 1)] if self.row.get("kind") is not None else []
        )

    def values(self, path: tuple[str, ...]) -> list[Any]:
        value = walk(self.row.get("payload"), path[1:]) if path[0] == "payload" else self.row.get(path[0])
        if path == ("no",):
            value = self.number
        if value is None or (path in (("error",), ("delivered",)) and not value):
            return []
        if path[0] == "payload" and value == []:
            return [object()]
        return value if isinstance(value, list) else [value]

    def operand(self, path: tuple[str, ...], value: Any) -> Any:
        assert not isinstance(value, Variable)
        if path == ("time",):
            moment = datetime.fromisoformat(value.value)
            moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
            return round(moment.timestamp()) * 10**9
        unit = getattr(value, "unit", "")
        return value.value * UNITS[unit] if unit else value.value

    def compare(self, value: Any, operator: str, operand: Any) -> bool:
        kinds = [type_of(value), type_of(operand)]
        if kinds[0] != kinds[1]:
            return False
        if operator == "like":
            return fnmatch.fnmatchcase(value, operand.replace("[", "[[]"))
        if operator == "under":
            return [*value.split("/")][: len(operand.split("/"))] == operand.split("/")
        if operator in ("below", "above"):
            longer, shorter = (value, operand) if operator == "below" else (operand, value)
            steps = shorter.split("/")
            return longer.split("/")[: len(steps)] == steps and longer != shorter
        if operator == "childof":
            return value.split("/")[:-1] == operand.split("/")
        if operator == "contains":
            return value.find(operand) >= 0
        if operator == "matches":
            return bool(re.search(operand, value))
        if operator == "==":
            return value == operand
        less, equal = value < operand, value == operand
        return {"<": less, "<=": less or equal, ">": not (less or equal), ">=": not less}[operator]


def type_of(value: object) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    return "text" if isinstance(value, str) else "other"
