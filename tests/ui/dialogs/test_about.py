"""Help > About: versions of what runs here, and licences of what it is made of."""

from __future__ import annotations

from importlib import metadata

import pytest
from PySide6.QtCore import qVersion
from PySide6.QtWidgets import QApplication, QLabel, QPlainTextEdit, QPushButton
from pytestqt.qtbot import QtBot

from inspector import version
from inspector.diagnostics import licences
from inspector.diagnostics.licences import Licence
from inspector.ui.app.application import Application
from inspector.ui.dialogs import about, environment_facts
from inspector.ui.dialogs.about import AboutDialog
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.rows.table import TableView
from tests.ui.find import child
from tests.ui.windows import run_in_window


def test_the_menu_opens_it_with_versions(qapp: QApplication) -> None:
    async def steps(application: Application) -> None:
        window = application.new_window()
        window.actions_by_id["help.about"].trigger()
        dialog = child(window, AboutDialog)
        facts = child(dialog, QLabel, "aboutFacts").text()
        assert f"Context Inspector {version()}" in facts
        assert f"Qt: {qVersion()}, PySide6" in facts
        assert "Python: 3." in facts
        child(dialog, QPushButton, "aboutCopy").click()
        copied = QApplication.clipboard().text()
        assert facts in copied
        assert "numpy " in copied
        child(dialog, QPushButton, "aboutClose").click()

    run_in_window(qapp, steps)


def test_the_licence_of_the_part_selected_is_shown(theme_controller: ThemeController, qtbot: QtBot) -> None:
    dialog = AboutDialog(theme_controller, [("Program", "x")])
    qtbot.addWidget(dialog)
    table = child(dialog, TableView, "aboutTable")
    names = [str(table.table.index(row, 0).data()) for row in range(table.table.rowCount())]
    assert names[0] == "context-inspector"
    assert "MIT License" in child(dialog, QPlainTextEdit, "aboutLicence").toPlainText()
    table.selectRow(names.index("numpy"))
    assert child(dialog, QPlainTextEdit, "aboutLicence").accessibleName() == "Licence of numpy"
    assert "Redistribution" in child(dialog, QPlainTextEdit, "aboutLicence").toPlainText()


def test_a_list_that_cannot_be_read_is_said(
    theme_controller: ThemeController, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> None:
        raise ValueError("no JSON")

    monkeypatch.setattr(about, "bundled_licences", broken)
    dialog = AboutDialog(theme_controller, [("Program", "x")])
    qtbot.addWidget(dialog)
    assert "cannot be read: no JSON" in child(dialog, QLabel, "aboutParts").text()


def test_a_packaged_program_knows_versions_from_its_list(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    listed = [Licence("NumPy", "2.4.6", "BSD", ""), Licence("qasync", "0.28.0", "BSD", "")]
    monkeypatch.setattr(metadata, "version", none)
    monkeypatch.setattr(licences, "bundled_licences", lambda: listed)
    libraries = dict(environment_facts.version_facts())["Libraries"].split(", ")
    assert "numpy 2.4.6" in libraries
    assert "websockets unknown" in libraries
