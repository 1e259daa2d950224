"""The context tree: rows, marks, keys, finding, and staying put while traffic comes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QMenu

from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.base.slices import run_to_end
from inspector.document.document import CaptureDocument
from inspector.engine.engine import Engine
from inspector.engine.requests.context_tree import FollowContexts
from inspector.filters import compile_filter
from inspector.filters.visible import Reach, Scope
from inspector.present.context_codes import main_code, root_code, source_code
from inspector.present.rows import Text
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.contexts.halos import FADE_S, HOLD_S
from inspector.ui.panels.contexts.model import MAX_STEPS, ContextTreeModel
from inspector.ui.panels.contexts.panel import ContextsPanel
from inspector.ui.panels.contexts.rows import ContextRows
from inspector.ui.widgets.scope_chip import ScopeChip
from tests.builders import GrowingLog, document_at, document_of, envelope, received
from tests.pages import ROOT
from tests.ui.engines import client_of
from tests.ui.live import Live
from tests.ui.trees import follow, tip_of
from tests.ui.windows import panes_of


def said(context: str | dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    return received(envelope("chat", context=context, **fields))


def start(identifier: str, text: str, context: str | None = None) -> dict[str, Any]:
    return received(envelope("reasoning/start", {"message": text}, id=identifier, context=context))


def shown(model: ContextTreeModel) -> list[str]:
    return [f"{'  ' * model.depth(row)}{model.label(row)} {model.count(row)}" for row in range(model.rowCount())]


@pytest.fixture
def panel_of(qtbot, theme_controller: ThemeController):
    """Makes a shown panel of a document; its model is checked from then on, before anything changes."""
    documents, panels = [], []

    def make(document: CaptureDocument) -> ContextsPanel:
        documents.append(document)
        panel = ContextsPanel(client_of(document, theme_controller), theme_controller)
        panels.append(panel)
        qtbot.addWidget(panel)
        QAbstractItemModelTester(panel.model, QAbstractItemModelTester.FailureReportingMode.Warning, panel)
        panel.resize(240, 300)
        with qtbot.waitExposed(panel):
            panel.show()
        return panel

    yield make
    for document in documents:
        document.close()


def row_named(panel: ContextsPanel, label: str) -> int:
    return [panel.model.label(row) for row in range(panel.model.rowCount())].index(label)


def click(qtbot, panel: ContextsPanel, label: str) -> None:
    place = panel.view.visualRect(panel.model.index(row_named(panel, label), 0))
    qtbot.mouseClick(panel.view.viewport(), Qt.MouseButton.LeftButton, pos=place.center())


def press(qtbot, panel: ContextsPanel, *keys: Qt.Key) -> None:
    for key in keys:
        qtbot.keyClick(panel.view, key)


def current(panel: ContextsPanel) -> str:
    return panel.model.label(panel.view.currentIndex().row())


# What rows there are


def test_rows_stand_in_tree_order_and_show_two_levels(panel_of):
    panel = panel_of(document_of(said("a/b/c"), said(), said("d"), said("a/b")))
    assert shown(panel.model) == ["demo 4", "  main 1", "  a 2", "    b 2", "  d 1"]
    assert panel.head.count() == "4"


def test_a_document_without_spaces_has_its_name_on_top(panel_of):
    document = document_of(envelope(context="a"), name="mine.jsonl")
    assert shown(panel_of(document).model) == ["mine.jsonl 1", "  main 0", "  a 1"]


def test_each_space_has_a_root_and_a_main(panel_of):
    document = document_of(said("a"), received(envelope(context="a"), space_id="other"))
    assert shown(panel_of(document).model) == ["demo 1", "  main 0", "  a 1", "other 1", "  main 0", "  a 1"]


def test_no_contexts_are_said_in_words(panel_of):
    panel = panel_of(document_of(said()))
    assert panel.view.empty_text == "All messages are in the main context."
    assert shown(panel.model) == ["demo 1", "  main 1"]


def test_nothing_at_all_says_nothing(panel_of):
    panel = panel_of(GrowingLog().document)
    assert panel.model.rowCount() == 0
    assert panel.view.empty_text == ""


def test_a_reasoning_shows_its_first_words_and_its_id_in_the_tooltip(panel_of):
    panel = panel_of(document_of(start("r-17", "Why is it slow?"), said("r-17")))
    row = row_named(panel, "Why is it slow?")
    tooltip = tip_of(panel.model, row)
    assert "r-17" in tooltip
    assert "Opened by reasoning/start, No. 1." in tooltip
    assert "1 message here" in tooltip
    assert not panel.model.is_raw_id(row)


def test_states(panel_of):
    end = received(envelope("reasoning/conclusion", {}, context="r1"))
    cancel = received(envelope("reasoning/cancel", {}, context="r2"))
    model = panel_of(document_of(said("r1"), end, cancel, said("x/y"))).model
    states = {model.label(row): model.state(row) for row in range(model.rowCount())}
    assert (states["r1"], states["r2"], states["y"], states["demo"]) == ("concluded", "cancelled", "active", "")
    assert model.is_implicit(row_of(model, "x"))


def row_of(model: ContextTreeModel, label: str) -> int:
    return [model.label(row) for row in range(model.rowCount())].index(label)


def test_accessibility_says_level_expansion_count_and_state(panel_of):
    model = panel_of(document_of(said("a"), said("a/b"))).model
    index = model.index(row_of(model, "a"), 0)
    words = model.data(index, Qt.ItemDataRole.AccessibleDescriptionRole)
    assert words == "level 2, expanded, 2 messages, active"
    assert model.data(index, Qt.ItemDataRole.AccessibleTextRole) == "a"


def test_hostile_names_stay_plain_text(panel_of):
    name = "<b>x\u202etxt\nend"
    panel = panel_of(document_of(said(name)))
    assert panel.model.label(2) == "<b>x⟨U+202E⟩txt end"
    assert "<b>x" not in tip_of(panel.model, 2)


# Growing


def test_new_contexts_are_inserted_and_only_touched_rows_change(tmp_path, panel_of, qtbot):
    live = Live(tmp_path, said("a"), said("b"), said())
    panel = panel_of(live.document)
    inserted, changed, resets = [], [], []
    panel.model.rowsInserted.connect(lambda _, first, last: inserted.append((first, last)))
    panel.model.dataChanged.connect(lambda first, last, _: changed.append((first.row(), last.row())))
    panel.model.modelReset.connect(lambda: resets.append(True))
    follow(panel, live.say(said("b")))
    assert (inserted, changed) == ([], [(0, 0), (3, 3)])
    follow(panel, live.say(said("a/x")))
    assert shown(panel.model) == ["demo 5", "  main 1", "  a 2", "    x 1", "  b 2"]
    assert inserted == [(3, 3)]
    assert not resets


def test_a_start_that_comes_later_merges_moves_and_names(tmp_path, panel_of):
    live = Live(tmp_path, said("r2/deep"), said("r1"), said("r2"))
    panel = panel_of(live.document)
    panel.show_scope(Scope(live.tree.space[0], live.node("deep")))
    assert shown(panel.model)[2:] == ["  r2 2", "    deep 1", "  r1 1"]
    follow(panel, live.say(start("r2", "Why?", context="r1")))
    assert shown(panel.model)[2:] == ["  r1 4", "    Why? 2", "      deep 1"]
    assert panel.model.label(panel.view.marked_row) == "deep"
    assert [i.row() for i in panel.view.selectionModel().selectedRows()] == [panel.view.marked_row]


def test_a_provisional_path_merges_into_a_start_with_a_slash_in_its_id(tmp_path, panel_of):
    live = Live(tmp_path, said("x/1"), said("x/1/sub"))
    panel = panel_of(live.document)
    panel.show_scope(Scope(live.tree.space[0], live.node("1")))
    follow(panel, live.say(start("x/1", "Think")))
    assert shown(panel.model)[2:] == ["  Think 2", "    sub 1"]
    assert panel.model.label(panel.view.marked_row) == "Think"
    assert panel.scope is not None
    assert live.tree.name[panel.scope.node or 0] == "x/1"


def test_scope_cursor_expansion_and_scroll_do_not_move(tmp_path, panel_of, qtbot):
    live = Live(tmp_path, *(said(f"c{n}/x/y") for n in range(40)))
    panel = panel_of(live.document)
    panel.show_scope(Scope(live.tree.space[0], live.node("c20")))
    panel.model.set_expanded(row_named(panel, "c30"), False)
    panel.view.setCurrentIndex(panel.model.index(row_named(panel, "c25"), 0))
    panel.view.verticalScrollBar().setValue(panel.view.row_height * 35 + 7)
    top = panel.model.label(panel.view.row_at(0))
    offset = panel.view.visualRect(panel.model.index(panel.view.row_at(0), 0)).top()
    follow(panel, live.say(*(said(f"c{n}/new{n}") for n in range(12)), said("later")))
    assert panel.model.label(panel.view.row_at(0)) == top
    assert panel.view.visualRect(panel.model.index(panel.view.row_at(0), 0)).top() == offset
    assert panel.model.label(panel.view.marked_row) == "c20"
    assert current(panel) == "c25"
    assert not panel.model.is_expanded(row_named(panel, "c30"))
    assert row_named(panel, "new11") == row_named(panel, "c11") + 2


def test_many_changes_at_once_come_as_a_reset_and_nothing_moves_either(tmp_path, panel_of):
    count = MAX_STEPS + 20
    live = Live(tmp_path, *(said(f"c{n}/x") for n in range(count)))
    panel = panel_of(live.document)
    panel.show_scope(Scope(live.tree.space[0], live.node("c45")))
    panel.view.verticalScrollBar().setValue(panel.view.row_height * 50)
    top = panel.model.label(panel.view.row_at(0))
    follow(panel, live.say(*(said(f"c{n}/y") for n in range(count))))
    assert panel.model.rowCount() == 2 + 3 * count
    assert panel.model.label(panel.view.row_at(0)) == top
    assert panel.model.label(panel.view.selectionModel().selectedRows()[0].row()) == "c45"


def test_many_rows_that_only_merge_away_leave_none_behind(tmp_path, panel_of):
    live = Live(tmp_path, *(said(f"x/{n}") for n in range(MAX_STEPS + 5)))
    panel = panel_of(live.document)
    follow(panel, live.say(*(start(f"x/{n}", f"Why {n}?") for n in range(MAX_STEPS + 5))))
    assert shown(panel.model)[2:5] == ["  Why 0? 1", "  Why 1? 1", "  Why 2? 1"]
    assert panel.model.rowCount() == 2 + MAX_STEPS + 5


def test_changes_held_back_while_paused_are_all_taken_in(tmp_path, panel_of):
    live = Live(tmp_path, said("a"))
    panel = panel_of(live.document)
    live.say(said("b"), said("a/c"))
    follow(panel, live.say(said("d")))
    assert shown(panel.model) == ["demo 4", "  main 0", "  a 2", "    c 1", "  b 1", "  d 1"]


_SEGMENT = st.sampled_from(["a", "b", "c", "r1", "r2", "x/1"])
_PATHS = st.lists(_SEGMENT, min_size=1, max_size=4).map("/".join)
_LINES = st.one_of(
    _PATHS.map(said),
    st.builds(start, st.sampled_from(["r1", "r2", "a", "x/1"]), st.just("Why?"), st.none() | _PATHS),
    st.builds(
        lambda i, p: said({"id": i, "parent": p}),
        st.sampled_from("abcd"),
        st.none() | st.sampled_from(["a", "r1", "e"]),
    ),
    st.builds(lambda: received(envelope(context="a"), space_id="other")),
)


@given(st.lists(st.lists(_LINES, max_size=6), min_size=1, max_size=6), st.integers(1, 4))
def test_following_the_tree_gives_the_rows_it_would_be_laid_out_as(tmp_path_factory, batches, depth):
    live = Live(tmp_path_factory.mktemp("live"))
    engine, rows = Engine(), ContextRows()
    number = engine.adopt(live.document)
    rows.set_depth(depth)
    for batch in batches:
        if not batch:
            continue
        live.say(*batch)
        rows.apply_changes(engine.answer_request(number, FollowContexts(rows.tree.events, len(rows.tree.spaces))))
        for first, last in rows.stale_spans():
            rows.remove(first, last)
        insertions = rows.insertions()
        if len(insertions) % 2:
            rows.insert_all(insertions)
        else:
            for insertion in insertions:
                rows.insert(insertion)
        codes, depths = rows.layout()
        assert rows.codes.tolist() == codes.tolist()
        assert rows.depths.tolist() == depths.tolist()
        assert rows.nodes == len(live.tree.alive())
        assert [rows.row_of(code) for code in codes.tolist()] == list(range(len(codes)))
        assert [rows.end(row) for row in range(len(rows))] == ends(depths.tolist())
    live.document.close()


# Scope


def test_clicking_scopes_and_clicking_again_clears(panel_of, qtbot):
    document = document_of(said("a"), said("a/b"))
    panel = panel_of(document)
    asked: list[Any] = []
    panel.scope_requested.connect(asked.append)
    space = document.analysis.contexts.spaces[0]
    for label in ("a", "a", "demo", "main"):
        click(qtbot, panel, label)
    assert asked == [Scope(space, 0, Reach.BELOW), None, Scope(space, None), Scope(space, MAIN)]


def test_escape_clears_the_scope(panel_of, qtbot):
    panel = panel_of(document_of(said("a")))
    click(qtbot, panel, "a")
    with qtbot.waitSignal(panel.scope_requested) as asked:
        press(qtbot, panel, Qt.Key.Key_Escape)
    assert asked.args == [None]
    assert panel.view.marked_row == -1


def test_a_scope_below_a_collapsed_row_marks_that_row(panel_of):
    document = document_of(said("a/b"))
    panel = panel_of(document)
    panel.show_scope(Scope(document.analysis.contexts.spaces[0], 1))
    panel.model.set_expanded(row_named(panel, "a"), False)
    assert panel.model.label(panel.view.marked_row) == "a"
    assert not panel.view.selectionModel().hasSelection()
    panel.model.set_expanded(row_named(panel, "a"), True)
    assert panel.model.label(panel.view.selectionModel().selectedRows()[0].row()) == "b"


def test_without_a_scope_the_context_of_the_message_is_marked(panel_of):
    document = document_of(said("a"), said("b"))
    panel = panel_of(document)
    space = document.analysis.contexts.spaces[0]
    panel.show_message_context(space, 1)
    assert panel.model.label(panel.view.marked_row) == "b"
    panel.show_scope(Scope(space, 0))
    assert panel.model.label(panel.view.marked_row) == "a"
    panel.show_scope(None)
    panel.show_message_context(space, MAIN)
    assert panel.model.label(panel.view.marked_row) == "main"
    panel.show_message_context(0, None)
    assert panel.view.marked_row == -1


def action(menu: QMenu, title: str):
    return next(a for a in menu.actions() if a.text() == title)


def test_the_menu_offers_reaches_filter_and_copies(panel_of, qtbot):
    panel = panel_of(document_of(said('a/"b"')))
    row = row_named(panel, '"b"')
    for title, reach in (
        ("This context and below", Reach.BELOW),
        ("This one only", Reach.ONLY),
        ("Direct children", Reach.CHILDREN),
    ):
        with qtbot.waitSignal(panel.scope_requested) as asked:
            action(panel.menu_for(row), title).trigger()
        assert asked.args[0].reach is reach
        assert action(panel.menu_for(row), title).isChecked()
    with qtbot.waitSignal(panel.filter_requested) as filtered:
        action(panel.menu_for(row), "Filter by this").trigger()
    assert filtered.args == ['context under "a/\\"b\\""', "replace"]
    with qtbot.waitSignal(panel.filter_requested) as filtered:
        action(panel.menu_for(row), "And not this").trigger()
    assert filtered.args[1] == "and_not"
    compile_filter(filtered.args[0])
    action(panel.menu_for(row), "Copy path").trigger()
    assert QGuiApplication.clipboard().text() == 'a/"b"'
    action(panel.menu_for(row), "Copy id").trigger()
    assert QGuiApplication.clipboard().text() == '"b"'
    action(panel.menu_for(row), "Clear scope").trigger()
    assert panel.scope is None


def test_filters_of_spaces_and_main_can_be_read(panel_of):
    document = document_of(said("a"), received(envelope(context="a"), space_id="other"), envelope(context="a"))
    panel = panel_of(document)
    texts: list[str] = []
    panel.filter_requested.connect(lambda text, _mode: texts.append(text))
    for row in (2, 4, 6):
        action(panel.menu_for(row), "Filter by this").trigger()
    assert texts == ['space == "demo" && context under "a"', 'space == "other" && !context', "!space"]
    for text in texts:
        compile_filter(text)


# Keys and chevrons


def test_keys_behave_as_in_a_tree(panel_of, qtbot):
    panel = panel_of(document_of(said("a/b/c"), said("d")))
    panel.view.setFocus()
    panel.view.setCurrentIndex(panel.model.index(0, 0))
    press(qtbot, panel, Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Down)
    assert current(panel) == "b"
    press(qtbot, panel, Qt.Key.Key_Right)
    assert shown(panel.model)[3:5] == ["    b 1", "      c 1"]
    press(qtbot, panel, Qt.Key.Key_Right)
    assert current(panel) == "c"
    press(qtbot, panel, Qt.Key.Key_Left)
    assert current(panel) == "b"
    press(qtbot, panel, Qt.Key.Key_Left, Qt.Key.Key_Left)
    assert current(panel) == "a"
    assert shown(panel.model) == ["demo 2", "  main 0", "  a 1", "    b 1", "  d 1"]
    with qtbot.waitSignal(panel.scope_requested) as asked:
        press(qtbot, panel, Qt.Key.Key_Return)
    assert asked.args[0].node == 0


def test_moving_the_cursor_does_not_scope(panel_of, qtbot):
    panel = panel_of(document_of(said("a")))
    panel.view.setFocus()
    with qtbot.assertNotEmitted(panel.scope_requested):
        press(qtbot, panel, Qt.Key.Key_Down, Qt.Key.Key_Down)
    assert not panel.view.selectionModel().hasSelection()


def test_the_chevron_expands_without_scoping(panel_of, qtbot):
    panel = panel_of(document_of(said("a/b")))
    place = panel.view.visualRect(panel.model.index(2, 0))
    with qtbot.assertNotEmitted(panel.scope_requested):
        qtbot.mouseClick(panel.view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(28, place.center().y()))
    assert shown(panel.model) == ["demo 1", "  main 0", "  a 1"]


def test_expand_all_and_collapse_all(panel_of, qtbot):
    panel = panel_of(document_of(said("a/b/c/d")))
    button = panel.findChild(object, "contextsExpand")
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert len(shown(panel.model)) == 6
    assert button.toolTip() == "Collapse all"
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert shown(panel.model) == ["demo 1", "  main 0", "  a 1"]


# Finding


def test_finding_keeps_matches_with_their_ancestors(tmp_path, panel_of, qtbot):
    live = Live(tmp_path, said("a/b/plan"), said("other"), start("r", "A PLAN to look at"))
    panel = panel_of(live.document)
    panel.view.setFocus()
    qtbot.keyClicks(panel.view, "p")
    qtbot.keyClicks(panel.find_box, "lan")
    assert shown(panel.model) == ["demo 3", "  a 1", "    b 1", "      plan 1", "  A PLAN to look at 0"]
    follow(panel, live.say(said("new/planet"), said("nothing")))
    qtbot.waitUntil(lambda: shown(panel.model)[-2:] == ["  new 1", "    planet 1"])
    qtbot.keyClick(panel.find_box, Qt.Key.Key_Return)
    assert current(panel) == "plan"
    qtbot.keyClick(panel.find_box, Qt.Key.Key_Escape)
    assert panel.find_box.text() == ""
    assert len(shown(panel.model)) == 9


def test_finding_nothing_says_so(panel_of):
    panel = panel_of(document_of(said("a")))
    panel.find_box.setText("zzz")
    assert panel.view.empty_text == "No context matches."
    panel.find_box.setText("")
    assert panel.view.empty_text == ""


# Activity


def ends(depths: list[int]) -> list[int]:
    """One past the last row below each row, looked for one by one."""
    count = len(depths)
    return [next((n for n in range(row + 1, count) if depths[n] <= depths[row]), count) for row in range(count)]


def test_a_halo_stays_while_messages_come_and_then_fades(tmp_path, panel_of, monkeypatch, qtbot):
    live = Live(tmp_path, said("a/b/c"))
    panel = panel_of(live.document)
    now = 100.0
    monkeypatch.setattr("inspector.ui.panels.contexts.model.time.monotonic", lambda: now)
    follow(panel, live.say(said("a/b/c")))
    activity, code = panel.model.halos, panel.model.code(row_named(panel, "b"))  # c is hidden below b
    assert activity.halo(code, now + HOLD_S) == 1
    assert activity.halo(code, now + HOLD_S + FADE_S / 2) == pytest.approx(0.5)
    assert activity.halo(code, now + HOLD_S + FADE_S) == 0
    now = 200.0
    qtbot.waitUntil(activity.still)


def test_halos_are_off_when_nothing_may_move(tmp_path, panel_of):
    live = Live(tmp_path, said("a"))
    panel = panel_of(live.document)
    panel.set_animated(False)
    follow(panel, live.say(said("a")))
    assert panel.model.halos.still()


def test_states_go_by_the_clock_while_live(tmp_path, panel_of):
    live = Live(tmp_path, said("a"))
    panel = panel_of(live.document)
    last = live.document.analysis.contexts.last_ns[0]
    live.document.analysis.now_ns = last + 29_000_000_000
    assert panel.model.state(2) == "active"
    live.document.analysis.now_ns = last + 31_000_000_000
    panel.tick(live.document.analysis.now_ns)
    assert panel.model.state(2) == "idle"


def test_both_themes_paint_the_whole_panel(panel_of, theme_controller, qtbot):
    panel = panel_of(document_of(said("a/b/c"), start("r", "Why?"), said("r"), said("x" * 3000)))
    light = panel.grab().toImage()
    theme_controller.set_setting("dark")
    assert panel.grab().toImage() != light
    theme_controller.set_zoom(1.5)
    assert panel.view.row_height == theme_controller.theme.metrics.row


def test_codes_of_spaces_do_not_meet():
    codes = [f(place) for place in range(5) for f in (root_code, main_code, source_code)]
    assert codes == list(range(-1, -16, -1))


# Many contexts


@pytest.mark.sweep
def test_a_thousand_changes_a_flush_move_nothing_that_is_looked_at(tmp_path, panel_of):
    """New contexts, new messages and moves all over a tree; scope, cursor, expansion and scroll stay."""
    live = Live(tmp_path, *(said(f"c{n}/x{m}") for n in range(60) for m in range(20)))
    panel = panel_of(live.document)
    panel.show_scope(Scope(live.tree.space[0], live.node("c30")))
    panel.model.set_expanded(row_named(panel, "c31"), False)
    panel.view.setCurrentIndex(panel.model.index(row_named(panel, "c32"), 0))
    panel.view.verticalScrollBar().setValue(panel.view.row_height * 700 + 5)
    top = panel.view.row_at(0)
    eyed = panel.model.code(top), panel.view.visualRect(panel.model.index(top, 0)).top()
    for turn in range(3):
        lines = [said(f"c{n}/new{turn}-{m}") for n in range(60) for m in range(6)]
        lines += [said(f"c{n}/x{m}") for n in range(60) for m in range(8)]
        lines += [line for n in range(40) for line in (said(f"m{turn}-{n}"), start(f"m{turn}-{n}", "Why", f"c{n}"))]
        lines += [start(f"c{turn}", "Why", "c59")]  # a branch of what is shown goes elsewhere
        follow(panel, live.say(*lines))
        top = panel.view.row_at(0)
        assert (panel.model.code(top), panel.view.visualRect(panel.model.index(top, 0)).top()) == eyed
        assert panel.model.label(panel.view.marked_row) == "c30"
        assert current(panel) == "c32"
        assert not panel.model.is_expanded(row_named(panel, "c31"))


@pytest.mark.in_process("watches the contexts of the document")
def test_contexts_that_hold_no_message_are_painted_without_a_look_below(panel_of, monkeypatch):
    document = document_of(*(said(f"r{n % 3}/n{n}") for n in range(300)))
    panel = panel_of(document)
    asked: list[int] = []
    contexts = document.analysis.contexts
    monkeypatch.setattr(contexts, "state", lambda node, now=None: asked.append(node) or "idle")
    panel.view.renew_rows()
    panel.view.grab()
    assert asked
    assert not {node for node in asked if contexts.tree.implicit[node]}


def test_what_is_picked_is_said_whether_or_not_it_is_the_scope(panel_of, qtbot) -> None:
    document = document_of(said("a"), said(None))
    panel = panel_of(document)
    picked, spaces, asked = [], [], []
    panel.selected.connect(lambda space, node: picked.append((space, node)))
    panel.space_selected.connect(lambda: spaces.append(1))
    panel.details_requested.connect(lambda: asked.append(1))
    rows = {panel.model.label(row): row for row in range(panel.model.rowCount())}
    space, node = panel.model.space(rows["a"]), panel.model.node(rows["a"])
    for _ in range(2):  # the second click takes the scope away again
        qtbot.mouseClick(
            panel.view.viewport(), Qt.MouseButton.LeftButton,
            pos=panel.view.visualRect(panel.model.index(rows["a"], 0)).center(),
        )  # fmt: skip
    panel.view.setCurrentIndex(panel.model.index(rows["main"], 0))
    qtbot.keyClick(panel.view, Qt.Key.Key_Return)
    assert picked == [(space, node), (space, node), (space, MAIN)]
    panel.view.setCurrentIndex(panel.model.index(0, 0))
    qtbot.keyClick(panel.view, Qt.Key.Key_Return)
    assert (len(picked), spaces, asked) == (3, [1], [])
    scopes = []
    panel.scope_requested.connect(scopes.append)
    menu = panel.menu_for(rows["a"])
    next(action for action in menu.actions() if action.text() == "Show in details").trigger()
    assert (picked[-1], asked, scopes) == ((space, node), [1], [])
    assert "Show in details" not in [action.text() for action in panel.menu_for(0).actions()]


def test_what_no_released_version_has_says_how_it_is_told(panel_of):
    panel = panel_of(document_of(said(None, thread_id="t1"), said("plain")))
    tips = [tip_of(panel.model, row_named(panel, name)) for name in ("t1", "plain")]
    assert ["Declared by thread_id: k9j, option 5" in tip for tip in tips] == [True, False]


@pytest.mark.sweep
def test_a_chain_of_thousands_can_be_expanded_scoped_and_read(panel_of, window, qtbot):
    """Levels beyond those that have room are not indented further; the scope is called by its ends."""
    chain = [said({"id": f"n{n}", "parent": f"n{n - 1}"}) for n in range(1, 3_000)]
    document = document_of(*chain)
    panel = panel_of(document)
    panel.expand_all()
    last = panel.model.rowCount() - 1
    assert panel.model.label(last) == "n2999"
    panel.view.scrollTo(panel.model.index(last, 0))
    panel.view.viewport().repaint()
    assert "Path: n0/…2996…/n2997/n2998/n2999" in tip_of(panel.model, last)
    assert panel.model.describe(last).startswith("level 3001")
    panel.collapse_all()
    node = document.analysis.contexts.node_of(2_998)
    assert panel.model.rows.shown_row(node) == row_named(panel, "n0")
    run_to_end(window.showing(client_of(document_of(*chain), window)))
    panes_of(window).filter_state.set_scope(Scope(document.analysis.contexts.tree.space[node], node))
    chip = window.findChild(ScopeChip)
    qtbot.waitUntil(lambda: chip.words() == "n0 / …2996… / n2997 / n2998 / n2999, and below")


def test_only_reasoning_looks_like_reasoning_and_says_what_it_concluded(panel_of) -> None:
    panel = panel_of(document_at(ROOT / "tests/data/contexts/a06-five-filters.jsonl"))
    model = panel.model
    rows = {model.label(row): row for row in range(model.rowCount())}
    read_out = {
        name: "reasoning" in model.describe(rows[name]).replace("reason-789", "") for name in ("reason-789", "wf")
    }
    assert read_out == {"reason-789": True, "wf": False}
    tips = {name: tip_of(panel.model, rows[name]) for name in ("reason-789", "wf", "sub")}
    assert "Concluded in No. 6: t6" in tips["reason-789"]
    assert "Concluded in No. 4: t4" in tips["wf"]
    assert "Concluded" not in tips["sub"]


def test_labels_that_begin_alike_show_their_ends(panel_of) -> None:
    alike = [f"Review the payment service for missing {what}" for what in ("retries", "timeouts")]
    texts = [*alike, "Write the changelog"]
    panel = panel_of(document_of(*(start(f"r{n}", text) for n, text in enumerate(texts))))
    elided = {
        part.text: part.elide
        for row in range(panel.model.rowCount())
        for part in panel.model.spec(row).lines[0][0]
        if isinstance(part, Text)
    }
    assert [elided[text] for text in texts] == ["middle", "middle", "right"]
