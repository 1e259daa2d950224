"""Items of a timeline's picture at a position; x in pixels on the axis, y from the top of all lanes."""

from __future__ import annotations

from inspector.engine.requests.timeline import (
    BAR_PX,
    Picture,
    SeenBar,
    SeenCompaction,
    SeenItem,
    SeenMark,
    SeenSpan,
    TrackPicture,
)


def item_at(picture: Picture, x: float, y: int, zoom: float) -> SeenItem | None:
    """Returns the item at a position: a compaction before a mark, a span or a context's bar."""
    return (
        _compaction_at(picture, x, y, zoom)
        or mark_at(picture, x, y, zoom)
        or _span_at(picture, x, y, zoom)
        or _bar_at(picture, x, y, zoom)
    )


def mark_at(picture: Picture, x: float, y: int, zoom: float) -> SeenMark | None:
    """Returns the nearest mark within reach of a position."""
    track = _track_at(picture, y, round(BAR_PX * zoom) // 2 + 2)
    near = [(abs(one.mark.x - x), one) for one in track.marks] if track is not None else []
    found = min(near, key=lambda pair: pair[0], default=None)
    return None if found is None or found[0] > found[1].mark.half * zoom + 3 else found[1]


def _track_at(picture: Picture, y: int, reach: int) -> TrackPicture | None:
    """Returns the nearest track within reach of a height."""
    near = (track for track in picture.tracks.values() if abs(track.y - y) <= reach)
    return min(near, key=lambda track: abs(track.y - y), default=None)


def _compaction_at(picture: Picture, x: float, y: int, zoom: float) -> SeenCompaction | None:
    """Returns the compaction whose sign or line is at a position."""
    near = (one for one in picture.compactions if one.top <= y < one.bottom and abs(one.x - x) <= 4 * zoom)
    return min(near, key=lambda one: abs(one.x - x), default=None)


def _span_at(picture: Picture, x: float, y: int, zoom: float) -> SeenSpan | None:
    """Returns the shortest span at a position."""
    over = (one for one in picture.spans if one.left <= x <= one.right and abs(one.y - y) <= 6 * zoom)
    return min(over, key=lambda one: one.right - one.left, default=None)


def _bar_at(picture: Picture, x: float, y: int, zoom: float) -> SeenBar | None:
    """Returns the context's bar at a position."""
    track = _track_at(picture, y, round(BAR_PX * zoom) // 2)
    bars = track.bars if track is not None else []
    return next((bar for bar in bars if bar.left <= x <= bar.right), None)
