"""Keeps one client's state in the transient-context protocol: paired tools and waiting results.

Results are numbered by arrival. The array `following` chains the waiting results of a tool, so that a million of them
need no objects. A consumer finds the oldest in O(log tools), and the newest in O(tools it consumes).
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from heapq import heappop, heappush, heapreplace
from itertools import islice

NO_RESULT = -1
"""Marks the absence of a result."""
_MAX_SEARCHED_TOOLS = 100  # limit of tools with waiting results to search


@dataclass(slots=True)
class Consumer:
    """A tool that hints name as a consumer.

    Attributes:
        tools: by consumed tool, the message that first paired the two.
        queue: a heap of (oldest waiting result, tool). The number may be too small if another consumer has taken that
            result; it is corrected when it reaches the top. Tools without waiting results may be missing.
    """

    tools: dict[str, int] = field(default_factory=dict)
    queue: list[tuple[int, str]] = field(default_factory=list)


@dataclass(slots=True)
class Conversation:
    """Pairs and waiting results of one client and its servers.

    Attributes:
        consumers: by name.
        hinted_tools: by tool with collapsible results, the message that first named it.
        waiting: by tool, the first and the last waiting result; if the newest collapses first, the newest twice.
        newest_first: true if the most recent waiting result collapses first, false for the oldest.
    """

    newest_first: bool = False
    consumers: dict[str, Consumer] = field(default_factory=dict)
    hinted_tools: dict[str, int] = field(default_factory=dict)
    waiting: dict[str, tuple[int, int]] = field(default_factory=dict)
    _missing_consumers: dict[str, list[Consumer]] = field(
        default_factory=dict
    )  # consumers without the tool in their queue

    def register(self, tool: str, consumer: str, message: int) -> None:
        """Pairs two tools by a hint, once."""
        found = self.consumers.get(consumer)
        if found is None:
            found = self.consumers[consumer] = Consumer()
        if tool in found.tools:
            return
        found.tools[tool] = message
        self.hinted_tools.setdefault(tool, message)
        if tool in self.waiting:
            heappush(found.queue, (self.waiting[tool][0], tool))
        else:
            self._missing_consumers.setdefault(tool, []).append(found)

    def wait(self, tool: str, result: int, following: array[int]) -> None:
        """Adds a result to the waiting ones of its tool."""
        if self.newest_first:
            following[result] = self.waiting.get(tool, (NO_RESULT, NO_RESULT))[0]
            self.waiting[tool] = result, result
        elif tool in self.waiting:
            first, last = self.waiting[tool]
            following[last] = result
            self.waiting[tool] = first, result
        else:
            self.waiting[tool] = result, result
            for consumer in self._missing_consumers.pop(tool, ()):
                heappush(consumer.queue, (result, tool))

    def unpaired(self, consumer: str) -> int:
        """Returns a waiting result that no hint pairs with a consumer, the oldest of several, or NO_RESULT.

        A consumer named by hints gets no result that hints leave to another consumer.
        """
        named = consumer in self.consumers
        waiting = islice(self.waiting.items(), _MAX_SEARCHED_TOOLS)
        return min(
            (first for tool, (first, _) in waiting if not (named and tool in self.hinted_tools)), default=NO_RESULT
        )

    def take_result(self, consumer: str, following: array[int]) -> int:
        """Removes and returns the result that a consumer's signal collapses: the oldest of its tools, or NO_RESULT."""
        found = self.consumers.get(consumer)
        if self.newest_first:
            return NO_RESULT if found is None else self._take_newest(found, following)
        while found is not None and found.queue:
            known, tool = found.queue[0]
            first, last = self.waiting.get(tool, (NO_RESULT, NO_RESULT))
            # The queue entry is current: the tool's oldest result is still the one that was pushed.
            if first == known:
                if first == last:
                    del self.waiting[tool]
                else:
                    self.waiting[tool] = following[first], last
                return first
            if first == NO_RESULT:
                heappop(found.queue)
                self._missing_consumers.setdefault(tool, []).append(found)
            else:
                heapreplace(found.queue, (first, tool))
        return NO_RESULT

    def _take_newest(self, consumer: Consumer, following: array[int]) -> int:
        # Iterates over the smaller of both sets.
        few, many = sorted((consumer.tools.keys(), self.waiting.keys()), key=len)
        newest, tool = max(((self.waiting[tool][0], tool) for tool in few if tool in many), default=(NO_RESULT, ""))
        if newest != NO_RESULT:
            before = following[newest]
            if before == NO_RESULT:
                del self.waiting[tool]
            else:
                self.waiting[tool] = before, before
        return newest
