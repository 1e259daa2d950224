"""Sessions and sub-sessions: what their documents get wrong (docs/protocols.md 14).

What messages show is looked for in the rows, so that it is also known of a session saved as a capture. What only the
document knows, such as an id that is listed and has no object, is reported by it
(`FindingPass.reported`): it changes with each edit, and a projected row need not be written anew for that.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from inspector.analysis.findings.batch import Array, Batch, ReportedProblem
from inspector.analysis.findings.check import ERROR, NOTE, WARNING, Check
from inspector.analysis.passes.changes import Rows
from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.protocol import msp

_MOST_TOLD = 20
_SOURCE = "MSP, message objects: visibility"

MAIN_ONLY_INSIDE = Check(
    "msp-main-only-inside", WARNING, "main_only inside a sub-session",
    "A message of a sub-session says that only the main chat may see it.",
    "It can be meant for nobody: the main chat does not hold it. It is kept where it is, and not promoted.",
    "Make it subsession_only, or global where the main chat shall see it.",
    _SOURCE,
)  # fmt: skip
SUBSESSION_ONLY_IN_MAIN = Check(
    "msp-subsession-only-in-main", WARNING, "subsession_only in the main chat",
    "A message of the main chat says that only a sub-session may see it.",
    "No sub-session takes it along, and the main chat shows what was not meant for it.",
    "Make it main_only or global, or move it into the sub-session it belongs to.",
    _SOURCE,
)  # fmt: skip
UNKNOWN_VISIBILITY = Check(
    "msp-visibility", WARNING, "Visibility that is not known",
    "Its visibility is {detail}, which is none of main_only, subsession_only and global.",
    "Nobody can tell who may see it; here it counts as a message without one.",
    "Write one of the three, or leave visibility out.",
    _SOURCE, example="“private”",
)  # fmt: skip

UNREADABLE = Check(
    "msp-unreadable", ERROR, "File or line of a session that cannot be read",
    "{detail}",
    "Whatever it said is missing from the session.",
    "Mend the file with an editor; it is never written over while it cannot be read.",
    "Context Inspector: every file is shown, whether it can be read or not",
    example="desk.jsonl line 3 is no JSON.",
)  # fmt: skip
SKIPPED = Check(
    "msp-skipped", NOTE, "File without a session",
    "{detail}",
    "It lies among the files of the sessions, but says nothing of them.",
    "Move it elsewhere, if it is not meant to be one.",
    "MSP, session and subsession objects",
    example="notes.json holds no session and no sub-session.",
)  # fmt: skip
INVALID = Check(
    "msp-invalid", WARNING, "Member that is not as specified",
    "{detail}",
    "Other programs may refuse the document, or read it in another way.",
    "Write the member as the schema says (resources/schema).",
    "MSP, data structures",
    example="status is missing.",
)  # fmt: skip
STATUS = Check(
    "msp-status", WARNING, "Status that is not known, or contradicts itself",
    "{detail}",
    "One program takes the sub-session for open, another for closed.",
    "Write open or closed, and closed_at only where it is closed.",
    "MSP, subsession object: status, closed_at",
    example="The status is open, yet it has a closed_at.",
)  # fmt: skip
TIMES = Check(
    "msp-times", WARNING, "Closed before it was opened",
    "{detail}",
    "Orders and durations that are made of these times are wrong.",
    "Look at the clocks of whoever wrote the document.",
    "MSP, subsession object: created_at, closed_at",
    example="It was closed before it was opened.",
)  # fmt: skip
DUPLICATE = Check(
    "msp-duplicate-id", WARNING, "Id used twice in a session",
    "{detail}",
    "What names the id may mean either; global messages are sent once for each id.",
    "Give each object and each message an id of its own.",
    "MSP, session, subsession and message objects: ids",
    example="Two messages have the id m3.",
)  # fmt: skip
UNLISTED = Check(
    "msp-unlisted", WARNING, "Sub-session that its session does not list",
    "{detail}",
    "Programs that go by the session's list do not show it.",
    "Add its id to subsessions of the session.",
    "MSP, session object: subsessions",
    example="The session does not list s2.",
)  # fmt: skip
MISSING = Check(
    "msp-missing", WARNING, "Named sub-session that is not there",
    "{detail}",
    "What was said in it is not in these files; a summary of it that is referred to is not sent.",
    "Open the file or folder that holds it as well, or take the id away where it is named.",
    "MSP, session object: subsessions",
    example="The session lists s9, of which there is no object.",
)  # fmt: skip
PARENT = Check(
    "msp-parent", WARNING, "Parent that is not there",
    "{detail}",
    "Nothing of a parent can be taken along into it, and its summary has nowhere to go.",
    "Open the file that holds the parent as well, or mend parent_session_id.",
    "MSP, subsession object: parent_session_id",
    example="Its parent m9 is not among these sessions.",
)  # fmt: skip
CYCLE = Check(
    "msp-cycle", ERROR, "Sub-sessions that are each other's parents",
    "{detail}",
    "There is no main chat they belong to; the parent that would close the circle is ignored.",
    "Let parent_session_id of one of them name the session.",
    "MSP, roadmap: nested sub-sessions",
    example="Its parent s2 lies below it.",
)  # fmt: skip
OVERLAP = Check(
    "msp-covers-overlap", NOTE, "Snapshots that cover the same messages",
    "{detail}",
    "What both summarise is sent twice to each sub-session that takes snapshots along.",
    "Let each snapshot begin where the one before ends.",
    "MSP, summary snapshots: covers_messages",
    example="It covers 10 to 30, of which another snapshot covers a part.",
)  # fmt: skip

CHECKS = (
    UNREADABLE, CYCLE, INVALID, STATUS, TIMES, DUPLICATE, UNLISTED, MISSING, PARENT, MAIN_ONLY_INSIDE,
    SUBSESSION_ONLY_IN_MAIN, UNKNOWN_VISIBILITY, SKIPPED, OVERLAP,
)  # fmt: skip
_TOLD = {check.code: check for check in CHECKS if check.sentence == "{detail}"}


class Sessions:
    """Looks at visibilities, and passes on what the document tells."""

    def __init__(self) -> None:
        self._reported: Sequence[ReportedProblem] = ()

    def feed(self, batch: Batch) -> None:
        """Look at the messages of a batch, and at what the document tells now."""
        self._look_at(batch, np.arange(batch.start, batch.stop))
        if len(batch.changed):
            self._look_at(batch, batch.changed, again=True)
        if batch.reported is not self._reported:
            self._tell(batch)

    def _look_at(self, batch: Batch, rows: Rows, *, again: bool = False) -> None:
        """Compare where messages stand with where they may be seen."""
        protocol, chat = batch.code(msp.PROTOCOL), batch.code("chat")
        if protocol < 0 or chat < 0 or not len(rows):
            return
        rows = rows[(batch.of("protocol", rows) == protocol) & (batch.of("kind", rows) == chat)]
        values = batch.passes.visibility.columns["visibility"][rows]
        inside = batch.passes.contexts.nodes_of(rows) != MAIN
        known = batch.passes.visibility.values
        wrong: dict[Check, Array] = {
            MAIN_ONLY_INSIDE: (values == known.find(msp.MAIN_ONLY)) & inside,
            SUBSESSION_ONLY_IN_MAIN: (values == known.find(msp.SUBSESSION_ONLY)) & ~inside,
            UNKNOWN_VISIBILITY: values > len(msp.VISIBILITIES),
        }
        for check, here in wrong.items():
            words = [f"“{known[value]}”" for value in values[here].tolist()] if check is UNKNOWN_VISIBILITY else ""
            if again:
                batch.findings.settle(check, rows, here, details=words)
            else:
                batch.findings.add(check, rows[here], details=words)

    def _tell(self, batch: Batch) -> None:
        """Let the findings be what the document tells; of several of one kind about one row each is told in one."""
        found: dict[Check, dict[int, list[str]]] = {check: {} for check in _TOLD.values()}
        for problem in batch.reported:
            check = _TOLD.get(problem.code)
            if check is not None and problem.row < batch.stop:
                found[check].setdefault(problem.row, []).append(_sentence(problem.text))
        for check, rows in found.items():
            batch.findings.withdraw(check, batch.findings.rows_of(check))
            batch.findings.add(check, sorted(rows), details=[_together(rows[row]) for row in sorted(rows)])
        self._reported = batch.reported


def _together(sentences: list[str]) -> str:
    more = f" And {len(sentences) - _MOST_TOLD:,} more of the kind." if len(sentences) > _MOST_TOLD else ""
    return " ".join(sentences[:_MOST_TOLD]) + more


def _sentence(text: str) -> str:
    return text if text.endswith(".") else f"{text}."
