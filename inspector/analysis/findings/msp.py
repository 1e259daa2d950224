"""Checks MSP sessions: visibility of messages, and the problems of their documents (docs/protocols.md 14).

Problems visible in messages are found in the rows, so that they also appear in a session saved as a capture. The
document reports other problems (`FindingPass.reported`), such as a listed id without an object. They change with each
edit, without rewriting the projected rows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from inspector.analysis.findings.batch import Array, Batch, ReportedProblem
from inspector.analysis.findings.check import ERROR, NOTE, WARNING, Check
from inspector.analysis.passes.changed_rows import Rows
from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.protocol import msp

_MAX_SENTENCES = 20
_SOURCE = "MSP, message objects: visibility"

MAIN_ONLY_INSIDE = Check(
    "msp-main-only-inside", WARNING, "main_only inside a sub-session",
    "A message of a sub-session is visible to the main chat only.",
    "The main chat does not contain it, so it is visible nowhere. It stays in place and is not promoted.",
    "Make it subsession_only, or global if the main chat should see it.",
    _SOURCE,
)  # fmt: skip
SUBSESSION_ONLY_IN_MAIN = Check(
    "msp-subsession-only-in-main", WARNING, "subsession_only in the main chat",
    "A message of the main chat is visible to sub-sessions only.",
    "No sub-session includes it, and the main chat shows it by mistake.",
    "Make it main_only or global, or move it into its sub-session.",
    _SOURCE,
)  # fmt: skip
UNKNOWN_VISIBILITY = Check(
    "msp-visibility", WARNING, "Unknown visibility",
    "Its visibility is {detail}; only main_only, subsession_only and global are defined.",
    "Its intended readers are unknown. Context Inspector treats it as a message without visibility.",
    "Use one of the three values, or omit visibility.",
    _SOURCE, example="“private”",
)  # fmt: skip

UNREADABLE = Check(
    "msp-unreadable", ERROR, "File or line of a session that cannot be read",
    "{detail}",
    "Its content is missing from the session.",
    "Repair the file with an editor. An unreadable file is never overwritten.",
    "Context Inspector: every file is shown, readable or not",
    example="desk.jsonl line 3 is not JSON.",
)  # fmt: skip
SKIPPED = Check(
    "msp-skipped", NOTE, "File without a session",
    "{detail}",
    "It lies among the session files but contains no session.",
    "Move it to another folder if it is not meant to be a session.",
    "MSP, session and subsession objects",
    example="notes.json contains no session or sub-session.",
)  # fmt: skip
INVALID = Check(
    "msp-invalid", WARNING, "Invalid member",
    "{detail}",
    "Other programs may reject the document or read it differently.",
    "Correct the member by the schema (resources/schema).",
    "MSP, data structures",
    example="status is missing.",
)  # fmt: skip
STATUS = Check(
    "msp-status", WARNING, "Unknown or contradictory status",
    "{detail}",
    "Some programs treat the sub-session as open, others as closed.",
    "Use open or closed, and closed_at only with closed.",
    "MSP, subsession object: status, closed_at",
    example="The status is open, yet it has a closed_at.",
)  # fmt: skip
TIMES = Check(
    "msp-times", WARNING, "Closed before it was opened",
    "{detail}",
    "Orders and durations based on these times are wrong.",
    "Check the clock of the program that wrote the document.",
    "MSP, subsession object: created_at, closed_at",
    example="It was closed before it was opened.",
)  # fmt: skip
DUPLICATE = Check(
    "msp-duplicate-id", WARNING, "Id used twice in a session",
    "{detail}",
    "References to the id are ambiguous. Global messages are sent once per id.",
    "Give each object and each message a unique id.",
    "MSP, session, subsession and message objects: ids",
    example="Two messages have the id m3.",
)  # fmt: skip
UNLISTED = Check(
    "msp-unlisted", WARNING, "Sub-session missing from its session's list",
    "{detail}",
    "Programs that use the session's list do not show it.",
    "Add its id to subsessions of the session.",
    "MSP, session object: subsessions",
    example="The session does not list s2.",
)  # fmt: skip
MISSING = Check(
    "msp-missing", WARNING, "Listed sub-session not found",
    "{detail}",
    "Its messages are not in these files, and a referenced summary of it is not sent.",
    "Also open the file or folder that contains it, or remove its id from the list.",
    "MSP, session object: subsessions",
    example="The session lists s9, but there is no object for it.",
)  # fmt: skip
PARENT = Check(
    "msp-parent", WARNING, "Parent not found",
    "{detail}",
    "It cannot inherit messages from a parent, and its summary has no target.",
    "Also open the file that contains the parent, or correct parent_session_id.",
    "MSP, subsession object: parent_session_id",
    example="Its parent m9 is not among these sessions.",
)  # fmt: skip
CYCLE = Check(
    "msp-cycle", ERROR, "Cycle of sub-sessions",
    "{detail}",
    "They have no main chat. The parent that closes the cycle is ignored.",
    "Set parent_session_id of one of them to the session.",
    "MSP, roadmap: nested sub-sessions",
    example="Its parent s2 lies below it.",
)  # fmt: skip
OVERLAP = Check(
    "msp-covers-overlap", NOTE, "Snapshots cover the same messages",
    "{detail}",
    "The overlap is sent twice to each sub-session that includes snapshots.",
    "Start each snapshot after the end of the previous one.",
    "MSP, summary snapshots: covers_messages",
    example="It covers 10 to 30, which overlaps the snapshot before.",
)  # fmt: skip

CHECKS = (
    UNREADABLE, CYCLE, INVALID, STATUS, TIMES, DUPLICATE, UNLISTED, MISSING, PARENT, MAIN_ONLY_INSIDE,
    SUBSESSION_ONLY_IN_MAIN, UNKNOWN_VISIBILITY, SKIPPED, OVERLAP,
)  # fmt: skip
_DOCUMENT_CHECKS = {check.code: check for check in CHECKS if check.sentence == "{detail}"}


class SessionChecks:
    """Checks visibilities, and turns the document's problems into findings."""

    def __init__(self) -> None:
        self._reported: Sequence[ReportedProblem] = ()

    def feed(self, batch: Batch) -> None:
        """Checks the messages of a batch and the document's current problems."""
        self._check_visibility(batch, np.arange(batch.start, batch.stop))
        if len(batch.changed):
            self._check_visibility(batch, batch.changed, again=True)
        # By identity: the document gives a new sequence after each edit.
        if batch.reported is not self._reported:
            self._update_reported(batch)

    def _check_visibility(self, batch: Batch, rows: Rows, *, again: bool = False) -> None:
        """Compares the place of messages with their visibility."""
        protocol, chat = batch.code(msp.PROTOCOL), batch.code("chat")
        if protocol < 0 or chat < 0 or not len(rows):
            return
        rows = rows[(batch.column_values("protocol", rows) == protocol) & (batch.column_values("kind", rows) == chat)]
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
                batch.findings.replace_findings(check, rows, here, details=words)
            else:
                batch.findings.add(check, rows[here], details=words)

    def _update_reported(self, batch: Batch) -> None:
        """Replaces the findings by the document's current problems; several of one kind per row become one finding."""
        found: dict[Check, dict[int, list[str]]] = {check: {} for check in _DOCUMENT_CHECKS.values()}
        for problem in batch.reported:
            check = _DOCUMENT_CHECKS.get(problem.code)
            if check is not None and problem.row < batch.stop:
                found[check].setdefault(problem.row, []).append(_with_full_stop(problem.text))
        for check, rows in found.items():
            # All anew, as an edit may have mended any of them.
            batch.findings.withdraw(check, batch.findings.rows_of(check))
            batch.findings.add(check, sorted(rows), details=[_joined_sentences(rows[row]) for row in sorted(rows)])
        self._reported = batch.reported


def _joined_sentences(sentences: list[str]) -> str:
    more = f" And {len(sentences) - _MAX_SENTENCES:,} more of the kind." if len(sentences) > _MAX_SENTENCES else ""
    return " ".join(sentences[:_MAX_SENTENCES]) + more


def _with_full_stop(text: str) -> str:
    return text if text.endswith(".") else f"{text}."
