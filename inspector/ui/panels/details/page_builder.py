"""Builds a page of the details from sections, rails, threads and notes, and connects their links."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget
from typing_extensions import override

from inspector.analysis.passes.user_marks import Note, Target
from inspector.analysis.views.account.unanswered import is_pending
from inspector.analysis.views.causes.chain import ChainStep
from inspector.present.chain_rows import ChainRow, chain_rows, missing_answer, turn_rows
from inspector.present.facts import Fact
from inspector.present.reasoning_facts import ThreadRow
from inspector.present.subject import Subject
from inspector.ui.input.keys import KeyWords
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.details.chain_view import ChainView, ThreadView
from inspector.ui.panels.details.facts_view import FactsView
from inspector.ui.panels.details.fitted_list import FittedList
from inspector.ui.panels.details.pictures import Pictures
from inspector.ui.panels.details.section import Card, LinkText, Section
from inspector.ui.panels.details.text_block import TextBlock

FORMATTED, TEXT = "Formatted", "Text"
"""Display modes of Markdown text."""


class Links(QObject):
    """Requests of sections to the panel.

    Attributes:
        pictures: decodes the pictures of messages.
        key_of: returns the key of an action id as text; "" for none.
        formatted: Markdown is shown formatted; the user can change it.

    Signals:
        message_requested(int): show this message.
        filter_requested(str, str): an expression, and its combination with the current filter (filter_menu.FilterMode).
        column_requested(str): add a field as a column of the table.
        scope_requested(int): bind the table to the context that this message opened or belongs to.
        save_requested(int): write this message's bytes to a file.
        place_requested(Place): show this context or participant.
        context_scope_requested(ContextPlace | None): bind the table to this context; None clears the scope.
        chain_requested(int): show only the causal chain of this message in the table.
        code_requested(str): show all findings of a code.
        mark_requested(Target), comment_requested(Target): mark or unmark a target; edit its comment.
        formatted_chosen(bool): the user chose formatted text, or plain text.
        tab_requested(str): switch to a tab.
        sees_requested(object): show the model context of a participant: (string id of the space, name).
    """

    message_requested = Signal(int)
    filter_requested = Signal(str, str)
    column_requested = Signal(str)
    scope_requested = Signal(int)
    save_requested = Signal(int)
    place_requested = Signal(object)
    context_scope_requested = Signal(object)
    chain_requested = Signal(int)
    sees_requested = Signal(object)
    code_requested = Signal(str)
    mark_requested = Signal(object)
    comment_requested = Signal(object)
    formatted_chosen = Signal(bool)
    tab_requested = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.pictures = Pictures(self)
        self.key_of: KeyWords = lambda _name: ""
        self.formatted = True

    def remember_choice(self, choice: str) -> None:
        """Remembers the user's choice between Formatted and Text for later messages."""
        if choice in (FORMATTED, TEXT) and self.formatted != (choice == FORMATTED):
            self.formatted = choice == FORMATTED
            self.formatted_chosen.emit(self.formatted)


