"""Explains a display filter as an indented outline with types and costs."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.analysis import Analysis
from inspector.filters.check import Term
from inspector.filters.compile import DisplayFilter
from inspector.filters.evaluate import (
    CHEAP,
    DECODED,
    FULL_TEXT,
    Evaluation,
    JunctionNode,
    Node,
    NotNode,
    TermNode,
    TextNode,
)
from inspector.filters.field import Depends, Field, FieldType
from inspector.filters.operators import Scalar
from inspector.filters.strings import quote
from inspector.protocol.timestamps import format_time
from inspector.store.messages.capture import Capture

_COST = {CHEAP: "column", DECODED: "decodes", FULL_TEXT: "full text"}
_COST_HELP = {
    CHEAP: "column: looked up in arrays, for all messages at once",
    DECODED: "decodes: reads records again, after all columns, if they are still undecided",
    FULL_TEXT: "full text: searches the bytes of records last, if they are still undecided",
}


def explain(display_filter: DisplayFilter) -> str:
    """Returns the outline of a compiled filter, without a final newline.

    Canonical text comes first, then one line per part with its typed value and cost. Fields, dependencies and the
    meaning of costs follow.
    """
    root, note = display_filter.root, display_filter.note
    if root is None:
        return "everything: the filter is empty"
    # Costs depend on the types of columns, so an empty capture suffices.
    evaluation = Evaluation(Analysis(Capture()))
    fields = ", ".join(sorted(display_filter.fields)) or "none"
    changes = [depend.value for depend in Depends if depend in display_filter.depends and depend is not Depends.FIXED]
    costs = sorted({cost for _, cost in _outline_lines(root, evaluation, 0) if cost is not None})
    return "\n".join(
        [
            *([] if note is None else [str(note)]),
            str(display_filter.expression),
            *_align_costs(_outline_lines(root, evaluation, 1)),
            f"fields: {fields}",
            f"the answer for a message can change with: {', '.join(changes) or 'nothing, it stays'}",
            *(_COST_HELP[cost] for cost in costs),
        ]
    )


def explain_as_data(display_filter: DisplayFilter) -> dict[str, object]:
    """Returns the outline as data for programs; same content as `explain`."""
    expression, root = display_filter.expression, display_filter.root
    parts: list[dict[str, object]] = []
    if root is not None:
        for line, cost in _outline_lines(root, Evaluation(Analysis(Capture())), 0):
            part_text = line.lstrip(" ")
            part: dict[str, object] = {"depth": (len(line) - len(part_text)) // 2, "part": part_text}
            parts.append(part if cost is None else {**part, "cost": _COST[cost]})
    note: dict[str, object] = {} if display_filter.note is None else {"note": str(display_filter.note)}
    return note | {
        "filter": "" if expression is None else str(expression),
        "parts": parts,
        "fields": sorted(display_filter.fields),
        "changes_with": [d.value for d in Depends if d in display_filter.depends and d is not Depends.FIXED],
    }


def _outline_lines(node: Node, evaluation: Evaluation, depth: int) -> Iterator[tuple[str, int | None]]:
    """Yields lines of the outline with their cost; None for junctions."""
    indent = "  " * depth
    if isinstance(node, JunctionNode):
        yield f"{indent}{'any of' if node.decided_by else 'all of'}", None
        for operand in node.operands:
            yield from _outline_lines(operand, evaluation, depth + 1)
    elif isinstance(node, NotNode):
        yield f"{indent}not", None
        yield from _outline_lines(node.operand, evaluation, depth + 1)
    elif isinstance(node, TermNode):
        yield f"{indent}{_term(node.term)}", node.cost(evaluation)
    elif isinstance(node, TextNode):
        yield f"{indent}the text of the message contains {node.written}, letter case aside", node.cost(evaluation)


def _align_costs(parts: Iterator[tuple[str, int | None]]) -> Iterator[str]:
    lines = list(parts)
    # A single long line must not push all costs off the screen.
    width = min(72, max(len(line) for line, _ in lines))
    for line, cost in lines:
        yield line if cost is None else f"{line:<{width}}  [{_COST[cost]}]"


def _term(term: Term) -> str:
    field = term.field
    what = f"{field.name} ({_type(field)})"
    if term.operand is None:
        return f"{what} is {'absent' if term.negated else 'present'}"
    values = ", ".join([_scalar(field, value) for value in term.operands])
    sentence = f"{what} {term.symbol} {f'{{{values}}}' if isinstance(term.operand, tuple) else values}"
    return f"not {sentence}, so also where it is absent" if term.negated else sentence


def _type(field: Field) -> str:
    return f"any of several: {field.type.value}" if field.many else field.type.value


def _scalar(field: Field, value: Scalar) -> str:
    """Formats a compared value in the unit of its field."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return quote(value)
    if field.type is FieldType.TIME:
        return format_time(int(value)) or str(value)
    return str(value)
