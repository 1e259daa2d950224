"""What new objects get: a time written as the file writes its times, and an id nobody has."""

from __future__ import annotations

import re
import secrets
from collections.abc import Collection, Iterable

from inspector.msp.objects import Session, Subsession
from inspector.protocol.times import format_time

_RFC_3339 = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)")


def written_time(now_ns: int, examples: Iterable[object]) -> str:
    """RFC 3339 in UTC with as many digits as the first example that is such a time; else milliseconds and Z."""
    written = format_time(now_ns) or ""
    for example in examples:
        if isinstance(example, str) and (found := _RFC_3339.fullmatch(example)):
            head = written[:19]
            digits = f"{now_ns % 1_000_000_000:09d}"[: len(found[1] or "")]
            zone = "+00:00" if found[2] == "+00:00" else "Z"
            return f"{head}.{digits}{zone}" if digits else head + zone
    return f"{written[:23]}Z"


def times_near(owner: Session | Subsession) -> Iterable[object]:
    """Times as written, nearest first: of an owner's last message, of the owner, of those around it."""
    above: Session | Subsession | None = owner
    while above is not None:
        if above.items:
            yield above.items[-1].get("timestamp")
        yield above.data.get("created_at")
        for child in above.children[-1:]:
            yield child.data.get("created_at")
        above = above.parent if isinstance(above, Subsession) else None


def new_id(kind: str, taken: Collection[str]) -> str:
    """An id no object has: random, so that two people who work on copies do not choose the same."""
    while (name := f"{kind}-{secrets.token_hex(6)}") in taken:
        pass
    return name
