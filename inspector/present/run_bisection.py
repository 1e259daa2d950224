"""The first of ordered runs in which a behaviour appears."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from inspector.analysis.views.many_runs.run_chain import MOST_STEPS, RunChain
from inspector.present.formats import count_of
from inspector.protocol.secrets.masking import mask_text

_MOST_NAMED = 5
_MINUS = "\N{MINUS SIGN}"
"""Steps print it before removed lines; the user may type a hyphen."""


class Version(msgspec.Struct, frozen=True):
    """A run, or the runs of one version.

    Attributes:
        name: its path.
        runs: number of runs; `having` of them have the behaviour.
        example: path of the first run with it, or of the first run.
        row: its message in that run; -1 without one.
        is_cut: a run without a match has more steps than were searched.
    """

    name: str
    runs: int
    having: int
    example: str
    row: int
    is_cut: bool = False

    @classmethod
    def of_runs(cls, name: str, runs: Sequence[RunChain], step: str) -> Version:
        """Counts the runs with matches of their filter, or with a step that begins with a text."""
        rows = [_row(run, step) for run in runs]
        first = next((place for place, row in enumerate(rows) if row >= 0), 0)
        is_cut = bool(step) and any(run.cut and row < 0 for run, row in zip(runs, rows, strict=True))
        return cls(mask_text(name), len(runs), sum(row >= 0 for row in rows), runs[first].path, rows[first], is_cut)

    @property
    def words(self) -> str:
        """Returns yes or no for one run, else counts."""
        return ("yes" if self.having else "no") if self.runs == 1 else f"{self.having:,} of {self.runs:,}"


def _row(run: RunChain, step: str) -> int:
    """Returns the first message with the behaviour; -1 without one."""
    if not step:
        return run.matched
    begin = step.replace(_MINUS, "-")
    return next((one.row for one in run.steps if one.text.replace(_MINUS, "-").startswith(begin)), -1)


def one_each(runs: Sequence[RunChain], step: str) -> list[Version]:
    """Returns a version for each run."""
    return [Version.of_runs(run.path, [run], step) for run in runs]


class Bisection(NamedTuple):
    """The answer.

    Attributes:
        versions: in order.
        first: index of the first with the behaviour; None without one.
        changes: indices at which the behaviour appears or vanishes.
        sentence: for the user, masked.
    """

    versions: Sequence[Version]
    first: int | None
    changes: list[int]
    sentence: str

    @property
    def is_monotone(self) -> bool:
        """True if it appears once, and stays in every run since then."""
        since = [] if self.first is None else self.versions[self.first :]
        return all(one.having == one.runs for one in since)

    def as_json(self) -> dict[str, Any]:
        """Returns the answer as JSON; numbers of messages begin with 1."""

        def row(one: Version) -> dict[str, Any]:
            return {"path": one.name, "runs": one.runs, "having": one.having, "example": one.example,
                    "no": one.row + 1 if one.row >= 0 else None}  # fmt: skip

        return {
            "first": None if self.first is None else row(self.versions[self.first]),
            "before": row(self.versions[self.first - 1]) if self.first else None,
            "monotone": self.is_monotone, "changes": [self.versions[place].name for place in self.changes],
            "sentence": self.sentence, "versions": [row(one) for one in self.versions],
        }  # fmt: skip


def bisected(versions: Sequence[Version], behaviour: str, unread: int = 0) -> Bisection:
    """Finds the first version with a behaviour, and all changes; `unread` is the number of unreadable logs."""
    having = [one.having > 0 for one in versions]
    first = having.index(True) if any(having) else None
    changes = [place for place in range(1, len(having)) if having[place] != having[place - 1]]
    found = Bisection(versions, first, changes, "")
    return found._replace(sentence=mask_text(_sentence(found, behaviour) + _gaps(versions, unread)))


def _gaps(versions: Sequence[Version], unread: int) -> str:
    """Returns sentences on steps and logs that were not searched."""
    cut = (
        f" Only the first {MOST_STEPS:,} steps of each run were searched."
        if any(one.is_cut for one in versions)
        else ""
    )
    return cut + (f" {count_of(unread, 'log')} could not be read and may have it." if unread else "")


def _sentence(found: Bisection, behaviour: str) -> str:
    versions = found.versions
    if found.first is None:
        return f"{behaviour} does not appear in {count_of(sum(one.runs for one in versions), 'run')}."
    one = versions[found.first]
    where = f"{behaviour} first appears in {one.name}"
    where += f" (No. {one.row + 1:,})" if one.runs == 1 else f", in {one.having:,} of {count_of(one.runs, 'run')}"
    before = "the first of all" if not found.first else f"not in {versions[found.first - 1].name} before it"
    gone = [place for place in found.changes if place > found.first and not versions[place].having]
    sentence = f"{where}, {before}."
    if gone:
        names = ", ".join(versions[place].name for place in gone[:_MOST_NAMED])
        more = f" and {len(gone) - _MOST_NAMED:,} more" if len(gone) > _MOST_NAMED else ""
        return f"{sentence} It is not monotone: it is absent again in {names}{more}."
    return sentence if found.is_monotone else f"{sentence} Since then it appears in some runs of a version only."
