"""The pages of calls and results of sessions: result and call in place, and a chain that is no transcript."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from inspector.analysis.passes.log_vocabulary import kind_word
from inspector.document.document import CaptureDocument
from inspector.present.subject import Subject
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.details.chain_view import ChainView
from inspector.ui.panels.details.facts_view import FactsView
from inspector.ui.panels.details.panel import DetailsPanel
from inspector.ui.panels.details.section import Section
from inspector.ui.panels.details.text_block import TextView
from tests.agent_work import write_claude
from tests.builders import closed_at_end, document_at, document_of, envelope, tool_call, tool_result
from tests.transcribed import ClaudeSession
from tests.ui.panels.details.panels import details_panel
from tests.ui.windows import story


@pytest.fixture
def session() -> CaptureDocument:
    """No. 1 a prompt; 2, 3 a command that fails; 4, 5 one that does not; then forty reads, and an answer."""
    made = ClaudeSession()
    made.prompt("Make it work")
    made.result(made.call("Bash", {"command": "make test"}), "Exit code 2\nno rule to make target", failed=True)
    made.result(made.call("Bash", {"command": "make"}), "built in 3 s")
    for number in range(40):
        made.runs("Read", {"file_path": f"/work/app/{number}.py"}, f"line of {number}")
    made.text("It works")
    return document_of(*made.records)


def shown(document: CaptureDocument, qtbot: QtBot, theme: ThemeController, message: int) -> DetailsPanel:
    panel = details_panel(document, theme)
    qtbot.addWidget(panel)
    panel.resize(360, 700)
    panel.show()
    panel.show_message(message)
    QApplication.processEvents()
    return panel


def labels(panel: DetailsPanel) -> list[str]:
    return [section.label for section in panel.pages["Overview"].findChildren(Section)]


def state(panel: DetailsPanel) -> str:
    view = panel.pages["Overview"].findChild(FactsView, "requestState")
    assert view is not None
    return "".join(part.text for part in view.rows[0].parts)


def text(panel: DetailsPanel, name: str) -> str:
    view = panel.pages["Overview"].findChild(TextView, name)
    assert view is not None, labels(panel)
    return view.toPlainText()


def test_a_failed_call_says_why_before_its_arguments(
    session: CaptureDocument, qtbot: QtBot, theme_controller: ThemeController
) -> None:
    panel = shown(session, qtbot, theme_controller, 1)
    assert state(panel) == "Failed after 1.0 s: exit code 2, No. 3"
    assert text(panel, "resultText") == "Exit code 2\nno rule to make target"
    assert labels(panel).index("Failure") < labels(panel).index("Command")
    assert (panel.head.namespace, panel.head.name, panel.head.tool) == ("", "call", "Bash")


def test_a_call_shows_its_result_and_a_result_its_call(
    session: CaptureDocument, qtbot: QtBot, theme_controller: ThemeController
) -> None:
    panel = shown(session, qtbot, theme_controller, 3)
    assert state(panel) == "Result after 1.0 s: No. 5"
    assert text(panel, "resultText") == "built in 3 s"
    assert labels(panel).index("Command") < labels(panel).index("Result")
    panel = shown(session, qtbot, theme_controller, 4)
    assert "Command" in labels(panel)
    view = panel.pages["Overview"].findChild(FactsView, "answers")
    assert view is not None
    assert [f"{row.name}: {row.value}" for row in view.rows] == ["Tool: Bash", "Result of: the call No. 4"]
    assert panel.head.name == "result"


def test_a_call_of_mew_keeps_its_kind_and_says_who_answered(qtbot: QtBot, theme_controller: ThemeController) -> None:
    call = tool_call("read_file", arguments={"path": "/srv/a"})
    document = document_of(call, tool_result(call, "the text"))
    panel = shown(document, qtbot, theme_controller, 0)
    assert state(panel).startswith("Answered by files after ")
    assert text(panel, "resultText") == "the text"
    assert (panel.head.namespace, panel.head.name) == ("mcp/", "request")


def test_the_first_line_of_a_result_keeps_its_indent(qtbot: QtBot, theme_controller: ThemeController) -> None:
    read = tool_call("read_file")
    numbered = "     9 def total():\n    10     return 0"
    panel = shown(document_of(read, tool_result(read, f"\n{numbered}\n\n")), qtbot, theme_controller, 0)
    assert text(panel, "resultText") == numbered


def chain(panel: DetailsPanel) -> ChainView:
    view = panel.pages["Overview"].findChild(ChainView, "chain")
    assert view is not None, labels(panel)
    return view


def test_the_chain_of_a_session_is_its_prompt_and_what_stands_next_to_the_message(
    session: CaptureDocument, qtbot: QtBot, theme_controller: ThemeController
) -> None:
    own = 61  # the call of a read
    view = chain(shown(session, qtbot, theme_controller, own))
    numbers = [row.message for row in view.rows if not row.hides]
    assert numbers[0] == 0, "the prompt"
    assert set(range(own - 2, own + 2)) <= set(numbers), "the steps before, the call and its result"
    assert len(numbers) <= 10
    (place,) = [place for place, row in enumerate(view.rows) if row.hides]
    whole = len(Subject(session, own).likely_chain.steps)
    assert view.rows[place].name == f"{whole - len(numbers) + 1} more", "the prompt is not among the 64 nearest"
    assert view.is_link(place, QPoint())
    view.activate_row(place)
    assert len(view.rows) == whole
    assert not any(row.hides for row in view.rows)


def test_a_message_of_a_sub_agent_leads_to_the_call_that_started_it_and_no_further(
    tmp_path: Path, qtbot: QtBot, theme_controller: ThemeController
) -> None:
    document = closed_at_end(CaptureDocument())
    for _ in document.open_log(write_claude(tmp_path), together=True):
        pass
    capture, contexts = document.capture, document.analysis.contexts
    inside = [m for m in range(len(capture)) if contexts.node_of(m) >= 0 and kind_word(capture, m) == "result"]
    message = max(inside, key=lambda m: len(Subject(document, m).likely_chain.steps))
    assert any(contexts.node_of(step.message) < 0 for step in Subject(document, message).likely_chain.steps)
    view = chain(shown(document, qtbot, theme_controller, message))
    numbers = [row.message for row in view.rows if not row.hides]
    outside = [m for m in numbers if m < message and contexts.node_of(m) != contexts.node_of(message)]
    assert [kind_word(capture, m) for m in outside] == ["call"]
    assert Subject(document, outside[0]).target in {"Task", "Agent"}
    assert min(numbers) == outside[0]


def test_a_chain_of_mew_is_whole(qtbot: QtBot, theme_controller: ThemeController) -> None:
    said = [envelope("chat")]
    for _ in range(20):
        said.append(envelope("chat", correlation_id=[said[-1]["id"]]))
    view = chain(shown(document_of(*said), qtbot, theme_controller, 10))
    assert len(view.rows) == 21


def test_a_short_chain_over_spans_of_a_trace_is_whole(qtbot: QtBot, theme_controller: ThemeController) -> None:
    trace = Path(__file__).parents[3] / "data/otlp/langgraph-traceloop-0.40.14-old-names.jsonl"
    document = document_at(trace)
    calls = [m for m in range(len(document.capture)) if kind_word(document.capture, m) == "call"]
    short = [m for m in calls if 2 < len(Subject(document, m).likely_chain.steps) <= 10]
    assert short
    for message in short:
        assert not any(row.hides for row in chain(shown(document, qtbot, theme_controller, message)).rows)


def test_the_tab_of_lifecycles_is_there_where_a_log_has_one(
    session: CaptureDocument, qtbot: QtBot, theme_controller: ThemeController
) -> None:
    panel = shown(session, qtbot, theme_controller, 3)
    assert "Lifecycle" not in panel.tabs.words()
    panel.show_tab("Lifecycle")
    assert panel.tabs.words()[panel.tabs.currentIndex()] == "Lifecycle", "who asks for it gets it"
    assert "Lifecycle" in shown(story(), qtbot, theme_controller, 5).tabs.words()
