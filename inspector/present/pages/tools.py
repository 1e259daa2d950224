"""Overview sections of coding tools: edits, plans, commands and files as code, started sub-agents.

The shape of the arguments decides (`inspector.protocol.payloads`), so that tools of any agent and server look alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from inspector.present import formats
from inspector.present.code import counted_words, language_of, without_numbers
from inspector.present.facts import Fact, FactPart, Ink, fact, value_facts, words_fact
from inspector.present.pages.factories import bounded_text, fact_card, facts_part, link_part, section_part
from inspector.present.pages.parts import CodePart, EditPart, Part
from inspector.present.pages.texts import text_section
from inspector.present.sub_agent_facts import SHOWN_ARGUMENTS as SPAWN_TOLD
from inspector.present.sub_agent_facts import prompt_of, result_message, sub_agent_facts
from inspector.present.subject import Subject, text_of
from inspector.present.wire_text import safe_line
from inspector.protocol import kinds
from inspector.protocol.payloads.file_edits import PATH_ARGUMENTS, REPRESENTED_ARGUMENTS, FileEdit, edits_of
from inspector.protocol.payloads.outline import nested_value
from inspector.protocol.payloads.plans import Plan, State, plan_of
from inspector.protocol.payloads.shell_commands import command_of
from inspector.protocol.secrets.masking import mask_secrets
from inspector.store.messages.transcripts import SubAgent

_MOST_EDITS = 20
_MARKS: dict[State, tuple[str, Ink]] = {
    "done": ("\N{CHECK MARK}", "good"), "now": ("\N{BLACK RIGHT-POINTING SMALL TRIANGLE}", "strong"),
    "later": ("\N{WHITE CIRCLE}", "plain"), "dropped": ("\N{MULTIPLICATION SIGN}", "dim"),
}  # fmt: skip
_STATES: dict[State, str] = {"done": "done", "now": "in progress", "later": "to do", "dropped": "dropped"}


def tool_sections(tool: str | None, arguments: Mapping[str, Any]) -> list[Part]:
    """Returns the sections of a call that edits files, writes a plan or runs a command; empty for other calls."""
    edits = edits_of(tool, arguments)
    if edits:
        return [
            *_edit_sections(edits),
            *_remaining_arguments(arguments, REPRESENTED_ARGUMENTS | {"command", "cmd"}),
        ]
    plan = plan_of(arguments)
    if plan is not None:
        return [_plan_section(plan), *_remaining_arguments(arguments, {plan.key, "explanation"})]
    command = command_of(tool, arguments)
    if command is not None:
        text, key = command
        code = CodePart(text=bounded_text(text), name="command", label="Command", language="bash")
        about = arguments.get("description")
        body: list[Part] = [code]
        if isinstance(about, str) and about:
            rows = [words_fact(safe_line(about, 1_000), lines=4)]
            body.insert(0, facts_part(rows, name="commandAbout", label="Purpose"))
        return [
            section_part("Command", *body, name="arguments"),
            *_remaining_arguments(arguments, {key, "description"}),
        ]
    return []


def _remaining_arguments(arguments: Mapping[str, Any], told: frozenset[str] | set[str]) -> list[Part]:
    """Returns the section of the remaining arguments."""
    rows = value_facts(arguments, skip=tuple(told))
    return [section_part("Also", fact_card(rows, name="argumentsMore", label="Also"))] if rows else []


_HEADS = {"changed": "Edit", "written": "New text", "deleted": "Deleted"}


def _edit_sections(edits: list[FileEdit]) -> list[Part]:
    sections: list[Part] = []
    for place, edit in enumerate(edits[:_MOST_EDITS]):
        counted = counted_words(edit) if edit.lines else ""
        label = " ".join(filter(None, (_HEADS[edit.change_type], counted)))
        rows = [fact("", safe_line(edit.path, 1_000), "mono", middle=True)]
        if edit.note:
            rows.append(fact("", safe_line(edit.note, 300), "dim"))
        body: list[Part] = [facts_part(rows, name=f"editPath{place}", label="File")]
        if edit.lines:
            body.append(EditPart(edit=edit, name=f"difference{place}"))
        sections.append(section_part(label, *body, name="arguments" if not place else f"edit{place}"))
    if len(edits) > _MOST_EDITS:
        rows = [fact("", f"{formats.count_of(len(edits) - _MOST_EDITS, 'more file')}, see Tree", "dim")]
        sections.append(section_part("More", facts_part(rows, name="moreEdits", label="More")))
    return sections


def _plan_section(plan: Plan) -> Part:
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
    return section_part(label, fact_card(rows, name="plan", label=label), name="arguments")


# Sub-agents


def spawn_sections(subject: Subject, agent: SubAgent) -> list[Part]:
    """Returns the sections of a call that started a sub-agent: facts, prompt and answer."""
    rows = sub_agent_facts(subject, agent)
    sections: list[Part] = [section_part("Sub-agent", fact_card(rows, name="subAgent", label="Sub-agent"))]
    prompt = prompt_of(subject.payload)
    if prompt is not None:
        sections.append(text_section(prompt, declared=False, label="Prompt", name="toldText"))
    params = subject.payload.get("params")
    arguments = nested_value(params.get("arguments")) if isinstance(params, Mapping) else None
    if isinstance(arguments, Mapping):
        sections += _remaining_arguments(arguments, SPAWN_TOLD)
    back = result_message(subject, agent)
    if back is not None:
        link = link_part(f"No. {back + 1}", "message", back, name="cameBack")
        said = text_of(subject.capture, back)
        sections.append(text_section(said, declared=False, label="Answer", name="cameBackText", link=link))
    return sections


# Results


def code_section(subject: Subject, text: str) -> Part | None:
    """Makes the section of a printed file, coloured by its language; None for other results."""
    request = next((m for m in subject.causes if subject.capture.string("kind", m) == kinds.REQUEST), None)
    if request is None or not text:
        return None
    params = mask_secrets(subject.capture.records.payload(request)).get("params")
    arguments = nested_value(params.get("arguments")) if isinstance(params, Mapping) else None
    if not isinstance(arguments, Mapping) or edits_of(subject.target, arguments):
        return None
    path = next((value for key in PATH_ARGUMENTS if isinstance(value := arguments.get(key), str)), None)
    language = language_of(path) if path is not None else None
    shown = bounded_text(text)
    if path is None or (without_numbers(shown) is None and language is None):
        return None
    code = CodePart(text=shown, name="contentText", label="Content as text", language=language or "text")
    return section_part("File", code, name="content")
