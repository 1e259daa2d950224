"""Documents of sessions for tests, small and large."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

START = 1_767_603_600


def at(seconds: float) -> str:
    """A time so many seconds after the beginning."""
    whole = int(seconds)
    return f"2026-01-05T{9 + whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}Z"


def said(name: str, content: Any = "hello", *, second: float = 0, role: Any = "user", **more: Any) -> dict[str, Any]:
    """A message."""
    return {"id": name, "role": role, "content": content, "timestamp": at(second), **more}


def subsession(name: str, parent: str, *messages: dict[str, Any], second: float = 0, **more: Any) -> dict[str, Any]:
    """A sub-session."""
    return {
        "subsession_id": name, "parent_session_id": parent, "label": f"about {name}", "status": "open",
        "created_at": at(second), "context_policy": {"recent_parent_messages": 2}, "messages": list(messages), **more,
    }  # fmt: skip


def session(name: str, *messages: dict[str, Any], lists: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:
    agreed = {"intent": "Write a page", "constraints": ["short"], "decisions": [], "facts": []}
    return {
        "session_id": name, "created_at": at(0), "sub_context": agreed, "summary_snapshots": [],
        "subsessions": list(lists), "messages": list(messages), **more,
    }  # fmt: skip


def desk() -> dict[str, Any]:
    """A session with a sub-session that goes on, and a closed one nested in it."""
    return {
        "session": session(
            "m1", said("a1", second=1, visibility="main_only"),
            said("a2", "hi", second=2, role="assistant", visibility="global", model="m-1"), lists=("s1",),
            summary_snapshots=[{"id": "n1", "covers_messages": [0, 2], "created_at": at(5), "content": "Greetings."}],
        ),
        "subsessions": [
            subsession("s1", "m1", said("q1", "what is a kelvin?", second=11, visibility="subsession_only"), second=10),
            subsession(
                "s2", "s1", said("h1", "who?", second=21), said("h2", "Thomson", second=22, role="assistant"),
                second=20, status="closed", closed_at=at(30), summary="Named after Lord Kelvin.",
            ),
        ],
    }  # fmt: skip


def written(folder: Path, value: Any, name: str = "desk.json") -> Path:
    """A file with a document."""
    path = folder / name
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def large(subsessions: int, messages: int) -> dict[str, Any]:
    """A session with many sub-sessions of so many messages each."""
    subs = [
        subsession(
            f"s{n}", "m1", *(said(f"s{n}-{m}", f"message {m} of {n}, about kelvins and other units", second=n + m / 100)
            for m in range(messages)), second=n,
        )
        for n in range(subsessions)
    ]  # fmt: skip
    return {"session": session("m1", said("a1"), lists=tuple(f"s{n}" for n in range(subsessions))), "subsessions": subs}
