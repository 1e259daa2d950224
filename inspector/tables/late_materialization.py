"""Late materialization: sorts, filters and limits a query by its columns first, and decodes the rest afterwards.

SQL computes selected values before it sorts. So in a plain query over one table, decoded columns that only appear in
the result are replaced by the row number, and fetched rows are decoded later. All other queries (groups, joins,
subqueries, a decoded column in a comparison) stay unchanged.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from inspector.tables.columns import Table

ROW_COLUMN = "row"
"""Name of the column with the row number."""
_LATE_MODIFIERS = ("ORDER_MODIFIER", "LIMIT_MODIFIER")
# Allowed are only shapes that are known: an unknown clause could use a value before it is decoded.
_EMPTY_IN_PLAIN = ("group_expressions", "group_sets", "having", "sample", "qualify")
_EMPTY_IN_TABLES = ("schema_name", "catalog_name", "sample", "at_clause", "column_name_alias")
_EMPTY_IN_STARS = ("exclude_list", "replace_list", "columns", "expr", "qualified_exclude_list", "rename_list")


@dataclass(frozen=True, slots=True)
class LateQuery:
    """A query without its decoded columns.

    Attributes:
        sql: the query, with the row number in place of each such column.
        table: its table.
        places: decoded columns by position in the result.
    """

    sql: str
    table: Table
    places: Mapping[int, str]


def late_form(sql: str, tables: Mapping[str, Table], ask: Callable[[str, str], str]) -> LateQuery | None:
    """Returns the late form of a query, if any.

    Args:
        sql: a valid query.
        tables: by name.
        ask: runs a query with one parameter and one text as result.
    """
    # DuckDB's own syntax tree is used, so that no second parser is needed.
    tree = json.loads(ask("SELECT json_serialize_sql(?)", sql))
    node = tree["statements"][0]["node"] if not tree["error"] and len(tree["statements"]) == 1 else {}
    table = _table_of(node, tables)
    if table is None:
        return None
    source = node["from_table"]
    called = source["alias"] or table.name
    items = list(_expanded(node["select_list"], table, called))
    plain = [_plain_column(item, table, called) for item in items]
    mentioned = _mentioned((item for item, name in zip(items, plain, strict=True) if name is None), node)
    decoded = {column.name for column in table.columns if column.is_decoded}
    places = {
        place: name for place, (item, name) in enumerate(zip(items, plain, strict=True))
        if name in decoded and mentioned is not None and mentioned.isdisjoint({name, item["alias"].lower()})
        # Sorting by position needs the value itself.
        and place + 1 not in _sorted_by(node)
    }  # fmt: skip
    if not places or mentioned is None or called.lower() in mentioned:
        return None
    for place, name in places.items():
        # The row number takes the place of the value, which is decoded for the shown rows only.
        items[place] = _reference(called, f"{table.name}__{ROW_COLUMN}", items[place]["alias"] or name)
    node["select_list"] = items
    view = late_view(table)
    node["from_table"] = source | {"table_name": view, "alias": called, "qualified_name": {"path": [view]}}
    return LateQuery(ask("SELECT json_deserialize_sql(?::JSON)", json.dumps(tree)), table, places)


def late_view(table: Table) -> str:
    """Returns the name of a table's view with row numbers."""
    return f"{table.name}__late"


def _table_of(node: dict[str, Any], tables: Mapping[str, Table]) -> Table | None:
    """Returns the table of a plain query; None for other queries."""
    source = node.get("from_table") or {}
    plain = (
        node.get("type") == "SELECT_NODE" and not node["cte_map"]["map"]
        and not any(node.get(key) for key in _EMPTY_IN_PLAIN)
        and node.get("aggregate_handling") == "STANDARD_HANDLING"
        and all(one["type"] in _LATE_MODIFIERS for one in node["modifiers"])
        and source.get("type") == "BASE_TABLE" and not any(source.get(key) for key in _EMPTY_IN_TABLES)
    )  # fmt: skip
    return tables.get(source["table_name"].lower()) if plain else None


def _expanded(items: list[dict[str, Any]], table: Table, called: str) -> Iterator[dict[str, Any]]:
    """Yields the selected items, with a star expanded to columns."""
    for item in items:
        star = item["class"] == "STAR" and not any(item.get(key) for key in _EMPTY_IN_STARS)
        if star and item["relation_name"].lower() in ("", called.lower()):
            yield from (_reference(called, column.name, "") for column in table.columns)
        else:
            yield item


def _reference(called: str, column: str, alias: str) -> dict[str, Any]:
    return {"class": "COLUMN_REF", "type": "COLUMN_REF", "alias": alias, "column_names": [called, column]}


def _plain_column(item: dict[str, Any], table: Table, called: str) -> str | None:
    """Returns the column if the selected item is a plain column reference."""
    if item["class"] != "COLUMN_REF":
        return None
    *of, name = (one.lower() for one in item["column_names"])
    known = of in ([], [called.lower()]) and any(column.name == name for column in table.columns)
    return name if known else None


def _mentioned(items: Iterator[dict[str, Any]], node: dict[str, Any]) -> set[str] | None:
    """Returns names that a query uses beyond plain selected columns; None if it may use any."""
    found = set[str]()
    left: list[Any] = [*items, node["where_clause"], node["modifiers"]]
    while left:
        one = left.pop()
        if isinstance(one, list):
            left += one
        elif isinstance(one, dict):
            # These may use any column without a name.
            if one.get("class") in ("STAR", "SUBQUERY", "POSITIONAL_REFERENCE"):
                return None
            if one.get("class") == "COLUMN_REF":
                found.update(name.lower() for name in one["column_names"])
            left += one.values()
    return found


def _sorted_by(node: dict[str, Any]) -> set[int]:
    """Returns 1-based positions of selected items that the result is sorted by."""
    orders = [order["expression"] for one in node["modifiers"] for order in one.get("orders", ())]
    texts = (one["literal"]["text"] for one in orders if one["class"] == "CONSTANT" and "literal" in one)
    return {int(text) for text in texts if text.isdecimal()}
