"""A causal chain shown alone in the table, and walked: as the user does it."""

from __future__ import annotations

from typing import cast

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from inspector.document.document import CaptureDocument
from inspector.present.message_columns import Column
from inspector.ui.app.application import Application
from inspector.ui.docview.panes import Panes
from inspector.ui.look.roles import Role
from inspector.ui.panels.details.chain_view import ChainView
from inspector.ui.panels.details.facts_view import FactsView
from inspector.ui.widgets.filter_editor import FilterEditor
from inspector.ui.window.main_window import MainWindow
from tests.builders import GrowingLog, document_of, envelope, tool_call, tool_result
from tests.ui.find import child
from tests.ui.windows import in_turn, panes_of, window_on

CALL = {"method": "tools/call", "params": {"name": "write_file", "arguments": {"path": "a"}}}


def a_story() -> CaptureDocument:
    """No. 1 asks; 3 reasons in `r`, 4 proposes there, 6 fulfils, 7 answers; 2 and 5 are about something else."""
    return document_of(
        envelope(id="q", sender="human"),
        envelope(id="other", sender="lead"),
        envelope("reasoning/start", {"message": "Think"}, id="r", sender="coder", correlation_id=["q"]),
        envelope("mcp/proposal", CALL, id="p", sender="coder", context="r"),
        envelope(sender="lead"),
        envelope("mcp/request", CALL, id="f", sender="human", to=["files"], correlation_id=["p"]),
        envelope("mcp/response", {"result": {}}, id="a", sender="files", to=["human"], correlation_id=["f"]),
    )


@pytest.fixture
def window(application: Application) -> MainWindow:
    made = window_on(application, a_story())
    made.show()
    return made


def numbers(panes: Panes) -> list[int]:
    return [message + 1 for message in panes.rows.visible.tolist()]


def current(panes: Panes) -> int:
    message = panes.messages.current_message()
    assert message is not None
    return message + 1


def the_chain_alone_is_a_filter_like_any_other(window: MainWindow, qtbot: QtBot) -> None:
    panes = panes_of(window)
    panes.go_to(5)
    window.actions_by_id["go.chain_alone"].trigger()
    assert numbers(panes) == [1, 3, 4, 6, 7]
    assert current(panes) == 6
    assert window.filter_bar.text() == "no in {1, 3, 4, 6, 7}"
    panes.filter_state.apply_filter('kind == "chat"')
    assert numbers(panes) == [1, 2, 5]


def back_restores_the_view_it_was_asked_in(window: MainWindow, qtbot: QtBot) -> None:
    panes = panes_of(window)
    panes.go_to(6)
    panes.filter_state.apply_filter('from != "lead"')
    panes.chain.show(6)
    window.actions_by_id["go.chain_previous"].trigger()
    assert (current(panes), numbers(panes)) == (6, [1, 3, 4, 6, 7])
    window.actions_by_id["go.back"].trigger()
    assert (current(panes), window.filter_bar.text()) == (7, "no in {1, 3, 4, 6, 7}")
    window.actions_by_id["go.back"].trigger()
    assert (current(panes), window.filter_bar.text()) == (7, 'from != "lead"')
    assert numbers(panes) == [1, 3, 4, 6, 7]


def test_back_after_a_chain_was_left_leads_to_the_whole_view(window: MainWindow) -> None:
    panes = panes_of(window)
    panes.go_to(6)
    for _ in range(2):
        window.actions_by_id["go.chain_alone"].trigger()
    panes.go_to(1)
    window.actions_by_id["go.back"].trigger()
    assert (current(panes), window.filter_bar.text()) == (7, "")
    assert len(numbers(panes)) == 7


def back_restores_the_scope_too(window: MainWindow, qtbot: QtBot) -> None:
    panes = panes_of(window)
    panes.go_to(3)
    panes.details.links.scope_requested.emit(3)
    assert numbers(panes) == [4]
    panes.chain.show(3)
    assert numbers(panes) == [1, 3, 4, 6, 7]
    assert panes.filter_state.scope is None
    panes.go_back()
    assert numbers(panes) == [4]


def the_table_s_menu_and_the_details_ask_for_it(window: MainWindow, qtbot: QtBot) -> None:
    panes = panes_of(window)
    panes.go_to(3)
    menu = panes.messages.view.menu.build(3, Column.MESSAGE)
    next(action for action in menu.actions() if action.objectName() == "chain").trigger()
    assert numbers(panes) == [1, 3, 4, 6, 7]
    panes.filter_state.clear()
    panes.details.show_tab("Related")
    link = cast(QWidget, panes.details.findChild(QWidget, "showChainAlone"))
    qtbot.mouseClick(link, Qt.MouseButton.LeftButton)
    assert numbers(panes) == [1, 3, 4, 6, 7]


