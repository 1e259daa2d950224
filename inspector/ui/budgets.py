"""How long a window may work at once, and how long it puts off what nobody waits for.

Everything that is timed so that the window stays responsive stands here, and is read from `current` each time it is
needed. What is timed for the eye (animations, notices that go), what follows the outside (files watched, writing tried
again) and what is about the run of the program stays where it is used.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Budgets:
    """Times in seconds (`_s`) or milliseconds (`_ms`)."""

    # Work at once, before the loop turns

    slice_s: float = 0.008
    """A slice of what somebody waits for, or of what has to be done."""
    awaited_slice_s: float = 0.016
    """A slice of a search or a sort: somebody waits for nothing else, and each slice has its price."""
    background_slice_s: float = 0.005
    """A slice of what nobody waits for: checks put off, counts, lists behind the traffic."""
    painting_slice_s: float = 0.003
    """What may be decoded while rows are painted; the rest follows."""
    first_s: float = 0.03
    """A search or a sort that needs no longer is there at once, and shows no progress."""
    copied_s: float = 0.06
    """What is copied and takes no longer is there when the key is released."""
    summaries_s: float = 0.02
    """One turn of counting the tokens of summaries."""
    cheap_s: float = 0.002
    """What took no longer to work out need not rest before it is worked out again."""
    large: int = 10_000
    """Messages from which on a window does in slices what it does at once for fewer."""

    # Between two slices

    more_ms: int = 4
    """The loop is left to others for so long."""
    awaited_ms: int = 1
    """The same where somebody waits for what is looked for."""
    background_ms: int = 25
    """The same where nobody does: a sixth of the time at most, never so long that a heartbeat would wait for it."""
    summaries_ms: int = 30
    """Between two turns of counting summaries."""
    input_s: float = 0.003
    """When there is nothing to take in yet from the processes that decode, it is asked again after so long."""
    poll_ms: int = 10
    """So often it is asked whether a thread has finished what is to be painted."""

    # What nobody waits for

    rest_s: float = 0.2
    """It rests at most so long while a search goes on: one may begin anew with all that comes, and never end."""
    waste_rest_s: float = 2.0
    """What could be spared is looked for again no sooner, while traffic goes on; later where looking takes long."""
    waste_poll_ms: int = 2_000
    """So often it is looked whether traffic still goes on."""
    counting_start_ms: int = 700
    """Tokens are counted so long after something came: first it is read, checked and painted."""
    counter_idle_s: float = 10.0
    """A process that has had nothing to count for so long is ended."""
    write_ms: int = 400
    """What is changed several times in a row (marks, widths of columns) is stored together after so long."""

    # Views behind the traffic

    flush_ms: int = 33
    """Views are told of what came this often while that costs little."""
    slowest_flush_ms: int = 250
    """However much it costs, they are told this often."""
    minimap_ms: int = 120
    """The minimap follows some eight times a second."""
    lists_ms: int = 250
    """Lists beside the table, and the lanes, are made anew no more often; less often where that takes long."""
    figures_ms: int = 1_000
    """Views of sums and of ages are."""
    conditions_ms: int = 400
    """From new traffic to the next count of what conditions hide."""
    chain_ms: int = 300
    """The table follows a chain that grew so soon: finding one costs a look through all links."""
    details_ms: int = 400
    """A page of the details follows traffic that belongs to it so soon; its own changes are shown at once."""

    # What is said of work

    quiet_s: float = 0.3
    """Shorter work shows no progress."""
    tell_s: float = 0.1
    """How far a search is, is said so often: each time labels change their width and panes are laid out."""
    progress_s: float = 0.25
    """How far an export is, is said so often."""
    counts_s: float = 0.5
    """Views are told so often of tokens that were counted."""

    # Pauses of the user

    repeat_ms: int = 30
    """What the current message brings along waits for keys that repeat: only what one stops at is worked out."""
    follow_ms: int = 60
    """The same for what redraws a whole plot."""
    typing_ms: int = 150
    """An expression is tried when so long no key was pressed: half of one may take long, or match everything."""
    patience_ms: int = 350
    """So long somebody may rest in the middle of a filter before they are told what is wrong with it."""
    edit_s: float = 2.0
    """Edits of the same entry that follow one another sooner are one step back."""


current = Budgets()
"""The budgets of this process."""


class Reports:
    """When to say how far a piece of work that begins now is: not where it is short, then some times a second."""

    def __init__(self) -> None:
        self._next_s = time.perf_counter() + current.quiet_s

    def due(self) -> bool:
        """Whether to say it now; then the next time is later."""
        now_s = time.perf_counter()
        if now_s < self._next_s:
            return False
        self._next_s = now_s + current.tell_s
        return True


def turn_ends(messages: int) -> float:
    """When to stop working on so many messages for this turn of the loop, by `time.perf_counter`; for few never."""
    return time.perf_counter() + current.slice_s if messages > current.large else math.inf
