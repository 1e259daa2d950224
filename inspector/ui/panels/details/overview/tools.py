"""Overview sections of coding tools: edits, plans, commands and files as code, started sub-agents.

The shape of the arguments decides (`inspector.protocol.payloads`), so that tools of any agent and server look alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtWidgets import QWidget

from inspector.present import formats
from inspector.present.code import language_of, without_numbers
from inspector.present.facts import Fact, FactPart, Ink, fact, value_facts, words_fact
from inspector.present.sub_agent_facts import SHOWN_ARGUMENTS as SPAWN_TOLD
from inspector.present.sub_agent_facts import prompt_of, result_message, sub_agent_facts
from inspector.present.subject import text_of
from inspector.present.wire_text import safe_line
from inspector.protocol import kinds
from inspector.protocol.payloads.file_edits import PATH_ARGUMENTS, REPRESENTED_ARGUMENTS, FileEdit, edits_of
from inspector.protocol.payloads.outline import nested_value
from inspector.protocol.payloads.plans import Plan, State, plan_of
from inspector.protocol.payloads.shell_commands import command_of
from inspector.protocol.secrets.masking import mask_secrets
from inspector.store.messages.transcripts import SubAgent
from inspector.ui.panels.details.code_view import CodeBlock, DifferenceView, counted_words
from inspector.ui.panels.details.overview.texts import text_section
from inspector.ui.panels.details.page_builder import Sheet

_MOST_EDITS = 20
_MARKS: dict[State, tuple[str, Ink]] = {
    "done": ("\N{CHECK MARK}", "good"), "now": ("\N{BLACK RIGHT-POINTING SMALL TRIANGLE}", "strong"),
    "later": ("\N{WHITE CIRCLE}", "plain"), "dropped": ("\N{MULTIPLICATION SIGN}", "dim"),
}  # fmt: skip
_STATES: dict[State, str] = {"done": "done", "now": "in progress", "later": "to do", "dropped": "dropped"}


def tool_sections(sheet: Sheet, tool: str | None, arguments: Mapping[str, Any]) -> list[QWidget]:
    """Returns the sections of a call that edits files, writes a plan or runs a command; empty for other calls."""
    edits = edits_of(tool, arguments)
    if edits:
        return [
            *_edit_sections(sheet, edits),
            *_remaining_arguments(sheet, arguments, REPRESENTED_ARGUMENTS | {"command", "cmd"}),
        ]
    plan = plan_of(arguments)
    if plan is not None:
        return [_plan_section(sheet, plan), *_remaining_arguments(sheet, arguments, {plan.key, "explanation"})]
    command = command_of(tool, arguments)
    if command is not None:
        text, key = command
        code = CodeBlock(sheet.themes, text, name="command", label="Command", language="bash")
        about = arguments.get("description")
        body: list[QWidget] = [code]
        if isinstance(about, str) and about:
            rows = [words_fact(safe_line(about, 1_000), lines=4)]
            body.insert(0, sheet.facts(rows, name="commandAbout", label="Purpose"))
        return [
            sheet.section("Command", *body, name="arguments"),
            *_remaining_arguments(sheet, arguments, {key, "description"}),
        ]
    return []


def _remaining_arguments(sheet: Sheet, arguments: Mapping[str, Any], told: frozenset[str] | set[str]) -> list[QWidget]:
    """Returns the section of the remaining arguments."""
    rows = value_facts(arguments, skip=tuple(told))
    return [sheet.section("Also", sheet.fact_card(rows, name="argumentsMore", label="Also"))] if rows else []


_HEADS = {"changed": "Edit", "written": "New text", "deleted": "Deleted"}


def _edit_sections(sheet: Sheet, edits: list[FileEdit]) -> list[QWidget]:
    sections: list[QWidget] = []
    for place, edit in enumerate(edits[:_MOST_EDITS]):
        counted = counted_words(edit) if edit.lines else ""
        label = " ".join(filter(None, (_HEADS[edit.change_type], counted)))
        rows = [fact("", safe_line(edit.path, 1_000), "mono", middle=True)]
        if edit.note:
            rows.append(fact("", safe_line(edit.note, 300), "dim"))
        body: list[QWidget] = [sheet.facts(rows, name=f"editPath{place}", label="File")]
        if edit.lines:
            body.append(DifferenceView(sheet.themes, edit, name=f"difference{place}"))
        sections.append(sheet.section(label, *body, name="arguments" if not place else f"edit{place}"))
    if len(edits) > _MOST_EDITS:
        rows = [fact("", f"{formats.count_of(len(edits) - _MOST_EDITS, 'more file')}, see Tree", "dim")]
        sections.append(sheet.section("More", sheet.facts(rows, name="moreEdits", label="More")))
    return sections


def _plan_section(sheet: Sheet, plan: Plan) -> QWidget:
    rows: list[Fact] = []
    if plan.explanation:
        rows.append(words_fact(safe_line(plan.explanation, 2_000)))
    for step in plan.steps:
        mark, ink = _MARKS[step.state]
        text = safe_line(step.text, 1_000)
        words = f"{mark} {text}"
        rows.append(Fact("", (FactPart(words, ink),), lines=3, tooltip=f"{_STATES[step.state]}: {text}", copy=text))
    if plan.left_out:
        rows.append(fact("", f"{plan.left_out:,} more, see Tree", "dim"))
    label = f"Plan, {plan.done_count} of {len(plan.steps) + plan.left_out} done"
    return sheet.section(label, sheet.fact_card(rows, name="plan", label=label), name="arguments")


# Sub-agents


def spawn_sections(sheet: Sheet, agent: SubAgent) -> list[QWidget]:
    """Returns the sections of a call that started a sub-agent: facts, prompt and answer."""
    subject = sheet.subject
    rows = sub_agent_facts(subject, agent)
    sections: list[QWidget] = [sheet.section("Sub-agent", sheet.fact_card(rows, name="subAgent", label="Sub-agent"))]
    prompt = prompt_of(subject.payload)
    if prompt is not None:
        sections.append(text_section(sheet, prompt, declared=False, label="Prompt", name="toldText"))
    params = subject.payload.get("params")
    arguments = nested_value(params.get("arguments")) if isinstance(params, Mapping) else None
    if isinstance(arguments, Mapping):
        sections += _remaining_arguments(sheet, arguments, SPAWN_TOLD)
    back = result_message(subject, agent)
    if back is not None:
        link = sheet.link(f"No. {back + 1}", lambda: sheet.links.message_requested.emit(back), name="cameBack")
        said = text_of(subject.capture, back)
        sections.append(text_section(sheet, said, declared=False, label="Answer", name="cameBackText", link=link))
    return sections


# Results


def code_section(sheet: Sheet, text: str) -> QWidget | None:
    """Makes the section of a printed file, coloured by its language; None for other results."""
    request = next((m for m in sheet.subject.causes if sheet.subject.capture.string("kind", m) == kinds.REQUEST), None)
    if request is None or not text:
        return None
    params = mask_secrets(sheet.subject.capture.records.payload(request)).get("params")
    arguments = nested_value(params.get("arguments")) if isinstance(params, Mapping) else None
    if not isinstance(arguments, Mapping) or edits_of(sheet.subject.target, arguments):
        return None
    path = next((value for key in PATH_ARGUMENTS if isinstance(value := arguments.get(key), str)), None)
    language = language_of(path) if path is not None else None
    if path is None or (without_numbers(text) is None and language is None):
        return None
    code = CodeBlock(sheet.themes, text, name="contentText", label="Content as text", language=language or "text")
    return sheet.section("File", code, name="content")
