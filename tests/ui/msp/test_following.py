"""A window of sessions follows their edits, and keeps its view where it has to be read anew."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from inspector.analysis.passes.user_marks import ContextTarget
from inspector.document.document import CaptureDocument
from inspector.filters.visible import Scope
from inspector.ui.app.application import Application
from inspector.ui.msp.panel.panel import SubsessionsPanel
from inspector.ui.window.main_window import MainWindow
from tests.msp_samples import desk, large, written
from tests.ui.msp.sessions import add_message
from tests.ui.trees import tip_of
from tests.ui.windows import ask_engine, numbers, panes_of, run_in_window, state_of, texts, until


def shows(application: Application, count: int) -> bool:
    window = application.windows[0]
    return window.panes is not None and not window.opening.reading and len(numbers(window)) == count


def current_text(window: MainWindow) -> str:
    message = panes_of(window).messages.current_message()
    return "" if message is None else ask_engine(window, text_of, message)


def text_of(document: CaptureDocument, message: int) -> str:
    return str(document.capture.records.payload(message).get("text"))


def make_global(document: CaptureDocument, key: str) -> None:
    assert document.msp is not None
    sub = document.msp.subsession(key)
    assert sub is not None
    document.msp.set_visibility(sub.messages[0], "global")


def scope_of(document: CaptureDocument, context: str) -> tuple[int, int]:
    space = int(document.capture.columns["space"][0])
    return space, document.analysis.contexts.tree.find(space, context)


def test_what_is_added_and_changed_shows_at_once(qapp: QApplication, tmp_path: Path) -> None:
    path = written(tmp_path, desk())

    async def steps(application: Application) -> None:
        application.open_targets([str(path)])
        await until(lambda: shows(application, 10), "the rows of the sessions")
        window = application.windows[0]
        panes = panes_of(window)
        ask_engine(window, add_message, "s1", "and a rankine?")
        await until(lambda: shows(application, 11), "the new row")
        assert "and a rankine?" in texts(window)[-1]
        ask_engine(window, make_global, "s1")
        panes.filter_state.apply_filter('visibility == "global"')
        assert [text for text in texts(window) if "kelvin" in text]
        assert panes_of(window) is panes
        window.close()

    run_in_window(qapp, steps)


def test_what_is_taken_away_is_read_anew_and_the_view_stays(qapp: QApplication, tmp_path: Path) -> None:
    path = written(tmp_path, large(20, 20))

    async def steps(application: Application) -> None:
        application.open_targets([str(path)])
        await until(lambda: shows(application, 422), "the rows of the sessions")
        window = application.windows[0]
        panes = panes_of(window)
        window.actions_by_id["view.subsessions"].trigger()
        panel = window.center.currentWidget()
        assert isinstance(panel, SubsessionsPanel)
        panel.show_subsession("s3")
        QTest.keyClicks(panel.chat.input.text, "too much")
        QTest.keyClick(panel.chat.input.text, Qt.Key.Key_Return)
        window.actions_by_id["view.messages"].trigger()
        panes.filter_state.apply_filter('text contains "message"')
        panes.filter_state.set_scope(Scope(*ask_engine(window, scope_of, "s3")))
        await until(lambda: len(numbers(window)) == 20, "the rows of the scope")
        panes.messages.go_to(numbers(window)[7] - 1)
        panes.messages.view.selection.messages.toggle(numbers(window)[3] - 1, numbers(window)[7] - 1)
        assert len(panes.messages.selected_messages()) == 2
        before = (current_text(window), texts(window), window.center.current, panes.filter_state.filter.text)
        window.actions_by_id["edit.undo"].trigger()
        await until(lambda: window.panes is not panes and not window.msp.following.active, "the panes made anew")
        await until(lambda: len(numbers(window)) == 20, "the rows of the scope again")
        after = panes_of(window)
        assert (current_text(window), texts(window), window.center.current, after.filter_state.filter.text) == before
        assert after.filter_state.scope is not None
        assert len(after.messages.selected_messages()) == 2
        assert state_of(window).messages == 422
        ask_engine(window, add_message, "s3", "a message once more")  # what is shown now follows, too
        await until(lambda: len(numbers(window)) == 21, "the row of what came then")
        window.close()

    run_in_window(qapp, steps)


def test_a_context_is_offered_as_a_sub_session(qapp: QApplication, tmp_path: Path) -> None:
    path = written(tmp_path, desk())

    async def steps(application: Application) -> None:
        application.open_targets([str(path)])
        await until(lambda: shows(application, 10), "the rows of the sessions")
        window = application.windows[0]
        contexts = panes_of(window).contexts
        labels = [contexts.model.label(row) for row in range(contexts.model.rowCount())]
        assert labels == ["m1", "main", "about s1", "about s2"]
        assert [contexts.model.count(row) for row in range(4)] == [5, 2, 3, 2]
        assert [contexts.model.state(row) for row in range(4)] == ["", "active", "active", "concluded"]
        assert "Id: s1" in tip_of(contexts.model, 2)
        menu = contexts.menu_for(2)
        (action,) = (one for one in menu.actions() if "MSP" in one.text())
        assert action.text() == "Export as MSP sub-session..."
        space, node = contexts.model.space(2), contexts.model.node(2)
        assert node is not None
        target = tmp_path / "out.json"
        window.exporting.export_context(target, ContextTarget(space, node))
        await until(target.exists, "the file")
        window.close()

    run_in_window(qapp, steps)
