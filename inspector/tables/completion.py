"""Completes SQL queries: tables after FROM or JOIN, else columns of the query's tables, keywords and functions."""

from __future__ import annotations

import re

from inspector.filters.completion import MAX_CANDIDATES, Candidate, Completion
from inspector.tables.columns import Table
from inspector.tables.schema import PAYLOAD, TABLE_BY_NAME, TABLES

_WORD = re.compile(r'"?[\w]*$')
_STRING = re.compile(r"'(?:[^']|'')*")
_NAMES_TABLE = re.compile(r"\b(?:from|join)\s+(?:[\w\s,]+,\s*)?$", re.IGNORECASE)
_RESERVED = frozenset(("from", "to"))
_WORDS = (
    "SELECT", "FROM", "WHERE", "GROUP BY", "ORDER BY", "HAVING", "LIMIT", "JOIN", "LEFT JOIN", "USING", "ON", "AS",
    "AND", "OR", "NOT", "IN", "IS NULL", "IS NOT NULL", "LIKE", "BETWEEN", "DISTINCT", "DESC", "CASE WHEN", "WITH",
)  # fmt: skip
_FUNCTIONS = (
    ("count(*)", "how many rows"), ("count(DISTINCT ", "how many different values"), ("sum(", "the sum"),
    ("avg(", "the mean"), ("min(", "the least"), ("max(", "the greatest"), ("median(", "the middle one"),
    ("quantile_cont(", "a quantile, as quantile_cont(latency, 0.95)"), ("date_trunc('minute', ", "times by the minute"),
    ("contains(", "tests if a text contains another"), ("list_contains(", "tests if a list contains a value"),
    ("unnest(", "a row for each element of a list"), ("epoch_ms(", "a time as milliseconds"),
    (f"{PAYLOAD}(no)", "the payload of a message, as JSON"),
)  # fmt: skip


def complete_query(sql: str, cursor: int) -> Completion:
    """Returns the candidates at a position of a query.

    Args:
        sql: the query.
        cursor: the position in characters.
    """
    before = sql[:cursor]
    # An odd number of quotation marks means an open string.
    if len(re.findall("'", _STRING.sub("", before))) % 2 or before.count("'") % 2:
        return Completion(cursor, cursor)  # within a string
    word = _WORD.search(before)
    start = word.start() if word is not None else cursor
    begun = before[start:].lstrip('"').lower()
    # Completing within a word replaces all of it.
    rest = re.match(r'\w*"?', sql[cursor:])
    stop = cursor + (rest.end() if rest is not None else 0)
    if _NAMES_TABLE.search(before[:start]):
        return Completion(start, stop, "word", _matching(_tables(), begun))
    qualified = re.search(r"(\w+)\.$", before[:start])
    tables = _tables_in(sql)
    if qualified is not None:
        named = TABLE_BY_NAME.get(_table_of_alias(sql, qualified[1]).lower())
        return Completion(start, stop, "value", _matching(_columns([named] if named else tables), begun))
    # Right after a closing bracket or a star no name can follow.
    if not begun and before.strip() and not before[-1:].isspace() and before[-1:] not in "(,=<>":
        return Completion(cursor, cursor)
    offered = [*_columns(tables), *(Candidate(text, text, words) for text, words in _FUNCTIONS)]
    offered += [Candidate(word, word) for word in _WORDS]
    return Completion(start, stop, "value", _matching(offered, begun))


def _tables() -> list[Candidate]:
    return [Candidate(table.name, table.name, table.help) for table in TABLES]


def _columns(tables: list[Table]) -> list[Candidate]:
    found: dict[str, Candidate] = {}
    for table in tables:
        for column in table.columns:
            # A reserved word is a column's name only in quotation marks.
            written = f'"{column.name}"' if column.name in _RESERVED else column.name
            found.setdefault(column.name, Candidate(written, column.name, column.help))
    return list(found.values())


def _tables_in(sql: str) -> list[Table]:
    """Returns the tables of a query; `messages` before it names one."""
    words = {word.lower() for word in re.findall(r"\w+", _STRING.sub("", sql))}
    return [table for table in TABLES if table.name in words] or [TABLE_BY_NAME["messages"]]


def _table_of_alias(sql: str, name: str) -> str:
    """Returns the table behind an alias."""
    found = re.search(rf"\b(\w+)\s+(?:as\s+)?{re.escape(name)}\b", sql, re.IGNORECASE)
    return found[1] if found is not None and found[1].lower() in TABLE_BY_NAME else name


def _matching(candidates: list[Candidate], begun: str) -> list[Candidate]:
    """Returns candidates with the written prefix, then candidates that contain it."""
    first = [one for one in candidates if one.label.lower().startswith(begun)]
    inside = [one for one in candidates if one not in first and begun in one.label.lower()] if begun else []
    found = first + inside
    return found[:MAX_CANDIDATES] if [one.label.lower() for one in found] != [begun] else []
