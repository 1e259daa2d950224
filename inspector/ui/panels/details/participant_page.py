"""Details page of a participant: presence, capabilities, refusals, offers and waits.

The page reads its story at most once a second, and less often if that takes long. It changes rows in place while the
sections stay the same, so that the page does not jump during traffic.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from PySide6.QtCore import QTimer
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from inspector.analysis.passes.participants.capabilities import HeldCapability
from inspector.analysis.views.account.unanswered import PENDING_FILTER
from inspector.analysis.views.model_context.outcome import Outcome
from inspector.document.document import CaptureDocument
from inspector.document.participant_summary import ParticipantStory, story_of
from inspector.filters.strings import quote
from inspector.present import formats
from inspector.present.capability_facts import MAX_EVENTS, change_rows, differing_rows, held_rows, refused_rows
from inspector.present.facts import Fact, words_fact
from inspector.present.log_topics import spoken_kinds
from inspector.present.participant_facts import (
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
from inspector.present.token_facts import outcome_of, outcome_rows
from inspector.ui import budgets
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.details.figures import FiguresView, UsageGauge, UsageLine
from inspector.ui.panels.details.fitted_list import FittedList
from inspector.ui.panels.details.page_builder import Links, Maker
from inspector.ui.panels.details.section import Page, Segments

# The story takes at most 1/20 of the time.
_READ_SHARE = 20
_MOST_REFUSED = 10 * MAX_EVENTS
_WORDS, _RAW = "Words", "Raw"

Rows = Callable[[], Sequence[Any]]


@dataclass(frozen=True, slots=True)
class _Block:
    """A section to build. `make` builds its widget from `rows()`; later refreshes call `rows` again."""

    name: str
    label: str
    rows: Rows
    make: Callable[[Sequence[Any]], QWidget | list[QWidget]]
    action: Callable[[], QWidget] | None = None
    shape: object = None
    """Further key of the layout; a change of it builds a new page."""


_MODEL_KINDS = ("chat", "reasoning/", "mcp/proposal")
"""Prefixes of kinds sent only by participants with a model, or by persons."""


class ParticipantPage(Page):
    """Facts of one participant.

    Attributes:
        story: content of the page; None for an unknown participant.
    """

    def __init__(self, themes: ThemeController, links: Links, parent: QWidget | None = None) -> None:
        super().__init__(themes, "participantPage", "Participant", parent)
        self._make = Maker(themes, links)
        self._links = links
        self._document: CaptureDocument | None = None
        self._key: tuple[int, str] = (0, "")
        self.story: ParticipantStory | None = None
        self._outcome: Outcome | None = None
        self._blocks: list[_Block] = []
        self._capability_form = _WORDS
        self._read_to = 0
        self._due = 0.0
        self._every = QTimer(self)
        self._every.setObjectName("participantTimer")
        self._every.setInterval(budgets.current.figures_ms)
        self._every.timeout.connect(self._on_second)

    def show_participant(self, document: CaptureDocument, space: int, name: str, *, keep_place: bool) -> None:
        """Fills the page for a participant of a space.

        Args:
            document: the document.
            space: string id.
            name: id of the participant.
            keep_place: shows the same participant; keeps the scroll position and may defer the read.
        """
        same = keep_place and self._document is document and self._key == (space, name)
        self._document, self._key = document, (space, name)
        # The timer reads it again at the due time.
        if same and time.monotonic() < self._due:
            return
        self._read(keep_place=same)

    # Refresh

    @override
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._every.start()

    @override
    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._every.stop()

    def _on_second(self) -> None:
        document = self._document
        if document is None or not document.is_arriving:
            return
        if len(document.analysis) != self._read_to and time.monotonic() >= self._due:
            self._read(keep_place=True)
        else:
            self._show_ages()

    def _show_ages(self) -> None:
        for block in self._blocks:
            if block.name.startswith("waits"):
                self._fill(block)

    def _read(self, *, keep_place: bool) -> None:
        assert self._document is not None
        started = time.monotonic()
        self._read_to = len(self._document.analysis)
        self.story = story_of(self._document, *self._key, most_refused=_MOST_REFUSED)
        self._outcome = outcome_of(self._document.analysis, *self._key)
        self._due = time.monotonic() + max(
            # Less than the timer's interval, which Qt keeps only within 5 %.
            budgets.current.figures_ms / 1000 * 0.9,
            (time.monotonic() - started) * _READ_SHARE,
        )
        blocks = self._blocks_of(self.story) if self.story is not None else [self._unknown_block()]
        shape, before = ([(one.name, one.label, one.shape) for one in many] for many in (blocks, self._blocks))
        self._blocks = blocks
        if keep_place and shape == before:
            for block in blocks:
                self._fill(block)
        else:
            self.show_sections([self._section(block) for block in blocks], keep_place=keep_place)

    def _section(self, block: _Block) -> QWidget:
        action = block.action() if block.action is not None else None
        made = block.make(block.rows())
        body = made if isinstance(made, list) else [made]
        return self._make.section(block.label, *body, name=f"{block.name}Section", action=action)

    def _fill(self, block: _Block) -> None:
        view, rows = self.findChild(FittedList, block.name), list(block.rows())
        if view is not None:
            view.replace_rows(rows)

    # Content

    def _unknown_block(self) -> _Block:
        words = words_fact("No participant of this name in the space.")
        return self._facts_block("nobody", "Participant", partial(list, [words]))

    def _blocks_of(self, story: ParticipantStory) -> list[_Block]:
        document, name = self._document, self._key[1]
        assert document is not None
        presence = partial(presence_rows, document, story)
        ask = partial(self._links.sees_requested.emit, self._key)
        answers = story.answered is not None or story.offered is not None
        speaks = any(kind.startswith(_MODEL_KINDS) for kind in story.kinds)
        link = partial(self._make.link, "Model sees", ask, name="modelSees")
        # A server has no model.
        sees = None if answers and not speaks else link
        blocks = [self._facts_block("presence", "Presence", presence, name_width=80, action=sees)]
        blocks += self._waiting(document, story)
        if story.refused:
            refused, more = partial(refused_rows, document, story.refused), len(story.refused) >= _MOST_REFUSED
            show = self._filter_link(f'kind == "system/error" && to == {quote(name)}', "filterRefused")
            label = f"Refused, {len(story.refused)}{' or more' if more else ''}"
            blocks.append(self._facts_block("refused", label, refused, name_width=80, action=show))
        if story.judged_count:
            label = f"Differing verdicts, {len(story.differing)}" if story.differing else "The gateway's verdicts"
            differing = partial(differing_rows, document, story)
            blocks.append(self._facts_block("differing", label, differing, name_width=80))
        blocks += self._capability_blocks(document, story)
        blocks += self._usage_blocks(document, story)
        if self._outcome is not None:
            rows = partial(outcome_rows, document.analysis, self._outcome)
            blocks.append(
                self._facts_block("contextTokens", "Context, reconstructed from the traffic", rows, name_width=126)
            )
        if story.tools is not None:
            label = f"Offered tools, {len(story.tools)}" if story.tools else "Offered tools"
            if story.tools or story.tool_use:
                blocks.append(self._figures_block("toolUse", "Calls of its tools", partial(tool_use_rows, story, name)))
            if story.offered is not None and story.offered.changes:
                changed, count = partial(change_of_tools_rows, document, story), len(story.offered.changes)
                blocks.append(self._facts_block("toolChanges", f"Changed definitions, {count}", changed, name_width=80))
            blocks.append(self._facts_block("toolsOffered", label, partial(tool_rows, story, name), name_width=80))
        if story.answered is not None:
            rows = partial(latency_rows, story, name)
            blocks.append(self._figures_block("answersTook", "Answer times", rows))
        if story.kinds:
            show = self._filter_link(f"from == {quote(name)}", "filterSent")
            rows = partial(kind_rows, story, name, spoken_kinds(document))
            blocks.append(self._facts_block("sentKinds", "Sent by kind", rows, name_width=140, action=show))
        return blocks

    def _waiting(self, document: CaptureDocument, story: ParticipantStory) -> list[_Block]:
        blocks: list[_Block] = []
        for waiting, name, label, field in (
            (story.asks, "waitsFor", "Waiting for answers", "from"),
            (story.asked, "waitsBy", "Requests without its answer", "to"),
        ):
            if waiting:
                show = self._filter_link(f"{field} == {quote(self._key[1])} && ({PENDING_FILTER})", f"{name}Filter")
                rows = partial(waiting_rows, document, waiting, to=field == "from")
                blocks.append(self._chain_block(name, f"{label}, {formats.number(len(waiting))}", rows, action=show))
        return blocks

    def _capability_blocks(self, document: CaptureDocument, story: ParticipantStory) -> list[_Block]:
        if story.held is None:
            words = partial(list, [words_fact("Its capabilities were not announced.")])
            return [self._facts_block("held", "May send", words)]
        held = partial(self._capability_rows, story.held)
        blocks = [self._facts_block("held", "May send", held, action=self._capability_choice)]
        cut = f", last {MAX_EVENTS} of {len(story.changes):,}" if len(story.changes) > MAX_EVENTS else ""
        changes = partial(change_rows, document, story.changes)
        return [*blocks, self._chain_block("changes", f"History{cut}", changes)] if story.changes else blocks

    def _capability_rows(self, held: Sequence[HeldCapability]) -> list[Fact]:
        return held_rows(held, raw=self._capability_form == _RAW)

    def _capability_choice(self) -> QWidget:
        choice = Segments(self._themes, (_WORDS, _RAW), "heldAs", "May send, in words or raw")
        choice.choose(self._capability_form)
        choice.chosen.connect(self._on_capability_form_chosen)
        return choice

    def _on_capability_form_chosen(self, choice: str) -> None:
        self._capability_form = choice
        for block in self._blocks:
            if block.name == "held":
                self._fill(block)

    def _usage_blocks(self, document: CaptureDocument, story: ParticipantStory) -> list[_Block]:
        participant = story.participant
        if participant.tokens is None or not participant.status_rows:
            return []
        last = participant.status_rows[-1]
        reports = reports_of(document.capture, participant)
        limit = participant.max_tokens if participant.max_tokens and participant.max_tokens > 0 else None
        tokens = participant.tokens

        def make(_: Sequence[Any]) -> list[QWidget]:
            drawn = len(reports) > 1 and reports[-1][1] > reports[0][1]
            line = [UsageLine(self._themes, [(at, used) for _, at, used in reports], -1, limit)] if drawn else []
            facts = self._make.facts(report_rows(document, last), name="usageReport", label="Reported")
            return [UsageGauge(self._themes, tokens, limit), *line, facts]

        return [_Block("usage", "Reported context usage", tuple, make, shape=(tokens, limit, last))]

    # Widgets

    def _facts_block(
        self, name: str, label: str, rows: Rows, *, name_width: int = 96, action: Callable[[], QWidget] | None = None
    ) -> _Block:
        make = partial(self._make.facts, name=name, label=label, name_width=name_width)
        return _Block(name, label, rows, make, action)

    def _chain_block(self, name: str, label: str, rows: Rows, *, action: Callable[[], QWidget] | None = None) -> _Block:
        return _Block(name, label, rows, partial(self._make.rail, label=label, name=name), action)

    def _figures_block(self, name: str, label: str, rows: Rows) -> _Block:
        return _Block(name, label, rows, partial(self._figures, name, label))

    def _figures(self, name: str, label: str, rows: Sequence[Any]) -> QWidget:
        view = FiguresView(self._themes, rows[0], rows[1:], name=name, label=label)
        view.filter_requested.connect(self._links.filter_requested)
        return view

    def _filter_link(self, text: str, name: str) -> Callable[[], QWidget]:
        ask = partial(self._links.filter_requested.emit, text, "replace")
        return partial(self._make.link, "Filter by these", ask, name=name)
