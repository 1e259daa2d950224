"""Filters a table, and grows it, without the window around it."""

from __future__ import annotations

import numpy as np

from inspector.analysis import AnalysisChanges
from inspector.engine.requests.filters import check_text
from inspector.engine.requests.rows import MatchingMessages
from inspector.engine.requests.views import MembersOfRows
from inspector.engine.update import Update
from inspector.ui.docview.panes import Panes
from inspector.ui.docview.running_search import RunningSearch
from inspector.ui.panels.messages.panel import MessagesPanel
from inspector.ui.panels.messages.view_rows import VIEW


def show_filter(panel: MessagesPanel, text: str) -> None:
    """Shows the messages of a filter, as soon as the engine has found them."""
    search = RunningSearch(panel.client, panel.model.rows, panel)
    search.found.connect(lambda found: panel.show_rows(*found))
    found = check_text(text).filter
    assert found is not None
    search.start(found, None)


def matching(view: MessagesPanel | Panes, text: str) -> list[int]:
    """The messages that a filter finds among all."""
    return view.client.answer_now(MatchingMessages(text)).tolist()


def members(view: MessagesPanel | Panes, *rows: int) -> list[int]:
    """The messages that some rows of the table stand for, or all of them."""
    asked = np.array(rows, np.uint32) if rows else None
    return view.client.answer_now(MembersOfRows(VIEW, asked)).tolist()


def follow(panel: MessagesPanel, changes: AnalysisChanges) -> None:
    """Shows the effect of changes of the document."""
    changed = np.asarray(changes.changed, np.int64)
    panel.apply_changes(Update(0, 0, changes.start, changes.stop, changed, changes.tree_moved))
