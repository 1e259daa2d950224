"""The page of a participant says how many tokens stand in its context, with and without collapsing."""

from __future__ import annotations

from pathlib import Path

from inspector.document.document import CaptureDocument
from inspector.present.places import ParticipantPlace
from inspector.ui.app.application import Application
from inspector.ui.panels.details.facts_view import FactsView
from inspector.ui.window.main_window import MainWindow
from tests.builders import document_at
from tests.ui.windows import panes_of, window_on

DEMO = Path(__file__).parents[3] / "data" / "captures" / "demo-round.ctxcap"


def facts_of(window: MainWindow, document: CaptureDocument, name: str) -> dict[str, str] | None:
    space = document.capture.strings.find("demo")
    assert space is not None
    panes_of(window).show_place(ParticipantPlace(space, name))
    view = panes_of(window).details.findChild(FactsView, "contextTokens")
    return None if view is None else {row.name: "".join(part.text for part in row.parts) for row in view.rows}


def test_the_demos_loop_shows_what_collapsing_saved(application: Application) -> None:
    document = document_at(DEMO)
    document.count_tokens()
    window = window_on(application, document)
    window.show()
    assert facts_of(window, document, "analyst") == {
        "At the end": "2,301 tokens, estimate (cl100k_base)", "At most": "2,970", "Without collapsing": "11,089",
        "Saved": "8,788 by 9 collapsed results",
    }  # fmt: skip
    assert facts_of(window, document, "lead") == {"At the end": "636 tokens, estimate (cl100k_base)"}


def test_who_has_no_model_and_what_is_not_counted_say_nothing(application: Application) -> None:
    document = document_at(DEMO)
    window = window_on(application, document)
    window.show()
    assert facts_of(window, document, "analyst") is None
    document.count_tokens()
    assert facts_of(window, document, "files") is None
