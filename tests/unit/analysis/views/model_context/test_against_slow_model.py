"""A context against a slow model that walks the messages one by one, at any moment and in any batches."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from inspector.analysis.views.model_context import ModelContext, Reader, readers
from inspector.analysis.views.model_context.growth import growth_of
from inspector.document.document import CaptureDocument
from tests.builders import GrowingLog, document_of, envelope, tool_call, tool_result

HINT = {"contextHints": [{"step": 1, "tool": "search", "lifecycle": "transient", "consumedBy": "store"}]}
Row = tuple[int, str, bool]
"""Number, role, and whether it is collapsed."""

_acts = st.one_of(
    st.tuples(st.just("chat"), st.sampled_from(["lead", "human", "to lead", "to other"])),
    st.tuples(st.just("thought"), st.sampled_from(["lead", "human"])),
    st.tuples(st.just("call"), st.sampled_from(["get_step", "search", "search", "store", "store"])),
    st.tuples(st.just("forget"), st.sampled_from([("oldest", 1), ("oldest", 3), ("newest", 1), ("newest", 2)])),
    st.tuples(st.just("compact"), st.sampled_from([1, 4])),
    st.tuples(st.just("clear"), st.just("lead")),
    st.tuples(st.just("aside"), st.sampled_from(["lead", "human", "human"])),
)
_METAS: dict[str, dict[str, Any]] = {
    "get_step": HINT,
    "search": {"context": {"lifecycle": "transient", "summary": "s"}},
    "store": {"context": {"consumed": True}},
}


class _Slow:
    """The messages, and after each of them what stands in lead's context."""

    def __init__(self) -> None:
        self.lines: list[dict[str, Any]] = []
        self.moments: list[list[Row]] = []
        self._inside: list[Row] = []
        self._takes_part = False
        self._registered = False
        self._pending: list[int] = []

    def say(self, line: dict[str, Any], role: str = "") -> None:
        self.lines.append(line)
        if role:
            self._inside.append((len(self.lines), role, False))
        self.moments.append(list(self._inside))

    def act(self, what: str, how: Any) -> None:
        getattr(self, f"_{what}")(how)

    def _chat(self, who: str) -> None:
        to = who.removeprefix("to ").split() if who.startswith("to ") else []
        sender = "human" if to else who
        role = "assistant" if who == "lead" else "user" if to != ["other"] else ""
        self.say(envelope("chat", {"text": "word"}, sender=sender, **({"to": to} if to else {})), role)

    def _thought(self, who: str) -> None:
        line = envelope("reasoning/thought", {"message": "hm"}, sender=who)
        self.say(line, "assistant" if who == "lead" else "")

    def _aside(self, who: str) -> None:
        self._takes_part = self._takes_part or who == "lead"
        line = envelope("chat", {"text": "aside"}, sender=who, context="aside")
        self.say(line, "assistant" if who == "lead" else "user" if self._takes_part else "")

    def _call(self, tool: str) -> None:
        call = tool_call(tool)
        self.say(call, "assistant")
        self.lines.append(tool_result(call, "visit " * 9, meta=_METAS[tool]))
        number = len(self.lines)
        self._inside.append((number, "tool", False))
        self._registered = self._registered or tool == "get_step"
        if tool == "search":
            self._pending.append(number)
        elif tool == "store" and self._registered and self._pending:
            first = self._pending.pop(0)
            self._inside = [(no, role, done or no == first) for no, role, done in self._inside]
        self.moments.append(list(self._inside))

    def _forget(self, how: tuple[str, int]) -> None:
        direction, count = how
        self._inside = self._inside[count:] if direction == "oldest" else self._inside[:-count]
        payload = {"direction": direction, "entries": count}
        self.say(envelope("participant/forget", payload, sender="human", to=["lead"]))

    def _compact(self, count: int) -> None:
        self._inside = self._inside[count:]
        self.say(envelope("participant/compact-done", {"freed_messages": count}, sender="lead"))

    def _clear(self, _who: str) -> None:
        self._inside = []
        self.say(envelope("participant/clear", {}, sender="human", to=["lead"]))


@st.composite
def _traffic(draw: st.DrawFn) -> _Slow:
    slow = _Slow()
    slow.act("call", "search")  # so that lead is one who may have a model
    for what, how in draw(st.lists(_acts, max_size=16)):
        slow.act(what, how)
    return slow


def _context(document: CaptureDocument) -> ModelContext:
    document.analysis.tokens.count_now(np.arange(len(document.analysis)))
    return ModelContext(document.analysis, Reader(0, "lead"))


def _rows(context: ModelContext, message: int) -> list[Row]:
    return [(one.message + 1, one.role.word, one.collapsed) for one in context.moment_at(message).entries()]


@given(_traffic())
def test_every_moment_is_what_a_slow_walk_finds(slow: _Slow) -> None:
    document = document_of(*slow.lines)
    assert Reader(0, "lead") in readers(document.analysis)

    context = _context(document)

    assert [_rows(context, message) for message in range(len(slow.lines))] == slow.moments


@given(_traffic(), st.data())
def test_what_comes_later_changes_no_moment_before(slow: _Slow, data: st.DataObject) -> None:
    stop = data.draw(st.integers(1, len(slow.lines)))

    whole, part = _context(document_of(*slow.lines)), _context(document_of(*slow.lines[:stop]))

    assert _rows(whole, stop - 1) == _rows(part, stop - 1)
    assert whole.moment_at(stop - 1).total == part.moment_at(stop - 1).total


@given(_traffic(), st.lists(st.integers(1, 5), min_size=1, max_size=8))
def test_batches_make_no_difference(slow: _Slow, sizes: list[int]) -> None:
    log, done = GrowingLog(), 0
    context: ModelContext | None = None
    for size in [*sizes, len(slow.lines)]:
        log.write(*slow.lines[done : done + size])
        done = min(done + size, len(slow.lines))
        analysis = log.document.analysis
        analysis.tokens.count_now(np.arange(len(analysis)))
        context = ModelContext(analysis, Reader(0, "lead"), before=context)
        assert _rows(context, done - 1) == slow.moments[done - 1]
        growth = growth_of(context)
        if len(growth.seen):
            assert growth.seen[-1] == context.moment_at(done - 1).total
