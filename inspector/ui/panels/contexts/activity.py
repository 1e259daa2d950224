"""What rows of the context tree show beside names: messages per space, who just spoke, tokens. No Qt."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis
from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.passes.tokens.reported_usage import Usage
from inspector.analysis.passes.tokens.token_sums import NodeTokens
from inspector.analysis.views.summaries.context_usage import NodeUsage, usage_by_node
from inspector.protocol.timestamps import NO_TIME
from inspector.store.columns.flags import Flag
from inspector.ui import budgets

HOLD_S = 0.5
"""A halo stays this long after the last message."""

FADE_S = 0.14
"""Then it fades in this time (docs/design.md 17)."""


class Activity:
    """What the context pass does not keep because it knows no spaces.

    Attributes:
        totals: messages by space (string id).
        main_last_ns: time of the last message in the main context, by space.
    """

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._seen = 0
        self.totals: dict[int, int] = {}
        self.main_last_ns: dict[int, int] = {}
        self._spoke: dict[int, float] = {}

    def feed(self) -> set[int]:
        """Take in what the passes gained; the spaces that spoke. O(new messages)."""
        start, stop = self._seen, len(self._analysis)
        self._seen = stop
        if start == stop:
            return set()
        columns = self._analysis.capture.columns
        messages = columns["flags"][start:stop] & Flag.GAP.value == 0  # nobody says a gap
        structure = self._analysis.contexts.sessions.of_structure(columns["kind"][start:stop])
        messages = messages if structure is None else messages & ~structure  # nor what tells of a session
        spaces, contexts, times = (columns[name][start:stop][messages] for name in ("space", "context", "time_ns"))
        # A context of nothing but slashes counts as main too; it only misses the state of main.
        main = np.flatnonzero(contexts == 0)
        counts = np.bincount(spaces)
        for space in np.flatnonzero(counts).tolist():
            self.totals[space] = self.totals.get(space, 0) + int(counts[space])
            self.main_last_ns.setdefault(space, NO_TIME)
        return self._note_main(spaces[main], times[main])

    def _note_main(self, spaces: NDArray[Any], times: NDArray[np.int64]) -> set[int]:
        """Note the latest times in the main contexts; the spaces that have any."""
        if not len(spaces):
            return set()
        latest = np.full(int(spaces.max()) + 1, NO_TIME, np.int64)
        if spaces.min() == spaces.max():
            latest[spaces[0]] = times.max()
        else:
            np.maximum.at(latest, spaces, times)
        spoke = np.flatnonzero(latest != NO_TIME).tolist()
        for space in spoke:
            self.main_last_ns[space] = max(self.main_last_ns[space], int(latest[space]))
        return set(spoke)

    def main_state(self, space: int) -> str:
        """Active or idle; the main context has no end."""
        return self._analysis.contexts.activity(self.main_last_ns.get(space, NO_TIME), self._analysis.now_ns)

    # Halos

    def spoke(self, codes: Iterable[int], now_s: float) -> None:
        """Note rows in which somebody just spoke."""
        self._spoke.update(dict.fromkeys(codes, now_s))

    def halo(self, code: int, now_s: float) -> float:
        """Strength of the halo of a row, 0 to 1."""
        since = self._spoke.get(code)
        return 0.0 if since is None else min(1.0, max(0.0, 1 - (now_s - since - HOLD_S) / FADE_S))

    def fading(self, now_s: float) -> list[int]:
        """Codes whose halo changes now; forgets those whose halo is gone."""
        changing = [code for code, since in self._spoke.items() if now_s - since >= HOLD_S]
        for code in changing:
            if now_s - self._spoke[code] > HOLD_S + FADE_S:
                del self._spoke[code]
        return changing

    def still(self) -> bool:
        """Whether no row has a halo."""
        return not self._spoke

    def forget_halos(self) -> None:
        """Take all halos away."""
        self._spoke.clear()


_REST = 10
"""Where adding up takes long, as of very many contexts, so many times as long lies between."""


class TreeTokens:
    """Sums by context, some of a second old while counting goes on.

    Attributes:
        shown: whether anybody looks at them.
    """

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self.shown = False
        self._sums: NodeTokens | None = None
        self._spaces: dict[int, int] = {}
        self._due = 0.0

    def renew(self, *, now: bool = False) -> bool:
        """Add up what was counted since; whether anything differs.

        Args:
            now: however little time has passed.
        """
        began = time.monotonic()
        if not self.shown or (began < self._due and not (now or self._analysis.tokens.done)):
            return False
        sums = self._analysis.tokens.node_sums()
        self._due = began + max(budgets.current.counts_s, _REST * (time.monotonic() - began))
        changed = sums is not self._sums
        if changed:
            self._sums = sums
            self._spaces.clear()
        return changed

    def below(self, node: int) -> int:
        """Of a context and all below it."""
        held = self._sums.subtree if self._sums is not None else ()
        return int(held[node]) if 0 <= node < len(held) - 1 else 0

    def in_main(self, space: int) -> int:
        """Of the main context of a space alone."""
        return self._sums.main.get(space, 0) if self._sums is not None else 0

    def in_space(self, space: int) -> int:
        """Of everything in a space."""
        if space not in self._spaces:
            if len(self._analysis.contexts.spaces) == 1 and self._sums is not None:
                self._spaces[space] = int(self._sums.subtree[MAIN])
            else:
                roots = self._analysis.contexts.tree.roots.each(space)
                self._spaces[space] = self.in_main(space) + sum(map(self.below, roots))
        return self._spaces[space]


NOTHING = Usage(0, 0, 0, 0)


class TreeUsage:
    """What calls of models reported, by context; some of a second old while messages come.

    Attributes:
        shown: whether anybody looks at it.
        asked: whether somebody asked for it: else it is left out where it takes the room of labels.
    """

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self.shown = self.asked = False
        self._sums: NodeUsage | None = None
        self._of = (-1, -1)
        self._due = 0.0

    @property
    def is_known(self) -> bool:
        """Whether any call reported anything."""
        return self._analysis.usage.report_count > 0

    def renew(self, *, now: bool = False) -> bool:
        """Add up what was reported since; whether anything differs.

        Args:
            now: however little time has passed.
        """
        began = time.monotonic()
        of = len(self._analysis.usage.columns), len(self._analysis.contexts.tree)
        if not self.shown or of == self._of or (began < self._due and not now):
            return False
        self._sums, self._of = usage_by_node(self._analysis), of
        self._due = began + max(budgets.current.counts_s, _REST * (time.monotonic() - began))
        return True

    def below(self, node: int) -> Usage:
        """Of a context and all below it."""
        held = self._sums.subtree if self._sums is not None else ()
        return Usage(*map(int, held[node])) if 0 <= node < len(held) - 1 else NOTHING

    def in_main(self, space: int) -> Usage:
        """Of the main context of a space alone."""
        return self._sums.main.get(space, NOTHING) if self._sums is not None else NOTHING

    def in_space(self, space: int) -> Usage:
        """Of everything in a space."""
        return self._sums.spaces.get(space, NOTHING) if self._sums is not None else NOTHING
