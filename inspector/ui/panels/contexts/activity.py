"""Figures of context tree rows: messages per space, activity halos, tokens and reported usage. No Qt."""

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
"""Seconds of a full halo after the last message."""

FADE_S = 0.14
"""Seconds of its fade (docs/design.md 17)."""


class Activity:
    """Figures by space; the context pass keeps none.

    Attributes:
        totals: messages by space (string id).
        main_last_ns: time of the last message in the main context, by space.
    """

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._fed_count = 0
        self.totals: dict[int, int] = {}
        self.main_last_ns: dict[int, int] = {}
        self._halo_starts: dict[int, float] = {}

    def feed(self) -> set[int]:
        """Counts new messages and returns the spaces with new ones in main. O(new messages)."""
        start, stop = self._fed_count, len(self._analysis)
        self._fed_count = stop
        if start == stop:
            return set()
        columns = self._analysis.capture.columns
        # Gaps are no messages.
        messages = columns["flags"][start:stop] & Flag.GAP.value == 0
        structure = self._analysis.contexts.sessions.are_structure(columns["kind"][start:stop])
        # Nor are records about a session itself.
        messages = messages if structure is None else messages & ~structure
        spaces, contexts, times = (columns[name][start:stop][messages] for name in ("space", "context", "time_ns"))
        # A context of only slashes counts as main too; it only misses the state of main.
        main = np.flatnonzero(contexts == 0)
        counts = np.bincount(spaces)
        for space in np.flatnonzero(counts).tolist():
            self.totals[space] = self.totals.get(space, 0) + int(counts[space])
            self.main_last_ns.setdefault(space, NO_TIME)
        return self._note_main(spaces[main], times[main])

    def _note_main(self, spaces: NDArray[Any], times: NDArray[np.int64]) -> set[int]:
        """Updates the latest times of main contexts and returns their spaces."""
        if not len(spaces):
            return set()
        latest = np.full(int(spaces.max()) + 1, NO_TIME, np.int64)
        # Most captures have one space: maximum.at is slow by comparison.
        if spaces.min() == spaces.max():
            latest[spaces[0]] = times.max()
        else:
            np.maximum.at(latest, spaces, times)
        spoke = np.flatnonzero(latest != NO_TIME).tolist()
        for space in spoke:
            self.main_last_ns[space] = max(self.main_last_ns[space], int(latest[space]))
        return set(spoke)

    def main_state(self, space: int) -> str:
        """Returns "active" or "idle"; the main context has no end."""
        return self._analysis.contexts.activity(self.main_last_ns.get(space, NO_TIME), self._analysis.now_ns)

    # Halos

    def spoke(self, codes: Iterable[int], now_s: float) -> None:
        """Starts the halos of rows with a new message."""
        self._halo_starts.update(dict.fromkeys(codes, now_s))

    def halo(self, code: int, now_s: float) -> float:
        """Returns the strength of a row's halo, 0 to 1."""
        since = self._halo_starts.get(code)
        return 0.0 if since is None else min(1.0, max(0.0, 1 - (now_s - since - HOLD_S) / FADE_S))

    def fading(self, now_s: float) -> list[int]:
        """Returns the codes of fading halos; drops the finished ones."""
        changing = [code for code, since in self._halo_starts.items() if now_s - since >= HOLD_S]
        for code in changing:
            if now_s - self._halo_starts[code] > HOLD_S + FADE_S:
                del self._halo_starts[code]
        return changing

    def still(self) -> bool:
        """Returns True if no row has a halo."""
        return not self._halo_starts

    def forget_halos(self) -> None:
        self._halo_starts.clear()


_PAUSE_FACTOR = 10
"""Ratio of pause to duration of a slow sum, as over very many contexts."""


class TreeTokens:
    """Token sums by context; up to a second old during a count.

    Attributes:
        shown: sums are computed only if True.
    """

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self.shown = False
        self._sums: NodeTokens | None = None
        self._spaces: dict[int, int] = {}
        self._due = 0.0

    def renew(self, *, now: bool = False) -> bool:
        """Updates the sums; returns True on a change.

        Args:
            now: ignore the pause.
        """
        began = time.monotonic()
        if not self.shown or (began < self._due and not (now or self._analysis.tokens.done)):
            return False
        sums = self._analysis.tokens.node_sums()
        self._due = began + max(budgets.current.counts_s, _PAUSE_FACTOR * (time.monotonic() - began))
        changed = sums is not self._sums
        if changed:
            self._sums = sums
            self._spaces.clear()
        return changed

    def subtree_tokens(self, node: int) -> int:
        """Returns the tokens of a context and all below it."""
        held = self._sums.subtree if self._sums is not None else ()
        return int(held[node]) if 0 <= node < len(held) - 1 else 0

    def in_main(self, space: int) -> int:
        """Returns the tokens of a space's main context alone."""
        return self._sums.main.get(space, 0) if self._sums is not None else 0

    def in_space(self, space: int) -> int:
        """Returns the tokens of a whole space."""
        if space not in self._spaces:
            # A single space holds everything, so no sum over root contexts is needed.
            if len(self._analysis.contexts.spaces) == 1 and self._sums is not None:
                self._spaces[space] = int(self._sums.subtree[MAIN])
            else:
                roots = self._analysis.contexts.tree.roots.each(space)
                self._spaces[space] = self.in_main(space) + sum(map(self.subtree_tokens, roots))
        return self._spaces[space]


NOTHING = Usage(0, 0, 0, 0)


class TreeUsage:
    """Usage reported by model calls, by context; up to a second old during traffic.

    Attributes:
        shown: sums are computed only if True.
        asked: the user asked for it; otherwise a narrow panel omits it in favour of labels.
    """

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self.shown = self.asked = False
        self._sums: NodeUsage | None = None
        self._summed_lengths = (-1, -1)
        self._due = 0.0

    @property
    def is_known(self) -> bool:
        """True if any call reported usage."""
        return self._analysis.usage.report_count > 0

    def renew(self, *, now: bool = False) -> bool:
        """Updates the sums; returns True on a change.

        Args:
            now: ignore the pause.
        """
        began = time.monotonic()
        of = len(self._analysis.usage.columns), len(self._analysis.contexts.tree)
        # Hidden, unchanged, or summed a moment ago.
        if not self.shown or of == self._summed_lengths or (began < self._due and not now):
            return False
        self._sums, self._summed_lengths = usage_by_node(self._analysis), of
        self._due = began + max(budgets.current.counts_s, _PAUSE_FACTOR * (time.monotonic() - began))
        return True

    def subtree_usage(self, node: int) -> Usage:
        """Returns the usage of a context and all below it."""
        held = self._sums.subtree if self._sums is not None else ()
        return Usage(*map(int, held[node])) if 0 <= node < len(held) - 1 else NOTHING

    def in_main(self, space: int) -> Usage:
        """Returns the usage of a space's main context alone."""
        return self._sums.main.get(space, NOTHING) if self._sums is not None else NOTHING

    def in_space(self, space: int) -> Usage:
        """Returns the usage of a whole space."""
        return self._sums.spaces.get(space, NOTHING) if self._sums is not None else NOTHING
