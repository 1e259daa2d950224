"""Labels of contexts: the first words of a text, with masked secrets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from inspector.protocol.message_text import text_shown
from inspector.protocol.payloads.markdown_text import plain_words
from inspector.protocol.secrets.masking import mask_text, may_hold_secrets

START = "reasoning/start"
"""The kind of message that begins a reasoning."""
MAX_LABEL_LENGTH = 80
"""Limit of a label, in characters."""
_MAX_SOURCE = 8 * MAX_LABEL_LENGTH  # limit of characters read for a label
# Most labels hold no secret, so one search answers for many.
_MASK_BATCH = 32  # texts searched for secrets at once


def label_of_text(text: str) -> str:
    """Returns a text as a label."""
    return _shorten(mask_text(text[:_MAX_SOURCE]))


def labels_of_starts(payloads: Sequence[Mapping[str, Any]]) -> list[str]:
    """Returns the labels of reasoning starts; "" for a start without a text."""
    texts = [(text_shown(START, payload) or "")[:_MAX_SOURCE] for payload in payloads]
    plain = [place for place, text in enumerate(texts) if text.isascii()]
    suspect = [place for place, text in enumerate(texts) if not text.isascii()]
    for first in range(0, len(plain), _MASK_BATCH):
        some = plain[first : first + _MASK_BATCH]
        if may_hold_secrets("\n".join([texts[place] for place in some])):
            suspect += some
    for place in suspect:
        texts[place] = mask_text(texts[place])
    return [*map(_shorten, texts)]


def _shorten(text: str) -> str:
    # Split only into as many words as the length may need.
    return " ".join(plain_words(text).split(maxsplit=MAX_LABEL_LENGTH // 2 + 1))[:MAX_LABEL_LENGTH]
