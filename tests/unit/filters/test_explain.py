"""A filter in words."""

from __future__ import annotations

from inspector.filters import explain
from tests.unit.filters.reference import compiled


def test_outline() -> None:
    assert explain(compiled('!error && (context under a || "x") && size in {1, 2k}')).splitlines() == [
        '!error && (context under "a" || "x") && size in {1, 2k}',
        "  all of",
        "    not",
        "      error is present",
        "    any of",
        '      context under "a"',
        '      the text of the message contains "x", letter case aside',
        "    size in {1, 2k}",
        "fields: context, error, size",
        "depends on: fixed, tree",
    ]


def test_the_empty_filter() -> None:
    assert explain(compiled("")) == "everything: the filter is empty"