def one_key_walks_the_whole_chain_over_contexts_and_back(window: MainWindow, qtbot: QtBot) -> None:
    panes = panes_of(window)
    panes.go_to(0)
    seen = [current(panes)]
    for _ in range(6):
        qtbot.keyClick(window, Qt.Key.Key_BracketRight, Qt.KeyboardModifier.ControlModifier)
        seen.append(current(panes))
    assert seen == [1, 3, 4, 6, 7, 7, 7]
    for _ in range(4):
        qtbot.keyClick(window, Qt.Key.Key_BracketLeft, Qt.KeyboardModifier.ControlModifier)
    assert current(panes) == 1


def test_a_walk_stays_on_the_chain_it_began_on(application: Application) -> None:
    asks = [tool_call(f"t{n}", id=f"q{n}", context="r") for n in range(3)]
    lines = [envelope("reasoning/start", {"message": "x"}, id="r")]
    lines += [line for ask in asks for line in (ask, tool_result(ask, context="r"))]
    panes = panes_of(window_on(application, document_of(*lines)))
    panes.go_to(0)
    seen = []
    for _ in range(6):
        panes.chain.step(1)
        seen.append(current(panes))
    assert seen == [2, 3, 4, 5, 6, 7], "the siblings of a call are no part of its own chain, but of the start's"
    panes.go_to(3)  # a new walk, on the chain of this call
    panes.chain.step(1)
    panes.chain.step(1)
    assert current(panes) == 5


def test_it_stays_in_step_while_the_chain_grows(application: Application, qtbot: QtBot) -> None:
    log = GrowingLog()
    window = window_on(application, log.document)
    window.show()
    panes = panes_of(window)
    log.write(envelope(id="q"), envelope("mcp/proposal", CALL, id="p", correlation_id=["q"]), envelope(id="x"))
    panes.bridge.flush()
    panes.go_to(1)
    panes.chain.show(1)
    assert numbers(panes) == [1, 2]
    log.write(envelope(), envelope("mcp/request", CALL, id="f", sender="human", correlation_id=["p"]))
    panes.bridge.flush()
    qtbot.waitUntil(lambda: numbers(panes) == [1, 2, 5])
    assert window.filter_bar.text() == "no in {1, 2, 5}"
    assert window.filter_bar.history() == ["no in {1, 2, 5}"]
    child(window.filter_bar, FilterEditor).set_text("kind")  # being typed: stays
    log.write(envelope("mcp/response", {"result": {}}, correlation_id=["f"]))
    panes.bridge.flush()
    qtbot.waitUntil(lambda: numbers(panes) == [1, 2, 5, 6])
    assert window.filter_bar.text() == "kind"
    panes.go_back()
    assert numbers(panes) == [1, 2, 3, 4, 5, 6]


def test_another_filter_ends_it_for_good(application: Application, qtbot: QtBot) -> None:
    log = GrowingLog()
    panes = panes_of(window_on(application, log.document))
    log.write(envelope(id="q"), envelope(id="x"))
    panes.bridge.flush()
    panes.go_to(0)
    panes.chain.show(0)
    panes.filter_state.apply_filter("no <= 1")
    log.write(envelope(correlation_id=["q"]))
    panes.bridge.flush()
    qtbot.wait(350)
    assert panes.filter_state.filter.text == "no <= 1"


# What waits


def test_what_waits_is_listed_and_says_how_long_while_live(application: Application, qtbot: QtBot) -> None:
    log = GrowingLog()
    window = window_on(application, log.document)
    window.show()
    panes, analysis = panes_of(window), log.document.analysis
    at = 1_767_603_600_000_000_000
    asks = [
        {"t": at + n * 10**9, "dir": "in", "src": 0, "frame": frame}
        for n, frame in enumerate((
            envelope(id="q", ts=None),
            envelope("mcp/proposal", CALL, id="p", correlation_id=["q"], ts=None),
            envelope("mcp/request", {"method": "notifications/progress"}, ts=None),
            tool_call("grep", id="r", ts=None),
        ))
    ]  # fmt: skip
    analysis.now_ns = at + 5 * 10**9
    log.write(*asks)
    panes.bridge.flush()
    window.actions_by_id["analyze.pending"].trigger()
    assert numbers(panes) == [2, 4]
    panes.messages.model.clock_ns = lambda: at + 5 * 10**9
    told = [panes.messages.model.index(row, 0).data(Role.WAITING) for row in (0, 1)]
    assert told == ["waiting 4.0 s", "waiting 2.0 s"]
    panes.go_to(1)
    chain = cast("ChainView", panes.details.findChild(ChainView))
    state = cast("FactsView", panes.details.findChild(FactsView, "proposalState"))
    assert "waiting 4.0 s" in chain.row_text(chain.rows[1])
    panes.tick(at + 70 * 10**9)
    assert "waiting 1 min 9 s" in chain.row_text(chain.rows[1])
    assert state.rows[0].value == "No decision yet, 1 min 9 s after the proposal."
    log.write(envelope("mcp/reject", {"reason": "unsafe"}, sender="files", correlation_id=["p"], ts=None))
    panes.bridge.flush()
    assert numbers(panes) == [4]


