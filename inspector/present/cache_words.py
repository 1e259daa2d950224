"""Words for prompt caches that expired in a pause and were written again."""

from __future__ import annotations

from collections.abc import Sequence

from inspector.analysis.views.steps.expired_caches import ExpiredCache
from inspector.present import formats

_MINUTE_NS = 60 * 10**9


def expiry_words(one: ExpiredCache) -> str:
    """Describes one: "cache expired after a pause of 7 min: 153,000 tokens written again"."""
    pause = formats.duration(round(one.pause_ns / _MINUTE_NS) * _MINUTE_NS)
    return f"cache expired after a pause of {pause}: {one.written:,} tokens written again"


def expiry_sentence(found: Sequence[ExpiredCache]) -> str:
    """Describes several: "Cache expired after 3 pauses: 400,000 tokens written again"; "" for none."""
    if len(found) < 2:
        return "".join(f"{words[:1].upper()}{words[1:]}" for words in map(expiry_words, found))
    return f"Cache expired after {len(found):,} pauses: {sum(one.written for one in found):,} tokens written again"
