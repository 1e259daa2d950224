"""Sub-sessions: a document of a long chat read, edited, counted anew, listed and saved; prints one JSON object.

What is timed is processor time of this process, in milliseconds; what is shown first is looked at in steps.
Run as `python -m tests.bench.subsessions SUBSESSIONS MESSAGES`, offscreen; MESSAGES are the chat's own.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QApplication

from inspector.base import gc_control
from inspector.msp.document import SessionDocument
from inspector.settings import Settings
from inspector.ui.app.application import Application
from inspector.ui.msp.panel.indicator import Indicator
from inspector.ui.msp.panel.list import SubsessionList
from inspector.ui.msp.panel.token_counts import TokenCounts
from tests.bench.offscreen import Found, run
from tests.bench.views import summed_up
from tests.ui.msp.sessions import client_of, close_captures

_TURNS = 20
_START = "2026-01-05T{:02d}:{:02d}:{:02d}.{:03d}Z"


def written(folder: Path, subsessions: int, messages: int) -> Path:
    """A document: one message in 100 of the chat is global, one in 12 `main_only`; 50 to 100 in each sub-session."""
    chosen = random.Random(7)

    def said(name: str, number: int) -> dict[str, Any]:
        made: dict[str, Any] = {"id": name, "role": "user", "content": f"{name}: {number % 977} of the usual units"}
        draw = chosen.random()
        if draw < 0.093:
            made["visibility"] = "global" if draw < 0.01 else "main_only"
        second = number // 10
        made["timestamp"] = _START.format(9 + second // 3600, second // 60 % 60, second % 60, number % 10 * 100)
        return made

    subs = [
        {
            "subsession_id": f"s{n}", "parent_session_id": "m1", "label": f"about {n}", "status": "open",
            "created_at": "2026-01-05T09:30:00.000Z", "context_policy": {"recent_parent_messages": 5},
            "messages": [said(f"s{n}-{m}", m) for m in range(50 + n % 51)],
        }
        for n in range(subsessions)
    ]  # fmt: skip
    session = {
        "session_id": "m1", "created_at": "2026-01-05T09:00:00.000Z", "sub_context": {"intent": "measure"},
        "summary_snapshots": [{"id": "n1", "covers_messages": [0, 500], "content": "what was said first"}],
        "messages": [said(f"m{n}", n) for n in range(messages)],
    }  # fmt: skip
    path = folder / "sessions.json"
    path.write_text(json.dumps({"session": session, "subsessions": subs}))
    return path


def cpu_ms(work: Callable[[], object]) -> float:
    """Milliseconds of the processor some work takes."""
    began = time.process_time()
    work()
    return (time.process_time() - began) * 1000


class Edits:
    """Edits of every kind, each with the recount behind it."""

    def __init__(self, document: SessionDocument, indicator: Indicator) -> None:
        self.document, self.indicator = document, indicator
        self.times: dict[str, list[float]] = {}
        self.recounts: list[float] = []

    def make(self, name: str, edit: Callable[[], object]) -> None:
        """Make an edit, then count anew."""
        self.times.setdefault(name, []).append(cpu_ms(edit))
        self.indicator.counts.count_here()
        self.recounts.append(cpu_ms(self.indicator.refresh))


def _edited(document: SessionDocument, indicator: Indicator, shown: int) -> Edits:
    edits = Edits(document, indicator)
    session, sub, other = document.sessions[0], *document.subsessions[shown : shown + 2]
    for turn in range(_TURNS):
        late = session.messages[-1 - turn]
        edits.make("add_main", lambda: document.add_message(session, "user", "another"))
        edits.make("add_own", lambda: document.add_message(sub, "user", "another"))
        edits.make("add_other", lambda: document.add_message(other, "user", "another", "global"))
        edits.make("show", lambda message=late: document.set_visibility(message, "main_only"))
        edits.make("undo", document.undo)
    for ended in document.subsessions[shown + 2 : shown + 2 + _TURNS]:
        document.close_subsession(ended, "so it is", append_to_parent=False)
        edits.make("merge", lambda one=ended: document.merge_subsession(one))
    return edits


def _first_shown(qt: QApplication, indicator: Indicator, key: str) -> dict[str, float]:
    """Until the figures of a sub-session are there, and the longest step on the way."""
    steps = [cpu_ms(lambda: indicator.show_subsession(key))]
    while indicator.merged is None:
        steps.append(cpu_ms(qt.processEvents))
    return {"first_ms": round(sum(steps), 2), "first_step_ms": round(max(steps), 2), "first_steps": len(steps)}


async def measure(application: Application, subsessions: int, messages: int) -> Found:
    """Read, list, count, edit and save a document."""
    qt = QApplication.instance()
    assert isinstance(qt, QApplication)
    found: Found = {"subsessions": subsessions, "messages": messages}
    with tempfile.TemporaryDirectory(prefix="inspector-bench-") as folder:
        path = written(Path(folder), subsessions, messages)
        read: list[SessionDocument] = []
        found["read_ms"] = round(cpu_ms(lambda: read.append(SessionDocument.read([path]))), 2)
        document = read[0]
        found["bytes"] = path.stat().st_size
        client = client_of(document, application.theme)
        indicator = Indicator(client, application.theme, Settings(), TokenCounts(client))
        indicator.resize(300, 640)
        indicator.show()
        qt.processEvents()
        shown = subsessions // 2
        found |= _first_shown(qt, indicator, document.subsessions[shown].key)
        indicator.counts.count_here()
        qt.processEvents()
        gc_control.freeze_and_trim()  # as whoever opens a document does
        edits = _edited(document, indicator, shown)
        for name, times in edits.times.items():
            found |= summed_up(name, times)
        found |= summed_up("recount", edits.recounts)
        listed = SubsessionList(client, application.theme, indicator.counts)
        found |= summed_up("list", [cpu_ms(listed.refresh) for _ in range(_TURNS)])
        listed.stop()
        indicator.counts.stop()
        indicator.stop()
        indicator.close()
        close_captures()
        found["save_ms"] = round(cpu_ms(document.save), 2)
        found["kept"] = _same(document, SessionDocument.read([path]))
    return found


def _same(document: SessionDocument, again: SessionDocument) -> bool:
    """Whether what was saved is what there is."""
    ours, theirs = ((*one.sessions, *one.subsessions) for one in (document, again))
    return [owner.items for owner in ours] == [owner.items for owner in theirs]


if __name__ == "__main__":
    sizes = [int(argument) for argument in sys.argv[1:3]]
    print(json.dumps(run(lambda application: measure(application, *sizes))))
