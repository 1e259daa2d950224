"""The pass against a slow model of the algorithm of docs/protocols.md 13, whatever the order and the batches."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from inspector.protocol.tool_aliases import ToolAliases
from tests.builders import GrowingLog, document_of
from tests.unit.analysis.transient_traffic import Call, Line, Mew, hint, transient

_FETCHERS, _CONSUMERS = ("a", "b", "p__a"), ("x", "y", "p__x")
_RULES = ("p__* = *",)

_hints = st.lists(
    st.builds(hint, st.sampled_from(_FETCHERS[:2]), st.sampled_from(_CONSUMERS[:2])), min_size=1, max_size=2
).map(lambda hints: {"contextHints": hints})
_metas = st.one_of(
    _hints,
    st.just(transient("s")),
    st.just({"context": {"consumed": True}}),
    st.just({"context": {"consumed": True, "lifecycle": "transient"}}),
    st.just({"context": {"consumed": 1}}),
)
_calls = st.builds(
    Call, st.sampled_from((*_FETCHERS, *_CONSUMERS)), _metas, st.sampled_from([{}, {}, {}, {"isError": True}])
)


@st.composite
def _traffic(draw: st.DrawFn) -> tuple[list[tuple[Line, tuple[int, Call] | None]], list[int]]:
    """Lines, each with the client and call whose result it is, and sizes of batches."""
    talks = [(0, Mew("lead", "files")), (1, Mew("other", "files")), (0, Mew("lead", "elsewhere"))]
    lines: list[tuple[Line, tuple[int, Call] | None]] = []
    for call in draw(st.lists(_calls, min_size=1, max_size=14)):
        number, talk = talks[draw(st.integers(0, 2))]
        ask, answer = talk(call, "ask"), talk(call, "answer")
        place = draw(st.integers(0, len(lines)))
        lines.insert(place, (ask, None))
        # Commonly after its request, at times before it, at times a good deal later.
        lines.insert(draw(st.integers(0, len(lines))), (answer, (number, call)))
    return lines, draw(st.lists(st.integers(1, 6), min_size=1, max_size=12))


def _slowly(
    lines: list[tuple[Line, tuple[int, Call] | None]], rules: ToolAliases, *, newest: bool = False
) -> dict[int, tuple[Any, ...]]:
    """What the algorithm says, written down as the document has it: (transient, consumed, collapsed by, consumes)."""
    pairs: set[tuple[int, str, str]] = set()
    results: list[tuple[int, int, str]] = []
    found: dict[int, list[Any]] = {}
    for row, (_, about) in enumerate(lines):
        if about is None:
            continue
        number, call = about
        tool, failed = rules.resolve(call.tool), call.result.get("isError") is True
        story = found[row] = [False, False, None, None]
        for one in call.meta.get("contextHints", ()):
            pairs.add((number, rules.resolve(one["consumedBy"]), rules.resolve(one["tool"])))
        context = call.meta.get("context", {})
        if context.get("consumed") is True and not failed:
            story[1] = True
            matching = [one for one in results if one[1] == number and (number, tool, one[2]) in pairs]
            if matching:
                taken = matching[-1 if newest else 0]
                results.remove(taken)
                story[3] = taken[0]
                found[taken[0]][2] = row
        if context.get("lifecycle") == "transient" and not failed:
            story[0] = True
            results.append((row, number, tool))
    return {row: tuple(story) for row, story in found.items()}


def _told(analysis: Any, rows: Any) -> dict[int, tuple[Any, ...]]:
    life = analysis.transients
    return {
        row: (
            "transient" in life.badges(row), "consumed" in life.badges(row), life.collapsed_by(row), life.consumes(row),
        )
        for row in rows
    }  # fmt: skip


@given(_traffic(), st.booleans(), st.booleans())
def test_as_the_slow_model_in_any_order_and_any_batches(traffic: Any, aliased: bool, newest: bool) -> None:
    lines, sizes = traffic
    rules = ToolAliases.from_texts(_RULES if aliased else ())
    expected = _slowly(lines, rules, newest=newest)
    log = GrowingLog()
    log.document.set_tool_aliases(rules)
    log.document.set_collapse_order(newest_first=newest)
    seen: dict[int, tuple[Any, ...]] = {}
    start = place = 0
    while start < len(lines):
        stop = start + sizes[place % len(sizes)]
        for changes in log.write(*(line for line, _ in lines[start:stop])):
            touched = {*changes.changed.tolist(), *range(changes.start, changes.stop)}
            seen |= _told(log.document.analysis, touched & expected.keys())
        start, place = stop, place + 1
    assert _told(log.document.analysis, expected) == expected
    assert seen == expected  # whoever follows the changes has the same
    assert "tool" not in {log.document.analysis.transients.summary(row) for row in expected}


@given(_traffic())
def test_aliases_tell_the_past_again(traffic: Any) -> None:
    lines, _ = traffic
    document = document_of(*(line for line, _ in lines))
    plainly = _slowly(lines, ToolAliases())
    assert _told(document.analysis, plainly) == plainly
    changes = document.analysis.use_tool_aliases(ToolAliases.from_texts(_RULES))
    renamed = _slowly(lines, ToolAliases.from_texts(_RULES))
    assert _told(document.analysis, renamed) == renamed
    assert {row for row in plainly if plainly[row] != renamed[row]} <= set(changes.changed.tolist())
    document.analysis.use_tool_aliases(ToolAliases())
    assert _told(document.analysis, plainly) == plainly


@given(_traffic())
def test_the_other_order_tells_the_past_again(traffic: Any) -> None:
    lines, _ = traffic
    document = document_of(*(line for line, _ in lines))
    rules = ToolAliases()
    oldest, newest = (_slowly(lines, rules, newest=which) for which in (False, True))
    assert _told(document.analysis, oldest) == oldest
    changes = document.analysis.use_collapse_order(newest_first=True)
    assert _told(document.analysis, newest) == newest
    assert {row for row in oldest if oldest[row] != newest[row]} <= set(changes.changed.tolist())
    assert not len(document.analysis.use_collapse_order(newest_first=True).changed)
    document.analysis.use_collapse_order(newest_first=False)
    assert _told(document.analysis, oldest) == oldest
