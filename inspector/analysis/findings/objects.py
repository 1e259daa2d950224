"""Contexts as objects, as the k9j drafts had them: parents, types and metadata (docs/protocols.md 7)."""

from __future__ import annotations

from typing import Any

from inspector.analysis.findings.batch import Batch
from inspector.analysis.findings.check import ERROR, NOTE, WARNING, Check
from inspector.analysis.findings.contexts import secret_in, take_notes
from inspector.analysis.passes.contexts.naming_notes import Oddity
from inspector.protocol.secrets.masking import MASK, is_secret_key, mask_value
from inspector.store.columns.flags import Flag

CYCLE = Check(
    "context-cycle", WARNING, "Context that is its own ancestor",
    "{who} puts {detail} below a context that lies below it; that is ignored.",
    "Other readers may loop for ever or lose the whole branch.",
    "Look who names the wrong parent.",
    "k9j: the parent chain has no cycles",
    example="“job”",
)  # fmt: skip
CONFLICT = Check(
    "context-parent-conflict", WARNING, "Context with two parents",
    "{who} names another parent for {detail} than the first one, which stands.",
    "Readers that take the last parent show the context somewhere else.",
    "Name one parent for a context, or none.",
    "k9j: a context has one parent",
    example="“scan”",
)  # fmt: skip
TYPE_CONFLICT = Check(
    "context-type-conflict", NOTE, "Context with two types",
    "{who} declares another type for {detail} than the first one, which stands.",
    "Views that go by the type may hide it.",
    "Declare one type for a context, when it is opened.",
    "k9j: type of a context",
    example="“scan”",
)  # fmt: skip
METADATA_SECRET = Check(
    "context-metadata-secret", ERROR, "Secret or address in context metadata",
    "The context's metadata holds {detail}.",
    "Metadata go to every participant and into every log.",
    "Leave secrets and addresses out; replace the secret, which has been seen by everybody.",
    "k9j, security; MEW: every participant sees every message",
    example="a secret under api_key",
)  # fmt: skip
OBJECT = Check(
    "context-object", NOTE, "Context written as an object",
    "{who} writes contexts as objects, as a draft did.",
    "Implementations of the released versions expect a path string, and may put these messages into the main context.",
    "Write the context as a path, such as \"parent/child\".",
    "p4m, MEW v0.2 to v0.4: context is a path string",
)  # fmt: skip
WITHOUT_ID = Check(
    "context-without-id", WARNING, "Context object without an id",
    "{who} describes a context and does not name it.",
    "All such contexts of a space count as one.",
    "Give the object an id, or write a path string.",
    "k9j: id of a context is required",
)  # fmt: skip
CHECKS = (METADATA_SECRET, CYCLE, CONFLICT, WITHOUT_ID, TYPE_CONFLICT, OBJECT)

NOTED = {
    Oddity.PARENT_CYCLE: CYCLE,
    Oddity.PARENT_CONFLICT: CONFLICT,
    Oddity.TYPE_CONFLICT: TYPE_CONFLICT,
    Oddity.WITHOUT_ID: WITHOUT_ID,
}
_MOST_LOOKED_AT = 2_000


class Objects:
    """Looks at contexts in object form."""

    def __init__(self) -> None:
        self._noted = 0
        self._senders: set[int] = set()

    def feed(self, batch: Batch) -> None:
        """Look at the object contexts of a batch."""
        self._noted = take_notes(batch, NOTED, self._noted)
        for row in batch.flagged(Flag.OBJECT_CONTEXT.value).tolist():
            sender = int(batch.capture.columns["sender"][row])
            if sender not in self._senders:
                self._senders.add(sender)
                batch.findings.add(OBJECT, [row])
            secret = _secret_within([level.get("metadata") for level in batch.capture.records.contexts_in(row)])
            if secret:
                batch.findings.add(METADATA_SECRET, [row], details=secret)


def _is_secret(key: str, value: Any) -> bool:
    """Whether the value of a key that names secrets is one, be it in a list."""
    values = value[:_MOST_LOOKED_AT] if isinstance(value, list) else [value]
    return any(mask_value(key, one) == MASK for one in values if isinstance(one, str | int | float))


def _secret_within(value: Any) -> str:
    """Words for the first secret or address in decoded JSON; "" where there is none."""
    stack: list[Any] = [value]
    for _ in range(_MOST_LOOKED_AT):
        if not stack:
            return ""
        item = stack.pop()
        if isinstance(item, str):
            found = secret_in(item)
            if found:
                return found
        elif isinstance(item, dict):
            for key, inner in item.items():
                if isinstance(key, str) and is_secret_key(key) and _is_secret(key, inner):
                    return f"a secret under {key}"
                stack.append(inner)
        elif isinstance(item, list):
            stack.extend(item[:_MOST_LOOKED_AT])
    return ""
