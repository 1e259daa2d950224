"""The table of operators itself."""

from __future__ import annotations

import pytest

from inspector.fields import FIELD_BY_NAME, FieldType
from inspector.filters.grammar import RESERVED
from inspector.filters.operators import OPERATOR_BY_SYMBOL, OPERATORS, operators_for


def test_spellings_are_unique() -> None:
    spellings = [spelling for operator in OPERATORS for spelling in (operator.symbol, *operator.words)]
    assert len(spellings) == len(set(spellings))


def test_no_field_is_named_like_a_word_of_the_language() -> None:
    assert RESERVED.isdisjoint(FIELD_BY_NAME)


@pytest.mark.parametrize("operator", OPERATORS, ids=[operator.symbol for operator in OPERATORS])
def test_has_help_and_what_it_negates_exists(operator) -> None:  # type: ignore[no-untyped-def]
    assert operator.help.endswith(".")
    assert operator.negates is None or operator.negates in OPERATOR_BY_SYMBOL


@pytest.mark.parametrize("field_type", list(FieldType), ids=lambda one: one.name)
def test_every_type_can_be_compared(field_type: FieldType) -> None:
    assert {"==", "!="} <= {operator.symbol for operator in operators_for(field_type)}


def test_paths_are_compared_only_on_contexts() -> None:
    for symbol in ("under", "childof"):
        assert OPERATOR_BY_SYMBOL[symbol].types == {FieldType.CONTEXT}
