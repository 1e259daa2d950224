"""The table of operators itself."""

from __future__ import annotations

import numpy as np
import pytest

from inspector.filters import FilterError, compile_filter
from inspector.filters.field import FieldType
from inspector.filters.fields import FIELD_BY_NAME
from inspector.filters.grammar import RESERVED
from inspector.filters.operators import OPERATOR_BY_SYMBOL, OPERATORS, operators_for
from tests.builders import document_of, envelope


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
    for symbol in ("under", "below", "above", "childof"):
        assert OPERATOR_BY_SYMBOL[symbol].types == {FieldType.CONTEXT}


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("finding.severity >= warning", {"warning", "error"}), ("finding.severity > note", {"warning", "error"}),
        ("finding.severity < warning", {"note"}), ("finding.severity <= error", {"note", "warning", "error"}),
        ("finding.severity == note", {"note"}), ("finding.severity in {note, error}", {"note", "error"}),
        ("finding.severity", {"note", "warning", "error"}), ("finding.severity != error", {None, "note", "warning"}),
    ],
)  # fmt: skip
def test_severities_have_an_order(text: str, holds: set[str | None]) -> None:
    lines = [envelope(), envelope("shop/order"), envelope(context=7), envelope("system/welcome", {})]
    document = document_of(*lines)
    column = FIELD_BY_NAME["finding.severity"].column(document.analysis)
    words = [column.value(message) for message in range(len(lines))]
    assert words == [None, "note", "warning", "error"]
    found = compile_filter(text).mask(document.analysis, np.arange(len(lines)))
    assert {word for word, held in zip(words, found.tolist(), strict=True) if held} == holds


@pytest.mark.parametrize("value", ["warnin", "2", "true", '"Warning"'])
def test_other_words_are_no_severities(value: str) -> None:
    with pytest.raises(FilterError, match=r"finding\.severity is note, warning or error, not"):
        compile_filter(f"finding.severity >= {value}")
