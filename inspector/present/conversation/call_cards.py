"""Cards of calls and sub-agents."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.views.steps.approvals import decision_times
from inspector.analysis.views.steps.call_facts import CallFact, Outcome, call_fact, tells_no_change
from inspector.analysis.views.steps.step_columns import NO_NODE, StepKind, StepState, StepTable
from inspector.analysis.views.steps.test_outputs import states_failed_tests
from inspector.analysis.views.summaries.context_usage import context_usage
from inspector.document.document import CaptureDocument
from inspector.filters.sentences import arguments_words, sentence_of, shape_of
from inspector.present import formats, wire_text
from inspector.present.call_facts import exit_code_in
from inspector.present.conversation.cards import AgentCard, CallCard, Diff, Output, Pill
from inspector.present.conversation.diffs import diff_of, numbered_by_reading, patch_in_record, value_in_record
from inspector.present.conversation.outputs import output_of, pill_of_tests
from inspector.present.conversation.permissions import permission_words
from inspector.present.conversation.texts import pictures_of, raw_text, text_blocks
from inspector.present.conversation.tool_sorts import sort_of_tool
from inspector.present.labelled_output import labelled_output
from inspector.present.message_phrase import arguments_text
from inspector.present.message_row import row_content
from inspector.present.states import BY_USER
from inspector.present.sub_agent_facts import prompt_of, result_message, sub_agent_of
from inspector.present.subject import Subject, correlation_string
from inspector.protocol import kinds
from inspector.protocol.calls import unwrap_payload
from inspector.protocol.message_text import EMPTY_RESULT
from inspector.protocol.payloads.file_edits import PATH_ARGUMENTS, edits_of
from inspector.protocol.payloads.outline import nested_value
from inspector.protocol.payloads.reading_commands import sort_of_command
from inspector.protocol.payloads.shell_commands import command_of, may_run_commands
from inspector.protocol.secrets.masking import mask_text
from inspector.protocol.timestamps import NO_TIME
from inspector.store.columns.hashes import NO_HASH, NO_ROW

_MOST_DIFFS = 20
_CALLS_BEFORE_WRITE = 200
"""Limit of earlier calls that are compared with a write."""
_STEPS_BEFORE, _CALLS_BEFORE = 400, 24
"""Steps and calls before a change among which a reading of its file is searched; each call costs 0.2 ms."""
_MAX_SUBJECT = 300
_MAX_COMMAND = 20_000
_MAX_JSON = 1 << 16
_PATTERNS = ("pattern", "query", "regex", "glob", "search", "search_term", "q")
_EXIT = re.compile(r"(?i)(?:exit(?:ed)? (?:with )?code:? ?|exit_code\"?: ?)(-?\d{1,10})\b")


_NAMELESS = {kinds.PROPOSAL: "permission"}
"""Names of requests without a method, by kind."""


def step_time(table: StepTable, step: int) -> int:
    """Returns the duration of one step in nanoseconds; -1 if unknown."""
    start, stop = int(table.starts_ns[step]), int(table.stops_ns[step])
    return stop - start if NO_TIME not in (start, stop) and stop >= start else -1


class _Call:
    """A call with its answer."""

    def __init__(self, document: CaptureDocument, table: StepTable, step: int) -> None:
        self.document, self.table, self.step = document, table, step
        self.message, self.answer = int(table.rows[step]), int(table.ends[step])
        self.state = StepState(int(table.states[step]))
        analysis = document.analysis
        self.tool = correlation_string(analysis, "target", self.message) or ""
        self.method = correlation_string(analysis, "method", self.message) or ""
        payload = document.capture.records.payload(self.message)
        params = unwrap_payload(payload).get("params")
        self.arguments: Any = nested_value(params.get("arguments")) if isinstance(params, Mapping) else None
        self.is_tool = self.method == "tools/call"
        self.kind = document.capture.string("kind", self.message) or ""

    @property
    def took_ns(self) -> int:
        """Its duration; -1 if unknown."""
        return step_time(self.table, self.step)


def sort_of_call(document: CaptureDocument, message: int, *, reads: bool) -> str:
    """Returns "read", "search" or "command" for a call; "" for others. `reads` reads the command of a shell."""
    tool = correlation_string(document.analysis, "target", message) or ""
    if not may_run_commands(tool):
        return sort_of_tool(tool)
    params = unwrap_payload(document.capture.records.payload(message)).get("params") if reads else None
    command = command_of(tool, nested_value(params.get("arguments"))) if isinstance(params, Mapping) else None
    return (sort_of_command(command[0]) if command is not None else "") or "command"


def step_card(
    document: CaptureDocument, table: StepTable, step: int, base: dict[str, Any], outcome: Pill | None, *,
    whole: bool,
) -> CallCard:  # fmt: skip
    """Returns the card of a call.

    Args:
        document: the document.
        table: its steps.
        step: the call's step.
        base: fields of every card.
        outcome: the state of its row, for a proposal.
        whole: shows all lines.
    """
    call = _Call(document, table, step)
    edits = edits_of(call.tool, call.arguments) if call.is_tool else []
    text = raw_text(document.capture, call.answer) if call.answer != NO_ROW else ""
    diffs = _diffs(call, edits, whole=whole)
    command = command_of(call.tool, call.arguments) if call.is_tool and not edits else None
    verb, subject = _head(call, command, diffs)
    failed = call.state is StepState.FAILED
    sort = sort_of_tool(call.tool) if call.is_tool else ""
    if command is not None:
        sort = sort_of_command(command[0])
    is_quiet = (bool(sort) or not call.is_tool) and call.state is StepState.OK
    shown = _shown_text(text)
    output = None
    if call.answer != NO_ROW and call.state is not StepState.REJECTED and (whole or not (diffs and not failed)):
        output = output_of(call.answer, shown, failed=failed, whole=whole)
    is_proposal = call.kind == kinds.PROPOSAL
    # The arguments of the call that fulfils a proposal are no result.
    is_fulfilled = is_proposal and call.state is StepState.OK
    if (is_quiet and not whole) or is_fulfilled:
        output = None
    decision = _decision(call)
    pill = outcome if is_proposal else _pill(call, text, command)
    if is_proposal and not base["aside"]:
        base = base | {"aside": "proposal"}
    return CallCard(
        **base, tool=wire_text.safe_line(call.tool or call.method, 120), verb=verb, subject=subject,
        is_command=command is not None, is_quiet=is_quiet, command=_whole_command(command),
        about=_about(call, command), pill=pill, state=int(call.state),
        took_ns=-1 if decision else call.took_ns, decision=decision,
        said=_said(call, text, output, sort), output=output, diffs=diffs,
        pictures=_answer_pictures(call), answer=call.answer,
    )  # fmt: skip


def _answer_pictures(call: _Call) -> tuple[Any, ...]:
    if call.answer == NO_ROW:
        return ()
    return pictures_of(call.answer, call.document.capture.records.payload(call.answer))


def _head(call: _Call, command: tuple[str, str] | None, diffs: Sequence[Diff]) -> tuple[str, str]:
    """Returns the verb and the subject of a call in words."""
    if command is not None:
        return "$", _line(command[0])
    if diffs:
        more = f" and {formats.count_of(len(diffs) - 1, 'other file')}" if len(diffs) > 1 else ""
        return diffs[0].verb, f"{diffs[0].name}{more}"
    if not call.is_tool:
        told = sentence_of(call.document.analysis, call.message)
        if told is None:
            name = call.method or _NAMELESS.get(call.kind, "call")
            return wire_text.safe_line(name, 120), row_content(call.document, call.message).text
        return wire_text.safe_line(told.about or call.method, 120), _line(told.words)
    tool = wire_text.safe_line(call.tool or "call", 120)
    arguments = call.arguments
    if isinstance(arguments, Mapping):
        path = next((value for key in PATH_ARGUMENTS if isinstance(value := arguments.get(key), str) and value), None)
        pattern = next((value for key in _PATTERNS if isinstance(value := arguments.get(key), str) and value), None)
        sort = sort_of_tool(call.tool)
        if sort == "search" and pattern is not None:
            inside = f" in {_name(path)}" if path else ""
            return tool, _line(pattern) + inside
        if sort == "read" and path is not None:
            return tool, _name(path)
    told = arguments_words(call.tool, arguments)
    return tool, _line(told) if told is not None else wire_text.visible_controls(arguments_text(arguments) or "")


def _line(text: str) -> str:
    return wire_text.safe_line(text, _MAX_SUBJECT)


def _name(path: str) -> str:
    """Returns the last part of a path, safe to show."""
    # Masked before it is cut: the end of an address no longer shows that a part is a password.
    safe = wire_text.safe_line(path, 1_000)
    return re.split(r"[\\/]", safe.rstrip("\\/"))[-1] or safe


def _whole_command(command: tuple[str, str] | None) -> str:
    if command is None or "\n" not in command[0].strip():
        return ""
    return wire_text.visible_controls(mask_text(command[0][:_MAX_COMMAND])).strip("\n")


def _about(call: _Call, command: tuple[str, str] | None) -> str:
    about = call.arguments.get("description") if command is not None and isinstance(call.arguments, Mapping) else None
    return _line(about) if isinstance(about, str) else ""


# Changes


def _diffs(call: _Call, edits: Sequence[Any], *, whole: bool) -> tuple[Diff, ...]:
    if not edits:
        return ()
    patch = []
    if call.answer != NO_ROW and len(edits) == 1:
        patch = patch_in_record(call.document.capture.records.read_line_of(call.answer))
        if not patch and call.state is StepState.OK and edits[0].change_type == "changed":
            patch = numbered_by_reading(edits[0].lines, _reading_before(call, edits[0].path))
    if len(edits) == 1 and edits[0].change_type == "written" and _is_written_again(call, edits[0].path, {}):
        edits = [replace(edits[0], lines=tuple((" ", text) for _, text in edits[0].lines))]
    return tuple(diff_of(edit, patch, whole=whole) for edit in edits[:_MOST_DIFFS])


def writes_again(document: CaptureDocument, table: StepTable, step: int, facts: dict[int, CallFact | None]) -> bool:
    """Returns True for a call that writes a file again with the content that an earlier call wrote.

    Args:
        document: the document.
        table: its steps.
        step: the call.
        facts: facts of calls by step, added to: the rows of many writes ask for the same earlier calls.
    """
    call = _Call(document, table, step)
    edits = edits_of(call.tool, call.arguments) if call.is_tool else []
    return len(edits) == 1 and edits[0].change_type == "written" and _is_written_again(call, edits[0].path, facts)


def _is_written_again(call: _Call, path: str, facts: dict[int, CallFact | None]) -> bool:
    """Returns True if an earlier call wrote the same content, by the rule of the changed files."""
    own, table = _fact_of(call), call.table
    content = own.touches[0].content if len(own.touches) == 1 else NO_HASH
    if content == NO_HASH:
        return False
    told = tells_no_change(call.document.capture, call.answer)
    before = np.flatnonzero(table.kinds[: call.step] == StepKind.CALL)[::-1]
    for step in before[:_CALLS_BEFORE_WRITE].tolist():
        if step not in facts:
            other = _Call(call.document, table, step)
            facts[step] = _fact_of(other) if other.is_tool else None
        if (fact := facts[step]) is None:
            continue
        if any(touch.path == path and touch.content == content for touch in fact.touches):
            return told or fact.outcome is Outcome.OK
        if not told and fact.written(path) is not None:
            return False
    return False


def _fact_of(call: _Call) -> CallFact:
    return call_fact(call.message, _OUTCOMES.get(call.state, Outcome.OPEN), call.tool, call.arguments)


_OUTCOMES = {
    StepState.OK: Outcome.OK, StepState.FAILED: Outcome.FAILED, StepState.REJECTED: Outcome.REJECTED,
}  # fmt: skip


def _reading_before(call: _Call, path: str) -> str:
    """Returns the result of the last call that read a file before a change of it.

    Returns "" if the file may have changed in between: after a change of it, or any call that is no reading, no search
    and no change of another file.
    """
    table = call.table
    before = np.arange(max(0, call.step - _STEPS_BEFORE), call.step)
    before = before[(table.kinds[before] == StepKind.CALL) & (table.nodes[before] == table.nodes[call.step])]
    for step in before[::-1][:_CALLS_BEFORE].tolist():
        other = _Call(call.document, table, step)
        sort = sort_of_tool(other.tool)
        if sort == "search":
            continue
        arguments = other.arguments if isinstance(other.arguments, Mapping) else {}
        paths = {value for key in PATH_ARGUMENTS if isinstance(value := arguments.get(key), str)}
        if sort == "read" and path in paths and other.state is StepState.OK and other.answer != NO_ROW:
            return raw_text(call.document.capture, other.answer)
        is_of_others = path not in paths and bool(paths)
        if sort != "read" and not (is_of_others and edits_of(other.tool, other.arguments)):
            return ""
    return ""


# Outcome


def _pill(call: _Call, text: str, command: tuple[str, str] | None) -> Pill | None:
    """Returns the outcome; None where the log states no more than an answer."""
    state = call.state
    if state is StepState.REJECTED:
        return Pill(BY_USER, "warn")
    if state is StepState.WAITING:
        return Pill("waiting", "warn")
    if state is StepState.UNANSWERED:
        return Pill("no answer", "warn")
    if state is StepState.CANCELLED:
        return Pill("cancelled", "quiet")
    tests = pill_of_tests(text, is_whole="|" not in command[0]) if command is not None else None
    code = _exit_code(text) if command is not None else None
    if state is StepState.FAILED:
        if tests is not None and tests.tone == "bad":
            return tests
        return Pill(f"exit {code}" if code else "failed", "bad")
    if state is not StepState.OK or command is None:
        return None
    if tests is not None:
        return tests
    if code:
        return Pill(f"exit {code}", "bad")
    if _fact_of(call).is_test and states_failed_tests(text):
        return Pill("tests failed", "bad")
    return Pill("ok", "good")


def _exit_code(text: str) -> int | None:
    """Returns the exit code that a result states at its beginning or end."""
    code = exit_code_in(text)
    if code is not None:
        return code
    found = _EXIT.search(text[:400]) or _EXIT.search(text[-200:])
    return int(found[1]) if found else None


def _decision(call: _Call) -> str:
    """Describes a person's decision and its duration, where the log tells both."""
    if call.kind == kinds.PROPOSAL:
        return _verdict(call)
    if asked := permission_words(call.document.analysis, call.table, call.step):
        # The pill tells a rejection already.
        return asked.removeprefix(BY_USER).strip() if call.state is StepState.REJECTED else asked
    if call.took_ns < 0 or call.answer == NO_ROW:
        return ""
    if call.table.allowed[call.step]:
        return f"allowed and done after {formats.duration(call.took_ns)}"
    if not call.table.of_person[call.step]:
        return ""
    verb = "" if call.state is StepState.REJECTED else "answered "
    return f"{verb}after {formats.duration(call.took_ns)}"


