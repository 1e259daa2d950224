"""Texts of the rows of steps: titles, tools, arguments, remarks; masked, one line each."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import msgspec
import numpy as np

from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.views.steps.call_facts import CallFact
from inspector.analysis.views.steps.expired_caches import expired_caches
from inspector.analysis.views.steps.step_columns import NO_NODE, StepKind, StepState, StepTable
from inspector.analysis.views.steps.step_tree import RowKind, StepTree, outputs_of
from inspector.analysis.views.steps.time_split import TimeSplit, are_bounded_by_agents
from inspector.document.document import CaptureDocument
from inspector.present import formats
from inspector.present.cache_words import expiry_words
from inspector.present.context_labels import node_label
from inspector.present.conversation.call_cards import writes_again
from inspector.present.message_row import row_content
from inspector.present.session_titles import ShownTitles
from inspector.present.wire_text import safe_line, visible_controls
from inspector.store.columns.hashes import NO_ROW

_LONGEST = 240
_LONGEST_TYPE, _LONGEST_NAME = 40, 48
_MOST_TOOLS = 3
MODEL = "model"
_SPAN_TIME = re.compile(r", [\d,]+ ms(?=$|, failed|, parent missing)")
"""Duration in the text of a span, which has a column."""


class StepText(msgspec.Struct, frozen=True):
    """Text of a row in four parts, each "" if absent.

    Attributes:
        title: in bold: a turn, an agent.
        tool: name of a tool, in mono.
        text: arguments or the first words of a text.
        note: a remark.
    """

    title: str = ""
    tool: str = ""
    text: str = ""
    note: str = ""

    @property
    def words(self) -> str:
        """The text as one line."""
        return "  ".join(filter(None, (self.title, self.tool, self.text, self.note)))


class PathShare(msgspec.Struct, frozen=True):
    """A step on the critical path of a trace.

    Attributes:
        message: its first message.
        words: its text.
        took_ns: time in which it is on the path itself, without the steps below it.
    """

    message: int
    words: str
    took_ns: int


def path_sentence(shares: Sequence[PathShare], steps: int, whole_ns: int, traces: int) -> str:
    """Describes a critical path: "Critical path of 2.1 s: call_llm 93 %, POST 5 %, 4 others 2 %".

    Args:
        shares: the steps with the most time, most first.
        steps: number of all steps on the path.
        whole_ns: duration of the trace.
        traces: number of traces; the path is that of the longest.
    """
    of = f"the longest of {traces:,} traces, {formats.duration(whole_ns)}" if traces > 1 else formats.duration(whole_ns)
    parts = [f"{_short(one.words) or 'hidden'} {_percent(one.took_ns, whole_ns)}" for one in shares]
    rest = whole_ns - sum(one.took_ns for one in shares)
    if steps > len(shares):
        parts.append(f"{formats.count_of(steps - len(shares), 'other')} {_percent(rest, whole_ns)}")
    return f"Critical path of {of}: {', '.join(parts)}"


class RangeFigures(msgspec.Struct, frozen=True):
    """Figures of a chosen range.

    Attributes:
        span_ns: its duration; None for a range of numbers.
        messages, steps: in it.
        split: the time of the steps within the range.
        tokens: written by models.
        dollars: cost; None if unknown.
        of_requests: True if no tool is called, and the time of tools is that of other requests.
    """

    span_ns: int | None
    messages: int
    steps: int
    split: TimeSplit
    tokens: int
    dollars: float | None
    of_requests: bool = False


def tools_word(*, of_requests: bool) -> str:
    """Returns the name of the time of tools."""
    return "requests" if of_requests else "tools"


def range_sentence(found: RangeFigures) -> str:
    """Describes a chosen range: "Selected 1 min 14 s: 12 steps, model 41 s, tools 33 s, 4.2k tokens, $0.480"."""
    messages = formats.count_of(found.messages, "message")
    of = messages if found.span_ns is None else formats.duration(found.span_ns)
    parts = [formats.count_of(found.steps, "step")] if found.steps else [messages]
    tools = tools_word(of_requests=found.of_requests)
    times = zip(("model", tools, "decisions", "tools and your permission"), found.split, strict=True)
    parts += [f"{name} {formats.duration(ns)}" for name, ns in times if ns]
    parts += [f"{formats.short_count(found.tokens)} tokens"] if found.tokens else []
    parts += [formats.dollars(found.dollars)] if found.dollars is not None else []
    return f"Selected {of}: {', '.join(parts)}" if parts != [of] else f"Selected {of}"


def _percent(part: int, whole: int) -> str:
    share = 100 * part / whole
    return f"{share:.0f} %" if share >= 1 or not part else "<1 %"


def _short(words: str) -> str:
    return words if len(words) <= _LONGEST_NAME else f"{words[: _LONGEST_NAME - 1]}…"


def span_words(document: CaptureDocument, row: int) -> str:
    """Returns the name of a span."""
    return _SPAN_TIME.sub("", safe_line(row_content(document, row).text, _LONGEST), count=1)


AT_MOST = "at most: logged with the end of an agent"
"""Note of a call whose duration is an upper bound."""

INCOMPLETE = "output tokens incomplete"
"""Note of an output whose tokens are those of the answer's first moment."""


