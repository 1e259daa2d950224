"""Filters a table, and grows it, without the window around it."""

from __future__ import annotations

import numpy as np

from inspector.analysis import AnalysisChanges
from inspector.engine.requests.filters import check_text
from inspector.engine.requests.views import ArrangeRows, FilterRows
from inspector.engine.update import Update
from inspector.ui.docview.panes import Panes
from inspector.ui.docview.running_search import RunningSearch
from inspector.ui.panels.messages.panel import MessagesPanel

_OTHER_VIEW = 99


def show_filter(panel: MessagesPanel, text: str) -> None:
    """Shows the messages of a filter, as soon as the engine has found them."""
    search = RunningSearch(panel.client, panel.model.rows, panel)
    search.found.connect(lambda found: panel.show_rows(*found))
    found = check_text(text).filter
    assert found is not None
    search.start(found, None)


def matching(view: MessagesPanel | Panes, text: str) -> list[int]:
    """The messages that a filter finds among all."""
    view.client.answer_now(ArrangeRows(_OTHER_VIEW, folds=False))
    return view.client.answer_now(FilterRows(_OTHER_VIEW, text)).visible.tolist()


def follow(panel: MessagesPanel, changes: AnalysisChanges) -> None:
    """Shows the effect of changes of the document."""
    changed = np.asarray(changes.changed, np.int64)
    panel.apply_changes(Update(0, 0, changes.start, changes.stop, changed, changes.tree_moved))
