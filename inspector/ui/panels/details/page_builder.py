"""Makes the widgets of a page of the details from its parts, and connects their links."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from msgspec import structs
from PySide6.QtCore import QPoint
from PySide6.QtGui import QGuiApplication, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QMenu, QVBoxLayout, QWidget
from typing_extensions import override

from inspector.engine.requests.copies import CopyMessages
from inspector.engine.requests.pages import ContextTarget
from inspector.present.pages.parts import (
    BlocksPart,
    CardPart,
    ChainPart,
    CodePart,
    ContentPart,
    ContentParts,
    CopyPart,
    EditPart,
    FactsPart,
    FiguresPart,
    FindingPart,
    GapPart,
    GaugePart,
    LinkPart,
    LinksPart,
    ListPart,
    MarkdownPart,
    NotePart,
    Part,
    SavingPart,
    SectionPart,
    SwitchedFactsPart,
    TablePart,
    TextPart,
    ThreadPart,
    UsageLinePart,
)
from inspector.present.places import ContextPlace, ParticipantPlace
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.details.blocks_view import BlocksView
from inspector.ui.panels.details.chain_view import ChainView, ThreadView
from inspector.ui.panels.details.code_view import CodeBlock, DifferenceView
from inspector.ui.panels.details.content_view import ContentView, MarkdownText, TableBody
from inspector.ui.panels.details.facts_view import FactsView
from inspector.ui.panels.details.figures import FiguresView, SavingBar, UsageGauge, UsageLine
from inspector.ui.panels.details.finding_sentence import FindingSentence
from inspector.ui.panels.details.fitted_list import FittedList
from inspector.ui.panels.details.links import Links
from inspector.ui.panels.details.pictures import BUDGET
from inspector.ui.panels.details.section import Card, LinkText, Section, Segments
from inspector.ui.panels.details.text_block import TextBlock
from inspector.ui.widgets.latest_answer import Client

SAVE_AS = "Save message as..."
"""Writes the exact bytes, unmasked and complete."""


class PageBuilder:
    """Makes the widgets of one page; the page that receives them becomes their parent.

    Attributes:
        scoped: the table's scope.
    """

    def __init__(
        self, themes: ThemeController, links: Links, client: Client, scoped: ContextPlace | None = None
    ) -> None:  # fmt: skip
        """Makes no widget yet.

        Args:
            themes: source of fonts and colours.
            links: receives clicks on links.
            client: asks for texts to copy.
            scoped: the table's scope.
        """
        self._themes, self._links, self._client = themes, links, client
        self.scoped = scoped
        self._lists: list[FittedList[Any]] = []
        self._scope_links: list[tuple[LinkText, LinkPart]] = []
        # One budget for all blocks, so that many messages with pictures cost no more than one.
        self._picture_budget = BUDGET

    def widget(self, part: Part) -> QWidget:
        """Makes the widget of a part."""
        match part:
            case SectionPart():
                return self._section(part)
            case CardPart():
                return Card(self._themes, list(map(self.widget, part.body)), part.name)
            case LinkPart():
                return self._link(part)
            case LinksPart():
                return self._link_row(part)
            case BlocksPart():
                view = BlocksView(self._themes, part, self._links.pictures, budget=self._picture_budget)
                self._picture_budget = view.budget
                return view
            case FactsPart() | ChainPart() | ThreadPart() | FiguresPart() | FindingPart() | SwitchedFactsPart():
                return self._list(part)
            case _:
                return self._content(part)

    def _content(self, part: ContentParts) -> QWidget:
        themes = self._themes
        match part:
            case TextPart():
                return TextBlock(
                    themes, part.text, name=part.name, label=part.label, markdown=part.markdown, mono=part.mono
                )  # fmt: skip
            case MarkdownPart():
                return MarkdownText(themes, part.text, self._links, name=part.name)
            case NotePart():
                return _UserNote(themes, TextBlock(themes, part.text, name="comment", label="Comment"))
            case CodePart():
                return CodeBlock(themes, part.text, name=part.name, label=part.label, language=part.language)
            case EditPart():
                return DifferenceView(themes, part.edit, name=part.name)
            case TablePart():
                return TableBody(themes, part.table)
            case ContentPart():
                return ContentView(themes, part, self._links)
            case GaugePart():
                return UsageGauge(themes, part.used, part.limit)
            case UsageLinePart():
                return UsageLine(themes, part.reports, part.own, part.limit)
            case SavingPart():
                return SavingBar(themes, part)
            case GapPart():
                gap = QWidget()
                gap.setObjectName(part.name)
                gap.setFixedHeight(themes.theme.metrics.unit)
                return gap

    # Sections and links

    def _section(self, part: SectionPart) -> Section:
        body = list(map(self.widget, part.body))
        action: QWidget | None = None
        match part.action:
            case LinkPart():
                action = self._link(part.action)
            case CopyPart():
                action = self._copy_link(part.action)
            case None:
                action = next((one.segments for one in body if isinstance(one, _SWITCHED)), None)
        return Section(self._themes, part.label, body, name=part.name, action=action)

    def _link(self, part: LinkPart) -> LinkText:
        button = LinkText(self._themes, part.words, part.name)
        # Without the lambda, the handler would receive whether the button is checked.
        button.clicked.connect(lambda: self._follow(part))
        if part.act == "scope_context":
            self._scope_links.append((button, part))
            self._name_scope_link(button, part)
        return button

    def show_scope(self, scope: ContextPlace | None) -> None:
        """Sets the table's scope; the page of this context then offers to clear it."""
        self.scoped = scope
        for button, part in self._scope_links:
            self._name_scope_link(button, part)

    def _name_scope_link(self, button: LinkText, part: LinkPart) -> None:
        button.setText("Clear scope" if self.scoped == part.target else part.words)
        button.setAccessibleName(button.text())
        button.updateGeometry()

    def _link_row(self, part: LinksPart) -> QWidget:
        row = QWidget()
        row.setObjectName(part.name)
        row.setAccessibleName(part.label)
        layout = QHBoxLayout(row)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4 * self._themes.theme.metrics.unit)
        for one in part.links:
            layout.addWidget(self._link(one))
        layout.addStretch(1)
        return row

    def _follow(self, part: LinkPart) -> None:
        links, target = self._links, part.target
        match part.act:
            case "filter":
                links.filter_requested.emit(target, "replace")
            case "comment":
                # The panel of marks knows contexts by another type.
                links.comment_requested.emit(
                    ContextTarget(target.space, target.node) if isinstance(target, ContextPlace) else target
                )
            case "sees":
                assert isinstance(target, ParticipantPlace)
                links.sees_requested.emit((target.space, target.name))
            case "copy":
                QGuiApplication.clipboard().setText(str(target))
            case "scope_context":
                links.context_scope_requested.emit(None if self.scoped == target else target)
            case "message" | "place" | "code" | "tab" | "chain" | "scope" | "save":
                getattr(links, f"{part.act}_requested").emit(target)

    # The menu "Copy as"

    def _copy_link(self, part: CopyPart) -> LinkText:
        link = LinkText(self._themes, "Copy as", "copyAs")
        menu = self._copy_menu(part, link)
        link.clicked.connect(lambda: _pop_up(menu, link))
        return link

    def _copy_menu(self, part: CopyPart, parent: QWidget) -> QMenu:
        menu = QMenu(parent)
        menu.setObjectName("copyAsMenu")
        clipboard = QGuiApplication.clipboard()
        by_json = menu.addAction("JSON")
        by_json.setEnabled(part.has_json)
        by_json.triggered.connect(lambda: self._copy_json(part.message))
        by_id = menu.addAction("Id")
        by_id.setEnabled(part.id is not None)
        by_id.triggered.connect(lambda: clipboard.setText(part.id or ""))
        menu.addAction("Filter").triggered.connect(lambda: clipboard.setText(part.filter))
        menu.addSeparator()
        saving = menu.addAction(SAVE_AS)
        saving.setObjectName("saveMessage")
        saving.triggered.connect(lambda: self._links.save_requested.emit(part.message))
        return menu

    def _copy_json(self, message: int) -> None:
        QGuiApplication.clipboard().setText(
            self._client.answer_now(CopyMessages("json", np.array([message], np.uint32)))
        )

    # Lists

    def _list(self, part: ListPart) -> FittedList[Any]:
        themes, rows, name, label = self._themes, self._rows(part), part.name, _label(part)
        view: FittedList[Any]
        match part:
            case FactsPart():
                surface = "surface.inset" if part.in_card else "surface.base"
                view = FactsView(themes, rows, name=name, label=label, surface=surface, name_width=part.name_width)
            case SwitchedFactsPart():
                view = SwitchedFacts(themes, part, self._links)
            case ThreadPart():
                view = ThreadView(themes, rows, name=name, label=label)
            case ChainPart():
                view = ChainView(themes, rows, name=name, label=label)
                view.whole, view.took = part.whole, part.took
            case FiguresPart():
                view = FiguresView(themes, rows[0], rows[1:], name=name, label=label)
            case FindingPart():
                view = FindingSentence(themes, rows, part.severity, name=name)
        for signal in ("message_requested", "filter_requested", "column_requested", "place_requested"):
            getattr(view, signal).connect(getattr(self._links, signal))
        self._lists.append(view)
        return view

    def _rows(self, part: ListPart) -> Sequence[Any]:
        if isinstance(part, SwitchedFactsPart):
            return part.lists[0]
        if isinstance(part, FindingPart) and part.names_next and (key := self._links.key_of("go.problem_next")):
            return [*part.rows[:-1], replace(part.rows[-1], right=f"{key} next problem")]
        return part.rows

    def replace_rows(self, parts: Sequence[Part]) -> None:
        """Replaces the rows of all lists by those of a page with the same layout."""
        for view, part in zip(self._lists, _list_parts(parts), strict=True):
            if isinstance(view, SwitchedFacts) and isinstance(part, SwitchedFactsPart):
                view.replace_lists(part)
            elif isinstance(view, ChainView) and isinstance(part, ChainPart):
                shows_all = view.rows != part.rows and view.rows == view.whole
                view.whole = part.whole
                view.replace_rows(part.whole if shows_all and part.whole else part.rows)
            else:
                view.replace_rows(self._rows(part))


