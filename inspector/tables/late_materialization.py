"""Queries whose answers are decoded last: sorted, filtered and cut down by what is in columns, and then decoded.

SQL has what it selects worked out before it sorts. So of a plain query over one table, what is decoded and does nothing
but stand in the answer is replaced by the number of its row, and whoever takes rows of the answer decodes those. What
is anything else (groups, joins, queries within it, a decoded column that is compared) is left as it is.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from inspector.tables.columns import Table

ROW = "row"
"""What the column with the number of a row is called."""
_LATE_MODIFIERS = ("ORDER_MODIFIER", "LIMIT_MODIFIER")
_EMPTY_IN_PLAIN = ("group_expressions", "group_sets", "having", "sample", "qualify")
_EMPTY_IN_TABLES = ("schema_name", "catalog_name", "sample", "at_clause", "column_name_alias")
_EMPTY_IN_STARS = ("exclude_list", "replace_list", "columns", "expr", "qualified_exclude_list", "rename_list")


@dataclass(frozen=True, slots=True)
class Late:
    """A query without what is decoded.

    Attributes:
        sql: it; in the place of each such column stands the number of the row.
        table: what it is about.
        places: columns of that by their place in the answer.
    """

    sql: str
    table: Table
    places: Mapping[int, str]


def late_form(sql: str, tables: Mapping[str, Table], ask: Callable[[str, str], str]) -> Late | None:
    """A query that is decoded last; None where nothing can be.

    Args:
        sql: the query, which is right.
        tables: by name.
        ask: answers a query that has one parameter and one text for an answer.
    """
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
    decoded = {column.name for column in table.columns if column.decoded}
    places = {
        place: name for place, (item, name) in enumerate(zip(items, plain, strict=True))
        if name in decoded and mentioned is not None and mentioned.isdisjoint({name, item["alias"].lower()})
        and place + 1 not in _sorted_by(node)
    }  # fmt: skip
    if not places or mentioned is None or called.lower() in mentioned:
        return None
    for place, name in places.items():
        items[place] = _reference(called, f"{table.name}__{ROW}", items[place]["alias"] or name)
    node["select_list"] = items
    view = late_view(table)
    node["from_table"] = source | {"table_name": view, "alias": called, "qualified_name": {"path": [view]}}
    return Late(ask("SELECT json_deserialize_sql(?::JSON)", json.dumps(tree)), table, places)


def late_view(table: Table) -> str:
    """What a table is called that has the numbers of its rows, too."""
    return f"{table.name}__late"


def _table_of(node: dict[str, Any], tables: Mapping[str, Table]) -> Table | None:
    """The table a plain query is about; None of any other query."""
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
    """What is selected, each column of a star by itself."""
    for item in items:
        star = item["class"] == "STAR" and not any(item.get(key) for key in _EMPTY_IN_STARS)
        if star and item["relation_name"].lower() in ("", called.lower()):
            yield from (_reference(called, column.name, "") for column in table.columns)
        else:
            yield item


def _reference(called: str, column: str, alias: str) -> dict[str, Any]:
    return {"class": "COLUMN_REF", "type": "COLUMN_REF", "alias": alias, "column_names": [called, column]}


def _plain_column(item: dict[str, Any], table: Table, called: str) -> str | None:
    """The column that something selected is, and nothing more."""
    if item["class"] != "COLUMN_REF":
        return None
    *of, name = (one.lower() for one in item["column_names"])
    known = of in ([], [called.lower()]) and any(column.name == name for column in table.columns)
    return name if known else None


def _mentioned(items: Iterator[dict[str, Any]], node: dict[str, Any]) -> set[str] | None:
    """Names a query mentions beside columns that it selects plainly; None where it may mean any."""
    found = set[str]()
    left: list[Any] = [*items, node["where_clause"], node["modifiers"]]
    while left:
        one = left.pop()
        if isinstance(one, list):
            left += one
        elif isinstance(one, dict):
            if one.get("class") in ("STAR", "SUBQUERY", "POSITIONAL_REFERENCE"):
                return None
            if one.get("class") == "COLUMN_REF":
                found.update(name.lower() for name in one["column_names"])
            left += one.values()
    return found


def _sorted_by(node: dict[str, Any]) -> set[int]:
    """Places in what is selected, from 1, that an answer is sorted by."""
    orders = [order["expression"] for one in node["modifiers"] for order in one.get("orders", ())]
    texts = (one["literal"]["text"] for one in orders if one["class"] == "CONSTANT" and "literal" in one)
    return {int(text) for text in texts if text.isdecimal()}
