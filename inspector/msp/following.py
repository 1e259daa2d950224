"""A capture that shows a document of sessions follows its edits: at the end, in place, or by saying that it cannot."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from inspector.analysis import Analysis
from inspector.capture.capture import Capture
from inspector.msp.capture import MspCapture
from inspector.msp.document import Edit


class ShowsSessions(Protocol):
    """What takes part of the document whose capture it is."""

    capture: Capture
    analysis: Analysis

    def poll(self) -> bool:
        """Take in what its sources have gained."""
        ...

    def take_rewritten(self, rows: Sequence[int]) -> None:
        """Take in lines that were written anew in their places."""
        ...

    def catch_up(self) -> None:
        """Let the checks look at what they were told meanwhile."""
        ...


class SessionFollowing:
    """Lets a capture follow the edits of the document of sessions it shows.

    Attributes:
        shown: the projection.
    """

    def __init__(self, document: ShowsSessions, shown: MspCapture) -> None:
        self.shown = shown
        self._document = document
        self._revision = shown.revision
        self._told: Callable[[], None] | None = None

    @property
    def missed_any(self) -> bool:
        """Whether there were edits that it has not taken in."""
        return self.shown.is_behind or self._revision != self.shown.document.revision

    def start(self, told: Callable[[], None] | None = None) -> None:
        """Follow from now on.

        Args:
            told: called when only another projection can show what there is now: something was taken away.
        """
        self._told = told
        if self not in self.shown.document.observers:
            self.shown.document.observers.append(self)

    def stop(self) -> None:
        """Follow no more."""
        if self in self.shown.document.observers:
            self.shown.document.observers.remove(self)

    def session_edited(self, edit: Edit) -> None:
        """Take an edit in: at the end, in place, or by saying that it cannot be."""
        document = self._document
        self._revision = self.shown.document.revision
        rows = self.shown.take(edit, document.capture)
        if rows is None:
            if self._told is not None:
                self._told()
            return
        document.take_rewritten(rows)
        while document.poll():
            pass
        self.tell_problems()

    def tell_problems(self) -> None:
        """Let the findings say what is wrong with the sessions as they are now."""
        findings = self._document.analysis.findings
        problems = self.shown.problems()
        if list(problems) != list(findings.reported):
            findings.reported = problems
            self._document.catch_up()
