"""A coding agent's session in the window: rows, contexts, raw bytes, and reading it as something else."""

from __future__ import annotations

from PySide6.QtWidgets import QApplication, QComboBox

from inspector.ui.app.application import Application
from inspector.ui.dialogs.form_dialog import ValueDialog
from inspector.ui.panels.details.raw_page import RawPage
from tests.samples import FORMAT_SAMPLES
from tests.ui.features.test_window_restoring import read
from tests.ui.find import child
from tests.ui.windows import panes_of, run_in_window, until


def test_a_session_and_its_raw_records(qapp: QApplication) -> None:
    async def whole(application: Application) -> None:
        window = application.new_window()
        window.opening.open_paths([str(FORMAT_SAMPLES["claude-code.jsonl"])])
        await until(lambda: window.document is not None, "a document")
        await read(window)
        document = panes_of(window).client.document
        assert len(document.capture) == 30
        page = RawPage(window.theme, panes_of(window).client, window)
        page.show_message(7)  # a record that means three messages
        assert page.text.toPlainText() == document.capture.records.read_line_of(7).decode()
        assert page.what.isHidden()

    run_in_window(qapp, whole)


def test_a_log_is_read_as_something_else(qapp: QApplication) -> None:
    async def whole(application: Application) -> None:
        window = application.new_window()
        window.opening.open_paths([str(FORMAT_SAMPLES["mew-v0.4.jsonl"])])
        await until(lambda: window.document is not None, "a document")
        await read(window)
        assert window.document.capture.sources[0].chosen_format is None
        window.actions_by_id["file.read_as"].trigger()
        dialog = child(window, ValueDialog, "readAsDialog")
        assert isinstance(dialog.field, QComboBox)
        dialog.field.setCurrentText("envelopes")
        dialog.ok.click()
        await until(lambda: len(application.windows) == 2, "a second window")
        await read(application.windows[1])
        assert application.windows[1].document.capture.sources[0].chosen_format == "envelopes"

    run_in_window(qapp, whole)
