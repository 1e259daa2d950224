"""Reads the `_meta` of one tool result about the lifetime of results (docs/protocols.md 13), without judging it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from inspector.protocol.secrets.masking import masked_value_text

_LONGEST_ODD = 80  # shown characters of an invalid signal


@dataclass(frozen=True, slots=True)
class TransientHint:
    """A registered pair: the second tool consumes results of the first, which may then collapse."""

    tool: str
    consumer: str
    step: int | None = None
    """Step of the workflow, if given."""


@dataclass(frozen=True, slots=True)
class TransientSignal:
    """Signals in a result's `_meta`."""

    hints: tuple[TransientHint, ...] = ()
    consumed: bool = False
    transient: bool = False
    summary: str | None = None
    """As written, "" included; None if it is absent or no text."""
    consumers: tuple[str, ...] = ()
    """Tools that consume this very result, without a workflow."""
    problem: str | None = None
    """A sentence about an invalid signal."""

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """Distinct (fetching tool, consuming tool) pairs."""
        return tuple(dict.fromkeys((hint.tool, hint.consumer) for hint in self.hints))


def signal_in(payload: Mapping[str, Any]) -> TransientSignal | None:
    """Returns the signal in a response's payload. Never raises."""
    result = payload.get("result")
    meta = result.get("_meta") if isinstance(result, Mapping) else None
    if not isinstance(meta, Mapping):
        return None
    hints = meta.get("contextHints")
    found = tuple(filter(None, map(_hint, hints))) if isinstance(hints, list) else ()
    context = meta.get("context")
    odd = _odd_hints(hints)
    if not isinstance(context, Mapping):
        odd = odd if context is None else "`_meta.context` is no object, so it signals nothing."
        context = {}
    # A text "true" signals nothing, but a reader of the log may think so.
    consumed = context.get("consumed")
    if consumed is not None and not isinstance(consumed, bool):
        shown = masked_value_text(consumed, _LONGEST_ODD)
        shown = f'"{shown}"' if isinstance(consumed, str) else shown
        odd = f"`consumed` is {shown}, not true, so it signals nothing."
    transient = context.get("lifecycle") == "transient"
    own = context.get("consumedBy") if transient else None
    consumers = (own,) if isinstance(own, str) and own else ()
    if not (found or transient or consumed is True or odd):
        return None
    summary = context.get("summary")
    return TransientSignal(
        found, consumed is True, transient, summary if isinstance(summary, str) else None, consumers, odd
    )


def _odd_hints(hints: Any) -> str | None:
    """Returns a sentence about hints with a value of the wrong type."""
    if hints is None:
        return None
    if not isinstance(hints, list):
        return f"`_meta.contextHints` is {_type_words(hints)}, not a list, so it registers nothing."
    for hint in hints:
        if not isinstance(hint, Mapping):
            return f"A hint in `_meta.contextHints` is {_type_words(hint)}, not an object, so it registers nothing."
        # Other hints have no effect, so their members do not matter.
        for name in ("tool", "consumedBy") if hint.get("lifecycle") == "transient" else ():
            if hint.get(name) is not None and not isinstance(hint[name], str):
                return f"`{name}` of a hint is {_type_words(hint[name])}, not a text, so the hint registers nothing."
    return None


def _type_words(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")


def _hint(hint: Any) -> TransientHint | None:
    if not isinstance(hint, Mapping) or hint.get("lifecycle") != "transient":
        return None
    tool, consumer, step = hint.get("tool"), hint.get("consumedBy"), hint.get("step")
    if not (isinstance(tool, str) and isinstance(consumer, str) and tool and consumer):
        return None
    return TransientHint(tool, consumer, step if isinstance(step, int) and not isinstance(step, bool) else None)
