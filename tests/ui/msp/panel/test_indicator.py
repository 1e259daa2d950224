"""What a sub-session sees: figures, budget, policy, rules, the order sent, and the dialog that reads it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QAbstractButton, QCheckBox, QLabel, QPlainTextEdit
from pytestqt.qtbot import QtBot

from inspector.msp.document import SessionDocument
from inspector.settings import Settings
from inspector.ui.look.theme import ThemeController
from inspector.ui.msp.panel.indicator import Indicator
from inspector.ui.msp.panel.merged_dialog import MergedDialog
from inspector.ui.msp.panel.order import FIRST, OrderRow
from inspector.ui.msp.panel.token_counts import NOT_COUNTED, TokenCounts
from tests.ui.find import child
from tests.ui.msp.sessions import client_of

SECRET = "Bearer abcdefghijklmnopqrstuvwxyz0123456789"


def said(name: str, content: str, visibility: str | None = None, role: str = "user") -> dict[str, Any]:
    """A message."""
    found = {"id": name, "role": role, "content": content}
    return found if visibility is None else {**found, "visibility": visibility}


def document_of(path: Path, main: list[dict[str, Any]], **sub: Any) -> SessionDocument:
    """A chat with one sub-session."""
    session = {
        "session_id": "m1", "messages": main,
        "sub_context": {"intent": "weekly report", "constraints": ["metric"], "decisions": [], "facts": []},
        "summary_snapshots": [{"id": "s1", "covers_messages": [0, 2], "content": "what was said first"}],
    }  # fmt: skip
    one = {
        "subsession_id": "units", "parent_session_id": "m1", "label": "units", "status": "open",
        "context_policy": {"include_sub_context": True, "include_snapshots": True, "recent_parent_messages": 3},
        "messages": [said("q1", "what is a kelvin?"), said("a1", f"<b>{SECRET}</b>", role="assistant")],
    }  # fmt: skip
    path.write_text(json.dumps([session, {**one, **sub}]))
    return SessionDocument.read([path])


MAIN = [
    said("p1", "use metric units", "global"), said("p2", "hello"), said("p3", "private", "main_only"),
    said("p4", "March has gaps"), said("p5", "fill them"), said("p6", "secret", "main_only"),
]  # fmt: skip


@pytest.fixture
def settings() -> Settings:
    return Settings()


@pytest.fixture
def document(tmp_path: Path) -> SessionDocument:
    return document_of(tmp_path / "desk.json", MAIN)


@pytest.fixture
def indicator(
    document: SessionDocument, theme_controller: ThemeController, settings: Settings, qtbot: QtBot
) -> Indicator:
    return shown(qtbot, theme_controller, settings, document)


def shown(qtbot: QtBot, themes: ThemeController, settings: Settings, document: SessionDocument) -> Indicator:
    client = client_of(document, themes)
    found = Indicator(client, themes, settings, TokenCounts(client))
    qtbot.addWidget(found, before_close_func=lambda widget: widget.stop())
    found.resize(300, 640)
    found.show()
    found.show_subsession("units")
    found.counts.count_here()
    qtbot.waitUntil(lambda: found.merged is not None and "still counting" not in found.page.estimate.text)
    return found


def notes(indicator: Indicator) -> str:
    return "\n".join(note.text for note in indicator.page.notes.notes)


def words(indicator: Indicator) -> list[str]:
    return [row.figures.words for row in indicator.page.layers if row.figures is not None]


def test_layers_add_up_to_the_total(indicator: Indicator) -> None:
    merged = indicator.merged
    assert merged is not None
    figures = [row.figures for row in indicator.page.layers]
    assert [one.tokens for one in figures if one] == [layer.tokens for layer in merged.layers]
    assert indicator.page.total.text() == f"{sum(one.tokens or 0 for one in figures if one):,}" != "0"
    assert indicator.page.estimate.text == "tokens, estimate (cl100k_base)"
    assert words(indicator) == [
        "intent, 1 constraint", "1 of 1, covers messages 1 to 2", "3 of 3, 2 withheld as main_only, 1 older and global",
        "2 messages",
    ]  # fmt: skip
    assert indicator.page.layers[0].accessibleName().startswith("1 Sub-context, ")


def test_a_link_includes_withheld_messages(indicator: Indicator, settings: Settings, qtbot: QtBot) -> None:
    line = next(line for line in indicator.page.notes.lines if "not sent." in line.note.text)
    assert line.note.text == "2 parent messages are main_only and not sent."
    assert line.link.text() == "Include them"
    with qtbot.waitSignal(indicator.rules_changed):
        qtbot.mouseClick(line.link, Qt.MouseButton.LeftButton)
    assert settings.merged.include_main_only
    assert "included" in notes(indicator)
    keep = next(line for line in indicator.page.notes.lines if line.link.text() == "Exclude it")
    qtbot.mouseClick(keep.link, Qt.MouseButton.LeftButton)
    assert not settings.merged.include_main_only


def test_nothing_but_main_only_is_said_in_numbers(
    tmp_path: Path, theme_controller: ThemeController, settings: Settings, qtbot: QtBot
) -> None:
    main = [said(f"p{n}", "private", "main_only") for n in range(3)]
    policy = {"recent_parent_messages": 5}
    document = document_of(tmp_path / "desk.json", main, context_policy=policy)
    indicator = shown(qtbot, theme_controller, settings, document)
    assert "0 of 5 (3 withheld as main_only)" in notes(indicator)
    assert words(indicator)[2] == "0 of 5, 3 withheld as main_only"


def test_budget_warns_near_the_limit_and_above_it(indicator: Indicator, settings: Settings, qtbot: QtBot) -> None:
    total = sum(row.figures.tokens or 0 for row in indicator.page.layers if row.figures)
    assert indicator.page.budget.warning.isHidden()
    settings.subsession_budget = 100
    field = indicator.page.budget.field
    field.setFocus()
    field.selectAll()
    with qtbot.waitSignal(indicator.rules_changed):
        qtbot.keyClicks(field, "120")
        qtbot.keyClick(field, Qt.Key.Key_Return)
    assert settings.subsession_budget == 120
    indicator.page.budget.show_budget(100, 120)
    assert indicator.page.budget.warning.note.text == "Near the budget: 20 tokens are left."
    indicator.page.budget.show_budget(130, 120)
    assert indicator.page.budget.warning.note.text == "10 tokens above the budget."
    assert indicator.merged is not None
    assert indicator.merged.tokens == total


def test_policy_is_asked_for_and_not_done_here(indicator: Indicator, qtbot: QtBot) -> None:
    box = child(indicator, QCheckBox, "policySnapshots")
    with qtbot.waitSignal(indicator.policy_change_requested) as asked:
        box.click()
    assert asked.args == [{"include_snapshots": False}]
    with qtbot.waitSignal(indicator.policy_change_requested) as asked:
        qtbot.keyClick(indicator.page.policy.recent, Qt.Key.Key_Up)
    assert asked.args == [{"recent_parent_messages": 4}]


def test_an_edit_of_the_policy_is_shown_and_undone(
    indicator: Indicator, document: SessionDocument, qtbot: QtBot
) -> None:
    sub = document.subsessions[0]
    document.set_policy(sub, include_snapshots=False)
    qtbot.waitUntil(lambda: words(indicator)[1].startswith("excluded by the policy"))
    assert not indicator.page.policy.snapshots.isChecked()
    document.undo()
    qtbot.waitUntil(lambda: words(indicator)[1].startswith("1 of 1"))
    assert indicator.page.policy.snapshots.isChecked()


def test_what_is_said_and_appended_to_the_parent_is_counted_at_once(
    indicator: Indicator, document: SessionDocument, qtbot: QtBot
) -> None:
    document.add_message(document.subsessions[0], "user", "and one more")
    qtbot.waitUntil(lambda: words(indicator)[3] == "3 messages")
    before = indicator.merged
    document.add_message(document.sessions[0], "user", "said in the parent")
    qtbot.waitUntil(lambda: indicator.merged is not before)
    assert indicator.merged is not None
    assert [one.text for one in indicator.merged.order if one.layer == 3][-1] == "user: said in the parent"
    document.close_subsession(document.subsessions[0], "It is a unit.", append_to_parent=True)
    qtbot.waitUntil(lambda: "closed" in notes(indicator))
    assert not indicator.page.policy.recent.isEnabled()


def test_every_rule_has_a_switch(indicator: Indicator, settings: Settings, qtbot: QtBot) -> None:
    assert indicator.page.rules.disclosure.text() == "Default rules"
    qtbot.keyClick(indicator.page.rules.disclosure, Qt.Key.Key_Space)
    form = indicator.page.rules.form
    assert form is not None
    assert {*form.fields, *form.numbers} == set(type(settings.merged).model_fields)
    with qtbot.waitSignal(indicator.rules_changed):
        form.fields["older_globals"].box.click()
    assert not settings.merged.older_globals
    assert "older and global" not in words(indicator)[2]
    assert indicator.page.rules.disclosure.text() == "Rules, 1 of 13 changed"
    qtbot.mouseClick(indicator.page.rules.usual, Qt.MouseButton.LeftButton)
    assert settings.merged.older_globals


def test_order_goes_to_messages(indicator: Indicator, qtbot: QtBot) -> None:
    rows = [row for row in indicator.page.order.rows if not row.isHidden()]
    assert len(rows) == FIRST
    assert [row.line.text for row in rows[:3]] == [
        "intent: weekly report", "summary of messages 1 to 2", "user: use metric units",
    ]  # fmt: skip
    with qtbot.waitSignal(indicator.message_requested) as asked:
        qtbot.mouseClick(rows[2], Qt.MouseButton.LeftButton)
    assert asked.args is not None
    assert asked.args[0].id == "p1"
    qtbot.mouseClick(indicator.page.order.more, Qt.MouseButton.LeftButton)
    assert len([row for row in indicator.page.order.rows if not row.isHidden()]) == 8
    assert indicator.page.order.more.text() == "Fewer"


def test_settings_that_count_nothing(indicator: Indicator, settings: Settings, qtbot: QtBot) -> None:
    settings.display.count_tokens = False
    indicator.apply_settings()
    qtbot.waitUntil(lambda: indicator.page.uncounted.text() == NOT_COUNTED)
    page = indicator.page
    assert (page.uncounted.isVisible(), page.total.isVisible(), page.budget.isVisible()) == (True, False, False)
    assert all(row.figures is not None and "token" not in row.figures.accessible_text for row in page.layers)


def test_the_dialog_names_no_tokens_that_are_not_counted(indicator: Indicator, settings: Settings) -> None:
    settings.display.count_tokens = False
    indicator.apply_settings()
    dialog = indicator.read()
    assert dialog is not None
    assert child(dialog, QLabel, "mergedSum").text().startswith("8 entries, in the order they are sent.")
    assert "token" not in child(dialog, QLabel, "mergedHead").text()
    assert "token" not in dialog.model.spec(0).spoken
    dialog.reject()


def test_the_dialog_reads_copies_and_exports_without_secrets(
    indicator: Indicator, tmp_path: Path, qtbot: QtBot
) -> None:
    qtbot.mouseClick(indicator.read_button, Qt.MouseButton.LeftButton)
    dialog = child(indicator, MergedDialog)
    qtbot.keyClick(dialog.view, Qt.Key.Key_End)
    text = child(dialog, QPlainTextEdit, "mergedText").toPlainText()
    assert "<b>" in text
    assert "abcdefghij" not in text
    qtbot.mouseClick(dialog.copy_button, Qt.MouseButton.LeftButton)
    copied = json.loads(QGuiApplication.clipboard().text())["messages"]
    assert [one["role"] for one in copied] == ["system", "system", *["user"] * 5, "assistant"]
    assert "abcdefghij" not in QGuiApplication.clipboard().text()
    target = tmp_path / "out.json"
    dialog.export(target)
    qtbot.waitUntil(lambda: dialog.outcome.text().startswith("Exported 8 entries"))
    assert json.loads(target.read_text())["messages"] == copied
    child(dialog, QAbstractButton, "mergedUnmasked").click()
    assert dialog.export_button.text() == "Export unmasked..."
    dialog.export(target)
    qtbot.waitUntil(lambda: "Secrets are not masked." in dialog.outcome.text())
    assert SECRET in target.read_text()
    before = (tmp_path / "desk.json").read_bytes()
    dialog.export(tmp_path / "desk.json")
    assert "could not be written" in dialog.outcome.text()
    assert (tmp_path / "desk.json").read_bytes() == before
    qtbot.keyClick(dialog.view, Qt.Key.Key_Escape)
    assert dialog.isHidden()


def test_a_summary_that_is_referred_to_says_whose_it_is(
    tmp_path: Path, theme_controller: ThemeController, settings: Settings, qtbot: QtBot
) -> None:
    policy = {"include_snapshots": True, "include_summaries": ["scales"]}
    document = document_of(tmp_path / "desk.json", MAIN, context_policy=policy)
    beside = {"subsession_id": "scales", "parent_session_id": "m1", "label": "scales", "status": "closed",
              "closed_at": "2026-01-05T09:30:00Z", "summary": "All in kelvin."}  # fmt: skip
    path = document.files[0].path
    path.write_text(json.dumps([*json.loads(path.read_text()), beside]))
    document = SessionDocument.read([path])
    indicator = shown(qtbot, theme_controller, settings, document)
    figures = indicator.page.layers[1].figures
    assert figures is not None
    assert figures.words == "1 of 1, and 1 summary of siblings"
    rows = [row.line for row in indicator.page.order.findChildren(OrderRow)]
    for number in range(len(document.sessions[0].snapshots)):
        document.delete_snapshot(document.sessions[0], document.sessions[0].snapshots[number])
    qtbot.waitUntil(lambda: "1 summary of siblings" in str(indicator.page.layers[1].figures))
    assert [line.text for line in rows if line.layer == 2] == ["summary of messages 1 to 2", "summary of scales"]
    assert 'Summary of "scales", referenced by the policy; not merged.' in rows[2].tip
