"""What was open is open again: a user closes the program, and starts it anew."""

from __future__ import annotations

import gzip
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication, QLabel

from inspector.demo.gateway import DemoGateway
from inspector.engine.request import Request
from inspector.engine.requests.saved_views import FindScope
from inspector.filters.scope import Reach
from inspector.settings import ConnectionSettings, NamedConnection
from inspector.settings.window_state import SavedWindow, WindowState, last_open_path, load_last_open
from inspector.sources.connection import Connection
from inspector.ui.app import last_open
from inspector.ui.app.application import Application
from inspector.ui.features.window_restoring import Restoring
from inspector.ui.widgets.buttons import LinkButton
from inspector.ui.window.main_window import MainWindow
from tests.builders import envelope
from tests.ui.waiting import time_passes
from tests.ui.windows import panes_of, run_in_window, state_of, until

SECRET = "sk-proj-Ab12Cd34Ef56Gh78Ij90Kl12Mn34Op56"


def log_of(folder: Path, name: str = "work.jsonl", count: int = 300) -> Path:
    """A log of numbered messages, every third of them in a context."""
    path = folder / name
    lines = [
        json.dumps(
            envelope("chat", {"text": f"{name} {n}"}, id=f"m-{n}", **({"context": "why/deep"} if n % 3 == 0 else {}))
        )
        for n in range(count)
    ]
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def started(qapp: QApplication, steps: Callable[[Application], Awaitable[None]]) -> None:
    """Run the program from its start to its end, as without arguments."""

    async def whole(application: Application) -> None:
        application.keep_last_open()
        assert application.last_open is not None
        if not application.last_open.open_before():
            application.open_targets([])
        await steps(application)

    run_in_window(qapp, whole)


def left_open(qapp: QApplication, log: Path, *, at: int | None = None) -> None:
    """Run the program until a log is open, and somebody has gone to a message."""

    async def first(application: Application) -> None:
        await opened(application.windows[0], log)
        if at is not None:
            panes_of(application.windows[0]).go_to(at)
        await application.quit()

    started(qapp, first)


def opened_twice_in_vain(qapp: QApplication, log: Path) -> None:
    """As two starts leave it that ended hard with this log."""
    left_open(qapp, log)
    raw = json.loads(last_open_path().read_text())
    last_open_path().write_text(json.dumps({**raw, "attempts": 2}))


async def opened(window: MainWindow, path: Path) -> None:
    window.opening.open_path(path)
    await read(window)


async def read(window: MainWindow) -> None:
    await until(lambda: window.panes is not None and not window.opening.reading, "the log")
    await until(lambda: window.restoring.saved is None, "everything to stand again")


def said(window: MainWindow) -> str:
    return " ".join(label.text() for label in window.notices.findChildren(QLabel))


def test_filter_conditions_place_tab_and_view_come_back(qapp: QApplication, tmp_path: Path) -> None:
    log = log_of(tmp_path)

    async def first(application: Application) -> None:
        window = application.windows[0]
        await opened(window, log)
        panes = panes_of(window)
        panes.filter_state.combine_filter('kind == "chat"', "and")
        panes.filter_state.combine_filter("no > 7", "and")
        panes.filter_state.apply_stack(panes.filter_state.stack.with_switched(1, on=False).with_text("no < 250"))
        panes.go_to(120)
        panes.details.show_tab("Raw")
        panes.messages.view.anchor.put_at_top(111, -3)
        await application.quit()

    async def second(application: Application) -> None:
        assert len(application.windows) == 1
        window = application.windows[0]
        await read(window)
        panes = panes_of(window)
        assert panes.filter_state.stack.text == "no < 250"
        assert [(one.text, one.on) for one in panes.filter_state.stack.conditions] == [
            ('kind == "chat"', True),
            ("no > 7", False),
        ]
        assert len(panes.rows.visible) == 249
        assert panes.messages.current_message() == 120
        assert panes.messages.view.anchor.at_top() == (111, -3)
        assert panes.details.tabs.currentIndex() == 2
        assert window.filter_bar.text() == "no < 250"

    started(qapp, first)
    started(qapp, second)


