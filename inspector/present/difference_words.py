"""Words for the differences of two runs; masked, one line each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from inspector.analysis.views.compare.comparison import RunComparison
from inspector.analysis.views.compare.difference_classes import DifferenceClass, Input
from inspector.analysis.views.compare.run_steps import RunSteps
from inspector.analysis.views.compare.surroundings import Change
from inspector.analysis.views.steps.step_columns import StepKind, StepState
from inspector.document.document import CaptureDocument
from inspector.present.message_row import row_content
from inspector.present.wire_text import safe_line
from inspector.protocol import kinds
from inspector.protocol.mcp_definitions import ASPECTS, definitions_of
from inspector.protocol.message_text import compact_json
from inspector.protocol.payloads.outline import nested_value
from inspector.protocol.secrets.masking import mask_text
from inspector.store.columns.hashes import NO_ROW
from inspector.tokens.counted_text import counted_text

Side = tuple[CaptureDocument, RunSteps]

_AROUND = 24
"""Characters before the first difference of two texts."""
_LONGEST = 90
_MOST_NAMED = 3
_READ = 1 << 16
"""Characters of a text that are compared for its words."""
_NAMES = "A", "B"


class DifferenceWords:
    """Words for the rows of a comparison.

    Args:
        one, other: the documents.
        comparison: their comparison.
    """

    def __init__(self, one: CaptureDocument, other: CaptureDocument, comparison: RunComparison) -> None:
        self._sides: tuple[Side, Side] = ((one, comparison.one), (other, comparison.other))
        self._comparison = comparison

    def messages_of(self, row: int) -> tuple[int | None, int | None]:
        """Returns the message of each run that shows the difference of a row; None where there is none."""
        rows = self._comparison.rows
        note = int(rows.notes[row])
        if note >= 0:
            return self._comparison.changes[note].messages
        found, given = DifferenceClass(int(rows.classes[row])), Input(int(rows.inputs[row]))
        answers = found in (DifferenceClass.RESULT, DifferenceClass.FAILED) or given in (
            Input.DEFINITION,
            Input.DELIVERY,
            Input.END,
        )
        return self._message(0, int(rows.one[row]), answers), self._message(1, int(rows.other[row]), answers)

    def _message(self, side: int, place: int, answers: bool) -> int | None:
        if place < 0:
            return None
        run = self._sides[side][1]
        end = int(run.ends[place])
        is_call = run.kinds[place] == StepKind.CALL
        return end if answers and is_call and end != NO_ROW else int(run.rows[place])

    def step(self, side: int, row: int) -> str:
        """Returns the words of a row's step in one run; "" where it has none."""
        rows = self._comparison.rows
        place = int((rows.one, rows.other)[side][row])
        return "" if place < 0 else self._step(side, place)

    def _step(self, side: int, place: int) -> str:
        document, run = self._sides[side]
        content = row_content(document, int(run.rows[place]))
        return safe_line(content.text or content.word, _LONGEST)

    def difference(self, row: int) -> str:
        """Returns the difference of a row: "Bash: command `ls` / `ls -la`"."""
        rows = self._comparison.rows
        note = int(rows.notes[row])
        if note >= 0:
            return _change_words(self._comparison.changes[note])
        a, b = int(rows.one[row]), int(rows.other[row])
        if a < 0 or b < 0:
            side = 0 if b < 0 else 1
            return f"only in {_NAMES[side]}: {self._step(side, a if b < 0 else b)}"
        match DifferenceClass(int(rows.classes[row])):
            case DifferenceClass.SAME:
                return ""
            case DifferenceClass.ARGUMENTS:
                return f"{self._tool(a)}: {self._arguments(a, b)}"
            case DifferenceClass.RESULT if rows.inputs[row] == Input.COMPACTION:
                return f"{self._step(0, a)}: {' / '.join(self.collapses(a, b))}"
            case DifferenceClass.RESULT:
                return f"result of {self._step(0, a)}: {_excerpts(*self.results(a, b))}"
            case DifferenceClass.FAILED:
                return f"{self._failed(a, b)}: {_excerpts(*self.results(a, b))}"
            case DifferenceClass.MISSING:
                return self._lost(a, b, Input(int(rows.inputs[row])))
            case DifferenceClass.ORDER:
                return f"in another order: {self._step(0, a)}"
            case DifferenceClass.AGENT:
                return f"{self._step(0, a)}: by {self._sender(0, a)} / {self._sender(1, b)}"
            case DifferenceClass.DEFINITION:
                return self._definitions(a, b)
            case DifferenceClass.PROMPT:
                title = "system prompt" if self._sides[0][1].is_system[a] else "prompt"
                return f"{title}: {_excerpts(self.text(0, a), self.text(1, b))}"
            case _:
                return _excerpts(self.text(0, a), self.text(1, b))

    def sides(self, row: int) -> tuple[str, str]:
        """Returns a row as each run has it, from shortly before the first difference on; "" where it has none."""
        rows = self._comparison.rows
        note = int(rows.notes[row])
        if note >= 0:
            return _change_sides(self._comparison.changes[note])
        a, b = int(rows.one[row]), int(rows.other[row])
        steps = self.step(0, row), self.step(1, row)
        if a < 0 or b < 0:
            return steps
        match DifferenceClass(int(rows.classes[row])):
            case DifferenceClass.ARGUMENTS:
                return self._argument_sides(a, b)
            case DifferenceClass.RESULT if rows.inputs[row] == Input.COMPACTION:
                return _joined(steps, self.collapses(a, b), ": ")
            case DifferenceClass.RESULT | DifferenceClass.FAILED:
                return _joined(steps, _excerpt_pair(*self.results(a, b)), " \N{RIGHTWARDS ARROW} ")
            case DifferenceClass.AGENT:
                return _joined((self._sender(0, a), self._sender(1, b)), steps, ": ")
            case DifferenceClass.PROMPT | DifferenceClass.WORDS:
                return _excerpt_pair(self.text(0, a), self.text(1, b))
            case _:
                return steps

    # Parts of steps

    def collapses(self, a: int, b: int) -> tuple[str, str]:
        """Returns words for the collapse of the results of two steps."""
        told: list[str] = []
        for (document, run), place in zip(self._sides, (a, b), strict=True):
            end = run.ends[place : place + 1]
            by = NO_ROW if end[0] == NO_ROW else int(document.analysis.transients.signals.links("collapsed_by", end)[0])
            told.append("result kept whole" if by == NO_ROW else f"result collapsed by No. {by + 1:,}")
        return told[0], told[1]

    def _sender(self, side: int, place: int) -> str:
        document, run = self._sides[side]
        return safe_line(
            document.capture.shown_name(document.capture.string("sender", int(run.rows[place])) or ""), _LONGEST
        )

    def _tool(self, place: int) -> str:
        document, run = self._sides[0]
        analysis = document.analysis
        columns, row = analysis.correlation.columns, int(run.rows[place])
        name = (
            document.capture.strings[int(columns["target"][row])]
            or document.capture.strings[int(columns["method"][row])]
        )
        return safe_line(name, _LONGEST)

    def payload(self, side: int, message: int) -> dict[str, Any]:
        """Returns the payload of a message in one run; empty for NO_ROW and for messages above 1 MB."""
        records = self._sides[side][0].capture.records
        return {} if message == NO_ROW or records.is_big(message) else records.payload(message)

    def text(self, side: int, place: int) -> str:
        """Returns the whole text of a step in one run."""
        document, run = self._sides[side]
        row = int(run.rows[place])
        return counted_text(document.capture.string("kind", row) or "", self.payload(side, row))

    def results(self, a: int, b: int) -> tuple[str, str]:
        """Returns the results of the calls of two steps as text."""
        ends = int(self._sides[0][1].ends[a]), int(self._sides[1][1].ends[b])
        one, other = (
            "" if end == NO_ROW else counted_text(kinds.RESPONSE, self.payload(side, end))
            for side, end in enumerate(ends)
        )
        if one == other:  # what a model never receives: the handshake of a server
            one, other = (compact_json(self.payload(side, end).get("result")) for side, end in enumerate(ends))
        return one, other

    def argument_values(self, a: int, b: int) -> tuple[object, object]:
        """Returns the arguments of the calls of two steps."""
        return self.arguments_of(0, a), self.arguments_of(1, b)

    def arguments_of(self, side: int, place: int) -> object:
        """Returns the arguments of the call of a step in one run."""
        return _arguments(self.payload(side, int(self._sides[side][1].rows[place])))

    def _argument_sides(self, a: int, b: int) -> tuple[str, str]:
        """Returns a call with its changed arguments as each run has it."""
        one, other = self.argument_values(a, b)
        tool = self._tool(a)
        if not isinstance(one, Mapping) or not isinstance(other, Mapping):
            texts = (value if isinstance(value, str) else compact_json(value) for value in (one, other))
            return _joined((tool, tool), _excerpt_pair(*texts), "  ")
        told: tuple[list[str], list[str]] = ([], [])
        for key in _changed_keys(one, other)[:_MOST_NAMED]:
            shown = _excerpt_pair(*(_value_text(some, key) for some in (one, other)))
            for parts, some, text in zip(told, (one, other), shown, strict=True):
                if key in some:
                    parts.append(f"{safe_line(str(key), 40)}: {text}")
        return _joined((tool, tool), (", ".join(told[0]), ", ".join(told[1])), "  ")

    def _arguments(self, a: int, b: int) -> str:
        values = one, other = self.argument_values(a, b)
        if not isinstance(one, Mapping) or not isinstance(other, Mapping):
            return _excerpts(*(value if isinstance(value, str) else compact_json(value) for value in values))
        changed = _changed_keys(one, other)
        parts = [f"{safe_line(str(key), 40)} {_values(key, one, other)}" for key in changed[:_MOST_NAMED]]
        more = len(changed) - len(parts)
        return ", ".join(parts) + (f", and {more:,} more" if more > 0 else "")

    def _failed(self, a: int, b: int) -> str:
        states = StepState(int(self._sides[0][1].states[a])), StepState(int(self._sides[1][1].states[b]))
        broken = StepState.FAILED, StepState.REJECTED
        side = 0 if states[0] in broken else 1
        verb = "was not allowed" if states[side] is StepState.REJECTED else "failed"
        return f"{self._step(0, a)} {verb} only in {_NAMES[side]}"

    def _lost(self, a: int, b: int, given: Input) -> str:
        ends = int(self._sides[0][1].ends[a]), int(self._sides[1][1].ends[b])
        if (ends[0] == NO_ROW) != (ends[1] == NO_ROW):
            side = 0 if ends[1] == NO_ROW else 1
            why = f"; the log of {_NAMES[1 - side]} ends there" if given is Input.END else ""
            return f"{self._step(0, a)}: answered only in {_NAMES[side]}{why}"
        names: list[str] = []
        for mine, theirs in ((int(self._sides[0][1].rows[a]), int(self._sides[1][1].rows[b])), ends):
            if NO_ROW in (mine, theirs):
                continue
            sets = [set(self._sides[side][0].capture.deliveries.recipients(x)) for side, x in enumerate((mine, theirs))]
            names += [f"reached {safe_line(name, 40)} only in A" for name in sorted(sets[0] - sets[1])]
            names += [f"reached {safe_line(name, 40)} only in B" for name in sorted(sets[1] - sets[0])]
        return f"{self._step(0, a)}: {', '.join(names[:_MOST_NAMED])}"

    def _definitions(self, a: int, b: int) -> str:
        lists: list[dict[str, Any]] = []
        for side, place in enumerate((a, b)):
            result = self.payload(side, int(self._sides[side][1].ends[place])).get("result")
            tools = result.get("tools") if isinstance(result, dict) else None
            known = [tool for tool in tools if isinstance(tool, dict)] if isinstance(tools, list) else []
            lists.append(dict(definitions_of(known)))
        one, other = lists
        words = [f"{safe_line(name, 40)} only in A" for name in one if name not in other]
        words += [f"{safe_line(name, 40)} only in B" for name in other if name not in one]
        for name in one:
            if name in other:
                differs = [
                    text for key, text in ASPECTS.items() if one[name].aspects.get(key) != other[name].aspects.get(key)
                ]
                words += [f"{' and '.join(differs)} of {safe_line(name, 40)}"] if differs else []
        shown = "; ".join(words[:_MOST_NAMED]) or "pages, order or notes of the list"
        return f"tool definitions: {shown}" + (
            f"; {len(words) - _MOST_NAMED:,} more" if len(words) > _MOST_NAMED else ""
        )


