"""Faults of declarations: line, column and reason."""

from __future__ import annotations

import pytest

from inspector.formats.declared.declaration import DeclarationError, parse_declaration
from inspector.formats.declared.line_pattern import LinePattern, PatternError
from inspector.formats.declared.record_paths import parse_path, path_text, value_at
from inspector.formats.declared.toml_places import TomlPlaces
from inspector.protocol.header import ABSENT
from tests.unit.formats.declared.samples import ROBOT, STEPS, TEXT


def faults_of(text: str) -> list[str]:
    with pytest.raises(DeclarationError) as caught:
        parse_declaration(text)
    return [str(fault) for fault in caught.value.faults]


@pytest.mark.parametrize("text", [ROBOT, STEPS, TEXT])
def test_samples_have_no_fault(text: str) -> None:
    parse_declaration(text)


def test_each_fault_has_its_line_and_column() -> None:
    text = """\
name = "My Robot"
title = 1
[fields]
id = "a..b"
sender = ["a", 3]
  foo = 1
time_unit = "h"
[lines]
form = "regex"
[kind]
values = { a = "answer", b = ["prompt", "nope"] }
[usagee]
"""
    found = faults_of(text)
    assert [fault.partition(":")[0] for fault in found] == [
        "line 1, column 8", "line 2, column 9", "line 4, column 6", "line 5, column 10", "line 6, column 3",
        "line 7, column 13", "line 8, column 1", "line 11, column 30", "line 12, column 1",
    ]  # fmt: skip
    assert "lower-case letters, digits and hyphens" in found[0]
    assert "message.parts.0" in found[2]
    assert "fields.foo is no key of a declaration; there are id, time, time_unit" in found[4]
    assert "'iso', 's', 'ms', 'us' or 'ns'" in found[5]
    assert "nope is no event: prompt, answer" in found[7]
    assert "there are name, title, traffic, lines" in found[8]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('name = "a"\ntitle = [1,\n', "line 3, column 1: no TOML: Invalid value"),
        ('name = "a\ntitle = "b"', "line 1, column 10: no TOML: Illegal character '\\n'"),
        ("", "line 1, column 1: name is missing"),
        ('name = "codex"\ntitle = "x"', "line 1, column 8: name: codex is the name of a built-in format"),
        (
            'name = "a"\ntitle = "x"\n[lines]\nform = "regex"\nregex = "(?=a)"',
            "line 5, column 9: lines.regex: RE2 does not take the expression: invalid perl operator: (?=",
        ),
        (
            'name = "a"\ntitle = "x"\n[lines]\nform = "regex"\nregex = "a"',
            "line 5, column 9: lines.regex: the expression has no named group, such as (?P<text>.*)",
        ),
        (
            'name = "a"\ntitle = "x"\n[lines]\nform = "regex"\nregex = "(?P<a>.)"\npath = "a"',
            'line 6, column 8: lines.path: the form "regex" has no path',
        ),
        (
            'name = "a"\ntitle = "x"\n[match]\nvalues = { kind = [[1]] }',
            "line 4, column 10: match.values: kind has to be a text, a number, or an array of these",
        ),
        ("a = " + "[" * 5_000, "line 1, column 1: no TOML: too deeply nested"),
        ("\n[" + ".".join("a" * 50_000) + "]", "line 2, column 2: no TOML: more than 100 names are joined by dots"),
        (
            "a=1\n" + " . ".join(['"b"'] * 20_000) + "=1",
            "line 2, column 1: no TOML: more than 100 names are joined by dots",
        ),
        (
            "a=1\n" + ".".join(['"\\""'] * 20_000) + "=1",
            "line 2, column 1: no TOML: more than 100 names are joined by dots",
        ),
        (
            "a={" + ".".join(['"\\\\"', "'\\'", '"\\\\\\"."'] * 100) + "=1}",
            "line 1, column 4: no TOML: more than 100 names are joined by dots",
        ),
        ('name = "a"\ntitle = "x\u202ey"', "line 2, column 9: title: U+202E is no printed character"),
        (
            'name = "a"\ntitle = "x"\n[participants]\nagent = "\\u001b[2J"',
            "line 4, column 9: participants.agent: U+001B is no printed character",
        ),
        ("a = " + "1" * 5_000, "line 1, column 1: no TOML: Exceeds the limit (4300 digits)"),
    ],
)
def test_a_fault_says_what_to_write(text: str, fault: str) -> None:
    assert faults_of(text)[0].startswith(fault)


