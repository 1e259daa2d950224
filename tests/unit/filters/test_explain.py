"""A filter in words."""

from __future__ import annotations

from inspector.filters import compile_filter, explain


def test_the_typed_and_compiled_form() -> None:
    assert explain(compile_filter('!error && (context under a || "x") && size in {1, 2k} && summary')).splitlines() == [
        '!error && (context under "a" || "x") && size in {1, 2k} && summary',
        "  all of",
        "    not",
        "      error (yes or no) is present                             [column]",
        "    any of",
        '      context (context path) under "a"                         [column]',
        '      the text of the message contains "x", letter case aside  [full text]',
        "    size (whole number) in {1, 2000}                           [column]",
        "    summary (text) is present                                  [decodes]",
        "fields: context, error, size, summary",
        "the answer for a message can change with: a later message, a move in the context tree",
        "column: looked up in arrays, for all messages at once",
        "decodes: reads records again, after all columns, if they are still undecided",
        "full text: searches the bytes of records last, if they are still undecided",
    ]


def test_values_are_in_the_type_of_their_field() -> None:
    text = 'time > "2026-01-02T03:04:05Z" && latency < 1.5s && to != lead && finding.severity >= warning'
    lines = [line.partition("  [")[0].strip() for line in explain(compile_filter(text)).splitlines()]
    assert lines[2:6] == [
        "time (time) > 2026-01-02T03:04:05.000Z",
        "latency (number) < 1500",
        'not to (any of several: text) == "lead", so also where it is absent',
        'finding.severity (severity) >= "warning"',
    ]


def test_what_stays_says_so() -> None:
    assert "can change with: nothing, it stays" in explain(compile_filter("size > 1"))


def test_the_empty_filter() -> None:
    assert explain(compile_filter("")) == "everything: the filter is empty"
