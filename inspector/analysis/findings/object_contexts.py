"""Checks contexts written as objects (k9j drafts): parents, types, metadata (docs/protocols.md 7)."""

from __future__ import annotations

from typing import Any

from inspector.analysis.findings.batch import Batch
from inspector.analysis.findings.check import ERROR, NOTE, WARNING, Check
from inspector.analysis.findings.contexts import add_noted_findings, describe_secret
from inspector.analysis.passes.contexts.naming_notes import NamingOddity
from inspector.protocol.secrets.masking import MASK, is_secret_key, mask_value
from inspector.store.columns.flags import Flag

CYCLE = Check(
    "context-cycle", WARNING, "Context that is its own ancestor",
    "{who} names a descendant of {detail} as its parent; this is ignored.",
    "Other readers may loop forever or lose the whole branch.",
    "Find the sender that names the wrong parent, and correct it.",
    "k9j: the parent chain has no cycles",
    example="“job”",
)  # fmt: skip
CONFLICT = Check(
    "context-parent-conflict", WARNING, "Context with two parents",
    "{who} names a second parent for {detail}; the first one is kept.",
    "Readers that use the last parent show the context in another place.",
    "Name at most one parent for a context.",
    "k9j: a context has one parent",
    example="“scan”",
)  # fmt: skip
TYPE_CONFLICT = Check(
    "context-type-conflict", NOTE, "Context with two types",
    "{who} declares a second type for {detail}; the first one is kept.",
    "Views that filter by type may hide it.",
    "Declare one type per context, when it is opened.",
    "k9j: type of a context",
    example="“scan”",
)  # fmt: skip
METADATA_SECRET = Check(
    "context-metadata-secret", ERROR, "Secret or address in context metadata",
    "The context's metadata contains {detail}.",
    "Metadata is sent to every participant and written to every log.",
    "Remove secrets and addresses from the metadata, and replace the secret: every participant has seen it.",
    "k9j, security; MEW: every participant sees every message",
    example="a secret under api_key",
)  # fmt: skip
OBJECT = Check(
    "context-object", NOTE, "Context written as an object",
    "{who} writes contexts as objects, a form of the drafts.",
    "Implementations of the released versions expect a path string, and may put these messages into the main context.",
    "Write the context as a path, such as \"parent/child\".",
    "p4m, MEW v0.2 to v0.4: context is a path string",
)  # fmt: skip
WITHOUT_ID = Check(
    "context-without-id", WARNING, "Context object without an id",
    "{who} describes a context without an id.",
    "All contexts without an id in a space count as one.",
    "Give the object an id, or write a path string.",
    "k9j: id of a context is required",
)  # fmt: skip
CHECKS = (METADATA_SECRET, CYCLE, CONFLICT, WITHOUT_ID, TYPE_CONFLICT, OBJECT)

CHECK_BY_ODDITY = {
    NamingOddity.PARENT_CYCLE: CYCLE,
    NamingOddity.PARENT_CONFLICT: CONFLICT,
    NamingOddity.TYPE_CONFLICT: TYPE_CONFLICT,
    NamingOddity.WITHOUT_ID: WITHOUT_ID,
}
# Metadata comes from the wire, of any size and depth.
_MAX_ITEMS = 2_000


class ObjectContexts:
    """Checks contexts in object form."""

    def __init__(self) -> None:
        self._noted = 0
        self._senders: set[int] = set()

    def feed(self, batch: Batch) -> None:
        self._noted = add_noted_findings(batch, CHECK_BY_ODDITY, self._noted)
        for row in batch.flagged_rows(Flag.OBJECT_CONTEXT.value).tolist():
            sender = int(batch.capture.columns["sender"][row])
            if sender not in self._senders:
                self._senders.add(sender)
                batch.findings.add(OBJECT, [row])
            secret = _describe_secret_in_json(
                [level.get("metadata") for level in batch.capture.records.contexts_in(row)]
            )
            if secret:
                batch.findings.add(METADATA_SECRET, [row], details=secret)


def _is_secret(key: str, value: Any) -> bool:
    """Returns True if the value of a secret's key is a secret; looks into lists."""
    values = value[:_MAX_ITEMS] if isinstance(value, list) else [value]
    return any(mask_value(key, one) == MASK for one in values if isinstance(one, str | int | float))


def _describe_secret_in_json(value: Any) -> str:
    """Describes the first secret or address in decoded JSON; "" without one."""
    stack: list[Any] = [value]
    for _ in range(_MAX_ITEMS):
        if not stack:
            return ""
        item = stack.pop()
        if isinstance(item, str):
            found = describe_secret(item)
            if found:
                return found
        elif isinstance(item, dict):
            for key, inner in item.items():
                if isinstance(key, str) and is_secret_key(key) and _is_secret(key, inner):
                    return f"a secret under {key}"
                stack.append(inner)
        elif isinstance(item, list):
            stack.extend(item[:_MAX_ITEMS])
    return ""
