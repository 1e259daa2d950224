"""Finds echoes of sent messages: gateways deliver to the sender too (docs/protocols.md 2).

RULE: a received echo is a copy of the sent message, delivered to its sender. It has the same id, sender, kind and
payload; its time and its correlation may be the gateway's. A message that only borrows this program's name and id is
separate, so that its content cannot be hidden.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from inspector.store.columns.block import Block
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_HASH, hash_text

_SENT = Flag.SENT.value
_Line: TypeAlias = "tuple[int, int, int, int]"  # source, offset and length of a line; hash of its payload, NO_HASH


class SentEchoes:
    """Sent messages; there are few, such as an answer to `tools/list`.

    Args:
        payload_at: decodes the payload of a line again, by source, offset and length, if any.
    """

    def __init__(self, payload_at: Callable[[int, int, int], Any]) -> None:
        self._payload_at = payload_at
        self._sent: dict[int, _Line] = {}  # by hash of id, sender and kind, the fold of copies
        self._ids: set[int] = set()

    def fold_echoes(self, block: Block) -> None:
        """Folds a block's echoes into the sent messages before them."""
        columns, strings = block.columns, block.strings
        sent = (columns["flags"] & _SENT != 0).tolist()
        # A capture that sends nothing, and every log, ends here.
        if not self._sent and not any(sent):
            return
        ids, senders, kinds, directions = (columns[name] for name in ("id_hash", "sender", "kind_raw", "direction"))
        came_in = strings.find("in")  # only a capture's lines have this direction
        for place, id_ in enumerate(ids.tolist()):
            if not sent[place] and id_ not in self._ids:  # nearly all
                continue
            if id_ == NO_HASH or not (sent[place] or directions[place] == came_in):
                continue
            fold = hash_text(f"{id_}\0{strings[senders[place]]}\0{strings[kinds[place]]}")
            if sent[place]:
                self._ids.add(id_)
                self._sent[fold] = self._line(block, place)
                columns["fold"][place] = fold
            # Another participant may use the same id, so the content must be equal too.
            elif fold in self._sent and self._have_equal_payloads(self._line(block, place), self._sent[fold]):
                columns["fold"][place] = fold
                columns["event"][place] = strings.intern("delivered")
                columns["participant"][place] = senders[place]

    def _line(self, block: Block, place: int) -> _Line:
        source, offset, length = (int(block.columns[name][place]) for name in ("source", "offset", "length"))
        return source, offset, length, block.extracts.digests.get(place, NO_HASH)

    def _have_equal_payloads(self, one: _Line, other: _Line) -> bool:
        """Returns True if two payloads are equal. They are read again only if a gateway reformatted its copy."""
        if one[-1] != NO_HASH and one[-1] == other[-1]:
            return True
        return self._payload_at(*one[:-1]) == self._payload_at(*other[:-1])
