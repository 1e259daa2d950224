"""Extension and first bytes of capture files; imports nothing, since taps start with it."""

from __future__ import annotations

SUFFIX = ".ctxcap"
HEADER = b'{"ctxcap":'
"""First bytes of every capture."""