def _changed_keys(one: Mapping[Any, Any], other: Mapping[Any, Any]) -> list[Any]:
    return [key for key in [*one, *(key for key in other if key not in one)] if one.get(key) != other.get(key)]


def _value_text(values: Mapping[Any, Any], key: object) -> str:
    value = values.get(key, "")
    return value if isinstance(value, str) else compact_json(value)


def _joined(before: tuple[str, str], after: tuple[str, str], by: str) -> tuple[str, str]:
    one, other = (f"{x}{by}{y}" if y else x for x, y in zip(before, after, strict=True))
    return one, other


def _change_values(change: Change) -> tuple[str, str]:
    """Returns both values of a change as text; "none" for an absent one."""
    one, other = ("none" if value is None else value if isinstance(value, str) else compact_json(value)
                  for value in (change.one, change.other))  # fmt: skip
    return one, other


def _change_sides(change: Change) -> tuple[str, str]:
    subject = safe_line(change.subject, 40)
    named = f"definition of {subject}" if change.found is DifferenceClass.DEFINITION else subject
    return _joined((named, named), _excerpt_pair(*_change_values(change)), ": ")


def _change_words(change: Change) -> str:
    values = [safe_line(one, _LONGEST) for one in _change_values(change)]
    subject = safe_line(change.subject, 40)
    if change.found is not DifferenceClass.DEFINITION:
        return f"{subject}: {values[0]} / {values[1]}"
    if change.one is None or change.other is None:
        return f"definition of {subject}: only in {_NAMES[change.one is None]}"
    return f"definition of {subject}: {_excerpts(change.one, change.other)}"


