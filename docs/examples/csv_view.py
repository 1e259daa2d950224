"""Example of a plug-in: a payload view that shows comma-separated values in a message's text as a table.

Copy this file into the folder `plugins/` of your settings and switch it on.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence

from inspector.plugin import Facts, Message, Part, PayloadView, Table, require_api

__version__ = "1.0"
require_api(1)

MAX_COLUMNS, MAX_ROWS = 50, 1_000
"""Bounds of a table (docs/plug-ins.md)."""


def build(message: Message) -> Sequence[Part]:
    """Returns a table if the text has at least two lines of as many values each."""
    try:
        rows = [row for row in csv.reader(message.text.splitlines()) if row]
    except csv.Error:  # an error that leaves this function switches the view off
        return ()
    if len(rows) < 2 or not 2 <= len(rows[0]) <= MAX_COLUMNS or len({len(row) for row in rows}) > 1:
        return ()
    return [Facts([("Rows", f"{len(rows) - 1}")]), Table(columns=rows[0], rows=rows[1 : 1 + MAX_ROWS])]


PAYLOAD_VIEWS = [PayloadView(name="csv", title="Comma-separated values", build=build, kinds=("chat",))]
