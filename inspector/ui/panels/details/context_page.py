"""Details page of a context: state and reason, authors, start and end."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QWidget
from shiboken6 import isValid

from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.passes.user_marks import ContextTarget
from inspector.analysis.views.summaries.context_summary import ContextTally
from inspector.document.document import CaptureDocument
from inspector.present.context_facts import ContextSubject, FactSection, context_sections
from inspector.present.head_words import resolve_node
from inspector.present.subject import ContextPlace
from inspector.protocol.secrets.masking import mask_text
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.details.facts_view import FactsView
from inspector.ui.panels.details.page_builder import Links, Maker, note_sections
from inspector.ui.panels.details.section import LinkText, Page

_NAME_WIDTH = 78


class ContextPage(Page):
    """Facts of one context. If the sections stay the same, only their rows change."""

    def __init__(self, themes: ThemeController, links: Links, parent: QWidget | None = None) -> None:
        super().__init__(themes, "contextPage", "Context", parent)
        self._links = links
        self._maker = Maker(themes, links)
        self._subject: ContextSubject | None = None
        self._tally: ContextTally | None = None
        self._scoped: tuple[int, int] | None = None
        self._scope_link: LinkText | None = None
        self._shown: list[tuple[str, str]] = []
        self._views: dict[str, FactsView] = {}

    def show_context(self, document: CaptureDocument, place: ContextPlace, *, keep_place: bool) -> None:
        """Fills the page.

        Args:
            document: the document of the context.
            place: the context; a merged one is replaced by its target.
            keep_place: keeps the scroll position of a page shown before.
        """
        node = resolve_node(document.analysis, place)
        tally = self._tally
        # A tally counts incrementally, so keep it while the same context is shown.
        if tally is None or not keep_place or (tally.space, tally.node) != (place.space, node):
            tally = self._tally = ContextTally(document.analysis, place.space, node)
        tally.update()
        self._subject = ContextSubject(document, place.space, node, tally)
        blocks = context_sections(self._subject)
        target = ContextTarget(place.space, node)
        note = document.analysis.marks.note(target)
        shown = [("note", f"{note.marked} {note.comment}"), *((block.name, block.label) for block in blocks)]
        # Same sections: change rows in place, so that nothing jumps during traffic.
        if keep_place and shown == self._shown:
            for block in blocks:
                self._views[block.name].replace_rows(block.rows)
            self._update_scope_link()
            return
        self._shown = shown
        self._views = {}
        sections = [*note_sections(self._maker, target, note), self._actions(), *map(self._section, blocks)]
        self.show_sections(sections, keep_place=keep_place)

    def _section(self, block: FactSection) -> QWidget:
        maker = self._maker
        name = f"{block.name}Rows"
        view = maker.facts(block.rows, name=name, label=block.label, in_card=block.card, name_width=_NAME_WIDTH)
        self._views[block.name] = view
        body = maker.card(view, name=f"{block.name}Card") if block.card else view
        return maker.section(block.label, body, name=block.name)

    def _actions(self) -> QWidget:
        """Returns the row of action links."""
        row = QWidget()
        row.setObjectName("contextActions")
        row.setAccessibleName("Actions")
        layout = QHBoxLayout(row)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4 * self._themes.theme.metrics.unit)
        acts: list[tuple[str, str, Callable[[], object]]] = [
            ("Scope to this context", "contextScope", self._request_scope),
            ("Filter by this", "contextFilter", self._request_filter),
        ]
        if self._subject is not None and self._subject.node != MAIN:
            acts.append(("Copy path", "contextCopyPath", self._copy_path))
        links = [self._maker.link(words, act, name=name) for words, name, act in acts]
        for link in links:
            layout.addWidget(link)
        self._scope_link = links[0]
        self._update_scope_link()
        layout.addStretch(1)
        return row

    def show_scope(self, scope: tuple[int, int] | None) -> None:
        """Sets the table's scope (space and node); the page of this context then offers to clear it."""
        self._scoped = scope
        self._update_scope_link()

    @property
    def _is_scoped(self) -> bool:
        return self._subject is not None and (self._subject.space, self._subject.node) == self._scoped

    def _update_scope_link(self) -> None:
        link = self._scope_link
        # A refill of the page deletes the old link with its section.
        if link is not None and isValid(link):
            link.setText("Clear scope" if self._is_scoped else "Scope to this context")
            link.setAccessibleName(link.text())
            link.updateGeometry()

    def _request_scope(self) -> None:
        if self._subject is not None:
            place = ContextPlace(self._subject.space, self._subject.node)
            self._links.context_scope_requested.emit(None if self._is_scoped else place)

    def _request_filter(self) -> None:
        if self._subject is not None:
            self._links.filter_requested.emit(self._subject.filter, "replace")

    def _copy_path(self) -> None:
        if self._subject is not None:
            QGuiApplication.clipboard().setText(mask_text(self._subject.path))
