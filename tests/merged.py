"""MSP sessions and sub-sessions for tests of merged contexts, built without a file."""

from __future__ import annotations

from typing import Any

from inspector.msp.merged import MergedContext, Rules, merged_context
from inspector.msp.objects import Session, Subsession

START = "2026-01-05T09:{:02d}:{:02d}Z"


def at(second: int) -> str:
    """A time, so many seconds after nine."""
    return START.format(second // 60, second % 60)


def said(name: str, visibility: object = None, second: int | None = None, **more: Any) -> dict[str, Any]:
    """A message whose id and text are its name."""
    made: dict[str, Any] = {"id": name, "role": "user", "content": f"{name} said", **more}
    if visibility is not None:
        made["visibility"] = visibility
    if second is not None:
        made["timestamp"] = at(second)
    return made


def snapshot(name: str, covers: object = None, second: int | None = None) -> dict[str, Any]:
    """A summary of a stretch of messages."""
    made: dict[str, Any] = {"id": name, "content": f"{name} sums up"}
    if covers is not None:
        made["covers_messages"] = covers
    if second is not None:
        made["created_at"] = at(second)
    return made


def session(*messages: dict[str, Any], snapshots: object = (), sub_context: object = None) -> Session:
    """A main conversation."""
    data: dict[str, Any] = {"session_id": "m1", "messages": list(messages)}
    if isinstance(snapshots, tuple):
        snapshots = list[object](snapshots)
    data["summary_snapshots"] = snapshots
    if sub_context is not None:
        data["sub_context"] = sub_context
    return Session(data, "m1", list(messages))


def opened(
    parent: Session | Subsession | None, *messages: dict[str, Any], name: str = "s1", policy: object = None, **more: Any
) -> Subsession:
    """A sub-session below a session, or below another."""
    data: dict[str, Any] = {"subsession_id": name, "label": name, "status": "open", "messages": list(messages), **more}
    if policy is not None:
        data["context_policy"] = policy
    made = Subsession(data, name, list(messages), parent)
    if parent is not None:
        parent.children.append(made)
    return made


def words(text: str) -> int:
    """Tokens for tests: words, so that no tokenizer is loaded."""
    return len(text.split())


def merged(sub: Subsession, **rules: Any) -> MergedContext:
    """Its merged context under some rules."""
    return merged_context(sub, Rules(**rules), count=words)


def recent(context: MergedContext) -> list[str | None]:
    """Ids of layer 3."""
    return [entry.id for entry in context.layer("recent").entries]


def withheld(context: MergedContext) -> list[str | None]:
    """Ids of what is withheld."""
    return [kept.id for kept in context.withheld]
