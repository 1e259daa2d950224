"""A window on what goes on: a log that grows and is rotated, a stream, an archive."""

from __future__ import annotations

import asyncio
import gzip
import os
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from inspector.sources.follow import ROTATED_REASON
from inspector.store.files import spool
from inspector.ui.app.application import Application
from tests.builders import envelope, lines_of, tool_call
from tests.ui.engines import patch_engine
from tests.ui.windows import ask_engine, numbers, panes_of, run_in_window, shows, texts, until

pytestmark = pytest.mark.usefixtures("quick_following")


def append(path: Path, *names: str) -> None:
    with path.open("ab") as file:
        file.write(lines_of(*(envelope(payload={"text": name}) for name in names)))


def test_rows_of_a_log_that_grows_and_is_rotated(qapp: QApplication, tmp_path: Path) -> None:
    path = tmp_path / "agent.jsonl"
    append(path, "one")

    async def steps(application: Application) -> None:
        application.open_targets([str(path)])
        window = application.windows[0]
        await until(lambda: shows(application, 1), "the first row")
        await until(lambda: "watching the file" in window.status.words(), "the status bar's word")
        append(path, "two")
        await until(lambda: shows(application, 2), "the second row")
        window.document_status.refresh_clock()
        append(path, "three")
        await until(lambda: shows(application, 3), "the third row")
        window.document_status.refresh_clock()
        assert any(word.endswith("/s") for word in window.status.words())
        path.rename(tmp_path / "agent.1")
        append(path, "four")
        await until(lambda: shows(application, 5), "the row of the rotation and the one behind it")
        rows = texts(window)
        assert ROTATED_REASON in rows[3]
        assert "four" in rows[4]
        first = ask_engine(window, lambda document: document.capture.records.envelope(0))
        assert first["payload"] == {"text": "one"}

    run_in_window(qapp, steps)


def test_following_that_ends_says_why(qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "agent.jsonl"
    append(path, "one")
    os.utime(path, (1e9, 1e9))
    patch_engine(monkeypatch, spool, "free_bytes", lambda _folder: 0)

    async def steps(application: Application) -> None:
        application.open_targets([str(path)])
        window = application.windows[0]
        await until(lambda: "watching the file" in window.status.words(), "the status bar's word")
        append(path, "two")
        await until(lambda: window.notices.notice("message"), "a notice")
        notice = window.notices.notice("message")
        assert notice is not None
        assert notice.text.startswith("agent.jsonl is not followed any more: ")
        assert "watching the file" not in window.status.words()

    run_in_window(qapp, steps)


def test_a_log_that_is_deleted_says_so_until_there_is_a_new_one(qapp: QApplication, tmp_path: Path) -> None:
    path = tmp_path / "agent.jsonl"
    append(path, "one")
    gone = "file gone, waiting for a new one"

    async def steps(application: Application) -> None:
        application.open_targets([str(path)])
        window = application.windows[0]
        await until(lambda: "watching the file" in window.status.words(), "the status bar's word")
        path.unlink()
        await until(lambda: gone in window.status.words(), "the word for what is gone")
        assert "watching the file" not in window.status.words()
        append(path, "two")
        await until(lambda: "watching the file" in window.status.words(), "the file to be back")
        await until(lambda: shows(application, 3), "the row of the rotation and the one behind it")
        # A gap is a row and has a number, but it is no message.
        await until(lambda: "2 messages" in window.status.words(), "the number of messages")
        panes = panes_of(window)
        await until(lambda: panes.contexts.model.count(0) == 2, "the tree")
        panes.filter_state.apply_filter("no >= 2")
        assert window.filter_bar.counts_text() == "1 of 2"

    run_in_window(qapp, steps)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_rows_of_a_stream_show_before_its_end(qapp: QApplication, tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)

    async def steps(application: Application) -> None:
        application.open_targets([str(path)])
        window = application.windows[0]
        notice = window.notices.notice("message")
        assert notice is not None
        assert notice.text == "Waiting until somebody writes to pipe..."
        file = await asyncio.to_thread(lambda: path.open("wb", buffering=0))
        with file:
            file.write(lines_of(envelope()))
            await until(lambda: shows(application, 1), "the first row")
            assert window.notices.notice("message") is None
            assert panes_of(window).client.state.is_live
            assert "input open" in window.status.words()
            asked = tool_call("read_file", ts="2020-01-01T00:00:00Z")
            file.write(lines_of(asked, envelope(ts="2020-01-01T00:00:02Z")))
            await until(lambda: shows(application, 3), "two more")
            window.document_status.refresh_clock()
            # Of an old log nothing waits for years.
            assert not [row for row in texts(window) if "waiting" in row]
            assert ask_engine(window, lambda document: document.analysis.now_ns) is None
        await until(lambda: not panes_of(window).client.state.is_live, "the end")
        await until(lambda: "input open" not in window.status.words(), "the status bar to know")
        assert application.settings.recent_files == []

    run_in_window(qapp, steps)


def test_an_archive_that_breaks_off_says_so_above_its_rows(qapp: QApplication, tmp_path: Path) -> None:
    path = tmp_path / "night.jsonl.gz"
    data = gzip.compress(lines_of(*(envelope(id=os.urandom(30).hex()) for _ in range(2_000))))
    path.write_bytes(data[: len(data) // 2])

    async def steps(application: Application) -> None:
        application.open_targets([str(path)])
        window = application.windows[0]
        await until(lambda: window.notices.notice("message"), "a notice")
        notice = window.notices.notice("message")
        assert notice is not None
        assert notice.text.startswith("night.jsonl.gz is damaged or not complete: it ends in the middle.")
        assert len(numbers(window)) > 500
        assert window.windowTitle().startswith("night.jsonl.gz")
        assert "watching the file" not in window.status.words()

    run_in_window(qapp, steps)
