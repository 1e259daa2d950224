"""The Overview of calls of a coding agent's tools: differences, plans, code, and what a sub-agent was told."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtGui import QTextLayout
from pytestqt.qtbot import QtBot

from inspector.document.document import CaptureDocument
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.details.code_view import CodeBlock, DifferenceView
from inspector.ui.panels.details.panel import DetailsPanel
from inspector.ui.panels.details.section import LinkText
from tests.builders import document_at, document_of
from tests.transcribed import ClaudeSession
from tests.ui.panels.details.panels import details_panel
from tests.ui.panels.details.test_kinds import labels, rows, text

ORDERS = Path(__file__).parents[3] / "data" / "transcripts" / "orders" / "3b8a2a8e-5b0f-4a57-9f37-0c1f6d2f7e10.jsonl"
TEAM = Path(__file__).parents[3] / "data" / "transcripts" / "claude-code"


@pytest.fixture
def session() -> CaptureDocument:
    made = ClaudeSession()
    made.prompt("Fix it.")
    made.runs(
        "Edit", {"file_path": "/w/a.py", "old_string": "x = 1", "new_string": "x = 2\nimport b", "replace_all": True}
    )
    made.runs(
        "TodoWrite", {"todos": [{"content": "Fix", "status": "in_progress"}, {"content": "Test", "status": "pending"}]}
    )
    made.runs("Bash", {"command": "echo 'one' # two", "description": "Say one"}, "one")
    made.runs("Read", {"file_path": "/w/a.py"}, "     1→import os\n     2→x = '\N{GRINNING FACE}'  # y")
    made.runs("Write", {"file_path": "/w/long.py", "content": "\n".join(f"x{n} = {n}" for n in range(80))})
    return document_of(*made.records)


def shown(document: CaptureDocument, number: int, qtbot: QtBot, themes: ThemeController) -> DetailsPanel:
    panel = details_panel(document, themes)
    qtbot.addWidget(panel)
    panel.resize(360, 700)
    panel.show()
    panel.show_message(number - 1)
    return panel


def has_colours(panel: DetailsPanel, name: str, wanted: set[str], qtbot: QtBot) -> None:
    """Wait until these parts of a text have colours of their own."""
    page = panel.pages["Overview"]
    view = next(one.view for kind in (CodeBlock, DifferenceView) for one in page.findChildren(kind)
                if one.view.objectName() == name)  # fmt: skip

    def words() -> set[str]:
        block, found = view.document().begin(), []
        while block.isValid():
            ranges: list[QTextLayout.FormatRange] = block.layout().formats()
            encoded = block.text().encode("utf-16-le")
            found += [encoded[2 * one.start : 2 * (one.start + one.length)].decode("utf-16-le") for one in ranges]
            block = block.next()
        return set(found)

    qtbot.waitUntil(lambda: wanted <= words())


def test_calls_of_tools_are_shown_as_what_they_are(
    session: CaptureDocument, qtbot: QtBot, theme_controller: ThemeController
) -> None:
    panel = shown(session, 2, qtbot, theme_controller)
    assert "Edit +2 \N{MINUS SIGN}1" in labels(panel)
    assert rows(panel, "editPath0") == ["/w/a.py", "all places"]
    assert text(panel, "difference0") == "\N{MINUS SIGN} x = 1\n+ x = 2\n+ import b"
    has_colours(panel, "difference0", {"1", "2", "import"}, qtbot)
    # Colours are shared: what is washed here must not fade everywhere else.
    assert {theme_controller.theme.color(token).alpha() for token in ("badge.consumed", "severity.error")} == {255}
    panel.show_message(3)
    assert "Plan, 0 of 2 done" in labels(panel)
    assert rows(panel, "plan") == ["\N{BLACK RIGHT-POINTING SMALL TRIANGLE} Fix", "\N{WHITE CIRCLE} Test"]
    panel.show_message(5)
    assert rows(panel, "commandAbout") == ["Say one"]
    has_colours(panel, "command", {"'one'", "# two"}, qtbot)
    panel.show_message(8)
    assert "File" in labels(panel)
    has_colours(panel, "contentText", {"     2→", "\N{GRINNING FACE}", "# y"}, qtbot)


def test_a_long_text_is_shown_whole_on_request(
    session: CaptureDocument, qtbot: QtBot, theme_controller: ThemeController
) -> None:
    panel = shown(session, 10, qtbot, theme_controller)
    assert "New text +80" in labels(panel)
    (view,) = panel.pages["Overview"].findChildren(DifferenceView)
    assert view.more is not None
    assert view.more.text() == "Show all 80 lines"
    assert "x79" not in text(panel, "difference0")
    view.more.click()
    assert text(panel, "difference0").endswith("+ x79 = 79")


def test_a_call_shows_what_its_sub_agent_was_told_and_gave_back(
    qtbot: QtBot, theme_controller: ThemeController
) -> None:
    document = document_at(TEAM)
    panel = shown(document, 5, qtbot, theme_controller)
    assert rows(panel, "subAgent")[1:3] == [
        "Agent: general-purpose: Count source files",
        "State: concluded, 2 messages",
    ]
    assert rows(panel, "subAgent")[3].startswith("Reported: 1 call: 7 tokens out, 5 in; 4,000 read from the cache")
    assert text(panel, "toldText") == "Count the files in src."
    assert text(panel, "cameBackText") == "There are 3 files."
    assert {"Prompt", "Answer"} <= set(labels(panel))


def test_the_answer_of_a_sub_agent_is_formatted_and_leads_to_its_message(
    qtbot: QtBot, theme_controller: ThemeController
) -> None:
    panel = shown(document_at(ORDERS), 8, qtbot, theme_controller)
    answer = text(panel, "cameBackText")
    assert "rounds the sum" in answer
    assert "**" not in answer
    asked: list[int] = []
    panel.links.message_requested.connect(asked.append)
    (link,) = (one for one in panel.findChildren(LinkText) if one.objectName() == "cameBack")
    link.click()
    assert asked == [11]