class StepTexts:
    """Makes the texts of the rows of one tree."""

    def __init__(self, document: CaptureDocument, table: StepTable, tree: StepTree) -> None:
        self._document, self._table, self._tree = document, table, tree
        self._titles = ShownTitles(document.capture)
        self._bounded = are_bounded_by_agents(document.capture, table)
        self._parts: tuple[np.ndarray, np.ndarray] | None = None
        self._facts: dict[int, CallFact | None] = {}
        self._expired = {one.step: one for one in expired_caches(document.analysis, table)}
        self._has_spaces = len(np.unique(table.spaces)) > 1

    def text_of(self, row: int) -> StepText:
        """Returns the text of a row."""
        tree, step = self._tree, int(self._tree.steps[row])
        match RowKind(int(tree.kinds[row])):
            case RowKind.TURN:
                return self._turn_text(step)
            case RowKind.AGENT:
                return StepText(title=self._agent_name(step), note=formats.count_of(int(tree.counts[row]), "step"))
            case RowKind.CONTEXT:
                return StepText(title=self._label(int(self._table.nodes[step])))
            case RowKind.TOOL | RowKind.JOINED:
                return self._group_text(row, step)
            case RowKind.STEP:
                return self._step_text(row, step)

    def _turn_text(self, step: int) -> StepText:
        number = int(np.searchsorted(self._table.prompts, step)) + 1
        text, title = self._words(step), self._space_title(step)
        # A session without a title has the name of its first prompt.
        is_repeated = text.startswith(title.removesuffix("\N{HORIZONTAL ELLIPSIS}"))
        return StepText(title=f"Turn {number}", text=text, note="" if is_repeated else title)

    def _space_title(self, step: int) -> str:
        """Returns the title of a step's session, if there are several."""
        if not self._has_spaces:
            return ""
        space = int(self._table.spaces[step])
        return safe_line(self._titles.session_title(space) or self._document.capture.strings[space], 60)

    def _agent_name(self, step: int) -> str:
        node = int(self._table.nodes[step])
        if node != MAIN:
            return self._label(node)
        model = np.flatnonzero(
            (self._table.kinds == StepKind.MODEL) & (self._table.nodes == MAIN)
            & (self._table.spaces == self._table.spaces[step])
        )  # fmt: skip
        found = step if not len(model) else int(model[0])
        name = row_content(self._document, int(self._table.rows[found])).sender or "main"
        return "  ".join(filter(None, (name, self._space_title(step))))

    def _label(self, node: int) -> str:
        return safe_line(node_label(self._document, node), 80)

    def _group_text(self, row: int, step: int) -> StepText:
        count, at_once = int(self._tree.counts[row]), int(self._tree.at_once[row])
        times = f"\N{MULTIPLICATION SIGN}{count:,}"
        if self._table.kinds[step] == StepKind.MODEL:
            return StepText(text=f"{MODEL} {times}")
        tool, words = self._tool_and_words(step)
        notes = [f"{at_once:,} at once"] if at_once > 1 else []
        if self._table.is_request[step]:
            return StepText(text=" ".join(filter(None, (tool, times, words))), note=", ".join(notes))
        return StepText("", tool, " ".join((times, words)), ", ".join(notes))

    def _step_text(self, row: int, step: int) -> StepText:
        table = self._table
        note = f"{at_once:,} at once" if (at_once := int(self._tree.at_once[row])) > 1 else ""
        opens = int(table.opens[step])
        match StepKind(int(table.kinds[step])):
            case StepKind.MODEL:
                tries = int(table.attempts[step])
                notes = [f"{tries:,} attempts"] if tries > 1 else []
                notes += [expiry_words(expired)] if (expired := self._expired.get(step)) is not None else []
                notes += self._incomplete(step, int(table.ends[step]))
                return StepText(text=self._output_words(step), note=", ".join(notes))
            case StepKind.CALL if opens != NO_NODE:
                return self._agent_text(step, opens, note)
            case StepKind.CALL:
                tool, words = self._tool_and_words(step)
                bound = ", ".join([AT_MOST] * bool(self._bounded[step]) + self._incomplete(step, int(table.rows[step])))
                if table.is_request[step]:
                    return StepText(text=" ".join(filter(None, (tool, words))), note=note)
                return StepText("", tool, words, ", ".join(filter(None, (note, bound))))
            case StepKind.SPAN:
                return StepText(title=span_words(self._document, int(self._table.rows[step])))
            case StepKind.COMPACTION:
                return StepText(title="Context compacted", text=self._words(step))
            case _:
                words, title = self._words(step), self._label(opens) if opens != NO_NODE else ""
                # A reasoning without a name of its own is labelled by its first message.
                return StepText(text="" if words == title else words, title=title)

    def _incomplete(self, step: int, message: int) -> list[str]:
        """Returns the note of output tokens that the message of a step reports too early."""
        is_shown = self._table.tokens[step, 1] >= 0
        is_early = self._document.analysis.usage.numbers_at("incomplete", np.array([message]))[0] == 1
        return [INCOMPLETE] if is_shown and is_early else []

    def _agent_text(self, step: int, opens: int, note: str) -> StepText:
        """Returns the type of a sub-agent and its task: "Explore", "Search the manual"."""
        _, words = self._tool_and_words(step)
        capture = self._document.capture
        agent = capture.transcripts.agents.get(self._document.analysis.contexts.tree.name[opens])
        if agent is not None and agent.name:
            kind, _, task = safe_line(capture.shown_name(agent.name), _LONGEST).partition(": ")
            return StepText(title=kind, text=task or words, note=note)
        kind, colon, task = words.partition(": ")
        if colon and len(kind) <= _LONGEST_TYPE and " " not in kind:
            return StepText(title=kind, text=task, note=note)
        label = self._label(opens)
        return StepText(title=label, text=words if words != label else "", note=note)

    # Words of messages

    def _words(self, step: int) -> str:
        return safe_line(row_content(self._document, int(self._table.rows[step])).text, _LONGEST)

    def _tool_and_words(self, step: int) -> tuple[str, str]:
        """Returns the called tool and the words of its arguments."""
        content = row_content(self._document, int(self._table.rows[step]))
        runs = [visible_controls(run.text) for run in content.runs if run.text]
        if not runs:
            return content.word, ""
        words = "  ".join(runs[1:])
        if words.startswith("+") and writes_again(self._document, self._table, step, self._facts):
            words = f"unchanged {words.partition(' ')[2]}"
        return safe_line(runs[0], 80), safe_line(words, _LONGEST)

    def _output_words(self, step: int) -> str:
        """Returns the text of an output, or the thought and calls in it: "thinking, then Grep and 2 more"."""
        parts = self._parts_of(step)
        kinds = self._table.kinds[parts]
        texts, thoughts = parts[kinds == StepKind.ANSWER], parts[kinds == StepKind.THOUGHT]
        if len(texts):
            return self._words(int(texts[-1]))
        codes = self._document.analysis.correlation.columns["target"]
        called = Counter(
            self._document.capture.strings[int(codes[row])] for row in self._table.rows[parts[kinds == StepKind.CALL]]
        )
        named = [f"{name} \N{MULTIPLICATION SIGN}{n}" if n > 1 else name for name, n in called.items() if name]
        if len(named) > _MOST_TOOLS:
            named = [*named[: _MOST_TOOLS - 1], f"{len(named) - _MOST_TOOLS + 1} more"]
        words = safe_line(" and ".join(filter(None, (", ".join(named[:-1]), *named[-1:]))), _LONGEST)
        if len(thoughts):
            return f"thinking, then {words}" if words else f"thinking: {self._words(int(thoughts[0]))}"
        return f"calls {words}" if words else self._bare_output_words(step)

    def _bare_output_words(self, step: int) -> str:
        """Returns the words of the failure of an output without content, or those of its request."""
        table = self._table
        if table.states[step] not in (StepState.FAILED, StepState.WAITING, StepState.UNANSWERED):
            return MODEL
        row = int(table.ends[step] if table.ends[step] != NO_ROW else table.rows[step])
        return safe_line(row_content(self._document, row).text, _LONGEST)

    def _parts_of(self, step: int) -> np.ndarray:
        """Returns the texts, thoughts and calls of an output."""
        if self._parts is None:
            outputs = outputs_of(self._table)
            inside = np.flatnonzero(outputs >= 0)
            order = inside[np.argsort(outputs[inside], kind="stable")]
            self._parts = outputs[order], order
        outputs, order = self._parts
        first, last = np.searchsorted(outputs, [step, step + 1])
        return order[first:last]
