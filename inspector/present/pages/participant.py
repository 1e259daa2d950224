"""Page of a participant: presence, capabilities, refusals, offers and waits."""

from __future__ import annotations

from collections.abc import Sequence

from inspector.analysis.views.account.unanswered import PENDING_FILTER
from inspector.document.document import CaptureDocument
from inspector.document.participant_summary import ParticipantStory
from inspector.filters.strings import quote
from inspector.present import formats
from inspector.present.capability_facts import MAX_EVENTS, change_rows, differing_rows, held_rows, refused_rows
from inspector.present.chain_rows import ChainRow
from inspector.present.facts import Fact, words_fact
from inspector.present.log_topics import spoken_kinds
from inspector.present.pages.factories import link_part, section_part
from inspector.present.pages.parts import (
    ChainPart,
    FactsPart,
    FiguresPart,
    GaugePart,
    LinkPart,
    Part,
    SectionPart,
    SwitchedFactsPart,
    UsageLinePart,
)
from inspector.present.participant_facts import (
    FigureRow,
    change_of_tools_rows,
    kind_rows,
    latency_rows,
    presence_rows,
    report_rows,
    reports_of,
    tool_rows,
    tool_use_rows,
    waiting_rows,
)
from inspector.present.places import ParticipantPlace
from inspector.present.token_facts import outcome_of, outcome_rows

MOST_REFUSED = 10 * MAX_EVENTS
_MODEL_KINDS = ("chat", "reasoning/", "mcp/proposal")
"""Prefixes of kinds sent only by participants with a model, or by persons."""


def unknown_sections() -> list[Part]:
    """Returns the section of a name that no participant has."""
    return [_facts("nobody", "Participant", [words_fact("No participant of this name in the space.")])]


def participant_sections(document: CaptureDocument, story: ParticipantStory) -> list[Part]:
    """Returns the sections of a participant's page."""
    sees = None if _is_server(story) else link_part("Model sees", "sees", _place(story), name="modelSees")
    return [
        _facts("presence", "Presence", presence_rows(document, story), name_width=80, action=sees),
        *_waits(document, story),
        *_refusals(document, story),
        *_capabilities(document, story),
        *_usage(document, story),
        *_context_tokens(document, story),
        *_tools(document, story),
        *_answer_times(story),
        *_sent_kinds(document, story),
    ]


def _place(story: ParticipantStory) -> ParticipantPlace:
    return ParticipantPlace(story.participant.space, story.participant.name)


def _is_server(story: ParticipantStory) -> bool:
    """Returns True for a participant without a model."""
    answers = story.answered is not None or story.offered is not None
    return answers and not any(kind.startswith(_MODEL_KINDS) for kind in story.kinds)


def _waits(document: CaptureDocument, story: ParticipantStory) -> list[Part]:
    made: list[Part] = []
    for waiting, name, label, field in (
        (story.asks, "waitsFor", "Waiting for answers", "from"),
        (story.asked, "waitsBy", "Requests without its answer", "to"),
    ):
        if waiting:
            show = _filter_link(f"{field} == {quote(story.participant.name)} && ({PENDING_FILTER})", f"{name}Filter")
            rows = waiting_rows(document, waiting, to=field == "from")
            made.append(_chain(name, f"{label}, {formats.number(len(waiting))}", rows, action=show))
    return made


def _refusals(document: CaptureDocument, story: ParticipantStory) -> list[Part]:
    made: list[Part] = []
    if story.refused:
        show = _filter_link(f'kind == "system/error" && to == {quote(story.participant.name)}', "filterRefused")
        label = f"Refused, {len(story.refused)}{' or more' if len(story.refused) >= MOST_REFUSED else ''}"
        rows = refused_rows(document, story.refused)
        made.append(_facts("refused", label, rows, name_width=80, action=show))
    if story.judged_count:
        label = f"Differing verdicts, {len(story.differing)}" if story.differing else "The gateway's verdicts"
        made.append(_facts("differing", label, differing_rows(document, story), name_width=80))
    return made


