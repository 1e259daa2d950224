"""Which sub-sessions go on: the same by the sessions and by the tree of contexts, in the sessions' own time."""

from __future__ import annotations

from pathlib import Path

import pytest

from inspector.document.document import CaptureDocument
from inspector.msp.document import SessionDocument
from inspector.protocol.timestamps import NO_TIME

DATA = Path(__file__).parents[2] / "data" / "msp"


@pytest.mark.parametrize("idle_after_s", [30, 3_600, 86_400])
@pytest.mark.parametrize("log", ["weekly-report.json", "nested.json", "one-file.json"])
def test_list_and_tree_agree(log: str, idle_after_s: int) -> None:
    document = CaptureDocument()
    for _ in document.open_sessions([DATA / log]):
        pass
    document.set_idle_time(idle_after_s)
    sessions, contexts = document.msp, document.analysis.contexts
    assert isinstance(sessions, SessionDocument)
    by_id = {contexts.tree.path(node).rpartition("/")[2]: node for node in range(len(contexts.tree))}
    compared = 0
    for sub in sessions.subsessions:
        node = by_id.get(sub.id)
        if node is not None and sub.is_open:
            assert contexts.state(node) == ("active" if sessions.is_active(sub) else "idle"), sub.id
            compared += 1
    assert compared or not any(sub.is_open for sub in sessions.subsessions)
    document.close()


def test_the_present_is_that_of_the_sessions() -> None:
    sessions = SessionDocument.read([DATA / "weekly-report.json"])
    times = [message.time_ns for sub in sessions.subsessions for message in sub.messages]
    assert sessions.latest_ns >= max(one for one in times if one != NO_TIME)
