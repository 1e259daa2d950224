"""Generates `docs/filter.md` from the declarations of the filter language.

`python -m inspector.filters.page` writes it to standard output. Every example is compiled, so an invalid one ends with
an error.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator

from inspector.filters import compile_filter
from inspector.filters.field import Depends, Field, FieldType
from inspector.filters.fields import FIELDS
from inspector.filters.operators import MAX_PATTERN, OPERATORS, Operator, operators_for
from inspector.filters.stacked_conditions import resolve_variables
from inspector.settings.model import DEFAULT_PRESETS, DefaultPreset, Topic

_HEAD = """# Filter reference

A display filter selects the shown messages and changes nothing. The filter bar (Ctrl+/), presets, highlight rules and
the option `-Y` of commands have the same language. [Search and filter](search-and-filter.md) shows its use.

This page is made of the program's own tables: `python -m inspector.filters.page > docs/filter.md`. Its examples are
compiled when it is made.
"""

_LANGUAGE: tuple[tuple[str, str], ...] = (
    ('kind == "chat"', "a field, an operator, a value"),
    ("error", "a field alone: the message has a value for it"),
    ('"timed out"', "a text alone: it occurs anywhere in the message, in any case"),
    ("write hello", "words without an operator: the message has all of them, as if each were in quotes"),
    ('kind == "chat" && !context', "`&&`, `||` and `!`, or `and`, `or` and `not`; `!` binds closest, then `&&`"),
    ('(from == "lead" || from == "analyst") && error', "parentheses"),
    ('from in {"lead", "analyst"}', "a set"),
    ('from != "lead"', "the opposite of `==`, so it also matches a message without a sender"),
    ("latency >= 1000", "numbers; milliseconds here"),
    ("latency > 2 s", "a number with a unit: `ns`, `us`, `ms`, `s`, `min`, `h`; for sizes `kB`, `MB`, `KiB`, `MiB`"),
    ('time >= "2026-01-05T09:00:00Z"', "times, RFC 3339"),
    ("finding.severity >= warning", "severities, in the order note, warning, error"),
    ('to == "lead"', "of a list any element counts"),
    ('payload.status == "active"', "a value inside the payload, by its keys"),
    ('payload."odd key".0 > 3', "keys that are no plain names in quotes; digits count in lists"),
    ('json(payload.text).status == "ok"', "JSON inside a text of the payload, by its keys"),
)

_EXAMPLES: tuple[tuple[str, str], ...] = (
    ('kind like "mcp/request:tools/call:*"', "calls of tools, in every protocol version"),
    (
        'kind like "mcp/*:tools/call:read_*"',
        "calls of tools with names that begin with read_, their answers and proposals",
    ),
    ('context under "review-7"', "a context and all below it"),
    ('context childof "review-7"', "direct children of a context"),
    ('context above "review-7/files"', "the ancestors of a context"),
    ('kind == "mcp/response" && error', "answers that failed"),
    ('kind == "mcp/response" && tokens > 1000', "answers that take more than a thousand tokens, once they are counted"),
    ('badge == "transient" && badge != "collapsed"', "transient results that no call has consumed"),
    ('waiting == "answer"', "requests without an answer"),
    ('waiting == "decision"', "proposals without a decision"),
    ("state in {failed, unanswered, rejected}", "requests and proposals without success"),
    ("state == running", "reasoning that has neither concluded nor been cancelled"),
    ('text contains "timed out"', "words in the text of the row, case-sensitive"),
    ('text matches "(?i)time(d )?out"', "the same with a regular expression, in any case"),
    ('tool == "read_file" && payload.params.arguments.path like "/etc/*"', "calls by their arguments"),
    ("json(payload.result.content.0.text).total > 100", "results with JSON as text, by a number in it"),
    ('finding == "request-unanswered"', "messages with a certain finding; all codes are in [findings.md](findings.md)"),
    ("mark || comment", "messages that you marked or commented"),
)

_WHO_HAS_VALUES = {
    FieldType.STRING: "in quotes",
    FieldType.KIND: "in quotes",
    FieldType.CONTEXT: 'a path in quotes, as `"review-7/files"`',
    FieldType.INTEGER: "as `12`",
    FieldType.NUMBER: "as `12` or `0.5`",
    FieldType.TIME: "RFC 3339 in quotes",
    FieldType.SEVERITY: "`note`, `warning` or `error`",
    FieldType.BOOLEAN: "`true` or `false`",
    FieldType.ANY: "a text, a number, `true` or `false`; text never equals a number",
}


def page() -> str:
    """Returns the page in Markdown, with a final newline.

    Raises:
        FilterError: an example is not a valid filter.
    """
    parts = [
        _HEAD,
        "## How a filter is written\n",
        _table(("filter", "meaning"), _checked(_LANGUAGE)),
        "The empty filter shows everything. A comparison does not hold where there is no value; of a list it holds if\n"
        "it holds for any element. For an invalid filter, the window and `context-inspector explain-filter 'FILTER'`\n"
        "give the place of the error and a suggestion.\n",
        "Words are searched for only where they are no filter: `error` alone stays a field. The window and the\n"
        "command line say so, and name the filter that may have been meant: `failed` offers `error`,\n"
        '`tool Bash` offers `tool == "Bash"`. `tool:Bash` is no search; it is answered with `tool == "Bash"`.\n',
        "## Examples\n",
        _table(("filter", "messages shown"), _checked(_EXAMPLES)),
        "## Operators\n",
        _table(("operator", "also", "fields of type", "help"), map(_operator, OPERATORS)),
        f"Patterns are {MAX_PATTERN:,} characters long at most. A value in which a regular expression takes too long\n"
        "does not match; the window says how many there were.\n",
        "## Types\n",
        _table(("type", "values", "operators"), map(_type, FieldType)),
        "## Fields\n",
        "*May change by* says what can change a value after its message was read. Beside these there is a field for\n"
        "each value inside payloads, `payload.` and its keys, of the type any. Every field can be a column.\n",
        _table(("field", "type", "meaning", "may change by"), map(_field, FIELDS)),
        "## Presets\n",
        "The presets a new installation has. Each is offered for the logs named beside it; your own presets are\n"
        "offered for all logs. They can be changed (View, Edit presets...). `$context` stands for the selected\n"
        "context.\n",
        _table(("preset", "filter", "offered for"), map(_preset, DEFAULT_PRESETS)),
    ]
    return "\n".join(parts).rstrip("\n") + "\n"


def _checked(examples: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    for text, meaning in examples:
        compile_filter(text)
        yield _code(text), meaning


def _operator(operator: Operator) -> tuple[str, ...]:
    types = [field_type.value for field_type in FieldType if field_type in operator.types]
    fitting = "all" if len(types) == len(FieldType) else ", ".join(types)
    return _code(operator.symbol), ", ".join(map(_code, operator.words)), fitting, operator.help


def _type(field_type: FieldType) -> tuple[str, ...]:
    symbols = " ".join(_code(operator.symbol) for operator in operators_for(field_type))
    return field_type.value, _WHO_HAS_VALUES[field_type], symbols


def _field(field: Field) -> tuple[str, ...]:
    kind = f"list of {field.type.value}" if field.many else field.type.value
    return _code(field.name), kind, field.help, "" if field.depends is Depends.FIXED else field.depends.value


_TOPIC_WORDS: dict[Topic, str] = {
    "mew": "MEW", "msp": "sub-sessions", "agent": "coding agents", "mcp": "MCP", "json-rpc": "JSON-RPC",
    "trace": "traces", "model": "calls of models", "a2a": "Agent2Agent", "sub-agents": "sessions with sub-agents",
    "collapsible": "results that collapse",
}  # fmt: skip


def _preset(preset: DefaultPreset) -> tuple[str, str, str]:
    compile_filter(resolve_variables(preset.filter, "review-7"))
    offered = ", ".join(_TOPIC_WORDS[topic] for topic in preset.topics) or "all logs"
    return preset.name, _code(preset.filter) if preset.filter else "(empty)", offered


def _code(text: str) -> str:
    return f"`{text}`"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    # A bar would end the cell, also inside code.
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)


if __name__ == "__main__":
    sys.stdout.write(page())
