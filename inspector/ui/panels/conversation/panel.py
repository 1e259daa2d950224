"""Conversation panel of one document: assembles side pane, cards, spine and find bar; keeps the selection in step."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec
import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, QUrl, Signal
from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QMenu, QVBoxLayout, QWidget
from typing_extensions import override

from inspector.engine.request import Request
from inspector.engine.requests.agents import ListAgents
from inspector.engine.requests.conversation import OutlineConversation
from inspector.engine.requests.files import ListFiles
from inspector.engine.requests.filters import Scope
from inspector.engine.requests.turns import ListTurns, Turns
from inspector.present import formats
from inspector.present.conversation.cards import CardKind
from inspector.present.conversation.outline import Outline, OutlineOptions
from inspector.ui import intervals
from inspector.ui.dialogs.link_question import ask_to_open
from inspector.ui.input.keys import KeyWords
from inspector.ui.look.paint_cache import PaintCache
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.conversation.card_layouts import OPEN, SCOPE
from inspector.ui.panels.conversation.card_menu import copy_cards, popup_card_menu
from inspector.ui.panels.conversation.card_parts import MORE, PICTURE
from inspector.ui.panels.conversation.find import HIDING, ConversationFind, ReadingPlace
from inspector.ui.panels.conversation.heads import PlainHead
from inspector.ui.panels.conversation.inline_pictures import InlinePictures
from inspector.ui.panels.conversation.model import ConversationModel
from inspector.ui.panels.conversation.side import SidePane
from inspector.ui.panels.conversation.spine import Spine
from inspector.ui.panels.conversation.view import GLOBAL, ConversationView
from inspector.ui.panels.list_panel import ShownMessages
from inspector.ui.panels.messages.new_messages_pill import NewPill
from inspector.ui.widgets.latest_answer import AnswerT, Client, LatestAnswer

_SIDE_SHARE, _SIDE_LEAST, _SIDE_MOST = 0.28, 190, 320
_SIDE_FROM = 640
"""Width from which the turns are shown."""
_REST = 10
"""The outline takes at most this fraction of the time."""
_UNFOLDABLE = (CardKind.FOLD, CardKind.RECORDS, CardKind.AGENT, CardKind.INHERITED)


class ConversationPanel(QWidget):
    """Reads a session as a text.

    Signals:
        message_requested(int): select this message.
        files_requested(): show all files.
        details_requested(int): show a message's details.
        scope_requested(int): make the context that this message opened the scope.
        agent_chosen(int, int): follow the agent with this first message and context.
        end_left(): the user has scrolled away from the end.
        outside_selected(int): this message was selected elsewhere, and is not in the context shown alone.
        json_requested(int): copy this message as JSON.
        global_requested(int): make this message of a sub-session global, or take that back.
        export_requested(): write the conversation as a page.
        menu_opening(QMenu, int): the menu of a card opens; others add their acts for its message.

    Attributes:
        model, view, spine, side, head, find_in_text: its parts.
        export: the button that asks for a page; hidden until somebody writes it.
        outline, turns, files, agents: the latest answers.
    """

    message_requested = Signal(int)
    files_requested = Signal()
    details_requested = Signal(int)
    scope_requested = Signal(int, int)
    agent_chosen = Signal(int, int)
    end_left = Signal()
    outside_selected = Signal(int)
    json_requested = Signal(int)
    global_requested = Signal(int)
    export_requested = Signal()
    menu_opening = Signal(QMenu, int)

    def __init__(
        self, client: Client, themes: ThemeController, shown: ShownMessages, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._client, self._themes, self._shown = client, themes, shown
        self._options = OutlineOptions()
        self._scope: Scope | None = None
        self._alone: Scope | None = None
        self._current: int | None = None
        self._is_selecting = self._stopped = False
        self._after: list[Callable[[], object]] = []
        self._was_at_end = False
        self._key_words: KeyWords = lambda _name: ""
        self.setObjectName("conversationPanel")
        self.setAccessibleName("Conversation")
        self.setProperty("variant", "base")
        self.model = ConversationModel(client, self)
        self.view = ConversationView(self.model, themes, self)
        self.pictures = InlinePictures(client, self)
        self.view.image_of = self.pictures.image
        self.spine = Spine(self.view, themes, self)
        self.head = PlainHead(themes, is_chrome=False, parent=self)
        self.thoughts = self.head.add_switch("ri.lightbulb-line", "Open all thoughts", "conversationThoughts")
        self.results = self.head.add_switch("ri.terminal-box-line", "Fold all results", "conversationResults")
        self.export = self.head.add_button("export", "Export the conversation", "conversationExport")
        self.export.clicked.connect(lambda *_checked: self.export_requested.emit())
        self.export.hide()
        self.side = SidePane(client, themes, self)
        self._paints = PaintCache(themes.theme, self.devicePixelRatioF())
        self.pill = NewPill(self._paints, self.view)
        self._seen_message = -1  # later ones are new
        self.find_in_text = ConversationFind(client, self.model, self.view, self, themes, self)
        self._lay_out()
        self.setFocusProxy(self.view)
        self.outline = LatestAnswer(
            self, client, self._question, self._show_outline, every_ms=lambda: intervals.LISTS_MS, rest=_REST
        )

        def figures(
            question: Callable[[], Request[AnswerT]], show: Callable[[AnswerT], object]
        ) -> LatestAnswer[AnswerT]:
            return LatestAnswer(
                self, client, question, show, every_ms=lambda: intervals.FIGURES_MS, rest=_REST,
                ready=lambda: self.model.outline is not None,
            )  # fmt: skip

        # Asked after the cards.
        self.turns = figures(ListTurns, self._show_turns)
        self.files = figures(ListFiles, self.side.show_files)
        self.agents = figures(ListAgents, self.side.show_agents)
        for latest in (self.files, self.agents):
            latest.answered.connect(self._fit_side)
        self._connect()

    def _lay_out(self) -> None:
        middle = QVBoxLayout()
        middle.setSpacing(0)
        middle.addWidget(self.head)
        middle.addWidget(self.find_in_text.bar)
        middle.addWidget(self.view, 1)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self.side)
        row.addLayout(middle, 1)
        row.addWidget(self.spine)
        self.side.hide()

    def _connect(self) -> None:
        view = self.view
        view.scrolled.connect(self._on_scrolled)
        view.acted.connect(self._act)
        view.picked.connect(self._on_picked)
        view.link_asked.connect(lambda address: ask_to_open(QUrl(address), self))
        view.menu_asked.connect(self._show_menu)
        self.pictures.arrived.connect(lambda message: view.relay(self.model.row_of_message(message)))
        self._themes.changed.connect(self._on_theme_changed)
        self.pill.clicked.connect(view.scroll_to_end)
        self.pill.clicked.connect(self._on_scrolled)
        self.spine.row_requested.connect(self.go_to_row)
        self.thoughts.toggled.connect(self._open_thoughts)
        self.results.toggled.connect(self._fold_results)
        side = self.side
        side.turns_view.turn_requested.connect(self.go_to_turn)
        side.turns_view.left.connect(view.setFocus)
        side.message_requested.connect(self.go_to_message)
        side.files_requested.connect(self.files_requested)
        side.agent_chosen.connect(self.agent_chosen)
        side.scope_requested.connect(lambda row: self.scope_requested.emit(*side.node_of_agent(row)))

    def _on_theme_changed(self) -> None:
        self._paints.use_theme(self._themes.theme)
        self.pill.use_theme()

    # Input from panels

    def show_message(self, message: int | None) -> None:
        """Moves to a selected message, unless it was selected here."""
        self._current = message
        self.side.at = -1 if message is None else message
        if message is not None and self._alone is not None and not self._is_selecting and self._is_outside(message):
            self.outside_selected.emit(message)
        self._move_to_current()

    def _move_to_current(self) -> None:
        message = self._current
        if message is None or self._is_selecting or self._stopped or not self.isVisible():
            return
        row = self.model.row_of_message(message)
        if row >= 0 and row != self.view.currentIndex().row():
            self.view.show_row(row)

    def _is_outside(self, message: int) -> bool:
        return self.model.outline is not None and self.model.row_of_message(message) < 0

    def show_scope(self, scope: Scope | None) -> None:
        """Shows the conversation of a context or a space alone; None for all."""
        self._scope = scope
        self._choose_scope()

    def show_alone(self, scope: Scope | None, then: Callable[[], object] = lambda: None) -> None:
        """Shows a context alone, whatever the scope of other views; None to follow that scope again.

        `then` is called once it is shown.
        """
        self._alone = scope
        self._choose_scope(then)
        self._fit_side()

    def when_shown(self, act: Callable[[], object]) -> None:
        """Calls a function once the next outline is shown."""
        self._after.append(act)

    def _choose_scope(self, then: Callable[[], object] = lambda: None) -> None:
        options, scope = self._options, self._alone or self._scope
        if scope is None:
            changed = msgspec.structs.replace(options, scope=None, space=None)
        else:
            space = scope.space if scope.source is None else None
            changed = msgspec.structs.replace(options, scope=scope.node, reach=scope.reach, space=space)
        if changed != options:
            self._options, self._seen_message = changed, -1
            self.when_shown(then)
            self.outline.request_now()
        else:
            then()

    def show_records(self, on: bool) -> None:
        """Shows or hides records that programs wrote for themselves."""
        if on != self._options.shows_records:
            self._options = msgspec.structs.replace(self._options, shows_records=on)
            self.outline.request_now()

    def follow(self, on: bool) -> None:
        """Stays at the end while messages come, or stops doing so."""
        if on and not self.view.at_end:
            self.view.scroll_to_end()

    def show_keys(self, words: KeyWords) -> None:
        """Shows the current shortcuts in the head."""
        self._key_words = words
        self.find_in_text.bar.show_keys(words)
        self._show_head()

    def stop(self) -> None:
        """Ends all requests."""
        self._stopped = True
        for latest in (self.outline, self.turns, self.files, self.agents):
            latest.stop()
        self.find_in_text.stop()
        self.pictures.stop()

    # Answers

    def _question(self) -> OutlineConversation:
        if self.model.outline is not None:
            return OutlineConversation(self._options)
        return OutlineConversation(self._options, near=max(0, self._current or 0))

    def _show_outline(self, outline: Outline) -> None:
        is_first = self.model.outline is None
        self._options = msgspec.structs.replace(self._options, unfolded=outline.unfolded, reveals=())
        # Without prompts of a person, several talk to one another.
        self.view.shows_senders = not np.any(outline.kinds == CardKind.PROMPT)
        self.model.show(outline)
        self.spine.show_contexts(outline.contexts)
        self.show_ticks()
        if is_first and self._current is not None and self._current >= 0:
            row = self.model.row_of_message(self._current)
            if row >= 0:
                self.view.show_row(row)
        self._count_new()
        acts, self._after = self._after, []
        for act in acts:
            act()
        self._show_head()
        if is_first:
            for latest in (self.turns, self.files, self.agents):
                latest.request_now()
        if outline.is_partial:
            self.outline.request_now()

    def _show_turns(self, turns: Turns) -> None:
        self.side.show_turns(turns)
        self._fit_side()
        self._show_head()

    def show_ticks(self) -> None:
        """Shows failures, prompts and search hits in the spine."""
        self.spine.show_ticks(self.model.failed_rows, self.model.prompt_rows, self.find_in_text.rows())

    def _count_new(self) -> None:
        """Shows the number of new cards below, unless the view is at the end."""
        outline, state = self.model.outline, self._client.state
        if outline is None or not len(outline):
            return
        if self.view.at_end or self._seen_message < 0 or state.has_backlog or not state.may_grow:
            self._seen_message = int(outline.messages.max())
        self.pill.show_count(int(np.count_nonzero(outline.messages > self._seen_message)))

    # Head

    def _on_scrolled(self) -> None:
        if self._was_at_end and not self.view.at_end:
            self.end_left.emit()
        self._was_at_end = self.view.at_end
        self.model.prefetch(self.view.rows_in_sight())
        if self._was_at_end and not self.pill.isHidden():
            self._count_new()
        self._show_head()

    def turn_in_sight(self) -> int:
        """Returns the turn of the current card if it is in sight, else of the topmost one; -1 before the first."""
        outline, seen = self.model.outline, self.view.rows_in_sight()
        if outline is None or not len(seen) or seen.start >= len(outline):
            return -1
        whole, current = self.view.whole_in_sight, self.view.currentIndex().row()
        row = current if current in whole else whole[0] if whole else seen.start
        return int(outline.turns[row])

    def _show_head(self) -> None:
        """Shows the turn in sight."""
        turns_model = self.side.turns_model
        number, turns, count = self.turn_in_sight(), turns_model.turns, turns_model.count
        self.side.turns_view.mark_turn(number)
        hints = self._hints()
        if turns is not None and 0 <= number < count:
            turn = turns[number]
            facts = [f"{formats.clock(turn.starts_ns)} to {formats.clock(turn.stops_ns)}"
                     if formats.clock(turn.starts_ns) and formats.clock(turn.stops_ns) else ""]  # fmt: skip
            first, last = turns.contexts[number].tolist()
            grown = f"context {formats.short_count(first)}" if first >= 0 else ""
            facts.append(f"{grown} → {formats.short_count(last)}" if 0 <= first != last else grown)
            facts.append("" if np.isnan(turn.dollars) else formats.dollars(turn.dollars))
            self.head.show_words(f"Turn {number + 1}", " · ".join(fact for fact in facts if fact), hints)
            return
        title = "Before the first prompt" if count and len(self.model) else "Conversation"
        self.head.show_words(title, formats.count_of(len(self.model), "card") if not count else "", hints)

    def _hints(self) -> str:
        """Returns the keys of turns and failures in words."""
        next_turn, last_turn = (self._key_words(f"conversation.turn_{way}") for way in ("next", "previous"))
        failure = self._key_words("conversation.failure_next") if len(self.model.failed_rows) else ""
        hints = [f"{next_turn} {last_turn} turns"] if next_turn and last_turn and self.side.turns_model.count else []
        return "  ".join(hints + ([f"{failure} next failure"] if failure else []))

    # Moves

    def go_to_row(self, row: int) -> None:
        """Moves to a card and selects it."""
        if 0 <= row < len(self.model):
            self.view.show_row(row)
            self._on_picked(row, False)

    def go_to_turn(self, number: int) -> None:
        """Moves to a turn: its prompt comes to the top."""
        outline = self.model.outline
        if outline is None:
            return
        rows = self.model.prompt_rows
        rows = rows[outline.turns[rows] == number]
        if len(rows):
            self._place_at_top(int(rows[0]))

    def step_turn(self, step: int) -> None:
        """Moves to the next (1) or previous (-1) turn."""
        self._step_rows(self.model.prompt_rows, step)

    def step_failure(self, step: int) -> None:
        """Moves to the next (1) or previous (-1) failure, and unfolds what hides it."""
        outline = self.model.outline
        if outline is None or not len(outline.failures):
            return
        at = self._current_row()
        here = int(outline.messages[at]) if at >= 0 else -1
        rows, failures = outline.items[outline.failures], outline.failures
        later = (rows > at) | (rows == at) & (failures > here)
        places = np.flatnonzero(later if step > 0 else (rows < at) | (rows == at) & (failures < here))
        if len(places):
            message = int(failures[places[0] if step > 0 else places[-1]])
            self.go_to_message(message)

    def go_to_message(self, message: int) -> None:
        """Moves to the card of a message, and unfolds what hides it."""
        self.show_or_reveal(message, lambda: self.go_to_row(self.model.row_of_message(message)))

    def show_or_reveal(self, message: int, then: Callable[[], object]) -> None:
        """Acts on the card of a message, after unfolding what hides it. One outside of the scope is only selected."""
        outline, row = self.model.outline, self.model.row_of_message(message)
        if outline is None or row < 0:
            self.message_requested.emit(message)
            return
        if outline.messages[row] != message and not outline.is_open[row] and outline.kinds[row] in HIDING:
            self.reveal(message, then)
        else:
            then()

    def _step_rows(self, rows: NDArray[np.int64], step: int) -> None:
        current = self._current_row()
        places = np.flatnonzero(rows > current) if step > 0 else np.flatnonzero(rows < current)
        if len(places):
            self._place_at_top(int(rows[places[0] if step > 0 else places[-1]]))

    def _place_at_top(self, row: int) -> None:
        self.view.place_at_top(row)
        self.view.show_row(row, quietly=True)
        self._on_picked(row, False)

    def _current_row(self) -> int:
        """Returns the current card if it is in sight, else the topmost one."""
        row, seen = self.view.currentIndex().row(), self.view.rows_in_sight()
        if row in seen or not len(seen):
            return row
        return seen.start

    def _on_picked(self, row: int, clicked: bool) -> None:
        outline = self.model.outline
        if outline is None or not 0 <= row < len(outline):
            return
        self._show_head()
        message = int(outline.messages[row])
        if self._current is not None and self.model.row_of_message(self._current) == row and not clicked:
            return
        # Keys do not remove a filter that hides the message; a click does.
        if clicked or self._shown.row_of(message) is not None:
            self._is_selecting = True
            try:
                self.message_requested.emit(message)
            finally:
                self._is_selecting = False

    # Acts

    def _act(self, row: int, act: str) -> None:
        outline = self.model.outline
        if outline is None or not 0 <= row < len(outline):
            return
        name, _, argument = act.partition(":")
        if name == OPEN:
            self.open_row(row)
        elif name == MORE:
            self._show_whole(row)
        elif name == SCOPE:
            self.scope_requested.emit(int(outline.messages[row]), int(outline.opens[row]))
        elif name == PICTURE:
            self.details_requested.emit(int(argument))
        elif name == GLOBAL:
            self.global_requested.emit(int(outline.messages[row]))
        elif name == "copy":
            self.copy(row)

    def open_row(self, row: int) -> None:
        """Opens or closes a card, or shows or hides the steps below it."""
        outline, (kind, message) = self.model.outline, self.model.key(row)
        if outline is None:
            return
        if kind in _UNFOLDABLE:
            self._change_options("unfolded", message, on=not outline.is_open[row])
        elif kind == CardKind.GROUP:
            self._change_options("folded", message, on=bool(outline.is_open[row]))
        elif kind in (CardKind.THOUGHT, CardKind.CALL):
            key = kind, message
            self.model.opened ^= {key}
            if self.model.is_open(row) and kind == CardKind.CALL:
                self.model.whole.add(key)
            else:
                self.model.whole.discard(key)
            self.model.invalidate_card(key)
            self.view.relay(row)
        else:
            self._show_whole(row)

    def _show_whole(self, row: int) -> None:
        key = self.model.key(row)
        if key not in self.model.whole:
            self.model.whole.add(key)
            self.model.invalidate_card(key)
            self.view.relay(row)

    def reading_place(self) -> ReadingPlace:
        """Returns the scroll position and the open cards."""
        row, top, at_end = self.view.place
        key = self.model.key(row) if row < len(self.model) else None
        opened, whole = frozenset(self.model.opened), frozenset(self.model.whole)
        return ReadingPlace(key, top, at_end, self._options.unfolded, self._options.folded, opened, whole)

    def restore_place(self, place: ReadingPlace) -> None:
        """Closes and opens cards and folds as they were, and scrolls back."""
        model, options = self.model, self._options
        changed = model.opened ^ place.opened | model.whole ^ place.whole
        model.opened, model.whole = set(place.opened), set(place.whole)
        for key in changed:
            model.invalidate_card(key)
            self.view.relay(model.row_of_key(key))

        def scroll_back() -> None:
            row = model.row_of_key(place.key) if place.key is not None else -1
            if row >= 0:
                self.view.return_to((row, place.top, place.at_end))

        if (options.unfolded, options.folded) == (place.unfolded, place.folded):
            scroll_back()
            return
        self._options = msgspec.structs.replace(options, unfolded=place.unfolded, folded=place.folded, reveals=())
        self.when_shown(scroll_back)
        self.outline.request_now()

    def open_as(self, before: ConversationPanel, found: Mapping[int, int]) -> None:
        """Opens the cards that another reading of the document has opened.

        Args:
            before: the conversation of that reading.
            found: the messages here by the messages there.
        """
        place, model, other = before.reading_place(), self.model, before.model
        model.opened = {(kind, found[message]) for kind, message in place.opened if message in found}
        model.whole = {(kind, found[message]) for kind, message in place.whole if message in found}
        model.opens_all, model.opens_thoughts = other.opens_all, other.opens_thoughts
        model.folds_results = other.folds_results
        self._options = msgspec.structs.replace(
            self._options, unfolds_all=before._options.unfolds_all,
            unfolded=tuple(found[message] for message in place.unfolded if message in found),
            folded=tuple(found[message] for message in place.folded if message in found),
        )  # fmt: skip

    def reveal(self, message: int, then: Callable[[], object]) -> None:
        """Unfolds what hides a message, and acts once its card is there."""
        self._options = msgspec.structs.replace(self._options, reveals=(message,))
        self.when_shown(then)
        self.outline.request_now()

    def _change_options(self, name: str, message: int, *, on: bool) -> None:
        kept = tuple(one for one in getattr(self._options, name) if one != message)
        self.view.hold_top()
        self._options = msgspec.structs.replace(self._options, **{name: (*kept, message) if on else kept})
        self.outline.request_now()

    def _open_thoughts(self, on: bool) -> None:
        self.model.opens_thoughts = on
        self.model.opened = {key for key in self.model.opened if key[0] != CardKind.THOUGHT}
        self.view.relay_all()

    def _fold_results(self, on: bool) -> None:
        self.model.folds_results = on
        self.view.relay_all()

    def expand_all(self) -> None:
        """Opens all cards and folds, or closes them again."""
        self.model.opens_all = not self.model.opens_all
        self.model.opened.clear()
        self._options = msgspec.structs.replace(
            self._options, unfolds_all=self.model.opens_all, unfolded=(), folded=()
        )  # fmt: skip
        self.view.relay_all()
        self.outline.request_now()

    def copy(self, row: int) -> None:
        """Copies the selected text with the cards in it as Markdown, else a card."""
        if self.model.outline is not None:
            copy_cards(self._client, self.view, self.model.outline, row)

    def _show_menu(self, row: int, at: QPoint) -> None:
        if self.model.outline is not None:
            popup_card_menu(self, self.model.outline, row, at)

    # Widget

    def _fit_side(self) -> None:
        """Shows the turns where there is room for them and for the text."""
        zoom = self._themes.theme.zoom
        wide = self.width() >= _SIDE_FROM * zoom
        self.side.setVisible(wide and not self.side.is_empty and self._alone is None)
        self.side.setFixedWidth(round(min(max(self.width() * _SIDE_SHARE, _SIDE_LEAST * zoom), _SIDE_MOST * zoom)))

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_side()
        self.pill.place()

    @override
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._move_to_current()

    @override
    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._was_at_end = False
