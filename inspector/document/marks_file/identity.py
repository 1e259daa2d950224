"""Identifies captures and messages by digests of the first lines."""

from __future__ import annotations

from hashlib import blake2b

from inspector.document.marks_file.content import Content
from inspector.store.messages.capture import Capture

HEAD_MESSAGES = 20
"""Number of first messages that identify a capture; a growing log keeps them."""
_LINE_BYTES = 4096
"""Bytes of a message's line in its digest, together with its length."""


class Digests:
    """Digests of a capture's messages, cached, since lines never change."""

    def __init__(self, capture: Capture) -> None:
        self._capture = capture
        self._made: dict[int, str] = {}

    def message_digest(self, message: int) -> str:
        """Returns the digest of a message's line: of its first bytes and its length."""
        found = self._made.get(message)
        if found is None:
            made = blake2b(self._capture.records.line_part(message, 0, _LINE_BYTES), digest_size=8)
            made.update(str(int(self._capture.columns["length"][message])).encode())
            found = self._made[message] = made.hexdigest()
        return found

    def head_digests(self) -> tuple[str, ...]:
        """Returns digests of the first message, the first two, and so on."""
        made, heads = blake2b(digest_size=16), list[str]()
        for message in range(min(HEAD_MESSAGES, len(self._capture))):
            made.update(self.message_digest(message).encode())
            heads.append(made.hexdigest())
        return tuple(heads)


def matches_capture(content: Content, heads: tuple[str, ...]) -> bool:
    """Returns True if marks belong to the capture with these `heads`."""
    count, digest = content.of.messages, content.of.digest
    return bool(digest) and 1 <= count <= len(heads) and heads[count - 1] == digest


def surely_matches(content: Content, heads: tuple[str, ...]) -> bool:
    """Returns True for certain matches: 20 messages, or all messages of a shorter capture.

    Fewer messages can be common to many captures: MCP logs begin with the same `initialize`.
    """
    return matches_capture(content, heads) and (
        content.of.messages >= HEAD_MESSAGES or content.of.messages == len(heads)
    )


def may_match(content: Content, heads: tuple[str, ...]) -> bool:
    """Returns True if too few messages are read to decide."""
    return len(heads) < content.of.messages <= HEAD_MESSAGES
