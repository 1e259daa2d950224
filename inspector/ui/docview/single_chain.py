"""Causal chains: a filter that shows one chain and follows its growth, and stepping along a chain."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from PySide6.QtCore import QObject, QTimer, Signal

from inspector.engine.requests.chains import Chain, ChainOfMessage, ChainStep, MayHaveChanged, StepInChain
from inspector.engine.requests.filters import ValidFilter
from inspector.engine.update import Update
from inspector.ui.widgets.latest_answer import Client, raise_failure

_UPDATE_MS = 300
"""Delay of updates to a growing chain: finding one reads all links."""


def chain_filter(messages: Iterable[int]) -> ValidFilter:
    """Returns the display filter that matches exactly these messages."""
    return ValidFilter(f"no in {{{', '.join(str(message + 1) for message in messages)}}}", fields=("no",))


class ChainAlone(QObject):
    """The filter that shows one chain and no other message.

    It needs no call when another filter replaces it: `apply_changes` compares the filters.

    Signals:
        grown(ValidFilter, ValidFilter): the chain has changed; its old and new filter.

    Attributes:
        message: a message of the chain; None without a chain.
        filter: the filter of the chain, or None.
    """

    grown = Signal(object, object)

    def __init__(self, client: Client, parent: QObject) -> None:
        super().__init__(parent)
        self._client = client
        self._members: tuple[int, ...] = ()
        self.message: int | None = None
        self.filter: ValidFilter | None = None
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_UPDATE_MS)
        self._timer.timeout.connect(self._request_members)

    def begin(self, message: int, show: Callable[[ValidFilter], object]) -> None:
        """Follows the chain of a message; `show` gets its filter."""

        def take(chain: Chain) -> None:
            self.message, self._members = message, chain.members
            self.filter = chain_filter(chain.members)
            show(self.filter)

        self._client.send_request(ChainOfMessage(message), take, raise_failure)

    def apply_changes(self, changes: Update, in_force: ValidFilter) -> None:
        """Handles a flush under the active filter. O(new and changed messages)."""
        if self.filter is not in_force or self.message is None:
            self.stop()
        elif not self._timer.isActive():
            question = MayHaveChanged(
                self.message, self._members, changes.start, changes.stop, changes.changed, changes.tree_moved
            )
            self._client.send_request(question, lambda may: self._timer.start() if may else None)

    def stop(self) -> None:
        """Drops the chain."""
        self._timer.stop()
        self.message = self.filter = None

    def _request_members(self) -> None:
        message = self.message
        if message is not None:
            self._client.send_request(ChainOfMessage(message), lambda chain: self._take_members(message, chain))

    def _take_members(self, message: int, chain: Chain) -> None:
        before = self.filter
        if before is None or message != self.message or chain.members == self._members:
            return
        self._members = chain.members
        self.filter = chain_filter(chain.members)
        self.grown.emit(before, self.filter)


class ChainWalk:
    """Steps along one chain. It stays on the chain where it began, although each message has a chain of its own.

    At the end of that chain it continues on the chain of the message reached.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self._origin: int | None = None
        self._current: int | None = None

    def step(self, current: int, step: int, go_to: Callable[[int], object], origin: int | None = None) -> None:
        """Goes to the message after (1) or before (-1) the current one, if there is one.

        Args:
            current: the selected message.
            step: 1 or -1.
            go_to: goes to a message.
            origin: the message of the shown chain; None if no chain is shown.
        """
        begun = origin if origin is not None else self._origin if current == self._current else current
        origins = (current if begun is None else begun, current) if origin is None else (origin,)

        def take(found: ChainStep) -> None:
            self._origin = found.origin
            self._current = current if found.message is None else found.message
            if found.message is not None:
                go_to(found.message)

        self._client.send_request(StepInChain(tuple(dict.fromkeys(origins)), current, step), take, raise_failure)