@pytest.mark.parametrize(
    ("lines", "faults"),
    [
        ("fields = 3", ["line 3, column 10: fields has to be a table"]),
        ("[[fields]]", ["line 3, column 1: fields has to be a table"]),
        ("kind = { values = 3 }", ["line 3, column 19: kind.values has to be a table"]),
        ("kind = { other = [[1]] }", ["line 3, column 18: kind.other: [1] is no event: prompt, answer"]),
        ("result = { error_values = 3 }", ["line 3, column 27: result.error_values has to be an array"]),
        (
            "result = { error_values = [1, [2]] }",
            ["line 3, column 31: result.error_values.1 has to be a text, a number, or true or false"],
        ),
        ('usage = { input_has_cache = "x" }', ["line 3, column 29: usage.input_has_cache has to be true or false"]),
        ("participants = { user = 3 }", ["line 3, column 25: participants.user has to be a text"]),
    ],
)
def test_a_value_of_a_wrong_type_is_told_in_words_of_toml(lines: str, faults: list[str]) -> None:
    found = faults_of(f'name = "a"\ntitle = "x"\n{lines}')
    assert len(found) == len(faults)
    assert all(one.startswith(fault) for one, fault in zip(found, faults, strict=True))


def test_a_title_of_a_wrong_length_is_told() -> None:
    assert faults_of('name = "a"\ntitle = ""') == ["line 2, column 9: title has to be a text of at least 1 character"]
    long = faults_of(f'name = "a"\ntitle = "{"x" * 81}"')
    assert long == ["line 2, column 9: title has to be a text of at most 80 characters"]


def test_places_are_found_in_all_forms_of_toml() -> None:
    text = """\
# [not.a.table]
a."b.c" = [ # first
  1,
  { d = '''x
[no]''' , e = 2 },
]
[[t.u]]
k = "#"
[[t.u]]
k = 1979-05-27 07:32:00
[t.u.v]
w = \"\"\"two
lines\"\"\"
"""
    places = TomlPlaces(text)
    assert places.key_place(("a", "b.c")) == (2, 1)
    assert places.value_place(("a", "b.c", 1, "d")) == (4, 9)
    assert places.key_place(("a", "b.c", 1, "e")) == (5, 11)
    assert places.key_place(("t", "u", 1, "k")) == (10, 1)
    assert places.key_place(("t", "u", 1, "v", "w")) == (12, 1)
    assert places.key_place(("no", "such")) == (1, 1)


def test_paths() -> None:
    record = {"a": [{"b.c": 1}, 2], "text": '{"inner": {"x": [5]}}', "n": None}
    for written, found in (('a.0."b.c"', 1), ("a.1", 2), ("text.inner.x.0", 5), ("a.2", ABSENT), ("n.x", ABSENT)):
        assert value_at(record, parse_path(written)) == found
        assert parse_path(path_text(parse_path(written))) == parse_path(written)
    for wrong in ("", ".", "a.", ".a", "a..b", '"a', 'a b"c', ".".join("a" * 40), "a" * 600):
        with pytest.raises(ValueError, match="path"):
            parse_path(wrong)


def test_a_hostile_expression_is_refused_or_takes_linear_time() -> None:
    with pytest.raises(PatternError, match="too large"):
        LinePattern("(?P<a>x{900})(?P<b>y{900})z{900}")
    with pytest.raises(PatternError, match="at most 2,000 characters"):
        LinePattern("(?P<a>" + "x" * 2_000 + ")")
    slow = LinePattern(r"^(?P<a>(?:(?:a|aa|aaa)+)+)+$")
    assert slow.groups_of(b"a" * 20_000 + b"b") is None  # an expression with backtracking would take years
    assert slow.groups_of(b"a" * 20_000) == {"a": "a" * 20_000}
    assert slow.groups_of(b"a" * 50_000_000) is None
