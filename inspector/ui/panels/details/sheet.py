"""One page being filled for one message: makes sections and wires their links."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from inspector.analysis.chain import ChainStep
from inspector.protocol.payloads.tables import compact
from inspector.ui.panels.details.chain_view import ChainView, Link, links_of
from inspector.ui.panels.details.facts import Fact, FactsView, Part, fact
from inspector.ui.panels.details.rows import RowsView
from inspector.ui.panels.details.section import Card, LinkText, Section
from inspector.ui.panels.details.subject import Subject
from inspector.ui.panels.details.text_block import TextBlock
from inspector.ui.theme import ThemeController

_MOST_FACTS = 60


class Links(QObject):
    """What sections ask of the panel.

    Signals:
        message_requested(int): show this message.
        filter_requested(str): apply this display filter.
        scope_requested(int): bind the table to the context this message opened or is in.
        save_requested(int): write this message's bytes to a file.
    """

    message_requested = Signal(int)
    filter_requested = Signal(str)
    scope_requested = Signal(int)
    save_requested = Signal(int)


class Sheet:
    """Makes the widgets of one page; the page that takes them becomes their parent.

    Attributes:
        subject: the message.
        themes: gives fonts and colours.
        links: where links go.
    """

    def __init__(self, subject: Subject, themes: ThemeController, links: Links) -> None:
        self.subject = subject
        self.themes = themes
        self.links = links

    def section(self, label: str, *body: QWidget, name: str = "", action: QWidget | None = None) -> Section:
        """A labelled section."""
        name = name or "section" + "".join(word.capitalize() for word in label.split())
        return Section(self.themes, label, body, name=name, action=action)

    def card(self, *body: QWidget, name: str = "card") -> Card:
        """A card."""
        return Card(self.themes, body, name)

    def facts(
        self, rows: Sequence[Fact], *, name: str, label: str, in_card: bool = False, name_width: int = 96
    ) -> FactsView:
        """Names and values."""
        surface = "surface.inset" if in_card else "surface.base"
        view = FactsView(self.themes, rows, name=name, label=label, surface=surface, name_width=name_width)
        return self._wired(view)

    def fact_card(self, rows: Sequence[Fact], *, name: str, label: str, name_width: int = 66) -> Card:
        """Names and values in a card."""
        return self.card(
            self.facts(rows, name=name, label=label, in_card=True, name_width=name_width), name=f"{name}Card"
        )

    def chain(self, steps: Sequence[ChainStep] | None = None, *, label: str = "Causal chain") -> ChainView:
        """A causal chain, the subject's own by default."""
        found = self.subject.chain if steps is None else steps
        return self.rail(links_of(self.subject.analysis, found, self.subject.message), label=label)

    def rail(self, rows: Sequence[Link], *, label: str, name: str = "chain") -> ChainView:
        """Rows in the form of a chain."""
        return self._wired(ChainView(self.themes, rows, name=name, label=label))

    def chain_section(self, label: str = "Causal chain") -> list[QWidget]:
        """The chain as a section; nothing when the message stands alone."""
        if len(self.subject.chain) < 2:
            return []
        return [self.section(label, self.chain(label=label))]

    def text(self, text: str, *, name: str, label: str, markdown: bool = False, mono: bool = False) -> TextBlock:
        """A message's text."""
        return TextBlock(self.themes, text, name=name, label=label, markdown=markdown, mono=mono)

    def link(self, words: str, act: Callable[[], object], *, name: str) -> LinkText:
        """A link in small type."""
        button = LinkText(self.themes, words, name)
        button.clicked.connect(lambda: act())
        return button

    def _wired(self, view: Any) -> Any:
        assert isinstance(view, RowsView)
        view.message_requested.connect(self.links.message_requested)
        view.filter_requested.connect(self.links.filter_requested)
        return view


def value_facts(values: Mapping[str, Any], *, lines: int = 4, skip: Sequence[str] = ()) -> list[Fact]:
    """A JSON object as names and values in mono; at most 60 rows."""
    rows = [
        fact(str(key), _value_text(value), "mono", lines=lines, mono_name=True)
        for key, value in list(values.items())[:_MOST_FACTS]
        if key not in skip
    ]
    hidden = len(values) - _MOST_FACTS
    if hidden > 0:
        rows.append(fact("", f"{hidden} more, see Tree", "dim"))
    return rows


def _value_text(value: Any) -> str:
    if isinstance(value, str):
        return value if not value.endswith("\n") else value.rstrip("\n") + "⏎"
    return compact(value)


def message_part(message: int) -> Part:
    """A link to a message."""
    return Part(f"No. {message + 1}", "link", message)


def words_fact(text: str, *, lines: int = 6) -> Fact:
    """A sentence over the whole width."""
    return fact("", text, "plain", lines=lines)
