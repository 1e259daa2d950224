"""The answer of a comparison of two runs as plain data: first divergence, cause, counts, differences, totals."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np

from inspector.analysis.passes.tokens.reported_usage import Usage
from inspector.analysis.views.account.tool_calls import tool_calls
from inspector.analysis.views.compare.comparison import RunComparison
from inspector.analysis.views.compare.difference_classes import DifferenceClass, Input
from inspector.analysis.views.compare.divergence import NO_PLACE
from inspector.analysis.views.compare.noise import NoiseValue, find_noise
from inspector.analysis.views.steps.step_columns import StepKind
from inspector.base.slices import SlicedWork, run_to_end
from inspector.document.document import CaptureDocument
from inspector.filters.run_fields import outcomes_by_space
from inspector.formats.run_files import number_or_none
from inspector.present.difference_words import DifferenceWords
from inspector.present.wire_text import safe_line
from inspector.protocol.secrets.masking import mask_text
from inspector.protocol.timestamps import NO_TIME

CAUSE_WORDS = {
    Input.RESULT: "result", Input.DEFINITION: "definition", Input.PROMPT: "prompt", Input.MODEL: "model",
    Input.SETTINGS: "settings", Input.COMPACTION: "compaction", Input.DELIVERY: "delivery",
    Input.END: "end",
}  # fmt: skip
CHOICE, UNKNOWN = "choice", "unknown"
_MOST_NOISE = 5
_MOST_ONLY, _MOST_NAME = 8, 40
_SAMPLING = ("temperature", "top_p", "top_k", "seed", "reasoning_effort", "effort", "thinking", "reasoning")


class Place(msgspec.Struct, frozen=True):
    """A difference at messages of both runs.

    Attributes:
        row: its row in the comparison; -1 if it has none.
        a, b: index of the message; None where a run has none.
        kind: its class, or the kind of the cause.
        text: in words, masked.
    """

    row: int
    a: int | None
    b: int | None
    kind: str
    text: str


class RunTotals(msgspec.Struct, frozen=True):
    """Figures of a run; None if unknown. Costs are in dollars, `files` are changed ones."""

    messages: int
    calls: int
    failed: int
    input: int | None
    output: int | None
    cost: float | None
    seconds: float | None = None
    files: int | None = None
    score: float | None = None
    passed: bool | None = None


class Verdict(msgspec.Struct, frozen=True):
    """The first divergence of two runs, and its cause.

    Attributes:
        equal: they have no difference.
        headline: the places and the kind of the cause, in one sentence.
        sentence: the same with the texts of both places, masked.
        first, cause: the first divergence and its cause; None without one.
        evidence: further differences that the model received before, masked.
        counts: differences by class.
        a, b: figures of the runs.
    """

    equal: bool
    headline: str
    sentence: str
    first: Place | None
    cause: Place | None
    evidence: list[Place]
    counts: dict[str, int]
    a: RunTotals
    b: RunTotals


def class_word(found: int) -> str:
    """Returns the name of a class."""
    return DifferenceClass(found).name.lower()


class ComparisonAnswer:
    """Makes the answers about one comparison.

    Args:
        one, other: the documents.
        comparison: their comparison.
        files: number of files that each run changed; None if unknown.
    """

    def __init__(
        self, one: CaptureDocument, other: CaptureDocument, comparison: RunComparison,
        files: tuple[int | None, int | None] = (None, None),
    ) -> None:  # fmt: skip
        self.documents, self._files = (one, other), files
        self.comparison = comparison
        self.words = DifferenceWords(one, other, comparison)

    def place(self, row: int) -> Place:
        """Returns a row with its messages and words."""
        a, b = self.words.messages_of(row)
        return Place(row, a, b, class_word(int(self.comparison.rows.classes[row])), self.words.difference(row))

    def differing(self) -> list[int]:
        """Returns the rows that differ."""
        return np.flatnonzero(self.comparison.rows.classes != DifferenceClass.SAME).tolist()

    def verdict(self) -> Verdict:
        """Returns where the runs part, and why."""
        rows, found = self.comparison.rows, self.comparison.divergence
        counts = Counter(class_word(one) for one in rows.classes.tolist() if one != DifferenceClass.SAME)
        totals = [_totals(*each) for each in zip(self.documents, self._files, strict=True)]
        solved = _solved_words(*self.documents)
        if found.row == NO_PLACE:
            return Verdict(True, solved + _EQUAL, solved + _EQUAL, None, None, [], {}, *totals)
        first, cause = self._first(), self._cause()
        headline, sentence = (solved + mask_text(self._sentence(first, cause, with_texts=one)) for one in (False, True))
        return Verdict(
            False, headline, sentence, first, cause, [self.place(row) for row in found.others], dict(counts), *totals
        )  # fmt: skip

    def _first(self) -> Place:
        """Returns the first divergence; an act that one run has alone with the act of the other in its place."""
        found = self.comparison.divergence
        place = self.place(found.row)
        counterpart = self._counterpart(found.row)
        if counterpart is None:
            return place
        other = self.place(counterpart)
        one, two = (place, other) if place.b is None else (other, place)
        words = self.words.step(0, one.row), self.words.step(1, two.row)
        return msgspec.structs.replace(place, a=one.a, b=two.b, text=f"A: {words[0]}; B: {words[1]}")

    def _counterpart(self, row: int) -> int | None:
        """Returns the row of the act that the other run has in the place of one that a run has alone."""
        rows = self.comparison.rows
        alone = rows.other[row] < 0, rows.one[row] < 0
        if not any(alone):
            return None
        theirs, run = (rows.other, self.comparison.other) if alone[0] else (rows.one, self.comparison.one)
        for place in range(row + 1, min(row + 50, len(rows))):
            if (rows.one[place] >= 0 and rows.other[place] >= 0) or rows.depths[place] < rows.depths[row]:
                return None
            if theirs[place] >= 0 and rows.depths[place] == rows.depths[row] and run.acting[theirs[place]]:
                return None if run.kinds[theirs[place]] == StepKind.THOUGHT else place
        return None

    def _cause(self) -> Place | None:
        found = self.comparison.divergence
        if found.given is Input.END:
            return self._end()
        if found.cause != NO_PLACE:
            kind = CAUSE_WORDS[found.given]
            if found.membership[0] >= 0:
                text = f"{self.words.step(0, found.cause)}: {self._kept_words()}"
                return Place(found.cause, *found.membership, kind, text)
            return msgspec.structs.replace(self.place(found.cause), kind=kind)
        if not found.is_act:
            return None
        if not found.is_known:
            return Place(-1, None, None, UNKNOWN, "The log does not show what the model received.")
        return Place(-1, None, None, CHOICE, f"Nothing that it received before differs{self._sampling()}.")

    def _end(self) -> Place:
        """Returns the end of a log that is cut off, at the call that it leaves open."""
        found, rows = self.comparison.divergence, self.comparison.rows
        text = f"The log of {'B' if rows.one[found.row] >= 0 else 'A'} ends there."
        place = Place(-1, None, None, "", "") if found.cause == NO_PLACE else self.place(found.cause)
        return msgspec.structs.replace(place, kind=CAUSE_WORDS[Input.END], text=text)

    def _kept_words(self) -> str:
        return "in the context of one model only, or in one as a summary"

    def _sampling(self) -> str:
        """Returns the sampling settings of the act, as far as they were recorded."""
        row = self.comparison.divergence.row
        parts: list[str] = []
        for side, run in enumerate((self.comparison.one, self.comparison.other)):
            place = int((self.comparison.rows.one, self.comparison.rows.other)[side][row])
            settings = self.comparison.around.settings_at(side, int(run.rows[place])) if place >= 0 else None
            parts.append(_sampling_words(settings))
        if not any(parts):
            return "; sampling settings were not recorded"
        return f"; sampling {parts[0] or 'as by default'} / {parts[1] or 'as by default'}"

    def _sentence(self, first: Place, cause: Place | None, *, with_texts: bool) -> str:
        found = self.comparison.divergence
        told = f": {first.text}" if with_texts else ""
        if not found.is_act:
            subject = (
                "No act of an agent differs; the first difference"
                if found.cause != NO_PLACE
                else "The first difference"
            )
            return f"{subject} is at {_place_words(first)}{told}"
        act = f"The runs part at {_place_words(first)}{told}"
        if cause is None:
            return act
        if cause.kind == CHOICE:
            return f"{act}. The choice of the model: {cause.text[0].lower()}{cause.text[1:]}"
        if cause.kind in (UNKNOWN, CAUSE_WORDS[Input.END]):
            return f"{act.rstrip('.')}. {cause.text}"
        reason = f"{act}, after {_CAUSES[cause.kind]} at {_place_words(cause)}"
        return f"{reason}: {cause.text}" if with_texts else reason

    def noise(self) -> list[NoiseValue]:
        """Returns values that differ in every pair of calls, and may be ignored; without secrets."""
        return [one for one in find_noise(self.comparison) if mask_text(one.item) == one.item][:_MOST_NOISE]

    def as_json(self, files: tuple[str, str], limit: int | None = None) -> dict[str, Any]:
        """Returns the answer as JSON at once; arguments as those of `json_steps`."""
        return run_to_end(self.json_steps(files, limit))

    def json_steps(self, files: tuple[str, str], limit: int | None = None) -> SlicedWork[dict[str, Any]]:
        """Returns the answer as JSON; numbers of messages begin with 1.

        Args:
            files: the runs as the user named them.
            limit: most differences listed; None for all.
        """
        verdict = self.verdict()
        differing = self.differing()
        shown = differing if limit is None else differing[:limit]
        cause = verdict.cause
        differences: list[dict[str, Any]] = []
        for row in shown:
            differences.append(_json(self.place(row)))
            yield
        return {
            "a": mask_text(files[0]), "b": mask_text(files[1]), "equal": verdict.equal, "sentence": verdict.sentence,
            "first": None if verdict.first is None else _json(verdict.first),
            "cause": None if cause is None else _json(cause), "counts": verdict.counts,
            "differences": differences,
            "evidence": [_json(one) for one in verdict.evidence],
            "ignorable": [{"ignore": one.item, "pairs": one.pairs} for one in self.noise()],
            "totals": {"a": msgspec.to_builtins(verdict.a), "b": msgspec.to_builtins(verdict.b)},
        }  # fmt: skip


_EQUAL = "The runs do the same."
_CAUSES = {
    "result": "another result", "definition": "another definition", "prompt": "another prompt",
    "model": "another model",
    "settings": "another setting", "compaction": "a compaction or collapse that took something",
    "delivery": "a message that did not arrive",
}  # fmt: skip


def _json(place: Place) -> dict[str, Any]:
    numbers = {side: None if no is None else no + 1 for side, no in (("a", place.a), ("b", place.b))}
    return {**numbers, "class": place.kind, "text": place.text}


def _place_words(place: Place) -> str:
    words = [f"No. {no + 1:,} of {name}" for name, no in (("A", place.a), ("B", place.b)) if no is not None]
    return " and ".join(words)


def _sampling_words(settings: Mapping[str, Any] | None) -> str:
    if settings is None:
        return ""
    known = [f"{name} {json.dumps(settings[name])[:60]}" for name in _SAMPLING if name in settings]
    return mask_text(", ".join(known))


def _totals(document: CaptureDocument, files: int | None) -> RunTotals:
    analysis = document.analysis
    calls, costs = tool_calls(analysis), analysis.costs.total()
    usage: Usage | None = analysis.usage.total()
    times = document.capture.columns["time_ns"]
    times = times[times != NO_TIME]
    # As in tables of runs: by the current prices, else as the run states it.
    cost = costs.total if costs is not None and costs.calls else analysis.costs.stated_total()
    outcomes = list(outcomes_by_space(analysis).values())
    outcome = outcomes[0] if len(outcomes) == 1 else {}  # a document of several runs has none of its own
    return RunTotals(
        len(document.capture), calls.tools, calls.failed, None if usage is None else usage.input,
        None if usage is None else usage.output, cost,
        (int(times.max()) - int(times.min())) / 1e9 if len(times) else None, files or None,
        number_or_none(outcome.get("score")), outcome["passed"] if isinstance(outcome.get("passed"), bool) else None,
    )  # fmt: skip


def _solved_words(one: CaptureDocument, other: CaptureDocument) -> str:
    """Tells how many runs of two evaluations are solved, and the runs that only one solved; "" for single runs."""
    runs = [_solved_by_run(document) for document in (one, other)]
    if min(map(len, runs)) < 2:
        return ""
    counts = [f"{sum(map(bool, found.values())):,} of {len(found):,}" for found in runs]
    words = f"A solves {counts[0]} runs, B {counts[1]}."
    for name, own, others in (("A", *runs), ("B", *reversed(runs))):
        if only := [run for run, solved in own.items() if solved and run in others and not others[run]]:
            listed = ", ".join(safe_line(mask_text(run), _MOST_NAME) for run in only[:_MOST_ONLY])
            more = f" and {len(only) - _MOST_ONLY:,} more" if len(only) > _MOST_ONLY else ""
            words += f" Only {name} solves {listed}{more}."
    return words + " "


def _solved_by_run(document: CaptureDocument) -> dict[str, bool]:
    """Returns True for each solved run of an evaluation, by its name, and False for others with a known outcome."""
    strings = document.capture.strings
    return {
        strings[space] or "": outcome.get("passed") is True
        for space, outcome in outcomes_by_space(document.analysis).items()
        if isinstance(outcome.get("passed"), bool) or outcome.get("error")
    }


def noise_words(item: str, pairs: int) -> str:
    """Returns the words for a value that differs in every pair: "seed differs in all 12 pairs that have it: ..."."""
    subject, option = safe_line(item, 80), shlex.quote(item)
    return f"{subject} differs in all {pairs:,} pairs that have it; to leave it out: --ignore {safe_line(option, 120)}"