def test_scope_order_view_and_docks_come_back(qapp: QApplication, tmp_path: Path) -> None:
    log = log_of(tmp_path)

    async def first(application: Application) -> None:
        window = application.windows[0]
        await opened(window, log)
        panes = panes_of(window)
        panes.go_to(3)
        panes.details.links.scope_requested.emit(3)
        panes.messages.sorter.sort("no", descending=True)
        window.docks["Findings"].show()
        window.docks["Contexts"].hide()
        window.docks["Details"].hide()  # the offscreen screen is narrow
        window.center.show_view("timeline")
        window.resize(1100, 700)
        await application.quit()

    async def second(application: Application) -> None:
        window = application.windows[0]
        assert window.height() == 700
        await read(window)
        panes = panes_of(window)
        scope = panes.filter_state.scope
        assert scope is not None
        assert scope.reach is Reach.BELOW
        assert panes.filter_state.selected_context == "why/deep"
        assert len(panes.rows.visible) == 100
        by = panes.rows.sorted_by
        assert by is not None
        assert (by.field, by.descending) == ("no", True)
        assert window.center.current == "timeline"
        assert not window.docks["Findings"].isHidden()
        assert window.docks["Contexts"].isHidden()

    started(qapp, first)
    started(qapp, second)


@pytest.mark.trouble
def test_a_scope_comes_back_when_its_answer_comes_after_the_whole_log(
    qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = log_of(tmp_path)

    async def first(application: Application) -> None:
        window = application.windows[0]
        await opened(window, log)
        panes_of(window).details.links.scope_requested.emit(3)
        await until(lambda: len(panes_of(window).rows.visible) == 100, "the scope")
        await time_passes(100)  # the scope has its name
        await application.quit()

    async def second(application: Application) -> None:
        window = application.windows[0]
        await until(lambda: window.panes is not None and not window.opening.reading, "the log")
        panes = panes_of(window)
        await until(lambda: panes.rows.seen_count == 300, "the rows")
        await time_passes(100)
        assert held
        assert window.restoring.saved is not None
        held.pop()()  # about a part of the log, or the whole
        await time_passes(100)
        for answer in held:
            answer()
        await read(window)
        assert panes.filter_state.scope is not None
        await until(lambda: len(panes.rows.visible) == 100, "the scope")

    started(qapp, first)
    held: list[Callable[[], None]] = []
    take_answer = Restoring._take_answer

    def take_later(restoring: Restoring, request: Request[Any], *others: Any) -> None:
        if isinstance(request, FindScope):
            held.append(lambda: take_answer(restoring, request, *others))
        else:
            take_answer(restoring, request, *others)

    monkeypatch.setattr(Restoring, "_take_answer", take_later)
    started(qapp, second)


def test_panes_are_as_wide_and_high_as_they_were_in_a_small_window(qapp: QApplication, tmp_path: Path) -> None:
    log = log_of(tmp_path, count=20)
    sizes: list[list[tuple[int, int]]] = []

    async def stand(window: MainWindow) -> None:
        await time_passes(100)
        docks = [window.docks[title] for title in ("Contexts", "Details", "Latency")]
        sizes.append([(0, 0) if dock.isHidden() else dock.size().toTuple() for dock in docks])

    async def first(application: Application) -> None:
        window = application.windows[0]
        window.resize(780, 620)
        await opened(window, log)
        window.docks["Latency"].show()
        await stand(window)
        await application.quit()

    async def again(application: Application) -> None:
        await read(application.windows[0])
        await stand(application.windows[0])
        await application.quit()

    started(qapp, first)
    started(qapp, again)
    started(qapp, again)
    assert sizes[0] == sizes[1] == sizes[2]
    assert sizes[0][1] == (0, 0)  # there is no room for it


@pytest.mark.trouble
def test_panes_that_gave_way_come_back_when_there_is_room(qapp: QApplication, tmp_path: Path) -> None:
    log = log_of(tmp_path, count=20)

    async def first(application: Application) -> None:
        window = application.windows[0]
        window.resize(720, 620)
        await opened(window, log)
        assert all(window.docks[title].isHidden() for title in ("Contexts", "Participants", "Details"))
        window.resize(800, 620)
        await time_passes(50)
        assert [window.docks[title].isHidden() for title in ("Contexts", "Participants", "Details")] == [0, 0, 1]
        await application.quit()

    async def again(application: Application) -> None:
        window = application.windows[0]
        window.resize(1280, 720)
        await read(window)
        await time_passes(50)
        assert not window.docks["Details"].isHidden()
        window.resize(840, 620)
        await time_passes(50)
        assert window.docks["Details"].isHidden()
        window.actions_by_id["view.details"].trigger()  # the user wants it all the same
        window.resize(820, 620)
        await time_passes(50)
        assert not window.docks["Details"].isHidden()
        window.application.theme.set_zoom(1.5)
        await time_passes(50)
        assert window.docks["Contexts"].isHidden()
        window.application.theme.set_zoom(1.0)
        await application.quit()

    started(qapp, first)
    started(qapp, again)


def test_several_windows_come_back_but_not_one_that_was_closed_by_itself(qapp: QApplication, tmp_path: Path) -> None:
    logs = [log_of(tmp_path, f"log-{n}.jsonl", 20) for n in range(3)]

    async def first(application: Application) -> None:
        for log in logs:
            application.windows[0].opening.open_path(log)
        for window in application.windows:
            await read(window)
        assert len(application.windows) == 3
        application.windows[1].close()
        await application.quit()

    async def second(application: Application) -> None:
        for window in application.windows:
            await read(window)
        assert sorted(window.document.name for window in application.windows) == ["log-0.jsonl", "log-2.jsonl"]
        while len(application.windows) > 1:
            application.windows[0].close()
        application.windows[0].close()  # the last one is what is open again

    async def third(application: Application) -> None:
        assert len(application.windows) == 1
        await read(application.windows[0])

    started(qapp, first)
    started(qapp, second)
    started(qapp, third)


def test_a_killed_program_loses_seconds_at_most(qapp: QApplication, tmp_path: Path) -> None:
    log = log_of(tmp_path)

    async def steps(application: Application) -> None:
        window = application.windows[0]
        await opened(window, log)
        panes_of(window).filter_state.apply_filter("no < 10")
        await until(lambda: load_last_open().windows and load_last_open().windows[0].filter == "no < 10", "the file")

    started(qapp, steps)


def test_secrets_are_not_written(qapp: QApplication, tmp_path: Path) -> None:
    log = log_of(tmp_path)

    async def steps(application: Application) -> None:
        window = application.windows[0]
        await opened(window, log)
        panes = panes_of(window)
        panes.filter_state.apply_stack(
            panes.filter_state.stack.with_text_stacked('payload.password == "hunter2 by heart"').with_text(
                f'payload contains "{SECRET}"'
            )
        )
        await application.quit()

    started(qapp, steps)
    written = last_open_path().read_text()
    assert SECRET not in written
    assert "hunter2" not in written
    assert load_last_open().windows[0].filter == ""
    assert last_open_path().stat().st_mode & 0o777 == 0o600


@pytest.mark.trouble
def test_a_space_or_context_that_is_a_secret_is_not_written(qapp: QApplication, tmp_path: Path) -> None:
    log = tmp_path / "work.jsonl"
    log.write_text(
        "".join(f"{json.dumps(envelope('chat', {'text': str(n)}, id=f'm-{n}', context=SECRET))}\n" for n in range(9))
    )

    async def steps(application: Application) -> None:
        window = application.windows[0]
        await opened(window, log)
        panes_of(window).details.links.scope_requested.emit(3)
        scope = panes_of(window).filter_state.scope
        assert scope is not None
        assert scope.node is not None
        await application.quit()

    started(qapp, steps)
    assert len(load_last_open().windows) == 1
    assert SECRET not in last_open_path().read_text()


def test_a_file_that_is_gone_is_one_sentence(qapp: QApplication, tmp_path: Path) -> None:
    logs = [log_of(tmp_path, f"log-{n}.jsonl", 20) for n in range(3)]

    async def first(application: Application) -> None:
        for log in logs:
            application.windows[0].opening.open_path(log)
        for window in application.windows:
            await read(window)
        await application.quit()

    async def second(application: Application) -> None:
        assert len(application.windows) == 1
        await read(application.windows[0])
        assert "These files no longer exist or do not respond: log-0.jsonl, log-1.jsonl." in said(
            application.windows[0]
        )

    async def third(application: Application) -> None:
        assert [window.panes for window in application.windows] == [None]
        assert "do not respond: log-2.jsonl" in said(application.windows[0])

    started(qapp, first)
    for log in logs[:2]:
        log.unlink()
    started(qapp, second)
    logs[2].unlink()
    started(qapp, third)


@pytest.mark.trouble
def test_another_file_of_the_same_name_keeps_the_filter_but_not_the_place(qapp: QApplication, tmp_path: Path) -> None:
    log = log_of(tmp_path)

    async def first(application: Application) -> None:
        window = application.windows[0]
        await opened(window, log)
        panes_of(window).filter_state.apply_filter("no < 200")
        panes_of(window).go_to(150)
        await application.quit()

    async def second(application: Application) -> None:
        window = application.windows[0]
        await read(window)
        assert panes_of(window).filter_state.stack.text == "no < 200"
        assert panes_of(window).messages.current_message() != 150
        assert "has changed since it was last open" in said(window)

    started(qapp, first)
    log_of(tmp_path, "other.jsonl").replace(log)
    started(qapp, second)


@pytest.mark.trouble
def test_a_log_that_has_grown_is_the_same(qapp: QApplication, tmp_path: Path) -> None:
    log = log_of(tmp_path, count=30)

    async def second(application: Application) -> None:
        await read(application.windows[0])
        assert panes_of(application.windows[0]).messages.current_message() == 12

    left_open(qapp, log, at=12)
    with log.open("a") as file:
        file.write(log_of(tmp_path, "more.jsonl").read_text())
    started(qapp, second)


@pytest.mark.trouble
def test_what_the_user_does_meanwhile_stands(qapp: QApplication, tmp_path: Path) -> None:
    log = log_of(tmp_path)

    async def second(application: Application) -> None:
        window = application.windows[0]
        await until(lambda: window.panes is not None, "rows")
        panes_of(window).filter_state.apply_filter("no < 5")
        await read(window)
        assert panes_of(window).filter_state.stack.text == "no < 5"
        assert len(panes_of(window).rows.visible) == 4

    left_open(qapp, log, at=250)
    started(qapp, second)


def test_switched_off_it_opens_nothing(qapp: QApplication, tmp_path: Path) -> None:
    log = log_of(tmp_path, count=20)

    async def first(application: Application) -> None:
        await opened(application.windows[0], log)
        application.settings.start.restore_windows = False
        application.save_settings()
        assert application.last_open is not None
        application.last_open.note()
        assert not last_open_path().exists()
        await application.quit()
        assert not last_open_path().exists()

    async def second(application: Application) -> None:
        assert [window.panes for window in application.windows] == [None]

    started(qapp, first)
    started(qapp, second)


@pytest.mark.trouble
def test_what_a_start_with_a_file_had_open_at_its_end_comes_back(qapp: QApplication, tmp_path: Path) -> None:
    log, other = log_of(tmp_path, count=20), log_of(tmp_path, "other.jsonl", 20)

    async def visit(application: Application) -> None:
        application.keep_last_open()
        application.open_targets([str(other)])
        await read(application.windows[0])
        await application.quit()

    async def third(application: Application) -> None:
        await read(application.windows[0])
        assert [window.document.name for window in application.windows] == ["other.jsonl"]

    left_open(qapp, log)
    run_in_window(qapp, visit)
    started(qapp, third)


@pytest.mark.trouble
def test_starts_that_ended_before_all_stood_only_offer_it(qapp: QApplication, tmp_path: Path) -> None:
    opened_twice_in_vain(qapp, log_of(tmp_path, count=20))

    async def offered(application: Application) -> None:
        window = application.windows[0]
        assert window.panes is None
        assert "ended twice" in said(window)
        button = next(one for one in window.notices.findChildren(LinkButton) if one.text() == "Restore anyway")
        button.click()
        await read(application.windows[0])
        assert [window.document.name for window in application.windows] == ["work.jsonl"]

    started(qapp, offered)


@pytest.mark.trouble
def test_after_an_offer_what_is_open_is_kept_again(qapp: QApplication, tmp_path: Path) -> None:
    opened_twice_in_vain(qapp, log_of(tmp_path, count=20))
    other = log_of(tmp_path, "other.jsonl", 20)

    async def offered(application: Application) -> None:
        assert application.last_open is not None
        application.last_open.note()
        assert load_last_open().attempts == 2  # still there for whoever leaves it at that
        await opened(application.windows[0], other)
        await application.quit()

    async def third(application: Application) -> None:
        await read(application.windows[0])
        assert [window.document.name for window in application.windows] == ["other.jsonl"]

    started(qapp, offered)
    assert load_last_open().attempts == 0
    started(qapp, third)


@pytest.mark.trouble
def test_an_offer_nobody_answers_is_made_again_until_it_is_to_be_forgotten(qapp: QApplication, tmp_path: Path) -> None:
    opened_twice_in_vain(qapp, log_of(tmp_path, count=20))

    async def left_at_that(application: Application) -> None:
        assert "ended twice" in said(application.windows[0])
        await application.quit()

    async def forgotten(application: Application) -> None:
        assert "ended twice" in said(application.windows[0])
        links = application.windows[0].notices.findChildren(LinkButton)
        next(one for one in links if one.text() == "Discard").click()
        assert application.windows[0].notices.notice("restoring") is None
        await application.quit()

    started(qapp, left_at_that)
    started(qapp, forgotten)
    assert load_last_open() == WindowState()


@pytest.mark.trouble
def test_a_start_is_a_good_one_when_all_has_stood_for_a_while(
    qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = log_of(tmp_path, count=20)

    async def second(application: Application) -> None:
        assert application.last_open is not None
        await read(application.windows[0])
        for _ in range(3):
            application.last_open.note()
        assert load_last_open().attempts == 1  # a crash now is the first
        monkeypatch.setattr(last_open, "GOOD_AFTER_S", 0.0)
        application.last_open.note()
        assert load_last_open().attempts == 0

    left_open(qapp, log)
    started(qapp, second)


@pytest.mark.trouble
@pytest.mark.parametrize("reconnect", [False, True])
def test_a_gateway_is_offered_and_joined_only_where_that_is_set(qapp: QApplication, reconnect: bool) -> None:
    joined: list[str] = []

    async def second(application: Application) -> None:
        application.settings.keep_connection(NamedConnection(name="Team", url="ws://gateway.test:1", space="team"))
        application.settings.start.reconnect = reconnect
        watched = {"connection": {"url": "ws://gateway.test:1", "space": "team"}, "filter": "no < 9"}
        last_open_path().write_text(json.dumps({"version": 1, "windows": [watched]}))
        application.keep_last_open()
        assert application.last_open is not None
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(
                "inspector.ui.features.connections.Connections.join", lambda self, one: joined.append(one.name)
            )
            application.last_open.open_before()
        assert len(application.windows) == 1
        assert ("This window was connected to" in said(application.windows[0])) is not reconnect

    run_in_window(qapp, second)
    assert joined == (["Team"] if reconnect else [])


@pytest.mark.trouble
def test_a_window_that_offers_a_gateway_can_be_used_for_another_thing(qapp: QApplication, tmp_path: Path) -> None:
    log = log_of(tmp_path, count=20)
    watched = {"connection": {"url": "ws://gateway.test:1", "space": "team"}, "filter": "no < 9"}
    last_open_path().write_text(json.dumps({"version": 1, "windows": [watched]}))

    async def steps(application: Application) -> None:
        await opened(application.windows[0], log)
        assert panes_of(application.windows[0]).filter_state.stack.text == ""

    started(qapp, steps)


@pytest.mark.trouble
def test_a_gateway_that_is_joined_again_has_its_filter_back(qapp: QApplication) -> None:
    async def steps(application: Application) -> None:
        async with DemoGateway() as gateway:
            connection = ConnectionSettings(url=gateway.url, space=gateway.space)
            saved = SavedWindow(connection=connection, filter="no < 9", tab="Raw", message=400)
            window = application.new_window(saved=saved)
            window.gateway.watch(Connection(url=gateway.url, space=gateway.space))
            await until(lambda: window.panes is not None and state_of(window).messages, "the greeting")
            assert panes_of(window).filter_state.stack.text == "no < 9"
            assert panes_of(window).details.tabs.currentIndex() == 2
            await until(lambda: window.restoring.saved is None, "everything to stand again")
            noted = window.restoring.noted()
            assert noted is not None
            assert noted.path == ""
            assert noted.connection == connection
            await window.closing.aclose()

    run_in_window(qapp, steps)


@pytest.mark.trouble
def test_a_demo_is_not_opened_again(qapp: QApplication) -> None:
    async def steps(application: Application) -> None:
        application.windows[0].gateway.start_demo()
        await until(lambda: application.windows[0].panes is not None, "the demo")
        await application.quit()

    started(qapp, steps)
    assert load_last_open().windows == []


@pytest.mark.trouble
def test_a_packed_log_comes_back(qapp: QApplication, tmp_path: Path) -> None:
    packed = tmp_path / "work.jsonl.gz"
    packed.write_bytes(gzip.compress(log_of(tmp_path).read_bytes()))

    async def second(application: Application) -> None:
        await read(application.windows[0])
        assert panes_of(application.windows[0]).messages.current_message() == 200

    left_open(qapp, packed, at=200)
    started(qapp, second)


@pytest.mark.trouble
@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"nonsense",
        b"[]",
        b'{"version": 99, "windows": []}',
        b"\xff\xfe",
        b'{"version":1,"windows":[{"path":7},{}]}',
    ],
)
def test_a_broken_file_is_a_sentence(qapp: QApplication, content: bytes) -> None:
    last_open_path().write_bytes(content)

    async def steps(application: Application) -> None:
        assert [window.panes for window in application.windows] == [None]
        assert "The state of the last session could not be read" in said(application.windows[0]) or "left out" in said(
            application.windows[0]
        )

    started(qapp, steps)
