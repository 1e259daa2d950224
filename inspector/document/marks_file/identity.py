"""What tells a capture from another, and a message from another: digests of the first lines."""

from __future__ import annotations

from hashlib import blake2b

from inspector.document.marks_file.content import Content
from inspector.store.messages.capture import Capture

HEAD_MESSAGES = 20
"""So many messages from the first on say which capture it is; a log that grows keeps them."""
_LINE_BYTES = 4096
"""So much of a message's line, and its length, tell it from others."""


class Digests:
    """The digests of one capture's messages, each made once, as lines never change."""

    def __init__(self, capture: Capture) -> None:
        self._capture = capture
        self._made: dict[int, str] = {}

    def of(self, message: int) -> str:
        """What tells a message's line from another: of its first bytes and its length."""
        found = self._made.get(message)
        if found is None:
            made = blake2b(self._capture.records.line_part(message, 0, _LINE_BYTES), digest_size=8)
            made.update(str(int(self._capture.columns["length"][message])).encode())
            found = self._made[message] = made.hexdigest()
        return found

    def heads(self) -> tuple[str, ...]:
        """What the first message, the first two and so on are known by."""
        made, heads = blake2b(digest_size=16), list[str]()
        for message in range(min(HEAD_MESSAGES, len(self._capture))):
            made.update(self.of(message).encode())
            heads.append(made.hexdigest())
        return tuple(heads)


def fits(content: Content, heads: tuple[str, ...]) -> bool:
    """Whether marks are of the capture whose first messages are known by `heads`."""
    count, digest = content.of.messages, content.of.digest
    return bool(digest) and 1 <= count <= len(heads) and heads[count - 1] == digest


def surely_fits(content: Content, heads: tuple[str, ...]) -> bool:
    """Whether so much is alike that it is the same capture: twenty messages, or all there are of a shorter one.

    Fewer than that many captures may have in common: MCP logs begin with the same `initialize`.
    """
    return fits(content, heads) and (content.of.messages >= HEAD_MESSAGES or content.of.messages == len(heads))


def may_fit(content: Content, heads: tuple[str, ...]) -> bool:
    """Whether that cannot be told yet."""
    return len(heads) < content.of.messages <= HEAD_MESSAGES
