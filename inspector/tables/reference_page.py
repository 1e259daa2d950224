"""Generates the reference page `docs/tables.md` from the table declarations.

`python -m inspector.tables.reference_page` writes it to standard output. Every example is planned; an invalid one
raises an error.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

from inspector.tables.columns import SqlType, TableColumn, TableShape
from inspector.tables.database import Database
from inspector.tables.schema import TABLES

_HEAD = """# Tables for SQL

`context-inspector query FILE... 'SELECT ...'` and the Query panel (Analyze > Query in SQL) answer questions in SQL
about the open logs, in the dialect of DuckDB and with the tables below. Several files are one document; `source` names
the file of a message.

- One SELECT at a time. Nothing is written, and SQL reaches nothing but these tables: files, extensions, settings and
  the network are closed to it.
- A column is called as the field of filters, with dots as underscores. `from` and `to` are words of SQL: in double
  quotes, as `"from"`.
- What has no value is NULL, an empty list too. Times are UTC, to the nanosecond. `error` and the like are true or NULL.
- Columns marked *from records* are read from the log for the rows that get so far: put other conditions beside theirs.
- `payload(no)` is the payload of a message as JSON: `payload(no)->>'$.params.name'`.
- Secrets are masked before SQL sees them. A message above 1 MB is read by its head.
- Errors name their place. `explain-filter FILTER --sql` writes a filter as a condition for `messages`,
  and so does *Copy as SQL* in the menu of the filter bar.

This page is made of the program's own tables: `python -m inspector.tables.reference_page > docs/tables.md`.
"""

_EXAMPLES: tuple[tuple[str, str], ...] = (
    ("calls, failures and how long they take, by tool",
     "SELECT tool, count(*) AS calls, count(failed) AS failed, quantile_cont(latency, 0.95) AS p95\n"
     "FROM tool_calls GROUP BY tool ORDER BY calls DESC"),
    ("reported tokens by model and minute",
     "SELECT model, date_trunc('minute', time) AS minute, sum(usage_input), sum(usage_output)\n"
     "FROM tokens WHERE model IS NOT NULL GROUP BY ALL ORDER BY minute"),
    ("who waits for whom",
     'SELECT waits, waits_for, count(*)\n'
     'FROM (SELECT "from" AS waits, unnest("to") AS waits_for FROM messages WHERE waiting = \'answer\')\n'
     "GROUP BY ALL ORDER BY 3 DESC"),
    ("the largest contexts, with their problems",
     "SELECT path, subtree_messages, count(code) AS findings\n"
     "FROM contexts LEFT JOIN findings ON context = path GROUP BY ALL ORDER BY 2 DESC LIMIT 20"),
    ("paths of files that were read more than once",
     "SELECT arguments->>'path' AS path, count(*) AS times\n"
     "FROM tool_calls WHERE tool = 'read_file' GROUP BY 1 HAVING times > 1 ORDER BY 2 DESC"),
)  # fmt: skip

_TYPES = {
    SqlType.SEVERITY: "an ENUM: 'note', 'warning', 'error', in this order",
    SqlType.TIME: "a time in UTC",
}


def render_page() -> str:
    """Returns the page in Markdown, with a final line end.

    Raises:
        QueryError: if an example is invalid.
    """
    parts = [_HEAD, "## Examples\n", *_examples()]
    parts += ["## Types\n", *(f"- `{type_.value}`: {words}\n" for type_, words in _TYPES.items())]
    for table in TABLES:
        parts += [f"## {table.name}\n", f"{table.help}\n", columns_as_markdown(table)]
    return "\n".join(parts).rstrip("\n") + "\n"


def _examples() -> Iterable[str]:
    database = Database()
    for meaning, sql in _EXAMPLES:
        # Each example is checked, so that the page shows no invalid query.
        database.plan_inputs(sql)
        yield f"{meaning[0].upper()}{meaning[1:]}:\n\n```sql\n{sql};\n```\n"
    database.close()


def columns_as_markdown(table: TableShape) -> str:
    """Returns the columns of a table as a Markdown table."""
    lines = [("column", "type", "what it is"), ("---",) * 3, *map(_column, table.columns)]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)


def _column(column: TableColumn) -> tuple[str, str, str]:
    return f"`{column.name}`", f"`{column.type.value}`", column.help + (" From records." if column.is_decoded else "")


if __name__ == "__main__":
    sys.stdout.write(render_page())
