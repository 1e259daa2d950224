"""Exporting what the table shows, from the menu to the file."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QFileDialog

from inspector import export
from inspector.ui import exporting
from inspector.ui.app import Application
from inspector.ui.main_window import MainWindow
from tests.builders import document_of, envelope, tool_call, tool_result
from tests.ui.windows import panes_of, run_in_window, story, until, window_on


def said(window: MainWindow) -> str:
    notice = window.notices.notice("message")
    return notice.text if notice is not None else ""


def chosen(window: MainWindow, target: Path) -> None:
    """What the user does: the menu's action, then a name in the dialog."""
    window.actions_by_id["file.export"].trigger()
    dialog = window.findChild(QFileDialog, "exportDialog")
    assert dialog is not None
    dialog.fileSelected.emit(str(target))
    dialog.close()


def test_the_view_is_exported_and_said(qapp: QApplication, tmp_path: Path) -> None:
    ask = tool_call("read_file", id="q", arguments={"token": "abcdef123"})
    target = tmp_path / "out.jsonl"

    async def steps(application: Application) -> None:
        window = window_on(application, document_of(ask, tool_result(ask), envelope()))
        panes_of(window).apply_filter('kind == "mcp/response"')
        chosen(window, target)
        await until(lambda: said(window), "a notice")
        assert said(window).startswith(f"Exported 1 message, the messages of this view, as {target}, ")
        assert said(window).endswith("Secrets are masked.")

    run_in_window(qapp, steps)
    (line,) = map(json.loads, target.read_text().splitlines())
    assert line["response_context"]["target"] == "read_file"
    assert "abcdef123" not in target.read_text()


def test_what_cannot_be_written_is_said(qapp: QApplication, tmp_path: Path) -> None:
    async def steps(application: Application) -> None:
        window = window_on(application, story())
        chosen(window, tmp_path / "nowhere" / "out.jsonl")
        await until(lambda: said(window), "a notice")
        assert said(window).startswith("out.jsonl could not be written: No such file or directory")
        log = window.document.path
        assert log is not None
        before = log.read_bytes()
        chosen(window, log)
        await until(lambda: "the log itself" in said(window), "a notice")
        assert log.read_bytes() == before

    run_in_window(qapp, steps)


def test_a_long_export_says_how_far_it_is_and_can_be_cancelled(
    qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("_SLICE_S", 0.0), ("_QUIET_S", 0.0), ("_TOLD_S", 0.0)):
        monkeypatch.setattr(exporting, name, value)
    monkeypatch.setattr(export, "_EACH", 1)
    target = tmp_path / "out.jsonl"

    async def steps(application: Application) -> None:
        window = window_on(application, document_of(*(envelope() for _ in range(3_000))))
        window.exporting.export(target)
        await until(lambda: window.notices.notice("export"), "progress")
        notice = window.notices.notice("export")
        assert notice is not None
        assert "of 3,000 messages" in notice.text
        notice._buttons[0].click()
        await asyncio.sleep(0.05)
        assert window.notices.notice("export") is None
        assert said(window) == "The export was cancelled; nothing was written."

    run_in_window(qapp, steps)
    assert list(tmp_path.iterdir()) == []


def test_a_window_that_is_closed_gives_it_up(
    qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporting, "_SLICE_S", 0.0)
    monkeypatch.setattr(export, "_EACH", 1)

    async def steps(application: Application) -> None:
        window = window_on(application, document_of(*(envelope() for _ in range(3_000))))
        window.exporting.export(tmp_path / "out.jsonl")
        await asyncio.sleep(0.02)
        window.close()
        await asyncio.sleep(0.05)

    run_in_window(qapp, steps)
    assert list(tmp_path.iterdir()) == []
