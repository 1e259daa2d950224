"""Halos around the states of contexts with a new message. No Qt."""

from __future__ import annotations

from collections.abc import Iterable

HOLD_S = 0.5
"""Seconds of a full halo after the last message."""

FADE_S = 0.14
"""Seconds of its fade (docs/design.md 17)."""


class Halos:
    """Halos by row code."""

    def __init__(self) -> None:
        self._starts: dict[int, float] = {}

    def start(self, codes: Iterable[int], now_s: float) -> None:
        """Starts the halos of rows with a new message."""
        self._starts.update(dict.fromkeys(codes, now_s))

    def halo(self, code: int, now_s: float) -> float:
        """Returns the strength of a row's halo, 0 to 1."""
        since = self._starts.get(code)
        return 0.0 if since is None else min(1.0, max(0.0, 1 - (now_s - since - HOLD_S) / FADE_S))

    def fading(self, now_s: float) -> list[int]:
        """Returns the codes of fading halos; drops the finished ones."""
        changing = [code for code, since in self._starts.items() if now_s - since >= HOLD_S]
        for code in changing:
            if now_s - self._starts[code] > HOLD_S + FADE_S:
                del self._starts[code]
        return changing

    def still(self) -> bool:
        """Returns True if no row has a halo."""
        return not self._starts

    def clear(self) -> None:
        self._starts.clear()
