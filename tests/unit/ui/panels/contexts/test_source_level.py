"""Sources as a level of the context tree: rows that follow are those laid out anew, counts are those of the filter."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from inspector.document.document import CaptureDocument
from inspector.document.source_set import SourceChoice
from inspector.engine.engine import Engine
from inspector.engine.requests.context_tree import DescribeContexts, FollowContexts
from inspector.filters.compile import compile_filter
from inspector.filters.scope import Scope
from inspector.filters.visible import VisibleRows
from inspector.present.context_codes import source_code
from inspector.ui.panels.contexts.rows import ContextRows
from tests.builders import envelope, received
from tests.strategies import share_of_examples

_MESSAGES = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from(["one", "two", "three"]), st.sampled_from([None, "a", "a/b", "c"])),
    min_size=1, max_size=30,
)  # fmt: skip
"""Source, space and context of each."""


def _written(folder: Path, messages: list[tuple[int, str, str | None]]) -> list[SourceChoice]:
    lines: list[list[dict[str, Any]]] = [[received(envelope(id=f"first-{n}"))] for n in range(3)]
    for number, (source, space, context) in enumerate(messages):
        time = f"2026-01-05T10:00:{number:02}.000Z"
        lines[source].append(
            {**received(envelope(id=f"m{number}", context=context, ts=time), space_id=space), "timestamp": time}
        )
    paths = [folder / f"{name}.jsonl" for name in ("ann", "ben", "gateway")]
    for path, held in zip(paths, lines, strict=True):
        path.write_text("".join(json.dumps(line) + "\n" for line in held))
    return [SourceChoice(path) for path in paths]


def follow(engine: Engine, number: int, rows: ContextRows) -> None:
    rows.apply_changes(engine.answer_request(number, FollowContexts(rows.tree.events, len(rows.tree.spaces))))


@share_of_examples(3)
@given(_MESSAGES, st.integers(200, 1 << 14))
def test_rows_that_follow_are_those_laid_out_anew(tmp_path_factory: Any, messages: Any, block_bytes: int) -> None:
    document = CaptureDocument()
    engine, rows = Engine(), ContextRows()
    number = engine.adopt(document)
    for _ in document.open_together(_written(tmp_path_factory.mktemp("logs"), messages), block_bytes=block_bytes):
        follow(engine, number, rows)
        for first, last in rows.stale_spans():
            rows.remove(first, last)
        if rows.regrouped:
            rows.insertions()
            rows.replace(*rows.layout())
        else:
            for insertion in rows.insertions():
                rows.insert(insertion)
        fresh = ContextRows()
        follow(engine, number, fresh)
        fresh.replace(*fresh.layout())
        assert (rows.codes.tolist(), rows.depths.tolist()) == (fresh.codes.tolist(), fresh.depths.tolist())
        assert [rows.row_of(code) for code in rows.codes.tolist()] == list(range(len(rows)))
    assert rows.codes[0] == source_code(0)
    assert {rows.above(code) for code in rows.codes[rows.depths == 1].tolist()} <= set(map(source_code, range(3)))
    shown = VisibleRows(document.analysis)
    for source, name in enumerate(("ann.jsonl", "ben.jsonl", "gateway.jsonl")):
        filtered = shown.evaluate(compile_filter(f'source == "{name}"'), None)
        (content,) = engine.answer_request(number, DescribeContexts((source_code(source),)))
        assert content.count == len(filtered)
        scoped = shown.evaluate(compile_filter(""), Scope(0, None, source=source))
        assert np.array_equal(filtered, scoped)
    document.close()


def test_one_source_is_no_level(tmp_path: Path) -> None:
    document = CaptureDocument()
    document.load(_written(tmp_path, [(0, "one", "a")])[0].path)
    engine, rows = Engine(), ContextRows()
    follow(engine, engine.adopt(document), rows)
    rows.replace(*rows.layout())
    assert rows.level == 0
    assert source_code(0) not in rows.codes
    document.close()