def _verdict(call: _Call) -> str:
    """Describes the time until a proposal was fulfilled, rejected or withdrawn."""
    if call.answer == NO_ROW:
        return ""
    capture = call.document.capture
    asked = int(capture.columns["time_ns"][call.message])
    decided = int(decision_times(capture, np.array([call.answer]))[0])
    if NO_TIME in (asked, decided) or decided < asked:
        return ""
    return f"{_VERDICTS.get(call.state, 'allowed')} after {formats.duration(decided - asked)}"


_VERDICTS = {StepState.REJECTED: "rejected", StepState.CANCELLED: "withdrawn"}


# Answers


_CODE_LINES = re.compile(
    r"\A\s*(?:Error: )?(?:Chunk ID: \S{1,40}\n)?(?:(?:Exit code:?|Process exited with code) -?\d{1,10}|"
    r"Wall time: [\d.]{1,12} seconds)\n(?:Wall time: [\d.]{1,12} seconds\n)?(?:[\w ]{1,40}: \d{1,9}\n)?(?:Output:\n)?"
)


def _shown_text(text: str) -> str:
    """Returns the output of a command without the words of its tool around it."""
    if text == EMPTY_RESULT:
        return ""
    if (labelled := labelled_output(text)) is not None:
        return labelled.text
    if found := _CODE_LINES.match(text):
        return text[found.end() :]
    if text.lstrip()[:1] == "{" and len(text) <= _MAX_JSON:
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return text
        if isinstance(value, dict):
            inner = next((value[key] for key in ("output", "stdout") if isinstance(value.get(key), str)), None)
            if inner is not None:
                errors = value.get("stderr")
                return "\n".join(filter(None, (inner, errors if isinstance(errors, str) else "")))
    return text


