"""Marks and comments as a store: what filters and views ask, and what changes are reported."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.passes.user_marks import MAX_COMMENT_LENGTH, ContextTarget, Note
from inspector.filters import compile_filter
from inspector.filters.visible import VisibleRows
from tests.builders import GrowingLog, document_of, envelope

NOTES = st.builds(Note, st.booleans(), st.sampled_from(["", "slow", "Too slow", "x" * 50]))
EDITS = st.lists(st.tuples(st.integers(0, 6), NOTES), max_size=30)


@given(EDITS)
def test_fields_say_what_was_put(edits: list[tuple[int, Note]]) -> None:
    document = document_of(*(envelope() for _ in range(7)))
    marks, kept = document.analysis.marks, dict[int, Note]()
    for message, note in edits:
        changed = marks.set_note(message, note)
        assert changed == (kept.get(message, Note()) != note)
        kept[message] = note
    reported = set(marks.changed.take_rows().tolist())
    assert {message for message, note in kept.items() if note} <= reported
    assert marks.rows.tolist() == sorted(message for message, note in kept.items() if note)
    rows = VisibleRows(document.analysis)
    for text, holds in (
        ("mark", lambda note: note.marked),
        ("comment", lambda note: bool(note.comment)),
        ('comment contains "slow"', lambda note: "slow" in note.comment),
        ('!mark && comment == "slow"', lambda note: not note.marked and note.comment == "slow"),
    ):
        shown = rows.evaluate(compile_filter(text), None).tolist()
        assert shown == [message for message in range(7) if holds(kept.get(message, Note()))], text


def test_a_filter_in_force_follows_what_is_marked() -> None:
    log = GrowingLog()
    log.write(*(envelope() for _ in range(3)))
    rows = VisibleRows(log.document.analysis)
    rows.apply_filter(compile_filter("mark"), None)
    marks = log.document.analysis.marks
    marks.set_note(1, Note(True))
    (changes,) = log.write(*(envelope() for _ in range(300)))
    changes = type(changes)(changes.start, changes.stop, marks.changed.take_rows(), changes.tree_moved)
    rows.apply(rows.prepare(changes))
    assert rows.visible.tolist() == [1]


def test_main_contexts_of_two_spaces_are_two() -> None:
    marks = document_of(envelope()).analysis.marks
    marks.set_note(ContextTarget(1, MAIN), Note(True))
    assert not marks.note(ContextTarget(2, MAIN))
    assert marks.note(ContextTarget(1, MAIN)).marked
    assert marks.targets() == [ContextTarget(1, MAIN)]


def test_a_comment_has_an_end() -> None:
    marks = document_of(envelope()).analysis.marks
    marks.set_note(0, Note(comment="x" * (2 * MAX_COMMENT_LENGTH)))
    assert len(marks.note(0).comment) == MAX_COMMENT_LENGTH


def test_nothing_is_kept_for_messages_without_a_note() -> None:
    marks = document_of(envelope()).analysis.marks
    assert not np.any(marks.marked_column(1_000_000).bits)
    assert len(marks) == 0


def test_a_merged_context_keeps_both_comments() -> None:
    document = document_of(envelope())
    marks, tree = document.analysis.marks, document.analysis.contexts.tree
    space = document.analysis.contexts.spaces[0]
    one = tree.node_of_id(space, "one")
    two = tree.node_of_key(space, "two/one")
    marks.set_note(ContextTarget(space, one), Note(comment="A"))
    marks.set_note(ContextTarget(space, two), Note(True, "B"))
    tree._merge(one, two)  # what makes the tree do so is in `test_context_tree`; here any two will do
    assert marks.note(ContextTarget(space, one)) == Note(True, "A\nB")
    assert len(list(marks.contexts())) == 1
