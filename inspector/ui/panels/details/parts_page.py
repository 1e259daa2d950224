"""Page of the details that is made from parts."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from PySide6.QtWidgets import QWidget

from inspector.present.pages.parts import Part
from inspector.present.places import ContextPlace
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.details.links import Links
from inspector.ui.panels.details.page_builder import PageBuilder, layout_of
from inspector.ui.panels.details.section import Page
from inspector.ui.widgets.latest_answer import Client


class PartsPage(Page):
    """Page of parts. If its layout stays the same, only rows change, so that nothing jumps during traffic.

    Attributes:
        key: the message, context or participant shown; None before the first.
    """

    def __init__(
        self, themes: ThemeController, links: Links, client: Client, title: str, parent: QWidget | None = None
    ) -> None:  # fmt: skip
        """Creates an empty page; `title` is its accessible name."""
        super().__init__(themes, f"{title.lower()}Page", title, parent)
        self._links, self._client = links, client
        self.key: Hashable = None
        self._parts: Sequence[Part] = ()
        self._builder = PageBuilder(themes, links, client)

    def show_parts(self, key: Hashable, parts: Sequence[Part]) -> bool:
        """Shows parts; keeps the scroll position for the same key. Returns True if they differ from those shown."""
        same, shown = key == self.key, self._parts
        self.key, self._parts = key, parts
        if same and parts == shown:
            self._builder.replace_rows(parts)
            return False
        if same and list(map(layout_of, parts)) == list(map(layout_of, shown)):
            self._builder.replace_rows(parts)
        else:
            self._build(parts, keep_place=same)
        return True

    def rebuild(self) -> None:
        """Makes all widgets again, for another theme; those of a hidden page once it is shown."""
        if self.isVisible() and self._parts:
            self._build(self._parts, keep_place=True)
        else:
            self._parts = ()

    def show_scope(self, scope: ContextPlace | None) -> None:
        """Sets the table's scope."""
        self._builder.show_scope(scope)

    def _build(self, parts: Sequence[Part], *, keep_place: bool) -> None:
        # A refill deletes the old widgets with their sections.
        self._builder = PageBuilder(self._themes, self._links, self._client, self._builder.scoped)
        self.show_sections(list(map(self._builder.widget, parts)), keep_place=keep_place)
