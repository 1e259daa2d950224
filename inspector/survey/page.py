"""Generates `docs/survey.md` from the declarations of survey tables.

`python -m inspector.survey.page` writes it to standard output.
"""

from __future__ import annotations

import sys

from inspector.survey.schema import SURVEY_TABLES
from inspector.tables.reference_page import columns_as_markdown

_HEAD = """# Surveys

`context-inspector survey PATH... -o DIR` asks many runs the same questions and writes what they say as Parquet, a file
a table. How to run it on thousands of logs, here or on a cluster: [Scale](scale.md).

- A run is a gateway's log with its decisions, a session with its sub-agents, or any other log. PATH is a log, a folder
  with all below it, a glob, or an address such as `s3://bucket/night`. Below a folder the files named as logs count;
  links and hidden files do not.
- A file of an evaluation, such as Inspect's `.eval` or results of tau-bench, has many runs; each counts, and its path
  is that of the file and its name: `bread.eval/rye-1`. Task, score, success and error are as the evaluation states
  them. The window shows the runs of such a file at once, without a survey, and Return opens one.
- The same command again reads new or changed runs, by size, time and digest, by the program's version and by its
  options; `--anew` reads all. The rows of a deleted log stay.
- An unreadable run is a row of `failures`, and the rest goes on. Ctrl+C keeps the finished runs.
- Numbers are what `summary`, `check` and `waste` say of each log by itself. Tokens are estimates, `usage_*` as
  reported, and `cost` by the prices of `--prices` or of the settings. Secrets are masked.
- `context-inspector DIR` shows the runs in a window: sorted by any figure, filtered by what stands below, with their
  findings and tools, the most frequent first, and how tokens, failures, latency and waste go over time. Return opens a
  run at the message behind the figure: the first failed call, the worst finding, the slowest answer.
  The filter bar completes fields and values, Ctrl+Z brings the filter before back, Alt+Left the runs before with
  the one that was chosen; Copy as SQL gives a condition over the table `runs`. It stands among the recent files, and
  the next start opens it again.
- `check DIR` lists the findings of all runs, `--expect` and `--forbid` hold them to what should be.

DuckDB, Spark and whatever else reads Parquet read the folder:

```sql
SELECT tool, sum(calls), sum(failed) FROM 'DIR/tools.parquet' GROUP BY tool ORDER BY 2 DESC;
```

This page is made of the program's own tables: `python -m inspector.survey.page > docs/survey.md`.
"""


def page() -> str:
    """Returns the page in Markdown, with a final newline."""
    parts = [_HEAD]
    for table in SURVEY_TABLES:
        parts += [f"## {table.name}\n", f"{table.help}\n", columns_as_markdown(table)]
    return "\n".join(parts).rstrip("\n") + "\n"


if __name__ == "__main__":
    sys.stdout.write(page())