def _said(call: _Call, text: str, output: Output | None, sort: str) -> str:
    """Describes an answer in a few words, for a card of one line."""
    if call.answer == NO_ROW or call.state is not StepState.OK:
        return ""
    if text == EMPTY_RESULT:
        return "no output"
    if not call.is_tool:
        told = sentence_of(call.document.analysis, call.answer)
        return wire_text.excerpt(told.words, 120) if told is not None else wire_text.excerpt(text, 120)
    if output is not None or not sort or not text.strip():
        return ""
    if text.lstrip()[:1] in "{[" and len(text) <= _MAX_JSON:
        try:
            return wire_text.safe_line(shape_of(json.loads(text)), 120)
        except (ValueError, RecursionError):
            pass
    lines = text.strip("\n").count("\n") + 1
    return wire_text.safe_line(text, 80) if lines == 1 and len(text) <= 80 else formats.count_of(lines, "line")


# Sub-agents


def agent_card(
    document: CaptureDocument, table: StepTable, step: int, base: dict[str, Any], *, whole: bool
) -> AgentCard:  # fmt: skip
    """Returns the card of a call that started a sub-agent; arguments as for `step_card`, without words."""
    call = _Call(document, table, step)
    analysis, node = document.analysis, int(table.opens[step])
    subject = Subject(document, call.message)
    agent = sub_agent_of(subject)
    contexts = analysis.contexts
    label = agent.label if agent is not None and agent.label else _task(call)
    name = agent.name or agent.type if agent is not None else ""
    if agent is not None and (shown := document.capture.shown_name(agent.name)) != agent.name:
        name, _, task = shown.partition(": ")
        label = task or label
    prompt = prompt_of(document.capture.records.payload(call.message)) or ""
    back = result_message(subject, agent) if agent is not None else None
    answer = call.answer if back is None else back
    result = raw_text(document.capture, answer) if answer != NO_ROW else ""
    below = np.flatnonzero(table.nodes == node) if node != NO_NODE else np.zeros(0, np.int64)
    calls = below[table.kinds[below] == StepKind.CALL]
    usage = context_usage(analysis, int(table.spaces[step]), node) if node != NO_NODE else None
    # A log without the steps of a sub-agent may have their totals in its result.
    told = _told_totals(document, answer) if not len(below) or usage is None else {}
    return AgentCard(
        **base, agent=wire_text.safe_line(name or contexts.label(node) or call.tool or "agent", 120),
        task=_line(label or prompt), model=_model(document, below, table),
        prompt=text_blocks(prompt, whole=whole, keeps_lines=True)[0], result=text_blocks(result, whole=whole)[0],
        calls=len(calls) if len(below) else told.get("calls", -1),
        failed=int(np.count_nonzero(table.states[calls] == StepState.FAILED)),
        steps=int(np.count_nonzero(table.kinds[below] != StepKind.MODEL)),
        tokens=sum(usage.usage) if usage is not None else told.get("tokens", -1),
        dollars=usage.cost.total if usage is not None and usage.cost is not None and usage.cost.calls else None,
        pill=_pill(call, "", None), state=int(call.state), took_ns=step_time(table, step),
        node=node, answer=answer, has_prompt_below=_is_prompt_below(document, table, below, prompt),
    )  # fmt: skip


