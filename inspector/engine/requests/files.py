"""Files that tool calls read or change, with each access in order."""

from __future__ import annotations

import msgspec

from inspector.analysis.views.steps.call_facts import CallFact, CallFacts, FileFact, KeptCalls, Outcome, TouchKind
from inspector.analysis.views.steps.step_columns import NO_NODE
from inspector.engine.open_document import OpenDocument
from inspector.engine.request import Query, Request, RequestError, Steps
from inspector.engine.requests.turns import steps_of
from inspector.present import formats
from inspector.present.conversation.diffs import value_in_record
from inspector.present.conversation.tool_sorts import sort_of_tool
from inspector.present.overview.facts import file_name, file_names
from inspector.present.wire_text import safe_line
from inspector.protocol.payloads.file_edits import content_after, names_all_changes
from inspector.protocol.secrets.masking import mask_text

_MAX_PATH = 400


class FileAccess(msgspec.Struct, frozen=True):
    """Access of a call to a file.

    Attributes:
        message: the call.
        kind: kind of access.
        outcome: outcome of the call.
        added, removed: number of lines.
        caller: participant that made the call.
        time: local time of day; "" if unknown.
    """

    message: int
    kind: TouchKind
    outcome: Outcome
    added: int
    removed: int
    caller: str
    time: str = ""


class FileLine(msgspec.Struct, frozen=True):
    """A file.

    Attributes:
        path: as written, safe to show.
        name: its name, with its folder if another file has the same name.
        is_changed: a call changed it, or tried to.
        added, removed: lines of successful changes.
        accesses: all accesses in order.
        test: the last run of tests after the last change, if any.
        test_outcome: its outcome.
        test_time: its local time of day.
    """

    path: str
    name: str
    is_changed: bool
    added: int
    removed: int
    accesses: tuple[FileAccess, ...]
    test: int | None = None
    test_outcome: Outcome | None = None
    test_time: str = ""


class ListFiles(Request[list[FileLine]], frozen=True):
    """All files that calls name, changed ones first."""


class FinalContent(Request[str], frozen=True):
    """The exact content of a file after its last change, masked, by its path as listed.

    RULE: it is known if a call wrote the file whole, all later changes are exact replacements, and neither a command or
    code that may change files ran since, nor a sub-agent without calls in the log.
    """

    path: str


def _final_content(held: OpenDocument, asked: FinalContent) -> Steps[str]:
    facts = yield from held.kept(KeptCalls, lambda: KeptCalls(held.document.analysis)).facts()
    files = facts.files()
    paths = {file.path for file in files if safe_line(file.path, _MAX_PATH) == asked.path}
    name = file_name(asked.path)
    # A relative and an absolute path may be of one file.
    alike = [file for file in files if file_name(file.path) == name and file.is_changed]
    content: str | None = None
    for call in facts.calls if len(paths) == len(alike) == 1 else ():
        if call.outcome is Outcome.REJECTED or (call.outcome is Outcome.FAILED and not call.command):
            continue
        if call.command:
            content = None if call.may_change_files else content
        elif call.is_change or not call.touches:
            yield
            params = held.document.capture.records.payload(call.row).get("params")
            arguments = params.get("arguments") if isinstance(params, dict) else None
            if paths & call.changed_paths:
                known = call.outcome is Outcome.OK and len(call.touches) == 1 and not _is_changed_by_person(held, call)
                content = content_after(call.tool, arguments, content) if known else None
            elif call.touches:
                content = content if names_all_changes(arguments) else None
            elif name in str(arguments) or _may_do_anything(held, call, arguments):  # such as a move
                content = None
        elif sort_of_tool(call.tool) != "read" and paths & {touch.path for touch in call.touches}:
            content = None
    if content is None:
        raise RequestError("The calls of this log do not tell the exact content.")
    return mask_text(content)


def _is_changed_by_person(held: OpenDocument, call: CallFact) -> bool:
    line = held.document.capture.records.read_line_of(call.answer)
    return value_in_record(line, "userModified") is True


def _may_do_anything(held: OpenDocument, call: CallFact, arguments: object) -> bool:
    """Returns True for code, and for the task of a sub-agent whose calls are not in the log."""
    if not isinstance(arguments, dict) or "url" in arguments:
        return False
    if "code" in arguments or "script" in arguments:
        return True
    table = steps_of(held)
    step = int(table.step_of[call.row])
    opened = NO_NODE if step < 0 else int(table.opens[step])
    return "prompt" in arguments and (opened == NO_NODE or not (table.nodes == opened).any())


def _files(held: OpenDocument, asked: ListFiles) -> Steps[list[FileLine]]:
    del asked
    facts = yield from held.kept(KeptCalls, lambda: KeptCalls(held.document.analysis)).facts()
    files, lines = facts.files(), list[FileLine]()
    for file, name in zip(files, file_names(files), strict=True):
        lines.append(_line(held, facts, file, name))
        yield
    return lines


def _line(held: OpenDocument, facts: CallFacts, file: FileFact, name: str) -> FileLine:
    capture, accesses = held.document.capture, list[FileAccess]()
    for place in dict.fromkeys(file.calls):
        call = facts.calls[place]
        caller = safe_line(capture.shown_name(capture.string("sender", call.row) or ""), 80)
        time = _time(held, call.row)
        accesses += [
            FileAccess(call.row, touch.kind, call.outcome, touch.added, touch.removed, caller, time)
            for touch in call.touches
            if touch.path == file.path
        ]
    test = facts.calls[file.test] if file.test >= 0 else None
    return FileLine(
        safe_line(file.path, _MAX_PATH), name, file.is_changed, file.added, file.removed, tuple(accesses),
        None if test is None else test.row, None if test is None else test.run_outcome,
        "" if test is None else _time(held, test.row),
    )  # fmt: skip


def _time(held: OpenDocument, message: int) -> str:
    return formats.clock(int(held.document.capture.columns["time_ns"][message]))


QUERIES = (Query(ListFiles, list[FileLine], _files), Query(FinalContent, str, _final_content))