def layout_of(part: Part) -> Part:
    """Returns a part without the rows of its lists: pages with equal layouts differ in rows alone."""
    match part:
        case SectionPart() | CardPart():
            return structs.replace(part, body=list(map(layout_of, part.body)))
        case SwitchedFactsPart():
            return structs.replace(part, lists=[])
        case ChainPart():
            return structs.replace(part, rows=[], whole=[])
        case FactsPart() | FiguresPart() | FindingPart():
            return structs.replace(part, rows=[])
        case _:
            return part


def _list_parts(parts: Sequence[Part]) -> Iterator[ListPart]:
    for part in parts:
        match part:
            case SectionPart() | CardPart():
                yield from _list_parts(part.body)
            case FactsPart() | ChainPart() | ThreadPart() | FiguresPart() | FindingPart() | SwitchedFactsPart():
                yield part
            case _:
                pass


def _label(part: ListPart) -> str:
    return "" if isinstance(part, FindingPart) else part.label


class SwitchedFacts(FactsView):
    """Facts with a switch between two lists; `segments` goes into the section's head."""

    def __init__(self, themes: ThemeController, part: SwitchedFactsPart, links: Links) -> None:
        self._part = part
        self._choices = links.choices
        choice = links.choices.get(part.switch, part.choices[0])
        super().__init__(themes, part.lists[part.choices.index(choice)], name=part.name, label=part.label)
        self.segments = Segments(themes, part.choices, part.switch, part.switch_label)
        self.segments.choose(choice)
        self.segments.chosen.connect(self._on_chosen)

    def replace_lists(self, part: SwitchedFactsPart) -> None:
        """Replaces both lists."""
        self._part = part
        self.replace_rows(part.lists[part.choices.index(self.segments.choice)])

    def _on_chosen(self, choice: str) -> None:
        self._choices[self._part.switch] = choice
        self.replace_lists(self._part)


class _UserNote(QWidget):
    """A text with a vertical line at its left, in the colour of user annotations."""

    def __init__(self, themes: ThemeController, text: QWidget) -> None:
        super().__init__()
        self._themes = themes
        self.setObjectName("ownWords")
        unit = themes.theme.metrics.unit
        layout = QVBoxLayout(self)
        layout.setContentsMargins(3 * unit, unit // 2, 0, unit // 2)
        layout.addWidget(text)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        width = self._themes.theme.metrics.selection_bar
        QPainter(self).fillRect(0, 0, width, self.height(), self._themes.theme.color("accent.ring"))


def _pop_up(menu: QMenu, below: QWidget) -> None:
    """Opens a menu below the right end of a widget."""
    corner = below.mapToGlobal(QPoint(below.width(), below.height()))
    menu.popup(QPoint(corner.x() - menu.sizeHint().width(), corner.y()))


_SWITCHED = (ContentView, MarkdownText, SwitchedFacts)
"""Widgets with a switch for the head of their section."""
