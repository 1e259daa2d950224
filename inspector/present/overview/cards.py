"""Structs of the overview: cards with figures, bars, rows and links. All texts are masked and safe to show."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

Tone = Literal["plain", "quiet", "good", "bad", "warn"]
Sort = Literal["model", "tools", "allowed", "person", "between"]
"""Sorts of time in a bar."""

CONVERSATION, STEPS, MESSAGES, MODEL_SEES, FILES = "conversation", "steps", "messages", "model_sees", "files"
"""Ids of views that links lead to; a document without the view shows its messages."""


class Link(msgspec.Struct, frozen=True):
    """Target of a link: a view, with a message or a filter; or a panel.

    Attributes:
        view: id of a view; "" stays with the default for the target.
        message: message to select.
        filter: display filter to apply.
        panel: title of a panel, or "settings:" with the id of a page of the settings.
        columns: fields that the table shows besides its columns.
    """

    view: str = ""
    message: int | None = None
    filter: str | None = None
    panel: str = ""
    columns: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """Describes the target for a tooltip and a screen reader."""
        if self.message is not None:
            return f"Go to No. {self.message + 1}"
        if self.filter is not None:
            return "Show only these messages"
        if self.panel.startswith("settings:"):
            return "Open the settings"
        name = self.panel or self.view.replace("_", " ")
        return f"Show {name[:1].upper()}{name[1:]}"


class Words(msgspec.Struct, frozen=True):
    """Some words of one look.

    Attributes:
        text: the words.
        tone: their meaning.
        strong: semibold.
        mono: in the monospace face.
        pill: on a tinted ground, in the colour of the tone.
        icon: name of an icon in place of the words, which then are its name for screen readers; "".
        link: their target, if they are a link.
    """

    text: str
    tone: Tone = "plain"
    strong: bool = False
    mono: bool = False
    pill: bool = False
    icon: str = ""
    link: Link | None = None


Line = tuple[Words, ...]


def line_text(line: Line) -> str:
    """Returns the words of a line as one text with single blanks."""
    return " ".join("".join(f" {one.text} " if one.icon or one.pill else one.text for one in line).split())


class Row(msgspec.Struct, frozen=True):
    """One line of a card.

    Attributes:
        key: identifies it between two answers.
        label: words of the first column; empty for a line of text.
        words: words after it.
        share: length of the bar after the label, if any, 0 to 1.
        end: words at the right end.
        lines: height that it has at least, in lines: words that come later move no other line.
    """

    key: str
    label: Line = ()
    words: Line = ()
    share: float | None = None
    end: Line = ()
    lines: int = 1

    @property
    def text(self) -> str:
        """All words as one text."""
        return "  ".join(filter(None, map(line_text, (self.label, self.words, self.end))))


class Section(msgspec.Struct, frozen=True):
    """Rows under a heading; "" without one."""

    heading: str
    rows: tuple[Row, ...]


class Part(msgspec.Struct, frozen=True):
    """A part of the bar of time."""

    sort: Sort
    value: float


class Curve(msgspec.Struct, frozen=True):
    """Reported size of a context over time.

    Attributes:
        places: positions from 0 to 1, ascending.
        tokens: tokens at each.
    """

    places: tuple[float, ...]
    tokens: tuple[int, ...]


class Card(msgspec.Struct, frozen=True):
    """One card.

    Attributes:
        id: stable identity.
        title: its question.
        sections: its rows.
        figure: the large figure; "" without one.
        unit: words below or beside the figure.
        bar: parts of the bar beside the figure.
        bar_words: words below the bar.
        curve: the curve beside the figure.
        corner: link at the right end of the title.
        wide: it takes all columns.
    """

    id: str
    title: str
    sections: tuple[Section, ...] = ()
    figure: str = ""
    unit: Line = ()
    bar: tuple[Part, ...] = ()
    bar_words: Line = ()
    curve: Curve | None = None
    corner: Words | None = None
    wide: bool = False

    @property
    def texts(self) -> list[str]:
        """All texts of the card, a line each."""
        head = " ".join(filter(None, (self.figure, line_text(self.unit))))
        lines = [head, line_text(self.bar_words)]
        for section in self.sections:
            lines += [section.heading, *(row.text for row in section.rows)]
        return [line for line in lines if line]


class Overview(msgspec.Struct, frozen=True):
    """The overview of a document.

    Attributes:
        above: program, model and time, in one line.
        title: first prompt or name.
        below: later prompts and the answer.
        cards: the cards in reading order.
        is_arriving: messages arrive.
        is_comparable: there are runs of one task to compare.
    """

    above: str
    title: str
    below: Line = ()
    cards: tuple[Card, ...] = ()
    is_arriving: bool = False
    is_comparable: bool = False

    @property
    def texts(self) -> list[str]:
        """All texts, a line each."""
        lines = [self.above, self.title, line_text(self.below)]
        for card in self.cards:
            lines += [card.title, *card.texts]
        return [line for line in lines if line]


def overview_json(overview: Overview) -> list[dict[str, Any]]:
    """Returns the cards as plain objects: id, title and lines of text."""
    return [{"id": card.id, "title": card.title, "lines": card.texts} for card in overview.cards]
