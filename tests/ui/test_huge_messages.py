"""Huge and hostile messages in the window: listed, selected, looked at in every tab, saved."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication, QFileDialog

from inspector.store.columns.large_headers import HEAD_BYTES
from inspector.ui.app.application import Application
from inspector.ui.panels.details.panel import TABS
from inspector.ui.window.main_window import MainWindow
from tests import hostile
from tests.builders import envelope, lines_of, log_file, tool_result
from tests.ui.windows import panes_of, run_in_window, state_of, texts, until


async def opened(application: Application, path: Path) -> MainWindow:
    window = application.new_window()
    window.resize(1280, 800)
    window.show()
    await window.opening.load(path)
    return window


@pytest.mark.sweep
@pytest.mark.parametrize("case", hostile.CASES)
def test_every_hostile_log_can_be_looked_at(qapp: QApplication, tmp_path: Path, case: str) -> None:
    path = hostile.write(case, tmp_path)

    async def steps(application: Application) -> None:
        window = await opened(application, path)
        panes = panes_of(window)
        count = state_of(window).messages
        assert count >= 2
        for message in {0, 1, 2, count - 1} & set(range(count)):
            panes.go_to(message)
            window.grab()
            for tab in TABS:
                panes.details.show_tab(tab)
                panes.details.grab()
        assert "before" in texts(window, 1)[0]

    run_in_window(qapp, steps)


def test_a_big_message_is_listed_with_kind_sender_size_and_its_first_words(qapp: QApplication, tmp_path: Path) -> None:
    path = hostile.write("message of text", tmp_path)

    async def steps(application: Application) -> None:
        window = await opened(application, path)
        row = texts(window, 2)[1]
        assert "lead → everyone" in row
        assert "chat" in row
        assert "The quick brown fox" in row
        assert "2.0 MB" in row
        content = panes_of(window).messages.model.content(1)
        assert content.aside == "2.0 MB"

    run_in_window(qapp, steps)


def test_rows_of_long_messages_are_worked_out_a_few_at_a_time(qapp: QApplication) -> None:
    path = log_file(lines_of(*(envelope(payload={"text": f"{number} " + "x" * 300_000}) for number in range(6))))

    async def steps(application: Application) -> None:
        window = await opened(application, path)
        model = panes_of(window).messages.model
        await until(lambda: all(map(model.knows, range(6))), "what all rows say, as they are painted")
        model.contents.clear()
        assert not model.prepare(range(6))
        assert [model.knows(message) for message in range(6)] == [True, False, False, False, False, False]
        panes_of(window).messages.view.viewport().repaint()
        await until(lambda: all(map(model.knows, range(6))), "the others")

    run_in_window(qapp, steps)


def test_a_big_answer_keeps_its_place_in_the_chain_and_its_lifecycle(qapp: QApplication) -> None:
    asked = envelope("mcp/request", {"method": "tools/call", "params": {"name": "search"}}, id="ask", to=["files"])
    meta = {"context": {"lifecycle": "transient", "summary": "15 records"}}
    answer = tool_result(asked, "x" * 1_500_000, meta=meta, id="big")
    # An id and a correlation behind the payload, where gateways write them too.
    answer = {"kind": answer.pop("kind"), "payload": answer.pop("payload"), **answer}
    about = envelope("chat", {"text": "thanks"}, correlation_id=["big"])

    async def steps(application: Application) -> None:
        window = await opened(application, log_file(lines_of(asked, answer, about)))
        analysis, capture = window.document.analysis, window.document.capture
        assert capture.records.envelope_id(1) == "big"
        assert capture.records.correlation_ids(1) == ["ask"]
        assert [step.message for step in window.document.chain(1)] == [0, 1, 2]
        assert analysis.transients.lifecycle(1).summary == "15 records"
        panes = panes_of(window)
        panes.filter_state.apply_filter('id == "big" && tool == "search"')
        assert len(panes.rows.visible) == 1

    run_in_window(qapp, steps)


@pytest.mark.sweep
@pytest.mark.parametrize("case", ["message of text", "message of records", "brackets", "no UTF-8", "context"])
def test_a_message_is_saved_byte_for_byte(qapp: QApplication, tmp_path: Path, case: str) -> None:
    path = hostile.write(case, tmp_path)
    lines = path.read_bytes().split(b"\n")
    target = tmp_path / "saved.json"

    async def steps(application: Application) -> None:
        window = await opened(application, path)
        message = 2 if case == "message of records" else 1
        panes_of(window).details.links.save_requested.emit(message)
        dialog = window.findChild(QFileDialog, "saveMessageDialog")
        assert dialog is not None
        dialog.fileSelected.emit(str(target))
        dialog.close()
        await until(target.exists, "the file")
        assert target.read_bytes() == lines[message]
        await until(lambda: window.notices.notice("message") is not None, "a word that it is saved")

    run_in_window(qapp, steps)


def test_a_message_is_saved_though_its_log_is_closed_meanwhile(
    qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, target = log_file(lines_of(envelope(), {"kind": "chat", "id": "second"})), tmp_path / "saved.json"
    to_thread = asyncio.to_thread

    async def steps(application: Application) -> None:
        window = await opened(application, path)

        async def when_closed(*call: Any) -> Any:
            window.document.close()
            return await to_thread(*call)

        monkeypatch.setattr(asyncio, "to_thread", when_closed)
        window.saving.save(1, target)
        await until(target.exists, "the file")
        assert json.loads(target.read_bytes())["id"] == "second"
        await until(lambda: window.notices.notice("message") is not None, "a word that it is saved")

    run_in_window(qapp, steps)


def test_a_message_that_cannot_be_saved_is_said(qapp: QApplication, tmp_path: Path) -> None:
    path = log_file(lines_of(envelope(), envelope()))

    async def steps(application: Application) -> None:
        window = await opened(application, path)
        window.saving.save(0, tmp_path / "nowhere" / "x.json")
        await until(lambda: window.notices.notice("message"), "a sentence")
        notice = window.notices.notice("message")
        assert notice is not None
        assert notice.text.startswith("No. 1 could not be saved as ")
        assert "No such file" in notice.text

    run_in_window(qapp, steps)


@pytest.mark.in_process("watches reads of the log")
def test_selecting_a_big_message_reads_no_more_than_its_ends(
    qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = hostile.write("message of text", tmp_path)

    async def steps(application: Application) -> None:
        window = await opened(application, path)
        read: list[int] = []
        source = window.document.capture.sources[0]
        whole = source.read
        monkeypatch.setattr(source, "read", lambda offset, length: (read.append(length), whole(offset, length))[1])
        panes = panes_of(window)
        panes.go_to(1)
        for tab in TABS:
            panes.details.show_tab(tab)
        await asyncio.sleep(0)
        assert read
        assert max(read) <= 2 * HEAD_BYTES

    run_in_window(qapp, steps)
