"""How much is measured: everything, or little of everything."""

from __future__ import annotations

import os
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sizes:
    """What each measurement gets.

    Attributes:
        envelopes, gateway: messages in the two logs that are opened.
        small, large: messages of the two logs that growth compares.
        reading_turns: of reading, ours and DuckDB's.
        live_s: seconds of the flood; its rate is always 20,000 messages a second.
        follow_s: seconds of the growing log.
        kills, starts: how often.
        contexts, flushes: of the tree.
        checks_turns, checks_live: of the checks' cost, and messages taken in live.
        huge_mb: of the one message.
        reconnects: kills of the gateway.
        tap_calls: calls, and lines, through a tap.
        tokens: messages whose tokens are counted.
        lifecycle: results that signal something, and as many tools as a tenth of them; growth goes from a tenth.
        subsessions, chat: sub-sessions, and messages of the chat they belong to.
        claude_mb, codex_children: of sessions of coding agents, megabytes of one, and threads that one spawned.
        sessions: of coding agents, that are listed.
        mixes: messages of each mix, and four times as many.
        mix_live_s: seconds of each mix live.
        history_calls: calls of a model in a trace, each with its history; 300 are 28 MB.
        fleet: logs that are surveyed, and messages of each.
        quick: little of everything.
    """

    envelopes: int = 1_000_000
    gateway: int = 1_000_000
    small: int = 100_000
    large: int = 1_000_000
    reading_turns: int = 3
    live_s: float = 60
    follow_s: float = 20
    kills: int = 8
    starts: int = 7
    contexts: int = 100_000
    flushes: int = 30
    checks_turns: int = 5
    checks_live: int = 200_000
    huge_mb: float = 50
    reconnects: int = 20
    tap_calls: int = 10_000
    tokens: int = 200_000
    lifecycle: int = 200_000
    subsessions: int = 1_000
    chat: int = 100_000
    claude_mb: float = 1_000
    codex_children: int = 100
    sessions: int = 500
    mixes: int = 200_000
    mix_live_s: float = 20
    history_calls: int = 300
    fleet: tuple[int, int] = (1_000, 1_000)
    quick: bool = False


FULL = Sizes()
QUICK = Sizes(
    fleet=(100, 1_000),
    envelopes=20_000, gateway=8_000, small=10_000, large=20_000, reading_turns=2, live_s=3, follow_s=2, kills=1,
    starts=1, contexts=10_000, flushes=6, huge_mb=5, reconnects=1, tap_calls=500, checks_turns=2, checks_live=20_000,
    tokens=8_000, mixes=4_000, mix_live_s=1, history_calls=60, lifecycle=10_000, subsessions=100, chat=10_000,
    claude_mb=20, codex_children=8, sessions=100,
    quick=True,
)  # fmt: skip


def chosen(*, quick: bool) -> Sizes:
    """The sizes asked for; BENCH_GROWTH=1 lets growth go to ten million messages, 6.2 GB."""
    if quick:
        return QUICK
    if os.environ.get("BENCH_GROWTH") == "1":
        return Sizes(small=1_000_000, large=10_000_000)
    return FULL
