"""Where messages of sessions may be seen: read once, and again where a line was written anew."""

from __future__ import annotations

import numpy as np

from inspector.filters import compile_filter
from inspector.filters.completion import Completer
from inspector.filters.fields import FIELD_BY_NAME
from tests.builders import document_of, envelope


def test_only_messages_of_sessions_have_one() -> None:
    document = document_of(
        envelope(payload={"text": "a", "visibility": "global"}, protocol="msp", space="m1", id="a"),
        envelope(payload={"text": "b", "visibility": "global"}, id="b"),
        envelope(payload={"text": '"visibility":"main_only"'}, protocol="msp", id="c"),
        envelope(payload={"text": "d", "visibility": 7}, protocol="msp", id="d"),
        envelope("msp/closed", {"visibility": "global"}, protocol="msp", id="e"),
        envelope(payload={"text": "f", "visibility": "private"}, protocol="msp", id="f"),
    )
    field = FIELD_BY_NAME["visibility"]
    values = [field.value(document.analysis, row) for row in range(6)]
    assert values == ["global", None, None, None, None, "private"]
    mask = compile_filter('visibility == "global"').mask(document.analysis, np.arange(6))
    assert mask.tolist() == [True] + [False] * 5


def test_the_three_values_are_offered_though_no_message_has_them() -> None:
    document = document_of(envelope(payload={"visibility": "global"}, protocol="msp"))
    found = Completer(document.analysis).complete("visibility == ", 14).candidates
    expected = (("global", 1), ("main_only", 0), ("subsession_only", 0))
    assert [(one.text, one.count) for one in found] == [(f'"{value}"', count) for value, count in expected]
