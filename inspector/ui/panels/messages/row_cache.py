"""Caches of the message table: contents of rows near the screen, and their highlights, asked from the engine.

Rows are asked for before they are on screen. Measured over the pipe at 300 notches of the wheel in 1,000,000 rows:
without prefetch 299 requests, and rows on their way in each of 299 pictures; with it 34 requests, and none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from PySide6.QtCore import QObject, Signal

from inspector.engine.requests.repairs import FixedCalls
from inspector.engine.requests.rows import Look, LookRule, Looks, MessageLooks, MessageRows, RowContent
from inspector.present import formats
from inspector.settings import HighlightRule
from inspector.ui.widgets.latest_answer import Client, Pending

_CACHED_ROWS = 1_024
"""Several screens of rows and their surroundings; a row takes 0.2 ms to make."""
_READY, _FETCHED = 2, 3
"""Screens ahead. Fewer than the first are topped up to the second: a held Page Down needs a screen in 33 ms."""
_CACHED_LOOKS = 4_096
"""Some screens of rows, so that scrolling back repaints from memory."""
PLAIN_LOOK = Look(None, None, ())
"""Look of a message without a matching rule."""


class RowCache(QObject):
    """Contents of rows by message. An outdated row stays until its new content arrives.

    Signals:
        arrived(): rows arrived later than they were asked for.
    """

    arrived = Signal()

    def __init__(self, client: Client, question: Callable[[tuple[int, ...]], MessageRows], parent: QObject) -> None:
        """Starts empty.

        Args:
            client: asks the engine.
            question: returns the request for the rows of some messages.
            parent: the owner.
        """
        super().__init__(parent)
        self._client, self._question = client, question
        self._rows: dict[int, RowContent] = {}  # the least recently shown one first
        self._outdated: set[int] = set()
        self._asked: set[int] = set()
        self._changed_meanwhile: set[int] = set()
        self._pending: dict[tuple[int, ...], Pending] = {}
        self._on_screen: frozenset[int] = frozenset()
        self._first, self._direction = 0, 0
        self._generation = 0
        self._in_call = False

    def __bool__(self) -> bool:
        return bool(self._rows)

    def __contains__(self, message: int) -> bool:
        return message in self._rows

    @property
    def page(self) -> int:
        """Number of rows on screen."""
        return len(self._on_screen)

    def is_on_screen(self, message: int) -> bool:
        return message in self._on_screen

    def content(self, message: int) -> RowContent:
        """Returns a row; a neutral one with only its number while it is on its way."""
        if message not in self._rows or message in self._outdated:
            self.prepare([message])
        return self._rows.get(message) or RowContent(message, str(message + 1))

    def prepare(self, messages: Sequence[int]) -> bool:
        """Asks for rows that are missing, together.

        Returns:
            False if the answer has come already and lacks some of them, as it does for long messages.
        """
        rows, outdated, asked = self._rows, self._outdated, self._asked
        wanted: list[int] = []
        for message in dict.fromkeys(messages):
            found = rows.pop(message, None)
            if found is not None:
                rows[message] = found
            if (found is None or message in outdated) and message not in asked:
                wanted.append(message)
        if wanted:
            self._ask(tuple(wanted))
        return all(message in asked or (message in rows and message not in outdated) for message in messages)

    def prefetch(self, first: int, last: int, count: int, message_at: Callable[[int], int]) -> None:
        """Asks for rows around the screen, and cancels requests for rows that are far from it.

        Args:
            first: the first row on screen.
            last: the last one.
            count: number of rows.
            message_at: returns the message of a row.
        """
        page, step = last - first + 1, first - self._first
        if step:
            # Both ways after a jump; as before if rows have changed in place.
            self._direction = 0 if abs(step) > 2 * page else 1 if step > 0 else -1
        self._first = first
        self._on_screen = frozenset(map(message_at, range(first, last + 1)))
        wanted, due = set(self._on_screen), False
        for sign in (1, -1) if not self._direction else (self._direction,):
            near, far = (1, 1) if not self._direction else (_READY, _FETCHED)
            rows = (
                range(last + 1, min(last + 1 + far * page, count))
                if sign > 0
                else range(first - 1, max(first - 1 - far * page, -1), -1)
            )
            ahead = list(map(message_at, rows))
            wanted.update(ahead)
            due = due or any(one not in self._rows and one not in self._asked for one in ahead[: near * page])
        for messages in [messages for messages in self._pending if wanted.isdisjoint(messages)]:
            self._pending.pop(messages).cancel()
            self._forget(messages)
        missing = [one for one in wanted if one not in self._rows and one not in self._asked] if due else []
        if missing:
            self._ask(tuple(sorted(missing, reverse=self._direction < 0)))

    def _forget(self, messages: tuple[int, ...]) -> None:
        self._asked.difference_update(messages)
        self._changed_meanwhile.difference_update(messages)

    def _ask(self, messages: tuple[int, ...]) -> None:
        self._asked.update(messages)
        generation, self._in_call = self._generation, True

        def take(rows: list[RowContent]) -> None:
            self._pending.pop(messages, None)
            if generation == self._generation:
                self._take(messages, rows)

        def fail(_sentence: str) -> None:
            self._pending.pop(messages, None)
            self._asked.difference_update(messages)

        pending = self._client.send_request(self._question(messages), take, fail)
        if self._asked.issuperset(messages):
            self._pending[messages] = pending
        self._in_call = False

    def _take(self, asked: tuple[int, ...], rows: list[RowContent]) -> None:
        self._asked.difference_update(asked)
        # Half of the cache at once, so that evictions are rare.
        if len(self._rows) + len(rows) > _CACHED_ROWS:
            for old in list(self._rows)[: _CACHED_ROWS // 2]:
                del self._rows[old]
                self._outdated.discard(old)
        for row in rows:
            self._rows[row.message] = row
            # A row that changed after its content was made is asked for again.
            if row.message not in self._changed_meanwhile:
                self._outdated.discard(row.message)
        self._changed_meanwhile.difference_update(asked)
        self._ask_for_repairs([row for row in rows if row.may_be_failed])
        if not self._in_call and not self._on_screen.isdisjoint(asked):
            self.arrived.emit()

    def _ask_for_repairs(self, failed: list[RowContent]) -> None:
        """Adds to rows of failures the later calls that put them right."""
        if not failed or self._client.state.is_arriving:
            return

        def take(fixed: dict[int, int]) -> None:
            for row in failed:
                if row.message in fixed and not row.aside:
                    told = f"{row.state.short}, " if row.state is not None else ""
                    row.aside = f"{told}fixed by {formats.message_number(fixed[row.message])}"
            if fixed:
                self.arrived.emit()

        self._client.send_request(FixedCalls(tuple(row.message for row in failed)), take, lambda _sentence: None)

    def invalidate(self, messages: Iterable[int] | None = None) -> None:
        """Marks rows as outdated, by default all."""
        known = self._rows.keys() | self._asked
        changed = known if messages is None else known & set(messages)
        self._outdated.update(changed)
        self._changed_meanwhile.update(changed & self._asked)

    def clear(self) -> None:
        """Drops all rows, because another question is asked for them."""
        self._generation += 1
        for held in (self._rows, self._outdated, self._asked, self._changed_meanwhile, self._pending):
            held.clear()


class LookCache(QObject):
    """Highlights by message.

    Signals:
        arrived(): highlights arrived later than they were asked for.
    """

    arrived = Signal()

    def __init__(self, client: Client, parent: QObject) -> None:
        super().__init__(parent)
        self._client = client
        self._wanted: list[HighlightRule] = []
        self._rules: tuple[LookRule, ...] = ()
        self._context: str | None = None
        self._looks: dict[int, Look] = {}
        self._asked: dict[int, int] = {}  # number of the request by message
        self._on_tree = self._on_clock = False
        self._last_request = 0
        self._in_call = False

    def __bool__(self) -> bool:
        """Returns True if any rule is active."""
        return bool(self._rules)

    def set_rules(self, rules: Iterable[HighlightRule]) -> bool:
        """Replaces the rules. Returns True if they differ."""
        rules = [rule.model_copy() for rule in rules]
        if rules == self._wanted:
            return False
        self._wanted = rules
        self._rules = tuple(
            LookRule(rule.name, rule.filter, rule.color, rule.paint)
            for rule in rules
            if rule.on and rule.filter.strip()
        )
        self._clear()
        return True

    def select_context(self, path: str | None) -> bool:
        """Sets the path for `$context`. Returns True if that can change a look."""
        if path == self._context:
            return False
        self._context = path
        if not any("$" in rule.filter for rule in self._rules):
            return False
        self._clear()
        return True

    def cached_look(self, message: int) -> Look:
        """Returns the cached look of a message, or PLAIN_LOOK."""
        return self._looks.get(message, PLAIN_LOOK)

    def prepare(self, messages: Sequence[int]) -> None:
        """Asks for looks that are missing, together."""
        if not self._rules:
            return
        wanted = tuple(one for one in dict.fromkeys(messages) if one not in self._looks and one not in self._asked)
        if not wanted:
            return
        if len(self._looks) + len(wanted) > _CACHED_LOOKS:
            self._looks = {message: self._looks[message] for message in messages if message in self._looks}
        self._last_request += 1
        number, self._in_call = self._last_request, True
        self._asked.update(dict.fromkeys(wanted, number))

        def take(looks: Looks) -> None:
            # Messages that have changed since are asked for again.
            current = {
                message: look
                for message, look in zip(wanted, looks.looks, strict=True)
                if self._asked.get(message) == number
            }
            if not current:
                return
            for message in current:
                del self._asked[message]
            self._looks.update(current)
            self._on_tree, self._on_clock = looks.on_tree, looks.on_clock
            if not self._in_call:
                self.arrived.emit()

        def forget(_sentence: str) -> None:
            for message in wanted:
                if self._asked.get(message) == number:
                    del self._asked[message]

        self._client.send_request(MessageLooks(wanted, self._rules, self._context), take, forget)
        self._in_call = False

    # Invalidation

    def _clear(self) -> None:
        self._looks.clear()
        self._asked.clear()

    def on_changes(self, changed: Iterable[int], *, tree_moved: bool) -> None:
        """Drops looks of changed messages, also of answers on their way."""
        if tree_moved and self._on_tree:
            self._clear()
        for message in changed:
            self._looks.pop(message, None)
            self._asked.pop(message, None)

    def on_clock(self) -> bool:
        """Drops the looks if a rule depends on the clock. Returns True in that case."""
        if self._on_clock:
            self._clear()
        return self._on_clock