def test_a_request_in_the_details_says_how_long_it_waits(application: Application) -> None:
    log = GrowingLog()
    panes = panes_of(window_on(application, log.document))
    at = 1_767_603_600_000_000_000
    log.document.analysis.now_ns = at + 3 * 10**9
    log.write({"t": at, "dir": "in", "src": 0, "frame": tool_call("grep", id="r", ts=None)})
    panes.bridge.flush()
    panes.go_to(0)
    state = cast("FactsView", panes.details.findChild(FactsView, "requestState"))
    assert state.rows[0].value == "No answer yet, 3.0 s after the request."
    assert panes.details.head.state is not None
    assert panes.details.head.state.word == "waiting"
    panes.tick(at + 20 * 10**9)
    assert state.rows[0].value == "No answer yet, 20.0 s after the request."
    assert panes.details.head.state.word == "waiting"


def test_everyone_who_acted_on_a_proposal_is_named(application: Application) -> None:
    document = document_of(
        envelope("mcp/proposal", CALL, id="p", sender="coder"),
        envelope("mcp/reject", {"reason": "unsafe"}, sender="lead", correlation_id=["p"]),
        envelope("mcp/withdraw", {"reason": "no"}, sender="lead", correlation_id=["p"]),
        envelope("mcp/request", CALL, id="f", sender="human", to=["files"], correlation_id=["p"]),
        envelope("mcp/response", {"error": {"code": 1, "message": "no"}}, sender="files", correlation_id=["f"]),
    )
    panes = panes_of(window_on(application, document))
    panes.go_to(0)
    acted = cast("FactsView", panes.details.findChild(FactsView, "whoActed"))
    assert [(row.name, row.value.partition(",")[0]) for row in acted.rows] == [
        ("Rejected by", "lead"), ("Withdrawal by", "lead"), ("Fulfilled by", "human"), ("Failed at", "files"),
    ]  # fmt: skip
    state = cast("FactsView", panes.details.findChild(FactsView, "proposalState"))
    assert state.rows[0].value == "Fulfilled, but the call failed."


def related_says_how_long_each_step_took(window: MainWindow, qtbot: QtBot) -> None:
    panes = panes_of(window)
    panes.go_to(6)
    panes.details.show_tab("Related")
    chain = cast("ChainView", panes.details.pages["Related"].findChild(ChainView))
    said = [chain.row_text(row) for row in chain.rows]
    assert ["took" in text for text in said] == [False, False, False, False, True]
    assert "took 1.0 s, No. 7" in said[-1]


def the_key_takes_the_chain_back(window: MainWindow, qtbot: QtBot) -> None:
    panes = panes_of(window)
    panes.filter_state.apply_filter("no < 7")
    panes.go_to(3)
    alone = window.actions_by_id["go.chain_alone"]
    alone.trigger()
    shown = numbers(panes)
    assert shown == [1, 3, 4, 6, 7]
    panes.chain.step(-1)
    alone.trigger()
    assert panes.filter_state.filter.text == "no < 7"
    assert numbers(panes) == [1, 2, 3, 4, 5, 6]
    assert current(panes) == 3


def a_message_without_a_chain_says_so(window: MainWindow, qtbot: QtBot) -> None:
    panes = panes_of(window)
    panes.go_to(1)
    window.actions_by_id["go.chain_alone"].trigger()
    assert len(numbers(panes)) == 7
    notice = window.notices.notice("no-other")
    assert notice is not None
    assert notice.text == "The chain of this message has no other message."


def begun_again(window: MainWindow) -> None:
    """Everything is shown, and the first page of the details."""
    panes_of(window).filter_state.clear()
    panes_of(window).details.show_tab("Overview")


test_a_chain_alone = in_turn([
    the_chain_alone_is_a_filter_like_any_other, back_restores_the_view_it_was_asked_in, back_restores_the_scope_too,
    the_table_s_menu_and_the_details_ask_for_it, one_key_walks_the_whole_chain_over_contexts_and_back,
    related_says_how_long_each_step_took, the_key_takes_the_chain_back, a_message_without_a_chain_says_so,
], begun_again)  # fmt: skip