def _capabilities(document: CaptureDocument, story: ParticipantStory) -> list[Part]:
    if story.held is None:
        return [_facts("held", "May send", [words_fact("Its capabilities were not announced.")])]
    lists = [held_rows(story.held, raw=raw) for raw in (False, True)]
    held = SwitchedFactsPart(
        choices=("Words", "Raw"), lists=lists, name="held", label="May send", switch="heldAs",
        switch_label="May send, in words or raw",
    )  # fmt: skip
    made: list[Part] = [section_part("May send", held, name="heldSection")]
    if story.changes:
        cut = f", last {MAX_EVENTS} of {len(story.changes):,}" if len(story.changes) > MAX_EVENTS else ""
        made.append(_chain("changes", f"History{cut}", change_rows(document, story.changes)))
    return made


def _usage(document: CaptureDocument, story: ParticipantStory) -> list[Part]:
    participant = story.participant
    if participant.tokens is None or not participant.status_rows:
        return []
    reports = reports_of(document.capture, participant)
    limit = participant.max_tokens if participant.max_tokens and participant.max_tokens > 0 else None
    body: list[Part] = [GaugePart(used=participant.tokens, limit=limit)]
    if len(reports) > 1 and reports[-1][1] > reports[0][1]:
        body.append(UsageLinePart(reports=[(at, used) for _, at, used in reports], own=-1, limit=limit))
    rows = report_rows(document, participant.status_rows[-1])
    facts = FactsPart(rows=rows, name="usageReport", label="Reported")
    return [section_part("Reported context usage", *body, facts, name="usageSection")]


def _context_tokens(document: CaptureDocument, story: ParticipantStory) -> list[Part]:
    outcome = outcome_of(document.analysis, story.participant.space, story.participant.name)
    if outcome is None:
        return []
    rows = outcome_rows(document.analysis, outcome)
    return [_facts("contextTokens", "Context, reconstructed from the traffic", rows, name_width=126)]


def _tools(document: CaptureDocument, story: ParticipantStory) -> list[Part]:
    if story.tools is None:
        return []
    name, made = story.participant.name, list[Part]()
    if story.tools or story.tool_use:
        made.append(_figures("toolUse", "Calls of its tools", tool_use_rows(story, name)))
    if story.offered is not None and story.offered.changes:
        rows = change_of_tools_rows(document, story)
        label = f"Changed definitions, {len(story.offered.changes)}"
        made.append(_facts("toolChanges", label, rows, name_width=80))
    label = f"Offered tools, {len(story.tools)}" if story.tools else "Offered tools"
    return [*made, _facts("toolsOffered", label, tool_rows(story, name), name_width=80)]


def _answer_times(story: ParticipantStory) -> list[Part]:
    if story.answered is None:
        return []
    return [_figures("answersTook", "Answer times", latency_rows(story, story.participant.name))]


def _sent_kinds(document: CaptureDocument, story: ParticipantStory) -> list[Part]:
    if not story.kinds:
        return []
    name = story.participant.name
    show = _filter_link(f"from == {quote(name)}", "filterSent")
    rows = kind_rows(story, name, spoken_kinds(document))
    return [_facts("sentKinds", "Sent by kind", rows, name_width=140, action=show)]


def _facts(
    name: str, label: str, rows: Sequence[Fact], *, name_width: int = 96, action: LinkPart | None = None
) -> SectionPart:  # fmt: skip
    part = FactsPart(rows=list(rows), name=name, label=label, name_width=name_width)
    return section_part(label, part, name=f"{name}Section", action=action)


def _chain(name: str, label: str, rows: Sequence[ChainRow], *, action: LinkPart | None = None) -> SectionPart:
    part = ChainPart(rows=list(rows), name=name, label=label)
    return section_part(label, part, name=f"{name}Section", action=action)


def _figures(name: str, label: str, rows: Sequence[FigureRow]) -> SectionPart:
    return section_part(label, FiguresPart(rows=list(rows), name=name, label=label), name=f"{name}Section")


def _filter_link(text: str, name: str) -> LinkPart:
    return link_part("Filter by these", "filter", text, name=name)
