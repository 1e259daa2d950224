"""What each operator shows on each type, and how masks behave as rows are chosen and appended."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest

from inspector.analysis.arrays.field_columns import Interned
from inspector.filters import compile_filter, parse
from inspector.filters.field import Depends
from inspector.filters.fields import FIELD_BY_NAME
from tests.unit.filters.reference import FIELDS, Slow, analysis_of, compiled, field, payload_field, shown


def at(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * 10**9


TOLD = '{"ok": [1, {"deep": "{\\"x\\": 2}"}]}'
ROWS = [
    {
        "from": "lead", "to": ["fs", "web"], "kind": "mcp/request", "method": "tools/call", "target": "read_file",
        "context": "why", "size": 100, "time": at("2026-01-05T09:00:00"), "text": "the config is YAML",
        "payload": {"id": 7, "a": [{"odd key": "x"}], "ok": True, "0": "zero"}, "record": b'{"text":"caf\\u00e9"}',
    },
    {
        "from": "fs", "to": ["lead"], "kind": "mcp/response", "method": "tools/call", "target": "read_file",
        "context": "why/fs", "size": 14200, "latency": 412.5, "time": at("2026-01-05T09:00:01"), "error": True,
        "badge": ["transient", "collapsed"], "payload": {"id": "7", "n": 1.5, "list": ["a", "b"], "none": None,
            "told": TOLD},
        "record": '{"text":"Grüße"}'.encode(),
    },
    {
        "from": "lead", "kind": "reasoning/thought", "context": "why/fs/deep", "size": 3, "latency": 2000.0,
        "text": "line\nbreak", "delivered": True, "payload": {"empty": [], "ok": False},
    },
    {"kind": "mcp/request", "method": "resources/read", "target": "file:///a:b", "context": "whyever", "payload": {}},
    {"from": "", "kind": "chat", "badge": []},
]  # fmt: skip

CASES = [
    ("", [0, 1, 2, 3, 4]),
    ("   ", [0, 1, 2, 3, 4]),
    # presence; the empty string is a value, an empty list is not
    ("from", [0, 1, 2, 4]),
    ("!from", [3]),
    ("to", [0, 1]),
    ("badge", [1]),
    ("error", [1]),
    ("delivered", [2]),
    ("latency", [1, 2]),
    ("time", [0, 1]),
    ("!context", [4]),
    ("text", [0, 2]),
    # equality, and != as its opposite, absent values included
    ('from == "lead"', [0, 2]),
    ("from eq lead", [0, 2]),
    ('from == ""', [4]),
    ("from != lead", [1, 3, 4]),
    ("from ne lead", [1, 3, 4]),
    ("!from == lead", [1, 3, 4]),
    ("from in {lead, fs}", [0, 1, 2]),
    ("kind == mcp/request", [0, 3]),
    # lists: any element
    ("to == web", [0]),
    ("to != web", [1, 2, 3, 4]),
    ("to contains ea", [1]),
    ("to in {web, lead}", [0, 1]),
    ('to matches "^f"', [0]),
    ("badge == collapsed", [1]),
    ("badge != transient", [0, 2, 3, 4]),
    # numbers and their units
    ("no == 2", [1]),
    ("no in {1, 3}", [0, 2]),
    ("size > 100", [1]),
    ("size >= 100", [0, 1]),
    ("size < 0.1k", [2]),
    ("size <= 99.5", [2]),
    ("size == 14.2kB", [1]),
    ("size != 3", [0, 1, 3, 4]),
    ("size == 100.0", [0]),
    ("size == 100.5", []),
    ("size > 99.5", [0, 1]),
    ("size < 99999999999999999999999999999", [0, 1, 2]),
    ("size > -99999999999999999999999999999", [0, 1, 2]),
    ("latency > 1s", [2]),
    ("latency lt 412.6ms", [1]),
    ("latency == 2000", [2]),
    ("latency in {412.5, 7}", [1]),
    # times as instants
    ('time == "2026-01-05T09:00:00Z"', [0]),
    ('time > "2026-01-05 09:00:00"', [1]),
    ('time <= "2026-01-05T10:00:01+01:00"', [0, 1]),
    ("time >= 2026-01-06", []),
    ("time != 2026-01-06", [0, 1, 2, 3, 4]),
    # booleans are present only when true
    ("error == true", [1]),
    ("error == false", [0, 2, 3, 4]),
    ("error != true", [0, 2, 3, 4]),
    ("error != false", [1]),
    ("delivered == true", [2]),
    # text
    ("text contains YAML", [0]),
    ("text contains yaml", []),
    (r'text contains "line\nbreak"', [2]),
    (r'text matches "(?i)\byaml$"', [0]),
    ('text like "the*"', [0]),
    ('text like "he*"', []),
    ('from like "l??d"', [0, 2]),
    ('from like "[l]ead"', []),
    # kinds follow capability rules, docs/protocols.md 12
    ('kind like "mcp/*"', [0, 1, 3]),
    ('kind like "mcp/request:tools/call:read_*"', [0]),
    ('kind like "mcp/request:tools/call"', [0]),
    ('kind like "mcp/request"', [0, 3]),
    ('kind like "mcp/request:*/read"', [3]),
    ('kind like "mcp/request:resources/read:file"', []),
    ('kind like "mcp/request:resources/read:file:///a:b"', [3]),
    ('kind like "mcp/req*:tool*"', [0]),
    ('kind like "chat"', [4]),
    ('kind like "cha"', []),
    # contexts, docs/protocols.md 6
    ("context under why", [0, 1, 2]),
    ('context under "why/fs"', [1, 2]),
    ('context under "/why//fs/"', [1, 2]),
    ("context childof why", [1]),
    ("context childof why/fs", [2]),
    ("context below why", [1, 2]),
    ('context below "why/fs"', [2]),
    ("context below wh", []),
    ("context above why", []),
    ('context above "why/fs"', [0]),
    ('context above "/why/fs//deep/"', [0, 1]),
    ('context above "whyever/fs"', [3]),
    ('context above "whyeverything/fs"', []),
    ('context above "why/fs/deep/no/message"', [0, 1, 2]),
    ("context under nowhere", []),
    ("context == why", [0]),
    # payload: typed by each value
    ("payload.id == 7", [0]),
    ('payload.id == "7"', [1]),
    ("payload.id in {7, seven}", [0]),
    ("payload.n > 1", [1]),
    ("payload.ok", [0, 2]),
    ("payload.ok == true", [0]),
    ("payload.ok == 1", []),
    ("payload.ok == false", [2]),
    ('payload.a.0."odd key" == x', [0]),
    ("payload.a.0.'odd key' contains x", [0]),
    ("payload.a.b", []),
    ("payload.a.5", []),
    ("payload.id.deeper", []),
    ("payload.0 == zero", [0]),
    ("payload.a", [0]),
    ("payload.a == x", []),
    ("payload.list == b", [1]),
    ("payload.list.1 == b", [1]),
    ("payload.empty", [2]),
    ("payload.none", []),
    ('payload.id >= "6"', [1]),
    # texts of a payload that hold JSON
    ("json(payload.told)", [1]),
    ("json(payload.told).ok", [1]),
    ("json(payload.told).ok.0 == 1", [1]),
    ("json(payload.told).ok == 1", [1]),
    ("json(json(payload.told).ok.1.deep).x > 1", [1]),
    ('json(json(payload.told).ok.1."deep").x == "2"', []),
    ("json(payload.id) == 7", [0, 1]),
    ("json(payload.list.0)", []),
    ("json(payload.a).0.'odd key' == x", [0]),
    ("!json(payload.told)", [0, 2, 3, 4]),
    # the whole record, case aside, JSON escapes resolved
    ('"CAFÉ"', [0]),
    ('"grüsse"', [1]),
    ('"TEXT\\":"', [0, 1]),
    ('""', [0, 1, 2, 3, 4]),
    # logic and precedence
    ("from == lead && size > 50", [0]),
    ("from == lead and not size > 50", [2]),
    ("error || delivered or kind == chat", [1, 2, 4]),
    ("error && delivered || kind == chat", [4]),
    ("error && (delivered || kind == mcp/response)", [1]),
    ("!(error || delivered)", [0, 3, 4]),
    ("!!error", [1]),
    ("payload.n && !error", []),
]


@pytest.mark.parametrize(("text", "expected"), CASES, ids=[text or "empty" for text, _ in CASES])
def test_shows(text: str, expected: list[int]) -> None:
    assert shown(text, ROWS) == expected


@pytest.mark.parametrize("text", [text for text, _ in CASES if '"' not in text])
def test_agrees_with_the_slow_evaluation(text: str) -> None:
    expression = parse(text)
    assert shown(text, ROWS) == [number for number, row in enumerate(ROWS) if Slow(row, number + 1).holds(expression)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("context under $context", [1, 2]),
        ("context childof $context", [2]),
        ("context == $context", [1]),
        ("context in {$context, why}", [0, 1]),
    ],
)
def test_selected_context_is_a_literal_path(text: str, expected: list[int]) -> None:
    assert shown(text, ROWS, selected_context="why/fs") == expected


@pytest.mark.parametrize("rows", [[], [3], [1, 2], [4, 0, 2], [2, 2, 1], list(range(5))], ids=str)
@pytest.mark.parametrize("text", ["from == lead", "size > 50", "error", "badge", "payload.ok && !error", "to == web"])
def test_any_rows_give_the_full_mask_at_those_rows(text: str, rows: list[int]) -> None:
    analysis, chosen = analysis_of(ROWS), compiled(text)
    full = chosen.mask(analysis, np.arange(5))
    assert chosen.mask(analysis, np.array(rows, np.int64)).tolist() == full[rows].tolist()


def test_strings_seen_later_are_evaluated_when_they_come() -> None:
    analysis, chosen = analysis_of(ROWS[:2]), compiled('from matches "^(le|ne)"')
    assert chosen.mask(analysis, np.arange(2)).tolist() == [True, False]
    analysis.append({"from": "new"}, {"from": "other"}, {"from": "lead"})
    assert chosen.mask(analysis, np.arange(5)).tolist() == [True, False, True, False, True]


def test_each_distinct_string_is_evaluated_once() -> None:
    looked_up: list[int] = []

    class Watched(list[str]):
        def __getitem__(self, at):  # type: ignore[no-untyped-def,override]
            looked_up.append(at)
            return super().__getitem__(at)

    table = Watched(["", "a", "never", "b"])
    fields = {"from": field("from", FIELDS["from"].type, lambda _: Interned(np.array([1, 3, 1, 0, 3]), table))}
    chosen = compile_filter("from contains a", fields=fields, payload_field=payload_field)
    for _ in range(3):
        assert chosen.mask(analysis_of(), np.arange(5)).tolist() == [True, False, True, False, False]
    assert looked_up == [1, 3]


@pytest.mark.parametrize("same_object", [True, False], ids=["another generation", "another table"])
def test_a_table_that_changed_is_evaluated_again(same_object: bool) -> None:
    table, generation = ["", "a/b"], 0
    fields = {"context": field("context", FIELDS["context"].type, lambda _: Interned(np.array([1]), table, generation))}
    chosen = compile_filter("context under x", fields=fields, payload_field=payload_field)
    assert chosen.mask(analysis_of(), np.arange(1)).tolist() == [False]
    if same_object:
        table[1], generation = "x/a/b", 1
    else:
        table = ["", "x/a/b"]
    assert chosen.mask(analysis_of(), np.arange(1)).tolist() == [True]


@pytest.mark.parametrize(
    ("text", "decoded"),
    [
        ("text contains a && from == lead", [0, 2]),
        ("from == lead && text contains a", [0, 2]),
        ("text contains a || from == lead", [1, 3, 4]),
        ("from == nobody && text contains a", []),
        ("!(text contains a) && (kind == chat || kind == mcp/request)", [0, 3, 4]),
    ],
)
def test_dear_terms_see_only_undecided_rows(text: str, decoded: list[int]) -> None:
    analysis = analysis_of(ROWS)
    compiled(text).mask(analysis, np.arange(5))
    assert [message for _, message in analysis.decoded] == decoded


@pytest.mark.parametrize(
    ("text", "fields", "depends"),
    [
        ("", set(), set()),
        ('"any text"', set(), {Depends.PASS}),
        ("from == a && latency > 5", {"from", "latency"}, {Depends.FIXED, Depends.PASS}),
        ("!context", {"context"}, {Depends.TREE}),
        ("kind == chat", {"kind"}, {Depends.FIXED}),
        ('kind like "mcp/*"', {"kind"}, {Depends.PASS}),
        ("payload.a.b", {"payload.a.b"}, {Depends.FIXED}),
    ],
)
def test_says_what_it_reads_and_depends_on(text: str, fields: set[str], depends: set[Depends]) -> None:
    chosen = compiled(text)
    assert (chosen.fields, chosen.depends) == (fields, depends)


def test_globs_do_not_backtrack() -> None:
    assert shown(f'text like "{"*a" * 60}b"', [{"text": "a" * 5000}]) == []


@pytest.mark.parametrize(
    "text",
    [
        '!context || context.type == "reasoning"',
        'context && kind == "reasoning/conclusion"',
        "context.depth == 1",
        "context under $context",
        "context childof $context",
        'kind like "mcp/*"',
        "proposal.state == open",
        "badge",
        "error",
        'payload.a.0."odd key" == 1',
    ],
)
def test_presets_fit_the_declared_fields(text: str) -> None:
    chosen = compile_filter(text, selected_context="why/fs")
    assert {name.partition(".")[0] for name in chosen.fields} <= {
        "payload",
        *(f.partition(".")[0] for f in FIELD_BY_NAME),
    }
