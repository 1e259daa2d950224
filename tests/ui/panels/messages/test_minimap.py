"""The minimap where nearly every row has a problem."""

from __future__ import annotations

import numpy as np
from pytestqt.qtbot import QtBot

from inspector.filters.compile import compile_filter
from inspector.filters.visible import VisibleRows
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.messages.minimap import Minimap
from tests.builders import document_of, envelope


def minimap(qtbot: QtBot, themes: ThemeController, warnings: list[int]) -> Minimap:
    rows = VisibleRows(document_of(*(envelope("chat") for _ in range(900))).analysis)
    rows.apply_filter(compile_filter(""), None)
    shown = Minimap(rows, themes)
    qtbot.addWidget(shown)
    shown.resize(14, 600)
    shown.show_marks({"warning": np.array(warnings)})
    return shown


def test_problems_everywhere_are_faint_and_their_clusters_are_not(
    qtbot: QtBot, theme_controller: ThemeController
) -> None:
    sparse = [row for row in range(900) if row % 3 == 0]
    shown = minimap(qtbot, theme_controller, sparse)
    assert len(shown.places("warning")) > 200
    assert shown.faint("warning").all(), "no solid bar"
    shown = minimap(qtbot, theme_controller, sorted({*sparse, *range(300, 330)}))
    strong = np.array(shown.places("warning"))[~shown.faint("warning")]
    assert len(strong)
    assert all(190 <= y <= 225 for y in strong.tolist()), "the cluster alone stands out"


def test_few_problems_are_not_faint(qtbot: QtBot, theme_controller: ThemeController) -> None:
    shown = minimap(qtbot, theme_controller, [3, 400, 800])
    assert shown.faint("warning").tolist() == [False, False, False]
