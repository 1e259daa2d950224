"""One client's state in the transient-context protocol: which tools are paired, and which results wait.

Results are numbered in the order of their arrival. Those of a tool that wait are chained through `following`, an
array over all of them, so that a million of them are no objects. A consumer finds the oldest in O(log tools), and the
newest in O(tools it consumes).
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from heapq import heappop, heappush, heapreplace
from itertools import islice

NOTHING = -1
"""No result."""
_MOST_LOOKED_AT = 100  # tools whose results wait


@dataclass(slots=True)
class Consumer:
    """A tool that hints name as consuming.

    Attributes:
        tools: the tools whose results it consumes, and the message that paired the two first.
        queue: a heap of (oldest waiting result, tool). The number may be too small where another consumer has taken
            that result; it is put right when it comes to the top. Tools with nothing waiting may be missing.
    """

    tools: dict[str, int] = field(default_factory=dict)
    queue: list[tuple[int, str]] = field(default_factory=list)


@dataclass(slots=True)
class Conversation:
    """What one client and its servers have said to each other so far.

    Attributes:
        consumers: by name.
        hinted: tools whose results may collapse, and the message that named them first.
        waiting: by tool, the first and the last result that waits; where the newest collapses first, the newest twice.
        newest_first: which result collapses of several that wait, the most recent one or the oldest.
    """

    newest_first: bool = False
    consumers: dict[str, Consumer] = field(default_factory=dict)
    hinted: dict[str, int] = field(default_factory=dict)
    waiting: dict[str, tuple[int, int]] = field(default_factory=dict)
    _absent: dict[str, list[Consumer]] = field(default_factory=dict)  # consumers in whose queue a tool is missing

    def register(self, tool: str, consumer: str, message: int) -> None:
        """A hint pairs two tools; nothing happens when they are paired already."""
        found = self.consumers.get(consumer)
        if found is None:
            found = self.consumers[consumer] = Consumer()
        if tool in found.tools:
            return
        found.tools[tool] = message
        self.hinted.setdefault(tool, message)
        if tool in self.waiting:
            heappush(found.queue, (self.waiting[tool][0], tool))
        else:
            self._absent.setdefault(tool, []).append(found)

    def wait(self, tool: str, result: int, following: array[int]) -> None:
        """A result waits from now on."""
        if self.newest_first:
            following[result] = self.waiting.get(tool, (NOTHING, NOTHING))[0]
            self.waiting[tool] = result, result
        elif tool in self.waiting:
            first, last = self.waiting[tool]
            following[last] = result
            self.waiting[tool] = first, result
        else:
            self.waiting[tool] = result, result
            for consumer in self._absent.pop(tool, ()):
                heappush(consumer.queue, (result, tool))

    def unpaired(self, consumer: str) -> int:
        """A result that waits and that no hint pairs with a consumer, the oldest of some; NOTHING.

        Results that hints leave to others are none of a consumer that hints name.
        """
        named = consumer in self.consumers
        waiting = islice(self.waiting.items(), _MOST_LOOKED_AT)
        return min((first for tool, (first, _) in waiting if not (named and tool in self.hinted)), default=NOTHING)

    def take(self, consumer: str, following: array[int]) -> int:
        """The result a consumer's signal collapses, which waits no longer: the oldest of its tools; NOTHING."""
        found = self.consumers.get(consumer)
        if self.newest_first:
            return NOTHING if found is None else self._take_newest(found, following)
        while found is not None and found.queue:
            known, tool = found.queue[0]
            first, last = self.waiting.get(tool, (NOTHING, NOTHING))
            if first == known:
                if first == last:
                    del self.waiting[tool]
                else:
                    self.waiting[tool] = following[first], last
                return first
            if first == NOTHING:
                heappop(found.queue)
                self._absent.setdefault(tool, []).append(found)
            else:
                heapreplace(found.queue, (first, tool))
        return NOTHING

    def _take_newest(self, consumer: Consumer, following: array[int]) -> int:
        few, many = sorted((consumer.tools.keys(), self.waiting.keys()), key=len)
        newest, tool = max(((self.waiting[tool][0], tool) for tool in few if tool in many), default=(NOTHING, ""))
        if newest != NOTHING:
            before = following[newest]
            if before == NOTHING:
                del self.waiting[tool]
            else:
                self.waiting[tool] = before, before
        return newest