def _arguments(payload: dict[str, Any]) -> object:
    params = payload.get("params")
    params = params if isinstance(params, Mapping) else {}
    values = params.get("arguments") if isinstance(params.get("name"), str) else params
    nested = nested_value(values)
    return values if nested is None else nested


def _values(key: object, one: Mapping[Any, Any], other: Mapping[Any, Any]) -> str:
    if key not in one or key not in other:
        return f"only in {_NAMES[key not in one]}"
    return _excerpts(*(value if isinstance(value, str) else compact_json(value) for value in (one[key], other[key])))


def _excerpts(one: str, other: str) -> str:
    """Returns two texts from shortly before their first difference on, in quotation marks."""
    return " / ".join(_quoted(text) if text else "nothing" for text in _excerpt_pair(one, other))


def _excerpt_pair(one: str, other: str) -> tuple[str, str]:
    """Returns two texts from shortly before their first difference on, masked."""
    # Masked before they are cut, so that no part of a secret is shown without its beginning; by their lines, as a table
    # or a list has secrets on lines of their own.
    texts = [mask_text(" ".join(mask_text(text[:_READ]).split())) for text in (one, other)]
    start = next((n for n, (x, y) in enumerate(zip(*texts, strict=False)) if x != y), min(map(len, texts)))
    start = max(0, start - _AROUND)
    shown = [safe_line(text[start : start + _LONGEST + _AROUND], _LONGEST) for text in texts]
    first, second = ("…" * bool(start) + text if text else "" for text in shown)
    return first, second


def _quoted(text: str) -> str:
    return f"\N{LEFT SINGLE QUOTATION MARK}{text}\N{RIGHT SINGLE QUOTATION MARK}"
