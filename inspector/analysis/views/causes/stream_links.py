"""Finds the stream of a message by its payload or correlation, and closes without a stream id."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.analysis import Analysis

_CLOSE = "stream/close"
_REQUEST = "stream/request"


def stream_of(analysis: Analysis, message: int) -> int:
    """Returns the string id of a message's stream; 0 if unknown.

    For a request, the stream that it opened. For a close without an id, the stream named by its correlation, either
    through a message of the stream or by the stream's id. O(messages) for the last case.
    """
    column = analysis.capture.columns["stream"]
    return next((int(column[m]) for m in stream_sources(analysis, message) if column[m]), 0)


def stream_sources(analysis: Analysis, message: int) -> Iterator[int]:
    """Yields the message and then linked ones that may name its stream, nearest first."""
    yield message
    kind = analysis.capture.string("kind", message)
    if kind == _REQUEST:
        yield from analysis.correlation.effects(message)
    elif kind == _CLOSE:
        for cause in (*analysis.correlation.causes(message), *analysis.named.origins(message)):
            yield cause
            if analysis.capture.string("kind", cause) == _REQUEST:
                yield from analysis.correlation.effects(cause)


def closes_of(analysis: Analysis, opened: int) -> list[int]:
    """Returns closes without a stream id, matched by the open, the request or the stream's id in their correlation."""
    capture = analysis.capture
    asked = [m for m in analysis.correlation.causes(opened) if capture.string("kind", m) == _REQUEST]
    naming = set(analysis.named.named_by(opened))
    naming.update(m for of in (opened, *asked) for m in analysis.correlation.effects(of))
    return sorted(m for m in naming if capture.string("kind", m) == _CLOSE and not capture.columns["stream"][m])
