"""A display filter as an indented outline, for people who wonder what it does."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.filters.ast import And, Comparison, Expression, Membership, Not, Or, Presence
from inspector.filters.compile import DisplayFilter


def explain(display_filter: DisplayFilter) -> str:
    """Canonical text, then one line per part, then what the filter reads and depends on; ends without a newline."""
    expression = display_filter.expression
    if expression is None:
        return "everything: the filter is empty"
    depends = ", ".join(sorted(depend.name.lower() for depend in display_filter.depends))
    fields = ", ".join(sorted(display_filter.fields)) or "none"
    return "\n".join([str(expression), *_outline(expression, 1), f"fields: {fields}", f"depends on: {depends}"])


def _outline(expression: Expression, depth: int) -> Iterator[str]:
    indent = "  " * depth
    if isinstance(expression, And | Or):
        yield f"{indent}{'all of' if isinstance(expression, And) else 'any of'}"
        for operand in expression.operands:
            yield from _outline(operand, depth + 1)
    elif isinstance(expression, Not):
        yield f"{indent}not"
        yield from _outline(expression.operand, depth + 1)
    elif isinstance(expression, Presence):
        yield f"{indent}{expression.field} is present"
    elif isinstance(expression, Comparison | Membership):
        yield f"{indent}{expression}"
    else:
        yield f"{indent}the text of the message contains {expression}, letter case aside"