class Maker:
    """Makes the widgets of one page; the page that receives them becomes their parent.

    Attributes:
        themes: source of fonts and colours.
        links: receives clicks on links.
    """

    def __init__(self, themes: ThemeController, links: Links) -> None:
        self.themes = themes
        self.links = links

    def section(self, label: str, *body: QWidget, name: str = "", action: QWidget | None = None) -> Section:
        name = name or "section" + "".join(word.capitalize() for word in label.split())
        return Section(self.themes, label, body, name=name, action=action)

    def card(self, *body: QWidget, name: str = "card") -> Card:
        return Card(self.themes, body, name)

    def facts(
        self, rows: Sequence[Fact], *, name: str, label: str, in_card: bool = False, name_width: int = 96,
        live: Callable[[], Sequence[Fact]] | None = None,
    ) -> FactsView:  # fmt: skip
        """Makes a list of facts; `live` rebuilds the same number of rows as the clock advances."""
        surface = "surface.inset" if in_card else "surface.base"
        view = FactsView(self.themes, rows, name=name, label=label, surface=surface, name_width=name_width)
        view.live = live
        return self._connect_links(view)

    def fact_card(
        self, rows: Sequence[Fact], *, name: str, label: str, name_width: int = 66,
        live: Callable[[], Sequence[Fact]] | None = None,
    ) -> Card:  # fmt: skip
        """Makes a card with a list of facts; `live` as for `facts`."""
        facts = self.facts(rows, name=name, label=label, in_card=True, name_width=name_width, live=live)
        return self.card(facts, name=f"{name}Card")

    def rail(self, rows: Sequence[ChainRow], *, label: str, name: str = "chain") -> ChainView:
        """Makes a list in the form of a chain."""
        return self._connect_links(ChainView(self.themes, rows, name=name, label=label))

    def text(self, text: str, *, name: str, label: str, markdown: bool = False, mono: bool = False) -> TextBlock:
        return TextBlock(self.themes, text, name=name, label=label, markdown=markdown, mono=mono)

    def link(self, words: str, act: Callable[[], object], *, name: str) -> LinkText:
        """Makes a link in small type."""
        button = LinkText(self.themes, words, name)
        # Without the lambda, `act` would receive whether the button is checked.
        button.clicked.connect(lambda: act())
        return button

    def _connect_links(self, view: Any) -> Any:
        assert isinstance(view, FittedList)
        view.message_requested.connect(self.links.message_requested)
        view.filter_requested.connect(self.links.filter_requested)
        view.column_requested.connect(self.links.column_requested)
        view.place_requested.connect(self.links.place_requested)
        return view


class Sheet(Maker):
    """Makes the widgets of a page about one message.

    Attributes:
        subject: the message.
    """

    def __init__(self, subject: Subject, themes: ThemeController, links: Links) -> None:
        super().__init__(themes, links)
        self.subject = subject

    def chain(
        self, steps: Sequence[ChainStep] | None = None, *, label: str = "Causal chain", took: bool = False
    ) -> ChainView:
        """Makes a causal chain, by default of the subject.

        Args:
            steps: replace the subject's own chain.
            label: accessible name.
            took: show each step's duration.
        """
        analysis, message = self.subject.analysis, self.subject.message
        found = self.subject.likely_chain.steps if steps is None else steps
        likely = self.subject.likely_chain.links if steps is None else ()
        rows = chain_rows(analysis, found, message, likely)
        missing = missing_answer(self.subject) if steps is None else []
        # The row of the missing answer already states the wait.
        if missing:
            rows = [replace(row, relation="asked", token="ink.tertiary") if row.own else row for row in rows]
        rows += missing
        short = [*turn_rows(analysis, found, message, likely), *missing] if steps is None and not missing else rows
        view = self.rail(short, label=label)
        view.whole = rows
        view.took = took
        if analysis.now_ns is not None and any(is_pending(analysis, step.message) for step in found):
            view.live = lambda: chain_rows(analysis, found, message, likely)
        return view

    def thread(self, rows: Sequence[ThreadRow], *, label: str, name: str) -> ThreadView:
        return self._connect_links(ThreadView(self.themes, rows, name=name, label=label))

    def chain_section(self, label: str = "Causal chain") -> list[QWidget]:
        """Makes the section of the chain; empty for a message without causes and effects."""
        if len(self.subject.likely_chain.steps) < 2:
            return [self.section(label, self.chain(label=label))] if missing_answer(self.subject) else []
        certain = len(self.subject.chain) > 1
        return [self.section(label, self.chain(label=label), action=self.alone_link() if certain else None)]

    def alone_link(self) -> LinkText:
        """Makes the link that shows only the chain in the table."""
        message = self.subject.message
        return self.link(
            "Show only this chain", lambda: self.links.chain_requested.emit(message), name="showChainAlone"
        )


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


def note_sections(maker: Maker, target: Target, note: Note) -> list[QWidget]:
    """Makes the section of a note, with a link to edit it.

    Args:
        maker: of the page.
        target: the message or context of the page.
        note: its mark and comment.
    """
    if not note:
        return []
    words = "Edit" if note.comment else "Comment"
    link = maker.link(words, lambda: maker.links.comment_requested.emit(target), name="editComment")
    label = "Your comment" if note.comment else "Marked"
    body: list[QWidget] = []
    if note.comment:
        body.append(_UserNote(maker.themes, maker.text(note.comment, name="comment", label="Comment")))
    section: Section = maker.section(label, *body, name="noteSection", action=link)
    return [section]
