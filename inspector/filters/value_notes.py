"""Advises on values that no message can have, that are aliases, or that lack a unit."""

from __future__ import annotations

from inspector.filters.ast import Comparison, Membership, NumberValue, Presence, StringValue
from inspector.filters.check import Term, canonical_kind
from inspector.filters.errors import nearest_choice, truncate
from inspector.filters.numbers import unit_missing
from inspector.filters.plain_words import FilterNote
from inspector.filters.strings import quote
from inspector.protocol import kinds

_MOST_LISTED = 14


def value_note(text: str, term: Term) -> FilterNote | None:
    """Returns advice about the first value of a comparison that needs it, if any.

    Args:
        text: the whole filter.
        term: the checked comparison.
    """
    node = term.written
    if isinstance(node, Presence):
        return None
    values = node.values if isinstance(node, Membership) else (node.value,)
    if isinstance(node, Comparison) and isinstance(node.value, NumberValue):
        return _unit_note(text, term.field.name, node.value)
    if term.symbol not in ("==", "in"):
        return None
    return next(filter(None, (_note(text, term, node, one) for one in values if isinstance(one, StringValue))), None)


def _unit_note(text: str, name: str, value: NumberValue) -> FilterNote | None:
    """Suggests a unit for a number that was perhaps meant in seconds."""
    if not unit_missing(value.value, value.unit, name):
        return None
    end = value.position + value.length
    number = text[value.position : end]
    return FilterNote(f"{number} without a unit is {number} ms.", "For seconds:", f"{text[:end]}s{text[end:]}")


def _note(text: str, term: Term, node: Comparison | Membership, value: StringValue) -> FilterNote | None:
    field, written = term.field, value.value
    if field.name == "kind":
        return _kind_note(text, node, value)
    if not field.only or written in field.only:
        return None
    heard = f"{field.name} is never {quote(truncate(written))}."
    near = nearest_choice(written, field.only)
    if near is not None:
        return FilterNote(heard, "Did you mean", _replaced(text, value, quote(near)))
    if len(field.only) > _MOST_LISTED:
        return FilterNote(heard)
    return FilterNote(heard, f"It is {', '.join(field.only[:-1])} or {field.only[-1]}.")


def _kind_note(text: str, node: Comparison | Membership, value: StringValue) -> FilterNote | None:
    written = value.value
    kind, counts_as = kinds.split_kind(written), canonical_kind(written)
    alone = isinstance(node, Comparison)
    if kind.method is not None or kind.target is not None:
        heard = f"kind is {quote(truncate(kind.name))} there: method and target are no part of it."
        liking = f"kind like {quote(written)}" if _is_equality(node) else f"!(kind like {quote(written)})"
        return FilterNote(heard, "Did you mean", _replaced(text, node, liking)) if alone else FilterNote(heard)
    if counts_as != written or written in kinds.ONE_WORD:
        counted = "one of several kinds, by its payload" if counts_as == written else quote(counts_as)
        heard = f"{quote(truncate(written))} counts as {counted}."
        raw = f"kind.raw {node.operator} {quote(written)}" if isinstance(node, Comparison) else ""
        return FilterNote(heard, "For those sent so:", _replaced(text, node, raw)) if alone else FilterNote(heard)
    if counts_as in kinds.KNOWN or counts_as in kinds.OF_JSON_RPC:
        return None
    by_operation = {kind.rpartition("/")[2]: kind for kind in sorted(kinds.KNOWN, reverse=True)}
    operation = nearest_choice(written, by_operation) if "/" not in written else None
    near = by_operation[operation] if operation is not None else nearest_choice(written, kinds.KNOWN)
    if near is None and "/" in written:  # a program's own kind
        return None
    heard = f"No protocol has the kind {quote(truncate(written))}."
    return FilterNote(heard) if near is None else FilterNote(heard, "Did you mean", _replaced(text, value, quote(near)))


def _is_equality(node: Comparison | Membership) -> bool:
    return isinstance(node, Comparison) and node.operator == "=="


def _replaced(text: str, span: Comparison | Membership | StringValue, by: str) -> str:
    return f"{text[: span.position]}{by}{text[span.position + span.length :]}"