def _is_prompt_below(document: CaptureDocument, table: StepTable, below: NDArray[np.int64], prompt: str) -> bool:
    """Returns True if a prompt of a sub-agent's steps is that of its call. Resumed ones may begin with another."""
    prompts = below[table.kinds[below] == StepKind.PROMPT]
    return any(raw_text(document.capture, row).strip() == prompt.strip() for row in table.rows[prompts].tolist())


_TOTALS = {"totalToolUseCount": "calls", "totalTokens": "tokens"}


def _told_totals(document: CaptureDocument, answer: int) -> dict[str, int]:
    """Returns the totals that the record of a result tells: calls and tokens, as far as known."""
    line = document.capture.records.read_line_of(answer) if answer != NO_ROW else b""
    found = dict[str, int]()
    for key, name in _TOTALS.items():
        value = value_in_record(line, key)
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 50:
            found[name] = value
    return found


def _task(call: _Call) -> str:
    told = arguments_words(call.tool, call.arguments)
    return told or ""


def _model(document: CaptureDocument, below: NDArray[np.int64], table: StepTable) -> str:
    """Returns the model of the first reported call of a context; "" if unknown."""
    usage = document.analysis.usage.columns
    if not len(usage) or not len(below):
        return ""
    messages = np.asarray(usage["message"][:])
    nodes = np.asarray(document.analysis.contexts.nodes_of(messages))
    found = np.flatnonzero(nodes == table.nodes[below[0]])
    if not len(found):
        return ""
    return wire_text.safe_line(document.capture.strings[int(usage["model"][:][found[0]])] or "", 80)
