"""Which stream a message is about, where its payload does not say so: the one that its correlation names."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.analysis import Analysis

_CLOSE = "stream/close"
_REQUEST = "stream/request"


def stream_of(analysis: Analysis, message: int) -> int:
    """String id of the stream a message belongs to; 0 when unknown.

    Of a request that of the stream it opened; of a close that does not say which, that of the stream its correlation
    names, by a message about the stream or by the stream's own id. O(messages) for the last.
    """
    column = analysis.capture.columns["stream"]
    return next((int(column[m]) for m in tellers(analysis, message) if column[m]), 0)


def tellers(analysis: Analysis, message: int) -> Iterator[int]:
    """The message, then those linked to it that may say which stream it is about, nearest first."""
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
    """Closes of a stream whose payload does not say which: they name what opened it, what asked for it, or its id."""
    capture = analysis.capture
    asked = [m for m in analysis.correlation.causes(opened) if capture.string("kind", m) == _REQUEST]
    naming = set(analysis.named.named_by(opened))
    naming.update(m for of in (opened, *asked) for m in analysis.correlation.effects(of))
    return sorted(m for m in naming if capture.string("kind", m) == _CLOSE and not capture.columns["stream"][m])
